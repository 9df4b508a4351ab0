// Channels on which packages tell what they do.
"use strict";

class Channel {
  #listeners = [];
  constructor(name) { this.name = name; }
  get hasSubscribers() { return this.#listeners.length > 0; }
  subscribe(listener) { this.#listeners.push(listener); }
  unsubscribe(listener) {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
    return at >= 0;
  }
  publish(message) {
    for (const listener of [...this.#listeners]) {
      try {
        listener(message, this.name);
      } catch (error) {
        require("console").error(error); // who publishes is not to blame
      }
    }
  }
  bindStore() {}
  unbindStore() { return false; }
  runStores(message, work, self, ...args) {
    this.publish(message);
    return work.apply(self, args);
  }
}

const channels = new Map();
function channel(name) {
  let found = channels.get(name);
  if (!found) channels.set(name, found = new Channel(name));
  return found;
}

class TracingChannel {
  constructor(name) {
    for (const part of ["start", "end", "asyncStart", "asyncEnd", "error"]) this[part] = typeof name === "string" ? channel(`tracing:${name}:${part}`) : name[part];
  }
  subscribe(listeners) { for (const part of Object.keys(listeners)) this[part]?.subscribe(listeners[part]); }
  unsubscribe(listeners) { return Object.keys(listeners).every((part) => this[part]?.unsubscribe(listeners[part])); }
  traceSync(work, context = {}, self, ...args) {
    this.start.publish(context);
    try {
      return context.result = work.apply(self, args);
    } catch (error) {
      context.error = error;
      this.error.publish(context);
      throw error;
    } finally {
      this.end.publish(context);
    }
  }
  tracePromise(work, context = {}, self, ...args) {
    return Promise.resolve(this.traceSync(work, context, self, ...args)).finally(() => {
      this.asyncStart.publish(context);
      this.asyncEnd.publish(context);
    });
  }
  traceCallback(work, position, context, self, ...args) { return this.traceSync(work, context, self, ...args); }
}

module.exports = {
  channel, Channel, TracingChannel,
  hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false,
  subscribe: (name, listener) => channel(name).subscribe(listener),
  unsubscribe: (name, listener) => channel(name).unsubscribe(listener),
  tracingChannel: (name) => new TracingChannel(name),
};
