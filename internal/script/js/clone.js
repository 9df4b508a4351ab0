// Copies of values, with all that hangs on them.
"use strict";

function refuse(value) {
  const { DOMException } = require("abort");
  return new DOMException("The object can not be cloned.", "DataCloneError", value);
}

const errors = { Error, TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError };

function copy(value, known) {
  if (typeof value === "symbol" || typeof value === "function") throw refuse(value);
  if (typeof value !== "object" || value === null) return value;
  if (known.has(value)) return known.get(value);
  const keep = (made) => {
    known.set(value, made);
    return made;
  };
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt) return keep(Object(value.valueOf()));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) {
    const buffer = copy(value.buffer, known);
    const Type = value instanceof DataView ? DataView : value instanceof Uint8Array ? Uint8Array : value.constructor;
    return keep(new Type(buffer, value.byteOffset, value instanceof DataView ? value.byteLength : value.length));
  }
  if (value instanceof Map) {
    const made = keep(new Map());
    for (const [key, one] of [...value]) made.set(copy(key, known), copy(one, known));
    return made;
  }
  if (value instanceof Set) {
    const made = keep(new Set());
    for (const one of [...value]) made.add(copy(one, known));
    return made;
  }
  if (value instanceof Error) {
    const made = keep(new (errors[value.name] ?? Error)(value.message));
    Object.defineProperty(made, "stack", { value: value.stack, configurable: true, writable: true });
    if ("cause" in value) Object.defineProperty(made, "cause", { value: copy(value.cause, known), configurable: true, writable: true });
    return made;
  }
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) throw refuse(value);
  const made = keep(Array.isArray(value) ? new Array(value.length) : {});
  for (const key of Object.keys(value)) made[key] = copy(value[key], known);
  return made;
}

function structuredClone(value, options) {
  if (arguments.length === 0) throw new TypeError("structuredClone requires 1 argument");
  const made = copy(value, new Map());
  for (const one of options?.transfer ?? []) if (one instanceof ArrayBuffer) one.transfer();
  return made;
}

module.exports = { structuredClone };
