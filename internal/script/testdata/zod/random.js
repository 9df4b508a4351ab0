"use strict";
// Writes a table of random schemas and inputs in the format of cases.txt.
//
//   node random.js SEED COUNT

let state = Number(process.argv[2]) >>> 0 || 1;
function random(n) {
  // xorshift: the same seed gives the same table everywhere.
  state ^= state << 13;
  state >>>= 0;
  state ^= state >>> 17;
  state ^= state << 5;
  state >>>= 0;
  return state % n;
}
const pick = (list) => list[random(list.length)];
const some = (n, make) => Array.from({ length: 1 + random(n) }, make);

const keys = ["a", "b", "kind", "x y", "1", "toString"];
const words = ['""', '"a"', '"abc"', '"  b "', '"x@y.zz"', '"https://a.bc/d"', '"2020-02-29"', '"12"', '"-1.5"', '"true"', '"kind"'];
const numbers = ["0", "1", "-1", "2.5", "7", "9007199254740994", "NaN", "Infinity", "-0"];
const odd = ["null", "undefined", "true", "false", "[]", "{}", "1n", "new Date(0)", "new Map()", "new Set([1])", "() => 1"];

function value(depth) {
  const kind = random(depth > 0 ? 12 : 7);
  if (kind < 3) return pick(words);
  if (kind < 5) return pick(numbers);
  if (kind < 7) return pick(odd);
  if (kind < 9) return `[${some(3, () => value(depth - 1)).join(", ")}]`;
  const fields = new Map(some(4, () => [pick(keys), value(depth - 1)]));
  return `{ ${[...fields].map(([key, v]) => `${JSON.stringify(key)}: ${v}`).join(", ")} }`;
}

const message = () => (random(5) ? "" : pick(['"msg"', '{ message: "msg" }', '{ error: "msg" }', '{ error: (iss) => iss.code }']));
const also = (first) => [String(first), message()].filter(Boolean).join(", ");
const stringChecks = [
  () => `.min(${also(random(4))})`, () => `.max(${also(4 + random(4))})`, () => `.length(${also(3)})`, () => `.trim()`, () => `.toLowerCase()`,
  () => `.regex(${also(pick(["/^a/", "/b$/i", "/\\d+/"]))})`, () => `.startsWith(${also('"a"')})`, () => `.endsWith(${also('"c"')})`,
  () => `.includes(${also('"b"')})`, () => `.email(${message()})`, () => `.url(${message()})`, () => `.uuid(${message()})`, () => `.date(${message()})`,
  () => `.nonempty(${message()})`, () => `.toUpperCase()`, () => `.datetime(${message()})`,
];
const numberChecks = [
  () => `.min(${also(random(4))})`, () => `.max(${also(3 + random(9))})`, () => `.int(${message()})`, () => `.positive(${message()})`, () => `.gt(${also(random(4))})`,
  () => `.lt(${also(3 + random(9))})`, () => `.nonnegative(${message()})`, () => `.multipleOf(${also(pick(["2", "0.5"]))})`, () => `.negative(${message()})`, () => `.finite()`,
];
const listChecks = [() => `.min(${also(random(3))})`, () => `.max(${also(1 + random(3))})`, () => `.length(${also(random(3))})`, () => `.nonempty(${message()})`];
const chain = (checks) => (random(2) ? some(3, () => pick(checks)()).join("") : "");

function leaf() {
  switch (random(16)) {
    case 0: case 1: case 2: return `z.string(${message()})${chain(stringChecks)}`;
    case 3: case 4: return `z.number(${message()})${chain(numberChecks)}`;
    case 5: return `z.int()${chain(numberChecks)}`;
    case 6: return `z.boolean(${message()})`;
    case 7: return `z.enum(["a", "abc", "kind"]${pick(["", ', "one of"'])})`;
    case 8: return `z.literal(${pick(['"a"', "1", "true", "null", '["a", 1]'])})`;
    case 9: return pick(["z.any()", "z.unknown()", "z.null()", "z.never()", "z.undefined()"]);
    case 10: return `z.coerce.number()${chain(numberChecks)}`;
    case 11: return `z.coerce.string()${chain(stringChecks)}`;
    case 12: return pick(["z.email()", "z.url()", "z.iso.date()", "z.uuid()", "z.ipv4()", "z.base64()"]) + (random(3) ? "" : ".min(3)");
    case 13: return pick(["z.date()", "z.bigint()", "z.coerce.date()", "z.coerce.boolean()", "z.nan()", "z.void()"]);
    case 14: return `z.nativeEnum({ A: 1, B: "abc", 1: "A" })`;
    default: return pick(['z.custom((v) => v === 1)', 'z.instanceof(Date)', "z.float64()", "z.stringbool()"]);
  }
}

function shape(depth) {
  const fields = new Map(some(4, () => [pick(keys), schema(depth - 1)]));
  return `{ ${[...fields].map(([key, s]) => `${JSON.stringify(key)}: ${s}`).join(", ")} }`;
}
const mask = () => `{ ${pick(['"a": true', '"b": true', '"a": true, "b": true'])} }`;
function objectSchema(depth) {
  const made = `${pick(["z.object", "z.object", "z.strictObject", "z.looseObject"])}(${shape(depth)})`;
  switch (random(10)) {
    case 0: return `${made}.strict()`;
    case 1: return `${made}.passthrough()`;
    case 2: return `${made}.catchall(${schema(depth - 1)})`;
    case 3: return `${made}.extend(${shape(depth)})`;
    case 4: return `${made}.partial()`;
    case 5: return `${made}.required()`;
    case 6: return `${made}.extend({ a: ${leaf()}, b: ${leaf()} }).${pick(["pick", "omit", "partial", "required"])}(${mask()})`;
    default: return made;
  }
}

function node(depth) {
  switch (random(12)) {
    case 0: case 1: case 2: case 3: return objectSchema(depth);
    case 4: case 5: return `z.array(${schema(depth - 1)})${chain(listChecks)}`;
    case 6: return `z.union([${some(3, () => schema(depth - 1)).join(", ")}])`;
    case 7: return `z.record(${pick(["z.string()", "z.string().min(2)", 'z.enum(["a", "b"])'])}, ${schema(depth - 1)})`;
    case 8: return `z.tuple([${some(3, () => schema(depth - 1)).join(", ")}]${random(3) ? "" : `, ${schema(depth - 1)}`})`;
    case 9: return `z.discriminatedUnion("kind", [z.object({ kind: z.literal("a"), a: ${schema(depth - 1)} }), z.object({ kind: z.literal("abc"), b: ${schema(depth - 1)} })])`;
    case 10: return `z.intersection(z.object(${shape(depth)}), z.looseObject(${shape(depth)}))`;
    default: return `z.lazy(() => ${schema(depth - 1)})`;
  }
}

const wraps = [
  () => ".optional()", () => ".optional()", () => ".nullable()", () => ".nullish()", () => `.default(${value(1)})`, () => `.prefault(${value(1)})`, () => `.catch(${pick([...words, ...numbers])})`,
  () => `.describe("d${random(9)}")`, () => `.describe("d${random(9)}")`, () => `.meta({ title: "t${random(9)}" })`, () => ".readonly()",
  () => `.refine((v) => ${pick(["true", "false", "v === undefined", 'typeof v === "string"'])}${pick(["", ', "refused"', ', { message: "refused", path: ["p"] }', ', { message: "stop", abort: true }'])})`,
  () => `.superRefine((v, ctx) => { if (typeof v !== "string") ctx.addIssue({ code: "custom", message: "super"${pick(["", ', path: ["q"]', ", fatal: true"])} }); })`,
  () => ".transform((v) => [v])", () => `.transform((v) => typeof v).pipe(${leaf()})`, () => `.or(${leaf()})`, () => ".array()", () => ".nonoptional()",
];
function schema(depth) {
  let made = depth > 0 && random(3) ? node(depth) : leaf();
  while (!random(2)) made += pick(wraps)();
  return random(14) ? made : `z.preprocess((v) => (v === "12" ? 12 : v), ${made})`;
}

for (let i = 0; i < Number(process.argv[3]); i++) {
  console.log(schema(3));
  for (const input of new Set(Array.from({ length: 8 }, () => value(3)))) console.log(`  ${input}`);
}
