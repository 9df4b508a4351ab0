// JSON with remarks, commas at the ends of lists, names without quotes and the further texts and numbers of JSON5.
"use strict";

const escapes = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", 0: "\0" };
const deepest = 500;

function parse(input) {
  const text = String(input);
  let at = 0, depth = 0;

  const wrong = () => new SyntaxError(at >= text.length ? "JSON5 Parse error: Unexpected end of input" : "JSON5 Parse error: Unexpected token");
  function match(pattern) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  }
  const skip = () => match(/(?:[\s\ufeff]+|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)*/y);
  function need(sign) {
    skip();
    if (text[at] !== sign) throw wrong();
    at++;
  }

  function string() {
    const quote = text[at++];
    let out = "";
    for (;;) {
      out += match(quote === '"' ? /[^"\\\n\r]*/y : /[^'\\\n\r]*/y)[0];
      if (text[at] === quote) {
        at++;
        return out;
      }
      if (text[at] !== "\\") throw wrong();
      at++;
      const code = match(/u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})/y);
      if (code) out += String.fromCharCode(parseInt(code[1] ?? code[2], 16));
      else if (!match(/\r\n|[\n\r\u2028\u2029]/y)) {
        const c = text[at++];
        if (c === undefined || /[1-9ux]/.test(c)) throw wrong();
        out += Object.hasOwn(escapes, c) ? escapes[c] : c;
      }
    }
  }

  // filled reads the members of a list or an object up to its end.
  function filled(end, member) {
    if (++depth > deepest) throw wrong();
    at++;
    for (skip(); text[at] !== end; skip()) {
      member();
      skip();
      if (text[at] === ",") at++;
      else if (text[at] !== end) throw wrong();
    }
    at++;
    depth--;
  }

  function name() {
    if (text[at] === '"' || text[at] === "'") return string();
    const found = match(/[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy);
    if (!found) throw wrong();
    return found[0];
  }

  function value() {
    skip();
    const c = text[at];
    if (c === "{") {
      const out = {};
      filled("}", () => {
        const key = name();
        need(":");
        Object.defineProperty(out, key, { value: value(), enumerable: true, configurable: true, writable: true });
      });
      return out;
    }
    if (c === "[") {
      const out = [];
      filled("]", () => out.push(value()));
      return out;
    }
    if (c === '"' || c === "'") return string();
    const word = match(/(?:true|false|null)(?![\w$])/y);
    if (word) return { true: true, false: false, null: null }[word[0]];
    const number = match(/([+-]?)(?:(0[xX][0-9a-fA-F]+)|(Infinity|NaN)|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))(?![\w$])/y);
    if (!number) throw wrong();
    const size = Number(number[2] ?? number[3] ?? number[4]);
    return number[1] === "-" ? -size : size;
  }

  const out = value();
  skip();
  if (at < text.length) throw wrong();
  return out;
}

module.exports = { parse };
