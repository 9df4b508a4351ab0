// Schemas of other libraries as schemas of ours: of other copies of zod, whatever their version, of valibot, and of everything else
// that keeps to Standard Schema. A copy that a package brings can often not describe its schemas (zod 3, zod 4 mini, zod 4 before
// 4.2), and no two versions can describe each other's. What they all have is a definition: it is read here. What a value has to
// satisfy is still decided by the copy itself.
"use strict";
const zod = require("zod");
const { keys, entries, values, defineProperty } = Object;

const isObject = (value) => typeof value === "object" && value !== null;

// isSchema is true for what this file can read, and for schemas of ours.
const isSchema = (value) => (isObject(value) || typeof value === "function") &&
  ("_zod" in value || "~standard" in value || typeof value.safeParse === "function");

const isOurs = (value) => value instanceof zod.ZodType;

// noted is a schema with what its checks add up to.
const noted = (schema, bag) => defineProperty(schema, "_noted", { value: bag });

const escaped = (text) => String(text).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// A reading is the way from one schema to ours. Each schema is read once, so that those that contain themselves come to an end.
class Reading {
  constructor() {
    this.known = new Map(); // by their schema: ours, or null while it is read
    this.said = new Map(); // by ours: the description and other metadata
  }
  get(schema) { return this.said.get(schema) ?? zod.globalRegistry.get(schema); }

  of(schema) {
    if (isOurs(schema)) return schema;
    const known = this.known.get(schema);
    if (known) return known;
    if (known === null) return zod.lazy(() => this.known.get(schema));
    this.known.set(schema, null);
    let made = this.read(schema);
    if (schema._zod?.parent) made = made.clone(); // it says more about another: that comes first
    this.known.set(schema, made);
    const said = describedBy(schema);
    if (said) this.said.set(made, { ...this.said.get(made), ...said });
    return made;
  }
  all(list) { return list.map((one) => this.of(one)); }
  fields(shape) { return Object.fromEntries(keys(shape).map((key) => [key, this.of(shape[key])])); }

  read(schema) {
    if (schema._zod?.def) return this.zod4(schema, schema._zod);
    if (schema._def?.typeName) return this.zod3(schema, schema._def);
    if (schema["~standard"]?.vendor === "valibot" && schema.kind === "schema") return this.valibot(schema);
    return this.standard(schema);
  }

  // given is a schema that is known by its JSON Schema alone.
  given(json) {
    const made = zod.any();
    const { $schema, ...rest } = json;
    this.said.set(made, rest);
    return made;
  }

  zod4(schema, { def, bag, toJSONSchema, pattern, optin }) {
    const mayMiss = (made) => (optin === "optional" ? zod.optional(made) : made);
    if (typeof toJSONSchema === "function") return mayMiss(this.given(toJSONSchema()));
    const checked = (made) => noted(made, sumOf(schema, def, bag));
    const inner = () => this.of(def.innerType);
    switch (def.type) {
      case "string": return checked(zod.string());
      case "number": return checked(zod.number());
      case "array": return checked(zod.array(this.of(def.element)));
      case "template_literal": return noted(zod.string(), { patterns: new Set([pattern]) });
      case "boolean": case "success": return zod.boolean();
      case "any": case "unknown": case "never": case "null": case "undefined": case "void": case "bigint": case "symbol": case "nan": case "date":
        return zod[def.type]();
      case "file": return zod.file();
      case "enum": return zod.enum(def.entries);
      case "literal": return def.values.length > 0 ? zod.literal(def.values) : zod.any();
      case "object": {
        const made = zod.object(this.fields(def.shape));
        return def.catchall ? made.catchall(this.of(def.catchall)) : made;
      }
      case "record": return def.valueType ? zod.record(def.keyType ? this.of(def.keyType) : zod.string(), this.of(def.valueType)) : zod.record(this.of(def.keyType));
      case "tuple": return checked(zod.tuple(this.all(def.items), def.rest ? this.of(def.rest) : undefined));
      case "union": return zod.union(this.all(def.options));
      case "intersection": return zod.intersection(this.of(def.left), this.of(def.right));
      case "map": return zod.map(this.of(def.keyType), this.of(def.valueType));
      case "set": return zod.set(this.of(def.valueType));
      case "optional": return zod.optional(inner());
      case "nullable": return zod.nullable(inner());
      case "nonoptional": return zod.nonoptional(inner());
      case "readonly": return zod.readonly(inner());
      case "promise": return zod.promise(inner());
      case "default": return this.filled(zod._default, inner(), () => def.defaultValue);
      case "prefault": return this.filled(zod.prefault, inner(), () => def.defaultValue);
      case "catch": return mayMiss(this.filled(zod.catch, inner(), () => def.catchValue(undefined))); // that differs from version to version
      case "lazy": return zod.lazy(() => this.of(def.getter()));
      case "pipe": return zod.pipe(this.of(def.in), this.of(def.out));
      case "transform": return zod.transform((value) => value);
    }
    return mayMiss(zod.any());
  }

  // filled is a schema with a value for what is left out or does not fit, which is told if JSON has it and it is always the same.
  filled(how, schema, value) {
    try {
      const told = JSON.parse(JSON.stringify(value()));
      return how(schema, () => told);
    } catch {
      return zod.optional(schema);
    }
  }

  zod3(schema, def) {
    const inner = (one = def.innerType) => this.of(one);
    switch (def.typeName) {
      case "ZodString": return noted(zod.string(), stringBag(def.checks));
      case "ZodNumber": return noted(zod.number(), numberBag(def.checks));
      case "ZodArray":
        return noted(zod.array(inner(def.type)), { minimum: (def.exactLength ?? def.minLength)?.value, maximum: (def.exactLength ?? def.maxLength)?.value });
      case "ZodBoolean": return zod.boolean();
      case "ZodNull": return zod.null();
      case "ZodNever": return zod.never();
      case "ZodUndefined": case "ZodVoid": case "ZodAny": case "ZodUnknown": return zod.optional(zod.any());
      case "ZodBigInt": return zod.bigint();
      case "ZodDate": return zod.date();
      case "ZodEnum": case "ZodNativeEnum": return zod.enum(def.values);
      case "ZodLiteral": return zod.literal(def.value);
      case "ZodObject": {
        const made = zod.object(this.fields(def.shape()));
        if (def.unknownKeys === "strict") return made.strict();
        if (def.catchall && def.catchall._def?.typeName !== "ZodNever") return made.catchall(inner(def.catchall));
        return def.unknownKeys === "passthrough" ? made.loose() : made;
      }
      case "ZodRecord": return zod.record(inner(def.keyType), inner(def.valueType));
      case "ZodTuple": return zod.tuple(this.all(def.items), def.rest ? inner(def.rest) : undefined);
      case "ZodUnion": case "ZodDiscriminatedUnion": return zod.union(this.all([...(def.options.values?.() ?? def.options)]));
      case "ZodIntersection": return zod.intersection(inner(def.left), inner(def.right));
      case "ZodMap": return zod.map(inner(def.keyType), inner(def.valueType));
      case "ZodSet": return zod.set(inner(def.valueType));
      case "ZodOptional": return zod.optional(inner());
      case "ZodNullable": return zod.nullable(inner());
      case "ZodDefault": return this.filled(zod._default, inner(), () => def.defaultValue());
      case "ZodCatch": return zod.optional(this.filled(zod.catch, inner(), () => def.catchValue({ input: undefined })));
      case "ZodReadonly": return zod.readonly(inner());
      case "ZodPromise": case "ZodBranded": return zod.pipe(inner(def.type), zod.any());
      case "ZodPipeline": return zod.pipe(inner(def.in), inner(def.out));
      case "ZodLazy": return zod.lazy(() => this.of(def.getter()));
      case "ZodEffects": // what is changed first, fits; what is changed later comes out as something else
        if (def.effect?.type === "preprocess") return zod.pipe(zod.transform((value) => value), inner(def.schema));
        return zod.pipe(inner(def.schema), def.effect?.type === "transform" ? zod.transform((value) => value) : zod.any());
    }
    return this.unknown(schema);
  }

  valibot(schema) {
    const checks = (schema.pipe ?? []).filter((one) => one.kind === "validation");
    const wrapped = () => this.of(schema.wrapped);
    const preset = (made) => (schema.default === undefined ? made : this.filled(zod._default, made, () => schema.default));
    const [first] = schema.pipe ?? [];
    if (first && first !== schema && first.kind === "schema" && first.pipe) return zod.pipe(this.of(first), zod.any());
    switch (schema.type) {
      case "string": return noted(zod.string(), stringBag(checks.map(valibotCheck)));
      case "number": return noted(zod.number(), numberBag(checks.map(valibotCheck)));
      case "array": return noted(zod.array(this.of(schema.item)), stringBag(checks.map(valibotCheck)));
      case "boolean": case "any": case "unknown": case "never": case "null": case "bigint": case "date": return zod[schema.type]();
      case "undefined": case "void": return zod.optional(zod.any());
      case "object": return zod.object(this.fields(schema.entries));
      case "loose_object": return zod.object(this.fields(schema.entries)).loose();
      case "strict_object": return zod.object(this.fields(schema.entries)).strict();
      case "object_with_rest": return zod.object(this.fields(schema.entries)).catchall(this.of(schema.rest));
      case "record": return zod.record(this.of(schema.key), this.of(schema.value));
      case "tuple": case "loose_tuple": case "strict_tuple": return zod.tuple(this.all(schema.items));
      case "tuple_with_rest": return zod.tuple(this.all(schema.items), this.of(schema.rest));
      case "union": case "variant": return zod.union(this.all(schema.options));
      case "intersect": return this.all(schema.options).reduce((left, right) => zod.intersection(left, right));
      case "picklist": return zod.literal([...schema.options]);
      case "enum": return zod.enum(schema.enum);
      case "literal": return zod.literal(schema.literal);
      case "optional": case "exact_optional": case "undefinedable": return preset(zod.optional(wrapped()));
      case "nullable": return preset(zod.nullable(wrapped()));
      case "nullish": return preset(zod.optional(zod.nullable(wrapped())));
      case "non_optional": case "non_nullable": case "non_nullish": return zod.nonoptional(wrapped());
      case "lazy": return zod.lazy(() => this.of(schema.getter(undefined)));
    }
    return this.unknown(schema);
  }

  // standard asks a schema to describe itself, in the ways that libraries have for it.
  standard(schema) {
    for (const describe of [
      () => schema["~standard"]?.jsonSchema?.input({ target: "draft-2020-12" }),
      () => schema.toJSONSchema?.({ io: "input" }),
      () => schema.toJsonSchema?.(),
    ]) {
      try {
        const json = describe();
        if (isObject(json)) return this.optionalIf(schema, this.given(JSON.parse(JSON.stringify(json))));
      } catch {} // perhaps another way
    }
    return this.unknown(schema);
  }
  // unknown is a schema that may be anything: its library says what it is when it is called.
  unknown(schema) { return this.optionalIf(schema, zod.any()); }
  optionalIf(schema, made) { return fits(schema, undefined) ? zod.optional(made) : made; }
}

const everywhere = new Function("return globalThis"); // what is called so here may be another object

// describedBy is what is said about a schema.
function describedBy(schema) {
  let said;
  try {
    if (schema._zod) said = typeof schema.meta === "function" ? schema.meta() : everywhere().__zod_globalRegistry?.get(schema);
    for (const one of Array.isArray(schema.pipe) ? schema.pipe : []) { // of valibot
      if (one.kind !== "metadata") continue;
      if (one.type === "description" || one.type === "title") said = { ...said, [one.type]: one[one.type] };
      else if (one.type === "metadata") said = { ...said, ...one.metadata };
    }
    const description = said?.description ?? (schema._zod || schema._def ? schema.description : undefined);
    if (typeof description === "string") said = { ...said, description };
  } catch {} // it does not let itself be looked at
  return isObject(said) ? said : undefined;
}

// sumOf is what the checks of zod 4 add up to. Some versions keep the sum, others only the checks.
function sumOf(schema, def, bag) {
  const summed = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format", "patterns"];
  if (bag && summed.some((key) => bag[key] !== undefined)) return bag;
  const sum = {};
  const patterns = new Set();
  const least = (key, value) => { sum[key] = Math.max(sum[key] ?? -Infinity, value); };
  const most = (key, value) => { sum[key] = Math.min(sum[key] ?? Infinity, value); };
  for (const one of [...(def.check ? [schema] : []), ...(def.checks ?? [])]) {
    const check = one._zod?.def ?? {};
    switch (check.check) {
      case "greater_than": least(check.inclusive ? "minimum" : "exclusiveMinimum", check.value); break;
      case "less_than": most(check.inclusive ? "maximum" : "exclusiveMaximum", check.value); break;
      case "min_length": least("minimum", check.minimum); break;
      case "max_length": most("maximum", check.maximum); break;
      case "length_equals": least("minimum", check.length); most("maximum", check.length); break;
      case "multiple_of": sum.multipleOf ??= check.value; break;
      case "number_format": {
        sum.format = check.format;
        const range = { safeint: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER], int32: [-2147483648, 2147483647], uint32: [0, 4294967295] }[check.format];
        if (range) { least("minimum", range[0]); most("maximum", range[1]); }
        break;
      }
      case "string_format":
        if (check.format === "starts_with") patterns.add({ source: `^${escaped(check.prefix)}.*` });
        else if (check.format === "ends_with") patterns.add({ source: `.*${escaped(check.suffix)}$` });
        else if (check.format === "includes") patterns.add({ source: (check.position ? `^.{${check.position}}` : "") + escaped(check.includes) });
        else sum.format = check.format;
        if (sum.format === check.format && check.pattern) patterns.add(check.pattern);
        if (check.format === "base64" || check.format === "base64url") sum.contentEncoding = check.format;
        break;
    }
  }
  if (patterns.size > 0) sum.patterns = patterns;
  return sum;
}

// stringBag adds up the checks of zod 3 for texts and lists.
function stringBag(checks = []) {
  const bag = { patterns: new Set() };
  const pattern = (source) => bag.patterns.add({ source });
  for (const { kind, value, regex, version } of checks) {
    switch (kind) {
      case "min": bag.minimum = Math.max(bag.minimum ?? 0, value); break;
      case "max": bag.maximum = Math.min(bag.maximum ?? Infinity, value); break;
      case "length": bag.minimum = bag.maximum = value; break;
      case "regex": if (regex instanceof RegExp || typeof regex?.source === "string") pattern(regex.source); break;
      case "startsWith": pattern(`^${escaped(value)}.*`); break;
      case "endsWith": pattern(`.*${escaped(value)}$`); break;
      case "includes": pattern(escaped(value)); break;
      case "ip": if (version) bag.format = `ip${version}`; break;
      case "base64": bag.format = kind; bag.contentEncoding = kind; break;
      case "email": case "url": case "uuid": case "datetime": case "date": case "time": case "duration": bag.format = kind; break;
    }
  }
  return bag;
}

// numberBag adds up the checks of zod 3 for numbers.
function numberBag(checks = []) {
  const bag = {};
  for (const { kind, value, inclusive } of checks) {
    switch (kind) {
      case "int": bag.format = "int"; break;
      case "multipleOf": bag.multipleOf = value; break;
      case "min": bag[inclusive === false ? "exclusiveMinimum" : "minimum"] = value; break;
      case "max": bag[inclusive === false ? "exclusiveMaximum" : "maximum"] = value; break;
    }
  }
  return bag;
}

// valibotCheck is a check of valibot as one of zod 3.
function valibotCheck({ type, requirement: value }) {
  const name = {
    min_length: "min", max_length: "max", min_value: "min", max_value: "max", integer: "int", multiple_of: "multipleOf", starts_with: "startsWith",
    ends_with: "endsWith", iso_date: "date", iso_timestamp: "datetime", gt_value: "min", lt_value: "max",
  }[type] ?? type;
  if (type === "non_empty") return { kind: "min", value: 1 };
  return { kind: name, value, regex: type === "regex" ? value : undefined, inclusive: type !== "gt_value" && type !== "lt_value" };
}

// --- checking

// told is what a library that is not zod says of a value, in the form of zod.
function told({ issues }) {
  if (!issues) return { success: true };
  const key = (part) => (isObject(part) ? part.key : part);
  return { success: false, error: new zod.ZodError(issues.map(({ path, message }) => ({ code: "custom", path: [...(path ?? [])].map(key), message }))) };
}

const isZod = (schema) => typeof schema.safeParse === "function";

// fits reports whether a schema takes a value, as far as that can be said at once.
function fits(schema, value) {
  try {
    if (isZod(schema)) return schema.safeParse(value).success;
    const found = schema["~standard"].validate(value);
    return typeof found.then !== "function" && !found.issues;
  } catch {
    return false;
  }
}

// check has a schema's own library look at a value.
async function check(schema, value) {
  if (typeof schema.safeParseAsync === "function") return schema.safeParseAsync(value);
  return isZod(schema) ? schema.safeParse(value) : told(await schema["~standard"].validate(value));
}

// checker looks at arguments field by field, each by its own library.
const checker = (fields) => ({
  async safeParseAsync(given) {
    if (!isObject(given) || Array.isArray(given)) return zod.object({}).safeParse(given);
    const issues = [];
    for (const [name, schema] of entries(fields)) {
      const { success, error } = await check(schema, given[name]);
      if (success) continue;
      const found = error?.issues ?? [{ code: "custom", message: "Invalid input" }];
      issues.push(...found.map((issue) => ({ ...issue, path: [name, ...(issue.path ?? [])] })));
    }
    return issues.length === 0 ? { success: true, data: given } : { success: false, error: new zod.ZodError(issues) };
  },
});

// --- what the driver takes

// describe is the JSON Schema of a schema, as models are shown it.
function describe(schema) {
  const convert = (unrepresentable) => {
    const reading = new Reading();
    return zod.toJSONSchema(reading.of(schema), { io: "input", unrepresentable, metadata: reading });
  };
  try {
    return convert("throw");
  } catch {
    return convert("any");
  }
}

// object makes of the schemas of arguments one of them all: its JSON Schema, and what checks them.
function object(fields) {
  if (values(fields).every(isOurs)) {
    const made = zod.object(fields);
    return { schema: describe(made), check: made };
  }
  const shape = { _zod: { def: { type: "object", shape: fields } } };
  return { schema: describe(shape), check: checker(fields) };
}

// whole makes the same of a schema of all arguments.
function whole(schema) {
  if (isOurs(schema)) return isObject(schema.shape) ? object(schema.shape) : { schema: describe(schema), check: schema };
  return { schema: describe(schema), check: { safeParseAsync: async (value) => check(schema, value) } };
}

module.exports = { isSchema, describe, object, whole };
