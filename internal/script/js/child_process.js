// Node's way to run programs.
"use strict";
const EventEmitter = require("events");
const { where, surroundings, signalName, run, Running } = require("helve:proc");
const { wrongType, coded } = require("helve:check");

const defaultMax = 1024 * 1024;

// modes gives what becomes of the three streams, each "pipe", "ignore" or "inherit".
function modes(stdio, standard = "pipe") {
  const list = Array.isArray(stdio) ? stdio : [stdio, stdio, stdio];
  return [0, 1, 2].map((i) => {
    const mode = list[i] ?? standard;
    return mode === "pipe" || mode === "overlapped" ? "pipe" : mode === "ignore" ? "ignore" : "inherit";
  });
}

// program is what to run: with a shell the command and its arguments are one text.
function program(file, args, options) {
  if (typeof file !== "string") throw wrongType("file", "of type string", file);
  if (file.length === 0) throw coded(TypeError, "ERR_INVALID_ARG_VALUE", "The argument 'file' cannot be empty. Received ''");
  for (const text of [file, ...args]) {
    if (text.includes("\0")) throw coded(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'args' must be a string without null bytes. Received ${JSON.stringify(text)}`);
  }
  if (!options.shell) return { argv: [file, ...args] };
  const shell = typeof options.shell === "string" ? options.shell : "/bin/sh";
  return { argv: [shell, "-c", [file, ...args].join(" ")] };
}

function normal(args, options) {
  if (!Array.isArray(args)) [args, options] = [[], args ?? options];
  if (args === undefined || args === null) args = [];
  return [args.map(String), { ...options }];
}

function request(file, args, options) {
  return {
    ...program(file, args, options), cwd: where(options.cwd), ...surroundings(options.env), argv0: options.argv0,
    timeout: options.timeout > 0 ? options.timeout : undefined, kill: signalName(options.killSignal),
  };
}

const buffer = (bytes) => require("buffer").Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function inputOf(input) {
  if (input === undefined || input === null) return undefined;
  return typeof input === "string" ? require("helve:host").bytes(input) : require("stream/web").toBytes(input);
}

// systemError is one of what the system did to a program, by the name of its call.
function systemError(code, errno, note, file, args) {
  const error = new Error(`spawnSync ${file} ${code}${note}`);
  Object.defineProperty(error, "name", { value: "SystemError", configurable: true, writable: true });
  return Object.assign(error, { code, errno, syscall: `spawnSync ${file}`, path: file, spawnargs: args });
}

function spawnSync(file, given, more) {
  const [args, options] = normal(given, more);
  const [, outMode, errMode] = modes(options.stdio);
  const { argv } = program(file, args, options);
  const rest = argv.slice(1);
  let done;
  try {
    done = run({ ...request(file, args, options), max: options.maxBuffer ?? defaultMax, stdout: outMode, stderr: errMode }, inputOf(options.input));
  } catch (error) {
    if (error?.code === undefined) throw error;
    error.syscall = `spawnSync ${argv[0]}`;
    error.path = argv[0];
    error.spawnargs = rest;
    return { signal: null, status: null, output: null, pid: 0, error, stdout: undefined, stderr: undefined };
  }
  const encoding = options.encoding && options.encoding !== "buffer" ? options.encoding : undefined;
  const read = (mode, bytes) => mode !== "pipe" ? null : encoding ? buffer(bytes).toString(encoding) : buffer(bytes);
  const stdout = read(outMode, done.stdout), stderr = read(errMode, done.stderr);
  const result = { signal: done.signal ?? null, status: done.signal ? null : done.code, output: [null, stdout, stderr], pid: done.pid };
  if (done.timedOut) result.error = systemError("ETIMEDOUT", -110, "", argv[0], rest);
  else if (done.overflow) result.error = systemError("ENOBUFS", -105, " (stdout or stderr buffer reached maxBuffer size limit)", argv[0], rest);
  result.stdout = stdout;
  result.stderr = stderr;
  return result;
}

// check throws if a program failed.
function check(result, command) {
  if (!result.error && result.status === 0) return result.stdout;
  const { error: found, ...rest } = result;
  let error = found;
  if (!error) {
    const said = result.stderr?.length > 0 ? `\n${result.stderr}` : "";
    error = new Error(`Command failed: ${command}${said}`);
  }
  throw Object.assign(error, rest);
}

function execFileSync(file, given, more) {
  const [args, options] = normal(given, more);
  return check(spawnSync(file, args, options), [file, ...args].join(" "));
}

function execSync(command, options) {
  if (typeof command !== "string") throw wrongType("command", "of type string", command);
  return check(spawnSync(command, [], { ...options, shell: options?.shell ?? true }), command);
}

class ChildProcess extends EventEmitter {
  #running; #open = 0;

  constructor(file, args, options) {
    super();
    const [inMode, outMode, errMode] = modes(options.stdio);
    const arg = request(file, args, options);
    Object.assign(this, {
      exitCode: null, signalCode: null, killed: false, connected: false,
      spawnfile: arg.argv[0], spawnargs: [...arg.argv], stdin: null, stdout: null, stderr: null, stdio: [null, null, null], pid: undefined,
    });
    if (options.argv0) this.spawnargs[0] = options.argv0;
    try {
      this.#running = new Running({ ...arg, stdin: inMode, stdout: outMode, stderr: errMode });
    } catch (error) {
      if (error?.code === undefined) throw error;
      Object.assign(error, { syscall: `spawn ${arg.argv[0]}`, path: arg.argv[0], spawnargs: arg.argv.slice(1) });
      this.#streams("pipe", "pipe", "pipe");
      this.stdout.push(null);
      this.stderr.push(null);
      Promise.resolve().then(() => {
        this.emit("error", error);
        this.emit("close", error.errno ?? -1, undefined);
      });
      return;
    }
    this.pid = this.#running.pid;
    this.#streams(inMode, outMode, errMode);
    options.signal?.addEventListener("abort", () => this.#abort(options.signal), { once: true });
    if (options.signal?.aborted) this.#abort(options.signal);
    Promise.resolve().then(() => this.emit("spawn"));
    this.#wait();
  }
  #abort(signal) {
    const error = new Error("The operation was aborted", { cause: signal.reason });
    Object.defineProperty(error, "name", { value: "AbortError", configurable: true, writable: true });
    this.kill();
    Promise.resolve().then(() => this.emit("error", Object.assign(error, { code: "ABORT_ERR" })));
  }
  #streams(inMode, outMode, errMode) {
    const { Readable, Writable } = require("stream");
    const running = this.#running;
    if (inMode === "pipe") {
      this.stdin = new Writable({
        decodeStrings: true,
        write(chunk, encoding, done) { running ? running.write(chunk).then(() => done(), done) : done(); },
        final(done) { running ? running.end().then(() => done(), () => done()) : done(); },
      });
      this.stdin.on("error", () => {}); // a program that does not read is none of our mistakes
    }
    const reader = (from) => new Readable({
      read() {
        running?.read(from).then((bytes) => this.push(bytes === null ? null : buffer(bytes)), (error) => this.destroy(error));
      },
    });
    for (const [name, mode] of [["stdout", outMode], ["stderr", errMode]]) {
      if (mode !== "pipe") continue;
      this[name] = reader(name);
      this.#open++;
      this[name].once("close", () => { this.#open--; this.#close(); });
    }
    this.stdio = [this.stdin, this.stdout, this.stderr];
  }
  async #wait() {
    let end;
    try {
      end = await this.#running.over;
    } catch (error) {
      this.emit("error", error);
      return;
    }
    this.exitCode = end.signal ? null : end.code;
    this.signalCode = end.signal ?? null;
    this.stdin?.destroy();
    this.emit("exit", this.exitCode, this.signalCode);
    for (const stream of [this.stdout, this.stderr]) if (stream && stream.readableFlowing === null && stream.listenerCount("readable") === 0) stream.resume();
    this.ended = true;
    this.#close();
  }
  #close() {
    if (!this.ended || this.#open > 0) return;
    this.#running.forget();
    this.emit("close", this.exitCode, this.signalCode);
  }
  kill(signal) {
    if (!this.#running || this.exitCode !== null || this.signalCode !== null) return false;
    const name = signalName(signal);
    if (!(name in require("os").constants.signals) && signal !== 0) throw coded(TypeError, "ERR_UNKNOWN_SIGNAL", `Unknown signal: ${signal}`);
    const sent = this.#running.kill(signal === 0 ? 0 : name);
    if (sent && signal !== 0) this.killed = true;
    return sent;
  }
  ref() {}
  unref() {}
  disconnect() {}
  send() { throw coded(Error, "ERR_IPC_CHANNEL_CLOSED", "Channel closed"); }
  [Symbol.dispose]() { if (this.exitCode === null) this.kill(); }
}
Object.defineProperty(ChildProcess.prototype, "ended", { value: false, writable: true, enumerable: false });

function spawn(file, given, more) {
  const [args, options] = normal(given, more);
  return new ChildProcess(file, args, options);
}

// execFile gathers what a program writes and gives it to a callback.
function execFile(file, given, more, last) {
  const callback = [given, more, last].find((x) => typeof x === "function");
  const [args, options] = normal(typeof given === "function" ? [] : given, typeof more === "function" ? undefined : more);
  return collect(file, args, options, [file, ...args].join(" "), callback);
}

function exec(command, options, callback) {
  if (typeof command !== "string") throw wrongType("command", "of type string", command);
  if (typeof options === "function") [options, callback] = [{}, options];
  return collect(command, [], { ...options, shell: options?.shell ?? true }, command, callback);
}

function collect(file, args, options, command, callback) {
  const { timeout, ...rest } = options;
  const max = options.maxBuffer ?? defaultMax;
  const encoding = options.encoding === undefined ? "utf8" : options.encoding;
  const child = spawn(file, args, { ...rest, stdio: "pipe" });
  const parts = { stdout: [], stderr: [] }, sizes = { stdout: 0, stderr: 0 };
  let failure = null, over = false, killed = false, timer;
  const stop = () => {
    killed = true;
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.kill(options.killSignal);
  };
  for (const name of ["stdout", "stderr"]) {
    child[name]?.on("data", (chunk) => {
      const room = max - sizes[name];
      sizes[name] += chunk.length;
      parts[name].push(chunk.length > room ? chunk.subarray(0, Math.max(room, 0)) : chunk);
      if (sizes[name] > max && !failure) {
        failure = coded(RangeError, "ERR_CHILD_PROCESS_STDIO_MAXBUFFER", `${name} maxBuffer length exceeded`);
        stop();
      }
    });
  }
  const finish = (error) => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    if (!callback) return;
    const { Buffer } = require("buffer");
    const text = (name) => {
      const all = Buffer.concat(parts[name]);
      return !encoding || encoding === "buffer" ? all : all.toString(encoding);
    };
    const stdout = text("stdout"), stderr = text("stderr");
    callback(error?.(stderr) ?? null, stdout, stderr);
  };
  child.on("error", (error) => finish(() => told(error, { cmd: command })));
  child.on("close", (code, signal) => {
    if (failure) return finish(() => told(failure, { cmd: command }));
    if (code === 0 && !signal) return finish();
    finish((stderr) => Object.assign(new Error(`Command failed: ${command}${stderr.length > 0 ? `\n${stderr}` : ""}`), {
      code: signal ? null : code, killed: child.killed || killed, signal: signal ?? null, cmd: command,
    }));
  });
  if (timeout > 0) timer = setTimeout(stop, timeout);
  return child;
}

// told adds what is known of the command; the code of an error of ours is no part of what is listed.
function told(error, more) {
  if (error instanceof RangeError) Object.defineProperty(error, "code", { enumerable: false });
  return Object.assign(error, more);
}

// promised gives a function a form that util.promisify finds.
function promised(start) {
  const custom = Symbol.for("nodejs.util.promisify.custom");
  Object.defineProperty(start, custom, {
    value(...args) {
      let child;
      const promise = new Promise((resolve, reject) => {
        child = start(...args, (error, stdout, stderr) => {
          if (error) reject(Object.assign(error, { stdout, stderr }));
          else resolve({ stdout, stderr });
        });
      });
      promise.child = child;
      return promise;
    },
  });
}
promised(exec);
promised(execFile);

function fork() {
  throw coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "child_process.fork is not available in the embedded engine");
}

module.exports = { ChildProcess, exec, execFile, execFileSync, execSync, fork, spawn, spawnSync };
