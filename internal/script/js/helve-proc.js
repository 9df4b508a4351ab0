// What all ways to run a program have in common.
"use strict";
const host = require("helve:host");

// where is the folder a program runs in, absolute.
function where(cwd) {
  const process = require("process");
  if (cwd === undefined || cwd === null) return process.cwd();
  const text = cwd instanceof URL ? require("url").fileURLToPath(cwd) : String(cwd);
  return require("path").resolve(process.cwd(), text);
}

// surroundings are the variables a program gets: all of them in env, or in set what the script changed of the host's own (null for
// what it took away), so that a host may keep some from scripts and still give them to programs.
let original; // the host's own
function surroundings(env) {
  if (env !== undefined && env !== null) {
    const all = {};
    for (const name of Object.keys(env)) if (env[name] !== undefined) all[name] = String(env[name]);
    return { env: all };
  }
  const process = require("process");
  if (Object.getOwnPropertyDescriptor(process, "env")?.get) return {}; // nobody has looked at it
  const before = (original ??= host.now("env.all").value), now = process.env, set = {};
  for (const name of Object.keys(now)) if (before[name] !== now[name]) set[name] = now[name];
  for (const name of Object.keys(before)) if (!(name in now)) set[name] = null;
  return Object.keys(set).length > 0 ? { set } : {};
}

// numbers of signals by name, and back.
function signalName(signal, standard = "SIGTERM") {
  if (signal === undefined || signal === null) return standard;
  if (typeof signal === "string") return signal;
  const { signals } = require("os").constants;
  return Object.keys(signals).find((name) => signals[name] === signal) ?? String(signal);
}

function signalNumber(name) {
  return require("os").constants.signals[name] ?? 0;
}

// unstarted makes of a host's refusal to start a program the error Bun has for it. A host says "which" for a name it did not find.
function unstarted(error, file) {
  if (error?.code === "ENOENT" && error.syscall === "which") {
    return Object.assign(new Error(`Executable not found in $PATH: "${file}"`), { path: file, errno: -2, code: "ENOENT" });
  }
  return require("helve:errno").complete(error, "posix_spawn", file);
}

// run has a program run to its end while the script waits. The answer has stdout and stderr as bytes of their own.
function run(arg, input) {
  try {
    return split(host.now("proc.run", arg, input));
  } catch (error) {
    throw unstarted(error, arg.argv[0]);
  }
}

function split({ value, bytes }) {
  const all = bytes ?? new Uint8Array(0);
  return { ...value, stdout: all.slice(0, value.out), stderr: all.slice(value.out) };
}

// A Running is a program that was started.
class Running {
  constructor(arg, input) {
    let value;
    try {
      ({ value } = host.now("proc.start", arg, input));
    } catch (error) {
      throw unstarted(error, arg.argv[0]);
    }
    this.id = value.id;
    this.pid = value.pid;
    this.over = host.later("proc.wait", { id: this.id }).then((answer) => answer.value);
    this.over.catch(() => {});
  }
  // read gives the next bytes of "stdout" or "stderr", null at the end.
  async read(from) {
    const { value, bytes } = await host.later("proc.read", { id: this.id, from });
    return bytes?.length ? bytes : value.done ? null : new Uint8Array(0);
  }
  async write(bytes) { await host.later("proc.write", { id: this.id }, bytes); }
  async end() { await host.later("proc.write", { id: this.id, end: true }); }
  kill(signal) { return host.now("proc.kill", { id: this.id, signal: signalName(signal) }).value.sent; }
  forget() { host.now("proc.close", { id: this.id }); }
}

module.exports = { where, surroundings, signalName, signalNumber, run, split, Running };
