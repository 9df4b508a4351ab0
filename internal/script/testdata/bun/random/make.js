// Writes a table of expressions made at random:  bun make.js seed
"use strict";
let state = Number(process.argv[2] ?? 1);
function below(n) {
  state = (state * 1103515245 + 12345) % 2147483648;
  return Math.floor(state / 65536) % n;
}
const pick = (list) => list[below(list.length)];
const several = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const quote = JSON.stringify;
const out = new Set();

function path(sep) {
  const parts = several(below(5), () => pick(["a", "b", "..", ".", "", "c.txt", ".x", "a b", "C:", "é", "x.y.z", "..a"]) + pick([sep, sep, "/", sep + sep, ""]));
  return pick(["", "/", sep, "//", ""]) + parts.join("");
}
for (let i = 0; i < 200; i++) {
  const windows = below(3) === 0;
  const name = pick(["join", "resolve", "normalize", "dirname", "basename", "extname", "relative", "parse", "isAbsolute"]);
  const count = name === "join" || name === "resolve" ? 1 + below(3) : name === "relative" ? 2 : 1;
  const args = several(count, (at) => {
    const rooted = name === "relative" || name === "resolve" && at === 0;
    return quote((rooted ? (windows ? "C:\\" : "/") : "") + path(windows ? "\\" : "/"));
  });
  if (name === "parse" && /\.\.[\\/]*"$/.test(args[0])) continue; // Bun sees an extension in ".."
  out.add(`require("path")${windows ? ".win32" : ""}.${name}(${args.join(", ")})`);
}

const bits = ["a", "/", "?", "#", ":", "@", "..", ".", "%20", "%zz", " ", "é", "\\", "[", "]", "&", "=", "+", "x=1", "b.c", "8080", "%2e", "|", "'", "\"", "<", "^", "{"];
const starts = ["http://", "https://a.b", "https://h.example/", "file:///", "x:", "", "//", "http://u:p@h:1/", "http:", "file:", "ws://h", "http://1.2.3.4/", "foo://h"];
for (let i = 0; i < 200; i++) {
  const text = pick(starts) + several(below(6), () => pick(bits)).join("");
  const base = below(2) ? `, ${quote(pick(["http://base.x/p/q?r#s", "file:///d/e", "foo://h/i/j", "https://b"]))}` : "";
  out.add(`(() => { const u = new URL(${quote(text)}${base}); return [u.href, u.host, u.pathname, u.search, u.hash, u.username, u.password, u.port, String(u.searchParams)]; })()`);
}

function value(depth) {
  switch (below(depth > 3 ? 9 : 16)) {
    case 0: return String(below(100000) - 500);
    case 1: return quote(pick(["", "a", "it's", "x\ny", "long text ".repeat(below(6)), "é"]));
    case 2: return pick(["true", "null", "undefined", "NaN", "-0", "5n", "1.5e300", "Symbol('s')"]);
    case 3: return "new Date(86400000)";
    case 4: return "/r/gi";
    case 5: return pick(["() => {}", "function f() {}", "class K {}"]);
    case 6: return "new Uint8Array([1, 2, 3])";
    case 7: return "Buffer.from('xyz')";
    case 8: return quote("w".repeat(below(30)));
    case 9: case 10: return `[${several(below(12), () => value(depth + 1)).join(", ")}]`;
    case 11: case 12: case 13: return `{ ${several(below(6), (i) => `${pick([`k${i}`, `key${i}`, `'a-b${i}'`, `longerKeyName${i}`])}: ${value(depth + 1)}`).join(", ")} }`;
    case 14: return `new Map([[${value(depth + 1)}, ${value(depth + 1)}]])`;
  }
  return `new Set([${value(depth + 1)}])`;
}
for (let i = 0; i < 200; i++) out.add(`require("util").inspect(${value(0)})`);
for (let i = 0; i < 30; i++) {
  const item = below(2) ? `(i * ${1 + below(999)}) % ${1 + below(5000)}` : `"q".repeat((i * ${1 + below(99)}) % ${1 + below(14)})`;
  out.add(`require("util").inspect(Array.from({ length: ${7 + below(100)} }, (_, i) => ${item}))`);
}
const styles = ["undefined", "{ maximumFractionDigits: 1 }", "{ style: 'currency', currency: 'USD' }", "{ notation: 'compact' }", "{ style: 'percent' }", "{ minimumFractionDigits: 2, maximumFractionDigits: 4 }"];
for (let i = 0; i < 60; i++) {
  const number = (below(2) ? "" : "-") + below(1e6) / pick([1, 10, 100, 1000, 7]) + pick(["", "e5", "e-5"]);
  out.add(`(${number}).toLocaleString(undefined, ${pick(styles)})`);
}
for (let i = 0; i < 50; i++) {
  const words = several(8, () => quote(several(1 + below(4), () => pick(["a", "B", "b", "A", "1", "10", "_", "-", " ", ".", "é", "z", "Z", "/"])).join("")));
  out.add(`[${words.join(", ")}].sort((a, b) => a.localeCompare(b))`);
}
for (let i = 0; i < 60; i++) {
  const text = several(below(9), () => pick(["a", "Z", "=", "+", "/", "-", "_", " ", "é", "0", "f", "g", "\n"])).join("");
  out.add(`Buffer.from(${quote(text)}, ${quote(pick(["base64", "hex", "base64url", "utf8", "latin1", "utf16le"]))}).toString(${quote(pick(["hex", "base64", "utf8", "latin1", "base64url"]))})`);
}
console.log([...out].join("\n"));
