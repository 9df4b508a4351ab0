// Errors about arguments, in the words of Node as Bun has them.
"use strict";

function coded(Type, code, message) {
  const error = new Type(message);
  error.code = code;
  return error;
}

// received tells of a value what Node tells.
function received(value) {
  if (value == null) return ` Received ${value}`;
  if (typeof value === "function") return value.name ? ` Received function ${value.name}` : " Received function ";
  if (typeof value === "object") {
    const name = value.constructor?.name;
    return name ? ` Received an instance of ${name}` : ` Received ${require("helve:inspect").inspect(value, { depth: -1 })}`;
  }
  let text = require("helve:inspect").inspect(value, { colors: false });
  if (text.length > 28) text = `${text.slice(0, 25)}...`;
  return ` Received type ${typeof value} (${text})`;
}

// wrongType is for an argument that is none of the kinds it must be, told as in "of type string".
function wrongType(name, kinds, value) {
  const what = name.includes(".") ? "property" : "argument";
  const subject = name.endsWith("argument") ? `The ${name}` : `The "${name}" ${what}`;
  return coded(TypeError, "ERR_INVALID_ARG_TYPE", `${subject} must be ${kinds}.${received(value)}`);
}

function wrongValue(name, value, reason = "is invalid") {
  const what = name.includes(".") ? "property" : "argument";
  let text = require("helve:inspect").inspect(value);
  if (text.length > 128) text = `${text.slice(0, 128)}...`;
  return coded(TypeError, "ERR_INVALID_ARG_VALUE", `The ${what} '${name}' ${reason}. Received ${text}`);
}

// grouped writes a number with "_" between thousands, as texts about ranges do.
function grouped(n) {
  const text = String(n);
  if (!/^-?\d{4,}$/.test(text)) return text;
  return text.replace(/\B(?=(\d{3})+$)/g, "_");
}

function outOfRange(name, range, value) {
  const shown = typeof value === "number" && Number.isInteger(value) && Math.abs(value) > 2 ** 32
    ? grouped(value) : typeof value === "bigint" ? `${grouped(value)}n` : String(value);
  return coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "${name}" is out of range. It must be ${range}. Received ${shown}`);
}

function needFunction(value, name) {
  if (typeof value !== "function") throw wrongType(name, "of type function", value);
}

function needString(value, name) {
  if (typeof value !== "string") throw wrongType(name, "of type string", value);
}

function needNumber(value, name) {
  if (typeof value !== "number") throw wrongType(name, "of type number", value);
}

function needInteger(value, name, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) {
  needNumber(value, name);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < min || value > max) throw outOfRange(name, `>= ${min} and <= ${max}`, value);
}

module.exports = { coded, received, wrongType, wrongValue, outOfRange, needFunction, needString, needNumber, needInteger };
