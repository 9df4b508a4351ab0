// Timers as promises.
"use strict";
const timers = require("timers");

function aborted(signal) {
  const error = new Error("The operation was aborted", { cause: signal.reason });
  error.name = "AbortError";
  error.code = "ABORT_ERR";
  return error;
}

// wait starts a timer whose end, or a signal's, settles a promise.
function wait(start, clear, value, signal) {
  if (signal?.aborted) return Promise.reject(aborted(signal));
  return new Promise((resolve, reject) => {
    const stop = () => {
      clear(timer);
      reject(aborted(signal));
    };
    const timer = start(() => {
      signal?.removeEventListener("abort", stop);
      resolve(value);
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function setTimeout(ms, value, options) {
  return wait((done) => timers.setTimeout(done, ms), timers.clearTimeout, value, options?.signal);
}
function setImmediate(value, options) {
  return wait((done) => timers.setImmediate(done), timers.clearImmediate, value, options?.signal);
}
async function* setInterval(ms, value, options) {
  for (;;) yield await setTimeout(ms, value, options);
}

const scheduler = { wait: (ms, options) => setTimeout(ms, undefined, options), yield: () => setImmediate() };
module.exports = { setTimeout, setImmediate, setInterval, scheduler };
