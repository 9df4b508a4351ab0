"use strict";
// Runs the table cases.txt against a schema library and tells what it answered, as JSON that keeps what JSON can not say
// (undefined, dates, maps, …). `answers` needs nothing of Node, so that any engine can run it.
//
//   node run.js MODULE CASES  >  answers.json
//
// The table: a line without indent is a schema, the indented lines below it are inputs for it; a line that begins
// with "= " is an expression of its own, awaited. "#" begins a comment line.

function encode(value, seen = []) {
  if (value === undefined) return { $: "undefined" };
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : { $: "number", is: Object.is(value, -0) ? "-0" : String(value) };
  if (typeof value === "bigint" || typeof value === "symbol") return { $: typeof value, is: String(value) };
  if (typeof value === "function") return { $: "function" };
  if (seen.includes(value)) return { $: "cycle" };
  const deeper = [...seen, value];
  if (Array.isArray(value)) return value.map((item) => encode(item, deeper));
  if (value instanceof Date) return { $: "Date", is: Number.isNaN(value.getTime()) ? "invalid" : value.toISOString() };
  if (value instanceof RegExp) return { $: "RegExp", is: String(value) };
  if (value instanceof Map) return { $: "Map", is: [...value].map((pair) => encode(pair, deeper)) };
  if (value instanceof Set) return { $: "Set", is: [...value].map((item) => encode(item, deeper)) };
  if (value instanceof Error) return { $: "Error", is: value.issues ? encode(value.issues, deeper) : `${value.name}: ${value.message}` };
  if (value._zod) return { $: "schema", is: value._zod.def.type };
  const plain = {};
  if (Object.isFrozen(value) && Object.keys(value).length) plain.$ = "frozen";
  for (const key of Object.keys(value)) plain[key] = encode(value[key], deeper);
  return plain;
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    return { throws: encode(error) };
  }
}

// schemaText leaves out what every one begins with.
function schemaText(z, schema, options) {
  return attempt(() => JSON.stringify(z.toJSONSchema(schema, options)).replace(/^\{"\$schema":"[^"]*",?/, "{"));
}

const evaluate = (z, source) => new Function("z", `return (${source});`)(z);

function parseOnce(z, schema, source) {
  return attempt(() => {
    const result = schema.safeParse(evaluate(z, source));
    return result.success ? { value: encode(result.data) } : { issues: encode(result.error.issues) };
  });
}

async function answers(z, table) {
  const out = {};
  let schema, entry;
  for (const line of table.split("\n")) {
    const source = line.trim();
    if (!source || source.startsWith("#")) continue;
    if (source.startsWith("= ")) {
      out[source] = await (async () => encode(await evaluate(z, source.slice(2))))().catch((error) => ({ throws: encode(error) }));
    } else if (/^\s/.test(line)) {
      if (schema) entry.parse[source] = parseOnce(z, schema, source);
    } else {
      schema = undefined;
      entry = out[source] = {};
      const failed = attempt(() => void (schema = evaluate(z, source)));
      if (failed) {
        entry.throws = failed.throws;
        continue;
      }
      // As a tool's arguments are converted; then the schema by itself, seen from the other side.
      entry.input = schemaText(z, z.object({ arg: schema }), { io: "input" });
      entry.output = schemaText(z, schema, { unrepresentable: "any" });
      entry.parse = {};
    }
  }
  return out;
}

if (typeof module !== "undefined") module.exports = { answers };
if (typeof require !== "undefined" && require.main === module) {
  const [library, table] = process.argv.slice(2);
  const z = require(library);
  answers(z, require("node:fs").readFileSync(table, "utf8")).then((all) => {
    const lines = Object.entries(all).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
    process.stdout.write(`{\n${lines.join(",\n")}\n}\n`);
  });
}
