// Bun.$: a template becomes a script of the shell, which the host runs. What is put into the template stays what it is: one word, or
// several for a list, or a part of the text in quotes. So where each stands has to be known, and the text around is read for it.
"use strict";
const { toBytes, decode, gather, ReadableStream } = require("stream/web");

// What changes nothing, by mode.
const dull = { plain: /[^\\'"`#(){<]+/y, single: /[^']+/y, double: /[^"\\`({]+/y, remark: /[^\n]+/y };

// A Place is what the text read so far leads to.
class Place {
  #nest = []; // "paren" for a command in parentheses, 'quote' for double quotes around it
  #mode = "plain"; // or "single", "double", "remark"
  #before = " "; // the character before, for remarks
  #odd; // something that shells read in ways we do not follow
  get mode() { return this.#mode; }
  // odd tells why it is not sure where we are; nothing may be put in then. Bun knows none of these.
  get odd() { return this.#odd; }

  // read goes on over text that the shell will see as it is.
  read(text) {
    for (let i = 0; i < text.length; i++) {
      const plain = dull[this.#mode];
      plain.lastIndex = i;
      if (plain.test(text)) {
        const run = (this.#before === "$" ? "$" : "") + text.slice(i, plain.lastIndex);
        i = plain.lastIndex;
        const dollars = /\$*$/.exec(run)[0].length;
        this.#before = dollars > 0 && dollars % 2 === 0 ? "x" : text[i - 1]; // two are the number of the process
        if (i >= text.length) return;
      }
      const c = text[i];
      this[this.#mode](c);
      if (c === "\\" && (this.#mode === "plain" || this.#mode === "double")) {
        if (++i === text.length) this.#odd ??= "a back slash";
        if (text[i] !== "\n") this.#before = "\\"; // a line that goes on is as if it did not end
      } else {
        this.#before = c;
      }
    }
  }
  plain(c) {
    const before = this.#before;
    if (c === "`") this.#odd ??= "back quotes";
    else if (c === "'" && before === "$") this.#odd ??= "$'…'";
    else if (c === "{" && before === "$") this.#odd ??= "${…}";
    else if (c === "<" && before === "<") this.#odd ??= "<<";
    else if (c === "(" && /[!@?*+=]/.test(before)) this.#odd ??= `${before}(`;
    else if (c === "#" && /[()<>]/.test(before)) this.#odd ??= `${before}#`;
    if (c === "'") this.#mode = "single";
    else if (c === '"') this.#mode = "double";
    else if (c === "#" && /[\s;&|]/.test(before)) this.#mode = "remark";
    else if (c === "(") this.#nest.push("plain");
    else if (c === ")") this.#mode = this.#nest.pop() ?? "plain";
  }
  single(c) { if (c === "'") this.#mode = "plain"; }
  double(c) {
    if (c === "`") this.#odd ??= "back quotes";
    else if (c === "{" && this.#before === "$") this.#odd ??= "${…}";
    if (c === '"') this.#mode = "plain";
    else if (c === "(" && this.#before === "$") {
      this.#nest.push("double");
      this.#mode = "plain";
    }
  }
  remark(c) { if (c === "\n") this.#mode = "plain"; }
  // word takes note that something stands here which is not read.
  word() { this.#before = "x"; }
}

const reserved = new Set(["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function", "select", "time", "coproc", "declare", "local", "export", "readonly", "let", "typeset", "nameref"]);

// word writes a text as one word of the shell. Simple ones stay as they are, for those who read the script.
function word(text, before, after) {
  const simple = /^[\w/.:@%+,-]+$/.test(text) && !reserved.has(text) && /^(|[\s;|&(=/.,:-])$/.test(before) && /^(|[\s;|&)/])$/.test(after);
  return simple ? text : `'${inSingle(text)}'`;
}

// Texts within quotes. Carriage returns leave them for a moment: shells drop those at the end of a line.
const inSingle = (text) => text.replaceAll("'", "'\\''").replaceAll("\r", () => "'$'\\r''");
const inDouble = (text) => text.replace(/[\\$"`]/g, "\\$&").replaceAll("\r", () => `"$'\\r'"`);

// textOf is a value as text; objects that have none are mistakes.
function textOf(value) {
  if (typeof value === "object" && value !== null) {
    const { Blob } = require("blob");
    if (value instanceof Blob && typeof value.name === "string") return value.name;
    const text = typeof value.toString === "function" ? value.toString : undefined;
    if (text === undefined || text === Object.prototype.toString || value instanceof Blob) {
      throw new Error("Invalid JS object used in shell: [object Object], you might need to call `.toString()` on it");
    }
  }
  if (typeof value === "symbol" || typeof value === "function") throw new Error(`Invalid JS object used in shell: ${typeof value}, you might need to call \`.toString()\` on it`);
  const text = String(value);
  if (text.includes("\0")) throw Object.assign(new TypeError("The shell argument must be a string without null bytes. Received " + JSON.stringify(text)), { code: "ERR_INVALID_ARG_VALUE" });
  return text;
}

// source tells whether a value is something to read from or write to.
function source(value) {
  const { Blob } = require("blob");
  const { Response } = require("fetch");
  return value instanceof Response || value instanceof ReadableStream || ArrayBuffer.isView(value) || value instanceof ArrayBuffer
    || (value instanceof Blob && typeof value.name !== "string");
}

// compose makes the script of a template. input is what the script is to read, if an object stands after "<".
function compose(strings, values) {
  const place = new Place();
  let script = "", input;
  const put = (text) => { place.read(text); script += text; };
  strings.forEach((text, i) => {
    put(text);
    if (i >= values.length) return;
    const value = values[i], before = script.at(-1) ?? "", after = strings[i + 1]?.[0] ?? "";
    if (typeof value === "object" && value !== null && "raw" in value && !Array.isArray(value)) return put(String(value.raw));
    if (place.mode === "plain" && typeof value === "object" && value !== null && source(value)) {
      const redirect = /(\d?)([<>&]+)\s*$/.exec(script);
      if (!redirect) throw new Error(`Invalid JS object used in shell: [object ${value.constructor?.name ?? "Object"}], you might need to call \`.toString()\` on it`);
      if (redirect[2] !== "<" || input !== undefined) throw new Error("Bun.$: writing into an object, and reading from more than one, is not available");
      script = script.slice(0, redirect.index);
      input = value;
      return;
    }
    const odd = place.odd ?? (/(^|[\s;&|(])case\s/.test(script) ? "case" : undefined);
    if (odd !== undefined) throw new Error(`Bun.$: a value after ${odd} can not be quoted safely; give it to the script as a variable`);
    // A dollar sign before a value is one, and not the beginning of a variable's name.
    if (before === "$" && place.mode !== "single" && /(^|[^\\])(\\\\)*\$$/.test(script)) script = `${script.slice(0, -1)}\\$`;
    script += interpolated(value, place.mode, before, after);
    place.word();
  });
  return { script, input };
}

function interpolated(value, mode, before, after) {
  const list = Array.isArray(value) ? value.flat(Infinity) : [value];
  if (mode === "remark") return "";
  if (mode === "plain") return list.map((v, i) => word(textOf(v), i === 0 ? before : " ", i === list.length - 1 ? after : " ")).join(" ");
  const text = list.map(textOf).join(" ");
  return mode === "double" ? inDouble(text) : inSingle(text);
}

async function inputBytes(input) {
  if (input === undefined) return undefined;
  if (input instanceof ReadableStream) return gather(input);
  if (ArrayBuffer.isView(input) || input instanceof ArrayBuffer) return toBytes(input);
  return input.bytes();
}

const buffer = (bytes) => require("buffer").Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

// Reading what a script wrote, for results and errors alike.
const reading = {
  text(encoding) { return encoding ? this.stdout.toString(encoding) : decode(this.stdout); },
  json() { return JSON.parse(this.text()); },
  arrayBuffer() { return new Uint8Array(this.stdout).buffer; },
  bytes() { return new Uint8Array(this.stdout); },
  blob() { return new (require("blob").Blob)([this.stdout]); },
};

class ShellOutput {
  constructor(stdout, stderr, exitCode) {
    this.stdout = stdout;
    this.stderr = stderr;
    this.exitCode = exitCode;
  }
}

class ShellError extends Error {
  constructor(output) {
    super(`Failed with exit code ${output.exitCode}`);
    this.info = { exitCode: output.exitCode, stderr: output.stderr, stdout: output.stdout };
    this.exitCode = output.exitCode;
    this.stdout = output.stdout;
    this.stderr = output.stderr;
  }
}
Object.defineProperty(ShellError.prototype, "name", { value: "ShellError", configurable: true, writable: true });
for (const type of [ShellOutput, ShellError]) {
  for (const name of Object.keys(reading)) Object.defineProperty(type.prototype, name, { value: reading[name], configurable: true, writable: true });
}

// A ShellPromise is a script that begins when somebody waits for it.
class ShellPromise extends Promise {
  #begun = false; #settle; #composed; #settings; #quiet = false;
  static get [Symbol.species]() { return Promise; }

  constructor(composed, settings) {
    let settle;
    super((resolve, reject) => { settle = { resolve, reject }; });
    this.#settle = settle;
    this.#composed = composed;
    this.#settings = { ...settings };
  }
  #change(name, value) {
    if (this.#begun) throw new Error("Shell is already running");
    this.#settings[name] = value;
    return this;
  }
  cwd(folder) { return this.#change("cwd", typeof folder === "string" && folder !== "" && folder !== "." ? folder : undefined); }
  env(env) { return this.#change("env", env === undefined ? undefined : { ...env }); }
  nothrow() { return this.#change("throws", false); }
  throws(on) { return this.#change("throws", Boolean(on)); }
  quiet(on = true) {
    this.#quiet = Boolean(on);
    return this;
  }
  run() {
    if (!this.#begun) {
      this.#begun = true;
      this.#work().then(this.#settle.resolve, this.#settle.reject);
    }
    return this;
  }
  async #work() {
    const { where, surroundings, split } = require("helve:proc");
    const { script, input } = this.#composed;
    const { cwd, env, throws } = this.#settings;
    const arg = { script, cwd: where(cwd), quiet: this.#quiet, ...surroundings(env) };
    const done = split(await require("helve:host").later("proc.shell", arg, await inputBytes(input)));
    const output = new ShellOutput(buffer(done.stdout), buffer(done.stderr), done.code);
    if (throws && done.code !== 0) throw new ShellError(output);
    return output;
  }
  then(good, bad) {
    this.run();
    return super.then(good, bad);
  }
  async text(encoding) { return (await this.quiet()).text(encoding); }
  async json() { return (await this.quiet()).json(); }
  async arrayBuffer() { return (await this.quiet()).arrayBuffer(); }
  async bytes() { return (await this.quiet()).bytes(); }
  async blob() { return (await this.quiet()).blob(); }
  async *lines() {
    yield* (await this.quiet()).text().split(/\r?\n/);
  }
}

// escape writes a text so that the shell reads it back.
function escape(text) {
  const whole = String(text);
  return whole === "" || /[^\w@%+:,./-]/.test(whole) ? `"${inDouble(whole)}"` : whole;
}

// braces expands {a,b}, also within each other.
function braces(text) {
  let depth = 0, from = -1;
  const parts = [];
  for (let i = 0, start = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "\\") i++;
    else if (c === "{" && depth++ === 0) [from, start] = [i, i + 1];
    else if (c === "," && depth === 1) [parts[parts.length], start] = [text.slice(start, i), i + 1];
    else if (c === "}" && depth > 0 && --depth === 0) {
      if (parts.length === 0) continue;
      parts.push(text.slice(start, i));
      const heads = parts.flatMap(braces), tails = braces(text.slice(i + 1));
      return heads.flatMap((head) => tails.map((tail) => text.slice(0, from) + head + tail));
    }
  }
  return [text];
}

// create makes a shell with settings of its own.
function create(settings) {
  function $(strings, ...values) {
    if (!Array.isArray(strings) || !Array.isArray(strings.raw)) throw new Error("Please use '$' as a tagged template function: $`cmd arg1 arg2`");
    return new ShellPromise(compose(strings.raw, values), settings);
  }
  $.cwd = (folder) => { settings.cwd = folder; return $; };
  $.env = (env) => { settings.env = env === undefined ? undefined : { ...env }; return $; };
  $.nothrow = () => { settings.throws = false; return $; };
  $.throws = (on) => { settings.throws = Boolean(on); return $; };
  $.escape = escape;
  $.braces = braces;
  $.ShellError = ShellError;
  $.ShellPromise = ShellPromise;
  $.ShellOutput = ShellOutput;
  $.Shell = function Shell() { return create({ throws: true }); };
  return $;
}

module.exports = { $: create({ throws: true }), create, compose, ShellError, ShellPromise, ShellOutput };
