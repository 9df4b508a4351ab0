// Evaluates the lines of a table, each an expression, and tells what came of each as JSON. It runs in Bun and in our engine.
//   bun run.js table.js folder
// A line that begins with "//" is a comment, "> " makes a line a statement with nothing to tell. `dir` is an empty folder; `keep` an
// object to leave things in for the next lines.
"use strict";
globalThis.answers = async function (table, dir, require) {
  const keep = {};
  const all = {};
  const here = (text) => text.replaceAll(dir, "<dir>");

  function errorOf(e) {
    const told = { error: e.name, message: here(String(e.message)) };
    for (const key of ["code", "errno", "syscall", "path", "dest"]) {
      if (e[key] !== undefined) told[key] = typeof e[key] === "string" ? here(e[key]) : e[key];
    }
    return told;
  }

  function tell(v, depth) {
    if (depth > 6) return "...";
    switch (typeof v) {
      case "undefined": return "<undefined>";
      case "bigint": return `<${v}n>`;
      case "symbol": return `<${String(v)}>`;
      case "function": return `<function ${v.name}>`;
      case "string": return here(v);
      case "number": return Number.isFinite(v) && !Object.is(v, -0) ? v : `<${Object.is(v, -0) ? "-0" : v}>`;
      case "boolean": return v;
    }
    if (v === null) return null;
    if (Array.isArray(v)) return v.map((item) => tell(item, depth + 1));
    if (v instanceof Error) return errorOf(v);
    if (v instanceof Date) return `<date ${isNaN(v) ? "invalid" : v.toISOString()}>`;
    if (v instanceof RegExp) return `<${v}>`;
    if (ArrayBuffer.isView(v) && !(v instanceof DataView)) return { [`<${v.constructor.name}>`]: Array.from(v, (n) => tell(n, 9)).slice(0, 300) };
    if (v instanceof ArrayBuffer) return { "<ArrayBuffer>": Array.from(new Uint8Array(v)) };
    if (v instanceof Map) return { "<Map>": [...v].map((item) => tell(item, depth + 1)) };
    if (v instanceof Set) return { "<Set>": [...v].map((item) => tell(item, depth + 1)) };
    const object = {};
    const name = Object.getPrototypeOf(v)?.constructor?.name;
    if (name !== undefined && name !== "Object") object["<class>"] = name;
    for (const key of Object.keys(v)) object[key] = tell(v[key], depth + 1);
    return object;
  }

  const numbered = {};
  for (const raw of table.split("\n")) {
    const line = raw.trim();
    if (line === "" || line.startsWith("//")) continue;
    const statement = line.startsWith("> ");
    const body = statement ? line.slice(2) : `return (${line}\n);`;
    const count = (numbered[line] = (numbered[line] ?? 0) + 1);
    const name = count === 1 ? line : `${line}  #${count}`;
    try {
      const value = await new Function("require", "dir", "keep", `return (async () => { ${body} })()`)(require, dir, keep);
      if (!statement) all[name] = tell(value, 0);
    } catch (thrown) {
      all[name] = { thrown: thrown instanceof Error ? errorOf(thrown) : tell(thrown, 0) };
    }
  }
  return all;
};
if (typeof __helve === "undefined") {
  const [table, dir] = process.argv.slice(2);
  answers(require("fs").readFileSync(table, "utf8"), dir, require).then((all) => {
    require("fs").writeSync(1, JSON.stringify(all, null, 1));
    process.exit(0);
  });
}
