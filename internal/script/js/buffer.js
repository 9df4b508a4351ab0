// Bytes, as Node has them, and the encodings of text.
"use strict";
const host = require("helve:host");
const { coded, wrongType, wrongValue, outOfRange, needString } = require("helve:check");

const maxLength = 2 ** 32;

class Bytes extends Uint8Array {}

// Buffer was once called as a function, and some still do.
function Buffer(value, encodingOrOffset, length) {
  if (typeof value === "number") return Buffer.alloc(value);
  return Buffer.from(value, encodingOrOffset, length);
}
Buffer.prototype = Bytes.prototype;
Object.defineProperty(Bytes.prototype, "constructor", { value: Buffer, writable: true, configurable: true });
Object.setPrototypeOf(Buffer, Uint8Array);
Object.defineProperty(Buffer, Symbol.species, { configurable: true, get: () => Bytes });
Object.defineProperty(Bytes, "name", { value: "Buffer" });

// view makes a Buffer of bytes without a copy.
const view = (bytes) => new Bytes(bytes.buffer, bytes.byteOffset, bytes.byteLength);

// ---- encodings ----

// plain is the one name an encoding has here; undefined if there is no such encoding.
function plain(encoding) {
  switch (encoding) {
    case undefined: case null: case "utf8": return "utf8";
    case "hex": case "base64": case "latin1": case "ascii": case "base64url": case "utf16le": return encoding;
  }
  switch (String(encoding).toLowerCase()) {
    case "": case "utf8": case "utf-8": return "utf8";
    case "latin1": case "binary": return "latin1";
    case "ascii": return "ascii";
    case "hex": return "hex";
    case "base64": return "base64";
    case "base64url": return "base64url";
    case "ucs2": case "ucs-2": case "utf16le": case "utf-16le": return "utf16le";
  }
  return undefined;
}

function known(encoding) {
  const name = plain(encoding);
  if (name === undefined) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
  return name;
}

function fromBase64(text) {
  let kept = /[^A-Za-z0-9+/]/.test(text) ? text.replace(/=[^]*$/, "").replaceAll("-", "+").replaceAll("_", "/").replace(/[^A-Za-z0-9+/]/g, "") : text;
  if (kept.length % 4 === 1) kept = kept.slice(0, -1);
  return Uint8Array.fromBase64(kept);
}

function fromHex(text) {
  const good = /^(?:[0-9a-fA-F]{2})*/.exec(text)[0];
  return Uint8Array.fromHex(good);
}

function encode(text, encoding) {
  switch (known(encoding)) {
    case "utf8": return host.bytes(text);
    case "hex": return fromHex(text);
    case "base64": case "base64url": return fromBase64(text);
    case "utf16le": {
      const bytes = new Uint8Array(text.length * 2);
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        bytes[2 * i] = unit & 255;
        bytes[2 * i + 1] = unit >> 8;
      }
      return bytes;
    }
  }
  return host.bytes(text, "latin1"); // and ascii
}

function decode(bytes, encoding) {
  switch (known(encoding)) {
    case "utf8": return host.text(bytes);
    case "latin1": return host.text(bytes, "latin1");
    case "ascii": return host.text(bytes.map((b) => b & 127), "latin1");
    case "hex": return Uint8Array.prototype.toHex.call(bytes);
    case "base64": return Uint8Array.prototype.toBase64.call(bytes);
    case "base64url": return Uint8Array.prototype.toBase64.call(bytes, { alphabet: "base64url", omitPadding: true });
  }
  return units(bytes, true);
}

// units reads text of two bytes a unit.
function units(bytes, little) {
  const parts = [];
  const whole = bytes.length & ~1;
  for (let at = 0; at < whole; at += 8192) {
    const codes = [];
    for (let i = at; i < Math.min(at + 8192, whole); i += 2) codes.push(little ? bytes[i] | bytes[i + 1] << 8 : bytes[i] << 8 | bytes[i + 1]);
    parts.push(String.fromCharCode(...codes));
  }
  return parts.join("");
}

// ---- making ----

function sized(size) {
  if (typeof size !== "number") throw wrongType("size", "of type number", size);
  if (!(size >= 0 && size <= maxLength)) throw outOfRange("size", `>= 0 && <= ${maxLength}`, size);
  return size;
}

const statics = {
  from(value, encodingOrOffset, length) {
    if (typeof value === "string") {
      const bytes = encode(value, typeof encodingOrOffset === "string" ? encodingOrOffset : "utf8");
      return view(bytes);
    }
    if (typeof value === "object" && value !== null) {
      if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
        const offset = Number(encodingOrOffset ?? 0) || 0;
        if (offset > value.byteLength) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"offset" is outside of buffer bounds');
        const rest = value.byteLength - offset;
        if (length !== undefined && !(length <= rest)) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"length" is outside of buffer bounds');
        return new Bytes(value, offset, length === undefined ? rest : Math.max(0, length));
      }
      if (ArrayBuffer.isView(value) || Array.isArray(value)) return new Bytes(value);
      const inner = value.valueOf?.();
      if (inner != null && inner !== value && (typeof inner === "string" || typeof inner === "object")) return Buffer.from(inner, encodingOrOffset, length);
      if (value.type === "Buffer" && Array.isArray(value.data)) return new Bytes(value.data);
      if (typeof value.length === "number" || "length" in value) return typeof value.length === "number" ? new Bytes(Array.from(value)) : new Bytes(0);
      const made = value[Symbol.toPrimitive]?.("string");
      if (typeof made === "string") return Buffer.from(made, encodingOrOffset);
    }
    throw wrongType("first argument", "of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object", value);
  },
  alloc(size, fill, encoding) {
    const made = new Bytes(sized(size));
    return fill === undefined || fill === 0 ? made : made.fill(fill, encoding);
  },
  allocUnsafe: (size) => new Bytes(sized(size)),
  allocUnsafeSlow: (size) => new Bytes(sized(size)),
  of: (...values) => new Bytes(values),
  isBuffer: (value) => value instanceof Bytes,
  isEncoding: (encoding) => typeof encoding === "string" && encoding !== "" && plain(encoding) !== undefined,
  byteLength(value, encoding) {
    if (typeof value !== "string") {
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return value.byteLength;
      throw wrongType("string", "of type string or an instance of Buffer or ArrayBuffer", value);
    }
    switch (plain(encoding) ?? "utf8") {
      case "utf16le": return value.length * 2;
      case "latin1": case "ascii": return value.length;
      case "hex": return value.length >>> 1;
      case "base64": case "base64url": {
        const end = value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0;
        return (value.length - end) * 3 >>> 2;
      }
    }
    return host.bytes(value).length;
  },
  concat(list, total) {
    if (!Array.isArray(list)) throw wrongType("list", "an instance of Array", list);
    list.forEach((one, i) => {
      if (!(one instanceof Uint8Array)) throw wrongType(`list[${i}]`, "an instance of Buffer or Uint8Array", one);
    });
    const whole = new Bytes(total ?? list.reduce((sum, one) => sum + one.length, 0));
    let at = 0;
    for (const one of list) {
      if (at >= whole.length) break;
      const fits = one.length <= whole.length - at ? one : one.subarray(0, whole.length - at);
      whole.set(fits, at);
      at += fits.length;
    }
    return whole;
  },
  compare(a, b) {
    bytesNeeded(a, "buf1");
    bytesNeeded(b, "buf2");
    return order(a, b);
  },
  copyBytesFrom(source, offset = 0, length = source.length - offset) {
    const part = source.slice(offset, offset + length);
    return new Bytes(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
  },
};
for (const name of Object.keys(statics)) {
  Object.defineProperty(statics[name], "name", { value: name });
  Object.defineProperty(Buffer, name, { value: statics[name], writable: true, configurable: true, enumerable: true });
}
Buffer.poolSize = 8192;

function bytesNeeded(value, name) {
  if (!(value instanceof Uint8Array)) throw wrongType(name, "an instance of Buffer or Uint8Array", value);
}

function order(a, b) {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
  return a.length < b.length ? -1 : a.length > b.length ? 1 : 0;
}

// ---- looking for bytes ----

function find(buffer, value, from, encoding, last) {
  if (typeof from === "string") {
    encoding = from;
    from = undefined;
  }
  let start = Number(from);
  if (from === undefined || Number.isNaN(start)) start = last ? buffer.length : 0;
  start = Math.trunc(start);
  if (start < 0) start += buffer.length;
  if (start < 0) {
    if (last) return -1;
    start = 0;
  }
  if (typeof value === "number") {
    const byte = value & 255;
    return last ? Uint8Array.prototype.lastIndexOf.call(buffer, byte, start) : Uint8Array.prototype.indexOf.call(buffer, byte, start);
  }
  if (typeof value !== "string" && !(value instanceof Uint8Array)) throw wrongType("value", "one of type number or string or an instance of Buffer or Uint8Array", value);
  const wanted = typeof value === "string" ? encode(value, encoding) : value;
  if (wanted.length === 0) return Math.min(start, buffer.length);
  const step = last ? -1 : 1;
  for (let at = last ? Math.min(start, buffer.length - wanted.length) : start; at >= 0 && at + wanted.length <= buffer.length; at += step) {
    if (!last) {
      at = Uint8Array.prototype.indexOf.call(buffer, wanted[0], at);
      if (at < 0 || at + wanted.length > buffer.length) return -1;
    }
    let same = 0;
    while (same < wanted.length && buffer[at + same] === wanted[same]) same++;
    if (same === wanted.length) return at;
  }
  return -1;
}

// clamp reads a place in a buffer as slice does.
function clamp(value, usual, length) {
  const n = value === undefined ? usual : Math.trunc(Number(value)) || 0;
  return n < 0 ? Math.max(0, n + length) : Math.min(n, length);
}

const methods = {
  toString(encoding, start, end) {
    const from = start === undefined || !(start > 0) ? 0 : Math.min(Math.trunc(start), this.length);
    const to = end === undefined || end > this.length ? this.length : Math.max(0, Math.trunc(end) || 0);
    if (to <= from) {
      known(encoding);
      return "";
    }
    return decode(from === 0 && to === this.length ? this : this.subarray(from, to), encoding);
  },
  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  },
  equals(other) {
    bytesNeeded(other, "otherBuffer");
    return this === other || this.length === other.length && order(this, other) === 0;
  },
  compare(target, targetStart = 0, targetEnd = target?.length, sourceStart = 0, sourceEnd = this.length) {
    bytesNeeded(target, "target");
    return order(this.subarray(sourceStart, sourceEnd), target.subarray(targetStart, targetEnd));
  },
  indexOf(value, from, encoding) {
    return find(this, value, from, encoding, false);
  },
  lastIndexOf(value, from, encoding) {
    return find(this, value, from, encoding, true);
  },
  includes(value, from, encoding) {
    return find(this, value, from, encoding, false) >= 0;
  },
  slice(start, end) {
    return Uint8Array.prototype.subarray.call(this, clamp(start, 0, this.length), clamp(end, this.length, this.length));
  },
  copy(target, targetStart = 0, start = 0, end = this.length) {
    bytesNeeded(target, "target");
    if (targetStart < 0) throw outOfRange("targetStart", `>= 0 and <= ${target.length}`, targetStart);
    if (start < 0 || start > this.length) throw outOfRange("sourceStart", `>= 0 and <= ${this.length}`, start);
    if (targetStart >= target.length || start >= end) return 0;
    const part = this.subarray(start, Math.min(end, this.length, start + target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  },
  fill(value, offset, end, encoding) {
    if (typeof offset === "string") [offset, end, encoding] = [undefined, undefined, offset];
    else if (typeof end === "string") [end, encoding] = [undefined, end];
    const from = offset ?? 0, to = end ?? this.length;
    if (from < 0 || from > this.length) throw outOfRange("offset", `>= 0 and <= ${this.length}`, from);
    if (to < 0 || to > this.length) throw outOfRange("end", `>= 0 and <= ${this.length}`, to);
    const isText = typeof value === "string";
    if (!isText && !(value instanceof Uint8Array)) return Uint8Array.prototype.fill.call(this, Number(value) & 255, from, to);
    const bytes = isText ? encode(value, encoding) : value;
    if (bytes.length === 0) {
      if (isText && value === "") return Uint8Array.prototype.fill.call(this, 0, from, to);
      throw wrongValue("value", value);
    }
    for (let at = from; at < to; at += bytes.length) this.set(bytes.length <= to - at ? bytes : bytes.subarray(0, to - at), at);
    return this;
  },
  write(text, offset, length, encoding) {
    needString(text, "argument");
    if (typeof offset === "string") [offset, length, encoding] = [0, undefined, offset];
    else if (typeof length === "string") [length, encoding] = [undefined, length];
    const at = offset ?? 0;
    if (at < 0 || at > this.length) throw outOfRange("offset", `>= 0 and <= ${this.length}`, at);
    const room = Math.min(length ?? Infinity, this.length - at);
    let bytes = encode(text, encoding);
    if (bytes.length > room) {
      let cut = room;
      if (plain(encoding) === "utf8") while (cut > 0 && (bytes[cut] & 0xc0) === 0x80) cut--; // no half characters
      if (plain(encoding) === "utf16le") cut &= ~1;
      bytes = bytes.subarray(0, cut);
    }
    this.set(bytes, at);
    return bytes.length;
  },
  inspect() {
    const shown = Array.from(this.subarray(0, 50), (b) => b.toString(16).padStart(2, "0")).join(" ");
    const more = this.length > 50 ? ` ... ${this.length - 50} more byte${this.length > 51 ? "s" : ""}` : "";
    return `<Buffer${shown === "" ? "" : " "}${shown}${more}>`;
  },
  readUIntBE(offset, size) { return readBytes(this, offset, size, false, false); },
  readUIntLE(offset, size) { return readBytes(this, offset, size, true, false); },
  readIntBE(offset, size) { return readBytes(this, offset, size, false, true); },
  readIntLE(offset, size) { return readBytes(this, offset, size, true, true); },
  writeUIntBE(value, offset, size) { return writeBytes(this, value, offset, size, false); },
  writeUIntLE(value, offset, size) { return writeBytes(this, value, offset, size, true); },
  writeIntBE(value, offset, size) { return writeBytes(this, value, offset, size, false); },
  writeIntLE(value, offset, size) { return writeBytes(this, value, offset, size, true); },
};
for (const [name, size] of [["swap16", 2], ["swap32", 4], ["swap64", 8]]) {
  methods[name] = function () {
    if (this.length % size !== 0) throw coded(RangeError, "ERR_INVALID_BUFFER_SIZE", `Buffer size must be a multiple of ${size * 8}-bits`);
    for (let at = 0; at < this.length; at += size) this.subarray(at, at + size).reverse();
    return this;
  };
}

// place checks where a number is read or written.
function place(buffer, offset, size) {
  const at = offset ?? 0;
  if (typeof at !== "number") throw wrongType("offset", "of type number", at);
  if (!Number.isInteger(at)) throw outOfRange("offset", "an integer", at);
  if (buffer.length < size) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds");
  if (at < 0 || at > buffer.length - size) throw outOfRange("offset", `>= 0 and <= ${buffer.length - size}`, at);
  return at;
}

function sixAtMost(size) {
  if (typeof size !== "number") throw wrongType("byteLength", "of type number", size);
  if (!(size >= 1 && size <= 6)) throw outOfRange("byteLength", ">= 1 and <= 6", size);
}

function readBytes(buffer, offset, size, little, signed) {
  if (offset === undefined) throw wrongType("offset", "of type number", offset);
  sixAtMost(size);
  const at = place(buffer, offset, size);
  let value = 0;
  for (let i = 0; i < size; i++) value = value * 256 + buffer[little ? at + size - 1 - i : at + i];
  return signed && value >= 2 ** (8 * size - 1) ? value - 2 ** (8 * size) : value;
}

function writeBytes(buffer, value, offset, size, little) {
  sixAtMost(size);
  const at = place(buffer, offset, size);
  let rest = value < 0 ? Number(value) + 2 ** (8 * size) : Number(value);
  for (let i = 0; i < size; i++) {
    buffer[little ? at + i : at + size - 1 - i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return at + size;
}

// range is what an integer of some bits may be, and how it is told when it is not.
function range(bits, signed, big) {
  const min = signed ? -(2n ** BigInt(bits - 1)) : 0n;
  const max = signed ? 2n ** BigInt(bits - 1) - 1n : 2n ** BigInt(bits) - 1n;
  let text = `>= ${min} and <= ${max}`;
  if (big) text = signed ? `>= -(2n ** ${bits - 1}n) and < 2n ** ${bits - 1}n` : `>= 0n and < 2n ** ${bits}n`;
  else if (bits === 32) text = signed ? ">= -(2 ** 31) and <= 2 ** 31 - 1" : `>= 0 and <= ${max}`;
  return { min: big ? min : Number(min), max: big ? max : Number(max), text };
}

const dataOf = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
function addNumber(name, getter, bits, kind) {
  const size = bits / 8;
  const limits = kind === "float" ? undefined : range(bits, kind.includes("signed-"), kind.endsWith("big"));
  for (const end of bits === 8 ? [""] : ["LE", "BE"]) {
    const little = end === "LE";
    methods[`read${name}${end}`] = function (offset) {
      return dataOf(this)[`get${getter}`](place(this, offset, size), little);
    };
    methods[`write${name}${end}`] = function (value, offset) {
      if (limits && (value > limits.max || value < limits.min)) throw outOfRange("value", limits.text, value);
      const at = place(this, offset, size);
      dataOf(this)[`set${getter}`](at, value, little);
      return at + size;
    };
  }
}
for (const [name, getter, bits, kind] of [
  ["UInt8", "Uint8", 8, "plain"], ["UInt16", "Uint16", 16, "plain"], ["UInt32", "Uint32", 32, "plain"],
  ["Int8", "Int8", 8, "signed-"], ["Int16", "Int16", 16, "signed-"], ["Int32", "Int32", 32, "signed-"],
  ["BigUInt64", "BigUint64", 64, "big"], ["BigInt64", "BigInt64", 64, "signed-big"],
  ["Float", "Float32", 32, "float"], ["Double", "Float64", 64, "float"],
]) addNumber(name, getter, bits, kind);

for (const name of Object.keys(methods)) {
  Object.defineProperty(methods[name], "name", { value: name, configurable: true });
  for (const alias of [name, name.replace("UInt", "Uint")]) {
    Object.defineProperty(Bytes.prototype, alias, { value: methods[name], writable: true, configurable: true, enumerable: true });
  }
}
for (const encoding of ["utf8", "ascii", "latin1", "base64", "base64url", "hex", "ucs2", "utf16le"]) {
  methods[`${encoding}Slice`] = function (start, end) { return this.toString(encoding, start, end); };
  methods[`${encoding}Write`] = function (text, offset, length) { return this.write(text, offset, length, encoding); };
  for (const name of [`${encoding}Slice`, `${encoding}Write`]) Object.defineProperty(Bytes.prototype, name, { value: methods[name], writable: true, configurable: true });
}
Object.defineProperty(Bytes.prototype, "parent", { get() { return this.buffer; } });
Object.defineProperty(Bytes.prototype, "offset", { get() { return this.byteOffset; } });
Object.defineProperty(Bytes.prototype, "toLocaleString", { value: methods.toString, writable: true, configurable: true });
Object.defineProperty(Bytes.prototype, Symbol.for("nodejs.util.inspect.custom"), { value: methods.inspect, writable: true, configurable: true });

// ---- text ----

class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") { return host.bytes(String(text)); }
  encodeInto(text, target) {
    const whole = host.bytes(String(text));
    let written = Math.min(whole.length, target.length);
    while (written < whole.length && written > 0 && (whole[written] & 0xc0) === 0x80) written--;
    target.set(whole.subarray(0, written));
    return { read: written === whole.length ? text.length : host.text(whole.subarray(0, written)).length, written };
  }
}

function labelOf(label) {
  switch (String(label).trim().toLowerCase()) {
    case "utf-8": case "utf8": case "unicode-1-1-utf-8": case "unicode11utf8": case "unicode20utf8": case "x-unicode20utf8": return "utf-8";
    case "utf-16": case "utf-16le": case "ucs-2": case "iso-10646-ucs-2": case "csunicode": case "unicode": case "unicodefeff": return "utf-16le";
    case "utf-16be": case "unicodefffe": return "utf-16be";
    case "latin1": case "iso-8859-1": case "iso8859-1": case "ascii": case "us-ascii": case "windows-1252": case "cp1252": case "l1": case "x-cp1252": return "windows-1252";
  }
  throw coded(RangeError, "ERR_ENCODING_NOT_SUPPORTED", `Unsupported encoding label "${label}"`);
}
const windows1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

class TextDecoder {
  #encoding;
  #fatal;
  #keepMark;
  #rest = new Uint8Array(0);
  #begun = false;
  constructor(label = "utf-8", options) {
    this.#encoding = labelOf(label);
    this.#fatal = Boolean(options?.fatal);
    this.#keepMark = Boolean(options?.ignoreBOM);
  }
  get encoding() { return this.#encoding; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#keepMark; }
  decode(input, options) {
    let bytes = bytesIn(input);
    const more = Boolean(options?.stream);
    if (this.#rest.length > 0) {
      const joined = new Uint8Array(this.#rest.length + bytes.length);
      joined.set(this.#rest);
      joined.set(bytes, this.#rest.length);
      bytes = joined;
      this.#rest = new Uint8Array(0);
    }
    if (more) {
      const whole = this.#whole(bytes);
      this.#rest = bytes.slice(whole);
      bytes = bytes.subarray(0, whole);
    }
    let text = this.#read(bytes);
    if (!this.#begun && text !== "") {
      this.#begun = true;
      if (!this.#keepMark && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (!more) this.#begun = false;
    return text;
  }
  // whole is how many of the bytes are characters that are complete.
  #whole(bytes) {
    if (this.#encoding.startsWith("utf-16")) {
      let end = bytes.length & ~1;
      const high = this.#encoding === "utf-16le" ? bytes[end - 1] : bytes[end - 2];
      if (end >= 2 && high >= 0xd8 && high < 0xdc) end -= 2;
      return end;
    }
    if (this.#encoding !== "utf-8") return bytes.length;
    for (let back = 1; back <= 3 && back <= bytes.length; back++) {
      const byte = bytes[bytes.length - back];
      if (byte >= 0xc2 && byte < 0xf5) {
        const size = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        return size > back ? bytes.length - back : bytes.length;
      }
      if ((byte & 0xc0) !== 0x80) break;
    }
    return bytes.length;
  }
  #read(bytes) {
    if (this.#encoding === "utf-8") {
      const text = host.text(bytes);
      if (this.#fatal && text.includes("\ufffd") && order(host.bytes(text), bytes) !== 0) throw damaged(this.#encoding);
      return text;
    }
    if (this.#encoding === "windows-1252") return host.text(bytes, "latin1").replace(/[\x80-\x9f]/g, (c) => windows1252[c.charCodeAt(0) - 128]);
    const text = units(bytes, this.#encoding === "utf-16le") + (bytes.length % 2 === 1 ? "\ufffd" : "");
    if (this.#fatal && (bytes.length % 2 === 1 || !text.isWellFormed())) throw damaged(this.#encoding);
    return text.toWellFormed();
  }
}

function damaged(encoding) {
  return coded(TypeError, "ERR_ENCODING_INVALID_ENCODED_DATA", `The encoded data was not valid for encoding ${encoding}`);
}

function bytesIn(input) {
  if (input === undefined) return new Uint8Array(0);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer || input instanceof SharedArrayBuffer) return new Uint8Array(input);
  throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "TextDecoder.decode expects an ArrayBuffer or TypedArray");
}

function badCharacter() {
  const { DOMException } = require("abort");
  return Object.defineProperty(new DOMException("The string contains invalid characters.", "InvalidCharacterError"), "code", { value: 5 });
}

function atob(text) {
  let kept = String(text).replace(/[\t\n\f\r ]/g, "");
  if (kept.length % 4 === 0) kept = kept.replace(/==?$/, "");
  if (kept.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(kept)) throw badCharacter();
  return host.text(Uint8Array.fromBase64(kept), "latin1");
}

function btoa(text) {
  const plainText = String(text);
  if (/[^\0-\xff]/.test(plainText)) throw badCharacter();
  return encode(plainText, "latin1").toBase64();
}

function isUtf8(input) {
  const bytes = bytesIn(input);
  const text = host.text(bytes);
  return !text.includes("\ufffd") || order(host.bytes(text), bytes) === 0;
}

module.exports = {
  Buffer, SlowBuffer: Buffer.allocUnsafeSlow, atob, btoa, isUtf8, isAscii: (input) => bytesIn(input).every((b) => b < 128),
  transcode: (source, from, to) => Buffer.from(Buffer.from(source).toString(from), to),
  constants: { MAX_LENGTH: maxLength, MAX_STRING_LENGTH: 2 ** 29 }, kMaxLength: maxLength, kStringMaxLength: 2 ** 29, INSPECT_MAX_BYTES: 50,
  TextEncoder, TextDecoder,
};
for (const name of ["Blob", "File"]) Object.defineProperty(module.exports, name, { enumerable: true, configurable: true, get: () => require("blob")[name] });
Object.defineProperty(module.exports, "TextEncoder", { enumerable: false });
Object.defineProperty(module.exports, "TextDecoder", { enumerable: false });
