// Files. Every function is written once, as a generator that asks for what it needs of the host; the three forms of it (with Sync, with
// a callback, with a promise) differ only in how it is run.
"use strict";
const host = require("helve:host");
const { coded, wrongType, wrongValue, outOfRange, needFunction } = require("helve:check");
const { complete, failure } = require("helve:errno");
const paths = require("path");

const constants = Object.freeze({
  F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4,
  COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4,
  UV_FS_COPYFILE_EXCL: 1, UV_FS_COPYFILE_FICLONE: 2, UV_FS_COPYFILE_FICLONE_FORCE: 4,
  O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_NOCTTY: 256, O_TRUNC: 512, O_APPEND: 1024, O_NONBLOCK: 2048,
  O_DSYNC: 4096, O_DIRECT: 16384, O_DIRECTORY: 65536, O_NOFOLLOW: 131072, O_NOATIME: 262144, O_SYNC: 1052672,
  S_IFMT: 61440, S_IFREG: 32768, S_IFDIR: 16384, S_IFCHR: 8192, S_IFBLK: 24576, S_IFIFO: 4096, S_IFLNK: 40960, S_IFSOCK: 49152,
  S_IRWXU: 448, S_IRUSR: 256, S_IWUSR: 128, S_IXUSR: 64, S_IRWXG: 56, S_IRGRP: 32, S_IWGRP: 16, S_IXGRP: 8,
  S_IRWXO: 7, S_IROTH: 4, S_IWOTH: 2, S_IXOTH: 1,
});

// ---- arguments ----

// noPath is the error about a path that is none; it has three wordings.
function noPath(name, value) {
  if (name === "prefix") return wrongType(name, "of type string, Buffer, or URL", value);
  if (name === "path" || name === "target" || name.endsWith("_")) return coded(TypeError, "ERR_INVALID_ARG_TYPE", `${name.replace("_", "")} must be a string or TypedArray`);
  return wrongType(name, "of type string or an instance of Buffer or URL", value);
}

// pathOf reads a path: text, bytes or a file URL.
function pathOf(value, name = "path") {
  let path = value;
  if (typeof value !== "string") {
    if (value instanceof Uint8Array) path = host.text(value);
    else if (typeof value === "object" && value !== null && typeof value.href === "string" && typeof value.protocol === "string") {
      path = require("url").fileURLToPath(value);
    } else throw noPath(name, value);
  }
  if (path.includes("\0")) {
    throw coded(TypeError, "ERR_INVALID_ARG_VALUE",
      `The argument '${name.replace("_", "")}' must be a string, Uint8Array, or URL without null bytes. Received ${JSON.stringify(path)}`);
  }
  return path;
}

// full makes a path absolute without changing it otherwise: the host decides what ".." and links mean.
function full(path) {
  if (paths.isAbsolute(path)) return path;
  return path === "" ? "" : `${host.cwd()}${paths.sep}${path}`;
}

function fdOf(fd) {
  if (typeof fd !== "number") throw wrongType("fd", "of type number", fd);
  if (!Number.isInteger(fd)) throw outOfRange("fd", "an integer", fd);
  if (fd < 0 || fd > 2147483647) throw outOfRange("fd", ">= 0 && <= 2147483647", fd);
  return fd;
}

function optionsOf(options) {
  if (options == null || typeof options === "function") return {};
  if (typeof options === "string") return { encoding: options };
  if (typeof options !== "object") return {};
  if (options.signal?.aborted) throw options.signal.reason;
  return options;
}

// encodingOf is the plain name of an encoding; undefined for bytes.
function encodingOf(name) {
  if (name == null || name === "buffer") return undefined;
  switch (String(name).toLowerCase()) {
    case "utf8": case "utf-8": return "utf8";
    case "latin1": case "binary": return "latin1";
    case "ascii": case "hex": case "base64": case "base64url": return String(name).toLowerCase();
    case "utf16le": case "utf-16le": case "ucs2": case "ucs-2": return "utf16le";
    case "buffer": return undefined;
  }
  throw coded(TypeError, "ERR_INVALID_ARG_VALUE", `encoding '${name}' is an invalid encoding`);
}

function decode(bytes, encoding) {
  if (encoding === "utf8" || encoding === "latin1") return host.text(bytes, encoding === "utf8" ? undefined : encoding);
  const { Buffer } = require("buffer");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return encoding === undefined ? buffer : buffer.toString(encoding);
}

// named gives a name found on disk in the encoding asked for.
function named(name, encoding) {
  if (encoding === "utf8" || encoding === undefined) return name;
  const { Buffer } = require("buffer");
  return encoding === "buffer" ? Buffer.from(name) : Buffer.from(name).toString(encoding);
}
const nameEncoding = (options) => options.encoding === "buffer" ? "buffer" : encodingOf(options.encoding) ?? "utf8";

// bytesOf makes bytes of what is to be written.
function bytesOf(data, encoding) {
  if (typeof data === "string") {
    const plain = encodingOf(encoding) ?? "utf8";
    return plain === "utf8" ? host.bytes(data) : require("buffer").Buffer.from(data, plain);
  }
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw coded(TypeError, "ERR_INVALID_ARG_TYPE",
    'The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView');
}

// modeOf reads permissions: a number or octal digits.
function modeOf(mode, usual) {
  if (mode == null) return usual;
  if (typeof mode === "string") {
    if (!/^[0-7]+$/.test(mode)) throw wrongValue("mode", mode, "must be a 32-bit unsigned integer or an octal string");
    return parseInt(mode, 8);
  }
  if (typeof mode !== "number") throw wrongType("mode", "of type number", mode);
  if (!Number.isInteger(mode)) throw outOfRange("mode", "an integer", mode);
  if (mode < 0 || mode > 4294967295) throw outOfRange("mode", ">= 0 && <= 4294967295", mode);
  return mode;
}

// bitsOf reads what access and copyFile take: up to three bits.
function bitsOf(mode) {
  if (mode == null || typeof mode === "function") return 0;
  if (!Number.isInteger(mode)) throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "mode must be int32 or null/undefined");
  if (mode < 0 || mode > 7) throw coded(RangeError, "ERR_OUT_OF_RANGE", "mode is out of range: >= 0 and <= 7");
  return mode;
}

const flagNames = new Set(["r", "rs", "sr", "r+", "rs+", "sr+", "w", "wx", "xw", "w+", "wx+", "xw+", "a", "ax", "xa", "as", "sa", "a+", "ax+", "xa+", "as+", "sa+"]);

// flagsOf reads how a file is to be opened, and gives the letters for it.
function flagsOf(flags, usual) {
  if (flags == null) return usual;
  if (typeof flags === "number") {
    const way = flags & 3;
    const letters = flags & constants.O_APPEND ? "a" : flags & constants.O_CREAT && flags & constants.O_TRUNC ? "w" : way === 0 ? "r" : flags & constants.O_CREAT ? "c" : "r+";
    return letters + (flags & constants.O_EXCL ? "x" : "") + (way === 2 && !letters.includes("+") ? "+" : "");
  }
  if (typeof flags === "string" && flagNames.has(flags)) return flags;
  throw wrongValue("flags", flags);
}

// ---- how functions are run ----

// ask is one request of a generator, with what an error of it is told with.
const ask = (op, arg, call, path, dest, bytes) => ({ op, arg, call, path, dest, bytes });

const answered = ({ value, bytes }) => (bytes === undefined ? value : bytes);
const refused = (error, asked) => complete(error, asked.call, asked.path, asked.dest);

function runSync(steps) {
  let step = steps.next();
  while (!step.done) {
    const asked = step.value;
    let answer;
    try {
      answer = answered(host.now(asked.op, asked.arg, asked.bytes));
    } catch (error) {
      step = steps.throw(refused(error, asked));
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

async function runLater(steps, step) {
  while (!step.done) {
    const asked = step.value;
    let answer;
    try {
      answer = answered(await host.later(asked.op, asked.arg, asked.bytes));
    } catch (error) {
      step = steps.throw(refused(error, asked));
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

// ---- what is found ----

const kinds = { file: 32768, dir: 16384, link: 40960, fifo: 4096, socket: 49152, char: 8192, block: 24576 };
const tests = { isBlockDevice: 24576, isCharacterDevice: 8192, isDirectory: 16384, isFIFO: 4096, isFile: 32768, isSocket: 49152, isSymbolicLink: 40960 };

// kindOf is under a symbol that keys do not show.
const kindOf = Symbol("kind");

function addTests(type, read) {
  for (const name of Object.keys(tests)) {
    type.prototype[name] = { [name]() { return read(this) === tests[name]; } }[name];
  }
}

const factNames = ["dev", "ino", "mode", "nlink", "uid", "gid", "rdev", "size", "blksize", "blocks"];
const timeNames = ["atime", "mtime", "ctime", "birthtime"];

function Stats(facts = {}) {
  if (!(this instanceof Stats)) return new Stats(facts);
  for (const name of factNames) this[name] = facts[name];
  for (const name of timeNames) this[`${name}Ms`] = facts[`${name}Ms`];
}
addTests(Stats, (stats) => stats.mode & 61440);
function BigIntStats(facts) {
  for (const name of factNames) this[name] = BigInt(facts[name]);
  for (const name of timeNames) this[`${name}Ms`] = BigInt(Math.floor(facts[`${name}Ms`]));
  for (const name of timeNames) this[`${name}Ns`] = BigInt(Math.round(facts[`${name}Ms`] * 1e6));
}
addTests(BigIntStats, (stats) => Number(stats.mode) & 61440);
for (const type of [Stats, BigIntStats]) {
  for (const name of timeNames) {
    Object.defineProperty(type.prototype, name, {
      enumerable: true, configurable: true,
      get() {
        const value = new Date(Number(this[`${name}Ms`]));
        Object.defineProperty(this, name, { value, enumerable: true, configurable: true, writable: true });
        return value;
      },
      set(value) {
        Object.defineProperty(this, name, { value, enumerable: true, configurable: true, writable: true });
      },
    });
  }
}

class Dirent {
  constructor(name, type, path) {
    this.name = name;
    this.path = path;
    this.parentPath = path;
    Object.defineProperty(this, kindOf, { value: typeof type === "string" ? kinds[type] : type });
  }
}
addTests(Dirent, (entry) => entry[kindOf]);

// ---- the functions ----

const statsOf = (facts, options) => (options.bigint ? new BigIntStats(facts) : new Stats(facts));

function* statOf(path, options, link, call) {
  const at = pathOf(path);
  const o = optionsOf(options);
  try {
    return statsOf(yield ask("fs.stat", { path: full(at), link }, call, at), o);
  } catch (error) {
    if (o.throwIfNoEntry === false && error.code === "ENOENT") return undefined;
    throw error;
  }
}

// openable is what readFile and its like take: a path or a descriptor.
function openable(path) {
  if (typeof path === "number") return fdOf(path);
  if (path === null || typeof path !== "object" && typeof path !== "string" || typeof path === "object" && !(path instanceof Uint8Array) && typeof path.href !== "string") {
    if (path && typeof path === "object" && typeof path.fd === "number") return path.fd;
    throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "path must be a string or a file descriptor");
  }
  return pathOf(path);
}

function* readRest(fd) {
  const chunks = [];
  let size = 0;
  for (;;) {
    const chunk = yield ask("fs.readAt", { fd, length: 65536, position: null }, "read");
    if (chunk.length === 0) break;
    chunks.push(chunk);
    size += chunk.length;
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function* writeAll(fd, bytes, position = null) {
  let at = 0;
  while (at < bytes.length) {
    at += yield ask("fs.writeAt", { fd, position: position === null ? null : position + at }, "write", undefined, undefined, bytes.subarray(at));
  }
}

function* put(path, data, options, usual) {
  const to = openable(path);
  const o = optionsOf(options);
  const flags = flagsOf(o.flag, usual);
  const bytes = bytesOf(data, o.encoding);
  if (typeof to === "number") return yield* writeAll(to, bytes);
  yield ask("fs.write", { path: full(to), flags, mode: modeOf(o.mode, 0o666), flush: o.flush === true }, "open", to, undefined, bytes);
}

function* copyTree(from, to, options, filter) {
  if (filter && !(yield* filter(from, to))) return;
  const look = (path, link) => ask("fs.stat", { path: full(path), link }, "lstat", path);
  const source = yield look(from, !options.dereference);
  let target;
  try {
    target = yield look(to, !options.dereference);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  const kind = source.mode & 61440;
  if (target && target.ino === source.ino && target.dev === source.dev) throw cpError("ERR_FS_CP_EINVAL", "EINVAL", 22, "Invalid src or dest", "src and dest cannot be the same", to);
  if (kind === kinds.dir) {
    if (!options.recursive) throw cpError("ERR_FS_EISDIR", "EISDIR", 21, "Path is a directory", `${from} is a directory (not copied)`, from);
    if (target && (target.mode & 61440) !== kinds.dir) throw cpError("ERR_FS_CP_DIR_TO_NON_DIR", "EISDIR", 21, "Cannot overwrite non-directory with directory", `cannot overwrite non-directory ${to} with directory ${from}`, to);
    if (!target) yield ask("fs.mkdir", { path: full(to), recursive: true, mode: source.mode & 0o777 }, "mkdir", to);
    for (const [name] of yield ask("fs.list", { path: full(from) }, "scandir", from)) yield* copyTree(paths.join(from, name), paths.join(to, name), options, filter);
    return;
  }
  if (target && (target.mode & 61440) === kinds.dir) throw cpError("ERR_FS_CP_NON_DIR_TO_DIR", "ENOTDIR", 20, "Cannot overwrite directory with non-directory", `cannot overwrite directory ${to} with non-directory ${from}`, to);
  if (target && options.errorOnExist && options.force === false) throw cpError("ERR_FS_CP_EEXIST", "EEXIST", 17, "Target already exists", `${to} already exists`, to);
  if (target && options.force === false) return;
  const parent = paths.dirname(full(to));
  yield ask("fs.mkdir", { path: parent, recursive: true, mode: 0o777 }, "mkdir", parent);
  if (kind === kinds.link) {
    const leads = yield ask("fs.readlink", { path: full(from) }, "readlink", from);
    if (target) yield ask("fs.unlink", { path: full(to) }, "unlink", to);
    yield ask("fs.symlink", { target: options.verbatimSymlinks ? leads : paths.resolve(full(from), "..", leads), path: full(to) }, "symlink", leads, to);
    return;
  }
  yield ask("fs.copy", { from: full(from), to: full(to), exclusive: false }, "copyfile", from, to);
  if (options.preserveTimestamps) yield ask("fs.utimes", { path: full(to), atime: source.atimeMs, mtime: source.mtimeMs, link: false }, "utime", to);
}

function cpError(code, system, errno, text, more, path) {
  const error = coded(Error, code, `${text}: cp returned ${system} (${more}) ${path}`);
  error.name = "SystemError";
  return Object.assign(error, { info: { message: more, path, syscall: "cp", errno, code: system }, errno, syscall: "cp", path });
}

// msOf reads a time: a Date, or seconds.
function msOf(time, name) {
  if (typeof time === "object" && time !== null && typeof time.getTime === "function") return time.getTime();
  const seconds = typeof time === "string" ? Number(time) : time;
  if (typeof seconds === "number" && Number.isFinite(seconds)) return seconds * 1000;
  throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `${name} must be a number or a Date`);
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const bodies = {
  *readFile(path, options) {
    const from = openable(path);
    const o = optionsOf(options);
    const encoding = encodingOf(o.encoding);
    const flags = flagsOf(o.flag, "r");
    if (typeof from === "number") return decode(yield* readRest(from), encoding);
    try {
      return decode(yield ask("fs.read", { path: full(from), flags }, "open", from), encoding);
    } catch (error) {
      throw error.code === "EISDIR" && error.errno !== undefined ? failure("EISDIR", "read") : error;
    }
  },
  *writeFile(path, data, options) {
    return yield* put(path, data, options, "w");
  },
  *appendFile(path, data, options) {
    return yield* put(path, data, options, "a");
  },
  *stat(path, options) {
    return yield* statOf(path, options, false, "stat");
  },
  *lstat(path, options) {
    return yield* statOf(path, options, true, "lstat");
  },
  *fstat(fd, options) {
    return statsOf(yield ask("fs.fstat", { fd: fdOf(fd) }, "fstat"), optionsOf(options));
  },
  *access(path, mode) {
    const at = pathOf(path);
    yield ask("fs.access", { path: full(at), mode: bitsOf(mode) }, "access", at);
    return null;
  },
  *mkdir(path, options) {
    const at = pathOf(path);
    const o = typeof options === "number" || typeof options === "string" ? { mode: options } : optionsOf(options);
    if (o.recursive !== undefined && typeof o.recursive !== "boolean") {
      throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "recursive" property must be of type boolean, got ${typeof o.recursive}`);
    }
    const first = yield ask("fs.mkdir", { path: full(at), recursive: o.recursive === true, mode: modeOf(o.mode, 0o777) }, "mkdir", at);
    return o.recursive ? first ?? undefined : undefined;
  },
  *rmdir(path, options) {
    const at = pathOf(path);
    const o = optionsOf(options);
    if (o.recursive) return yield* bodies.rm(path, { recursive: true });
    yield ask("fs.rmdir", { path: full(at) }, "rmdir", at);
  },
  *unlink(path) {
    const at = pathOf(path);
    yield ask("fs.unlink", { path: full(at) }, "unlink", at);
  },
  *rm(path, options) {
    const at = pathOf(path);
    const o = optionsOf(options);
    for (const name of ["recursive", "force"]) {
      if (o[name] !== undefined && typeof o[name] !== "boolean") throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "options.${name}" property must be of type boolean.`);
    }
    let found;
    try {
      found = yield ask("fs.stat", { path: full(at), link: true }, "lstat", at);
    } catch (error) {
      if (o.force && error.code === "ENOENT") return;
      throw error;
    }
    const folder = (found.mode & 61440) === kinds.dir;
    if (folder && !o.recursive) {
      const error = coded(Error, "ERR_FS_EISDIR", `Path is a directory: rm returned EISDIR (is a directory) ${at}`);
      error.name = "SystemError";
      throw Object.assign(error, { info: { code: "EISDIR", message: "is a directory", path: at, syscall: "rm", errno: 21 }, errno: 21, syscall: "rm", path: at });
    }
    yield ask("fs.remove", { path: full(at), recursive: folder, force: o.force === true }, "rm", at);
  },
  *rename(from, to) {
    const a = pathOf(from, "oldPath"), b = pathOf(to, "newPath");
    yield ask("fs.rename", { from: full(a), to: full(b) }, "rename", a, b);
  },
  *copyFile(from, to, mode) {
    const a = pathOf(from, "src_"), b = pathOf(to, "dest_");
    const bits = bitsOf(mode);
    try {
      yield ask("fs.copy", { from: full(a), to: full(b), exclusive: (bits & 1) !== 0 }, "copyfile", a, b);
    } catch (error) {
      if (error.code !== "EISDIR" || error.errno === undefined) throw error;
      const source = yield ask("fs.stat", { path: full(a), link: false }, "copyfile", a, b);
      throw (source.mode & 61440) === kinds.dir ? failure("ENOTSUP", "copyfile", a, b) : error;
    }
  },
  *link(from, to) {
    const a = pathOf(from, "oldPath_"), b = pathOf(to, "newPath_");
    yield ask("fs.link", { from: full(a), to: full(b) }, "link", a, b);
  },
  *symlink(target, path) {
    const a = pathOf(target, "target"), b = pathOf(path);
    yield ask("fs.symlink", { target: a, path: full(b) }, "symlink", a, b);
  },
  *readlink(path, options) {
    const at = pathOf(path);
    const encoding = nameEncoding(optionsOf(options));
    return named(yield ask("fs.readlink", { path: full(at) }, "readlink", at), encoding);
  },
  *realpath(path, options) {
    const at = pathOf(path);
    const encoding = nameEncoding(optionsOf(options));
    return named(yield ask("fs.real", { path: full(at) }, "realpath", at), encoding);
  },
  *chmod(path, mode) {
    const at = pathOf(path);
    if (mode == null) throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "mode" property must be of type number, got ${typeof mode}`);
    yield ask("fs.chmod", { path: full(at), mode: modeOf(mode) }, "chmod", at);
  },
  *chown(path, uid, gid) {
    const at = pathOf(path);
    yield ask("fs.chown", { path: full(at), uid, gid }, "chown", at);
  },
  *readdir(path, options) {
    const at = pathOf(path);
    const o = optionsOf(options);
    const encoding = nameEncoding(o);
    const found = yield ask("fs.list", { path: full(at), recursive: o.recursive === true }, "scandir", at);
    if (!o.withFileTypes) return found.map(([name]) => named(name, encoding));
    return found.map(([name, type]) => {
      if (!o.recursive) return new Dirent(named(name, encoding), type, at);
      const parent = paths.dirname(name);
      return new Dirent(named(paths.basename(name), encoding), type, parent === "." ? at : paths.join(at, parent));
    });
  },
  *mkdtemp(prefix, options) {
    const at = pathOf(prefix, "prefix");
    const encoding = nameEncoding(optionsOf(options));
    for (let tries = 1; ; tries++) {
      const name = at + Array.from({ length: 6 }, () => letters[Math.floor(Math.random() * letters.length)]).join("");
      try {
        yield ask("fs.mkdir", { path: full(name), recursive: false, mode: 0o700 }, "mkdtemp", name);
        return named(name, encoding);
      } catch (error) {
        if (error.code !== "EEXIST" || tries === 100) throw error;
      }
    }
  },
  *truncate(path, length) {
    if (typeof path === "number") return yield* bodies.ftruncate(path, length);
    const at = pathOf(path);
    yield ask("fs.truncate", { path: full(at), length: typeof length === "number" ? Math.max(0, length) : 0 }, "truncate", at);
  },
  *ftruncate(fd, length) {
    yield ask("fs.ftruncate", { fd: fdOf(fd), length: typeof length === "number" ? Math.max(0, length) : 0 }, "ftruncate");
  },
  *utimes(path, atime, mtime) {
    const at = pathOf(path);
    yield ask("fs.utimes", { path: full(at), atime: msOf(atime, "atime"), mtime: msOf(mtime, "mtime"), link: false }, "utime", at);
  },
  *lutimes(path, atime, mtime) {
    const at = pathOf(path);
    yield ask("fs.utimes", { path: full(at), atime: msOf(atime, "atime"), mtime: msOf(mtime, "mtime"), link: true }, "lutime", at);
  },
  *open(path, flags, mode) {
    const at = pathOf(path);
    return yield ask("fs.open", { path: full(at), flags: flagsOf(typeof flags === "function" ? undefined : flags, "r"), mode: modeOf(typeof mode === "function" ? undefined : mode, 0o666) }, "open", at);
  },
  *close(fd) {
    try {
      yield ask("fs.close", { fd: fdOf(fd) }, "close");
    } catch (error) {
      if (error.errno !== undefined) error.fd = fd;
      throw error;
    }
  },
  *fsync(fd) {
    yield ask("fs.sync", { fd: fdOf(fd) }, "fsync");
  },
  *fdatasync(fd) {
    yield ask("fs.sync", { fd: fdOf(fd) }, "fdatasync");
  },
  *read(fd, buffer, offset, length, position) {
    fdOf(fd);
    if (!ArrayBuffer.isView(buffer)) {
      if (buffer !== undefined && (typeof buffer !== "object" || buffer === null)) throw wrongType("buffer", "an instance of Buffer, TypedArray, or DataView", buffer);
      ({ buffer = require("buffer").Buffer.alloc(16384), offset, length, position } = buffer ?? {});
    } else if (typeof offset === "object" && offset !== null) ({ offset, length, position } = offset);
    offset ??= 0;
    length ??= buffer.byteLength - offset;
    if (offset < 0) throw outOfRange("offset", `>= 0 and <= ${buffer.byteLength}`, offset);
    const room = Math.max(0, buffer.byteLength - offset);
    if (length < 0) throw outOfRange("length", ">= 0", length);
    if (length > room) throw outOfRange("length", `<= ${room}`, length);
    const at = typeof position === "bigint" ? Number(position) : position;
    const got = yield ask("fs.readAt", { fd, length, position: typeof at === "number" && at >= 0 ? at : null }, "read");
    new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(got, offset);
    return got.length;
  },
  *write(fd, data, offset, length, position) {
    fdOf(fd);
    let bytes, at;
    if (typeof data === "string") {
      bytes = bytesOf(data, typeof length === "string" ? length : "utf8");
      at = offset;
    } else if (ArrayBuffer.isView(data)) {
      if (typeof offset === "object" && offset !== null) ({ offset, length, position } = offset);
      const all = bytesOf(data);
      const start = typeof offset === "number" ? offset : 0;
      bytes = all.subarray(start, start + (typeof length === "number" ? length : all.length - start));
      at = position;
    } else throw wrongType("buffer", "of type string or an instance of Buffer, TypedArray, or DataView", data);
    return yield ask("fs.writeAt", { fd, position: typeof at === "number" && at >= 0 ? at : null }, "write", undefined, undefined, bytes);
  },
  *exists(path) {
    try {
      const at = pathOf(path);
      yield ask("fs.access", { path: full(at), mode: 0 }, "access", at);
      return true;
    } catch {
      return false;
    }
  },
  *statfs(path) {
    const at = pathOf(path);
    return yield ask("fs.statfs", { path: full(at) }, "statfs", at);
  },
};

const fs = {};
const promises = {};
function method(object, name, value) {
  Object.defineProperty(value, "name", { value: name, configurable: true });
  object[name] = value;
}

// last is how a callback is called, beside errors.
function give(name, callback, args) {
  return (result) => {
    if (name === "exists") callback(result);
    else if (name === "read" || name === "write") callback(null, result, args[1]);
    else if (name === "close") callback(null);
    else if (name === "symlink") callback(undefined);
    else callback(null, result);
  };
}

for (const name of Object.keys(bodies)) {
  const body = bodies[name];
  method(fs, `${name}Sync`, (...args) => {
    if (args.length < 2 && name === "writeFile") throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "data is required");
    return runSync(body(...args));
  });
  method(promises, name, async (...args) => {
    const steps = body(...args);
    return runLater(steps, steps.next());
  });
  method(fs, name, (...args) => {
    const at = args.findLastIndex((arg) => typeof arg === "function");
    needFunction(at < 0 && args.length > 1 ? args.at(-1) : args[at], "cb");
    const callback = args[at];
    const steps = body(...args.slice(0, at));
    runLater(steps, steps.next()).then(give(name, callback, args), callback);
  });
}

// Of realpath the plain form tells another system call than the native one.
fs.realpathSync.native = fs.realpathSync;
method(fs, "realpathSync", Object.assign((path, options) => {
  try {
    return fs.realpathSync.native(path, options);
  } catch (error) {
    throw error.syscall === "realpath" ? failure(error.code, "lstat", error.path) : error;
  }
}, { native: fs.realpathSync.native }));
const nativeRealpath = fs.realpath;
method(fs, "realpath", Object.assign((path, ...rest) => {
  const callback = rest.at(-1);
  needFunction(callback, "cb");
  nativeRealpath(path, ...rest.slice(0, -1), (error, found) => {
    if (error) callback(error.syscall === "realpath" ? failure(error.code, "lstat", error.path) : error);
    else callback(null, found);
  });
}, { native: nativeRealpath }));

// Functions of one's own are called in cp, which no generator can wait for in the Sync form.
function cpOptions(options) {
  return { force: true, ...optionsOf(options) };
}
method(fs, "cpSync", (from, to, options) => {
  const o = cpOptions(options);
  const filter = o.filter && function* (a, b) { return o.filter(a, b); };
  runSync(copyTree(pathOf(from, "src"), pathOf(to, "dest"), o, filter));
});
method(promises, "cp", async (from, to, options) => {
  const o = cpOptions(options);
  const source = pathOf(from, "src"), target = pathOf(to, "dest");
  if (!o.filter) {
    const steps = copyTree(source, target, o);
    return runLater(steps, steps.next());
  }
  // What the filter says is learnt first, then all is copied.
  const said = new Map();
  const walk = async (a, b) => {
    said.set(a, await o.filter(a, b));
    if (!said.get(a) || !(await promises.lstat(a)).isDirectory()) return;
    for (const name of await promises.readdir(a)) await walk(paths.join(a, name), paths.join(b, name));
  };
  await walk(source, target);
  const steps = copyTree(source, target, o, function* (a) { return said.get(a); });
  return runLater(steps, steps.next());
});
method(fs, "cp", (from, to, options, callback = options) => {
  needFunction(callback, "cb");
  promises.cp(from, to, options).then(() => callback(null), callback);
});

// ---- open files ----

class FileHandle {
  constructor(fd) {
    Object.defineProperty(this, "fd", { value: fd, writable: true, enumerable: true });
  }
  async read(buffer, ...rest) {
    if (!ArrayBuffer.isView(buffer)) buffer = { buffer: require("buffer").Buffer.alloc(16384), ...buffer };
    const bytesRead = await promises.read(this.fd, buffer, ...rest);
    return { bytesRead, buffer: ArrayBuffer.isView(buffer) ? buffer : buffer.buffer };
  }
  async write(data, ...rest) {
    return { buffer: data, bytesWritten: await promises.write(this.fd, data, ...rest) };
  }
  readFile(options) { return promises.readFile(this.fd, options); }
  writeFile(data, options) { return promises.writeFile(this.fd, data, options); }
  appendFile(data, options) { return promises.appendFile(this.fd, data, options); }
  stat(options) { return promises.fstat(this.fd, options); }
  truncate(length) { return promises.ftruncate(this.fd, length); }
  sync() { return promises.fsync(this.fd); }
  datasync() { return promises.fdatasync(this.fd); }
  async *readLines() { yield* (await this.readFile("utf8")).replace(/\r?\n$/, "").split(/\r?\n/); }
  async close() {
    const { fd } = this;
    if (fd < 0) return;
    this.fd = -1;
    await promises.close(fd);
  }
  [Symbol.asyncDispose]() { return this.close(); }
}
const openFile = promises.open;
method(promises, "open", async (path, flags, mode) => new FileHandle(await openFile(path, flags, mode)));

// writeFile with a promise also takes what comes bit by bit.
const writeWhole = promises.writeFile;
method(promises, "writeFile", async (path, data, options) => {
  if (typeof data !== "object" || data === null || ArrayBuffer.isView(data) || data instanceof ArrayBuffer) return writeWhole(path, data, options);
  if (typeof data.arrayBuffer === "function") return writeWhole(path, new Uint8Array(await data.arrayBuffer()), options);
  if (!data[Symbol.asyncIterator] && !data[Symbol.iterator]) return writeWhole(path, data, options);
  const chunks = [];
  for await (const chunk of data) chunks.push(bytesOf(chunk, optionsOf(options).encoding));
  return writeWhole(path, require("buffer").Buffer.concat(chunks), options);
});

// ---- folders, one entry after the other ----

class Dir {
  #entries;
  #at = 0;
  constructor(path, entries) {
    this.path = path;
    this.#entries = entries;
  }
  readSync() { return this.#entries[this.#at++] ?? null; }
  async read() { return this.readSync(); }
  closeSync() {}
  async close() {}
  async *[Symbol.asyncIterator]() { for (let entry; (entry = this.readSync()) !== null;) yield entry; }
}
function* dirOf(path, options) {
  try {
    return new Dir(path, yield* bodies.readdir(path, { ...optionsOf(options), withFileTypes: true }));
  } catch (error) {
    throw error.syscall === "scandir" ? failure(error.code, "opendir", error.path) : error;
  }
}
method(fs, "opendirSync", (path, options) => runSync(dirOf(path, options)));
method(promises, "opendir", async (path, options) => {
  const steps = dirOf(path, options);
  return runLater(steps, steps.next());
});
method(fs, "opendir", (path, options, callback = options) => {
  needFunction(callback, "cb");
  promises.opendir(path, options).then((dir) => callback(null, dir), callback);
});

function globbed(patterns, options, found) {
  const { matchesGlob } = paths;
  const exclude = typeof options?.exclude === "function" ? options.exclude : (name) => (options?.exclude ?? []).some((one) => matchesGlob(name, one));
  const all = [patterns].flat();
  return found.filter((entry) => {
    const name = typeof entry === "string" ? entry : paths.relative(options?.cwd ?? ".", paths.join(entry.parentPath, entry.name));
    return all.some((one) => matchesGlob(name, one)) && !exclude(name);
  });
}
method(fs, "globSync", (patterns, options) => globbed(patterns, options, fs.readdirSync(options?.cwd ?? ".", { recursive: true, withFileTypes: options?.withFileTypes })));
method(promises, "glob", async function* (patterns, options) {
  yield* globbed(patterns, options, await promises.readdir(options?.cwd ?? ".", { recursive: true, withFileTypes: options?.withFileTypes }));
});
method(fs, "glob", (patterns, options, callback = options) => {
  needFunction(callback, "cb");
  Array.fromAsync(promises.glob(patterns, options)).then((all) => callback(null, all), callback);
});

// ---- streams ----

// located is the path a stream tells of in its errors.
const located = (path) => paths.resolve(pathOf(path));

// opened is a promise of the file of a stream.
function opened(path, o, flags) {
  if (o.fd !== undefined && o.fd !== null) return Promise.resolve(o.fd instanceof FileHandle ? o.fd : new FileHandle(o.fd));
  return promises.open(located(path), o.flags ?? flags, o.mode);
}

// announce tells of the opening, which is begun whether or not anybody reads or writes.
function announce(stream, opening, given) {
  opening.then((file) => {
    stream.fd = file.fd;
    stream.pending = false;
    if (stream.destroyed || given) return;
    stream.emit("open", file.fd);
    stream.emit("ready");
  }, (error) => stream.destroy(complete(error, "open")));
}

// shut closes the file a stream is done with, if it was opened.
function shut(opening) {
  return opening.then((file) => file.close()).catch(() => {});
}

method(fs, "createReadStream", (path, options) => {
  const o = optionsOf(options);
  const { Readable } = require("stream");
  const opening = opened(path, o, "r");
  let at = o.start ?? null, left = o.end === undefined ? Infinity : o.end - (o.start ?? 0) + 1;
  const stream = new Readable({
    highWaterMark: o.highWaterMark ?? 65536, encoding: o.encoding, objectMode: false,
    read(size) {
      (async () => {
        const file = await opening;
        const chunk = left > 0 ? answered(await host.later("fs.readAt", { fd: file.fd, length: Math.min(left, size || 65536), position: at })) : [];
        stream.bytesRead += chunk.length;
        left -= chunk.length;
        if (at !== null) at += chunk.length;
        if (chunk.length > 0) stream.push(decode(chunk));
        else {
          if (o.autoClose !== false) await file.close();
          stream.push(null);
        }
      })().catch((error) => stream.destroy(complete(error, "read")));
    },
    destroy(error, done) {
      shut(opening).then(() => done(error));
    },
  });
  announce(stream, opening, o.fd !== undefined && o.fd !== null);
  return Object.assign(stream, {
    path, bytesRead: 0, flags: o.flags ?? "r", pending: true, fd: null,
    close(done) {
      if (done) stream.once("close", () => done());
      stream.destroy();
    },
  });
});
method(fs, "createWriteStream", (path, options) => {
  const o = optionsOf(options);
  const { Writable } = require("stream");
  const opening = opened(path, o, "w");
  let at = o.start ?? null;
  const stream = new Writable({
    decodeStrings: true, defaultEncoding: o.encoding ?? "utf8",
    write(chunk, encoding, done) {
      (async () => {
        const { fd } = await opening;
        const bytes = bytesOf(chunk, encoding === "buffer" ? undefined : encoding);
        const steps = writeAll(fd, bytes, at);
        await runLater(steps, steps.next());
        if (at !== null) at += bytes.length;
        stream.bytesWritten += bytes.length;
      })().then(() => done(), done);
    },
    final(done) {
      opening.then((file) => file.close()).then(() => done(), done);
    },
    destroy(error, done) {
      shut(opening).then(() => done(error));
    },
  });
  announce(stream, opening, o.fd !== undefined && o.fd !== null);
  return Object.assign(stream, {
    path, bytesWritten: 0, flags: o.flags ?? "w", pending: true, fd: null,
    close(done) {
      if (done) stream.once("close", () => done());
      stream.end();
    },
  });
});

// Nothing is watched: a watcher is there to be closed.
function watcher(path, listener) {
  pathOf(path);
  const made = new (require("events"))();
  if (typeof listener === "function") made.on("change", listener);
  let closed = false;
  made.close = () => {
    if (!closed) process.nextTick(() => made.emit("close"));
    closed = true;
  };
  made.ref = made.unref = () => made;
  return made;
}
method(fs, "watch", (path, options, listener = options) => {
  const at = pathOf(path);
  fs.statSync(at); // one that is not there can not be watched
  return watcher(at, listener);
});
method(fs, "watchFile", (path, options, listener = options) => {
  needFunction(listener, "listener");
  return watcher(path, listener);
});
method(fs, "unwatchFile", () => {});
method(promises, "watch", async function* (path, options) {
  const { signal } = options ?? {};
  await promises.stat(path);
  await new Promise((_, fail) => {
    if (signal?.aborted) fail(signal.reason);
    signal?.addEventListener("abort", () => fail(signal.reason), { once: true });
  });
});
promises.constants = constants;

const { F_OK, R_OK, W_OK, X_OK } = constants;
module.exports = Object.assign(fs, { F_OK, R_OK, W_OK, X_OK, constants, Stats, Dirent, Dir, promises });

// promisify gives what a callback has more than one of by their names.
const custom = Symbol.for("nodejs.util.promisify.custom");
Object.defineProperty(fs.exists, custom, { value: promises.exists });
Object.defineProperty(fs.read, custom, { value: async (fd, buffer, ...rest) => ({ bytesRead: await promises.read(fd, buffer, ...rest), buffer }) });
Object.defineProperty(fs.write, custom, { value: async (fd, buffer, ...rest) => ({ bytesWritten: await promises.write(fd, buffer, ...rest), buffer }) });
