// The way out: requests to the host, with what they need of keys, bytes and text.
"use strict";
const natives = require("helve:natives");
const { parse, stringify } = JSON;
let last = 0;

function open(answer) {
  if (typeof answer === "string") return { value: parse(answer), bytes: undefined };
  return { value: parse(answer[0]), bytes: new Uint8Array(answer[1]) };
}

// now asks and waits; the answer is {value, bytes}, bytes being a Uint8Array if there are any.
function now(op, arg, bytes) {
  return open(natives.now(op, stringify(arg ?? null), bytes));
}

// later asks and gives a promise of the same. key, from newKey(), allows drop(key) to take the request back.
async function later(op, arg, bytes, key) {
  return open(await natives.later(op, stringify(arg ?? null), bytes, key));
}

function newKey() {
  return ++last;
}

// text reads bytes as UTF-8 or "latin1"; bytes gives a Uint8Array of a text.
const text = (bytes, encoding) => natives.text(bytes, encoding);
const bytes = (text, encoding) => new Uint8Array(natives.bytes(text, encoding));

// A memo of what the host says of the machine and the process; it does not change while an engine lives.
let told;
function info() {
  return (told ??= now("proc.info").value);
}

// The folder scripts work in is the engine's own; the host gets absolute paths.
let folder;
const cwd = () => (folder ??= info().cwd);
function chdir(to) {
  folder = to;
}

// The engine answers "timer" and "cancelled" itself.
function timer(ms, key) {
  return natives.later("timer", `{"ms":${ms}}`, undefined, key);
}

module.exports = { now, later, drop: natives.drop, newKey, text, bytes, info, cwd, chdir, timer, cancelled: () => natives.later("cancelled", "null") };
