// The global objects. Each is made when it is first asked for, so that what is not used costs nothing.
"use strict";

// Where globals come from: a module and its export; "" is the module itself.
const places = {
  AbortController: ["abort", "AbortController"],
  AbortSignal: ["abort", "AbortSignal"],
  Blob: ["blob", "Blob"],
  Buffer: ["buffer", "Buffer"],
  Bun: ["bun", ""],
  ByteLengthQueuingStrategy: ["stream/web", "ByteLengthQueuingStrategy"],
  CompressionStream: ["stream/web", "CompressionStream"],
  CountQueuingStrategy: ["stream/web", "CountQueuingStrategy"],
  Crypto: ["crypto", "Crypto"],
  CustomEvent: ["abort", "CustomEvent"],
  DOMException: ["abort", "DOMException"],
  DecompressionStream: ["stream/web", "DecompressionStream"],
  Event: ["abort", "Event"],
  EventTarget: ["abort", "EventTarget"],
  File: ["blob", "File"],
  FormData: ["fetch", "FormData"],
  Headers: ["fetch", "Headers"],
  Intl: ["intl", "Intl"],
  ReadableStream: ["stream/web", "ReadableStream"],
  Request: ["fetch", "Request"],
  Response: ["fetch", "Response"],
  TextDecoder: ["buffer", "TextDecoder"],
  TextDecoderStream: ["stream/web", "TextDecoderStream"],
  TextEncoder: ["buffer", "TextEncoder"],
  TextEncoderStream: ["stream/web", "TextEncoderStream"],
  TransformStream: ["stream/web", "TransformStream"],
  URL: ["url", "URL"],
  URLSearchParams: ["url", "URLSearchParams"],
  WritableStream: ["stream/web", "WritableStream"],
  atob: ["buffer", "atob"],
  btoa: ["buffer", "btoa"],
  clearImmediate: ["timers", "clearImmediate"],
  clearInterval: ["timers", "clearInterval"],
  clearTimeout: ["timers", "clearTimeout"],
  console: ["console", ""],
  crypto: ["crypto", "webcrypto"],
  fetch: ["fetch", "fetch"],
  performance: ["perf_hooks", "performance"],
  process: ["process", ""],
  setImmediate: ["timers", "setImmediate"],
  setInterval: ["timers", "setInterval"],
  setTimeout: ["timers", "setTimeout"],
  structuredClone: ["clone", "structuredClone"],
};

const define = Object.defineProperty;
function put(object, name, value, enumerable = false) {
  define(object, name, { value, enumerable, configurable: true, writable: true });
}

for (const name of Object.keys(places)) {
  const [from, key] = places[name];
  define(globalThis, name, {
    enumerable: false,
    configurable: true,
    get() {
      const all = require(from);
      const value = key === "" ? all : all[key];
      put(globalThis, name, value);
      return value;
    },
    set(value) {
      put(globalThis, name, value);
    },
  });
}

put(globalThis, "global", globalThis);
put(globalThis, "self", globalThis);
put(globalThis, "queueMicrotask", function queueMicrotask(callback) {
  if (typeof callback !== "function") {
    throw require("helve:check").wrongType("callback", "of type function", callback);
  }
  Promise.resolve().then(() => callback());
});
put(globalThis, "reportError", function reportError(error) {
  require("console").error(error);
});
put(globalThis, "navigator", Object.freeze({ userAgent: "Bun/1.4.4", hardwareConcurrency: 1, language: "en-US" }));

// Errors of JSON.parse are read by models and matched by tools, so they are in Bun's words.
const parseJSON = JSON.parse;
put(JSON, "parse", function parse(text, reviver) {
  try {
    return parseJSON(text, reviver);
  } catch (error) {
    const message = error instanceof SyntaxError ? require("helve:json").wrong(String(text)) : undefined;
    if (message !== undefined) error.message = message;
    throw error;
  }
});

// What the engine lacks of the language.
for (const name of ["dispose", "asyncDispose"]) {
  if (!(name in Symbol)) define(Symbol, name, { value: Symbol(`Symbol.${name}`) });
}
put(Error, "stackTraceLimit", 10, true);
put(Error, "captureStackTrace", function captureStackTrace(object) {
  if (object === null || typeof object !== "object" && typeof object !== "function") throw new TypeError("First argument must be an object");
  put(object, "stack", `${object}\n${new Error().stack.split("\n").slice(1).join("\n")}`);
});
if (!Array.fromAsync) {
  put(Array, "fromAsync", async function fromAsync(items, map, self) {
    const all = [];
    let i = 0;
    const add = async (item) => { all.push(map ? await map.call(self, item, i) : item); i++; };
    if (items[Symbol.asyncIterator] || items[Symbol.iterator]) for await (const item of items) await add(item);
    else for (let at = 0; at < items.length; at++) await add(await items[at]);
    return all;
  });
}

// Text in the way of the United States, which is the only one there is. The engine's own methods know no languages.
for (const [type, names] of [
  [Number, ["toLocaleString"]], [BigInt, ["toLocaleString"]],
  [Date, ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]],
]) {
  for (const name of names) {
    const method = { [name](...args) { return require("intl")[type.name][name](this, ...args); } }[name];
    put(type.prototype, name, method);
  }
}
let compareTexts;
put(String.prototype, "localeCompare", function localeCompare(other, locales, options) {
  compareTexts ??= require("intl").compareTexts;
  return compareTexts(String(this), String(other), options);
});
