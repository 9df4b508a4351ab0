// What is wrong with a text that is no JSON, in Bun's words. The engine's own parser has found that it is none.
"use strict";

// A reader goes through a text token by token. A token is its kind, which for signs is the sign itself.
class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.next();
  }
  next() {
    const { text } = this;
    while (this.at < text.length && " \t\n\r".includes(text[this.at])) this.at++;
    const from = this.at;
    this.kind = this.token(text, from);
    this.word = text.slice(from, this.at);
  }
  token(text, from) {
    const c = text[from];
    if (c === undefined) return "end";
    if ("[](){},:;=.".includes(c)) {
      this.at++;
      return c;
    }
    if (c === '"') return this.string(text);
    if (c === "'") throw new Mistake("Single quotes (') are not allowed in JSON");
    if (c === "-" || c >= "0" && c <= "9") return this.number(text);
    const word = /[A-Za-z_$][\w$]*/y;
    word.lastIndex = from;
    const found = word.exec(text);
    if (!found) throw new Mistake(`Unrecognized token '${c}'`);
    this.at = word.lastIndex;
    return ["true", "false", "null"].includes(found[0]) ? "value" : "identifier";
  }
  string(text) {
    for (let i = this.at + 1; ; i++) {
      const c = text[i];
      if (c === undefined || c < " ") throw new Mistake("Unterminated string");
      if (c === '"') {
        this.at = i + 1;
        return "string";
      }
      if (c !== "\\") continue;
      const escaped = text[++i];
      if (escaped === undefined) throw new Mistake("Unterminated string");
      if (escaped === "u") {
        if (!/^[0-9a-fA-F]{4}/.test(text.slice(i + 1, i + 5))) throw new Mistake("\\u must be followed by 4 hex digits");
        i += 4;
      } else if (!'"\\/bfnrt'.includes(escaped)) throw new Mistake(`Invalid escape character ${escaped}`);
    }
  }
  number(text) {
    const whole = /-?(?:0|[1-9]\d*)/y;
    whole.lastIndex = this.at;
    if (!whole.test(text)) throw new Mistake("Invalid number");
    this.at = whole.lastIndex;
    if (text[this.at] === ".") {
      const part = /\.\d+/y;
      part.lastIndex = this.at;
      if (!part.test(text)) throw new Mistake("Invalid digits after decimal point");
      this.at = part.lastIndex;
    }
    const power = /[eE][+-]?\d+/y;
    power.lastIndex = this.at;
    if (power.test(text)) this.at = power.lastIndex;
    return "value";
  }
}

class Mistake {
  constructor(text) { this.text = text; }
}

// read goes through one value. What is open is kept in a list, so that a text may be as deep as it likes.
function read(reader) {
  const open = [];
  const name = (otherwise) => {
    if (reader.kind !== "string") throw new Mistake(otherwise);
    reader.next();
    if (reader.kind !== ":") throw new Mistake("Expected ':' before value in object property definition");
    reader.next();
  };
  for (;;) {
    const { kind } = reader;
    if (kind === "end") throw new Mistake("Unexpected EOF");
    if (kind === "identifier") throw new Mistake(`Unexpected identifier "${reader.word}"`);
    reader.next();
    if (kind === "{" && reader.kind !== "}") {
      name("Expected '}'");
      open.push("}");
      continue;
    }
    if (kind === "[" && reader.kind !== "]") {
      open.push("]");
      continue;
    }
    if (kind === "{" || kind === "[") reader.next();
    else if (kind !== "value" && kind !== "string") throw new Mistake(`Unexpected token '${kind}'`);
    if (!close(reader, open, name)) return;
  }
}

// close goes on after a value, to the next or to the end of what is open: then it answers false.
function close(reader, open, name) {
  while (open.length > 0) {
    const end = open.at(-1);
    if (reader.kind === ",") {
      reader.next();
      if (end === "}") name("Property name must be a string literal");
      else if (reader.kind === "]") throw new Mistake("Unexpected comma at the end of array expression");
      return true;
    }
    if (reader.kind !== end) throw new Mistake(`Expected '${end}'`);
    open.pop();
    reader.next();
  }
  return false;
}

// wrong is what is wrong with a text, or undefined if nothing is.
function wrong(text) {
  try {
    const reader = new Reader(text);
    read(reader);
    return reader.kind === "end" ? undefined : "JSON Parse error: Unable to parse JSON string";
  } catch (mistake) {
    return mistake instanceof Mistake ? `JSON Parse error: ${mistake.text}` : undefined;
  }
}

module.exports = { wrong };
