// bun:sqlite. The host has the database; rows come over as JSON, with bytes and large numbers marked.
"use strict";
const host = require("helve:host");

class SQLiteError extends Error {
  constructor(error) {
    super(error.message);
    const { errno, offset } = error.data ?? {};
    this.errno = errno ?? error.errno ?? 1;
    if (error.code) this.code = error.code;
    this.byteOffset = offset ?? -1;
  }
}
Object.defineProperty(SQLiteError.prototype, "name", { value: "SQLiteError", configurable: true, writable: true });

function ask(op, arg, bytes) {
  try {
    return host.now(`sqlite.${op}`, arg, bytes);
  } catch (error) {
    if (String(error?.code).startsWith("SQLITE_")) throw new SQLiteError(error);
    throw error;
  }
}

const base64 = (bytes) => require("buffer").Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

// sent is a value as the host takes it.
function sent(value) {
  switch (typeof value) {
    case "string": case "boolean": return value;
    case "number": return Number.isFinite(value) ? (Number.isInteger(value) && !Number.isSafeInteger(value) || Object.is(value, -0) ? { real: String(value) } : value) : { real: String(value) };
    case "bigint": return { int: String(value) };
    case "undefined": return null;
  }
  if (value === null) return null;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return { bytes: base64(require("stream/web").toBytes(value)) };
  throw Object.assign(new TypeError("Binding expected string, TypedArray, boolean, number, bigint or null"), { code: "ERR_INVALID_ARG_TYPE" });
}

// got is a value of a row.
function got(value, big) {
  if (typeof value === "object" && value !== null) {
    if (value.bytes !== undefined) return new Uint8Array(require("buffer").Buffer.from(value.bytes, "base64"));
    if (value.int !== undefined) return big ? BigInt(value.int) : Number(value.int);
    return Number(value.real);
  }
  return big && Number.isInteger(value) ? BigInt(value) : value;
}

class Statement {
  #db; #sql; #about; #strict; #big; #type; #bound = [];
  constructor(db, sql, { strict, big }, bound) {
    this.#db = db;
    this.#sql = sql;
    this.#strict = strict;
    this.#big = big;
    this.#bound = bound;
    this.#about = ask("prepare", { id: db.handle, sql }).value;
  }
  get columnNames() { return [...this.#about.columns]; }
  get paramsCount() { return this.#about.params; }
  get native() { return this; }

  // binding is the arguments of a statement: a list, or an object by name.
  #binding(args) {
    const given = args.length > 0 ? args : this.#bound;
    const first = given[0];
    if (given.length === 1 && Array.isArray(first)) return { list: first.map(sent) };
    if (given.length !== 1 || typeof first !== "object" || first === null || ArrayBuffer.isView(first)) return { list: given.map(sent) };
    const names = {};
    for (const name of Object.keys(first)) names[this.#strict || /^[$:@]/.test(name) ? name.replace(/^[$:@]/, "") : `\0${name}`] = sent(first[name]);
    return { names, strict: this.#strict };
  }
  #rows(args, limit) {
    const { value } = ask("query", { id: this.#db.handle, sql: this.#sql, limit, ...this.#binding(args) });
    return { columns: value.columns, rows: value.rows.map((row) => row.map((v) => got(v, this.#big))) };
  }
  #object(columns, row) {
    const out = this.#type ? Object.create(this.#type.prototype) : {};
    columns.forEach((name, i) => { out[name] = row[i]; });
    return out;
  }
  all(...args) {
    const { columns, rows } = this.#rows(args);
    return rows.map((row) => this.#object(columns, row));
  }
  get(...args) {
    const { columns, rows } = this.#rows(args, 1);
    return rows.length > 0 ? this.#object(columns, rows[0]) : null;
  }
  values(...args) { return this.#rows(args).rows; }
  raw(...args) { return this.values(...args); }
  run(...args) {
    const { changes, lastInsertRowid } = ask("run", { id: this.#db.handle, sql: this.#sql, ...this.#binding(args) }).value;
    return { changes, lastInsertRowid: got(lastInsertRowid, this.#big) };
  }
  *iterate(...args) { yield* this.all(...args); }
  [Symbol.iterator]() { return this.iterate(); }
  as(type) {
    const other = new Statement(this.#db, this.#sql, { strict: this.#strict, big: this.#big }, this.#bound);
    other.#type = type;
    return other;
  }
  finalize() {}
  toString() { return this.#sql; }
  [Symbol.dispose]() {}
}

class Database {
  #id; #options; #cache = new Map(); #depth = 0;
  constructor(filename = ":memory:", options = {}) {
    if (typeof options === "number") options = { readonly: Boolean(options & 1), create: Boolean(options & 4) };
    const name = filename instanceof URL ? require("url").fileURLToPath(filename) : String(filename ?? ":memory:");
    const memory = name === "" || name === ":memory:";
    const path = memory ? ":memory:" : require("path").resolve(require("process").cwd(), name.replace(/^file:(\/\/)?/, ""));
    const alone = Object.keys(options).every((key) => !["readonly", "readwrite", "create"].includes(key));
    this.#options = { strict: Boolean(options.strict), big: Boolean(options.safeIntegers) };
    this.filename = name;
    this.#id = ask("open", { path, readonly: Boolean(options.readonly), create: Boolean(options.create ?? alone) }).value.id;
  }
  get handle() {
    if (this.#id === undefined) throw new RangeError("Cannot use a closed database");
    return this.#id;
  }
  get inTransaction() { return this.#depth > 0 || ask("state", { id: this.handle }).value.inTransaction; }
  query(sql) {
    let made = this.#cache.get(sql);
    if (!made) {
      made = this.prepare(sql);
      if (this.#cache.size < 100) this.#cache.set(sql, made);
    }
    return made;
  }
  prepare(sql, ...bound) { return new Statement(this, String(sql), this.#options, bound.length === 1 && bound[0] === undefined ? [] : bound); }
  run(sql, ...args) {
    if (args.length > 0) return this.prepare(sql).run(...args);
    const { changes, lastInsertRowid } = ask("exec", { id: this.handle, sql: String(sql) }).value;
    return { changes, lastInsertRowid: got(lastInsertRowid, this.#options.big) };
  }
  exec(sql, ...args) { return this.run(sql, ...args); }
  // transaction gives a function that runs as a whole or not at all; within another it is a part of that one.
  transaction(work) {
    const db = this;
    const make = (kind) => function (...args) {
      const nested = db.#depth > 0;
      const name = `helve_${db.#depth}`;
      db.run(nested ? `SAVEPOINT ${name}` : `BEGIN ${kind}`);
      db.#depth++;
      try {
        const result = work.apply(this, args);
        db.run(nested ? `RELEASE ${name}` : "COMMIT");
        return result;
      } catch (error) {
        db.run(nested ? `ROLLBACK TO ${name}` : "ROLLBACK");
        if (nested) db.run(`RELEASE ${name}`);
        throw error;
      } finally {
        db.#depth--;
      }
    };
    const [plain, ...rest] = ["", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"].map(make);
    return Object.assign(plain, { deferred: rest[0], immediate: rest[1], exclusive: rest[2], default: plain, database: db });
  }
  close() {
    if (this.#id === undefined) return;
    ask("close", { id: this.#id });
    this.#id = undefined;
    this.#cache.clear();
  }
  serialize() { throw new Error("Database.serialize is not available in the embedded engine"); }
  loadExtension() { throw new Error("Database.loadExtension is not available in the embedded engine"); }
  [Symbol.dispose]() { this.close(); }
  static open(filename, options) { return new Database(filename, options); }
}

const constants = { SQLITE_OPEN_READONLY: 1, SQLITE_OPEN_READWRITE: 2, SQLITE_OPEN_CREATE: 4 };
module.exports = { Database, Statement, SQLiteError, constants, default: Database };
