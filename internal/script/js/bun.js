// The Bun global, which is also the module "bun". What is big comes when it is first asked for.
"use strict";
const host = require("helve:host");
const process = require("process");
const { Blob, load, held } = require("blob");
const { toBytes, join, ReadableStream } = require("stream/web");

const Bun = {};

function lazy(name, make) {
  Object.defineProperty(Bun, name, {
    enumerable: true, configurable: true,
    get() {
      const value = make();
      Object.defineProperty(Bun, name, { value, enumerable: true, configurable: true, writable: true });
      return value;
    },
    set(value) { Object.defineProperty(Bun, name, { value, enumerable: true, configurable: true, writable: true }); },
  });
}

const bufferOf = (bytes) => require("buffer").Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

// --- files

const types = {
  json: "application/json;charset=utf-8", txt: "text/plain;charset=utf-8", log: "text/plain;charset=utf-8", html: "text/html;charset=utf-8",
  htm: "text/html;charset=utf-8", css: "text/css;charset=utf-8", md: "text/markdown", yaml: "text/yaml", yml: "text/yaml", csv: "text/csv",
  xml: "text/xml", toml: "application/toml", svg: "image/svg+xml", png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif",
  webp: "image/webp", ico: "image/vnd.microsoft.icon", pdf: "application/pdf", zip: "application/zip", gz: "application/gzip", wasm: "application/wasm",
  mp3: "audio/mpeg", mp4: "video/mp4", wav: "audio/wav", woff2: "font/woff2", sqlite: "application/octet-stream",
};
for (const script of ["js", "mjs", "cjs", "ts", "tsx", "jsx", "mts", "cts"]) types[script] = "text/javascript;charset=utf-8";

function typeOf(path) {
  return types[/\.([^./\\]+)$/.exec(path)?.[1].toLowerCase()] ?? "application/octet-stream";
}

class BunFile extends Blob {
  #path; #from; #to; #type;
  constructor(path, options, from = 0, to = undefined) {
    super();
    this.#path = path;
    this.#from = from;
    this.#to = to;
    this.#type = options?.type;
  }
  get name() { return this.#path; }
  get type() { return this.#type ?? typeOf(this.#path); }
  get size() {
    let size;
    try {
      size = require("fs").statSync(this.#path).size;
    } catch {
      return 0;
    }
    const [from, to] = this.#range(size);
    return Math.max(0, to - from);
  }
  get lastModified() {
    try {
      return Math.trunc(require("fs").statSync(this.#path).mtimeMs);
    } catch {
      return 0;
    }
  }
  #range(size) {
    const at = (n) => (n < 0 ? Math.max(0, size + n) : Math.min(n, size));
    return [at(this.#from), at(this.#to ?? size)];
  }
  #cut(bytes) {
    if (this.#from === 0 && this.#to === undefined) return bytes;
    return bytes.subarray(...this.#range(bytes.length));
  }
  async [load]() {
    const read = await require("fs").promises.readFile(this.#path).catch((error) => {
      if (error?.code !== "EISDIR") throw error;
      throw Object.assign(new Error("Directories cannot be read like files"), { code: "EISDIR", errno: 0, syscall: "read", path: this.#path });
    });
    return this.#cut(new Uint8Array(read.buffer, read.byteOffset, read.byteLength));
  }
  bytesSync() {
    const read = require("fs").readFileSync(this.#path);
    return this.#cut(new Uint8Array(read.buffer, read.byteOffset, read.byteLength));
  }
  async exists() {
    try {
      return !(await require("fs").promises.stat(this.#path)).isDirectory();
    } catch {
      return false;
    }
  }
  slice(from = 0, to, type) {
    if (typeof from === "string") [from, to, type] = [0, undefined, from];
    if (typeof to === "string") [to, type] = [undefined, to];
    return new BunFile(this.#path, { type: type ?? this.#type }, from, to);
  }
  stat() { return require("fs").promises.stat(this.#path); }
  write(data, options) { return write(this, data, options); }
  async unlink() { await require("fs").promises.unlink(this.#path); }
  async delete() { await this.unlink(); }
  writer() {
    const path = this.#path;
    const parts = [];
    let begun = false;
    const out = () => {
      const bytes = join(parts.splice(0));
      const fs = require("fs");
      if (begun) fs.appendFileSync(path, bytes);
      else fs.writeFileSync(path, bytes);
      begun = true;
      return bytes.length;
    };
    return {
      write(chunk) { const bytes = toBytes(chunk).slice(); parts.push(bytes); return bytes.length; },
      flush: out,
      async end(error) { if (!error) return out(); return 0; },
      start() {}, ref() {}, unref() {},
    };
  }
}
Object.defineProperty(BunFile, "name", { value: "Blob" });

function pathOf(path) {
  if (path instanceof URL) return require("url").fileURLToPath(path);
  if (typeof path === "string") return path.startsWith("file://") ? require("url").fileURLToPath(path) : path;
  if (ArrayBuffer.isView(path)) return host.text(path);
  throw Object.assign(new TypeError("Expected file path string or file descriptor"), { code: "ERR_INVALID_ARG_TYPE" });
}

Bun.file = function file(path, options) {
  if (typeof path === "number") throw new TypeError("Bun.file of a file descriptor is not available in the embedded engine");
  return new BunFile(pathOf(path), options);
};

async function write(target, data, options) {
  const path = target instanceof BunFile ? target.name : pathOf(target);
  if (data === undefined || data === null) throw Object.assign(new TypeError("Expected Blob-y thing as second argument"), { code: "ERR_INVALID_ARG_TYPE" });
  let bytes;
  if (typeof data === "string") bytes = host.bytes(data);
  else if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) bytes = toBytes(data);
  else if (data instanceof Blob) bytes = await data[load]();
  else if (typeof data.bytes === "function") bytes = await data.bytes();
  else if (Array.isArray(data)) bytes = await new Blob(data).bytes();
  else bytes = host.bytes(String(data));
  const fs = require("fs").promises;
  const mode = options?.mode === undefined ? {} : { mode: options.mode };
  try {
    await fs.writeFile(path, bytes, mode);
  } catch (error) {
    if (error?.code !== "ENOENT" || options?.createPath === false) throw error;
    await fs.mkdir(require("path").dirname(path), { recursive: true });
    await fs.writeFile(path, bytes, mode);
  }
  return bytes.length;
}
Bun.write = function (target, data, options) { return write(target, data, options); };
Object.defineProperty(Bun.write, "name", { value: "write" });

// --- programs

const isFile = (value) => value instanceof BunFile;

// mode reads what is to become of a stream; a file is where it goes.
function outMode(given, standard) {
  const mode = given === undefined ? standard : given;
  if (isFile(mode)) return { path: require("path").resolve(process.cwd(), mode.name) };
  if (mode === null || mode === "ignore") return "ignore";
  return mode === "pipe" ? "pipe" : "inherit";
}

function asked(cmd, options) {
  if (!Array.isArray(cmd)) [cmd, options] = [cmd?.cmd, { ...cmd, ...options }];
  if (!Array.isArray(cmd)) throw Object.assign(new TypeError("cmd must be an array"), { code: "ERR_INVALID_ARG_TYPE" });
  if (cmd.length === 0) {
    const error = new TypeError("cmd must not be empty");
    Object.defineProperty(error, "code", { value: "ERR_INVALID_ARG_TYPE", configurable: true, writable: true });
    throw error;
  }
  const { where, surroundings, signalName } = require("helve:proc");
  const { stdin, stdout, stderr, stdio = [] } = options ?? {};
  const arg = {
    argv: cmd.map(String), cwd: where(options?.cwd), ...surroundings(options?.env), argv0: options?.argv0,
    timeout: options?.timeout > 0 ? options.timeout : undefined, kill: signalName(options?.killSignal), max: options?.maxBuffer,
  };
  return { arg, options: options ?? {}, input: stdin ?? stdio[0], out: stdout ?? stdio[1], err: stderr ?? stdio[2] };
}

// fed is what a program reads, if it is there already.
function fed(input) {
  if (ArrayBuffer.isView(input) || input instanceof ArrayBuffer) return toBytes(input);
  return input instanceof Blob ? held(input) ?? input.bytesSync() : undefined;
}

function pipeOf(running, from) {
  return new ReadableStream({
    async pull(controller) {
      const bytes = await running.read(from);
      if (bytes === null) controller.close();
      else if (bytes.length > 0) controller.enqueue(bytes);
      else await this.pull(controller);
    },
  }, { highWaterMark: 0 });
}

class Subprocess {
  #running; #exited; #exitCode = null; #signalCode = null;
  constructor(running, settings) {
    const { modes, options, source } = settings;
    const { signalNumber } = require("helve:proc");
    this.#running = running;
    this.stdin = modes.stdin === "pipe" && !source ? sink(running) : undefined;
    this.stdout = modes.stdout === "pipe" ? pipeOf(running, "stdout") : undefined;
    this.stderr = modes.stderr === "pipe" ? pipeOf(running, "stderr") : undefined;
    if (source) feed(running, source);
    this.#exited = running.over.then((end) => {
      this.#exitCode = end.signal ? null : end.code;
      this.#signalCode = end.signal ?? null;
      options.onExit?.call(this, this, this.#exitCode, this.#signalCode, undefined);
      return end.signal ? 128 + signalNumber(end.signal) : end.code;
    });
    const stop = () => this.kill(options.killSignal);
    if (options.signal?.aborted) stop();
    else options.signal?.addEventListener("abort", stop, { once: true });
  }
  get pid() { return this.#running.pid; }
  get exited() { return this.#exited; }
  get exitCode() { return this.#exitCode; }
  get signalCode() { return this.#signalCode; }
  get killed() { return this.#exitCode !== null || this.#signalCode !== null; } // of one that has ended, however it did
  get readable() { return this.stdout; }
  get stdio() { return [null, null, null]; }
  kill(signal) {
    if (this.#exitCode !== null || this.#signalCode !== null) return;
    this.#running.kill(signal);
  }
  ref() {}
  unref() {}
  resourceUsage() { return undefined; }
  [Symbol.dispose]() { this.kill(); }
  async [Symbol.asyncDispose]() {
    this.kill();
    await this.#exited;
  }
}

// sink is the standard input of a program.
function sink(running) {
  let last = Promise.resolve(), ended = false;
  const after = (work) => {
    last = last.then(work);
    last.catch(() => {});
    return last;
  };
  return {
    write(chunk) {
      const bytes = toBytes(chunk).slice();
      if (!ended) after(() => running.write(bytes));
      return bytes.length;
    },
    flush: () => last.then(() => 0, () => 0),
    end() {
      if (!ended) after(() => running.end());
      ended = true;
      return last.then(() => 0, () => 0);
    },
    start() {}, ref() {}, unref() {},
  };
}

async function feed(running, source) {
  try {
    const stream = source instanceof ReadableStream ? source : source instanceof Blob ? source.stream() : source.body;
    if (stream) for await (const chunk of stream) await running.write(toBytes(chunk));
    await running.end();
  } catch {} // it does not read any more
}

Bun.spawn = function spawn(cmd, options) {
  const { arg, options: all, input, out, err } = asked(cmd, options);
  const bytes = fed(input);
  const source = bytes === undefined && typeof input === "object" && input !== null ? input : undefined;
  const modes = {
    stdin: bytes !== undefined ? "bytes" : source || input === "pipe" ? "pipe" : input === "inherit" ? "inherit" : "ignore",
    stdout: outMode(out, "pipe"), stderr: outMode(err, "inherit"),
  };
  const { Running } = require("helve:proc");
  return new Subprocess(new Running({ ...arg, ...modes }, bytes), { modes, options: all, source });
};

Bun.spawnSync = function spawnSync(cmd, options) {
  const { arg, input, out, err } = asked(cmd, options);
  const modes = { stdout: outMode(out, "pipe"), stderr: outMode(err, "pipe") };
  const bytes = fed(input);
  const done = require("helve:proc").run({ ...arg, ...modes }, bytes);
  const result = {
    exitCode: done.signal ? null : done.code, success: done.code === 0 && !done.signal,
    stdout: modes.stdout === "pipe" ? bufferOf(done.stdout) : undefined, stderr: modes.stderr === "pipe" ? bufferOf(done.stderr) : undefined,
    pid: done.pid, resourceUsage: {},
  };
  if (done.signal) result.signalCode = done.signal;
  if (done.timedOut) result.exitedDueToTimeout = true;
  if (done.overflow) result.exitedDueToMaxBuffer = true;
  return result;
};

Bun.which = function which(name, options) {
  return host.now("proc.which", { name: String(name), path: options?.PATH, cwd: options?.cwd ?? process.cwd() }).value;
};
lazy("$", () => require("shell").$);

// --- time, names, numbers

Bun.sleep = function sleep(ms) {
  return host.timer(Math.max(0, ms instanceof Date ? ms.getTime() - Date.now() : Number(ms) || 0)).then(() => undefined);
};
Bun.sleepSync = function sleepSync(ms) {
  if (typeof ms !== "number") throw new TypeError("sleepSync expects a number");
  host.now("sleep", { ms });
};
Bun.nanoseconds = function nanoseconds() {
  return Math.round(require("perf_hooks").performance.now() * 1e6);
};
let lastStamp = 0, lastCount = 0;
Bun.randomUUIDv7 = function randomUUIDv7(encoding = "hex", stamp = Date.now()) {
  const { random, uuid } = require("crypto");
  const bytes = random(16);
  lastCount = stamp === lastStamp ? lastCount + 1 & 0xfff : (bytes[6] << 8 | bytes[7]) & 0x7ff;
  lastStamp = stamp;
  for (let i = 5, rest = stamp; i >= 0; i--, rest = Math.floor(rest / 256)) bytes[i] = rest % 256;
  bytes[6] = lastCount >> 8;
  bytes[7] = lastCount & 0xff;
  const text = uuid(bytes, 7);
  return encoding === "hex" ? text : encoding === "buffer" ? bufferOf(bytes) : bufferOf(bytes).toString(encoding);
};

// --- text

Bun.escapeHTML = function escapeHTML(value) {
  return String(value).replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" })[c]);
};
Bun.stripANSI = function stripANSI(text) {
  return String(text).replace(/\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g, "");
};
Bun.stringWidth = function stringWidth(text, options) {
  let width = 0;
  for (const c of options?.countAnsiEscapeCodes ? String(text) : Bun.stripANSI(text)) {
    if (/^[\p{Cc}\p{Mn}\p{Me}\p{Cf}]$/u.test(c)) continue;
    width += wide(c.codePointAt(0)) || /^\p{Emoji_Presentation}$/u.test(c) ? 2 : 1;
  }
  return width;
};
function wide(c) {
  return c >= 0x1100 && (c <= 0x115f || c >= 0x2e80 && c <= 0xa4cf && c !== 0x303f || c >= 0xac00 && c <= 0xd7a3 || c >= 0xf900 && c <= 0xfaff
    || c >= 0xfe30 && c <= 0xfe6f || c >= 0xff00 && c <= 0xff60 || c >= 0xffe0 && c <= 0xffe6 || c >= 0x20000 && c <= 0x3fffd);
}
Bun.indexOfLine = function indexOfLine(bytes, from = 0) {
  return toBytes(bytes).indexOf(10, from);
};

lazy("inspect", () => require("util").inspect);
lazy("deepEquals", () => (a, b) => require("util").isDeepStrictEqual(a, b));
lazy("TOML", () => require("helve:toml"));
lazy("YAML", () => require("helve:yaml"));
lazy("semver", () => require("helve:semver"));
lazy("Glob", () => require("helve:glob").Glob);
lazy("fileURLToPath", () => require("url").fileURLToPath);
lazy("pathToFileURL", () => require("url").pathToFileURL);
lazy("fetch", () => require("fetch").fetch);

// --- the process

Object.defineProperty(Bun, "env", { enumerable: true, configurable: true, get: () => process.env });
Object.defineProperty(Bun, "argv", { enumerable: true, configurable: true, get: () => process.argv });
Object.defineProperty(Bun, "main", { enumerable: true, configurable: true, get: () => process.argv[1] ?? "" });
Object.defineProperty(Bun, "cwd", { enumerable: true, configurable: true, get: () => process.cwd() });
Bun.version = "1.4.4";
Bun.revision = "";
Bun.isMainThread = true;
Bun.enableANSIColors = false;
Bun.gc = () => 0;
lazy("stdin", () => new Blob());
for (const name of ["stdout", "stderr"]) {
  lazy(name, () => ({
    name: `/dev/${name}`,
    async write(data) { process[name].write(data); return data.length; },
    writer: () => ({ write(data) { process[name].write(data); return data.length; }, flush: () => 0, end: () => 0 }),
  }));
}

// --- streams as wholes

for (const [name, method] of Object.entries({ Text: "text", JSON: "json", Bytes: "bytes", ArrayBuffer: "arrayBuffer", Blob: "blob" })) {
  Bun[`readableStreamTo${name}`] = (stream) => stream[method]();
}
Bun.readableStreamToArray = (stream) => Array.fromAsync(stream);
Bun.concatArrayBuffers = (list) => join([...list].map(toBytes)).buffer;
Bun.ArrayBufferSink = class ArrayBufferSink {
  #parts = [];
  start() {}
  write(chunk) { this.#parts.push(toBytes(chunk).slice()); }
  flush() {}
  end() { return join(this.#parts).buffer; }
};

// --- hashes and packing

class CryptoHasher {
  #make; #hash; #name;
  constructor(name, key) {
    const { createHash, createHmac, algorithm } = require("crypto");
    if (!algorithm(name)) throw new TypeError(`Unsupported algorithm "${name}"`);
    this.#name = algorithm(name);
    this.#make = () => (key === undefined ? createHash(name) : createHmac(name, key));
    this.#hash = this.#make();
  }
  get algorithm() { return this.#name; }
  update(data, encoding) {
    this.#hash.update(data, encoding);
    return this;
  }
  digest(encoding) {
    const out = this.#hash.digest(typeof encoding === "string" ? encoding : undefined);
    this.#hash = this.#make();
    return out;
  }
  copy() {
    const other = new CryptoHasher(this.#name);
    other.#make = this.#make;
    other.#hash = this.#hash.copy();
    return other;
  }
  static hash(name, data, encoding) { return new CryptoHasher(name).update(data).digest(encoding); }
  static get algorithms() { return require("crypto").getHashes(); }
}
Bun.CryptoHasher = CryptoHasher;
for (const [name, alg] of Object.entries({ MD5: "md5", SHA1: "sha1", SHA224: "sha224", SHA256: "sha256", SHA384: "sha384", SHA512: "sha512", SHA512_256: "sha512-256" })) {
  Bun[name] = class extends CryptoHasher {
    constructor() { super(alg); }
    static hash(data, encoding) { return CryptoHasher.hash(alg, data, encoding); }
  };
}
for (const [name, kind] of Object.entries({ gzipSync: "gzipSync", gunzipSync: "gunzipSync", deflateSync: "deflateRawSync", inflateSync: "inflateRawSync" })) {
  Bun[name] = (data, options) => new Uint8Array(require("zlib")[kind](data, options));
}

// hash is Bun's own, of a text or bytes.
Bun.hash = function hash(data, seed = 0) {
  const { wyhash } = require("helve:wyhash");
  return wyhash(hashable(data), BigInt.asUintN(64, BigInt(seed)));
};
Bun.hash.wyhash = Bun.hash;
Bun.hash.crc32 = (data, seed = 0) => require("zlib").crc32(hashable(data), Number(seed));
function hashable(data) {
  const { Buffer } = require("buffer");
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}

// --- what an engine has not

for (const name of ["serve", "listen", "connect", "udpSocket", "build", "plugin", "Transpiler", "FileSystemRouter", "dns", "sql", "redis", "resolveSync", "resolve", "openInEditor", "mmap"]) {
  Bun[name] = function () {
    throw Object.assign(new Error(`Bun.${name} is not available in the embedded engine`), { code: "ERR_METHOD_NOT_IMPLEMENTED" });
  };
}

const lacking = (name) => function () {
  throw Object.assign(new Error(`${name} is not available in the embedded engine`), { code: "ERR_METHOD_NOT_IMPLEMENTED" });
};
Bun.color = lacking("Bun.color");
Bun.password = {};
for (const name of ["hash", "hashSync", "verify", "verifySync"]) Bun.password[name] = lacking(`Bun.password.${name}`);

// peek can not look into a promise, so all are pending.
Bun.peek = (value) => value;
Bun.peek.status = (value) => (value instanceof Promise ? "pending" : "fulfilled");

module.exports = Bun;
