// What runs in bun or node: it answers the host's calls with the driver that the embedded engine has, too. Frames are lines of JSON;
// they come in by descriptor 4 and go out by descriptor 3, so that what files print or read does not meet them.
"use strict";
(() => {
  const need = require; // tidy takes the global of node away
  const fs = need("node:fs");
  const Module = need("node:module");
  const { AsyncLocalStorage } = need("node:async_hooks");
  const { join, isAbsolute } = need("node:path");
  const { parse, stringify } = JSON;
  const onBun = typeof Bun !== "undefined";
  let limit = Infinity; // bytes of a frame; the host says it
  const exit = process.exit.bind(process);

  // --- frames out

  const pause = new Int32Array(new SharedArrayBuffer(4));

  function write(bytes) {
    for (let at = 0; at < bytes.length; ) {
      try {
        at += fs.writeSync(3, bytes, at);
      } catch (thrown) {
        if (thrown.code === "EPIPE") exit(0); // nobody is left to hear it
        if (thrown.code !== "EAGAIN") throw thrown;
        Atomics.wait(pause, 0, 0, 1);
      }
    }
  }

  function send(frame) {
    const bytes = Buffer.from(stringify(frame) + "\n");
    if (bytes.length > limit) throw new RangeError(`what was to be sent is longer than ${limit} bytes`);
    write(bytes);
  }

  function text(object, key) {
    try {
      const value = object[key];
      return typeof value === "string" || typeof value === "number" ? String(value) : "";
    } catch {
      return "";
    }
  }

  // own gathers what an error carries beside its name, message and stack, as far as it is JSON of moderate size.
  function own(thrown) {
    const data = {};
    for (const key of Object.keys(thrown).slice(0, 32)) {
      if (key === "name" || key === "message" || key === "stack") continue;
      try {
        const made = stringify(thrown[key]);
        if (made !== undefined && made.length <= 65536) data[key] = parse(made);
      } catch {}
    }
    return data;
  }

  // tell describes what was thrown, whatever it is.
  function tell(thrown) {
    try {
      if (thrown === null || (typeof thrown !== "object" && typeof thrown !== "function")) return { name: "", message: String(thrown), stack: "" };
      const told = { name: text(thrown, "name"), message: text(thrown, "message"), stack: text(thrown, "stack") };
      const code = text(thrown, "code");
      if (code !== "") told.code = code;
      if (told.name === "" && told.message === "" && told.stack === "") told.message = stringify(thrown) ?? String(thrown);
      told.data = own(thrown);
      return told;
    } catch {
      return { name: "Error", message: "an error that can not be described", stack: "" };
    }
  }

  function log(level, line) {
    try {
      send({ kind: "tell", level, text: String(line) });
    } catch {} // too long to be told
  }

  // --- requests to the host, for the call whose work it is

  const working = new AsyncLocalStorage();
  const asked = new Map(); // by number: how to settle it
  let numbers = 0;

  function request(op, arg, number) {
    const call = working.getStore();
    send({ kind: "ask", ask: number, for: call?.id ?? 0, lasting: call?.lasting ?? true, op, arg });
  }

  const host = {
    now(op, arg) {
      if (op === "log") log(arg.level, arg.text);
      else request(op, arg, 0);
      return {};
    },
    later(op, arg) {
      return new Promise((resolve, reject) => {
        const number = ++numbers;
        asked.set(number, { resolve, reject });
        try {
          request(op, arg, number);
        } catch (thrown) {
          asked.delete(number);
          reject(thrown);
        }
      });
    },
    bytes: (body) => ({ body }),
    cancelled: () => working.getStore()?.cancelled ?? new Promise(() => {}),
  };

  function reply({ ask, ok, error }) {
    const waiting = asked.get(ask);
    asked.delete(ask);
    if (!error) return waiting?.resolve({ value: ok });
    const thrown = new Error(error.message);
    if (error.name) Object.defineProperty(thrown, "name", { value: error.name, configurable: true, writable: true });
    if (error.code) thrown.code = error.code;
    if (error.data) thrown.data = error.data;
    waiting?.reject(thrown);
  }

  // --- what files find around them

  // evaluator makes a function that finds our own modules: the driver and what it and tool files import.
  function evaluator(sources, root) {
    const made = new Map();
    const find = Module.createRequire(join(root, "helve.cjs"));
    let installed = false; // a zod that can describe schemas wins over ours, because packages may need all of it
    try {
      installed = Number.parseInt(find("zod/package.json").version, 10) >= 4;
    } catch {}
    const compile = (name, own) => {
      if (made.has(name)) return made.get(name).exports;
      const module = { exports: {} };
      made.set(name, module);
      new Function("module", "exports", "require", "globalThis", `${sources[name]}\n//# sourceURL=helve:${name}`)(module, module.exports, own, doors);
      return module.exports;
    };
    const doors = {}; // where the driver leaves its functions
    const own = (name) => {
      switch (name) {
        case "helve:host": return host;
        case "abort": return { AbortController };
        case "url": return { URL };
        case "helve:schema": return compile(name, (part) => compile(part, own)); // by our own zod, whichever files have
        case "zod": case "zod/v4": return installed ? find(name) : compile("zod", own);
        case "@opencode-ai/plugin": case "@opencode-ai/plugin/tool": return compile("opencode/plugin", own);
        case "driver": return compile("driver", own);
        case "bun":
          if (onBun) return Bun;
          throw new Error("the shell $ is a part of Bun, and these files run on node: install bun, or use node:child_process");
      }
    };
    const names = ["@opencode-ai/plugin", "@opencode-ai/plugin/tool", ...(installed ? [] : ["zod", "zod/v4"])];
    return { own, doors, names };
  }

  const settled = (promise) => promise.then((exports) => ({ exports }), (error) => ({ error }));

  // fromFiles are the files as bun reads them.
  function fromFiles({ own, names }, { root, files }) {
    Bun.plugin({
      name: "helve",
      setup(build) {
        for (const name of names) build.module(name, () => ({ loader: "object", exports: { ...own(name), default: own(name) } }));
      },
    });
    return files.map((file) => ({ file, load: () => settled(import(isAbsolute(file) ? file : join(root, file))) }));
  }

  // fromProgram are the files as one program, of which node finds the packages where the files would.
  function fromProgram({ own, names }, { program, programDir, packages }) {
    const name = join(programDir, "helve-program.cjs");
    const module = new Module(name, null);
    module.filename = name;
    module.paths = Module._nodeModulePaths(programDir);
    const modern = new Map(); // packages that can only be imported
    module.require = (id) => {
      if (names.includes(id)) return own(id);
      return modern.has(id) ? modern.get(id) : Module.prototype.require.call(module, id);
    };
    module._compile(program, name);
    const { bring, files } = module.exports;
    const prepare = async (file) => {
      for (const id of packages?.[file] ?? []) {
        if (names.includes(id) || modern.has(id)) continue;
        try {
          module.require(id);
        } catch (thrown) {
          if (bring && (thrown?.code === "ERR_REQUIRE_ESM" || thrown?.code === "ERR_PACKAGE_PATH_NOT_EXPORTED")) modern.set(id, await bring(id));
          else throw thrown;
        }
      }
    };
    const load = async (one) => {
      await prepare(one.file);
      return one.load();
    };
    return files.map((one) => ({ file: one.file, load: () => load(one).catch((error) => ({ error })) }));
  }

  // tidy takes away what node adds for programs that come as an argument.
  function tidy() {
    for (const name of [...Module.builtinModules, "require", "module", "exports", "__filename", "__dirname"]) {
      if (name !== "console" && name !== "process" && name !== "crypto") delete globalThis[name];
    }
    Object.defineProperty(globalThis, "crypto", { value: need("node:crypto").webcrypto, configurable: true, writable: true });
    const promises = need("node:fs/promises");
    promises.exists ??= (path) => promises.access(path).then(() => true, () => false); // as in Bun
    Module.syncBuiltinESMExports();
  }

  // --- calls

  const lasting = new Set(["load", "plugins", "event"]); // what these set going goes on after them
  const calls = new Map(); // under way
  const methods = new Map([["ping", () => null]]);

  function begin(given) {
    limit = given.limit;
    try {
      fs.accessSync(given.root, fs.constants.R_OK);
    } catch {
      throw new Error(`${given.root} can not be read behind the wall: name it in the config key wall.readable`);
    }
    process.chdir(given.dir);
    process.env.PWD = given.dir;
    const around = evaluator(given.sources, given.root);
    const files = onBun ? fromFiles(around, given) : fromProgram(around, given);
    around.own("driver").program((exports) => { exports.files = files; });
    for (const name of Object.getOwnPropertyNames(around.doors)) methods.set(name.replace(/^__/, ""), around.doors[name]);
    return { version: onBun ? Bun.version : process.version };
  }
  methods.set("begin", begin);

  async function handle({ id, method, arg }) {
    const call = { id, lasting: lasting.has(method) };
    call.cancelled = new Promise((resolve) => { call.cancel = resolve; });
    calls.set(id, call);
    let frame;
    try {
      const value = await working.run(call, () => methods.get(method)(arg));
      frame = { kind: "answer", id };
      if (typeof value?.body === "string") frame.text = value.body;
      else frame.ok = value ?? null;
    } catch (thrown) {
      frame = { kind: "answer", id, error: tell(thrown) };
    }
    calls.delete(id);
    try {
      send(frame);
    } catch (thrown) {
      send({ kind: "answer", id, error: { name: "RangeError", message: `the answer can not be sent: ${tell(thrown).message}`, stack: "" } });
    }
  }

  function take(frame) {
    if (frame.kind === "call") handle(frame);
    else if (frame.kind === "reply") reply(frame);
    else if (frame.kind === "cancel") calls.get(frame.id)?.cancel();
  }

  // --- frames in

  let begun = []; // the parts of a line that has not come whole

  function receive(chunk) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      begun.push(rest.subarray(0, end));
      const line = Buffer.concat(begun).toString();
      begun = [];
      rest = rest.subarray(end + 1);
      take(parse(line));
    }
    if (rest.length > 0) begun.push(Buffer.from(rest));
  }

  async function listen() {
    if (onBun) {
      for await (const chunk of Bun.file(4).stream()) receive(chunk);
      exit(0);
    }
    const { Socket } = need("node:net");
    new Socket({ fd: 4, readable: true, writable: false }).on("data", receive).on("close", () => exit(0)).on("error", () => exit(0));
  }

  const failed = (what) => (thrown) => {
    const { name, message, stack } = tell(thrown);
    log("error", `${what}: ${stack || `${name}: ${message}`}`);
  };
  process.on("uncaughtException", failed("an exception that nothing caught"));
  process.on("unhandledRejection", failed("a promise was rejected and nothing waited for it"));
  process.on("exit", (code) => {
    try {
      send({ kind: "exit", code: Number(code) || 0 });
    } catch {} // the descriptor is gone
  });
  if (!onBun) tidy();
  listen();
})();
