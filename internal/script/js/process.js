// The process a script believes to be in: the engine's host, told from afar.
"use strict";
const host = require("helve:host");
const { wrongType, coded } = require("helve:check");
const { failure } = require("helve:errno");
const EventEmitter = require("events");

const process = Object.create(EventEmitter.prototype);
EventEmitter.call(process);

function put(name, value) {
  Object.defineProperty(process, name, { value, enumerable: true, configurable: true, writable: true });
}

// lazy makes a property when it is first asked for.
function lazy(name, make) {
  Object.defineProperty(process, name, {
    enumerable: true, configurable: true,
    get() { const value = make(); put(name, value); return value; },
    set(value) { put(name, value); },
  });
}

// The environment is the host's at the time of the first look; changes stay here, for this engine and what it starts.
lazy("env", () => new Proxy(host.now("env.all").value, {
  set(env, name, value) {
    if (typeof name === "symbol") throw new TypeError("Cannot convert a symbol to a string");
    env[name] = String(value);
    return true;
  },
  defineProperty(env, name, to) {
    if ("value" in to) env[name] = String(to.value);
    return true;
  },
}));

put("cwd", function cwd() {
  return host.cwd();
});
put("chdir", function chdir(to) {
  if (typeof to !== "string") throw wrongType("directory", "of type string", to);
  const path = require("path").resolve(process.cwd(), to);
  const fs = require("fs");
  let found;
  try {
    found = fs.statSync(path);
  } catch (error) {
    throw failure(error.code, "chdir", process.cwd(), to);
  }
  if (!found.isDirectory()) throw failure("ENOTDIR", "chdir", process.cwd(), to);
  host.chdir(path);
});

for (const name of ["platform", "arch", "pid", "ppid"]) lazy(name, () => host.info()[name]);
lazy("argv", () => [...host.info().argv]);
lazy("argv0", () => host.info().argv[0]);
lazy("execPath", () => host.info().argv[0]);
put("execArgv", []);
put("title", "bun");
put("exitCode", undefined);
put("version", "v24.3.0");
put("versions", Object.freeze({ node: "24.3.0", bun: "1.4.4", modules: "137" }));
put("release", Object.freeze({ name: "node" }));
put("config", Object.freeze({ variables: {}, target_defaults: {} }));
put("features", Object.freeze({ inspector: false, debug: false, ipv6: true, tls: true, typescript: "transform" }));
put("isBun", true);
put("browser", false);

for (const name of ["getuid", "geteuid"]) put(name, { [name]: () => host.info().uid }[name]);
for (const name of ["getgid", "getegid"]) put(name, { [name]: () => host.info().gid }[name]);
put("umask", function umask() {
  return 0o22;
});

put("nextTick", function nextTick(callback, ...args) {
  if (typeof callback !== "function") throw wrongType("callback", "of type function", callback);
  Promise.resolve().then(() => callback(...args));
});

// An engine is not a process that could end: what asks for it ends its own call.
class Exit extends Error {
  constructor(code) {
    super(`process.exit(${code}) was called`);
    this.code = "ERR_PROCESS_EXIT";
    this.exitCode = code;
  }
}
Object.defineProperty(Exit.prototype, "name", { value: "ProcessExit", configurable: true, writable: true });
function end(code) {
  try {
    host.now("proc.exit", { code });
  } catch {} // a host that can not end the call leaves it to what is thrown
  throw new Exit(code);
}
put("exit", function exit(code = process.exitCode ?? 0) {
  end(Math.trunc(Number(code)) || 0);
});
put("reallyExit", process.exit);
put("abort", function abort() {
  end(134);
});
put("kill", function kill(pid, signal = "SIGTERM") {
  if (typeof pid !== "number") throw wrongType("pid", "of type number", pid);
  const { signals } = require("os").constants;
  if (typeof signal === "string" && !(signal in signals)) throw coded(TypeError, "ERR_UNKNOWN_SIGNAL", `Unknown signal: ${signal}`);
  try {
    host.now("proc.signal", { pid, signal: typeof signal === "string" ? signals[signal] : signal });
  } catch (error) {
    if (error.syscall !== undefined || error.code === undefined) throw error;
    if (error.code === "ESRCH") {
      const told = Object.assign(new Error("kill() failed: ESRCH: No such process"), { code: "ESRCH", syscall: "kill", errno: 3 });
      throw Object.defineProperty(told, "name", { value: "SystemError", configurable: true, writable: true });
    }
    throw failure(error.code, "kill");
  }
  return true;
});
put("emitWarning", function emitWarning(warning) {
  host.now("log", { level: "warn", text: String(warning?.stack ?? warning) });
});
put("binding", function binding(name) {
  throw new Error(`No such module: ${name}`);
});
put("memoryUsage", Object.assign(function memoryUsage() {
  return { rss: 64 << 20, heapTotal: 32 << 20, heapUsed: 16 << 20, external: 1 << 20, arrayBuffers: 1 << 20 };
}, { rss: () => 64 << 20 }));
put("cpuUsage", function cpuUsage() {
  return { user: Math.round(Date.now() - born) * 1000, system: 0 };
});
put("resourceUsage", function resourceUsage() {
  return { userCPUTime: 0, systemCPUTime: 0, maxRSS: 64 << 10 };
});

const born = Date.now();
put("uptime", function uptime() {
  return require("perf_hooks").performance.now() / 1000;
});
function hrtime(since) {
  const ms = require("perf_hooks").performance.now();
  let seconds = Math.floor(ms / 1000), nanos = Math.round((ms % 1000) * 1e6);
  if (since !== undefined) {
    if (!Array.isArray(since)) throw wrongType("time", "an instance of Array", since);
    seconds -= since[0];
    nanos -= since[1];
    if (nanos < 0) {
      seconds--;
      nanos += 1e9;
    }
  }
  return [seconds, nanos];
}
hrtime.bigint = () => BigInt(Math.round(require("perf_hooks").performance.now() * 1e6));
put("hrtime", hrtime);

// What is written goes to the log by lines; standard input is empty.
function writer(level, fd) {
  let rest = "";
  const stream = Object.create(EventEmitter.prototype);
  EventEmitter.call(stream);
  return Object.assign(stream, {
    fd, writable: true, columns: 80,
    write(data, encoding, done) {
      if (typeof data !== "string" && !ArrayBuffer.isView(data)) throw wrongType("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", data);
      const lines = (rest + (typeof data === "string" ? data : host.text(data))).split("\n");
      rest = lines.pop();
      if (lines.length > 0) host.now("log", { level, text: lines.join("\n") });
      const then = typeof encoding === "function" ? encoding : done;
      if (then) process.nextTick(then);
      return true;
    },
    end(data, ...args) {
      if (data !== undefined && typeof data !== "function") stream.write(data, ...args);
      if (rest !== "") stream.write("\n");
      return stream;
    },
    cork() {}, uncork() {}, getColorDepth: () => 1, hasColors: () => false, getWindowSize: () => [80, 24],
  });
}
lazy("stdout", () => writer("info", 1));
lazy("stderr", () => writer("error", 2));
lazy("stdin", () => {
  const stream = Object.create(EventEmitter.prototype);
  EventEmitter.call(stream);
  const self = () => stream;
  return Object.assign(stream, {
    fd: 0, readable: true, setEncoding: self, resume: self, pause: self, ref: self, unref: self, read: () => null,
    on(name, listener) {
      EventEmitter.prototype.on.call(stream, name, listener);
      if (name === "end" || name === "close") process.nextTick(listener);
      return stream;
    },
    async *[Symbol.asyncIterator]() {},
  });
});

Object.defineProperty(process, Symbol.toStringTag, { value: "process", configurable: true });
module.exports = process;
