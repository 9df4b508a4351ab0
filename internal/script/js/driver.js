// The driver: it gathers the tools and plugins of a program and calls them for the host. A program gives itself to program(); the
// host then calls the functions at the end of this file. What is long (outputs) goes back as bytes: a line of JSON and the text.
"use strict";
const host = require("helve:host");
const { parse, stringify } = JSON;
const { keys, values, defineProperty, hasOwn } = Object;
const clock = Date.now;

let files = []; // of the program: {file, load}
const modules = new Map(); // by file: a promise of {exports} or {error}
const tools = new Map(); // by file, export and name: {id, definition, check, schema}, or {thrown}
let plugins = []; // in the order they were started: {file, export, hooks}

function program(body) {
  const module = { exports: {} };
  body.call(module.exports, module.exports, computed, module);
  files = module.exports.files;
}

// computed is the require of the program: it is asked for what the program names while it runs.
function computed(name) {
  const files = typeof name === "string" && require("helve:files");
  return files && files.isPath(name) ? files.load(name) : require(String(name));
}

// --- errors and text

function property(object, key) {
  try {
    const value = object[key];
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  } catch {
    return "";
  }
}

// tell describes what was thrown, whatever it is.
function tell(thrown) {
  if (thrown === null || typeof thrown !== "object" && typeof thrown !== "function") return { name: "", message: String(thrown), stack: "" };
  const told = { name: property(thrown, "name"), message: property(thrown, "message"), stack: property(thrown, "stack") };
  const code = property(thrown, "code");
  if (code !== "") told.code = code;
  if (told.message === "" && told.stack === "" && told.name === "") told.message = text(thrown);
  if (told.message === "" && told.name === "InternalError") told.message = "out of memory"; // there was none left for the words
  return told;
}

const mostPrinted = 2048; // of what a program printed, in bytes or characters

// printed is the beginning of what a program printed.
function printed(value) {
  if (typeof value === "string") return value.slice(0, mostPrinted).trim();
  if (!(value instanceof Uint8Array)) return "";
  const bytes = value.subarray(0, mostPrinted);
  return (typeof TextDecoder === "function" ? new TextDecoder().decode(bytes) : bytes.toString()).trim();
}

// more is what an error carries beside its message and nobody would be told otherwise: what a program printed before it failed, and
// what caused the error.
function more(thrown) {
  const said = property(thrown, "message");
  const parts = [];
  const add = (words, prefix) => {
    if (words !== "" && !said.includes(words) && !parts.includes(prefix + words)) parts.push(prefix + words);
  };
  add(printed(thrown.stderr) || ("exitCode" in thrown ? printed(thrown.stdout) : ""), "");
  const below = (error) => (property(error, "code") === "" ? error.cause : undefined); // one with a code says enough
  for (let cause = below(thrown), depth = 0; cause !== undefined && cause !== null && depth < 3; cause = below(cause), depth++) {
    const { name, message } = tell(cause);
    if (!said.includes(message)) add(name === "" ? message : `${name}: ${message}`, "Caused by ");
  }
  return parts.join("\n").slice(0, 2 * mostPrinted);
}

// explain puts what more an error has to say where the host finds it. The message stays as it is.
function explain(thrown) {
  try {
    const words = isObject(thrown) ? more(thrown) : "";
    if (words !== "") defineProperty(thrown, "helveMore", { value: words, enumerable: true, configurable: true, writable: true });
  } catch {} // it does not let itself be looked at
}

function log(level, line) {
  try {
    host.now("log", { level, text: line });
  } catch {} // nobody is left to hear it
}

const isObject = (value) => typeof value === "object" && value !== null;

// json is the JSON of a value, or undefined if it has none.
function json(value) {
  try {
    return stringify(value);
  } catch {
    return undefined;
  }
}

// text makes the text of an output, as lenient as can be.
function text(value) {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (isObject(value) && !(value instanceof Error)) {
    const made = json(value);
    if (made !== undefined) return made;
  }
  try {
    return String(value);
  } catch {
    return "";
  }
}

// framed is an answer with a long text in it.
function framed(head, body) {
  return host.bytes(stringify(head) + "\n" + body);
}

// --- definitions

// none is the schema of no arguments. It is here so that tools without any need no zod.
const none = () => ({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties: {} });
const noneCheck = {
  safeParseAsync: async (value) => (isObject(value) && !Array.isArray(value) ? { success: true } : require("zod").object({}).safeParse(value)),
};

// parameters finds the JSON Schema of a tool's arguments, and what to check them with.
function parameters(args) {
  args ??= {};
  if (isObject(args) && keys(args).length === 0) return { schema: none(), raw: false, check: noneCheck };
  const { isSchema, describe, object, whole } = require("helve:schema");
  if (isSchema(args)) return { raw: false, ...whole(args) };
  if (!isObject(args)) throw new TypeError(`args is a ${typeof args}, not an object of schemas`);
  if (values(args).every(isSchema)) return { raw: false, ...object(args) };
  if (args.type === "object" && isObject(args.properties)) return { schema: plain(args), raw: true };
  const properties = {};
  for (const name of keys(args)) {
    properties[name] = args[name];
    if (isSchema(args[name])) delete (properties[name] = describe(args[name])).$schema;
  }
  return { schema: plain({ type: "object", properties, required: keys(args) }), raw: true };
}

// plain is a value as JSON keeps it.
function plain(value) {
  return parse(stringify(value));
}

const isTool = (value) => isObject(value) && typeof value.description === "string" && typeof value.execute === "function";
const isDefined = (value) => isObject(value) && typeof value.id === "string" && typeof value.init === "function";
const place = (file, name, tool) => stringify([file, name, tool]);

// describe takes a definition in and tells what the host has to know of it.
async function describe(key, id, value) {
  const told = { id, description: "" };
  try {
    let definition = value;
    let args = value.args;
    if (isDefined(value)) {
      told.id = id = value.id;
      definition = await value.init({});
      if (!isTool(definition)) throw new TypeError(`the tool ${id} has no description or no execute`);
      args = definition.parameters ?? definition.args;
    } else if (args === undefined && value.parameters !== undefined) {
      args = value.parameters;
    }
    told.description = definition.description;
    const { schema, raw, check } = parameters(args);
    told.schema = schema;
    told.raw = raw;
    tools.set(key, { id, definition, check, schema });
  } catch (thrown) {
    told.error = tell(thrown);
    tools.set(key, { thrown });
  }
  return told;
}

// --- files

// evaluate runs a file, once.
function evaluate(file) {
  let loaded = modules.get(file);
  if (!loaded) {
    const entry = files.find((one) => one.file === file);
    loaded = entry ? entry.load() : Promise.resolve({ error: new Error(`${file} is not in the program`) });
    modules.set(file, loaded);
  }
  return loaded;
}

// names are the exports of a module in the order of a module namespace. What compilers mark modules with is none.
const names = (exports) => keys(exports).filter((name) => name !== "__esModule").sort();

const stem = (file) => file.slice(file.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");

const inFolder = (...folders) => files.map((one) => one.file).filter((file) => folders.includes(file.slice(0, file.lastIndexOf("/"))));

async function gather(file) {
  const told = { file, tools: [], exports: [] };
  const { exports, error } = await evaluate(file);
  if (!exports) {
    told.error = tell(error);
    return told;
  }
  told.exports = names(exports);
  for (const name of told.exports) {
    const id = name === "default" ? stem(file) : `${stem(file)}_${name}`;
    try {
      const value = exports[name];
      if (isTool(value) || isDefined(value)) told.tools.push({ export: name, ...await describe(place(file, name, ""), id, value) });
    } catch {} // an object that does not let itself be looked at is no tool
  }
  return told;
}

async function load({ files: asked }) {
  const told = [];
  for (const file of asked ?? inFolder("tool", "tools")) told.push(await gather(file));
  return told;
}

// --- execution

// contextOf makes what a tool gets beside its arguments. The signal is made when it is asked for.
function contextOf(given) {
  let controller;
  return {
    ...given,
    get abort() {
      if (!controller) {
        controller = new (require("abort").AbortController)();
        host.cancelled().then(() => controller.abort());
      }
      return controller.signal;
    },
    metadata(input) {
      try {
        host.now("meta", { title: input?.title, metadata: input?.metadata });
      } catch (thrown) {
        log("warn", `metadata was not told: ${tell(thrown).message}`);
      }
    },
    async ask(input) {
      await host.later("ask", input ?? {});
    },
  };
}

// ordered gives arguments the order of their schema, which is the one models write them in: hosts sort them, and tools that list
// them show it.
function ordered(value, schema) {
  if (!isObject(value) || !isObject(schema)) return value;
  if (Array.isArray(value)) {
    if (!isObject(schema.items)) return value;
    return value.map((one) => ordered(one, schema.items));
  }
  if (!isObject(schema.properties)) return value;
  const { properties } = schema;
  const made = {};
  for (const name of keys(properties)) {
    if (hasOwn(value, name)) defineProperty(made, name, { value: ordered(value[name], properties[name]), enumerable: true, configurable: true, writable: true });
  }
  for (const name of keys(value)) {
    if (!hasOwn(made, name)) defineProperty(made, name, { value: value[name], enumerable: true, configurable: true, writable: true });
  }
  return made;
}

async function check({ id, definition, check }, args) {
  if (!check) return;
  const { success, error } = await check.safeParseAsync(args);
  if (success) return;
  const own = definition.formatValidationError;
  const message = typeof own === "function"
    ? own.call(definition, error)
    : `The ${id} tool was called with invalid arguments: ${error}.\nPlease rewrite the input so it satisfies the expected schema.`;
  throw new Error(message, { cause: error });
}

const deepest = 500; // levels of what goes to the host

// deep reports whether a value has too many levels for others to read.
function deep(value, left) {
  if (!isObject(value)) return false;
  return left === 0 || keys(value).some((key) => deep(value[key], left - 1));
}

// encoded is the JSON of a part of a result, if it is of the kind that it should be; else it is left out, and the log says so.
function encoded(what, value, open) {
  if (value === undefined || value === null) return undefined;
  const made = json(value);
  let why;
  if (made === undefined) why = "it can not be written as JSON";
  else if (!made.startsWith(open)) why = `it is not ${open === "{" ? "an object" : "a list"}`;
  else if (made.length > 2 * deepest && deep(value, deepest)) why = `it has more than ${deepest} levels`;
  if (why === undefined) return made;
  log("warn", `${what} of a result was left out: ${why}`);
  return undefined;
}

// collected is a result as it is to be told: what comes bit by bit is waited for.
async function collected(value) {
  if (!isObject(value) || typeof value[Symbol.asyncIterator] !== "function") return text(value);
  const parts = [];
  let decoder;
  for await (const part of value) {
    if (part instanceof Uint8Array && typeof TextDecoder === "function") parts.push((decoder ??= new TextDecoder()).decode(part, { stream: true }));
    else parts.push(text(part));
  }
  return parts.join("");
}

async function outcome(result) {
  if (!isObject(result) || !("output" in result)) return framed({}, await collected(result));
  const head = [];
  if (typeof result.title === "string") head.push(`"title":${stringify(result.title)}`);
  const metadata = encoded("the metadata", result.metadata, "{");
  if (metadata !== undefined) head.push(`"metadata":${metadata}`);
  const attachments = encoded("the list of attachments", result.attachments, "[");
  if (attachments !== undefined) head.push(`"attachments":${attachments}`);
  return host.bytes(`{${head.join(",")}}\n${await collected(result.output)}`);
}

async function execute({ file, export: name, tool = "", args, context }) {
  const found = tools.get(place(file, name, tool));
  if (!found) throw new ReferenceError(`there is no tool ${[file, name, tool].filter(Boolean).join(" ")}`);
  if ("thrown" in found) throw found.thrown;
  await check(found, args);
  try {
    return await outcome(await found.definition.execute(ordered(args, found.schema), contextOf(context)));
  } catch (thrown) {
    explain(thrown);
    throw thrown;
  }
}

// --- plugins

// The client is a proxy whose every a.b(args) is one request. It is no promise, and answers rather than throws.
function newClient() {
  const made = new Map();
  const known = { __proto__: null, call: Function.prototype.call, apply: Function.prototype.apply, bind: Function.prototype.bind };
  const below = (path) => (target, key) => {
    if (typeof key !== "string" || key === "then" || key === "toJSON") return undefined;
    if (path !== "" && known[key]) return known[key];
    const method = path === "" ? key : `${path}.${key}`;
    let part = made.get(method);
    if (!part) {
      part = new Proxy((...args) => request(method, args), { get: below(method) });
      made.set(method, part);
    }
    return part;
  };
  return new Proxy({}, { get: below("") });
}

async function request(method, [args]) {
  let answer;
  try {
    const { value } = await host.later("client", { method, args: args ?? null });
    answer = { data: value?.data, error: value?.error, response: value?.response };
  } catch (thrown) {
    const { name, message } = tell(thrown);
    answer = { data: undefined, error: { name, data: { message }, message }, response: undefined };
  }
  if (args?.throwOnError && answer.error !== undefined && answer.error !== null) {
    throw Object.assign(new Error(answer.error.message ?? answer.error.data?.message ?? method), { data: answer.error });
  }
  return answer;
}

// The shell is Bun's, found when it is first used, as many plugins take it and few need it.
function newShell() {
  const shell = () => require("bun").$;
  return new Proxy(function $() {}, {
    apply: (target, self, args) => shell()(...args),
    get: (target, key) => (key === "then" || key === "toJSON" ? undefined : Reflect.get(shell(), key)), // who asks wants to know what it is
    set: (target, key, value) => Reflect.set(shell(), key, value),
    construct: (target, args) => Reflect.construct(shell(), args),
  });
}

function inputOf({ serverUrl = "http://localhost:4096", ...given }) {
  const client = newClient();
  const $ = newShell();
  return {
    client, project: {}, directory: "", worktree: "", ...given,
    experimental_workspace: { register() {} },
    get serverUrl() {
      return new (require("url").URL)(serverUrl);
    },
    $,
  };
}

const isPluginObject = (value) => isObject(value) && ("id" in value || "server" in value);
const isToolMap = (value) => isObject(value) && values(value).length > 0 && values(value).every((one) => isTool(one) || isDefined(one));

// starters are the functions of a module that make hooks, with the names of their exports.
function starters(exports) {
  let main = exports.default;
  const itself = isObject(main) && main.__esModule && !("default" in main); // a module without a default is no plugin
  if (itself) main = undefined;
  if (isPluginObject(main)) {
    if (typeof main.server !== "function") throw new TypeError("Plugin must default export an object with server()");
    return [["default", (input, options) => main.server(input, options)]];
  }
  const found = [];
  const seen = new Set();
  for (const name of names(exports)) {
    const value = exports[name];
    if (value === undefined || seen.has(value) || itself && name === "default") continue;
    seen.add(value);
    if (typeof value === "function") found.push([name, value]);
    else if (isObject(value) && typeof value.server === "function") found.push([name, (input, options) => value.server(input, options)]);
    else if (name === "tool" && isToolMap(value)) found.push([name, () => ({ tool: value })]);
    else throw new TypeError("Plugin export is not a function");
  }
  return found;
}

const known = ["auth", "chat.headers", "chat.message", "chat.params", "command.execute.before", "config", "dispose", "event",
  "experimental.chat.messages.transform", "experimental.chat.system.transform", "experimental.compaction.autocontinue",
  "experimental.provider.small_model", "experimental.session.compacting", "experimental.text.complete", "permission.ask", "provider",
  "shell.env", "tool", "tool.definition", "tool.execute.after", "tool.execute.before"];

const plainHooks = ["auth", "provider", "tool"]; // are objects

async function start(file, name, hooks, given) {
  const set = (one) => hooks[one] !== undefined && hooks[one] !== null;
  const told = { export: name, hooks: known.filter((one) => one in hooks && set(one)), tools: [] };
  for (const one of told.hooks) {
    const want = plainHooks.includes(one) ? "object" : "function";
    if (typeof hooks[one] !== want) throw new TypeError(`The hook ${one} is a ${typeof hooks[one]}, not ${want === "object" ? "an" : "a"} ${want}`);
  }
  // What is no function, or only what the plugin was given, was not meant to be called.
  const unknown = keys(hooks).filter((one) => !known.includes(one) && typeof hooks[one] === "function" && hooks[one] !== given[one]).sort();
  if (unknown.length > 0) told.unknown = unknown;
  plugins.push({ file, export: name, hooks });
  if (!isObject(hooks.tool)) return told;
  for (const id of keys(hooks.tool)) {
    const value = hooks.tool[id];
    if (!isTool(value) && !isDefined(value)) continue;
    told.tools.push({ export: name, tool: id, ...await describe(place(file, name, id), id, value) });
  }
  return told;
}

async function startAll({ files: asked, input }) {
  plugins = [];
  const told = [];
  const given = inputOf(input ?? {});
  for (const { file, options } of asked ?? inFolder("plugin", "plugins").map((file) => ({ file }))) {
    const one = { file, plugins: [] };
    told.push(one);
    try {
      const { exports, error } = await evaluate(file);
      if (!exports) throw error;
      for (const [name, make] of starters(exports)) {
        const hooks = await make(given, options);
        if (isObject(hooks)) one.plugins.push(await start(file, name, hooks, given));
      }
    } catch (thrown) {
      one.error = tell(thrown);
    }
  }
  return told;
}

// run calls the hooks of a name one after the other.
async function run(name, args, stop) {
  const runs = [];
  for (const plugin of plugins) {
    const hook = plugin.hooks[name];
    if (typeof hook !== "function") continue;
    const one = { file: plugin.file, export: plugin.export };
    const began = clock();
    try {
      await hook.apply(plugin.hooks, args);
    } catch (thrown) {
      one.error = tell(thrown);
    }
    one.ms = clock() - began;
    runs.push(one);
    if (one.error && stop) break;
  }
  return runs;
}

// settled is a result as hooks have left it, with the types that it should have.
function settled(result) {
  const made = { ...result };
  for (const key of ["output", "title"]) {
    if (made[key] !== undefined && made[key] !== null) made[key] = text(made[key]);
  }
  const metadata = encoded("the metadata", made.metadata, "{");
  if (metadata === undefined) delete made.metadata;
  else made.metadata = parse(metadata);
  if (!Array.isArray(made.attachments) || json(made.attachments) === undefined) delete made.attachments;
  return made;
}

// agreed is what hooks have made of an output, as the host can read it.
function agreed(name, output) {
  if (!isObject(output)) return output;
  if (name === "tool.execute.after") return settled(output);
  const { result } = output;
  if (name !== "tool.execute.before" || result === undefined || result === null || typeof result === "string") return output;
  return { ...output, result: isObject(result) && "output" in result ? settled(result) : text(result) };
}

// signIn calls the loader of plugins that sign in to the provider of input.
// output gets what of it the host can use.
async function signIn(input, output) {
  const runs = [];
  for (const { file, export: name, hooks } of plugins) {
    if (!isObject(hooks.auth)) continue;
    const one = { file, export: name };
    const began = clock();
    try {
      if (hooks.auth.provider === input.provider.id && typeof hooks.auth.loader === "function") {
        const made = await hooks.auth.loader(async () => ({ type: "api", key: "" }), input.provider) ?? {}; // no sign-in is kept
        for (const key of ["apiKey", "baseURL", "headers"]) if (made[key]) output[key] = made[key];
        if (made.fetch) output.fetch = true;
      }
    } catch (thrown) {
      one.error = tell(thrown);
    }
    one.ms = clock() - began;
    runs.push(one);
  }
  return runs;
}

async function hook({ name, input, output }) {
  const changed = name === "config" ? input : output; // the configuration is changed where it is
  const runs = name === "auth" ? await signIn(input, output) : await run(name, name === "config" ? [input] : [input, output], name === "tool.execute.before");
  let made;
  try {
    made = json(agreed(name, changed));
  } catch {} // it does not let itself be looked at
  return framed(made === undefined ? { runs, lost: true } : { runs }, made ?? "null");
}

function event({ event }) {
  for (const { file, hooks } of plugins) {
    const failed = (thrown) => {
      const { name, message } = tell(thrown);
      log("error", `${file}: event ${event?.type}: ${name === "" ? message : `${name}: ${message}`}`);
    };
    try {
      if (typeof hooks.event === "function") Promise.resolve(hooks.event({ event })).then(undefined, failed);
    } catch (thrown) {
      failed(thrown);
    }
  }
  return null;
}

async function dispose() {
  const runs = await run("dispose", [], false);
  plugins = [];
  return runs;
}

module.exports = { program };
for (const [name, value] of [["load", load], ["execute", execute], ["plugins", startAll], ["hook", hook], ["event", event], ["dispose", dispose]]) {
  defineProperty(globalThis, `__${name}`, { value });
}
