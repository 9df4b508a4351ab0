"use strict";
// Has the schemas of another copy of zod described by its own toJSONSchema and by what reads definitions. It prints the lines of the
// table that they do not agree about, with both answers, and how many there were. Where the copy itself can not describe a schema,
// nothing is compared.
//
//   node foreign.js OURS READER LIBRARY CASES
//
// OURS is zod.js, READER helve-schema.js, and LIBRARY a module, or zod.js again for a second copy of ours.

const fs = require("node:fs");
const [, , ours, reader, library, cases] = process.argv;

function load(path, require) {
  const module = { exports: {} };
  new Function("module", "exports", "require", fs.readFileSync(path, "utf8"))(module, module.exports, require);
  return module.exports;
}
const zod = load(ours, require);
const { describe } = load(reader, (name) => (name === "zod" ? zod : require(name)));
const z = library === ours ? load(ours, require) : require(library);

// sorted gives keys an order: a description stands first or last, as the copy happened to be made.
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

const differ = {};
let count = 0;
for (const line of fs.readFileSync(cases, "utf8").split("\n")) {
  if (line === "" || /^[#=\s]/.test(line)) continue;
  let schema, want;
  try {
    schema = new Function("z", `return (${line});`)(z);
    try {
      want = z.toJSONSchema(schema, { io: "input" });
    } catch {
      want = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    }
  } catch {
    continue; // it is no schema, or can not describe itself
  }
  count++;
  const got = describe(schema);
  if (JSON.stringify(sorted(got)) !== JSON.stringify(sorted(want))) differ[line] = { want, got };
}
console.log(JSON.stringify({ count, differ }));
