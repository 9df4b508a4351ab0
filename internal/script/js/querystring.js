// Queries of URLs, in the old way.
"use strict";

function escape(value) {
  const text = typeof value === "string" ? value : typeof value === "object" ? String(value) : `${value}`;
  return text.replace(/[^A-Za-z0-9\-_.!~*'()]+/g, (part) => {
    if (!part.isWellFormed()) throw Object.assign(new URIError("URI malformed"), { code: "ERR_INVALID_URI" });
    return require("helve:host").bytes(part).toHex().toUpperCase().replace(/../g, "%$&");
  });
}

function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return unescapeBuffer(text).toString();
  }
}

function unescapeBuffer(text) {
  const { Buffer } = require("buffer");
  const bytes = Buffer.from(text).toString("latin1").replace(/%([0-9a-fA-F]{2})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
  return Buffer.from(bytes, "latin1");
}

const simple = (value) => {
  switch (typeof value) {
    case "string": return value;
    case "number": return Number.isFinite(value) ? String(value) : "";
    case "bigint": case "boolean": return String(value);
  }
  return "";
};

function stringify(object, separator = "&", equals = "=", options) {
  if (object === null || typeof object !== "object") return "";
  const encode = options?.encodeURIComponent ?? module.exports.escape;
  return Object.keys(object)
    .flatMap((key) => [object[key]].flat().map((value) => `${encode(simple(key))}${equals}${encode(simple(value))}`))
    .join(separator);
}

function parse(text, separator = "&", equals = "=", options) {
  const all = { __proto__: null };
  if (typeof text !== "string" || text === "") return all;
  const decode = options?.decodeURIComponent ?? module.exports.unescape;
  const most = options?.maxKeys ?? 1000;
  const parts = text.split(separator || "&");
  for (const part of most > 0 ? parts.slice(0, most) : parts) {
    if (part === "") continue;
    const at = part.indexOf(equals || "=");
    const read = (raw) => {
      const spaced = raw.replaceAll("+", " ");
      try { return decode(spaced); } catch { return unescape(spaced); }
    };
    const key = read(at < 0 ? part : part.slice(0, at)), value = at < 0 ? "" : read(part.slice(at + (equals || "=").length));
    if (!(key in all)) all[key] = value;
    else if (Array.isArray(all[key])) all[key].push(value);
    else all[key] = [all[key], value];
  }
  return all;
}

module.exports = { escape, unescape, unescapeBuffer, stringify, parse, encode: stringify, decode: parse };
