// Runs the steps of one corpus file in Bun, on the file as it is and with the real zod, and writes what came of each as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { z } from "zod";

const { config, file, steps, project, client: canned, out } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const tell = (e) => (e !== null && typeof e === "object" ? { name: String(e.name ?? ""), message: String(e.message ?? "") } : { name: "", message: String(e) });
const told = [];
const ask = (op, arg) => void told.push(`${op} ${JSON.stringify(arg)}`);
const found = new Map();
const plugins = [];
const settle = () => new Promise((done) => setTimeout(done, 60));

function define(id, value) {
  const args = value.args ?? value.parameters ?? {};
  let schema;
  if (args._zod) schema = z.toJSONSchema(z.object(args.shape), { io: "input" });
  else if (Object.values(args).every((one) => one?._zod)) schema = z.toJSONSchema(z.object(args), { io: "input" });
  else if (args.type === "object" && args.properties) schema = args;
  else schema = { type: "object", properties: args, required: Object.keys(args) };
  found.set(id, value);
  return { id, description: value.description, schema };
}
const isTool = (v) => v !== null && typeof v === "object" && typeof v.execute === "function" && typeof v.description === "string";

function text(value) {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const client = new Proxy({}, {
  get: (_, a) => new Proxy({}, {
    get: (_, b) => async (args) => {
      ask(`client ${a}.${b}`, args ?? null);
      return canned[`${a}.${b}`] ?? { data: undefined, error: { name: "UnknownError", data: { message: `no ${a}.${b} here` } } };
    },
  }),
});

async function load() {
  const answer = { tools: [], hooks: [] };
  try {
    const exports = await import(pathToFileURL(`${config}/${file}`).href);
    if (file.startsWith("tools/")) {
      const stem = file.slice(6).replace(/\.\w+$/, "");
      for (const [name, value] of Object.entries(exports)) {
        if (isTool(value)) answer.tools.push(define(name === "default" ? stem : `${stem}_${name}`, value));
      }
      return answer;
    }
    const main = exports.default;
    const object = main !== null && typeof main === "object" && ("id" in main || "server" in main);
    const all = object ? [(...given) => main.server(...given)] : [...new Set(Object.values(exports))];
    if (all.some((one) => typeof one !== "function")) throw new TypeError("Plugin export is not a function");
    const input = { client, project: { id: "p", worktree: project }, directory: project, worktree: project, $: Bun.$, serverUrl: new URL("http://localhost:4096") };
    for (const make of all) {
      const hooks = await make(input, undefined);
      if (!hooks) continue;
      plugins.push(hooks);
      answer.hooks.push(...Object.keys(hooks));
      for (const [id, value] of Object.entries(hooks.tool ?? {})) answer.tools.push(define(id, value));
    }
  } catch (e) {
    answer.error = tell(e);
  }
  answer.hooks = [...new Set(answer.hooks)].sort();
  return answer;
}

async function call({ call: id, args = {}, agent = "build" }) {
  try {
    const result = await found.get(id).execute(args, {
      sessionID: "ses_corpus", messageID: "msg_corpus", callID: "call_corpus", agent, directory: project, worktree: project,
      abort: new AbortController().signal,
      metadata: ({ title, metadata }) => ask("meta", { title, metadata }),
      ask: async ({ permission, patterns, always, metadata }) => ask("ask", { permission, patterns, always, metadata }),
    });
    if (result !== null && typeof result === "object" && "output" in result) {
      return { title: result.title, metadata: result.metadata, attachments: result.attachments, output: text(result.output) };
    }
    return { output: text(result) };
  } catch (e) {
    return { error: tell(e) };
  }
}

async function hook({ hook: name, input, output }) {
  const errors = [];
  for (const hooks of plugins) {
    if (typeof hooks[name] !== "function") continue;
    try {
      await hooks[name](input, output);
    } catch (e) {
      errors.push(tell(e));
      if (name === "tool.execute.before") break;
    }
  }
  return { errors, hooked: name === "config" ? input : output };
}

async function event({ event }) {
  for (const hooks of plugins) {
    try {
      await hooks.event?.({ event });
    } catch {} // nobody waits for events
  }
  await settle();
  return {};
}

async function dispose() {
  for (const hooks of plugins) await hooks.dispose?.();
  return {};
}

const answers = [{ ...await load(), told: told.splice(0) }];
for (const step of steps) {
  const act = step.call ? call : step.hook ? hook : step.event ? event : dispose;
  answers.push({ ...await act(step), told: told.splice(0) });
}
writeFileSync(out, JSON.stringify(answers));
process.exit(0);
