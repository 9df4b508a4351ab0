// Text that comes in pieces, cut anywhere.
"use strict";
const { Buffer } = require("buffer");
const { coded } = require("helve:check");

class StringDecoder {
  #kind;
  #rest = Buffer.alloc(0);
  constructor(encoding) {
    this.encoding = encoding === undefined ? "utf8" : String(encoding).toLowerCase();
    if (!Buffer.isEncoding(this.encoding)) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
    this.#kind = { "utf-8": "utf8", binary: "latin1", ucs2: "utf16le", "ucs-2": "utf16le", "utf-16le": "utf16le" }[this.encoding] ?? this.encoding;
    this.encoding = this.#kind;
  }
  write(chunk) {
    if (typeof chunk === "string") return chunk;
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#rest.length > 0) bytes = Buffer.concat([this.#rest, bytes]);
    const whole = this.#whole(bytes);
    this.#rest = Buffer.from(bytes.subarray(whole));
    return bytes.toString(this.#kind, 0, whole);
  }
  end(chunk) {
    let text = chunk === undefined ? "" : this.write(chunk);
    if (this.#rest.length > 0) {
      text += this.#kind === "utf8" ? "\ufffd" : this.#rest.toString(this.#kind);
      this.#rest = Buffer.alloc(0);
    }
    return text;
  }
  get lastNeed() { return this.#rest.length > 0 ? 1 : 0; }
  // whole is how many bytes make complete characters.
  #whole(bytes) {
    const n = bytes.length;
    switch (this.#kind) {
      case "base64": case "base64url": return n - n % 3;
      case "utf16le": {
        const even = n & ~1;
        return even >= 2 && (bytes[even - 1] & 0xfc) === 0xd8 ? even - 2 : even;
      }
      case "utf8":
        for (let back = 1; back <= 3 && back <= n; back++) {
          const byte = bytes[n - back];
          if (byte >= 0xc2 && byte < 0xf5) return (byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4) > back ? n - back : n;
          if ((byte & 0xc0) !== 0x80) return n;
        }
    }
    return n;
  }
}
module.exports = { StringDecoder };
