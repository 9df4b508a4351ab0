// Paths, for both families of systems.
"use strict";
const host = require("helve:host");

function need(value, name, kind = "string") {
  const right = kind === "object" ? value !== null && typeof value === "object" : typeof value === kind;
  if (right) return;
  const error = new TypeError(`The "${name}" property must be of type ${kind}, got ${typeof value}`);
  error.code = "ERR_INVALID_ARG_TYPE";
  throw error;
}

function make(windows) {
  const sep = windows ? "\\" : "/";
  const isSlash = windows ? (c) => c === 47 || c === 92 : (c) => c === 47;
  const slashes = windows ? /[\\/]/ : "/";

  // rootOf splits off what a path hangs on: device (a drive or a share) and whether a slash follows; end is where the rest begins.
  function rootOf(path) {
    if (!windows) return path.charCodeAt(0) === 47 ? { device: "", rooted: true, end: 1 } : { device: "", rooted: false, end: 0 };
    const share = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)([\\/]|$)/.exec(path);
    if (share) return { device: `\\\\${share[1]}\\${share[2]}`, rooted: true, end: share[0].length, share: true };
    if (/^[a-zA-Z]:/.test(path)) {
      const rooted = path.length > 2 && isSlash(path.charCodeAt(2));
      return { device: path.slice(0, 2), rooted, end: rooted ? 3 : 2 };
    }
    const rooted = path !== "" && isSlash(path.charCodeAt(0));
    return { device: "", rooted, end: rooted ? 1 : 0 };
  }

  // tidy takes out what does nothing: empty parts, dots, and parts that are left again.
  function tidy(rest, rooted) {
    const parts = [];
    for (const part of rest.split(slashes)) {
      if (part === "" || part === ".") continue;
      if (part !== "..") parts.push(part);
      else if (parts.length > 0 && parts[parts.length - 1] !== "..") parts.pop();
      else if (!rooted) parts.push("..");
    }
    return parts.join(sep);
  }

  function normalize(path) {
    need(path, "path");
    if (path === "") return ".";
    const { device, rooted, end } = rootOf(path);
    let rest = tidy(path.slice(end), rooted);
    const closed = isSlash(path.charCodeAt(path.length - 1)) && end < path.length;
    if (rest === "" && !rooted) rest = ".";
    if (rest !== "" && closed) rest += sep;
    return device + (rooted ? sep : "") + rest;
  }

  function join(...parts) {
    parts.forEach((part, i) => need(part, `paths[${i}]`));
    const said = parts.filter((part) => part !== "");
    if (said.length === 0) return ".";
    let joined = said.join(sep);
    if (windows && !/^[\\/]{2}[^\\/]/.test(said[0])) joined = joined.replace(/^[\\/]{2,}/, "\\"); // no share by accident
    return normalize(joined);
  }

  function resolve(...parts) {
    parts.forEach((part, i) => need(part, `paths[${i}]`));
    let device = "", rest = "", rooted = false;
    for (let i = parts.length - 1; i >= -1 && !(rooted && (!windows || device !== "")); i--) {
      let path = i >= 0 ? parts[i] : host.cwd();
      if (path === "") continue;
      const root = rootOf(path);
      if (root.device !== "") {
        if (device === "") device = root.device;
        else if (device.toLowerCase() !== root.device.toLowerCase()) continue;
      }
      if (rooted) continue; // only a device was missing
      rest = `${path.slice(root.end)}${sep}${rest}`;
      rooted = root.rooted;
    }
    rest = tidy(rest, rooted);
    return device + (rooted ? sep : "") + rest || ".";
  }

  function isAbsolute(path) {
    need(path, "path");
    return rootOf(path).rooted;
  }

  function relative(from, to) {
    need(from, "from");
    need(to, "to");
    if (from === to) return "";
    const a = resolve(from), b = resolve(to);
    const fold = windows ? (text) => text.toLowerCase() : (text) => text;
    if (fold(a) === fold(b)) return "";
    const rootA = rootOf(a), rootB = rootOf(b);
    if (fold(rootA.device) !== fold(rootB.device)) return b;
    const split = (path, root) => path.slice(root.end).split(sep).filter((part) => part !== "");
    const fromParts = split(a, rootA), toParts = split(b, rootB);
    let same = 0;
    while (same < fromParts.length && same < toParts.length && fold(fromParts[same]) === fold(toParts[same])) same++;
    return [...fromParts.slice(same).fill(".."), ...toParts.slice(same)].join(sep);
  }

  // last finds the last part of a path: where it begins and ends.
  function last(path, root = rootOf(path)) {
    let end = path.length;
    while (end > root.end && isSlash(path.charCodeAt(end - 1))) end--;
    let start = end;
    while (start > root.end && !isSlash(path.charCodeAt(start - 1))) start--;
    return { start, end, root };
  }

  // Only a drive is no part of a name.
  const drive = (path) => ({ end: windows && /^[a-zA-Z]:/.test(path) ? 2 : 0 });

  function dirname(path) {
    need(path, "path");
    if (path === "") return ".";
    const { start, root } = last(path);
    if (start <= root.end) {
      if (!windows && root.rooted && path.length > 1 && path[1] === "/" && start > 1) return "//";
      return root.end > 0 ? path.slice(0, root.end) : ".";
    }
    const cut = start - 1;
    if (!windows && cut === 1 && path[0] === "/") return "//"; // Posix leaves two slashes at the start alone
    return path.slice(0, cut);
  }

  function basename(path, suffix) {
    if (suffix !== undefined) need(suffix, "ext");
    need(path, "path");
    const { start, end } = last(path, drive(path));
    const base = path.slice(start, end);
    return suffix && base.endsWith(suffix) ? base.slice(0, base.length - suffix.length) : base;
  }

  function extensionOf(base) {
    const dot = base.lastIndexOf(".");
    return dot <= 0 || base === ".." ? "" : base.slice(dot);
  }

  function extname(path) {
    need(path, "path");
    const { start, end } = last(path, drive(path));
    return extensionOf(path.slice(start, end));
  }

  function parse(path) {
    need(path, "path");
    const { start, end, root } = last(path);
    const base = path.slice(start, end);
    const ext = extensionOf(base);
    const top = path.slice(0, root.end);
    const dir = start > root.end ? path.slice(0, start - 1) : top;
    return { root: top, dir, base, ext, name: base.slice(0, base.length - ext.length) };
  }

  function format(parts) {
    need(parts, "pathObject", "object");
    const dir = parts.dir || parts.root;
    const ext = parts.ext ? (parts.ext.startsWith(".") ? parts.ext : `.${parts.ext}`) : "";
    const base = parts.base || `${parts.name || ""}${ext}`;
    if (!dir) return base;
    return dir === parts.root ? `${dir}${base}` : `${dir}${sep}${base}`;
  }

  function toNamespacedPath(path) {
    if (!windows || typeof path !== "string" || path === "") return path;
    const full = resolve(path);
    if (/^[a-zA-Z]:\\/.test(full)) return `\\\\?\\${full}`;
    if (/^\\\\[^?.]/.test(full)) return `\\\\?\\UNC\\${full.slice(2)}`;
    return path;
  }

  function matchesGlob(path, pattern) {
    need(path, "path");
    need(pattern, "pattern");
    return globToRegExp(windows ? pattern.replaceAll("\\", "/") : pattern).test(windows ? path.replaceAll("\\", "/") : path);
  }

  return {
    resolve, normalize, isAbsolute, join, relative, toNamespacedPath, dirname, basename, extname, format, parse, matchesGlob,
    sep, delimiter: windows ? ";" : ":",
  };
}

// globToRegExp makes a regular expression of a glob: * ? ** {a,b} [a-z] [!a].
function globToRegExp(glob) {
  let text = "", depth = 0;
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i];
    if (c === "*" && glob[i + 1] === "*") {
      while (glob[i + 1] === "*") i++;
      if (glob[i + 1] === "/") {
        i++;
        text += "(?:[^/]*/)*";
      } else text += ".*";
    } else if (c === "*") text += "[^/]*";
    else if (c === "?") text += "[^/]";
    else if (c === "{") { depth++; text += "(?:"; }
    else if (c === "}" && depth > 0) { depth--; text += ")"; }
    else if (c === "," && depth > 0) text += "|";
    else if (c === "[" && glob.indexOf("]", i + 2) > 0) {
      const end = glob.indexOf("]", i + 2);
      const set = glob.slice(i + 1, end).replaceAll("\\", "\\\\").replaceAll("[", "\\[");
      text += `[${/^[!^]/.test(set) ? `^${set.slice(1)}` : set}]`;
      i = end;
    } else if (c === "\\" && i + 1 < glob.length) text += RegExp.escape(glob[++i]);
    else text += c.replace(/[\\^$.*+?()[\]{}|]/, "\\$&");
  }
  return new RegExp(`^${text}${")".repeat(depth)}$`, "s");
}

const posix = make(false), win32 = make(true);
for (const one of [posix, win32]) Object.assign(one, { win32, posix, _makeLong: one.toNamespacedPath });
module.exports = host.info().platform === "win32" ? win32 : posix;
