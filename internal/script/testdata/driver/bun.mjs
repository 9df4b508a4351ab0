// Runs the steps of an archive in Bun, on the files as they are and with the real zod. It answers as the driver does, in JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { z } from "zod";

const { root, files, steps } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const tell = (e) => (e !== null && typeof e === "object" ? { name: String(e.name ?? ""), message: String(e.message ?? "") } : { name: "", message: String(e) });
const requests = [];
const ask = (op, arg) => void requests.push(`${op} ${JSON.stringify(arg)}`);
const found = new Map();
let plugins = [];

async function define(key, id, value) {
  let def = value, args = value.args;
  if (typeof value.init === "function") {
    id = value.id;
    def = await value.init({});
    args = def.parameters;
  }
  args ??= {};
  let check;
  if (args._zod) check = z.object(args.shape);
  else if (Object.values(args).every((one) => one?._zod)) check = z.object(args);
  const schema = check ? z.toJSONSchema(check, { io: "input" }) : { type: "object", properties: args, required: Object.keys(args) };
  found.set(key, { id, def, check });
  return { id, description: def.description, schema, raw: !check };
}
const isTool = (v) => v !== null && typeof v === "object" && (typeof v.execute === "function" && typeof v.description === "string" || typeof v.init === "function");

const actions = {
  async load() {
    const told = [];
    for (const file of files.filter((f) => /^tools?\//.test(f))) {
      const one = { file, tools: [], exports: [] };
      told.push(one);
      try {
        const exports = await import(pathToFileURL(`${root}/${file}`).href);
        one.exports = Object.keys(exports);
        for (const [name, value] of Object.entries(exports)) {
          if (!isTool(value)) continue;
          const stem = file.replace(/.*\//, "").replace(/\.\w+$/, "");
          one.tools.push({ export: name, ...await define(`${file} ${name}`, name === "default" ? stem : `${stem}_${name}`, value) });
        }
      } catch (e) {
        one.error = tell(e);
      }
    }
    return { files: told };
  },
  async execute({ file, export: name, tool, args, context }) {
    try {
      const { id, def, check } = found.get([file, name, tool].filter(Boolean).join(" "));
      const parsed = check?.safeParse(args);
      if (parsed && !parsed.success) {
        throw new Error(def.formatValidationError?.(parsed.error)
          ?? `The ${id} tool was called with invalid arguments: ${parsed.error}.\nPlease rewrite the input so it satisfies the expected schema.`);
      }
      const result = await def.execute(args, {
        ...context, abort: new AbortController().signal,
        metadata: ({ title, metadata }) => ask("meta", { title, metadata }), ask: async (input) => ask("ask", input),
      });
      if (typeof result === "string") return { outcome: {}, output: result };
      if (result === undefined) return { outcome: {}, output: "" };
      if (typeof result === "object" && "output" in result) {
        const { output, ...outcome } = result;
        return { outcome, output };
      }
      return { outcome: {}, output: JSON.stringify(result) };
    } catch (e) {
      return { fault: tell(e) };
    }
  },
  async plugins() {
    plugins = [];
    const told = [];
    const client = new Proxy({}, { get: (_, a) => new Proxy({}, { get: (_, b) => async (args) => (ask("client", { method: `${a}.${b}`, args: args ?? null }), { data: { method: `${a}.${b}` } }) }) });
    const input = { client, project: { id: "p" }, directory: "/dir", worktree: "/tree", $: Bun.$ };
    for (const file of files.filter((f) => /^plugins?\//.test(f))) {
      const one = { file, plugins: [] };
      told.push(one);
      try {
        const exports = await import(pathToFileURL(`${root}/${file}`).href);
        const main = exports.default;
        const v1 = main !== null && typeof main === "object" && ("id" in main || "server" in main);
        const all = v1 ? [["default", (i) => main.server(i)]] : Object.entries(exports);
        const makers = all.filter(([, f], i) => all.findIndex(([, g]) => f === g) === i);
        if (makers.some(([, f]) => typeof f !== "function")) throw new TypeError("Plugin export is not a function");
        for (const [name, make] of makers) {
          const hooks = await make(input);
          if (!hooks) continue;
          plugins.push({ file, export: name, hooks });
          const tools = [];
          for (const [id, value] of Object.entries(hooks.tool ?? {})) tools.push({ export: name, tool: id, ...await define(`${file} ${name} ${id}`, id, value) });
          one.plugins.push({ export: name, hooks: Object.keys(hooks).sort(), tools });
        }
      } catch (e) {
        one.error = tell(e);
      }
    }
    return { plugins: told };
  },
  async hook({ name, input, output }) {
    const runs = [];
    for (const p of plugins) {
      if (!p.hooks[name]) continue;
      const run = { file: p.file, export: p.export };
      runs.push(run);
      try {
        await p.hooks[name](input, output);
      } catch (e) {
        run.error = tell(e);
        if (name === "tool.execute.before") break;
      }
    }
    return { hook: { runs }, output: JSON.stringify(name === "config" ? input : output) };
  },
};

const answers = [];
for (const { action, arg } of steps) {
  const answer = await actions[action](arg);
  answers.push({ ...answer, requests: requests.splice(0) });
}
process.stdout.write(JSON.stringify(answers));
