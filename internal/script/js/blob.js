// Blob and File: bytes with a type. Bun.file gives a Blob, too, whose bytes are on disk: it replaces `load` and what asks for the size.
"use strict";
const { toBytes, join, decode, ReadableStream } = require("stream/web");

const load = Symbol("load");

// clean is a type in the form blobs keep it.
function clean(type) {
  const text = String(type ?? "");
  return /[^\x20-\x7e]/.test(text) ? "" : text.toLowerCase();
}

// streamOf gives bytes that are loaded when somebody reads, in pieces.
function streamOf(loading) {
  const step = 256 * 1024;
  let bytes, at = 0;
  return new ReadableStream({
    async pull(controller) {
      bytes ??= await loading();
      if (at < bytes.length) controller.enqueue(bytes.slice(at, at += step));
      if (at >= bytes.length) controller.close();
    },
  }, { highWaterMark: 0 });
}

// held gives the bytes of a blob that is in memory.
let held;

class Blob {
  #bytes; #type;
  static { held = (blob) => (#bytes in blob ? blob.#bytes : undefined); }

  constructor(parts, options) {
    if (parts !== undefined && (parts === null || typeof parts !== "object" || !parts[Symbol.iterator])) {
      throw new TypeError("new Blob() expects an Array");
    }
    const all = [];
    for (const part of parts ?? []) {
      if (part instanceof Blob) all.push(typeof part.bytesSync === "function" ? part.bytesSync() : held(part));
      else if (ArrayBuffer.isView(part) || part instanceof ArrayBuffer) all.push(toBytes(part));
      else all.push(toBytes(String(part)));
    }
    this.#bytes = join(all);
    this.#type = clean(options?.type);
  }
  get size() { return this.#bytes.length; }
  get type() { return this.#type; }
  async [load]() { return this.#bytes; }
  async bytes() { return (await this[load]()).slice(); }
  async arrayBuffer() { return (await this[load]()).slice().buffer; }
  async text() { return decode(await this[load]()); }
  async json() {
    const text = await this.text();
    if (text === "") throw new SyntaxError("Unexpected end of JSON input");
    return JSON.parse(text);
  }
  async formData() { return new (require("fetch").Response)(await this.bytes(), { headers: { "content-type": this.type } }).formData(); }
  slice(from = 0, to, type) {
    if (typeof from === "string") [from, to, type] = [0, undefined, from];
    if (typeof to === "string") [to, type] = [undefined, to];
    return new Blob([this.#bytes.slice(from, to)], { type });
  }
  stream() { return streamOf(() => this[load]()); }
  get [Symbol.toStringTag]() { return "Blob"; }
}

class File extends Blob {
  #name; #modified;
  constructor(parts, name, options) {
    if (arguments.length < 2) throw new TypeError("new File(bits, name) expects at least 2 arguments");
    super(parts, options);
    this.#name = String(name);
    this.#modified = Number(options?.lastModified ?? Date.now());
  }
  get name() { return this.#name; }
  get lastModified() { return this.#modified; }
}
Object.defineProperty(File.prototype, Symbol.toStringTag, { value: "File", configurable: true });

module.exports = { Blob, File };
Object.defineProperties(module.exports, { load: { value: load }, streamOf: { value: streamOf }, held: { value: (blob) => (typeof blob.bytesSync === "function" ? undefined : held(blob)) } });
