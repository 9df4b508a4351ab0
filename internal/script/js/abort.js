// Events, and the signals that tell work to stop.
"use strict";

const codes = {
  IndexSizeError: 1, HierarchyRequestError: 3, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12,
  InvalidModificationError: 13, NamespaceError: 14, InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18, NetworkError: 19,
  AbortError: 20, URLMismatchError: 21, QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24, DataCloneError: 25,
};

class DOMException extends Error {
  constructor(message = "", options = "Error") {
    const { name = "Error", cause } = typeof options === "object" && options !== null ? options : { name: options };
    super(message);
    Object.defineProperty(this, "name", { value: String(name), configurable: true, writable: true });
    if (cause !== undefined) Object.defineProperty(this, "cause", { value: cause, configurable: true, writable: true });
  }
  get code() { return codes[this.name] ?? 0; }
  get [Symbol.toStringTag]() { return "DOMException"; }
}
for (const name of Object.keys(codes)) {
  const constant = name.replace(/Error$/, "").replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase() + "_ERR";
  for (const place of [DOMException, DOMException.prototype]) Object.defineProperty(place, constant, { value: codes[name], enumerable: true });
}

class Event {
  #type; #bubbles; #cancelable; #composed; #prevented = false;
  _target = null; _stopped = false; _passive = false;
  constructor(type, init) {
    if (arguments.length === 0) throw new TypeError("Not enough arguments");
    this.#type = String(type);
    this.#bubbles = Boolean(init?.bubbles);
    this.#cancelable = Boolean(init?.cancelable);
    this.#composed = Boolean(init?.composed);
    for (const key of ["_target", "_stopped", "_passive"]) Object.defineProperty(this, key, { enumerable: false });
    Object.defineProperty(this, "timeStamp", { value: Date.now(), enumerable: true });
  }
  get type() { return this.#type; }
  get bubbles() { return this.#bubbles; }
  get cancelable() { return this.#cancelable; }
  get composed() { return this.#composed; }
  get target() { return this._target; }
  get srcElement() { return this._target; }
  get currentTarget() { return this._target; }
  get eventPhase() { return this._target ? 2 : 0; }
  get isTrusted() { return false; }
  get defaultPrevented() { return this.#prevented; }
  get returnValue() { return !this.#prevented; }
  preventDefault() { if (this.#cancelable && !this._passive) this.#prevented = true; }
  stopPropagation() {}
  stopImmediatePropagation() { this._stopped = true; }
  composedPath() { return this._target ? [this._target] : []; }
  get [Symbol.toStringTag]() { return "Event"; }
}

class CustomEvent extends Event {
  #detail;
  constructor(type, init) {
    super(type, init);
    this.#detail = init?.detail ?? null;
  }
  get detail() { return this.#detail; }
}

class EventTarget {
  #listeners = new Map();

  addEventListener(type, listener, options) {
    if (listener === null || listener === undefined) return;
    const { once = false, capture = false, passive = false, signal } = typeof options === "object" && options !== null ? options : { capture: Boolean(options) };
    if (signal?.aborted) return;
    const list = this.#listeners.get(String(type)) ?? [];
    if (list.some((l) => l.listener === listener && l.capture === capture)) return;
    this.#listeners.set(String(type), list.concat({ listener, once, capture, passive }));
    signal?.addEventListener("abort", () => this.removeEventListener(type, listener, options), { once: true });
  }

  removeEventListener(type, listener, options) {
    const capture = typeof options === "object" && options !== null ? Boolean(options.capture) : Boolean(options);
    const list = this.#listeners.get(String(type));
    if (list) this.#listeners.set(String(type), list.filter((l) => l.listener !== listener || l.capture !== capture));
  }

  dispatchEvent(event) {
    if (!(event instanceof Event)) throw new TypeError("Argument 1 ('event') to EventTarget.dispatchEvent must be an instance of Event");
    event._target = this;
    event._stopped = false;
    for (const one of this.#listeners.get(event.type) ?? []) {
      if (!this.#listeners.get(event.type).includes(one)) continue; // taken away by one before it
      if (one.once) this.removeEventListener(event.type, one.listener, one);
      event._passive = one.passive;
      try {
        if (typeof one.listener === "function") one.listener.call(this, event);
        else one.listener.handleEvent(event);
      } catch (error) {
        globalThis.reportError?.(error);
      }
      if (event._stopped) break;
    }
    return !event.defaultPrevented;
  }
  get [Symbol.toStringTag]() { return "EventTarget"; }
}

const making = Symbol("making");
let newSignal, abortSignal;

class AbortSignal extends EventTarget {
  #reason = undefined; #aborted = false; #handler = null; #followers = [];

  constructor(key) {
    if (key !== making) throw new TypeError("Illegal constructor");
    super();
  }
  get aborted() { return this.#aborted; }
  get reason() { return this.#reason; }
  get onabort() { return this.#handler; }
  set onabort(handler) {
    if (this.#handler) this.removeEventListener("abort", this.#handler);
    this.#handler = typeof handler === "function" ? handler : null;
    if (this.#handler) this.addEventListener("abort", this.#handler);
  }
  throwIfAborted() {
    if (this.#aborted) throw this.#reason;
  }

  static {
    newSignal = () => new AbortSignal(making);
    abortSignal = (signal, reason) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException("The operation was aborted.", "AbortError") : reason;
      signal.dispatchEvent(new Event("abort"));
      for (const follower of signal.#followers) abortSignal(follower, signal.#reason);
      signal.#followers = [];
    };
  }

  static abort(reason) {
    const signal = newSignal();
    abortSignal(signal, reason);
    return signal;
  }
  static timeout(ms) {
    if (!(Number(ms) >= 0)) throw new TypeError("Value NaN is outside the range [0, 9007199254740991]");
    const signal = newSignal();
    require("helve:host").timer(Number(ms)).then(() => abortSignal(signal, new DOMException("The operation timed out.", "TimeoutError")));
    return signal;
  }
  static any(signals) {
    const all = [...signals];
    const one = newSignal();
    for (const signal of all) {
      if (!(signal instanceof AbortSignal)) throw new TypeError("AbortSignal.any takes a list of AbortSignal");
    }
    const aborted = all.find((signal) => signal.aborted);
    if (aborted) abortSignal(one, aborted.reason);
    else for (const signal of all) signal.#followers.push(one);
    return one;
  }
  get [Symbol.toStringTag]() { return "AbortSignal"; }
}
class AbortController {
  #signal = newSignal();
  get signal() { return this.#signal; }
  abort(reason) { abortSignal(this.#signal, reason); }
  get [Symbol.toStringTag]() { return "AbortController"; }
}

module.exports = { DOMException, Event, CustomEvent, EventTarget, AbortSignal, AbortController };
