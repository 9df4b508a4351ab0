// Node's client for HTTP, on top of fetch. There are no servers in an engine.
"use strict";
const EventEmitter = require("events");
const { Readable, Writable } = require("stream");
const { until } = require("fetch");

class IncomingMessage extends Readable {
  constructor(head, next, close) {
    super({
      read() { next().then((bytes) => this.push(bytes === null ? null : require("buffer").Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)), (error) => this.destroy(error)); },
      destroy(error, done) { close(); done(error); },
    });
    this.statusCode = head.status;
    this.statusMessage = head.statusText;
    this.httpVersion = "1.1";
    this.url = head.url;
    this.headers = {};
    this.rawHeaders = head.headers.flat();
    this.complete = false;
    for (const [name, value] of head.headers) {
      const key = name.toLowerCase();
      if (key === "set-cookie") (this.headers[key] ??= []).push(value);
      else this.headers[key] = key in this.headers ? `${this.headers[key]}, ${value}` : value;
    }
    this.once("end", () => { this.complete = true; });
  }
  setTimeout() { return this; }
}

class ClientRequest extends Writable {
  #parts = []; #options; #headers; #stop = new AbortController(); #timer;

  constructor(scheme, options, callback) {
    super({
      autoDestroy: false,
      write: (chunk, encoding, done) => { this.#parts.push(chunk); done(); },
      final: (done) => { done(); this.#send(); },
    });
    this.#options = options;
    this.#headers = new Headers();
    this.method = String(options.method ?? "GET").toUpperCase();
    this.path = options.path ?? "/";
    this.host = options.hostname ?? options.host ?? "localhost";
    this.protocol = options.protocol ?? scheme;
    this.aborted = false;
    for (const name of Object.keys(options.headers ?? {})) this.setHeader(name, options.headers[name]);
    if (options.auth) this.setHeader("authorization", `Basic ${btoa(options.auth)}`);
    if (callback) this.once("response", callback);
    if (options.timeout) this.setTimeout(options.timeout);
    options.signal?.addEventListener("abort", () => this.destroy(), { once: true });
  }
  setHeader(name, value) {
    this.#headers.delete(name);
    for (const one of [].concat(value)) this.#headers.append(name, one);
    return this;
  }
  getHeader(name) { return this.#headers.get(name) ?? undefined; }
  hasHeader(name) { return this.#headers.has(name); }
  removeHeader(name) { this.#headers.delete(name); }
  getHeaders() { return this.#headers.toJSON(); }
  flushHeaders() {}
  setNoDelay() { return this; }
  setSocketKeepAlive() { return this; }
  setTimeout(ms, callback) {
    if (callback) this.once("timeout", callback);
    clearTimeout(this.#timer);
    if (ms > 0) this.#timer = setTimeout(() => this.emit("timeout"), ms);
    return this;
  }
  abort() {
    this.aborted = true;
    this.destroy();
  }
  destroy(error) {
    if (this._over) return this;
    if (this._answered || error) this._over = true;
    this.#stop.abort();
    clearTimeout(this.#timer);
    if (error && !this._answered) Promise.resolve().then(() => this.emit("error", error));
    return this;
  }
  get #address() {
    const { port } = this.#options;
    const host = this.host.includes(":") && !this.host.startsWith("[") && this.#options.hostname ? `[${this.host}]` : this.host;
    return `${this.protocol}//${host}${port && !/:\d+$/.test(this.host) ? `:${port}` : ""}${this.path}`;
  }
  async #send() {
    const host = require("helve:host");
    const { join } = require("stream/web");
    try {
      const bytes = this.#parts.length > 0 ? join(this.#parts) : undefined;
      const { value: head } = await until(this.#stop.signal, "net.fetch", {
        url: this.#address, method: this.method, headers: [...this.#headers], redirect: "manual", body: bytes !== undefined, decompress: false,
      }, bytes);
      clearTimeout(this.#timer);
      this._answered = true;
      const next = async () => {
        if (head.id === undefined || head.id === null) return null;
        const { value, bytes: more } = await host.later("net.body", { id: head.id });
        return more?.length ? more : value.done ? null : new Uint8Array(0);
      };
      const response = new IncomingMessage(head, next, () => { if (head.id !== undefined && head.id !== null) host.now("net.close", { id: head.id }); });
      if (this.listenerCount("response") === 0) response.resume();
      this.emit("response", response);
      response.once("end", () => this.emit("close"));
    } catch (error) {
      clearTimeout(this.#timer);
      this.emit("error", this.#worded(error));
      this.emit("close");
    }
  }
  #worded(error) {
    if (this.#stop.signal.aborted) return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    if (error?.code === "ECONNREFUSED") {
      const at = new URL(this.#address);
      const port = Number(at.port || (at.protocol === "https:" ? 443 : 80));
      return Object.assign(new Error(`connect ECONNREFUSED ${at.hostname}:${port}`), { code: "ECONNREFUSED", errno: -111, syscall: "connect", address: at.hostname, port });
    }
    return error;
  }
}

// options reads the ways a request can be described.
function optionsOf(first, second) {
  if (typeof first !== "string" && !(first instanceof URL)) return { ...first };
  const at = new URL(first);
  return {
    protocol: at.protocol, hostname: at.hostname, port: at.port, path: at.pathname + at.search,
    ...(at.username ? { auth: `${decodeURIComponent(at.username)}:${decodeURIComponent(at.password)}` } : {}), ...second,
  };
}

// client makes the functions of a module for one scheme.
function client(scheme) {
  const request = (first, second, third) => {
    const callback = [second, third].find((x) => typeof x === "function");
    return new ClientRequest(scheme, optionsOf(first, typeof second === "function" ? undefined : second), callback);
  };
  const get = (...args) => {
    const made = request(...args);
    made.end();
    return made;
  };
  return { request, get };
}

class Agent extends EventEmitter {
  constructor(options) {
    super();
    this.options = { ...options };
  }
  destroy() {}
}

function createServer() {
  throw Object.assign(new Error("http.createServer is not available in the embedded engine: it has no servers"), { code: "ERR_METHOD_NOT_IMPLEMENTED" });
}

const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
const STATUS_CODES = {
  200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
  304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required",
  403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
  411: "Length Required", 413: "Payload Too Large", 415: "Unsupported Media Type", 418: "I'm a Teapot", 422: "Unprocessable Entity",
  425: "Too Early", 429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
  503: "Service Unavailable", 504: "Gateway Timeout",
};

module.exports = { ...client("http:"), Agent, ClientRequest, IncomingMessage, METHODS, STATUS_CODES, createServer, globalAgent: new Agent() };
Object.defineProperties(module.exports, { client: { value: client } });
