// Versions and ranges of them, as package managers write them.
"use strict";

const shape = /^\s*v?=?\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?\s*$/;

function parse(text) {
  const m = shape.exec(String(text));
  return m ? { n: [Number(m[1]), Number(m[2] ?? 0), Number(m[3] ?? 0)], pre: m[4]?.split(".") ?? [] } : undefined;
}

function compare(a, b) {
  for (let i = 0; i < 3; i++) if (a.n[i] !== b.n[i]) return a.n[i] < b.n[i] ? -1 : 1;
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length);
  for (let i = 0; i < Math.max(a.pre.length, b.pre.length); i++) {
    const x = a.pre[i], y = b.pre[i];
    if (x === y) continue;
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    const [m, n] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (m && n) return Number(x) < Number(y) ? -1 : 1;
    return m !== n ? (m ? -1 : 1) : x < y ? -1 : 1;
  }
  return 0;
}

function order(a, b) {
  const [x, y] = [parse(a), parse(b)];
  if (!x || !y) throw new TypeError(`Invalid SemVer: ${x ? b : a}`);
  return compare(x, y);
}

const version = (major, minor = 0, patch = 0, pre = []) => ({ n: [major, minor, patch], pre });

// bounds are the tests of one comparator: pairs of an operator and a version.
function bounds(text) {
  const m = /^(>=|<=|>|<|=|\^|~>?)?\s*v?(\d+|[xX*])?(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+\S*)?$/.exec(text);
  if (!m) return undefined;
  const given = m.slice(2, 5).map((part) => (part === undefined || /[xX*]/.test(part) ? undefined : Number(part)));
  const [major, minor, patch] = given;
  const pre = m[5]?.split(".") ?? [];
  if (major === undefined) return [];
  const low = version(major, minor ?? 0, patch ?? 0, pre);
  const after = minor === undefined ? version(major + 1) : version(major, minor + 1);
  switch (m[1]) {
    case "^": return [[">=", low], ["<", major > 0 || minor === undefined ? version(major + 1) : minor > 0 || patch === undefined ? version(0, minor + 1) : version(0, 0, patch + 1)]];
    case "~": case "~>": return [[">=", low], ["<", after]];
    case ">": return patch === undefined ? [[">=", after]] : [[">", low]];
    case "<=": return patch === undefined ? [["<", after]] : [["<=", low]];
    case ">=": case "<": return [[m[1], low]];
  }
  return patch === undefined ? [[">=", low], ["<", after]] : [["=", low]];
}

function holds(v, [operator, bound]) {
  const c = compare(v, bound);
  return { ">=": c >= 0, ">": c > 0, "<=": c <= 0, "<": c < 0, "=": c === 0 }[operator];
}

function satisfies(text, range) {
  const v = /\d+\.\d+\.\d+/.test(text) ? parse(text) : undefined;
  if (!v) return false;
  return String(range).split("||").some((one) => {
    const span = /^\s*(\S+)\s+-\s+(\S+)\s*$/.exec(one);
    const parts = span ? [`>=${span[1]}`, `<=${span[2]}`] : one.trim().replace(/(>=|<=|>|<|=|\^|~>?)\s+/g, "$1").split(/\s+/).filter(Boolean);
    const flat = parts.flatMap((part) => bounds(part) ?? []); // a word that is no version, as a tag, is no bound
    if (!flat.every((bound) => holds(v, bound))) return false;
    // A version before its release only fits a range that names such a one of the same numbers.
    return v.pre.length === 0 || flat.some(([, b]) => b.pre.length > 0 && b.n.every((n, i) => n === v.n[i]));
  });
}

module.exports = { order, satisfies };
