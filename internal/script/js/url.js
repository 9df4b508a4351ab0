// URLs, by the rules of the web.
"use strict";
const host = require("helve:host");
const { coded, wrongType } = require("helve:check");

const ports = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" };
const special = (scheme) => scheme in ports;

// ---- percent signs ----

const sets = {
  control: /[^\x20-\x7e]/u, fragment: /[^\x20-\x7e]|[ "<>`]/u, query: /[^\x20-\x7e]|[ "#<>]/u, specialQuery: /[^\x20-\x7e]|[ "#<>']/u,
  path: /[^\x20-\x7e]|[ "#<>?^`{}]/u, user: /[^\x20-\x7e]|[ "#<>?`{}/:;=@[\\\]^|]/u,
};

function percent(text, set) {
  if (!set.test(text)) return text;
  const runs = new RegExp(`(?:${set.source})+`, "gu");
  return text.toWellFormed().replace(runs, (run) => host.bytes(run).toHex().toUpperCase().replace(/../g, "%$&"));
}

// unpercent gives the bytes a text stands for, read as UTF-8.
function unpercent(text) {
  if (!text.includes("%")) return text;
  const bytes = host.bytes(text);
  const out = new Uint8Array(bytes.length);
  let n = 0;
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i] === 37 ? parseInt(String.fromCharCode(bytes[i + 1] ?? 32, bytes[i + 2] ?? 32), 16) : NaN;
    if (bytes[i] === 37 && /^[0-9a-fA-F]{2}$/.test(String.fromCharCode(bytes[i + 1] ?? 32, bytes[i + 2] ?? 32))) {
      out[n++] = code;
      i += 2;
    } else out[n++] = bytes[i];
  }
  return host.text(out.subarray(0, n));
}

// ---- hosts ----

function ipv4Part(text) {
  if (text === "") return NaN;
  if (/^0[xX][0-9a-fA-F]*$/.test(text)) return text.length === 2 ? 0 : parseInt(text.slice(2), 16);
  if (/^0[0-7]+$/.test(text)) return parseInt(text, 8);
  return /^\d+$/.test(text) ? (/^0\d/.test(text) ? NaN : parseInt(text, 10)) : NaN;
}

// ipv4 reads an address; undefined if the host does not end in a number, null if it is wrong.
function ipv4(name) {
  const parts = name.split(".");
  if (parts.at(-1) === "" && parts.length > 1) parts.pop();
  const last = parts.at(-1);
  if (!/^\d+$/.test(last) && Number.isNaN(ipv4Part(last))) return undefined;
  if (parts.length > 4) return null;
  const numbers = parts.map(ipv4Part);
  if (numbers.some(Number.isNaN)) return null;
  const tail = numbers.pop();
  if (numbers.some((n) => n > 255) || tail >= 256 ** (4 - numbers.length)) return null;
  const address = numbers.reduce((sum, n, i) => sum + n * 256 ** (3 - i), tail);
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

// ipv6 reads what is between the brackets; null if it is wrong.
function ipv6(text) {
  let source = text;
  const dotted = /^(.*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (dotted) {
    const [a, b, c, d] = dotted.slice(2).map(Number);
    if ([a, b, c, d].some((n) => n > 255)) return null;
    source = `${dotted[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const halves = source.split("::");
  if (halves.length > 2) return null;
  const read = (half) => (half === "" ? [] : half.split(":"));
  const head = read(halves[0]), tail = halves.length === 2 ? read(halves[1]) : [];
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const pieces = [...head, ...Array(halves.length === 2 ? missing : 0).fill("0"), ...tail];
  if (!pieces.every((piece) => /^[0-9a-fA-F]{1,4}$/.test(piece))) return null;
  const short = pieces.map((piece) => parseInt(piece, 16).toString(16));
  let best = { at: -1, size: 1 };
  for (let i = 0; i < 8; i++) {
    let size = 0;
    while (short[i + size] === "0") size++;
    if (size > best.size) best = { at: i, size };
    i += size;
  }
  if (best.at < 0) return `[${short.join(":")}]`;
  return `[${short.slice(0, best.at).join(":")}::${short.slice(best.at + best.size).join(":")}]`;
}

// punycode writes a label of other letters in plain ones.
function punycode(label) {
  const codes = Array.from(label, (c) => c.codePointAt(0));
  let out = codes.filter((c) => c < 128).map((c) => String.fromCharCode(c)).join("");
  const basic = out.length;
  let done = basic, n = 128, delta = 0, bias = 72;
  if (basic > 0) out += "-";
  const digit = (d) => String.fromCharCode(d < 26 ? d + 97 : d + 22);
  while (done < codes.length) {
    const next = Math.min(...codes.filter((c) => c >= n));
    delta += (next - n) * (done + 1);
    n = next;
    for (const c of codes) {
      if (c < n) delta++;
      if (c !== n) continue;
      let q = delta;
      for (let k = 36; ; k += 36) {
        const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (q < t) break;
        out += digit(t + (q - t) % (36 - t));
        q = Math.floor((q - t) / (36 - t));
      }
      out += digit(q);
      delta = done === basic ? Math.floor(delta / 700) : delta >> 1;
      delta += Math.floor(delta / (done + 1));
      let k = 0;
      for (; delta > 455; k += 36) delta = Math.floor(delta / 35);
      bias = k + Math.floor(36 * delta / (delta + 38));
      delta = 0;
      done++;
    }
    delta++;
    n++;
  }
  return `xn--${out}`;
}

function domainToASCII(name) {
  return name.toLowerCase().normalize("NFKC").replace(/[\u3002\uff0e\uff61]/g, ".").split(".").map((label) => (/[^\0-\x7f]/.test(label) ? punycode(label) : label)).join(".");
}

// hostOf reads a host; null if it is none.
function hostOf(text, isSpecial) {
  if (text.startsWith("[")) return text.endsWith("]") ? ipv6(text.slice(1, -1)) : null;
  if (!isSpecial) return /[\0\t\n\r #/<>?@[\\\]^|]/.test(text) ? null : percent(text, sets.control);
  const name = domainToASCII(unpercent(text));
  if (name === "" || /[\0-\x20#%/:<>?@[\\\]^|\x7f]/.test(name)) return null;
  return ipv4(name) === undefined ? name : ipv4(name);
}

// ---- parsing ----

const isDrive = (part) => /^[a-zA-Z][:|]$/.test(part);

// pathParts takes the dots out of a path, beginning with the parts of a base.
function pathParts(text, scheme, before) {
  const parts = [...before];
  const pieces = text.split(special(scheme) ? /[\\/]/ : "/");
  pieces.forEach((piece, i) => {
    const last = i === pieces.length - 1;
    const plain = piece.replace(/%2e/gi, ".");
    if (plain === "..") {
      if (!(scheme === "file:" && parts.length === 1 && /^[a-zA-Z]:$/.test(parts[0]))) parts.pop();
      if (last) parts.push("");
    } else if (plain === ".") {
      if (last) parts.push("");
    } else if (scheme === "file:" && parts.length === 0 && isDrive(piece)) parts.push(`${piece[0]}:`);
    else parts.push(percent(piece, sets.path));
  });
  return parts;
}

// authority reads user, password, host and port into a record; false if it is wrong.
function authority(u, text) {
  const at = text.lastIndexOf("@");
  if (at >= 0) {
    const colon = text.slice(0, at).indexOf(":");
    u.username = percent(text.slice(0, colon < 0 ? at : colon), sets.user);
    u.password = colon < 0 ? "" : percent(text.slice(colon + 1, at), sets.user);
  }
  const rest = text.slice(at + 1);
  const m = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(rest);
  if (!m) return false;
  if (m[1] === "" && (special(u.protocol) || at >= 0 || m[2])) return false;
  const name = m[1] === "" ? "" : hostOf(m[1], special(u.protocol));
  if (name === null) return false;
  u.hostname = name;
  return m[2] === undefined || setPort(u, m[2]);
}

function setPort(u, text) {
  if (!/^\d*$/.test(text) || Number(text) > 65535) return false;
  const port = text === "" ? "" : String(Number(text));
  u.port = port === ports[u.protocol] ? "" : port;
  return true;
}

const blank = (protocol) => ({ protocol, username: "", password: "", hostname: null, port: "", path: [], opaque: undefined, search: null, hash: null });

// parse gives the record of a URL; undefined if it is none.
function parse(input, base) {
  let text = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
  const cut = (mark) => {
    const at = text.indexOf(mark);
    if (at < 0) return null;
    const rest = text.slice(at + 1);
    text = text.slice(0, at);
    return rest;
  };
  const hash = cut("#");
  const found = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text);
  const scheme = found ? `${found[1].toLowerCase()}:` : undefined;
  const search = cut("?");
  const finish = (u) => {
    if (search !== null) u.search = percent(search, special(u.protocol) ? sets.specialQuery : sets.query);
    if (hash !== null) u.hash = percent(hash, sets.fragment);
    return u;
  };
  if (scheme === undefined || base && scheme === base.protocol && special(scheme) && !/^[a-z0-9+.-]+:\/\//i.test(text)) {
    if (!base) return undefined;
    if (scheme !== undefined) text = text.slice(scheme.length);
    return relative(text, base, search, finish, hash);
  }
  const u = blank(scheme);
  let rest = text.slice(scheme.length);
  if (special(scheme)) {
    rest = rest.replaceAll("\\", "/");
    return (scheme === "file:" ? filePath(u, rest) : fromAuthority(u, rest.replace(/^\/*/, ""))) ? finish(u) : undefined;
  }
  if (rest.startsWith("//")) return fromAuthority(u, rest.slice(2)) ? finish(u) : undefined;
  if (rest.startsWith("/")) u.path = pathParts(rest.slice(1), scheme, []);
  else u.opaque = percent(search === null && hash === null ? rest : rest.replace(/ $/, "%20"), sets.control);
  return finish(u);
}

function fromAuthority(u, text) {
  const slash = text.indexOf("/");
  if (!authority(u, slash < 0 ? text : text.slice(0, slash))) return false;
  if (slash >= 0) u.path = pathParts(text.slice(slash + 1), u.protocol, []);
  else if (special(u.protocol)) u.path = [""];
  return true;
}

function filePath(u, text) {
  u.hostname = "";
  let rest = text;
  if (rest.startsWith("//")) {
    rest = rest.slice(2);
    const slash = rest.indexOf("/");
    const name = slash < 0 ? rest : rest.slice(0, slash);
    if (!isDrive(name)) {
      if (name !== "") {
        const read = hostOf(name, true);
        if (read === null) return false;
        u.hostname = read === "localhost" ? "" : read;
      }
      rest = slash < 0 ? "" : rest.slice(slash);
    }
  }
  u.path = pathParts(rest.replace(/^\//, ""), u.protocol, []);
  return true;
}

function relative(text, base, search, finish, hash) {
  if (base.opaque !== undefined) {
    if (text !== "" || search !== null || hash === null) return undefined;
    return finish({ ...base });
  }
  const path = special(base.protocol) ? text.replaceAll("\\", "/") : text;
  const u = { ...base, path: [...base.path], hash: null };
  if (path.startsWith("//")) {
    const made = blank(base.protocol);
    if (base.protocol === "file:") return filePath(made, path) ? finish(made) : undefined;
    return fromAuthority(made, path.slice(2)) ? finish(made) : undefined;
  }
  if (path === "") {
    if (search !== null) u.search = null;
    return finish(u);
  }
  u.search = null;
  u.path = path.startsWith("/") ? pathParts(path.slice(1), base.protocol, []) : pathParts(path, base.protocol, base.path.slice(0, -1));
  return finish(u);
}

const pathText = (u) => (u.opaque !== undefined ? u.opaque : u.path.length === 0 ? "" : `/${u.path.join("/")}`);

function hrefOf(u) {
  let text = u.protocol;
  if (u.hostname !== null) {
    text += "//";
    if (u.username !== "" || u.password !== "") text += `${u.username}${u.password === "" ? "" : `:${u.password}`}@`;
    text += u.hostname + (u.port === "" ? "" : `:${u.port}`);
  } else if (u.opaque === undefined && u.path.length > 1 && u.path[0] === "") text += "/.";
  return text + pathText(u) + (u.search === null ? "" : `?${u.search}`) + (u.hash === null ? "" : `#${u.hash}`);
}

// ---- queries ----

const formSet = /[^A-Za-z0-9*\-._]/u;
const formEncode = (text) => percent(String(text), formSet).replaceAll("%20", "+");

function readForm(text) {
  return text.split("&").filter((part) => part !== "").map((part) => {
    const at = part.indexOf("=");
    const spaced = (raw) => unpercent(raw.replaceAll("+", " ")).toWellFormed();
    return at < 0 ? [spaced(part), ""] : [spaced(part.slice(0, at)), spaced(part.slice(at + 1))];
  });
}

let bind; // ties the parameters to the URL they are of

class URLSearchParams {
  #list = [];
  #changed = () => {};
  static {
    bind = (params, list, changed) => {
      params.#list = list;
      if (changed) params.#changed = changed;
    };
  }
  constructor(init) {
    if (init == null) return;
    if (typeof init !== "object" && typeof init !== "function") this.#list = readForm(String(init).replace(/^\?/, ""));
    else if (typeof init[Symbol.iterator] === "function") {
      for (const pair of init) {
        const both = [...pair];
        if (both.length !== 2) throw new TypeError("Type error");
        this.#list.push(both.map((one) => String(one).toWellFormed()));
      }
    } else for (const key of Object.keys(init)) this.#list.push([key.toWellFormed(), String(init[key]).toWellFormed()]);
  }
  get size() { return this.#list.length; }
  append(name, value) {
    this.#list.push([String(name).toWellFormed(), String(value).toWellFormed()]);
    this.#changed();
  }
  delete(name, value) {
    this.#list = this.#list.filter(([key, one]) => key !== String(name) || value !== undefined && one !== String(value));
    this.#changed();
  }
  get(name) { return this.#list.find(([key]) => key === String(name))?.[1] ?? null; }
  getAll(name) { return this.#list.filter(([key]) => key === String(name)).map(([, value]) => value); }
  has(name, value) { return this.#list.some(([key, one]) => key === String(name) && (value === undefined || one === String(value))); }
  set(name, value) {
    const at = this.#list.findIndex(([key]) => key === String(name));
    if (at < 0) this.#list.push([String(name).toWellFormed(), String(value).toWellFormed()]);
    else {
      this.#list[at] = [String(name), String(value).toWellFormed()];
      this.#list = this.#list.filter(([key], i) => i <= at || key !== String(name));
    }
    this.#changed();
  }
  sort() {
    this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed();
  }
  forEach(callback, self) {
    if (typeof callback !== "function") throw wrongType("callback", "of type function", callback);
    for (const [key, value] of this.#list) callback.call(self, value, key, this);
  }
  *entries() { for (const [key, value] of this.#list) yield [key, value]; }
  *keys() { for (const [key] of this.#list) yield key; }
  *values() { for (const [, value] of this.#list) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#list.map(([key, value]) => `${formEncode(key)}=${formEncode(value)}`).join("&"); }
  toJSON() {
    const all = {};
    for (const [key, value] of this.#list) all[key] = key in all ? [all[key], value].flat() : value;
    return all;
  }
  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
    const inner = this.#list.map(([key, value]) => `${inspect(key, options)} => ${inspect(value, options)}`).join(", ");
    return `URLSearchParams {${inner === "" ? "" : ` ${inner} `}}`;
  }
  get [Symbol.toStringTag]() { return "URLSearchParams"; }
}

// ---- URL ----

function invalid(input, base) {
  const error = new TypeError("Invalid URL");
  error.code = "ERR_INVALID_URL";
  error.input = input;
  if (base !== undefined) error.base = base;
  return error;
}

class URL {
  #u;
  #params;
  constructor(input, base) {
    if (arguments.length === 0) throw coded(TypeError, "ERR_MISSING_ARGS", "Not enough arguments");
    const text = String(input).toWellFormed();
    let from;
    if (base !== undefined) {
      from = parse(String(base));
      if (!from) throw invalid(text, String(base));
    }
    this.#u = parse(text, from);
    if (!this.#u) throw invalid(text, base === undefined ? undefined : String(base));
  }
  static canParse(input, base) { return URL.parse(input, base) !== null; }
  static parse(input, base) {
    try {
      return new URL(input, base);
    } catch {
      return null;
    }
  }
  static createObjectURL() { throw coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "URL.createObjectURL is not available to tools that run in the embedded engine"); }
  static revokeObjectURL() {}
  #fill() {
    if (this.#params) bind(this.#params, readForm(this.#u.search ?? ""));
  }
  get href() { return hrefOf(this.#u); }
  set href(value) {
    const u = parse(String(value));
    if (!u) throw invalid(String(value));
    this.#u = u;
    this.#fill();
  }
  get origin() {
    const u = this.#u;
    if (u.protocol === "blob:") return URL.parse(pathText(u))?.origin ?? "null";
    return special(u.protocol) && u.protocol !== "file:" ? `${u.protocol}//${this.host}` : "null";
  }
  get protocol() { return this.#u.protocol; }
  set protocol(value) {
    const m = /^([a-zA-Z][a-zA-Z0-9+.-]*):?/.exec(String(value));
    if (!m) return;
    const next = `${m[1].toLowerCase()}:`;
    if (special(next) !== special(this.#u.protocol) || next === "file:" && (this.#u.port !== "" || this.#u.username !== "")) return;
    this.#u.protocol = next;
    setPort(this.#u, this.#u.port);
  }
  get username() { return this.#u.username; }
  set username(value) { if (this.#u.hostname && this.#u.protocol !== "file:") this.#u.username = percent(String(value), sets.user); }
  get password() { return this.#u.password; }
  set password(value) { if (this.#u.hostname && this.#u.protocol !== "file:") this.#u.password = percent(String(value), sets.user); }
  get host() { return this.#u.hostname === null ? "" : this.#u.hostname + (this.#u.port === "" ? "" : `:${this.#u.port}`); }
  set host(value) {
    if (this.#u.opaque !== undefined) return;
    const m = /^(\[[^\]]*\]|[^:/?#\\]*)(?::(\d*))?/.exec(String(value));
    this.hostname = m[1];
    if (m[2]) setPort(this.#u, m[2]);
  }
  get hostname() { return this.#u.hostname ?? ""; }
  set hostname(value) {
    if (this.#u.opaque !== undefined) return;
    const name = hostOf(/^(\[[^\]]*\]|[^:/?#\\]*)/.exec(String(value))[0], special(this.#u.protocol));
    if (name !== null) this.#u.hostname = name;
  }
  get port() { return this.#u.port; }
  set port(value) {
    if (!this.#u.hostname || this.#u.protocol === "file:") return;
    const digits = /^\d*/.exec(String(value))[0];
    if (digits !== "" || String(value) === "") setPort(this.#u, digits);
  }
  get pathname() { return pathText(this.#u); }
  set pathname(value) {
    if (this.#u.opaque !== undefined) return;
    const text = String(value).replace(/[?#]/g, (c) => (c === "?" ? "%3F" : "%23"));
    this.#u.path = pathParts(text.replace(special(this.#u.protocol) ? /^[\\/]/ : /^\//, ""), this.#u.protocol, []);
  }
  get search() { return this.#u.search ? `?${this.#u.search}` : ""; }
  set search(value) {
    const text = String(value).replace(/^\?/, "");
    this.#u.search = text === "" ? null : percent(text, special(this.#u.protocol) ? sets.specialQuery : sets.query);
    this.#fill();
  }
  get searchParams() {
    if (!this.#params) {
      this.#params = new URLSearchParams();
      bind(this.#params, readForm(this.#u.search ?? ""), () => { this.#u.search = String(this.#params) || null; });
    }
    return this.#params;
  }
  get hash() { return this.#u.hash ? `#${this.#u.hash}` : ""; }
  set hash(value) {
    const text = String(value).replace(/^#/, "");
    this.#u.hash = text === "" ? null : percent(text, sets.fragment);
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
  get [Symbol.toStringTag]() { return "URL"; }
  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
    const shown = {};
    for (const name of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash"]) shown[name] = this[name];
    return `URL ${inspect(shown, options)}`;
  }
}
for (const name of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash", "toString", "toJSON"]) {
  Object.defineProperty(URL.prototype, name, { enumerable: true });
}

// ---- files ----

const onWindows = (options) => options?.windows ?? host.info().platform === "win32";

function fileURLToPath(url, options) {
  const u = typeof url === "string" ? URL.parse(url) ?? { protocol: "" } : url;
  if (typeof u !== "object" || u === null || typeof u.protocol !== "string") throw wrongType("url", "of type string", url);
  if (u.protocol !== "file:") throw coded(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
  const windows = onWindows(options);
  if (windows ? /%2f|%5c/i.test(u.pathname) : /%2f/i.test(u.pathname)) {
    throw coded(TypeError, "ERR_INVALID_FILE_URL_PATH", windows ? "File URL path must not include encoded \\ or / characters" : "File URL path must not include encoded / characters");
  }
  const path = unpercent(u.pathname);
  if (!windows) {
    if (u.hostname !== "") throw coded(TypeError, "ERR_INVALID_FILE_URL_HOST", `File URL host must be "localhost" or empty on ${host.info().platform}`);
    return path;
  }
  if (u.hostname !== "") return `\\\\${u.hostname}${path.replaceAll("/", "\\")}`;
  if (!/^\/[a-zA-Z]:/.test(path)) throw coded(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must be absolute");
  return path.slice(1).replaceAll("/", "\\");
}

function pathToFileURL(path, options) {
  if (typeof path !== "string") throw wrongType("path", "of type string", path);
  const windows = onWindows(options);
  const paths = require("path")[windows ? "win32" : "posix"];
  let full = paths.resolve(path);
  if (/[\\/]$/.test(path) && !full.endsWith(paths.sep) && (windows || path.endsWith("/"))) full += paths.sep;
  let coded_ = full.replaceAll("%", "%25").replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll("\t", "%09");
  coded_ = windows ? coded_.replaceAll("\\", "/") : coded_.replaceAll("\\", "%5C");
  coded_ = coded_.replaceAll("?", "%3F").replaceAll("#", "%23");
  if (windows && coded_.startsWith("//")) return new URL(`file:${coded_}`);
  return new URL(`file://${windows ? "/" : ""}${coded_}`);
}

// ---- the old functions ----

const names = ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path", "href"];
function Url() {
  for (const name of names) this[name] = null;
}
Url.prototype = { // without a constructor of its own, as it is in Bun
  __proto__: Object.prototype,
  parse(text, withQuery) { return Object.assign(this, oldParse(text, withQuery)); },
  format() { return format(this); },
  resolve(to) { return resolve(this.href, to); },
};

function oldParse(text, withQuery = false) {
  if (text instanceof Url) return text;
  if (typeof text !== "string") throw wrongType("url", "of type string", text);
  const u = new Url();
  const m = /^([a-zA-Z][a-zA-Z0-9+.-]*:)?(\/\/)?([^]*)$/.exec(text.trim());
  let rest = m[3];
  u.protocol = m[1]?.toLowerCase() ?? null;
  const hash = rest.indexOf("#");
  if (hash >= 0) {
    u.hash = rest.slice(hash);
    rest = rest.slice(0, hash);
  }
  const query = rest.indexOf("?");
  if (query >= 0) {
    u.search = rest.slice(query);
    rest = rest.slice(0, query);
    u.query = u.search.slice(1);
  }
  if (withQuery) u.query = require("querystring").parse(u.query ?? "");
  if (m[2] && (u.protocol || false)) {
    u.slashes = true;
    const slash = rest.indexOf("/");
    let name = slash < 0 ? rest : rest.slice(0, slash);
    rest = slash < 0 ? "" : rest.slice(slash);
    const at = name.lastIndexOf("@");
    if (at >= 0) {
      u.auth = decodeURIComponent(name.slice(0, at));
      name = name.slice(at + 1);
    }
    const port = /:(\d*)$/.exec(name);
    if (port) {
      u.port = port[1] || null;
      name = name.slice(0, -port[0].length);
    }
    u.hostname = name.toLowerCase().replace(/^\[|\]$/g, "");
    u.host = name.toLowerCase() + (u.port ? `:${u.port}` : "");
    if (rest === "" && u.protocol in ports) rest = "/";
  } else if (m[2]) rest = `//${rest}`;
  u.pathname = rest === "" ? null : rest;
  u.path = u.pathname !== null || u.search !== null ? `${u.pathname ?? ""}${u.search ?? ""}` : null;
  u.href = format(u);
  return u;
}

function format(url, options) {
  if (typeof url === "string") url = oldParse(url);
  if (url instanceof URL) {
    const copy = new URL(url.href);
    if (options?.fragment === false) copy.hash = "";
    if (options?.search === false) copy.search = "";
    if (options?.auth === false) copy.username = copy.password = "";
    return copy.href;
  }
  const protocol = url.protocol ? (url.protocol.endsWith(":") ? url.protocol : `${url.protocol}:`) : "";
  const auth = url.auth ? `${encodeURIComponent(url.auth).replace("%3A", ":")}@` : "";
  const name = url.host ? auth + url.host : url.hostname ? `${auth}${url.hostname.includes(":") ? `[${url.hostname}]` : url.hostname}${url.port ? `:${url.port}` : ""}` : false;
  const query = url.query !== null && typeof url.query === "object" ? require("querystring").stringify(url.query) : "";
  let search = url.search || (query && `?${query}`) || "";
  if (search && !search.startsWith("?")) search = `?${search}`;
  const hash = url.hash ? (url.hash.startsWith("#") ? url.hash : `#${url.hash}`) : "";
  let path = url.pathname ?? "";
  let lead = "";
  if (url.slashes || (!protocol || protocol in ports) && name !== false) {
    lead = `//${name || ""}`;
    if (path && !path.startsWith("/")) path = `/${path}`;
  } else if (name) lead = name;
  return protocol + lead + path.replace(/[?#]/g, encodeURIComponent) + search.replaceAll("#", "%23") + hash;
}

function resolve(from, to) {
  const base = new URL(from, "resolve://");
  const made = new URL(to, base);
  return made.protocol === "resolve:" ? `${made.pathname}${made.search}${made.hash}` : made.href;
}

function urlToHttpOptions(url) {
  const options = { protocol: url.protocol, hostname: url.hostname.replace(/^\[|\]$/g, ""), hash: url.hash, search: url.search, pathname: url.pathname, path: `${url.pathname}${url.search}`, href: url.href };
  if (url.port !== "") options.port = Number(url.port);
  if (url.username || url.password) options.auth = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return options;
}

module.exports = {
  URL, URLSearchParams, Url, parse: oldParse, format, resolve, resolveObject: (from, to) => oldParse(resolve(from, to)), fileURLToPath, pathToFileURL, urlToHttpOptions,
  domainToASCII: (name) => hostOf(String(name), true) ?? "", domainToUnicode: (name) => String(name),
};
