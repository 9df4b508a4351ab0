// What is said goes to the log of the host, never to the output of the process.
"use strict";
const host = require("helve:host");

const counts = new Map(), times = new Map();
let indent = "";

function say(level, args) {
  let text = args.length === 1 && typeof args[0] === "string" ? args[0] : require("helve:inspect").format(...args);
  if (indent !== "") text = indent + text.replaceAll("\n", `\n${indent}`);
  host.now("log", { level, text });
}

const clock = () => require("perf_hooks").performance.now();
function lasted(label) {
  const began = times.get(label);
  if (began === undefined) {
    say("warn", [`Timer '${label}' does not exist`]);
    return undefined;
  }
  return `${label}: ${(clock() - began).toFixed(2)}ms`;
}

// tableOf draws rows and columns with lines around them.
function tableOf(data, only) {
  const isRow = (v) => v !== null && typeof v === "object";
  const { inspect } = require("helve:inspect");
  const rows = data instanceof Map || data instanceof Set ? [...data.entries()] : Object.entries(data);
  const columns = only ?? [...new Set(rows.flatMap(([, row]) => (isRow(row) ? Object.keys(row) : [])))];
  const values = !only && rows.some(([, row]) => !isRow(row));
  const show = (v) => (v === undefined ? "" : inspect(v, { depth: 0 }));
  const head = ["", ...columns, ...(values ? ["Values"] : [])];
  const body = rows.map(([key, row]) => [String(key), ...columns.map((name) => (isRow(row) ? show(row[name]) : "")), ...(values ? [isRow(row) ? "" : show(row)] : [])]);
  const widths = head.map((name, i) => Math.max(name.length, ...body.map((row) => row[i].length)) + 2);
  const line = (left, mid, right) => left + widths.map((w) => "─".repeat(w)).join(mid) + right;
  const cells = (row) => `│${row.map((cell, i) => ` ${cell}`.padEnd(widths[i])).join("│")}│`;
  return [line("┌", "┬", "┐"), cells(head), line("├", "┼", "┤"), ...body.map(cells), line("└", "┴", "┘")].join("\n");
}

class Console {
  constructor() {
    return Object.create(console);
  }
}

const console = {
  log: (...args) => say("info", args),
  info: (...args) => say("info", args),
  debug: (...args) => say("debug", args),
  warn: (...args) => say("warn", args),
  error: (...args) => say("error", args),
  trace: (...args) => say("error", [`Trace${args.length > 0 ? `: ${require("helve:inspect").format(...args)}` : ""}\n${new Error().stack}`]),
  dir: (value, options) => say("info", [require("helve:inspect").inspect(value, { customInspect: false, ...options })]),
  dirxml: (...args) => say("info", args),
  assert(good, ...args) {
    if (good) return;
    if (typeof args[0] === "string") args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift("Assertion failed");
    say("error", args);
  },
  count(label = "default") {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    say("info", [`${label}: ${counts.get(label)}`]);
  },
  countReset: (label = "default") => { counts.delete(label); },
  group(...args) {
    if (args.length > 0) say("info", args);
    indent += "  ";
  },
  groupEnd: () => { indent = indent.slice(2); },
  time: (label = "default") => { times.set(label, clock()); },
  timeEnd(label = "default") {
    const text = lasted(label);
    if (text !== undefined) say("info", [text]);
    times.delete(label);
  },
  timeLog(label = "default", ...args) {
    const text = lasted(label);
    if (text !== undefined) say("info", [text, ...args]);
  },
  table: (data, columns) => say("info", data === null || typeof data !== "object" ? [data] : [tableOf(data, columns)]),
  clear() {}, profile() {}, profileEnd() {}, timeStamp() {},
  write: (...all) => { say("info", all.map((one) => (typeof one === "string" ? one : host.text(one)))); return 0; },
  Console,
};
console.groupCollapsed = console.group;
module.exports = console;
