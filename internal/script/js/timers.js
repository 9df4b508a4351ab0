// Timers. They belong to the call that sets them, see the engine.
"use strict";
const host = require("helve:host");
const { coded } = require("helve:check");

// By number. They are held weakly: when a call ends its timers are forgotten, and nobody says so here.
const running = new Map();
function sweep() {
  for (const [id, timer] of running) if (timer.deref() === undefined) running.delete(id);
}

class Timeout {
  #callback;
  #args;
  #ms;
  #again;
  #id = 0;
  constructor(callback, ms, args, again) {
    if (typeof callback !== "function") throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `${again ? "setInterval" : "setTimeout"} expects a function`);
    const asked = Number(ms);
    this.#ms = asked >= 1 && asked <= 2147483647 ? Math.trunc(asked) : 1;
    this.#callback = callback;
    this.#args = args;
    this.#again = again;
    this.#start();
  }
  #start() {
    const id = this.#id === 0 ? (this.#id = host.newKey()) : this.#id;
    if (running.size % 1000 === 999) sweep();
    running.set(id, new WeakRef(this));
    host.timer(this.#ms, id).then(() => {
      if (!running.has(id)) return;
      if (this.#again) this.#start();
      else running.delete(id);
      return this.#callback.apply(this, this.#args);
    });
  }
  #stop() {
    if (running.delete(this.#id)) host.drop(this.#id);
  }
  static stop(timer) {
    const known = timer instanceof Timeout ? timer : running.get(Number(timer))?.deref();
    if (known) known.#stop();
  }
  ref() { return this; }
  unref() { return this; }
  hasRef() { return true; }
  refresh() {
    this.#stop();
    this.#start();
    return this;
  }
  close() {
    this.#stop();
    return this;
  }
  [Symbol.toPrimitive]() { return this.#id; }
  [Symbol.dispose]() { this.#stop(); }
}

class Immediate {
  #done = false;
  constructor(callback, args) {
    if (typeof callback !== "function") throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "setImmediate expects a function");
    host.timer(0, undefined).then(() => {
      if (this.#done) return;
      this.#done = true;
      return callback(...args);
    });
  }
  static stop(one) {
    if (one instanceof Immediate) one.#done = true;
  }
  ref() { return this; }
  unref() { return this; }
  hasRef() { return true; }
  [Symbol.dispose]() { this.#done = true; }
}

function setTimeout(callback, ms, ...args) {
  return new Timeout(callback, ms, args, false);
}
function setInterval(callback, ms, ...args) {
  return new Timeout(callback, ms, args, true);
}
function setImmediate(callback, ...args) {
  return new Immediate(callback, args);
}
function clearTimeout(timer) {
  if (timer != null) Timeout.stop(timer);
}
function clearInterval(timer) {
  clearTimeout(timer);
}
function clearImmediate(one) {
  Immediate.stop(one);
}

module.exports = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };
Object.defineProperty(module.exports, "promises", { enumerable: true, get: () => require("timers/promises") });
const custom = Symbol.for("nodejs.util.promisify.custom");
Object.defineProperty(setTimeout, custom, { get: () => require("timers/promises").setTimeout });
Object.defineProperty(setImmediate, custom, { get: () => require("timers/promises").setImmediate });
