// Packing and unpacking. The host does it, all at once; streams gather until their end.
"use strict";
const host = require("helve:host");
const { toBytes, join } = require("stream/web");
const { Transform } = require("stream");

const kinds = {
  gzip: ["gzip", false], gunzip: ["gzip", true], deflate: ["deflate", false], inflate: ["deflate", true],
  deflateRaw: ["deflate-raw", false], inflateRaw: ["deflate-raw", true], unzip: ["auto", true],
};

const constants = {
  Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5, Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1,
  Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5, Z_VERSION_ERROR: -6, Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1,
  Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1, Z_FILTERED: 1, Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4, Z_DEFAULT_STRATEGY: 0,
  Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1,
};

const bufferOf = (bytes) => require("buffer").Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function dataOf(data) {
  if (typeof data === "string") return host.bytes(data);
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) return toBytes(data);
  throw require("helve:check").wrongType("buffer", "of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer", data);
}

function request(kind, options) {
  const [format, unpack] = kinds[kind];
  return { format, unpack, level: options?.level ?? -1, max: options?.maxOutputLength };
}

// worded gives a host's complaint the number it has in zlib.
function worded(error) {
  if (typeof error?.code === "string" && error.code in constants) error.errno = constants[error.code];
  return error;
}

function sync(kind, data, options) {
  const bytes = dataOf(data);
  try {
    return bufferOf(host.now("zlib.run", request(kind, options), bytes).bytes);
  } catch (error) {
    throw worded(error);
  }
}

async function later(kind, data, options) {
  try {
    return bufferOf((await host.later("zlib.run", request(kind, options), data)).bytes);
  } catch (error) {
    throw worded(error);
  }
}

// A Packer is a stream of one kind.
class Packer extends Transform {
  #kind; #options; #chunks = [];
  constructor(kind, options) {
    super(options);
    this.#kind = kind;
    this.#options = options;
  }
  _transform(chunk, encoding, done) {
    this.#chunks.push(chunk);
    done();
  }
  _flush(done) { later(this.#kind, join(this.#chunks), this.#options).then((bytes) => done(null, bytes), done); }
}

function crc32(data, seed = 0) {
  let crc = ~seed;
  for (const byte of dataOf(data)) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = crc >>> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

module.exports = { constants, crc32, codes: constants };
for (const kind of Object.keys(kinds)) {
  const title = kind[0].toUpperCase() + kind.slice(1);
  module.exports[kind] = function (data, options, callback) {
    if (typeof options === "function") [options, callback] = [undefined, options];
    if (typeof callback !== "function") throw require("helve:check").wrongType("callback", "of type function", callback);
    later(kind, dataOf(data), options).then((bytes) => callback(null, bytes), (error) => callback(error));
  };
  module.exports[`${kind}Sync`] = (data, options) => sync(kind, data, options);
  module.exports[`create${title}`] = (options) => new Packer(kind, options);
}
for (const name of ["brotliCompress", "brotliDecompress", "brotliCompressSync", "brotliDecompressSync", "createBrotliCompress", "createBrotliDecompress", "zstdCompressSync", "zstdDecompressSync", "zstdCompress", "zstdDecompress"]) {
  module.exports[name] = () => { throw Object.assign(new Error(`zlib.${name} is not available in the embedded engine`), { code: "ERR_METHOD_NOT_IMPLEMENTED" }); };
}
Object.assign(module.exports, constants);
