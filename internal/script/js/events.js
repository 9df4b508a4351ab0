// Emitters of events.
"use strict";
const { wrongType, coded, outOfRange } = require("helve:check");

const once_ = Symbol("once"); // on a wrapper, the listener it stands for
const rejections = Symbol.for("nodejs.rejection");
const monitor = Symbol("events.errorMonitor");
const capture = Symbol("kCapture");

function listenerNeeded(listener) {
  if (typeof listener !== "function") throw wrongType("listener", "of type function", listener);
}

// EventEmitter is no class, for many call it without new.
function EventEmitter(options) {
  if (this === undefined) return new EventEmitter(options);
  if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
    this._events = { __proto__: null };
    this._eventsCount = 0;
  }
  this._maxListeners ??= undefined;
  if (options?.captureRejections) this[capture] = true;
}

// of gives the listeners of an event, if there are any.
function of(emitter, name) {
  return emitter._events?.[name];
}

function add(emitter, name, listener, first) {
  listenerNeeded(listener);
  const events = (emitter._events ??= { __proto__: null });
  if (events.newListener !== undefined) emitter.emit("newListener", name, listener[once_] ?? listener);
  const list = events[name];
  if (list === undefined) {
    events[name] = [listener];
    emitter._eventsCount = (emitter._eventsCount ?? 0) + 1;
  } else events[name] = first ? [listener, ...list] : [...list, listener]; // a new list: one may just be called through
  warn(emitter, name, events[name]);
  return emitter;
}

function warn(emitter, name, list) {
  const most = emitter.getMaxListeners();
  if (most <= 0 || list.length <= most || list.warned) return;
  if (list.length === most + 1) {
    require("process").emitWarning(`Possible EventEmitter memory leak detected. ${list.length} ${String(name)} listeners added to ${
      emitter.constructor.name}. MaxListeners is ${most}. Use emitter.setMaxListeners() to increase limit`);
  }
}

function wrap(emitter, name, listener) {
  listenerNeeded(listener);
  const wrapped = function (...args) {
    emitter.removeListener(name, wrapped);
    return listener.apply(emitter, args);
  };
  wrapped[once_] = listener;
  wrapped.listener = listener;
  return wrapped;
}

const methods = {
  setMaxListeners(n) {
    if (typeof n !== "number" || n < 0 || Number.isNaN(n)) throw outOfRange("setMaxListeners", ">= 0", n);
    this._maxListeners = n;
    return this;
  },
  getMaxListeners() {
    return this._maxListeners ?? EventEmitter.defaultMaxListeners;
  },
  emit(name, ...args) {
    if (name === "error") {
      const watching = of(this, monitor);
      if (watching) for (const listener of watching) listener.apply(this, args);
    }
    const list = of(this, name);
    if (list === undefined) {
      if (name === "error") throw unhandled(args);
      return false;
    }
    for (const listener of list) {
      const result = listener.apply(this, args);
      if (this[capture] && typeof result?.then === "function") result.then(undefined, (error) => this.emit("error", error));
    }
    return true;
  },
  on(name, listener) {
    return add(this, name, listener, false);
  },
  prependListener(name, listener) {
    return add(this, name, listener, true);
  },
  once(name, listener) {
    return add(this, name, wrap(this, name, listener), false);
  },
  prependOnceListener(name, listener) {
    return add(this, name, wrap(this, name, listener), true);
  },
  removeListener(name, listener) {
    listenerNeeded(listener);
    const list = of(this, name);
    const at = list?.findLastIndex((one) => one === listener || one[once_] === listener) ?? -1;
    if (at < 0) return this;
    if (list.length === 1) {
      delete this._events[name];
      this._eventsCount--;
    } else this._events[name] = list.toSpliced(at, 1);
    if (of(this, "removeListener") !== undefined) this.emit("removeListener", name, listener);
    return this;
  },
  removeAllListeners(...names) {
    if (this._events === undefined) return this;
    for (const name of names.length > 0 ? names : this.eventNames()) {
      for (const listener of [...(of(this, name) ?? [])].reverse()) this.removeListener(name, listener);
    }
    return this;
  },
  listeners(name) {
    return (of(this, name) ?? []).map((listener) => listener[once_] ?? listener);
  },
  rawListeners(name) {
    return [...(of(this, name) ?? [])];
  },
  listenerCount(name, listener) {
    const list = of(this, name) ?? [];
    return listener ? list.filter((one) => one === listener || one[once_] === listener).length : list.length;
  },
  eventNames() {
    return this._events ? Reflect.ownKeys(this._events) : [];
  },
};
methods.addListener = methods.on;
methods.off = methods.removeListener;
for (const name of Object.keys(methods)) EventEmitter.prototype[name] = methods[name];
EventEmitter.prototype._events = undefined;
EventEmitter.prototype._eventsCount = 0;
EventEmitter.prototype._maxListeners = undefined;

function unhandled([error]) {
  if (error instanceof Error) return error;
  const shown = typeof error === "string" ? `'${error}'` : require("helve:inspect").inspect(error);
  return Object.assign(coded(Error, "ERR_UNHANDLED_ERROR", `Unhandled error. (${shown})`), { context: error });
}

function aborted(signal) {
  const error = new Error("The operation was aborted", { cause: signal.reason });
  error.code = "ABORT_ERR";
  error.name = "AbortError";
  return error;
}

// once gives a promise of an event's arguments; an error event rejects it.
async function once(emitter, name, options) {
  const signal = options?.signal;
  if (signal?.aborted) throw aborted(signal);
  return new Promise((resolve, reject) => {
    const listen = (event, listener) => emitter.on ? emitter.on(event, listener) : emitter.addEventListener(event, listener, { once: true });
    const leave = (event, listener) => emitter.on ? emitter.removeListener(event, listener) : emitter.removeEventListener(event, listener);
    const done = () => {
      leave(name, good);
      if (emitter.on && name !== "error") leave("error", bad);
      signal?.removeEventListener("abort", stop);
    };
    const good = (...args) => { done(); resolve(args); };
    const bad = (error) => { done(); reject(error); };
    const stop = () => { done(); reject(aborted(signal)); };
    listen(name, good);
    if (emitter.on && name !== "error") listen("error", bad);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

// on gives the arguments of each event, one after the other.
function on(emitter, name, options) {
  const signal = options?.signal;
  if (signal?.aborted) throw aborted(signal);
  const come = [], waiting = [];
  let failed, over = false;
  const take = (...args) => waiting.length > 0 ? waiting.shift().resolve({ value: args, done: false }) : come.push(args);
  const fail = (error) => waiting.length > 0 ? waiting.shift().reject(error) : (failed = { error });
  const stop = () => fail(aborted(signal));
  const end = () => {
    over = true;
    emitter.removeListener(name, take);
    emitter.removeListener("error", fail);
    signal?.removeEventListener("abort", stop);
    for (const { resolve } of waiting.splice(0)) resolve({ value: undefined, done: true });
    return Promise.resolve({ value: undefined, done: true });
  };
  emitter.on(name, take);
  if (name !== "error") emitter.on("error", fail);
  for (const event of options?.close ?? []) emitter.on(event, end);
  signal?.addEventListener("abort", stop, { once: true });
  return {
    next() {
      if (come.length > 0) return Promise.resolve({ value: come.shift(), done: false });
      if (failed) {
        const { error } = failed;
        failed = undefined;
        end();
        return Promise.reject(error);
      }
      if (over) return Promise.resolve({ value: undefined, done: true });
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: end,
    throw(error) { fail(error); return end(); },
    [Symbol.asyncIterator]() { return this; },
  };
}

let most = 10;
Object.defineProperty(EventEmitter, "defaultMaxListeners", {
  enumerable: true,
  get: () => most,
  set(n) {
    if (typeof n !== "number" || n < 0 || Number.isNaN(n)) throw outOfRange("defaultMaxListeners", ">= 0", n);
    most = n;
  },
});
class EventEmitterAsyncResource extends EventEmitter {}
Object.assign(EventEmitter, {
  EventEmitter, once, on, EventEmitterAsyncResource, captureRejectionSymbol: rejections, errorMonitor: monitor, usingDomains: false,
  listenerCount: (emitter, name) => emitter.listenerCount(name),
  getEventListeners: (emitter, name) => emitter.listeners?.(name) ?? [],
  getMaxListeners: (emitter) => emitter.getMaxListeners?.() ?? most,
  setMaxListeners: (n, ...emitters) => emitters.length > 0 ? emitters.forEach((emitter) => emitter.setMaxListeners?.(n)) : (EventEmitter.defaultMaxListeners = n),
  addAbortListener(signal, listener) {
    if (signal.aborted) Promise.resolve().then(() => listener());
    else signal.addEventListener("abort", listener, { once: true });
    return { [Symbol.dispose]: () => signal.removeEventListener("abort", listener) };
  },
  init: EventEmitter,
});
module.exports = EventEmitter;
