// What belongs to a piece of work that waits. The engine does not tell what a promise was made for, so a store is that of the
// newest run that has not ended: right as long as runs do not cross each other.
"use strict";

class AsyncLocalStorage {
  #runs = []; // [store], the newest last
  static bind(work) { return (...args) => work(...args); }
  static snapshot() { return (work, ...args) => work(...args); }
  getStore() { return this.#runs.at(-1)?.[0]; }
  enterWith(store) { this.#runs.push([store]); }
  disable() { this.#runs = []; }
  run(store, work, ...args) {
    const run = [store];
    this.#runs.push(run);
    const over = () => {
      const at = this.#runs.indexOf(run);
      if (at >= 0) this.#runs.splice(at, 1);
    };
    let result;
    try {
      result = work(...args);
    } catch (error) {
      over();
      throw error;
    }
    if (result instanceof Promise) result.then(over, over);
    else over();
    return result;
  }
  exit(work, ...args) { return this.run(undefined, work, ...args); }
}

class AsyncResource {
  constructor(type) { this.type = type; }
  static bind(work, type, self) { return new AsyncResource(type).bind(work, self); }
  bind(work, self) { return (...args) => work.apply(self, args); }
  runInAsyncScope(work, self, ...args) { return work.apply(self, args); }
  emitDestroy() { return this; }
  asyncId() { return 1; }
  triggerAsyncId() { return 0; }
}

const hook = { enable() { return hook; }, disable() { return hook; } };
module.exports = { AsyncLocalStorage, AsyncResource, createHook: () => hook, executionAsyncId: () => 1, triggerAsyncId: () => 0, executionAsyncResource: () => ({}) };
