// Hashes, random numbers and the few things of cryptography that tools use. The host does the sums.
"use strict";
const host = require("helve:host");
const { wrongType, outOfRange, coded } = require("helve:check");
const { toBytes, join } = require("stream/web");

const algorithms = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256", "sha3-224", "sha3-256", "sha3-384", "sha3-512"];

// algorithm is a hash by the name the host knows.
function algorithm(name) {
  const plain = String(name).toLowerCase().replace(/^rsa-/, "");
  const found = { "sha-1": "sha1", "sha-224": "sha224", "sha-256": "sha256", "sha-384": "sha384", "sha-512": "sha512", "sha512/256": "sha512-256", "sha512/224": "sha512-224" }[plain] ?? plain;
  return algorithms.includes(found) ? found : undefined;
}

const bufferOf = (bytes) => require("buffer").Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const encoded = (bytes, encoding) => (encoding && encoding !== "buffer" ? bufferOf(bytes).toString(encoding) : bufferOf(bytes));

function dataOf(data, encoding, name = "data") {
  if (typeof data === "string") {
    return encoding === undefined || encoding === "buffer" || encoding === "utf8" || encoding === "utf-8" ? host.bytes(data) : new Uint8Array(require("buffer").Buffer.from(data, encoding));
  }
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) return toBytes(data).slice();
  throw wrongType(name, "of type string or an instance of Buffer, TypedArray, or DataView", data);
}

// sum has the host hash what was gathered.
function sum(op, arg, chunks) {
  return host.now(op, arg, chunks.length === 1 ? chunks[0] : join(chunks)).bytes;
}

const { Transform } = require("stream");

class Hash extends Transform {
  #op; #arg; #chunks = []; #done = false;
  constructor(op, arg) {
    super();
    this.#op = op;
    this.#arg = arg;
  }
  update(data, encoding) {
    if (this.#done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    this.#chunks.push(dataOf(data, encoding));
    return this;
  }
  digest(encoding) {
    if (this.#done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    this.#done = true;
    return encoded(sum(this.#op, this.#arg, this.#chunks), encoding);
  }
  copy() {
    if (this.#done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    const other = new this.constructor(this.#op, this.#arg);
    other.#chunks = [...this.#chunks];
    return other;
  }
  _transform(chunk, encoding, done) {
    this.update(chunk, encoding);
    done();
  }
  _flush(done) { done(null, encoded(sum(this.#op, this.#arg, this.#chunks))); } // digest() may still follow
}
class Hmac extends Hash {}

function createHash(name) {
  if (typeof name !== "string") throw wrongType("algorithm", "of type string", name);
  const alg = algorithm(name);
  if (!alg) throw new Error("Digest method not supported");
  return new Hash("crypto.hash", { alg });
}

const base64 = (bytes) => bufferOf(bytes).toString("base64");

function createHmac(name, key) {
  if (typeof name !== "string") throw wrongType("hmac", "of type string", name);
  const alg = algorithm(name);
  if (!alg) throw coded(Error, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${name}`);
  return new Hmac("crypto.hmac", { alg, key: base64(dataOf(key instanceof Key ? key.bytes : key, undefined, "key")) });
}

function hash(name, data, encoding = "hex") {
  return createHash(name).update(data).digest(encoding);
}

const random = (n) => (n > 0 ? host.now("crypto.random", { n }).bytes : new Uint8Array(0));

// whether gives a result to a callback, if there is one, as later things do.
function whether(callback, make) {
  if (typeof callback !== "function") return make();
  let result, error = null;
  try {
    result = make();
  } catch (thrown) {
    error = thrown;
  }
  Promise.resolve().then(() => callback(error, result));
  return undefined;
}

function randomBytes(size, callback) {
  if (typeof size !== "number") throw wrongType("size", "of type number", size);
  if (!(size >= 0 && size <= 2 ** 31 - 1)) throw outOfRange("size", ">= 0 && <= 2147483647", size);
  return whether(callback, () => bufferOf(random(size)));
}

function fill(target) {
  toBytes(target).set(random(target.byteLength));
  return target;
}

function randomFillSync(target, offset = 0, size = target.byteLength - offset) {
  toBytes(target).set(random(size), offset);
  return target;
}

function randomInt(min, max, callback) {
  if (max === undefined || typeof max === "function") [min, max, callback] = [0, min, max];
  if (!Number.isSafeInteger(min)) throw wrongType("min", "a safe integer", min);
  if (!Number.isSafeInteger(max)) throw wrongType("max", "a safe integer", max);
  if (max <= min) throw outOfRange("max", `greater than the value of "min" (${min})`, max);
  return whether(callback, () => {
    const range = BigInt(max) - BigInt(min), limit = (1n << 64n) - (1n << 64n) % range;
    for (;;) {
      const drawn = new DataView(random(8).buffer).getBigUint64(0);
      if (drawn < limit) return min + Number(drawn % range);
    }
  });
}

function hex(bytes) {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

function uuid(bytes, version) {
  bytes[6] = bytes[6] & 0x0f | version << 4;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
const randomUUID = () => uuid(random(16), 4);

function timingSafeEqual(a, b) {
  for (const [name, value] of [["buf1", a], ["buf2", b]]) {
    if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)) throw wrongType(name, "an instance of ArrayBuffer, Buffer, TypedArray, or DataView", value);
  }
  if (a.byteLength !== b.byteLength) throw coded(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length");
  const one = toBytes(a), other = toBytes(b);
  let differing = 0;
  for (let i = 0; i < one.length; i++) differing |= one[i] ^ other[i];
  return differing === 0;
}

function derive(op, arg) {
  const { bytes } = host.now(op, arg);
  return bufferOf(bytes);
}

function pbkdf2Sync(password, salt, iterations, length, digest) {
  const alg = algorithm(digest);
  if (!alg) throw coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
  return derive("crypto.pbkdf2", { alg, password: base64(dataOf(password, undefined, "password")), salt: base64(dataOf(salt, undefined, "salt")), iterations, length });
}
function pbkdf2(password, salt, iterations, length, digest, callback) {
  whether(callback, () => pbkdf2Sync(password, salt, iterations, length, digest));
}

// --- the web's side

class Key {
  constructor(bytes, algorithm, extractable, usages) {
    Object.assign(this, { type: "secret", extractable, algorithm, usages: [...usages] });
    Object.defineProperty(this, "bytes", { value: bytes });
  }
}
Object.defineProperty(Key, "name", { value: "CryptoKey" });

function unsupported(what) {
  return new DOMException(`${what} is not available in the embedded engine`, "NotSupportedError");
}

const nameOf = (given) => String(typeof given === "object" && given !== null ? given.name : given);

const subtle = {
  async digest(given, data) {
    const alg = algorithm(nameOf(given));
    if (!/^sha-(1|256|384|512)$/i.test(nameOf(given))) throw new DOMException("Unrecognized algorithm name", "NotSupportedError");
    return (await host.later("crypto.hash", { alg }, toBytes(data))).bytes.buffer;
  },
  async importKey(format, data, given, extractable, usages) {
    if (format !== "raw" || nameOf(given).toUpperCase() !== "HMAC") throw unsupported(`crypto.subtle.importKey of ${nameOf(given)}`);
    const bytes = toBytes(data).slice();
    return new Key(bytes, { name: "HMAC", hash: { name: nameOf(given.hash) }, length: bytes.length * 8 }, Boolean(extractable), usages);
  },
  async sign(given, key, data) {
    if (nameOf(given).toUpperCase() !== "HMAC") throw unsupported(`crypto.subtle.sign with ${nameOf(given)}`);
    if (!key.usages.includes("sign")) throw new DOMException("CryptoKey doesn't support signing", "InvalidAccessError");
    const arg = { alg: algorithm(key.algorithm.hash.name), key: base64(key.bytes) };
    return (await host.later("crypto.hmac", arg, toBytes(data))).bytes.buffer;
  },
  async verify(given, key, signature, data) {
    const fresh = await subtle.sign(given, { ...key, algorithm: key.algorithm, bytes: key.bytes, usages: ["sign"] }, data);
    return fresh.byteLength === signature.byteLength && timingSafeEqual(fresh, signature);
  },
};
for (const name of ["encrypt", "decrypt", "generateKey", "deriveKey", "deriveBits", "exportKey", "wrapKey", "unwrapKey"]) {
  subtle[name] = async () => { throw unsupported(`crypto.subtle.${name}`); };
}

function getRandomValues(target) {
  if (!ArrayBuffer.isView(target) || target instanceof Float32Array || target instanceof Float64Array || target instanceof DataView) {
    throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError");
  }
  if (target.byteLength > 65536) throw new DOMException(`The requested length exceeds 65,536 bytes`, "QuotaExceededError");
  return fill(target);
}

class Crypto {
  get subtle() { return subtle; }
  getRandomValues(target) { return getRandomValues(target); }
  randomUUID() { return randomUUID(); }
  timingSafeEqual(a, b) { return timingSafeEqual(a, b); }
}
const webcrypto = new Crypto();

module.exports = {
  Hash, Hmac, Crypto, CryptoKey: Key, createHash, createHmac, getHashes: () => [...algorithms], getCiphers: () => [], getRandomValues, hash, pbkdf2, pbkdf2Sync,
  randomBytes, pseudoRandomBytes: randomBytes, randomFillSync, randomInt, randomUUID, subtle, timingSafeEqual, webcrypto,
  randomFill(target, ...rest) {
    const callback = rest.pop();
    whether(callback, () => randomFillSync(target, ...rest));
  },
  createSecretKey: (key, encoding) => new Key(dataOf(key, encoding, "key"), { name: "secret" }, true, []),
  constants: {},
};
for (const name of ["createCipheriv", "createDecipheriv", "createSign", "createVerify", "createPublicKey", "createPrivateKey", "generateKeyPair", "generateKeyPairSync", "createDiffieHellman", "createECDH", "scrypt", "scryptSync", "hkdf", "hkdfSync", "publicEncrypt", "privateDecrypt", "sign", "verify"]) {
  module.exports[name] = () => { throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", `crypto.${name} is not available in the embedded engine`); };
}
Object.defineProperties(module.exports, { uuid: { value: uuid }, random: { value: random }, algorithm: { value: algorithm } });
