// The clock, since the engine began to use it.
"use strict";
const host = require("helve:host");
const origin = Date.now();
let last = 0;

// now never goes back. The host may have a finer clock than Date.
function now() {
  let ms;
  try {
    ms = host.now("clock").value;
  } catch {
    ms = Date.now() - origin;
  }
  last = Math.max(last, ms);
  return last;
}

const entries = [];
class PerformanceEntry {
  constructor(name, entryType, startTime, duration, detail) {
    Object.assign(this, { name, entryType, startTime, duration, detail: detail ?? null });
  }
  toJSON() { return { ...this }; }
}
class PerformanceMark extends PerformanceEntry {}
class PerformanceMeasure extends PerformanceEntry {}

function timeOf(mark) {
  if (mark === undefined) return undefined;
  if (typeof mark === "number") return mark;
  const found = entries.findLast((entry) => entry.name === mark && entry.entryType === "mark");
  if (!found) throw new SyntaxError(`The "${mark}" performance mark has not been set`);
  return found.startTime;
}

const performance = {
  timeOrigin: origin,
  now,
  mark(name, options) {
    const mark = new PerformanceMark(String(name), "mark", options?.startTime ?? now(), 0, options?.detail);
    entries.push(mark);
    return mark;
  },
  measure(name, from, to) {
    const o = typeof from === "object" && from !== null ? from : { start: from, end: to };
    const end = timeOf(o.end) ?? (o.duration !== undefined && o.start !== undefined ? timeOf(o.start) + o.duration : now());
    const start = timeOf(o.start) ?? (o.duration !== undefined ? end - o.duration : 0);
    const measure = new PerformanceMeasure(String(name), "measure", start, end - start, o.detail);
    entries.push(measure);
    return measure;
  },
  getEntries: () => [...entries],
  getEntriesByName: (name, type) => entries.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type)),
  getEntriesByType: (type) => entries.filter((entry) => entry.entryType === type),
  clearMarks: (name) => clear("mark", name),
  clearMeasures: (name) => clear("measure", name),
  timerify: (f) => f,
  eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }),
  toJSON: () => ({ timeOrigin: origin }),
};
function clear(type, name) {
  for (let i = entries.length - 1; i >= 0; i--) {
    if (entries[i].entryType === type && (name === undefined || entries[i].name === name)) entries.splice(i, 1);
  }
}

module.exports = { performance, PerformanceEntry, PerformanceMark, PerformanceMeasure, constants: {} };
