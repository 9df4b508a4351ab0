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

// So are the others of functions that come with the language. A word is the engine's message and what to say for it; "" is any.
function reword(object, name, words) {
  const given = object[name];
  const made = { [name](...args) {
    try {
      return given.apply(this, args);
    } catch (error) {
      throw inWords(error, words);
    }
  } }[name];
  define(made, "length", { value: given.length, configurable: true });
  put(object, name, made);
}
function inWords(error, words) {
  try {
    const said = words[error.message] ?? words[""];
    if (said !== undefined && Object.getPrototypeOf(error) !== Error.prototype && Object.hasOwn(error, "message")) put(error, "message", said);
  } catch {} // it is no error of the engine
  return error;
}
reword(JSON, "stringify", { "circular reference": "JSON.stringify cannot serialize cyclic structures.", "Do not know how to serialize a BigInt": "JSON.stringify cannot serialize BigInt." });
reword(Date.prototype, "toISOString", { "Date value is NaN": "Invalid Date" });
reword(String.prototype, "repeat", { "invalid repeat count": "String.prototype.repeat argument must be greater than or equal to 0 and not be Infinity" });
reword(String.prototype, "normalize", { "bad normalization form": "argument does not match any normalization form" });
reword(String, "fromCodePoint", { "invalid code point": "Arguments contain a value that is out of range of code points" });
for (const [name, from] of [["toFixed", 0], ["toExponential", 0], ["toPrecision", 1]]) {
  reword(Number.prototype, name, { "invalid number of digits": `${name}() argument must be between ${from} and 100` });
}
reword(Number.prototype, "toString", { "radix must be between 2 and 36": "toString() radix argument must be between 2 and 36" });
for (const name of ["matchAll", "replaceAll"]) {
  reword(String.prototype, name, { "regexp must have the 'g' flag": `String.prototype.${name} argument must not be a non-global regular expression` });
}
for (const name of ["reduce", "reduceRight"]) reword(Array.prototype, name, { "empty array": `${name} of empty array with no initial value` });
for (const name of ["decodeURIComponent", "decodeURI"]) reword(globalThis, name, { "expecting hex digit": "URI error", "malformed UTF-8": "URI error", "expecting %": "URI error" });
for (const name of ["encodeURIComponent", "encodeURI"]) reword(globalThis, name, { "expecting surrogate pair": "String contained an illegal UTF-16 sequence.", "invalid character": "String contained an illegal UTF-16 sequence." });

// rewordType does it for a function that may be constructed.
function rewordType(name, words) {
  const given = globalThis[name];
  const made = new Proxy(given, {
    construct(type, args, target) {
      try {
        return Reflect.construct(type, args, target === made ? type : target);
      } catch (error) {
        throw inWords(error, words(args));
      }
    },
    apply(type, self, args) {
      try {
        return type(...args);
      } catch (error) {
        throw inWords(error, words(args));
      }
    },
  });
  put(given.prototype, "constructor", made);
  put(globalThis, name, made);
}
rewordType("BigInt", () => ({
  "invalid bigint literal": "Failed to parse String to BigInt", "cannot convert to BigInt: not an integer": "Not an integer", "cannot convert to BigInt": "Invalid argument type in ToBigInt operation",
}));
const wrongPattern = {
  "expecting ')'": "missing )", "extraneous characters at the end": "unmatched parentheses", "nothing to repeat": "nothing to repeat", "invalid group": "unrecognized character after (?", "invalid group name": "invalid group specifier name",
  "unknown unicode property name": "invalid property expression", "invalid repetition count": "numbers out of order in {} quantifier", "invalid class range": "range out of order in character class", "duplicate group name": "duplicate group specifier name", "syntax error": "incomplete {} quantifier for Unicode pattern", "group name not defined": "invalid \\k<> named backreference",
};
for (const key of Object.keys(wrongPattern)) wrongPattern[key] = `Invalid regular expression: ${wrongPattern[key]}`;
wrongPattern["invalid regular expression flags"] = "Invalid flags supplied to RegExp constructor.";
rewordType("RegExp", ([pattern]) => ({
  ...wrongPattern, "unexpected end": `Invalid regular expression: ${/\\$/.test(String(pattern)) ? "\\ at end of pattern" : "missing terminating ] for character class"}`,
}));

// The time zone's name belongs to the text of a time.
for (const name of ["toString", "toTimeString"]) {
  const given = Date.prototype[name];
  put(Date.prototype, name, { [name]() {
    const text = given.call(this);
    return text === "Invalid Date" ? text : `${text} (${require("intl").zoneName(this.getTime())})`;
  } }[name]);
}

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
