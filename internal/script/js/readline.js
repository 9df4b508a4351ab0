// Lines of a stream. There is no terminal behind an engine: questions get the next line, and nothing is drawn.
"use strict";
const EventEmitter = require("events");

class Interface extends EventEmitter {
  #input; #output; #rest = ""; #closed = false; #paused = false; #asked = []; #prompt; #decoder;

  constructor(options, output) {
    super();
    const { input, output: to, prompt } = options?.input || options?.output ? options : { input: options, output };
    this.#input = input;
    this.#output = to;
    this.#prompt = prompt ?? "> ";
    this.terminal = false;
    this.line = "";
    if (!input) return;
    this.#decoder = new (require("string_decoder").StringDecoder)("utf8");
    input.on("data", (chunk) => this.#take(typeof chunk === "string" ? chunk : this.#decoder.write(chunk)));
    input.on("end", () => {
      this.#take(this.#decoder.end());
      if (this.#rest !== "") this.#line(this.#rest);
      this.#rest = "";
      this.close();
    });
    input.on("error", (error) => this.emit("error", error));
    options?.signal?.addEventListener("abort", () => this.close(), { once: true });
  }
  get closed() { return this.#closed; }
  #take(text) {
    if (this.#closed) return;
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line);
  }
  #line(line) {
    const asked = this.#asked.shift();
    if (asked) asked(line);
    else if (!this.#closed) this.emit("line", line);
  }
  question(text, options, callback) {
    if (typeof options === "function") [options, callback] = [{}, options];
    if (this.#closed) throw Object.assign(new Error("readline was closed"), { code: "ERR_USE_AFTER_CLOSE" });
    this.#output?.write?.(text);
    this.#asked.push(callback);
  }
  setPrompt(prompt) { this.#prompt = String(prompt); }
  getPrompt() { return this.#prompt; }
  prompt() { this.#output?.write?.(this.#prompt); }
  write(text) { this.#take(String(text)); }
  pause() {
    this.#paused = true;
    this.#input?.pause?.();
    this.emit("pause");
    return this;
  }
  resume() {
    this.#paused = false;
    this.#input?.resume?.();
    this.emit("resume");
    return this;
  }
  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#input?.pause?.();
    this.emit("close");
  }
  [Symbol.dispose]() { this.close(); }
  [Symbol.asyncIterator]() {
    const lines = [], waiting = [], failed = [];
    let over = this.#closed;
    const put = (line) => { waiting.length > 0 ? waiting.shift()[0]({ value: line, done: false }) : lines.push(line); };
    const end = () => {
      over = true;
      for (const [done] of waiting.splice(0)) done({ value: undefined, done: true });
    };
    const fail = (error) => {
      if (waiting.length > 0) waiting.shift()[1](error);
      else failed.push(error);
      end();
    };
    this.on("line", put).on("close", end).on("error", fail);
    return {
      next: () => lines.length > 0 ? Promise.resolve({ value: lines.shift(), done: false })
        : failed.length > 0 ? Promise.reject(failed.shift())
        : over ? Promise.resolve({ value: undefined, done: true }) : new Promise((done, no) => { waiting.push([done, no]); }),
      return: async () => {
        this.close();
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]() { return this; },
    };
  }
}

Object.defineProperty(Interface.prototype.question, require("util").promisify?.custom ?? Symbol.for("nodejs.util.promisify.custom"), {
  value(text) { return new Promise((done) => { this.question(text, done); }); },
});

const createInterface = (options, output) => new Interface(options, output);
const cleared = (...args) => { const done = args.at(-1); if (typeof done === "function") done(); return true; };
module.exports = { Interface, createInterface, clearLine: cleared, cursorTo: cleared, moveCursor: cleared, clearScreenDown: cleared, emitKeypressEvents() {} };
Object.defineProperty(module.exports, "promises", { enumerable: true, get: () => require("readline/promises") });
