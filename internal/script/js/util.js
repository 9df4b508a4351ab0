// Small helps.
"use strict";
const { coded, wrongType, wrongValue, needFunction } = require("helve:check");
const { inspect, format, formatWithOptions, colors } = require("helve:inspect");
const { known } = require("helve:errno");

const custom = Symbol.for("nodejs.util.promisify.custom");

function promisify(original) {
  needFunction(original, "original");
  const own = original[custom];
  if (own !== undefined) {
    needFunction(own, "util.promisify.custom");
    return Object.defineProperty(own, custom, { value: own, configurable: true });
  }
  const made = function (...args) {
    return new Promise((resolve, reject) => {
      original.call(this, ...args, (error, ...values) => (error ? reject(error) : resolve(values[0])));
    });
  };
  Object.setPrototypeOf(made, Object.getPrototypeOf(original));
  Object.defineProperties(made, Object.getOwnPropertyDescriptors(original));
  return Object.defineProperty(made, custom, { value: made, configurable: true });
}
promisify.custom = custom;

function callbackify(original) {
  needFunction(original, "original");
  return function (...args) {
    const callback = args.pop();
    if (typeof callback !== "function") throw wrongType("last argument", "of type function", callback);
    const next = (f) => require("process").nextTick(f);
    Reflect.apply(original, this, args).then(
      (value) => next(() => callback.call(this, null, value)),
      (error) => next(() => callback.call(this, error || Object.assign(coded(Error, "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with a falsy value"), { reason: error }))),
    );
  };
}

function inherits(child, parent) {
  if (parent?.prototype === undefined) throw wrongType("superCtor.prototype", "of type object", parent?.prototype);
  Object.defineProperty(child, "super_", { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

const warned = new Set();
function deprecate(f, message, code) {
  let told = false;
  const made = function (...args) {
    if (!told && !warned.has(code)) {
      told = true;
      if (code !== undefined) warned.add(code);
      require("process").emitWarning(`DeprecationWarning: ${message}`);
    }
    return new.target ? Reflect.construct(f, args, new.target) : Reflect.apply(f, this, args);
  };
  Object.setPrototypeOf(made, f);
  if (f.prototype) made.prototype = f.prototype;
  return made;
}

function debuglog(set) {
  const on = () => new RegExp(`(^|,)${RegExp.escape(set)}(,|$)`, "i").test(require("process").env.NODE_DEBUG ?? "");
  return Object.assign((...args) => { if (on()) require("console").error(`${set.toUpperCase()} ${require("process").pid}: ${format(...args)}`); }, { get enabled() { return on(); } });
}

// ---- equality ----

function same(a, b, strict, seen) {
  if (Object.is(a, b)) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
    if (strict) return false;
    return (typeof a !== "object" || a === null) && (typeof b !== "object" || b === null) && (a == b || a !== a && b !== b); // eslint-disable-line eqeqeq
  }
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (seen.some(([x, y]) => x === a && y === b)) return true;
  const all = [...seen, [a, b]];
  if (a instanceof Date) { if (!Object.is(a.getTime(), b.getTime())) return false; }
  else if (a instanceof RegExp) { if (String(a) !== String(b) || a.lastIndex !== b.lastIndex) return false; }
  else if (a instanceof Error) { if (a.message !== b.message || a.name !== b.name || !same(a.cause, b.cause, strict, all)) return false; }
  else if (a instanceof Number || a instanceof String || a instanceof Boolean || a instanceof BigInt || a instanceof Symbol) {
    if (!Object.is(a.valueOf(), b.valueOf())) return false;
  } else if (a instanceof ArrayBuffer) {
    if (!same(new Uint8Array(a), new Uint8Array(b), strict, all)) return false;
  } else if (a instanceof Set) {
    if (a.size !== b.size || ![...a].every((one) => b.has(one) || [...b].some((other) => typeof one === "object" && same(one, other, strict, all)))) return false;
  } else if (a instanceof Map) {
    if (a.size !== b.size) return false;
    for (const [key, value] of a) {
      if (b.has(key)) { if (!same(value, b.get(key), strict, all)) return false; }
      else if (![...b].some(([k, v]) => typeof key === "object" && same(key, k, strict, all) && same(value, v, strict, all))) return false;
    }
  } else if (a instanceof WeakMap || a instanceof WeakSet || a instanceof Promise) return false;
  if (Array.isArray(a) && a.length !== b.length) return false;
  const keys = visible(a, strict), others = visible(b, strict);
  return keys.length === others.length && keys.every((key) => Object.prototype.propertyIsEnumerable.call(b, key) && same(a[key], b[key], strict, all));
}
function visible(v, strict) {
  const names = Object.keys(v);
  return strict ? [...names, ...Object.getOwnPropertySymbols(v).filter((s) => Object.prototype.propertyIsEnumerable.call(v, s))] : names;
}
const isDeepStrictEqual = (a, b) => same(a, b, true, []);
const isDeepEqual = (a, b) => same(a, b, false, []);

// ---- kinds ----

const tag = (v) => Object.prototype.toString.call(v).slice(8, -1);
const types = {
  isPromise: (v) => v instanceof Promise, isRegExp: (v) => v instanceof RegExp, isDate: (v) => v instanceof Date,
  isNativeError: (v) => Error.isError(v), isMap: (v) => v instanceof Map, isSet: (v) => v instanceof Set,
  isWeakMap: (v) => v instanceof WeakMap, isWeakSet: (v) => v instanceof WeakSet,
  isMapIterator: (v) => v != null && typeof v === "object" && tag(v) === "Map Iterator", isSetIterator: (v) => v != null && typeof v === "object" && tag(v) === "Set Iterator",
  isAsyncFunction: (v) => typeof v === "function" && ["AsyncFunction", "AsyncGeneratorFunction"].includes(tag(v)),
  isGeneratorFunction: (v) => typeof v === "function" && ["GeneratorFunction", "AsyncGeneratorFunction"].includes(tag(v)),
  isGeneratorObject: (v) => v != null && tag(v) === "Generator", isArgumentsObject: (v) => v != null && tag(v) === "Arguments",
  isAnyArrayBuffer: (v) => v instanceof ArrayBuffer || v instanceof SharedArrayBuffer, isArrayBuffer: (v) => v instanceof ArrayBuffer,
  isSharedArrayBuffer: (v) => v instanceof SharedArrayBuffer, isArrayBufferView: (v) => ArrayBuffer.isView(v), isDataView: (v) => v instanceof DataView,
  isTypedArray: (v) => ArrayBuffer.isView(v) && !(v instanceof DataView),
  isBoxedPrimitive: (v) => v instanceof Number || v instanceof String || v instanceof Boolean || v instanceof BigInt || v instanceof Symbol,
  isNumberObject: (v) => v instanceof Number, isStringObject: (v) => v instanceof String, isBooleanObject: (v) => v instanceof Boolean,
  isBigIntObject: (v) => v instanceof BigInt, isSymbolObject: (v) => v instanceof Symbol, isProxy: () => false, isModuleNamespaceObject: () => false, isExternal: () => false,
};
for (const Type of [Uint8Array, Uint8ClampedArray, Uint16Array, Uint32Array, Int8Array, Int16Array, Int32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array]) {
  types[`is${Type.name}`] = (v) => v instanceof Type;
}

// ---- texts ----

function stripVTControlCharacters(text) {
  if (typeof text !== "string") throw wrongType("str", "of type string", text);
  return text.replace(/[\u001b\u009b](?:\][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|[[\]()#;?]*(?:\d{1,4}(?:[;:]\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~])/g, "");
}

// styleText colours a text only for those who do not care where it goes: nothing here is a terminal.
function styleText(style, text, options) {
  if (typeof text !== "string") throw wrongType("text", "of type string", text);
  let [before, after] = ["", ""];
  for (const name of [style].flat()) {
    const pair = colors[name];
    if (!pair) throw wrongValue("format", name, `must be one of: ${Object.keys(colors).map((one) => `'${one}'`).join(", ")}`);
    before += `\x1b[${pair[0]}m`;
    after = `\x1b[${pair[1]}m${after}`;
  }
  return options?.validateStream === false ? before + text + after : text;
}

// parseArgs reads the options of a command line.
function parseArgs({ args = require("process").argv.slice(2), options = {}, strict = true, allowPositionals = !strict, allowNegative = false } = {}) {
  const values = { __proto__: null }, positionals = [];
  const byShort = new Map(Object.entries(options).filter(([, o]) => o.short).map(([name, o]) => [o.short, name]));
  const put = (name, value) => {
    if (options[name]?.multiple) (values[name] ??= []).push(value);
    else values[name] = value;
  };
  const unknown = (shown) => coded(TypeError, "ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${shown}'`);
  const rest = [...args];
  const take = (name, shown, inline) => {
    const o = options[name];
    if (!o && strict) throw unknown(shown);
    if (o?.type === "string") {
      const value = inline ?? (rest.length > 0 && (!strict || !/^-./.test(rest[0])) ? rest.shift() : undefined);
      if (value === undefined && strict) throw coded(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${o.short ? `-${o.short}, ` : ""}--${name} <value>' argument missing`);
      put(name, value ?? true);
    } else if (inline !== undefined && strict) throw coded(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${o?.short ? `-${o.short}, ` : ""}--${name}' does not take an argument`);
    else put(name, inline ?? true);
  };
  while (rest.length > 0) {
    const arg = rest.shift();
    if (arg === "--") {
      positionals.push(...rest.splice(0));
    } else if (arg.startsWith("--")) {
      const at = arg.indexOf("=");
      const name = arg.slice(2, at < 0 ? undefined : at);
      if (allowNegative && name.startsWith("no-") && options[name.slice(3)]?.type === "boolean") put(name.slice(3), false);
      else take(name, `--${name}`, at < 0 ? undefined : arg.slice(at + 1));
    } else if (arg.length > 1 && arg.startsWith("-")) {
      const name = byShort.get(arg[1]) ?? arg[1];
      if (options[name]?.type === "string" && arg.length > 2) take(name, `-${arg[1]}`, arg.slice(2));
      else {
        if (arg.length > 2) rest.unshift(`-${arg.slice(2)}`);
        take(name, `-${arg[1]}`);
      }
    } else positionals.push(arg);
    if (positionals.length > 0 && !allowPositionals) {
      throw coded(TypeError, "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL", `Unexpected argument '${positionals[0]}'. This command does not take positional arguments`);
    }
  }
  for (const [name, o] of Object.entries(options)) if (o.default !== undefined && values[name] === undefined) values[name] = o.default;
  return { values, positionals };
}

function getSystemErrorName(n) {
  return Object.keys(known).find((name) => known[name][0] === -n);
}

const util = {
  promisify, callbackify, inherits, deprecate, debuglog, debug: debuglog, inspect, format, formatWithOptions, isDeepStrictEqual, types,
  stripVTControlCharacters, styleText, parseArgs, getSystemErrorName, getSystemErrorMap: () => new Map(Object.entries(known).map(([name, [n, text]]) => [-n, [name, text]])),
  toUSVString: (text) => String(text).toWellFormed(), isArray: Array.isArray, isBoolean: (v) => typeof v === "boolean", isNull: (v) => v === null,
  isNullOrUndefined: (v) => v == null, isNumber: (v) => typeof v === "number", isString: (v) => typeof v === "string", isSymbol: (v) => typeof v === "symbol",
  isUndefined: (v) => v === undefined, isRegExp: types.isRegExp, isObject: (v) => v !== null && typeof v === "object", isDate: types.isDate,
  isError: (v) => v instanceof Error, isFunction: (v) => typeof v === "function", isPrimitive: (v) => v === null || typeof v !== "object" && typeof v !== "function",
  isBuffer: (v) => require("buffer").Buffer.isBuffer(v), log: (...args) => require("console").log(...args),
  _extend: (to, from) => Object.assign(to, from),
  aborted: (signal) => new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }))),
};
for (const name of ["TextEncoder", "TextDecoder"]) Object.defineProperty(util, name, { enumerable: true, configurable: true, get: () => require("buffer")[name] });
for (const name of ["AbortController", "AbortSignal"]) Object.defineProperty(util, name, { configurable: true, get: () => globalThis[name] });
Object.defineProperty(util, "isDeepEqual", { value: isDeepEqual });
module.exports = util;
