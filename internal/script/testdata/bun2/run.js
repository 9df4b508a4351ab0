// run.js calls the cases of a table file and gives what came of each, with all that differs from run to run masked.
// A table is a function that is given `t`: t(name, work) runs work and keeps its result or what it threw.
"use strict";

function plain(value, depth = 0) {
  if (value === undefined) return "(undefined)";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `(function ${value.name})`;
  if (typeof value === "number" && !Number.isFinite(value)) return `(${value})`;
  if (typeof value !== "object" || value === null) return value;
  if (depth > 6) return "(deep)";
  if (value instanceof Error) return thrown(value, depth);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    const text = new TextDecoder().decode(bytes);
    return { [value.constructor.name]: text.includes("\ufffd") ? [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("") : text };
  }
  if (Array.isArray(value)) return value.map((v) => plain(v, depth + 1));
  const out = {};
  for (const key of Object.keys(value)) out[key] = plain(value[key], depth + 1);
  return out;
}

function thrown(error, depth = 0) {
  if (typeof error !== "object" || error === null) return { threw: plain(error) };
  const out = { class: error.constructor?.name, name: error.name, message: error.message };
  for (const key of ["code", "errno", "syscall", "path", "spawnargs", "status", "signal", "killed", "cmd", "exitCode", "stdout", "stderr"]) {
    if (error[key] !== undefined && !(key === "code" && typeof error[key] === "function")) out[key] = plain(error[key], depth + 1);
  }
  return out;
}

// late ends the wait for a case that hangs.
const late = (name) => new Promise((_, fail) => { setTimeout(() => fail(new Error(`${name} takes too long`)), 4000); });

// perform gives an object of results by name; masks are pairs of a text and what to write for it.
async function perform(table, dir, url, masks) {
  const out = {};
  const t = async (name, work) => {
    if (name in out) throw new Error(`two cases are named ${name}`);
    out[name] = "(never ended)";
    try {
      out[name] = plain(await Promise.race([work(), late(name)]));
    } catch (error) {
      out[name] = thrown(error);
    }
  };
  t.dir = dir;
  t.url = url;
  await table(t);
  let text = JSON.stringify(out);
  for (const [from, to] of masks) text = text.replaceAll(from, to);
  return JSON.parse(text);
}

module.exports = { perform };
