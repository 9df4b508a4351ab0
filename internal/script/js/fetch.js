// fetch and what belongs to it. The host makes the connections and follows redirects; here are the objects.
"use strict";
const { toBytes, gather, decode, join, touched, ReadableStream } = require("stream/web");

const tokens = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

class Headers {
  #all = new Map(); // lower-case name to list of values

  constructor(init) {
    if (init === undefined || init === null) return;
    if (init instanceof Headers) {
      for (const [name, values] of init.#all) this.#all.set(name, [...values]);
    } else if (typeof init === "object" && init[Symbol.iterator]) {
      for (const pair of init) {
        const [name, value] = pair;
        if ([...pair].length !== 2) throw new TypeError("Header sub-sequence must contain exactly two items");
        this.append(name, value);
      }
    } else if (typeof init === "object") {
      for (const name of Object.keys(init)) if (init[name] !== undefined) this.append(name, init[name]);
    } else {
      throw new TypeError("Type error");
    }
  }
  #key(name) {
    const text = String(name);
    if (!tokens.test(text)) throw Object.assign(new TypeError(`Invalid header name: '${text}'`), { code: "ERR_INVALID_HTTP_TOKEN" });
    return text.toLowerCase();
  }
  #value(name, value) {
    const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
    if (/[\0\r\n]/.test(text)) throw new TypeError(`Header '${name}' has invalid value: '${text}'`);
    return text;
  }
  append(name, value) {
    const key = this.#key(name);
    const list = this.#all.get(key);
    if (list) list.push(this.#value(name, value));
    else this.#all.set(key, [this.#value(name, value)]);
  }
  set(name, value) { this.#all.set(this.#key(name), [this.#value(name, value)]); }
  get(name) { return this.#all.get(this.#key(name))?.join(", ") ?? null; }
  has(name) { return this.#all.has(this.#key(name)); }
  delete(name) { this.#all.delete(this.#key(name)); }
  getSetCookie() { return [...(this.#all.get("set-cookie") ?? [])]; }
  getAll(name) { return [...(this.#all.get(this.#key(name)) ?? [])]; }
  get count() { return this.#all.size; }
  forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this); }
  toJSON() {
    const out = {};
    if (this.#all.has("set-cookie")) out["set-cookie"] = this.getSetCookie();
    for (const [name, values] of this.#all) if (name !== "set-cookie") out[name] = values.join(", ");
    return out;
  }
  *entries() {
    for (const name of [...this.#all.keys()].sort()) {
      if (name !== "set-cookie") yield [name, (this.#all.get(name) ?? []).join(", ")];
    }
    for (const value of this.getSetCookie()) yield ["set-cookie", value];
  }
  *keys() { for (const [name] of this.entries()) yield name; }
  *values() { for (const [, value] of this.entries()) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  get [Symbol.toStringTag]() { return "Headers"; }
}

class FormData {
  #list = [];
  #entry(name, value, filename) {
    const { Blob, File } = require("blob");
    if (value instanceof Blob) {
      if (!(value instanceof File) || filename !== undefined) value = new File([value], filename ?? value.name ?? "blob", { type: value.type });
    } else {
      value = String(value);
    }
    return [String(name), value];
  }
  append(name, value, filename) { this.#list.push(this.#entry(name, value, filename)); }
  set(name, value, filename) {
    const entry = this.#entry(name, value, filename);
    const at = this.#list.findIndex(([n]) => n === entry[0]);
    this.#list = this.#list.filter(([n], i) => n !== entry[0] || i === at);
    if (at < 0) this.#list.push(entry);
    else this.#list[at] = entry;
  }
  delete(name) { this.#list = this.#list.filter(([n]) => n !== String(name)); }
  get(name) { return this.#list.find(([n]) => n === String(name))?.[1] ?? null; }
  getAll(name) { return this.#list.filter(([n]) => n === String(name)).map(([, v]) => v); }
  has(name) { return this.#list.some(([n]) => n === String(name)); }
  forEach(callback, self) { for (const [name, value] of this.#list) callback.call(self, value, name, this); }
  get length() { return this.#list.length; }
  *entries() { for (const [name, value] of this.#list) yield [name, value]; }
  *keys() { for (const [name] of this.#list) yield name; }
  *values() { for (const [, value] of this.#list) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  toJSON() {
    const out = {};
    for (const [name, value] of this.#list) out[name] = name in out ? [].concat(out[name], value) : value;
    return out;
  }
  get [Symbol.toStringTag]() { return "FormData"; }
}

const quoted = (text) => text.replace(/\r\n|\r|\n/g, "%0D%0A").replaceAll('"', "%22");

// multipart writes a form as the body of a request.
async function multipart(form, boundary) {
  const parts = [];
  for (const [name, value] of form) {
    let head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
    if (typeof value === "string") {
      parts.push(toBytes(`${head}\r\n\r\n${value}\r\n`));
      continue;
    }
    let type = value.type || "application/octet-stream";
    if (type.startsWith("text/") && !type.includes("charset")) type += ";charset=utf-8";
    head += `; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
    parts.push(toBytes(head), await value.bytes(), toBytes("\r\n"));
  }
  parts.push(toBytes(`--${boundary}--\r\n`));
  return join(parts);
}

// parseMultipart reads such a body. Bytes are looked at as latin-1 text, in which a character is a byte.
function parseMultipart(bytes, boundary) {
  const { text, bytes: back } = require("helve:host");
  const form = new FormData();
  const whole = `\r\n${text(bytes, "latin1")}`;
  const pieces = whole.split(`\r\n--${boundary}`);
  if (pieces.length < 2) throw new TypeError("FormData parse error missing final boundary");
  for (const piece of pieces.slice(1)) {
    if (piece.startsWith("--")) break;
    const end = piece.indexOf("\r\n\r\n");
    if (end < 0) throw new TypeError("FormData parse error");
    const head = decode(back(piece.slice(0, end), "latin1"));
    const body = back(piece.slice(end + 4), "latin1");
    const name = /;\s*name="([^"]*)"/i.exec(head)?.[1];
    if (name === undefined) continue;
    const filename = /;\s*filename="([^"]*)"/i.exec(head)?.[1];
    if (filename === undefined) form.append(name, decode(body));
    else form.append(name, new (require("blob").File)([body], filename, { type: /content-type:\s*([^\r\n]+)/i.exec(head)?.[1] ?? "" }));
  }
  return form;
}

// A body is one of: null, bytes, a stream, or a function that loads the bytes (a file, a form).
function bodyOf(init) {
  if (init === undefined || init === null) return { type: null };
  if (init instanceof ReadableStream) {
    if (init.locked) throw Object.assign(new TypeError("ReadableStream is locked"), { code: "ERR_INVALID_STATE" });
    return { stream: init, type: null };
  }
  const { Blob, load } = require("blob");
  if (init instanceof Blob) return { load: () => init[load](), type: init.type || null, blob: init };
  if (init instanceof FormData) {
    const boundary = `----HelveFormBoundary${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;
    return { load: () => multipart(init, boundary), type: `multipart/form-data; boundary=${boundary}` };
  }
  if (ArrayBuffer.isView(init) || init instanceof ArrayBuffer) return { bytes: toBytes(init).slice(), type: null };
  if (typeof URLSearchParams === "function" && init instanceof URLSearchParams) {
    return { bytes: toBytes(init.toString()), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  }
  if (typeof init === "object" && (init[Symbol.asyncIterator] || typeof init.pipe === "function")) return { stream: ReadableStream.from(init), type: null };
  return { text: String(init), type: null };
}

// Body is what requests and responses have in common.
class Body {
  #body; #used = false; #stream = null;
  constructor(body) { this.#body = body; }

  get bodyUsed() { return this.#used || this.#stream !== null && touched(this.#stream); }
  get body() {
    const b = this.#body;
    if (this.#stream) return this.#stream;
    if (b.stream) this.#stream = b.stream;
    else if (b.bytes || b.load || b.text !== undefined) this.#stream = require("blob").streamOf(() => this.#load());
    return this.#stream;
  }
  async #load() {
    const b = this.#body;
    if (b.text !== undefined) return toBytes(b.text);
    return b.bytes ?? (b.load ? b.load() : new Uint8Array(0));
  }
  async #take() {
    if (this.bodyUsed || this.#stream?.locked) throw Object.assign(new TypeError("Body already used"), { code: "ERR_BODY_ALREADY_USED" });
    this.#used = true;
    return this.#body.stream || this.#stream ? gather(this.body) : this.#load();
  }
  async text() {
    if (this.#body.text !== undefined && !this.#used && !this.#stream) {
      this.#used = true;
      return this.#body.text.toWellFormed();
    }
    return decode(await this.#take());
  }
  async json() {
    const text = await this.text();
    if (text === "") throw new SyntaxError("Unexpected end of JSON input");
    return JSON.parse(text);
  }
  async bytes() { return new Uint8Array(await this.#take()); }
  async arrayBuffer() { return (await this.#take()).slice().buffer; }
  async blob() {
    const type = this.headers.get("content-type") ?? "";
    const plain = /^(application\/json|text\/(plain|html|css|javascript))$/.test(type);
    return new (require("blob").Blob)([await this.#take()], { type: plain ? `${type};charset=utf-8` : type });
  }
  async formData() {
    const type = this.headers.get("content-type") ?? "";
    const bytes = await this.#take();
    const boundary = /boundary="?([^";]+)/i.exec(type)?.[1];
    if (/^multipart\/form-data/i.test(type) && boundary) return parseMultipart(bytes, boundary);
    if (!/^application\/x-www-form-urlencoded/i.test(type)) throw new TypeError("Can't decode form data from body because of incorrect MIME type/boundary");
    const form = new FormData();
    for (const [name, value] of new URLSearchParams(decode(bytes))) form.append(name, value);
    return form;
  }
  // _split gives a second body with the same content.
  _split() {
    if (this.bodyUsed) throw Object.assign(new TypeError("Body already used"), { code: "ERR_BODY_ALREADY_USED" });
    const b = this.#body;
    if (!b.stream && !this.#stream) return b;
    const [one, other] = this.body.tee();
    this.#body = { stream: one, type: b.type };
    this.#stream = null;
    return { stream: other, type: b.type };
  }
  // _send is the body as fetch sends it.
  async _send() { return this.body === null && this.#body.text === undefined ? undefined : this.#take(); }
}

class Response extends Body {
  #headers; #status; #statusText; #told;
  constructor(body, init = {}, told = {}) {
    const made = bodyOf(body);
    super(made);
    const status = init?.status ?? 200;
    if (!told.any && !(Number.isInteger(Number(status)) && status >= 200 && status <= 599 || status === 101)) {
      throw new RangeError(`The status provided (${status}) must be 101 or in the range of [200, 599]`);
    }
    this.#status = Number(status);
    this.#statusText = String(init?.statusText ?? "");
    this.#headers = new Headers(init?.headers);
    this.#told = told;
    if (made.type && !this.#headers.has("content-type")) this.#headers.set("content-type", made.type);
  }
  get status() { return this.#status; }
  get statusText() { return this.#statusText; }
  get ok() { return this.#status >= 200 && this.#status < 300; }
  get headers() { return this.#headers; }
  get url() { return this.#told.url ?? ""; }
  get redirected() { return this.#told.redirected ?? false; }
  get type() { return this.#told.type ?? "default"; }
  clone() {
    return new Response(...again(this._split(), { status: this.#status, statusText: this.#statusText, headers: this.#headers }, { ...this.#told, any: true }));
  }
  static json(data, init) {
    const headers = new Headers(init?.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json;charset=utf-8");
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError("Value is not JSON serializable");
    return new Response(text, { ...(typeof init === "number" ? { status: init } : init), headers });
  }
  static error() { return new Response(null, { status: 0 }, { type: "error", any: true }); }
  static redirect(url, status = 302) {
    const code = typeof status === "object" ? status.status ?? 302 : status;
    if (![301, 302, 303, 307, 308].includes(code)) throw new RangeError("Failed to execute 'redirect' on 'Response': Invalid status code");
    return new Response(null, { status: code, headers: { location: String(url) } });
  }
  get [Symbol.toStringTag]() { return "Response"; }
}

// again gives the arguments that make a response or request of a body once more.
function again(body, ...rest) {
  const init = body.stream ?? body.bytes ?? body.blob ?? body.text;
  if (init !== undefined || !body.load) return [init ?? null, ...rest];
  return [new ReadableStream({ async pull(c) { c.enqueue(await body.load()); c.close(); } }, { highWaterMark: 0 }), ...rest];
}

class Request extends Body {
  #url; #method; #headers; #signal; #redirect;
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : undefined;
    const url = from ? from.url : asked(input ?? init?.url);
    const made = init?.body !== undefined && init.body !== null ? bodyOf(init.body) : from ? from._split() : bodyOf(null);
    super(made);
    this.#url = url;
    this.#method = method(init?.method ?? from?.method ?? "GET");
    this.#headers = new Headers(init?.headers ?? from?.headers);
    this.#signal = init?.signal ?? from?.signal;
    this.#redirect = init?.redirect ?? from?.redirect ?? "follow";
    if (made.type && !this.#headers.has("content-type")) this.#headers.set("content-type", made.type);
  }
  get url() { return this.#url; }
  get method() { return this.#method; }
  get headers() { return this.#headers; }
  get signal() { return (this.#signal ??= new AbortController().signal); }
  get redirect() { return this.#redirect; }
  get cache() { return "default"; }
  get credentials() { return "same-origin"; }
  get mode() { return "cors"; }
  get referrer() { return ""; }
  get integrity() { return ""; }
  get destination() { return ""; }
  clone() {
    const [body] = again(this._split());
    return new Request(this.#url, { body, method: this.#method, headers: this.#headers, signal: this.#signal, redirect: this.#redirect });
  }
  get [Symbol.toStringTag]() { return "Request"; }
}

function asked(url) {
  if (String(url) === "") throw new Error("Failed to construct 'Request': url is required.");
  return address(url, `Failed to construct 'Request': Invalid URL "${url}"`);
}

const known = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
function method(name) {
  const upper = String(name).toUpperCase();
  return known.includes(upper) ? upper : String(name);
}

function address(input, message) {
  try {
    return new URL(String(input)).href;
  } catch {
    throw Object.assign(new TypeError(message), { code: "ERR_INVALID_URL" });
  }
}

const bad = (message, code) => Object.assign(new TypeError(message), { code });

// local answers data: and file: addresses.
async function local(url) {
  if (url.startsWith("file:")) return new Response(require("bun").file(new URL(url)));
  const comma = url.indexOf(",");
  if (comma < 0) throw bad("fetch() failed to parse the data URL", "ERR_INVALID_URL");
  let type = url.slice(5, comma);
  const raw = decodeURIComponent(url.slice(comma + 1));
  const packed = /;\s*base64$/i.test(type);
  if (packed) type = type.replace(/;\s*base64$/i, "");
  if (/^text\/[^;]+$/.test(type)) type += ";charset=utf-8";
  const bytes = packed ? new Uint8Array(require("buffer").Buffer.from(raw, "base64")) : toBytes(raw);
  return new Response(bytes, { headers: { "content-type": type || "text/plain;charset=US-ASCII" } }, { url });
}

// fetch asks the host for a page. What it answers first are the head and the name of the body, whose chunks are then asked for.
async function fetch(input, init = {}) {
  if (arguments.length === 0) throw bad("fetch() expects a string but received no arguments.", "ERR_MISSING_ARGS");
  const request = input instanceof Request ? (Object.keys(init ?? {}).length ? new Request(input, init) : input) : undefined;
  const asked = request?.url ?? (typeof input === "object" && input !== null && !(input instanceof URL) && input.url !== undefined ? input.url : String(input));
  if (asked.trim() === "") throw bad("fetch() URL must not be a blank string.", "ERR_INVALID_URL");
  const url = address(asked, "fetch() URL is invalid");
  if (url.startsWith("data:") || url.startsWith("file:")) return local(url);
  if (!/^https?:/.test(url)) throw bad("protocol must be http:, https: or s3:", "ERR_INVALID_ARG_VALUE");
  const name = method(init?.method ?? request?.method ?? "GET");
  if ((name === "GET" || name === "HEAD") && init?.body !== undefined && init.body !== null) {
    throw bad("fetch() request with GET/HEAD method cannot have body.", "ERR_INVALID_ARG_VALUE");
  }
  const whole = request ?? new Request(url, { ...init, method: name });
  const signal = init?.signal ?? request?.signal;
  signal?.throwIfAborted();
  const at = new URL(url);
  const headers = new Headers(whole.headers);
  if (at.username && !headers.has("authorization")) {
    headers.set("authorization", `Basic ${btoa(`${decodeURIComponent(at.username)}:${decodeURIComponent(at.password)}`)}`);
  }
  if (!headers.has("accept")) headers.set("accept", "*/*");
  const bytes = await whole._send();
  const redirect = init?.redirect ?? whole.redirect;
  const head = await reach(signal, url, {
    url, method: name, headers: [...headers], redirect, body: bytes !== undefined, decompress: init?.decompress !== false,
  }, bytes);
  const { id, status, statusText, headers: got, url: final, redirected } = head.value;
  const body = id === undefined || id === null ? null : bodyStream(id, signal);
  return new Response(body, { status, statusText, headers: got }, { url: final, redirected, any: true });
}

// reach asks for the head of an answer; why there is none is told in Bun's words.
async function reach(signal, url, arg, bytes) {
  try {
    return await until(signal, "net.fetch", arg, bytes);
  } catch (error) {
    const more = "For more information, pass `verbose: true` in the second argument to fetch()";
    const message = {
      ECONNREFUSED: "ECONNREFUSED: Unable to connect. Is the computer able to access the url?",
      ENOTFOUND: "ENOTFOUND: Unable to connect. Is the computer able to access the url?",
      ECONNRESET: `The socket connection was closed unexpectedly. ${more}`,
      TooManyRedirects: `TooManyRedirects: The response redirected too many times. ${more}`,
      UnexpectedRedirect: `UnexpectedRedirect fetching "${url}". ${more}`,
    }[error?.code];
    if (message === undefined) throw error;
    throw Object.assign(new TypeError(message, { cause: error }), { path: url, errno: 0, code: error.code });
  }
}

// until makes a request of the host that a signal can end.
function until(signal, op, arg, bytes) {
  const host = require("helve:host");
  if (!signal) return host.later(op, arg, bytes);
  const key = host.newKey();
  return new Promise((resolve, reject) => {
    const stop = () => {
      host.drop(key);
      reject(signal.reason);
    };
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const over = (settle) => (with_) => {
      signal.removeEventListener("abort", stop);
      settle(with_);
    };
    host.later(op, arg, bytes, key).then(over(resolve), over(reject));
  });
}

function bodyStream(id, signal) {
  const host = require("helve:host");
  return new ReadableStream({
    async pull(controller) {
      let next;
      try {
        next = await until(signal, "net.body", { id });
      } catch (error) {
        host.now("net.close", { id });
        throw error;
      }
      if (next.bytes?.length) controller.enqueue(next.bytes);
      if (next.value.done) controller.close();
    },
    cancel() { host.now("net.close", { id }); },
  }, { highWaterMark: 0 });
}
fetch.preconnect = () => {};

module.exports = { fetch, Headers, Request, Response, FormData };
Object.defineProperties(module.exports, { until: { value: until } });
