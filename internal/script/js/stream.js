// Node's streams, in small: what programs, requests and files are read and written with.
"use strict";
const EventEmitter = require("events");
const { toBytes, join } = require("stream/web");

const tick = (work) => { Promise.resolve().then(work); };
const [add, schedule, flow, finish, more] = ["add", "schedule", "flow", "finish", "more"].map(Symbol); // our own methods
const coded = (Type, code, message) => Object.assign(new Type(message), { code });

class Stream extends EventEmitter {
  pipe(target, options) {
    this.on("data", (chunk) => {
      if (target.write(chunk) === false && this.pause) {
        this.pause();
        target.once("drain", () => this.resume());
      }
    });
    if (options?.end !== false && target !== globalThis.process?.stdout) this.once("end", () => target.end());
    target.emit("pipe", this);
    return target;
  }
}

// closing ends a stream of either kind: its error, then "close", once.
function closing(stream, error) {
  const state = stream._state;
  if (stream.destroyed) return stream;
  stream.destroyed = true;
  state.error = error ?? null;
  const done = (late) => tick(() => {
    const told = error ?? late;
    if (told) stream.emit("error", told);
    if (state.emitClose === false) return;
    stream.closed = true;
    stream.emit("close");
  });
  stream._destroy(error ?? null, done);
  return stream;
}

function bufferOf(chunk, encoding) {
  const { Buffer } = require("buffer");
  if (typeof chunk === "string") return Buffer.from(chunk, encoding === "buffer" ? "utf8" : encoding);
  if (Buffer.isBuffer(chunk)) return chunk;
  const bytes = toBytes(chunk);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// callable makes a class that can also be called the old way, as a function on an object that inherits from it; begin is what its
// constructor does then.
function callable(Class, begin) {
  function Made(...args) {
    if (new.target) return Reflect.construct(Class, args, new.target);
    if (!(this instanceof Made)) return new Made(...args);
    EventEmitter.call(this);
    begin.call(this, ...args);
    return undefined;
  }
  Made.prototype = Class.prototype;
  Object.setPrototypeOf(Made, Class);
  Object.defineProperty(Made, "name", { value: Class.name.replace(/Base$/, "") });
  Object.defineProperty(Class.prototype, "constructor", { value: Made, configurable: true, writable: true });
  return Made;
}

const begin = {
  readable(options = {}) {
    const objects = Boolean(options.objectMode || options.readableObjectMode);
    Object.defineProperty(this, "_state", { value: { queue: [], length: 0, flowing: null, ended: false, told: false, reading: false, objects, mark: options.highWaterMark ?? (objects ? 16 : 65536), emitClose: options.emitClose, autoDestroy: options.autoDestroy !== false }, writable: true });
    this.readable = true;
    this.destroyed = false;
    this.closed = false;
    if (options.read) this._read = options.read;
    if (options.destroy) this._destroy = options.destroy;
    if (options.encoding) this.setEncoding(options.encoding);
    if (options.signal) options.signal.addEventListener("abort", () => this.destroy(aborted(options.signal)), { once: true });
  },
  writable(options = {}) {
    this.destroyed = false;
    this.closed = false;
    this.writableEnded = false;
    this.writableFinished = false;
    Object.defineProperty(this, "_state", { value: { emitClose: options.emitClose, autoDestroy: options.autoDestroy !== false } });
    this._beginWriting(options);
    if (options.destroy) this._destroy = options.destroy;
    if (options.signal) options.signal.addEventListener("abort", () => this.destroy(aborted(options.signal)), { once: true });
  },
  both(options = {}) {
    this.writableEnded = false;
    this.writableFinished = false;
    this._beginWriting(options);
  },
  duplex(options) {
    begin.readable.call(this, options);
    begin.both.call(this, options);
  },
  change(options = {}) {
    if (options.transform) this._transform = options.transform;
    if (options.flush) this._flush = options.flush;
  },
  transform(options) {
    begin.duplex.call(this, options);
    begin.change.call(this, options);
  },
};

class ReadableBase extends Stream {
  constructor(options) {
    super();
    begin.readable.call(this, options);
  }
  get readableFlowing() { return this._state.flowing; }
  get readableEnded() { return this._state.told; }
  get readableLength() { return this._state.length; }
  get readableHighWaterMark() { return this._state.mark; }
  get readableObjectMode() { return this._state.objects; }
  get readableEncoding() { return this._state.encoding ?? null; }
  get errored() { return this._state.error ?? null; }
  _read() {}
  _destroy(error, done) { done(error); }

  push(chunk, encoding) {
    const s = this._state;
    s.reading = false;
    if (chunk === null) {
      if (s.ended) return false;
      s.ended = true;
      const rest = s.decoder?.end();
      if (rest) this[add](rest);
    } else if (chunk !== undefined) {
      if (s.ended) {
        this.destroy(coded(Error, "ERR_STREAM_PUSH_AFTER_EOF", "stream.push() after EOF"));
        return false;
      }
      if (!s.objects) {
        chunk = bufferOf(chunk, encoding);
        if (s.decoder) chunk = s.decoder.write(chunk);
      }
      if (s.objects || chunk.length > 0) this[add](chunk);
    }
    this[schedule]();
    return s.length < s.mark;
  }
  unshift(chunk) {
    const s = this._state;
    const item = s.objects || s.decoder ? chunk : bufferOf(chunk);
    s.queue.unshift(item);
    s.length += s.objects ? 1 : item.length;
  }
  [add](chunk) {
    const s = this._state;
    s.queue.push(chunk);
    s.length += s.objects ? 1 : chunk.length;
  }
  [schedule]() {
    const s = this._state;
    if (s.scheduled) return;
    s.scheduled = true;
    tick(() => {
      s.scheduled = false;
      this[flow]();
    });
  }
  [flow]() {
    const s = this._state;
    while (s.flowing && s.queue.length > 0 && !this.destroyed) {
      const chunk = s.queue.shift();
      s.length -= s.objects ? 1 : chunk.length;
      this.emit("data", chunk);
    }
    if (this.destroyed) return;
    if (s.flowing !== true && this.listenerCount("readable") > 0 && (s.queue.length > 0 || s.ended) && !s.told) this.emit("readable");
    if (s.ended && s.queue.length === 0) {
      if (s.flowing !== null || s.asked) this[finish]();
    } else {
      this[more]();
    }
  }
  [finish]() {
    const s = this._state;
    if (s.told) return;
    s.told = true;
    this.readable = false;
    this.emit("end");
    if (s.autoDestroy && (!this._writing || this._writing.finished)) this.destroy();
  }
  [more]() {
    const s = this._state;
    if (s.ended || s.reading || this.destroyed || s.length >= s.mark) return;
    if (s.flowing !== true && this.listenerCount("readable") === 0 && !s.asked) return;
    s.reading = true;
    try {
      this._read(s.mark);
    } catch (error) {
      this.destroy(error);
    }
  }
  read(size) {
    const s = this._state;
    s.asked = true;
    let out = null;
    if (s.queue.length > 0 && size !== 0) {
      if (s.objects || (size === undefined && s.flowing)) out = s.queue.shift();
      else {
        const all = s.decoder ? s.queue.join("") : bufferOf(join(s.queue));
        if (size === undefined || size === all.length || (size > all.length && s.ended)) {
          out = all;
          s.queue.length = 0;
        } else if (size < all.length) {
          out = all.slice(0, size);
          s.queue = [all.slice(size)];
        }
      }
      if (out !== null) s.length -= s.objects ? 1 : out.length;
    }
    if (out !== null) this.emit("data", out);
    this[schedule]();
    return out;
  }
  on(name, listener) {
    super.on(name, listener);
    if (name === "data" && this._state.flowing !== false) this.resume();
    if (name === "readable") {
      this._state.asked = true;
      this[schedule]();
    }
    return this;
  }
  addListener(name, listener) { return this.on(name, listener); }
  resume() {
    this._state.flowing = true;
    this[schedule]();
    return this;
  }
  pause() {
    this._state.flowing = false;
    return this;
  }
  isPaused() { return this._state.flowing === false; }
  setEncoding(encoding) {
    const s = this._state;
    s.decoder = new (require("string_decoder").StringDecoder)(encoding);
    s.encoding = encoding;
    const held = s.queue.map((chunk) => s.decoder.write(chunk)).join("");
    s.queue = held === "" ? [] : [held];
    s.length = held.length;
    return this;
  }
  unpipe() { return this.pause(); }
  destroy(error) { return closing(this, error); }
  async *[Symbol.asyncIterator]() {
    const s = this._state;
    let wake = () => {};
    const kick = () => wake();
    const failed = (error) => { s.failed = error; kick(); };
    this.on("readable", kick).on("end", kick).on("close", kick).on("error", failed);
    try {
      for (;;) {
        if (s.error) throw s.error;
        const next = s.queue.length > 0 ? s.queue.shift() : undefined;
        if (next !== undefined) {
          s.length -= s.objects ? 1 : next.length;
          yield next;
          continue;
        }
        if (s.told || this.destroyed) return;
        const waited = new Promise((done) => { wake = done; });
        s.asked = true;
        this[schedule]();
        await waited;
      }
    } finally {
      for (const [name, f] of [["readable", kick], ["end", kick], ["close", kick]]) this.off(name, f);
      if (!this.destroyed) this.destroy();
    }
  }
  async toArray() {
    const all = [];
    for await (const item of this) all.push(item);
    return all;
  }
  static from(items, options) {
    const list = typeof items === "string" || ArrayBuffer.isView(items) ? [items][Symbol.iterator]() : items[Symbol.asyncIterator]?.() ?? items[Symbol.iterator]();
    let busy = false;
    return new Readable({
      objectMode: true, highWaterMark: 1, ...options,
      async read() {
        if (busy) return;
        busy = true;
        try {
          const { value, done } = await list.next();
          busy = false;
          this.push(done ? null : await value);
        } catch (error) {
          this.destroy(error);
        }
      },
      destroy(error, done) { Promise.resolve(list.return?.()).then(() => done(error), done); },
    });
  }
  static fromWeb(stream, options) { return Readable.from(stream, { objectMode: false, ...options }); }
  static toWeb(stream) {
    const list = stream[Symbol.asyncIterator]();
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = await list.next();
        if (done) controller.close();
        else controller.enqueue(typeof value === "object" && ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : value);
      },
      async cancel() { await list.return(); },
    }, { highWaterMark: 0 });
  }
}

const Readable = callable(ReadableBase, begin.readable);

function aborted(signal) {
  const error = new Error("The operation was aborted", { cause: signal.reason });
  error.name = "AbortError";
  error.code = "ABORT_ERR";
  return error;
}

// writing gives a class the writable half of a stream.
const writing = {
  _beginWriting(options) {
    const objects = Boolean(options.objectMode || options.writableObjectMode);
    Object.defineProperty(this, "_writing", { value: { queue: [], length: 0, busy: false, ending: false, finished: false, objects, mark: options.highWaterMark ?? (objects ? 16 : 65536), decode: options.decodeStrings !== false, encoding: options.defaultEncoding ?? "utf8", needDrain: false }, writable: true });
    this.writable = true;
    for (const name of ["write", "writev", "final", "construct"]) if (options[name]) this[`_${name}`] = options[name];
  },
  _write(chunk, encoding, done) { done(); },
  write(chunk, encoding, callback) {
    const w = this._writing;
    if (typeof encoding === "function") [encoding, callback] = [undefined, encoding];
    const fail = (error) => {
      tick(() => { callback?.(error); this.destroy(error); });
      return false;
    };
    if (chunk === null) throw coded(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
    if (w.ending) return fail(coded(Error, "ERR_STREAM_WRITE_AFTER_END", "write after end"));
    if (this.destroyed) {
      tick(() => callback?.(coded(Error, "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed")));
      return false;
    }
    if (!w.objects) {
      if (typeof chunk !== "string" && !ArrayBuffer.isView(chunk)) throw require("helve:check").wrongType("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk);
      if (typeof chunk !== "string" || w.decode) {
        chunk = bufferOf(chunk, encoding ?? w.encoding);
        encoding = "buffer";
      }
    }
    w.queue.push({ chunk, encoding: encoding ?? w.encoding, callback });
    w.length += w.objects ? 1 : chunk.length;
    w.needDrain ||= w.length >= w.mark;
    this._drainQueue();
    return w.length < w.mark;
  },
  _drainQueue() {
    const w = this._writing;
    if (w.busy || this.destroyed || w.corked) return;
    const next = w.queue.shift();
    if (!next) {
      if (w.ending) this._finish();
      else if (w.needDrain) {
        w.needDrain = false;
        tick(() => this.emit("drain"));
      }
      return;
    }
    w.busy = true;
    const done = (error) => {
      w.busy = false;
      w.length -= w.objects ? 1 : next.chunk.length;
      if (error) {
        next.callback?.(error);
        this.destroy(error);
        return;
      }
      tick(() => { next.callback?.(null); this._drainQueue(); });
    };
    try {
      this._write(next.chunk, next.encoding, done);
    } catch (error) {
      this.destroy(error);
    }
  },
  _finish() {
    const w = this._writing;
    if (w.finishing) return;
    w.finishing = true;
    const done = (error) => {
      if (error) return void this.destroy(error);
      tick(() => {
        w.finished = true;
        this.writableFinished = true;
        this.emit("finish");
        if (this._state.autoDestroy !== false && (this._state.told || !(this instanceof Readable))) this.destroy();
      });
    };
    if (this._final) this._final(done);
    else done();
  },
  end(chunk, encoding, callback) {
    const w = this._writing;
    if (typeof chunk === "function") [chunk, callback] = [undefined, chunk];
    if (typeof encoding === "function") [encoding, callback] = [undefined, encoding];
    if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
    if (callback) {
      if (w.finished) tick(callback);
      else this.once("finish", callback);
    }
    if (!w.ending) {
      w.ending = true;
      w.corked = 0;
      this.writable = false;
      this.writableEnded = true;
      this._drainQueue();
    }
    return this;
  },
  cork() { this._writing.corked = (this._writing.corked ?? 0) + 1; },
  uncork() {
    if (this._writing.corked > 0 && --this._writing.corked === 0) this._drainQueue();
  },
  setDefaultEncoding(encoding) {
    this._writing.encoding = encoding;
    return this;
  },
};
const lengths = {
  writableLength: (s) => s._writing.length,
  writableHighWaterMark: (s) => s._writing.mark,
  writableObjectMode: (s) => s._writing.objects,
  writableNeedDrain: (s) => s._writing.needDrain,
};

function writable(type) {
  for (const name of Object.keys(writing)) Object.defineProperty(type.prototype, name, { value: writing[name], configurable: true, writable: true });
  for (const name of Object.keys(lengths)) Object.defineProperty(type.prototype, name, { get() { return lengths[name](this); }, configurable: true });
}

class WritableBase extends Stream {
  constructor(options) {
    super();
    begin.writable.call(this, options);
  }
  get errored() { return this._state.error ?? null; }
  _destroy(error, done) { done(error); }
  destroy(error) { return closing(this, error); }
  pipe() { throw coded(Error, "ERR_STREAM_CANNOT_PIPE", "Cannot pipe, not readable"); }
  static toWeb(stream) {
    return new WritableStream({
      write: (chunk) => new Promise((done, fail) => { stream.write(chunk, (error) => error ? fail(error) : done()); }),
      close: () => new Promise((done) => { stream.end(done); }),
      abort: (reason) => { stream.destroy(reason); },
    });
  }
}
const Writable = callable(WritableBase, begin.writable);
writable(Writable);

class DuplexBase extends Readable {
  constructor(options) {
    super(options);
    begin.both.call(this, options);
  }
}
const Duplex = callable(DuplexBase, begin.duplex);
writable(Duplex);

class TransformBase extends Duplex {
  constructor(options) {
    super(options);
    begin.change.call(this, options);
  }
  _transform(chunk, encoding, done) { done(null, chunk); }
  _write(chunk, encoding, done) {
    this._transform(chunk, encoding, (error, out) => {
      if (error) return done(error);
      const room = out === undefined || out === null || this.push(out);
      if (room || this._state.flowing) done();
      else this._resume = done;
    });
  }
  _read() {
    const go = this._resume;
    this._resume = undefined;
    go?.();
  }
  _final(done) {
    const end = (error, out) => {
      if (error) return done(error);
      if (out !== undefined && out !== null) this.push(out);
      this.push(null);
      done();
    };
    if (this._flush) this._flush(end);
    else end();
  }
}

const Transform = callable(TransformBase, begin.transform);
const PassThrough = callable(class PassThroughBase extends Transform {}, begin.transform);

// finished tells when a stream is through.
function finished(stream, options, callback) {
  if (typeof options === "function") [options, callback] = [{}, options];
  let told = false;
  const over = (error) => {
    if (told) return;
    told = true;
    callback(error);
  };
  stream.on("error", over);
  const reads = stream instanceof Readable && options?.readable !== false;
  const writes = Boolean(stream._writing) && options?.writable !== false;
  let left = (reads ? 1 : 0) + (writes ? 1 : 0);
  const one = () => { if (--left <= 0) over(); };
  if (reads) stream._state.told ? tick(one) : stream.once("end", one);
  if (writes) stream._writing.finished ? tick(one) : stream.once("finish", one);
  stream.once("close", () => over(left > 0 ? stream.errored ?? coded(Error, "ERR_STREAM_PREMATURE_CLOSE", "Premature close") : undefined));
  return () => { told = true; };
}

function pipeline(...streams) {
  const callback = streams.pop();
  const all = streams.flat().map((s, i) => (i === 0 && typeof s.pipe !== "function" ? Readable.from(typeof s === "function" ? s() : s) : s));
  let told = false;
  const over = (error) => {
    if (told) return;
    told = true;
    if (error) for (const s of all) s.destroy?.();
    callback(error);
  };
  let stream = all[0];
  stream.on("error", over);
  for (let i = 1; i < all.length; i++) {
    if (typeof all[i] === "function") {
      const made = all[i](stream);
      if (i === all.length - 1 && typeof made?.then === "function") {
        made.then(() => over(), over);
        return undefined;
      }
      all[i] = Readable.from(made);
    } else {
      stream.pipe(all[i]);
    }
    stream = all[i];
    stream.on("error", over);
  }
  finished(stream, { readable: false }, over);
  return stream;
}

const promises = {
  pipeline: (...streams) => {
    if (typeof streams.at(-1)?.pipe !== "function" && typeof streams.at(-1) !== "function" && !streams.at(-1)?.write) streams.pop(); // options
    return new Promise((done, fail) => { pipeline(...streams, (error) => (error ? fail(error) : done())); });
  },
  finished: (stream, options) => new Promise((done, fail) => { finished(stream, options ?? {}, (error) => (error ? fail(error) : done())); }),
};

Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises, isReadable: (s) => Boolean(s?.readable), isErrored: (s) => Boolean(s?.errored) });
module.exports = Stream;
