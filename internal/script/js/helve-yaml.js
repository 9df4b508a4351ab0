// YAML as configuration files use it: blocks, lists, the short forms in braces and brackets, texts in all their spellings, anchors
// and several documents. Tags are skipped; keys that are not texts become texts.
"use strict";

function plain(text) {
  if (/^(~|null|Null|NULL|)$/.test(text)) return null;
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?\d+$/.test(text)) return Number(text);
  if (/^0x[0-9a-fA-F]+$/.test(text)) return Number(text);
  if (/^0o[0-7]+$/.test(text)) return Number(text);
  if (/^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(text)) return Number(text);
  if (/^[-+]?\.(inf|Inf|INF)$/.test(text)) return text[0] === "-" ? -Infinity : Infinity;
  if (/^\.(nan|NaN|NAN)$/.test(text)) return NaN;
  return text;
}

const escapes = { 0: "\0", a: "\x07", b: "\b", t: "\t", "\t": "\t", n: "\n", v: "\v", f: "\f", r: "\r", e: "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", N: "\x85", _: "\xa0", L: "\u2028", P: "\u2029" };

// fold joins the lines of a text in quotes: one break is a space, more are one break fewer.
function fold(text) {
  return text.replace(/[ \t]*\n[ \t]*((?:\n[ \t]*)*)/g, (_, more) => (more === "" ? " " : "\n".repeat(more.split("\n").length - 1)));
}

class Reader {
  constructor(text) {
    this.text = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
    this.at = 0;
    this.anchors = new Map();
    this.depth = 0;
  }
  fail(message) {
    return new SyntaxError(`YAML Parse error: ${message}`);
  }
  get rest() { return this.text.slice(this.at, this.at + 200); }
  get char() { return this.text[this.at] ?? ""; }
  get over() { return this.at >= this.text.length; }
  get column() { return this.at - (this.text.lastIndexOf("\n", this.at - 1) + 1); }
  take(pattern) {
    pattern.lastIndex = this.at;
    const m = pattern.exec(this.text);
    if (!m) return undefined;
    this.at += m[0].length;
    return m[0];
  }
  // spaces goes over blanks and remarks on this line; lines goes on to the next thing on whatever line.
  spaces() {
    this.take(/[ \t]*/y);
    if (this.char === "#" && (this.column === 0 || /[\s]/.test(this.text[this.at - 1]))) this.take(/[^\n]*/y);
  }
  lines() {
    for (;;) {
      this.spaces();
      if (this.char !== "\n") return;
      this.at++;
    }
  }
  get mark() { return this.column === 0 && /^(---|\.\.\.)(\s|$)/.test(this.text.slice(this.at, this.at + 4)); }

  documents() {
    const all = [];
    for (let first = true; ; first = false) {
      this.lines();
      while (this.char === "%" && this.column === 0) {
        this.take(/[^\n]*/y);
        this.lines();
      }
      let begun = false;
      if (this.mark && this.text.startsWith("---", this.at)) {
        this.at += 3;
        begun = true;
      }
      this.lines();
      if (this.over && !begun && !first) return all;
      this.anchors.clear();
      all.push(this.over || this.mark ? null : this.node(-1));
      this.lines();
      if (this.mark && this.text.startsWith("...", this.at)) {
        this.at += 3;
        this.lines();
        if (this.over) return all;
        continue;
      }
      if (this.over) return all;
      if (!this.mark) throw this.fail("Unexpected token");
    }
  }

  // node reads the value that begins here, of a parent that is indented by so many.
  node(parent, inline = false) {
    if (++this.depth > 200) throw this.fail("nested too deeply");
    try {
      return this.value(parent, inline);
    } finally {
      this.depth--;
    }
  }
  value(parent, inline) {
    const anchor = this.properties(), { tag } = this;
    if (anchor !== undefined || this.char === "\n" || this.over) {
      this.spaces();
      if (this.char === "\n" || this.over) {
        const from = this.at;
        inline = false;
        this.lines();
        if (this.over || this.mark || this.column <= parent && !(this.column === parent && this.text[this.at] === "-" && /\s/.test(this.text[this.at + 1] ?? " "))) {
          if (!this.over && !this.mark) this.at = from;
          return this.keep(anchor, null);
        }
      }
    }
    if (this.char === "*") {
      const name = this.take(/\*[^\s,[\]{}]+/y).slice(1);
      if (!this.anchors.has(name)) throw this.fail("Unresolved alias");
      const known = this.anchors.get(name);
      if (!/^[ \t]*:(\s|$)/.test(this.rest)) return known;
      this.at -= name.length + 1;
    }
    const column = this.column;
    if (inline && (/^-(\s|$)/.test(this.rest) || this.isKey())) throw this.fail("Unexpected token"); // a block begins on its own line
    if (this.char === "-" && /^-(\s|$)/.test(this.rest)) return this.keep(anchor, this.list(column));
    if (this.isKey()) return this.keep(anchor, this.map(column, anchor));
    if (this.char === "|" || this.char === ">") return this.keep(anchor, this.block(parent));
    if (this.char === "[" || this.char === "{") return this.keep(anchor, this.flow());
    if (this.char === '"' || this.char === "'") return this.keep(anchor, this.quoted());
    if (/[@`]/.test(this.char)) throw this.fail("Unexpected token");
    return this.keep(anchor, this.scalar(parent, tag === "!!str"));
  }
  keep(anchor, value) {
    if (anchor) this.anchors.set(anchor, value);
    return value;
  }
  // properties reads an anchor and skips a tag.
  properties() {
    let anchor;
    this.tag = undefined;
    for (;;) {
      if (this.char === "&") anchor = this.take(/&[^\s,[\]{}]+/y).slice(1);
      else if (this.char === "!") {
        this.tag = this.take(/![^\s,[\]{}]*/y);
        anchor ??= "";
      } else return anchor;
      this.take(/[ \t]*/y);
    }
  }
  isKey() {
    const line = /[^\n]*/y;
    line.lastIndex = this.at;
    const text = line.exec(this.text)[0];
    if (/^\?(\s|$)/.test(text)) return true;
    const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*:(\s|$)/.exec(text);
    if (quoted) return true;
    if (/^["'[{|>%@`]/.test(text)) return false;
    return /^(?:[^\s#]|[ \t](?!#)|(?<=\S)#)*?:(\s|$)/.test(text) && !/^[ \t]*#/.test(text);
  }
  key() {
    if (this.char === '"' || this.char === "'") {
      const text = this.quoted();
      this.take(/[ \t]*:/y);
      return text;
    }
    const text = this.take(/(?:[^\s:]|:(?=\S)|[ \t]+(?=\S))*?(?=[ \t]*:(?:\s|$))/y);
    if (text === undefined) throw this.fail("expected a key");
    this.take(/[ \t]*:/y);
    return text.startsWith("*") && this.anchors.has(text.slice(1)) ? String(this.anchors.get(text.slice(1))) : text;
  }
  map(column) {
    const out = {};
    for (;;) {
      if (/^\?(\s|$)/.test(this.rest)) throw this.fail("keys with a question mark are not known");
      const key = this.key();
      this.spaces();
      const value = this.node(column, true);
      const merged = key === "<<" && typeof value === "object" && value !== null;
      if (merged) for (const from of [].concat(value)) for (const name of Object.keys(from)) if (!Object.hasOwn(out, name)) put(out, name, from[name]);
      if (!merged) put(out, key, value);
      const from = this.at;
      this.lines();
      if (this.over || this.mark || this.column !== column || !this.isKey()) {
        if (!this.over && !this.mark && this.column > column) throw this.fail("Unexpected token");
        if (!this.over && !this.mark && this.column === column) throw this.fail("expected a key");
        if (!this.over) this.at = this.mark ? this.at : from;
        return out;
      }
    }
  }
  list(column) {
    const out = [];
    for (;;) {
      this.at++;
      this.spaces();
      out.push(this.node(column));
      const from = this.at;
      this.lines();
      if (this.over || this.mark || this.column !== column || !/^-(\s|$)/.test(this.rest)) {
        if (!this.over && !this.mark && this.column > column) throw this.fail("Unexpected token");
        if (!this.over && !this.mark) this.at = from;
        return out;
      }
    }
  }
  // scalar reads a text without quotes, which may go on over lines that are indented further.
  scalar(parent, asText) {
    let text = this.line(/(?:[^\s#:]|:(?=\S)|#(?<=\S#)|[ \t]+(?=[^\s#]))+/y);
    for (;;) {
      const from = this.at;
      this.spaces();
      if (this.char !== "\n" || this.text[this.at - 1] === "#") break;
      let breaks = 0;
      while (this.char === "\n") {
        this.at++;
        breaks++;
        this.take(/[ \t]*/y);
      }
      if (this.over || this.mark || this.column <= parent || this.char === "#" || this.isKey() || /^-(\s|$)/.test(this.rest) && parent < 0) {
        this.at = from;
        break;
      }
      text += (breaks > 1 ? "\n".repeat(breaks - 1) : " ") + this.line(/(?:[^\s#:]|:(?=\S)|#(?<=\S#)|[ \t]+(?=[^\s#]))+/y);
    }
    return asText ? text : plain(text);
  }
  line(pattern) {
    const text = this.take(pattern);
    if (text === undefined) throw this.fail("Unexpected token");
    return text;
  }
  quoted() {
    if (this.char === "'") {
      const text = this.take(/'(?:[^']|'')*'/y);
      if (text === undefined) throw this.fail("Unexpected EOF");
      return fold(text.slice(1, -1)).replaceAll("''", "'");
    }
    const text = this.take(/"(?:[^"\\]|\\[^])*"/y);
    if (text === undefined) throw this.fail("Unexpected EOF");
    return fold(text.slice(1, -1).replace(/\\\n[ \t]*/g, "\\/\0")).replace(/\\(?:\/\0|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/g, (whole, x, u, big, c) => {
      if (c === undefined) return whole === "\\/\0" ? "" : String.fromCodePoint(parseInt(x ?? u ?? big, 16));
      if (!(c in escapes)) throw this.fail("Invalid escape sequence");
      return escapes[c];
    });
  }
  // block reads the lines of a text after "|" or ">".
  block(parent) {
    const head = this.take(/[|>][-+0-9]*/y);
    this.spaces();
    if (this.char !== "\n" && !this.over) throw this.fail("Unexpected token");
    this.at++;
    const given = /\d/.exec(head);
    let indent = given ? Math.max(parent, 0) + Number(given[0]) : undefined;
    const lines = [];
    while (!this.over) {
      const end = this.text.indexOf("\n", this.at);
      const line = this.text.slice(this.at, end < 0 ? undefined : end);
      const lead = /^ */.exec(line)[0].length;
      if (line.trim() !== "") {
        indent ??= lead;
        if (lead < indent || lead <= parent || this.mark) break;
      }
      lines.push(line.trim() === "" && lead < (indent ?? Infinity) ? "" : line);
      this.at = end < 0 ? this.text.length : end + 1;
    }
    if (!this.over || this.text.endsWith("\n")) this.at--;
    const body = lines.map((line) => line.slice(indent ?? 0));
    let tail = 0;
    while (body.length > 0 && body.at(-1) === "") {
      body.pop();
      tail++;
    }
    const text = head[0] === "|" ? body.join("\n") : this.folded(body);
    if (head.includes("-") || body.length === 0 && !head.includes("+")) return text;
    return text + "\n".repeat(head.includes("+") ? tail + (body.length > 0 ? 1 : 0) : 1);
  }
  folded(lines) {
    let out = "", blank = 0, before;
    for (const line of lines) {
      if (line === "") {
        blank++;
        continue;
      }
      const more = /^[ \t]/.test(line) || before !== undefined && /^[ \t]/.test(before);
      if (before !== undefined) out += more ? "\n".repeat(blank + 1) : blank > 0 ? "\n".repeat(blank) : " ";
      else out += "\n".repeat(blank);
      out += line;
      before = line;
      blank = 0;
    }
    return out;
  }
  // flow reads the forms of JSON, with texts that need no quotes.
  flow() {
    if (++this.depth > 200) throw this.fail("nested too deeply");
    const close = this.char === "[" ? "]" : "}";
    const out = close === "]" ? [] : {};
    this.at++;
    for (;;) {
      this.lines();
      if (this.over) throw this.fail("Unexpected token");
      if (this.char === close) break;
      const item = this.item();
      this.lines();
      const pair = this.char === ":";
      if (pair) this.at++;
      if (close === "}") {
        this.lines();
        put(out, String(item), pair && this.char !== "," && this.char !== close ? this.item() : null);
      } else {
        this.lines();
        out.push(pair ? put({}, String(item), this.item()) : item);
      }
      this.lines();
      if (this.char === ",") this.at++;
      else if (this.char !== close) throw this.fail("Unexpected token");
    }
    this.at++;
    this.depth--;
    return out;
  }
  item() {
    const anchor = this.properties();
    if (this.char === "*") {
      const name = this.take(/\*[^\s,[\]{}]+/y).slice(1);
      if (!this.anchors.has(name)) throw this.fail("Unresolved alias");
      return this.anchors.get(name);
    }
    if (this.char === "[" || this.char === "{") return this.keep(anchor, this.flow());
    if (this.char === '"' || this.char === "'") return this.keep(anchor, this.quoted());
    const text = this.take(/(?:[^\s,[\]{}:#]|:(?=[^\s,[\]{}])|#(?<=\S#)|\s+(?=[^\s,[\]{}:#]))+/y);
    if (text === undefined) throw this.fail("Unexpected token");
    return this.keep(anchor, plain(text.replace(/\s*\n\s*/g, " ")));
  }
}

// put sets a property whatever its name.
function put(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}

function parse(text) {
  const all = new Reader(typeof text === "string" ? text : require("helve:host").text(text)).documents();
  return all.length > 1 ? all : all[0] ?? null;
}

// word writes a text so that it is read as one.
function word(text) {
  const simple = text !== "" && plain(text) === text && !/^[\s\-?:,[\]{}#&*!|>'"%@`]|[\n\r\t\0-\x1f"\\]|: |:$| #|[,[\]{}]|\s$/.test(text) && !/^(y|n|yes|no|on|off)$/i.test(text);
  return simple ? text : JSON.stringify(text);
}

function stringify(value, replacer, space) {
  const step = typeof space === "number" ? " ".repeat(Math.min(space, 10)) : String(space ?? "");
  const write = (v, indent) => {
    if (typeof v?.toJSON === "function") v = v.toJSON();
    if (v === null || v === undefined || typeof v === "function") return "null";
    if (typeof v === "string") return word(v);
    if (typeof v === "number") return Number.isNaN(v) ? ".nan" : Number.isFinite(v) ? String(v) : v > 0 ? ".inf" : "-.inf";
    if (typeof v !== "object") return String(v);
    const pairs = Array.isArray(v) ? v.map((x) => ["", x]) : Object.keys(v).filter((k) => v[k] !== undefined && typeof v[k] !== "function").map((k) => [`${word(k)}: `, v[k]]);
    const [open, close] = Array.isArray(v) ? "[]" : "{}";
    if (step === "" || pairs.length === 0) return open + pairs.map(([k, x]) => k + write(x, "")).join(",") + close;
    return pairs.map(([k, x], i) => {
      const deep = typeof x === "object" && x !== null && Object.keys(x).length > 0;
      const lead = i === 0 ? "" : `\n${indent}`;
      if (k === "") return `${lead}- ${write(x, `${indent}  `)}`;
      return `${lead}${k.trimEnd()}${deep ? ` \n${indent}${step}`.replace(" \n", "\n") : " "}${write(x, indent + step)}`;
    }).join("");
  };
  return write(value, "");
}

module.exports = { parse, stringify };
