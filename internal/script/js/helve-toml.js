// TOML, as Bun reads it: dates and times are texts.
"use strict";

const escapes = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\x1b", '"': '"', "\\": "\\" };
const deepest = 200;

function put(table, key, value) {
  Object.defineProperty(table, key, { value, enumerable: true, configurable: true, writable: true });
  return value;
}

const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function parse(input) {
  if (typeof input !== "string") throw new TypeError("Expected a string to parse");
  const text = input;
  let at = 0, depth = 0;

  function wrong(what) {
    const line = text.slice(0, at).split("\n").length;
    return new SyntaxError(`TOML Parse error: ${what} on line ${line}`);
  }
  const unexpected = () => wrong(at < text.length ? `Unexpected ${JSON.stringify(text[at])}` : "Unexpected end of file");
  function match(pattern) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  }
  const blank = () => match(/[ \t]*/y);
  const skip = () => match(/(?:[\s\ufeff]+|#[^\n]*)*/y);
  const endLine = () => { if (!match(/[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y)) throw unexpected(); };

  function escaped() {
    const code = match(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([btnfre"\\]))/y);
    if (!code) throw wrong("Invalid escape");
    if (code[4]) return escapes[code[4]];
    const point = parseInt(code[1] ?? code[2] ?? code[3], 16);
    if (point > 0x10ffff) throw wrong("Invalid escape");
    return String.fromCodePoint(point);
  }

  // long reads a text in three quotes, whose first line break does not count.
  function long(quote) {
    at += 3;
    match(/\r?\n/y);
    let out = "";
    for (;;) {
      out += match(quote === '"' ? /[^"\\]*/y : /[^']*/y)[0];
      const end = match(quote === '"' ? /"{3,5}/y : /'{3,5}/y);
      if (end) return out + end[0].slice(3);
      if (text[at] === quote) out += text[at++];
      else if (text[at] !== "\\") throw wrong("Unterminated string");
      else if (!match(/\\[ \t]*\r?\n\s*/y)) out += escaped();
    }
  }

  function string() {
    const quote = text[at];
    if (text.startsWith(quote.repeat(3), at)) return long(quote);
    at++;
    if (quote === "'") {
      const found = match(/([^'\n]*)'/y);
      if (!found) throw wrong("Unterminated string");
      return found[1];
    }
    let out = "";
    for (;;) {
      out += match(/[^"\\\n]*/y)[0];
      if (text[at] === '"') {
        at++;
        return out;
      }
      if (text[at] !== "\\") throw wrong("Unterminated string");
      out += escaped();
    }
  }

  function keys() {
    const all = [];
    do {
      blank();
      if (text[at] === '"' || text[at] === "'") all.push(string());
      else {
        const found = match(/[A-Za-z0-9_-]+/y);
        if (!found) throw unexpected();
        all.push(found[0]);
      }
      blank();
    } while (match(/\./y));
    return all;
  }

  // within goes down a path of tables, making those that are not there; of a list it is the last that is meant.
  function within(table, path) {
    for (const key of path) {
      let next = Object.hasOwn(table, key) ? table[key] : put(table, key, {});
      if (Array.isArray(next)) next = next.at(-1);
      if (!isTable(next)) throw wrong(`Cannot redefine key '${key}'`);
      table = next;
    }
    return table;
  }

  function pair(table) {
    const path = keys();
    if (!match(/=/y)) throw unexpected();
    blank();
    const last = path.pop();
    const home = within(table, path);
    if (Object.hasOwn(home, last)) throw wrong(`Cannot redefine key '${last}'`);
    put(home, last, value());
  }

  function listed(end, member, gap) {
    if (++depth > deepest) throw wrong("Too deep");
    at++;
    for (gap(); text[at] !== end; gap()) {
      member();
      gap();
      if (text[at] === ",") at++;
      else if (text[at] !== end) throw unexpected();
    }
    at++;
    depth--;
  }

  function value() {
    const c = text[at];
    if (c === '"' || c === "'") return string();
    if (c === "[") {
      const out = [];
      listed("]", () => out.push(value()), skip);
      return out;
    }
    if (c === "{") {
      const out = {};
      listed("}", () => pair(out), skip);
      return out;
    }
    const word = match(/(?:true|false)(?![\w-])/y);
    if (word) return word[0] === "true";
    const time = match(/\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?|\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?/y);
    if (time) return time[0];
    const number = match(/([+-]?)(?:(0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+)|(inf|nan)|(\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d[\d_]*)?))(?![\w.])/y);
    if (!number) throw unexpected();
    const size = number[3] ? (number[3] === "inf" ? Infinity : NaN) : Number((number[2] ?? number[4]).replaceAll("_", ""));
    return number[1] === "-" ? -size : size;
  }

  // header is the line that says which table the following lines are of.
  function header(root) {
    const list = match(/\[\[/y) !== null;
    if (!list) at++;
    const path = keys();
    if (!match(list ? /\]\]/y : /\]/y)) throw unexpected();
    if (!list) return within(root, path);
    const last = path.pop();
    const home = within(root, path);
    const all = Object.hasOwn(home, last) ? home[last] : put(home, last, []);
    if (!Array.isArray(all)) throw wrong(`Cannot redefine key '${last}'`);
    const table = {};
    all.push(table);
    return table;
  }

  const root = {};
  let table = root;
  for (skip(); at < text.length; skip()) {
    if (text[at] === "[") table = header(root);
    else pair(table);
    endLine();
  }
  return root;
}

module.exports = { parse };
