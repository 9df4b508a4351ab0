// The streams of the web: chunks that are read or written one by one, with somebody waiting at the other end.
"use strict";

// later makes a promise and keeps what settles it; a rejection nobody waits for is no error.
function pledge() {
  const made = Promise.withResolvers();
  made.promise.catch(() => {});
  return made;
}

// inside keeps what belongs to a stream and is not for scripts.
const inside = new WeakMap();
const of = (object, kind) => {
  const state = inside.get(object);
  if (!state) throw new TypeError(`Receiver is not a ${kind}`);
  return state;
};

function sizing(strategy, standard) {
  const mark = strategy?.highWaterMark ?? standard;
  if (!(Number(mark) >= 0)) throw new RangeError("highWaterMark must be a number that is not negative");
  return { mark: Number(mark), size: strategy?.size ? (chunk) => Number(strategy.size(chunk)) : () => 1 };
}

// --- reading

// A stream's state: queue of {chunk, size}, reads that wait, and what its source is doing.
function feed(s) {
  while (s.reads.length > 0 && s.queue.length > 0) {
    const { chunk, size } = s.queue.shift();
    s.total -= size;
    s.reads.shift().resolve({ value: chunk, done: false });
  }
  if (s.queue.length === 0 && s.closing && s.state === "open") {
    s.state = "closed";
    for (const read of s.reads.splice(0)) read.resolve({ value: undefined, done: true });
    s.closed?.resolve(undefined);
  }
  pull(s);
}

function fail(s, error) {
  if (s.state !== "open") return;
  s.state = "failed";
  s.error = error;
  s.queue.length = s.total = 0;
  for (const read of s.reads.splice(0)) read.reject(error);
  s.closed?.reject(error);
}

// pull asks the source for more if somebody waits or there is room, once at a time.
function pull(s) {
  if (!s.started || s.state !== "open" || s.closing || !s.source.pull) return;
  if (s.reads.length === 0 && s.total >= s.mark) return;
  if (s.pulling) {
    s.again = true;
    return;
  }
  s.pulling = true;
  attempt(() => s.source.pull(s.controller)).then(() => {
    s.pulling = false;
    if (s.again) {
      s.again = false;
      pull(s);
    }
  }, (error) => fail(s, error));
}

async function attempt(work) {
  return work();
}

class ReadableStreamDefaultController {
  get desiredSize() {
    const s = of(this, "ReadableStreamDefaultController");
    return s.state === "failed" ? null : s.state === "closed" ? 0 : s.mark - s.total;
  }
  enqueue(chunk) {
    const s = of(this, "ReadableStreamDefaultController");
    if (s.closing || s.state !== "open") throw invalid("Controller is already closed");
    let size;
    try {
      size = s.size(chunk);
    } catch (error) {
      fail(s, error);
      throw error;
    }
    s.queue.push({ chunk, size });
    s.total += size;
    feed(s);
  }
  close() {
    const s = of(this, "ReadableStreamDefaultController");
    if (s.closing || s.state !== "open") throw invalid("Controller is already closed");
    s.closing = true;
    feed(s);
  }
  error(reason) { fail(of(this, "ReadableStreamDefaultController"), reason); }
  // What Bun's "direct" streams write to.
  write(chunk) { this.enqueue(chunk); }
  end() { if (!of(this, "ReadableStreamDefaultController").closing) this.close(); }
  flush() {}
}

function invalid(message) {
  return Object.assign(new TypeError(message), { code: "ERR_INVALID_STATE" });
}

function cancel(s, reason) {
  s.touched = true;
  if (s.state === "failed") return Promise.reject(s.error);
  if (s.state === "closed") return Promise.resolve();
  s.queue.length = s.total = 0;
  s.closing = true;
  feed(s);
  return attempt(() => s.source.cancel?.(reason)).then(() => undefined);
}

class ReadableStreamDefaultReader {
  constructor(stream) {
    const s = of(stream, "ReadableStream");
    if (s.reader) throw invalid("ReadableStream is locked");
    s.reader = this;
    s.closed = pledge();
    if (s.state === "closed") s.closed.resolve(undefined);
    if (s.state === "failed") s.closed.reject(s.error);
    inside.set(this, { stream: s, closed: s.closed });
  }
  get closed() { return of(this, "ReadableStreamDefaultReader").closed.promise; }
  read() {
    const { stream: s } = of(this, "ReadableStreamDefaultReader");
    if (!s) return Promise.reject(invalid("The reader is not attached to a stream"));
    if (s.state === "failed") return Promise.reject(s.error);
    if (s.state === "closed") return Promise.resolve({ value: undefined, done: true });
    const waiting = Promise.withResolvers();
    s.touched = true;
    s.reads.push(waiting);
    feed(s);
    return waiting.promise;
  }
  // readMany is Bun's: all that is there.
  async readMany() {
    const first = await this.read();
    if (first.done) return { value: [], size: 0, done: true };
    const value = [first.value];
    const { stream: s } = of(this, "ReadableStreamDefaultReader");
    while (s && s.queue.length > 0) value.push((await this.read()).value);
    return { value, size: value.length, done: false };
  }
  cancel(reason) {
    const { stream: s } = of(this, "ReadableStreamDefaultReader");
    return s ? cancel(s, reason) : Promise.reject(invalid("The reader is not attached to a stream"));
  }
  releaseLock() {
    const mine = of(this, "ReadableStreamDefaultReader");
    const s = mine.stream;
    if (!s) return;
    const gone = Object.assign(new TypeError("Releasing reader"), { code: "ERR_INVALID_STATE" });
    for (const read of s.reads.splice(0)) read.reject(gone);
    s.reader = null;
    s.closed = null;
    mine.stream = null;
    mine.closed = pledge();
    mine.closed.reject(gone);
  }
}

class ReadableStream {
  constructor(source = {}, strategy = {}) {
    if (source === null || typeof source !== "object") throw new TypeError("ReadableStream constructor takes an object as first argument");
    const { mark, size } = sizing(strategy, source.type === "bytes" ? 0 : 1);
    const s = { source, mark, size, queue: [], total: 0, reads: [], state: "open", reader: null, controller: new ReadableStreamDefaultController() };
    inside.set(this, s);
    inside.set(s.controller, s);
    const begun = source.start?.(s.controller);
    const start = () => { s.started = true; pull(s); };
    if (typeof begun?.then === "function") begun.then(start, (error) => fail(s, error));
    else Promise.resolve().then(start);
  }
  get locked() { return of(this, "ReadableStream").reader !== null; }
  getReader(options) {
    if (options?.mode === "byob") throw new TypeError("ReadableStream: readers with buffers of their own are not available");
    return new ReadableStreamDefaultReader(this);
  }
  cancel(reason) {
    if (this.locked) return Promise.reject(invalid("ReadableStream is locked"));
    return cancel(of(this, "ReadableStream"), reason);
  }
  tee() {
    const reader = this.getReader();
    const outs = [], gone = [false, false], reasons = [];
    const all = pledge();
    let reading = false;
    const more = () => {
      if (reading) return;
      reading = true;
      reader.read().then(({ value, done }) => {
        reading = false;
        outs.forEach((out, i) => { if (!gone[i]) done ? out.close() : out.enqueue(value); });
        if (done) all.resolve();
      }, (error) => { outs.forEach((out) => out.error(error)); all.resolve(); });
    };
    return [0, 1].map((i) => new ReadableStream({
      start(controller) { outs[i] = controller; },
      pull: more,
      cancel(reason) {
        gone[i] = true;
        reasons[i] = reason;
        if (gone[1 - i]) all.resolve(reader.cancel(reasons));
        return all.promise;
      },
    }, { highWaterMark: 0 }));
  }
  pipeThrough({ readable, writable }, options) {
    this.pipeTo(writable, options).catch(() => {});
    return readable;
  }
  async pipeTo(target, { preventClose, preventAbort, preventCancel, signal } = {}) {
    const reader = this.getReader(), writer = target.getWriter();
    const stop = pledge();
    const aborted = () => stop.reject(signal.reason);
    if (signal?.aborted) aborted();
    signal?.addEventListener("abort", aborted, { once: true });
    try {
      for (;;) {
        let next;
        try {
          await Promise.race([stop.promise, writer.ready]);
          next = await Promise.race([stop.promise, reader.read()]);
        } catch (error) {
          if (!preventAbort) await writer.abort(error).catch(() => {});
          if (!preventCancel) reader.cancel(error).catch(() => {});
          throw error;
        }
        if (next.done) break;
        writer.write(next.value).catch(() => {});
        const failed = of(target, "WritableStream");
        if (failed.state === "failed") {
          if (!preventCancel) await reader.cancel(failed.error).catch(() => {});
          throw failed.error;
        }
      }
      if (!preventClose) await writer.close();
      else await of(target, "WritableStream").last;
    } finally {
      signal?.removeEventListener("abort", aborted);
      reader.releaseLock();
      writer.releaseLock();
    }
  }
  // The iterator is no generator: the engine does not wait for the end of one that a loop leaves.
  values({ preventCancel } = {}) {
    const reader = this.getReader();
    const over = { value: undefined, done: true };
    let last = Promise.resolve(), ended = false;
    const next = async () => {
      if (ended) return over;
      let got;
      try {
        got = await reader.read();
      } catch (error) {
        ended = true;
        reader.releaseLock();
        throw error;
      }
      if (got.done && !ended) {
        ended = true;
        reader.releaseLock();
      }
      return got;
    };
    return {
      next: () => (last = last.then(next, next)),
      return(value) {
        if (ended) return Promise.resolve({ value, done: true });
        ended = true;
        const done = preventCancel ? Promise.resolve() : reader.cancel(value);
        reader.releaseLock();
        return done.then(() => ({ value, done: true }));
      },
      [Symbol.asyncIterator]() { return this; },
    };
  }
  [Symbol.asyncIterator](options) { return this.values(options); }
  static from(items) {
    const list = items[Symbol.asyncIterator]?.() ?? items[Symbol.iterator]?.();
    if (!list) throw new TypeError("ReadableStream.from takes something that can be iterated");
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = await list.next();
        if (done) controller.close();
        else controller.enqueue(await value);
      },
      async cancel(reason) { await list.return?.(reason); },
    }, { highWaterMark: 0 });
  }
  // Bun's shortcuts.
  async bytes() { return gather(this); }
  async arrayBuffer() { return (await gather(this)).buffer; }
  async text() { return decode(await gather(this)); }
  async json() { return JSON.parse(await this.text()); }
  async blob() { return new (require("blob").Blob)([await gather(this)]); }
  get [Symbol.toStringTag]() { return "ReadableStream"; }
}

// decode reads UTF-8 without its mark.
function decode(bytes) {
  const text = require("helve:host").text(bytes);
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

// toBytes is a chunk as bytes.
function toBytes(chunk) {
  if (typeof chunk === "string") return require("helve:host").bytes(chunk);
  if (chunk instanceof Uint8Array) return chunk;
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  if (chunk instanceof ArrayBuffer || chunk instanceof SharedArrayBuffer) return new Uint8Array(chunk);
  throw Object.assign(new TypeError("a chunk of bytes or text was expected"), { code: "ERR_INVALID_ARG_TYPE" });
}

// join makes one array of many, of its own.
function join(chunks) {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  const all = new Uint8Array(length);
  length = 0;
  for (const chunk of chunks) {
    all.set(chunk, length);
    length += chunk.length;
  }
  return all;
}

// gather reads a stream of bytes or text to its end.
async function gather(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(toBytes(chunk));
  return join(chunks);
}

// --- writing

class WritableStreamDefaultController {
  get signal() { return (of(this, "WritableStreamDefaultController").stopper ??= new AbortController()).signal; }
  error(reason) { spoil(of(this, "WritableStreamDefaultController"), reason); }
}

function spoil(s, error) {
  if (s.state !== "open" && s.state !== "closing") return;
  s.state = "failed";
  s.error = error;
  s.ready.reject(error);
  s.closed.reject(error);
}

// put sets one step after those before it; a step that fails spoils the stream.
function put(s, step) {
  s.last = s.last.then(() => {
    if (s.state === "failed") throw s.error;
    return step();
  });
  s.last.catch((error) => spoil(s, error));
  return s.last;
}

class WritableStreamDefaultWriter {
  constructor(stream) {
    const s = of(stream, "WritableStream");
    if (s.writer) throw invalid("WritableStream is locked");
    s.writer = this;
    inside.set(this, { stream: s });
  }
  #stream() {
    const { stream } = of(this, "WritableStreamDefaultWriter");
    if (!stream) throw invalid("The writer is not attached to a stream");
    return stream;
  }
  get closed() { return this.#stream().closed.promise; }
  get ready() { return this.#stream().ready.promise; }
  get desiredSize() {
    const s = this.#stream();
    return s.state === "failed" ? null : s.state === "closed" ? 0 : s.mark - s.total;
  }
  async write(chunk) {
    const s = this.#stream();
    if (s.state === "failed") throw s.error;
    if (s.state !== "open") throw invalid("WritableStream is closed");
    const size = s.size(chunk);
    s.total += size;
    if (s.total >= s.mark && !s.full) {
      s.full = true;
      s.ready = pledge();
    }
    await put(s, async () => {
      await s.sink.write?.(chunk, s.controller);
      s.total -= size;
      if (s.full && s.total < s.mark) {
        s.full = false;
        s.ready.resolve(undefined);
      }
    });
  }
  async close() {
    const s = this.#stream();
    if (s.state === "failed") throw s.error;
    if (s.state !== "open") throw invalid("WritableStream is closed");
    s.state = "closing";
    await put(s, async () => {
      await s.sink.close?.();
      s.state = "closed";
      s.closed.resolve(undefined);
    });
  }
  async abort(reason) { await stop(this.#stream(), reason); }
  releaseLock() {
    const mine = of(this, "WritableStreamDefaultWriter");
    if (mine.stream) mine.stream.writer = null;
    mine.stream = null;
  }
}

async function stop(s, reason) {
  if (s.state === "closed" || s.state === "failed") return;
  s.stopper?.abort(reason);
  spoil(s, reason);
  await s.sink.abort?.(reason);
}

class WritableStream {
  constructor(sink = {}, strategy = {}) {
    const { mark, size } = sizing(strategy, 1);
    const s = { sink, mark, size, total: 0, state: "open", writer: null, ready: pledge(), closed: pledge(), last: Promise.resolve(), controller: new WritableStreamDefaultController() };
    s.ready.resolve(undefined);
    inside.set(this, s);
    inside.set(s.controller, s);
    const begun = sink.start?.(s.controller);
    if (typeof begun?.then === "function") put(s, () => begun);
  }
  get locked() { return of(this, "WritableStream").writer !== null; }
  getWriter() { return new WritableStreamDefaultWriter(this); }
  async abort(reason) {
    if (this.locked) throw invalid("WritableStream is locked");
    await stop(of(this, "WritableStream"), reason);
  }
  async close() {
    const writer = this.getWriter();
    try {
      await writer.close();
    } finally {
      writer.releaseLock();
    }
  }
  get [Symbol.toStringTag]() { return "WritableStream"; }
}

class TransformStream {
  #readable; #writable;
  constructor(transformer = {}, writing = {}, reading = {}) {
    let out, room = pledge();
    this.#readable = new ReadableStream({
      start(controller) { out = controller; },
      pull() { room.resolve(); },
      cancel: (reason) => { spoil(of(this.#writable, "WritableStream"), reason); return transformer.cancel?.(reason); },
    }, { highWaterMark: reading.highWaterMark ?? 0, size: reading.size });
    const controller = {
      get desiredSize() { return out.desiredSize; },
      enqueue: (chunk) => out.enqueue(chunk),
      error: (reason) => { out.error(reason); spoil(of(this.#writable, "WritableStream"), reason); },
      terminate: () => { out.close(); spoil(of(this.#writable, "WritableStream"), new TypeError("the stream was ended")); },
    };
    const guard = async (work) => {
      try {
        await work();
      } catch (error) {
        out.error(error);
        throw error;
      }
    };
    this.#writable = new WritableStream({
      start: () => transformer.start?.(controller),
      write: (chunk) => guard(async () => {
        if (out.desiredSize <= 0 && of(this.#readable, "ReadableStream").reads.length === 0) {
          await room.promise;
          room = pledge();
        }
        await (transformer.transform ? transformer.transform(chunk, controller) : controller.enqueue(chunk));
      }),
      close: () => guard(async () => {
        await transformer.flush?.(controller);
        const s = of(this.#readable, "ReadableStream");
        if (s.state === "open" && !s.closing) out.close();
      }),
      abort: (reason) => { out.error(reason); return transformer.cancel?.(reason); },
    }, writing);
  }
  get readable() { return this.#readable; }
  get writable() { return this.#writable; }
  get [Symbol.toStringTag]() { return "TransformStream"; }
}

class TextEncoderStream extends TransformStream {
  constructor() { super({ transform: (chunk, c) => c.enqueue(toBytes(String(chunk))) }); }
  get encoding() { return "utf-8"; }
}

class TextDecoderStream extends TransformStream {
  constructor(label, options) {
    const decoder = new (require("buffer").TextDecoder ?? TextDecoder)(label, options);
    const pass = (text, c) => { if (text !== "") c.enqueue(text); };
    super({
      transform: (chunk, c) => pass(decoder.decode(chunk, { stream: true }), c),
      flush: (c) => pass(decoder.decode(), c),
    });
  }
  get encoding() { return "utf-8"; }
}

// squeeze is a stream that packs or unpacks all at once, at its end.
class Squeeze extends TransformStream {
  constructor(format, unpack) {
    if (!["gzip", "deflate", "deflate-raw"].includes(format)) throw new TypeError(`Unsupported compression format: ${format}`);
    const chunks = [];
    super({
      transform: (chunk) => { chunks.push(toBytes(chunk).slice()); },
      flush: async (c) => c.enqueue((await require("helve:host").later("zlib.run", { format, unpack }, join(chunks))).bytes),
    });
  }
}
class CompressionStream extends Squeeze {
  constructor(format) { super(format, false); }
}
class DecompressionStream extends Squeeze {
  constructor(format) { super(format, true); }
}

class CountQueuingStrategy {
  constructor({ highWaterMark }) { this.highWaterMark = highWaterMark; }
  size() { return 1; }
}
class ByteLengthQueuingStrategy {
  constructor({ highWaterMark }) { this.highWaterMark = highWaterMark; }
  size(chunk) { return chunk.byteLength; }
}

module.exports = {
  ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, WritableStream, WritableStreamDefaultWriter,
  WritableStreamDefaultController, TransformStream, TextEncoderStream, TextDecoderStream, CompressionStream, DecompressionStream,
  CountQueuingStrategy, ByteLengthQueuingStrategy,
};
// For our own modules; not seen by those who list the exports.
Object.defineProperties(module.exports, { gather: { value: gather }, touched: { value: (stream) => of(stream, "ReadableStream").touched === true }, join: { value: join }, toBytes: { value: toBytes }, decode: { value: decode } });
