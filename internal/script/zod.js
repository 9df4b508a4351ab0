"use strict";
// A schema builder with the interface of zod 4, as far as tool and plugin files use it: the same schemas, the same
// parse results and issues, the same JSON Schema text. Written for a small engine: methods live on prototypes,
// patterns are compiled when first used, nothing is computed at load that a call could compute.
//
// How it works. A schema is a class with a `def` that never changes; every method that "changes" a schema makes a new
// one. Parsing hands a payload {value, issues} through `_parse` (the type) and then through the checks of the def.
// An issue carries `continue: true` if later checks may still look at the value. Whatever the user's functions return
// may be a promise; `after` goes on at once for plain values and later for promises.

// --- small helpers

const isPromise = (x) => x instanceof Promise;
const after = (x, next) => (isPromise(x) ? x.then(next) : next(x));
const afterAll = (list, next) => (list.some(isPromise) ? Promise.all(list).then(next) : next(list));
const escapeRegExp = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const quoteValue = (v) => (typeof v === "bigint" ? `${v}n` : typeof v === "string" ? `"${v}"` : String(v));
const isSchema = (x) => x instanceof ZodType;
const isKey = (x) => typeof x === "string" || typeof x === "number" || typeof x === "symbol";
const hidden = (target, name, value) => Object.defineProperty(target, name, { value, configurable: true, writable: true });

function isPlainObject(x) {
  if (typeof x !== "object" || x === null) return false;
  const proto = Object.getPrototypeOf(x);
  return proto === null || proto === Object.prototype || Object.prototype.hasOwnProperty.call(proto, "isPrototypeOf");
}

// kindOf names a value in messages.
function kindOf(x) {
  if (typeof x === "number") return Number.isNaN(x) ? "NaN" : "number";
  if (typeof x !== "object") return typeof x;
  if (x === null) return "null";
  if (Array.isArray(x)) return "array";
  if (Object.getPrototypeOf(x) !== Object.prototype && x.constructor) return x.constructor.name;
  return "object";
}

// options reads what every builder takes last: a message, or an object with error (or the older message).
function options(params) {
  if (typeof params === "string") return { error: () => params };
  if (typeof params !== "object" || params === null) return {};
  const { message, ...rest } = params;
  if (message !== undefined) rest.error ??= message;
  if (typeof rest.error === "string") {
    const text = rest.error;
    rest.error = () => text;
  }
  return rest;
}

class AsyncNeeded extends Error {
  constructor() {
    super("Encountered Promise during synchronous parse. Use .parseAsync() instead.");
  }
}

// settle lets a promise through where the caller is ready to wait.
function settle(x, ctx, next) {
  if (!isPromise(x)) return next(x);
  if (!ctx.async) throw new AsyncNeeded();
  return x.then(next);
}

// --- issues and errors

function fail(payload, inst, fields) {
  payload.issues.push({ ...fields, input: payload.value, inst });
  return payload;
}
const wrongType = (payload, inst, expected, more) => fail(payload, inst, { expected, code: "invalid_type", ...more });

function aborted(payload, from = 0) {
  if (payload.aborted) return true;
  for (let i = from; i < payload.issues.length; i++) if (payload.issues[i].continue !== true) return true;
  return false;
}

// adopt moves the issues of a part to the whole, below the part's key.
function adopt(payload, part, key) {
  for (const issue of part.issues) {
    (issue.path ??= []).unshift(key);
    payload.issues.push(issue);
  }
}

function finalize(issue, ctx) {
  const { inst, continue: _continue, ...full } = issue;
  full.path ??= [];
  if (!issue.message) {
    full.message = undefined;
    for (const source of [inst?.def?.error, ctx?.error, settings.customError, settings.localeError]) {
      const said = source?.(issue);
      full.message = typeof said === "string" ? said : said?.message;
      if (full.message !== undefined && full.message !== null) break;
    }
    full.message ??= "Invalid input";
  }
  if (!ctx?.reportInput) delete full.input;
  return full;
}

function english(issue) {
  switch (issue.code) {
    case "invalid_type":
      return `Invalid input: expected ${issue.expected}, received ${kindOf(issue.input)}`;
    case "invalid_value":
      if (issue.values.length === 1) return `Invalid input: expected ${quoteValue(issue.values[0])}`;
      return `Invalid option: expected one of ${issue.values.map(quoteValue).join("|")}`;
    case "too_big":
      return `Too big: expected ${amount(issue, issue.inclusive ? "<=" : "<", issue.maximum)}`;
    case "too_small":
      return `Too small: expected ${amount(issue, issue.inclusive ? ">=" : ">", issue.minimum)}`;
    case "invalid_format":
      return wrongFormat(issue);
    case "not_multiple_of":
      return `Invalid number: must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return `Unrecognized key${issue.keys.length > 1 ? "s" : ""}: ${issue.keys.map(quoteValue).join(", ")}`;
    case "invalid_key":
      return `Invalid key in ${issue.origin}`;
    case "invalid_element":
      return `Invalid value in ${issue.origin}`;
  }
  return "Invalid input";
}

function amount(issue, sign, bound) {
  const unit = { string: "characters", file: "bytes", array: "items", set: "items" }[issue.origin];
  return `${issue.origin ?? "value"} ${unit ? "to have" : "to be"} ${sign}${bound}${unit ? ` ${unit}` : ""}`;
}

function wrongFormat(issue) {
  switch (issue.format) {
    case "starts_with":
      return `Invalid string: must start with "${issue.prefix}"`;
    case "ends_with":
      return `Invalid string: must end with "${issue.suffix}"`;
    case "includes":
      return `Invalid string: must include "${issue.includes}"`;
    case "regex":
      return `Invalid string: must match pattern ${issue.pattern}`;
  }
  return `Invalid ${formatNouns[issue.format] ?? issue.format}`;
}

const formatNouns = {
  email: "email address", url: "URL", uuid: "UUID", guid: "GUID", ulid: "ULID", xid: "XID", ksuid: "KSUID",
  datetime: "ISO datetime", date: "ISO date", time: "ISO time", duration: "ISO duration",
  ipv4: "IPv4 address", ipv6: "IPv6 address", cidrv4: "IPv4 range", cidrv6: "IPv6 range",
  base64: "base64-encoded string", base64url: "base64url-encoded string", e164: "E.164 number", jwt: "JWT",
};

const settings = { customError: undefined, localeError: english };
function config(changes) {
  return changes ? Object.assign(settings, changes) : settings;
}

class ZodError extends Error {
  constructor(issues) {
    super();
    hidden(this, "issues", issues);
    this.name = "ZodError";
    this._tell();
  }
  _tell() {
    const text = JSON.stringify(this.issues, (_, v) => (typeof v === "bigint" ? String(v) : v), 2);
    Object.defineProperty(this, "message", { value: text, enumerable: true, configurable: true, writable: true });
  }
  get isEmpty() {
    return this.issues.length === 0;
  }
  get errors() {
    return this.issues;
  }
  format(mapper) {
    return formatError(this, mapper);
  }
  flatten(mapper) {
    return flattenError(this, mapper);
  }
  addIssue(issue) {
    this.addIssues([issue]);
  }
  addIssues(issues) {
    this.issues.push(...issues);
    this._tell();
  }
  toString() {
    return this.message;
  }
}

const messageOf = (issue) => issue.message;

function flattenError(error, mapper = messageOf) {
  const out = { formErrors: [], fieldErrors: {} };
  for (const issue of error.issues) {
    if (issue.path.length) (out.fieldErrors[issue.path[0]] ??= []).push(mapper(issue));
    else out.formErrors.push(mapper(issue));
  }
  return out;
}

// eachLeaf walks the issues that stand inside others: of union members, keys and elements.
function eachLeaf(issues, visit, path = []) {
  for (const issue of issues) {
    const full = [...path, ...issue.path];
    const inner = issue.code === "invalid_union" ? issue.errors : /^invalid_(key|element)$/.test(issue.code) ? [issue.issues] : [];
    if (inner.length) for (const list of inner) eachLeaf(list, visit, full);
    else visit(issue, full);
  }
}

function formatError(error, mapper = messageOf) {
  const out = { _errors: [] };
  eachLeaf(error.issues, (issue) => {
    let at = out;
    for (const key of issue.path) at = at[key] ??= { _errors: [] };
    at._errors.push(mapper(issue));
  });
  return out;
}

function treeifyError(error, mapper = messageOf) {
  const out = { errors: [] };
  eachLeaf(error.issues, (issue, path) => {
    let at = out;
    for (const key of path) {
      const branch = typeof key === "string" ? (at.properties ??= {}) : (at.items ??= []);
      at = branch[key] ??= { errors: [] };
    }
    at.errors.push(mapper(issue));
  });
  return out;
}

function pathText(path) {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (typeof key === "symbol" || /[^\w$]/.test(key)) text += `[${JSON.stringify(String(key))}]`;
    else text += text ? `.${key}` : key;
  }
  return text;
}

function prettifyError(error) {
  const sorted = [...error.issues].sort((a, b) => (a.path ?? []).length - (b.path ?? []).length);
  return sorted.map((issue) => `✖ ${issue.message}${issue.path?.length ? `\n  → at ${pathText(issue.path)}` : ""}`).join("\n");
}

// --- registries: what is said about a schema (description, title, id, …)

class Registry {
  constructor() {
    this.clear();
  }
  clear() {
    this._map = new WeakMap();
    this._ids = new Map();
    return this;
  }
  add(schema, meta) {
    this._map.set(schema, meta);
    if (meta && typeof meta === "object" && "id" in meta) {
      if (this._ids.has(meta.id)) throw new Error(`ID ${meta.id} already exists in the registry`);
      this._ids.set(meta.id, schema);
    }
    return this;
  }
  remove(schema) {
    const meta = this._map.get(schema);
    if (meta && typeof meta === "object" && "id" in meta) this._ids.delete(meta.id);
    this._map.delete(schema);
    return this;
  }
  get(schema) {
    if (!schema._parent) return this._map.get(schema);
    // A copy made to say more about a schema keeps what was said, but not the id.
    const { id: _id, ...inherited } = this.get(schema._parent) ?? {};
    const all = { ...inherited, ...this._map.get(schema) };
    return Object.keys(all).length ? all : undefined;
  }
  has(schema) {
    return this._map.has(schema);
  }
}

const globalRegistry = new Registry();

// --- checks: what a value of the right type must satisfy

class Check {
  // run(payload, issue) calls issue(fields) for what it finds; note(bag) records it for JSON Schema.
  constructor(kind, params, fields, run, { when, note } = {}) {
    const { error, abort = false, when: asked, ...rest } = options(params);
    this.def = { ...rest, check: kind, ...fields, abort, error };
    this.when = asked ?? when;
    this.note = note;
    this._run = run;
    hidden(this, "_zod", { def: this.def, check: (payload) => this.run(payload) });
  }
  run(payload) {
    return this._run(payload, (fields) => {
      payload.issues.push({ ...fields, input: payload.value, inst: this, continue: !this.def.abort });
    });
  }
}

function runChecks(checks, payload, ctx, from = 0) {
  let stopped = aborted(payload);
  for (let i = from; i < checks.length; i++) {
    const check = checks[i];
    if (check.when ? !check.when(payload) : stopped) continue;
    const before = payload.issues.length;
    const ran = check.run(payload);
    if (isPromise(ran)) return settle(ran, ctx, () => runChecks(checks, payload, ctx, i + 1));
    if (!stopped && payload.issues.length > before) stopped = aborted(payload, before);
  }
  return payload;
}

const raise = (bag, name, value) => { if (!(bag[name] >= value)) bag[name] = value; };
const lower = (bag, name, value) => { if (!(bag[name] <= value)) bag[name] = value; };
const originOf = (x) => (Array.isArray(x) ? "array" : typeof x === "string" ? "string" : x instanceof Set ? "set" : x instanceof Map ? "map" : "unknown");

// sized makes the checks on the number of characters, items or members.
function sized(measure, kinds) {
  const when = ({ value }) => value !== null && value !== undefined && value[measure] !== undefined;
  const atLeast = (minimum, params) => new Check(`min_${kinds}`, params, { minimum }, ({ value }, issue) => {
    if (value[measure] < minimum) issue({ origin: originOf(value), code: "too_small", minimum, inclusive: true });
  }, { when, note: (bag) => raise(bag, "minimum", minimum) });
  const atMost = (maximum, params) => new Check(`max_${kinds}`, params, { maximum }, ({ value }, issue) => {
    if (value[measure] > maximum) issue({ origin: originOf(value), code: "too_big", maximum, inclusive: true });
  }, { when, note: (bag) => lower(bag, "maximum", maximum) });
  const exactly = (n, params) => new Check(`${kinds}_equals`, params, { [kinds]: n }, ({ value }, issue) => {
    const size = value[measure];
    if (size === n) return;
    const bound = size > n ? { code: "too_big", maximum: n } : { code: "too_small", minimum: n };
    issue({ origin: originOf(value), ...bound, inclusive: true, exact: true });
  }, { when, note: (bag) => Object.assign(bag, { minimum: n, maximum: n, [kinds]: n }) });
  return [atLeast, atMost, exactly];
}
const [minLength, maxLength, length] = sized("length", "length");
const [minSize, maxSize, size] = sized("size", "size");

const boundOrigin = (x) => (typeof x === "object" ? "date" : typeof x);
function lowerBound(minimum, inclusive, params) {
  return new Check("greater_than", params, { value: minimum, inclusive }, ({ value }, issue) => {
    if (inclusive ? value >= minimum : value > minimum) return;
    issue({ origin: boundOrigin(minimum), code: "too_small", minimum, inclusive });
  }, { note: (bag) => raise(bag, inclusive ? "minimum" : "exclusiveMinimum", minimum) });
}
function upperBound(maximum, inclusive, params) {
  return new Check("less_than", params, { value: maximum, inclusive }, ({ value }, issue) => {
    if (inclusive ? value <= maximum : value < maximum) return;
    issue({ origin: boundOrigin(maximum), code: "too_big", maximum, inclusive });
  }, { note: (bag) => lower(bag, inclusive ? "maximum" : "exclusiveMaximum", maximum) });
}
const gt = (n, params) => lowerBound(n, false, params);
const gte = (n, params) => lowerBound(n, true, params);
const lt = (n, params) => upperBound(n, false, params);
const lte = (n, params) => upperBound(n, true, params);
const positive = (params) => gt(0, params);
const negative = (params) => lt(0, params);
const nonnegative = (params) => gte(0, params);
const nonpositive = (params) => lte(0, params);

// decimals counts the digits after the point, so that 0.3 is a multiple of 0.1.
function decimals(n) {
  const [digits, exponent = "0"] = String(n).split("e");
  return Math.max(0, (digits.split(".")[1] ?? "").length - Number(exponent));
}
function divides(step, n) {
  if (typeof step === "bigint") return n % step === 0n;
  const scale = 10 ** Math.max(decimals(step), decimals(n));
  return Math.round(n * scale) % Math.round(step * scale) === 0;
}
function multipleOf(divisor, params) {
  return new Check("multiple_of", params, { value: divisor }, ({ value }, issue) => {
    if (!divides(divisor, value)) issue({ origin: typeof value, code: "not_multiple_of", divisor });
  }, { note: (bag) => { bag.multipleOf ??= divisor; } });
}

function numberFormat(format, params) {
  const whole = format !== "float32" && format !== "float64";
  const [minimum, maximum] = {
    safeint: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER], int32: [-2147483648, 2147483647], uint32: [0, 4294967295],
    float32: [-3.4028234663852886e38, 3.4028234663852886e38], float64: [-Number.MAX_VALUE, Number.MAX_VALUE],
  }[format];
  const unsafe = { note: "Integers must be within the safe integer range.", origin: "int" };
  const check = new Check("number_format", params, { format }, (payload, issue) => {
    const { value } = payload;
    if (whole && !Number.isInteger(value)) {
      fail(payload, check, { expected: "int", format, code: "invalid_type" });
    } else if (format === "safeint" && value > maximum) issue({ code: "too_big", maximum, ...unsafe });
    else if (format === "safeint" && value < minimum) issue({ code: "too_small", minimum, ...unsafe });
    else if (value < minimum) issue({ origin: "number", code: "too_small", minimum, inclusive: true });
    else if (value > maximum) issue({ origin: "number", code: "too_big", maximum });
  }, { note: (bag) => Object.assign(bag, { format, minimum, maximum }) });
  return check;
}

function bigintFormat(format, params) {
  const [minimum, maximum] = format === "int64" ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n];
  return new Check("bigint_format", params, { format }, ({ value }, issue) => {
    if (value < minimum) issue({ origin: "bigint", code: "too_small", minimum, inclusive: true });
    if (value > maximum) issue({ origin: "bigint", code: "too_big", maximum });
  }, { note: (bag) => Object.assign(bag, { format, minimum, maximum }) });
}

const notePattern = (bag, pattern) => (bag.patterns ??= new Set()).add(pattern);

function matches(format, pattern, params) {
  return new Check("string_format", params, { format, pattern }, ({ value }, issue) => {
    pattern.lastIndex = 0;
    if (!pattern.test(value)) issue({ origin: "string", code: "invalid_format", format, pattern: String(pattern) });
  }, { note: (bag) => { bag.format = format; notePattern(bag, pattern); } });
}
const regex = (pattern, params) => matches("regex", pattern, params);
const [noCapitals, noSmall] = [/^[^A-Z]*$/, /^[^a-z]*$/];
const lowercase = (params) => matches("lowercase", noCapitals, params);
const uppercase = (params) => matches("uppercase", noSmall, params);

function affix(format, fields, params, test, source) {
  return new Check("string_format", params, { format, ...fields }, ({ value }, issue) => {
    if (!test(value)) issue({ origin: "string", code: "invalid_format", format, ...fields });
  }, { note: (bag) => notePattern(bag, new RegExp(source)) });
}
const startsWith = (prefix, params) => affix("starts_with", { prefix }, params, (s) => s.startsWith(prefix), `^${escapeRegExp(prefix)}.*`);
const endsWith = (suffix, params) => affix("ends_with", { suffix }, params, (s) => s.endsWith(suffix), `.*${escapeRegExp(suffix)}$`);
function includes(part, params) {
  const position = params?.position;
  const source = typeof position === "number" ? `^.{${position}}${escapeRegExp(part)}` : escapeRegExp(part);
  return affix("includes", { includes: part }, params, (s) => s.includes(part, position), source);
}

function overwrite(change) {
  return new Check("overwrite", undefined, { tx: change }, (payload) => { payload.value = change(payload.value); });
}
const trim = () => overwrite((s) => s.trim());
const toLowerCase = () => overwrite((s) => s.toLowerCase());
const toUpperCase = () => overwrite((s) => s.toUpperCase());
const normalize = (form) => overwrite((s) => s.normalize(form));

function refine(test, params) {
  const check = new Check("custom", params, { fn: test }, (payload, issue) => after(test(payload.value), (ok) => {
    if (ok) return;
    const found = { code: "custom", path: [...(check.def.path ?? [])] };
    if (check.def.params) found.params = check.def.params;
    issue(found);
  }));
  return check;
}

// allowIssues gives a payload the addIssue that refinements and transforms call.
function allowIssues(payload, inst) {
  payload.addIssue = (issue) => {
    if (typeof issue === "string") return void payload.issues.push({ message: issue, code: "custom", input: payload.value, inst });
    const own = { ...issue };
    if (own.path) own.path = [...own.path];
    if (own.fatal) own.continue = false;
    own.code ??= "custom";
    own.input ??= payload.value;
    own.inst ??= inst;
    if (inst instanceof Check) own.continue ??= !inst.def.abort;
    payload.issues.push(own);
  };
  return payload;
}
function superRefine(look) {
  const check = new Check("custom", undefined, {}, (payload) => look(payload.value, allowIssues(payload, check)));
  return check;
}
const checkOf = (given) => (typeof given === "function" ? new Check("custom", undefined, {}, given) : given);

// --- string formats

const hexGroup = "[0-9a-fA-F]{1,4}";
const byteText = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])";
const hostnamePattern = () =>
  /^(?=.{1,253}\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\.?$/;

function uuidPattern(version) {
  const x = (n) => `[0-9a-fA-F]{${n}}`;
  const body = (v) => `${x(8)}-${x(4)}-${v}${x(3)}-[89abAB]${x(3)}-${x(12)}`;
  if (version) return new RegExp(`^(${body(version)})$`);
  const same = (c) => [8, 4, 4, 4, 12].map((n) => c.repeat(n)).join("-");
  return new RegExp(`^(${body("[1-8]")}|${same("0")}|${same("f")})$`);
}
function ipv6Source() {
  const h = hexGroup;
  const forms = [`(${h}:){7}${h}`, `(${h}:){1,7}:`, `(${h}:){1,6}:${h}`];
  for (let n = 5; n >= 2; n--) forms.push(`(${h}:){1,${n}}(:${h}){1,${7 - n}}`);
  return [...forms, `${h}:((:${h}){1,6})`, `:((:${h}){1,7}|:)`].join("|");
}
function dateSource() {
  const leap = "(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29";
  const long = "(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])";
  const short = "(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)";
  return `(?:${leap}|\\d{4}-(?:${long}|${short}|(?:02)-(?:0[1-9]|1\\d|2[0-8])))`;
}
function timeSource(precision) {
  const minutes = "(?:[01]\\d|2[0-3]):[0-5]\\d";
  if (typeof precision !== "number") return `${minutes}(?::[0-5]\\d(?:\\.\\d+)?)?`;
  if (precision === -1) return minutes;
  return `${minutes}:[0-5]\\d${precision ? `\\.\\d{${precision}}` : ""}`;
}
function datetimeSource({ precision, offset, local }) {
  const zones = ["Z"];
  if (local) zones.push("");
  if (offset) zones.push("([+-](?:[01]\\d|2[0-3]):[0-5]\\d)");
  return `${dateSource()}T(?:${timeSource(precision)}(?:${zones.join("|")}))`;
}
const whole = (source) => new RegExp(`^${source}$`);

const formatPatterns = {
  email: () => /^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$/,
  guid: () => /^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$/,
  uuid: ({ version }) => uuidPattern(version?.slice(1)),
  emoji: () => new RegExp("^(\\p{Extended_Pictographic}|\\p{Emoji_Component})+$", "u"),
  nanoid: () => /^[a-zA-Z0-9_-]{21}$/,
  cuid: () => /^[cC][^\s-]{8,}$/,
  cuid2: () => /^[0-9a-z]+$/,
  ulid: () => /^[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}$/,
  xid: () => /^[0-9a-vA-V]{20}$/,
  ksuid: () => /^[A-Za-z0-9]{27}$/,
  ipv4: () => whole(`(?:${byteText}\\.){3}${byteText}`),
  ipv6: () => whole(`(${ipv6Source()})`),
  cidrv4: () => whole(`(${byteText}\\.){3}${byteText}`.replaceAll("(?:", "(") + "\\/([0-9]|[1-2][0-9]|3[0-2])"),
  cidrv6: () => whole(`((${hexGroup}:){7}${hexGroup}|::|(${hexGroup})?::(${hexGroup}:?){0,6})\\/(12[0-8]|1[01][0-9]|[1-9]?[0-9])`),
  base64: () => /^$|^(?:[0-9a-zA-Z+/]{4})*(?:(?:[0-9a-zA-Z+/]{2}==)|(?:[0-9a-zA-Z+/]{3}=))?$/,
  base64url: () => /^[A-Za-z0-9_-]*$/,
  e164: () => /^\+(?:[0-9]){6,14}[0-9]$/,
  datetime: (given) => whole(datetimeSource(given)),
  date: () => whole(dateSource()),
  time: ({ precision }) => whole(timeSource(precision)),
  duration: () => /^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$/,
};

function isIPv6(text) {
  // A dotted tail stands for the last two groups.
  const tail = /^(.*:)(\d+(?:\.\d+){3})$/.exec(text);
  if (tail && !formatPatterns.ipv4().test(tail[2])) return false;
  return formatPatterns.ipv6().test(tail ? `${tail[1]}0:0` : text);
}
function isCIDRv6(text) {
  const [address, bits, ...more] = text.split("/");
  return !more.length && /^\d{1,3}$/.test(bits ?? "") && String(Number(bits)) === bits && Number(bits) <= 128 && isIPv6(address);
}
// base64Text decodes the ASCII of a JWT header; not every engine has atob.
function base64Text(text) {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const bits = Array.from(text, (c) => digits.indexOf(c).toString(2).padStart(6, "0")).join("");
  return bits.match(/.{8}/g).map((byte) => String.fromCharCode(parseInt(byte, 2))).join("");
}
function isJWT(text, { alg }) {
  const parts = text.split(".");
  if (parts.length !== 3 || !parts[0]) return false;
  try {
    const header = JSON.parse(base64Text(parts[0]));
    if ("typ" in header && header.typ !== "JWT") return false;
    return Boolean(header.alg) && (!alg || header.alg === alg);
  } catch {
    return false;
  }
}

// Formats that need more than their pattern; what fails here is reported without the pattern.
const formatTests = {
  ipv6: isIPv6,
  cidrv6: isCIDRv6,
  base64: (text) => formatPatterns.base64().test(text),
  base64url: (text) => formatPatterns.base64url().test(text) && text.length % 4 !== 1,
  jwt: isJWT,
};

function urlParts(text) {
  if (typeof URL === "function") {
    try {
      return new URL(text);
    } catch {
      return undefined;
    }
  }
  const parts = /^([a-z][a-z0-9+.-]*:)(?:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]+)(?::\d*)?(?=[/?#]|$))?/i.exec(text);
  if (!parts || (/^(https?|ftp|wss?):$/i.test(parts[1]) && !parts[2]) || /\s/.test(text)) return undefined;
  return { protocol: parts[1].toLowerCase(), hostname: (parts[2] ?? "").toLowerCase(), href: text };
}

function urlCheck(params) {
  const check = new Check("string_format", params, { format: "url" }, (payload, issue) => {
    const { hostname, protocol, normalize: tidy } = check.def;
    const text = payload.value.trim();
    const url = urlParts(text);
    if (!url) return issue({ code: "invalid_format", format: "url" });
    const holds = (pattern, part) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")).test(part);
    if (hostname && !holds(hostname, url.hostname)) {
      issue({ code: "invalid_format", format: "url", note: "Invalid hostname", pattern: hostnamePattern().source });
    }
    if (protocol && !holds(protocol, url.protocol.replace(/:$/, ""))) {
      issue({ code: "invalid_format", format: "url", note: "Invalid protocol", pattern: protocol.source });
    }
    payload.value = tidy ? url.href : text;
  }, { note: (bag) => { bag.format = "url"; } });
  return check;
}

function testedFormat(format, test, pattern, params) {
  const check = new Check("string_format", params, { format, pattern }, ({ value }, issue) => {
    if (!test(value, check.def)) issue({ code: "invalid_format", format });
  }, {
    note: (bag) => {
      bag.format = format;
      if (pattern) notePattern(bag, pattern);
      if (format.startsWith("base64")) bag.contentEncoding = format;
    },
  });
  return check;
}

// formatPattern: one object for one pattern, so that a check asked for twice is one in JSON Schema.
const compiled = new Map();
function formatPattern(format, given) {
  const make = formatPatterns[format];
  if (!make || make.length) return make?.(given);
  if (!compiled.has(format)) compiled.set(format, make());
  return compiled.get(format);
}

function formatCheck(format, params) {
  if (format === "url") return urlCheck(params);
  const given = options(params);
  const pattern = given.pattern ?? formatPattern(format, given);
  const test = formatTests[format];
  return test ? testedFormat(format, test, pattern, params) : matches(format, pattern, params);
}

// --- the base of all schemas

// Inner is the part of a schema that other libraries look at.
class Inner {
  constructor(schema) {
    this.schema = schema;
  }
  get def() { return this.schema.def; }
  get version() { return { major: 4, minor: 1, patch: 8 }; }
  get optin() { return this.schema._optional("in") ? "optional" : undefined; }
  get optout() { return this.schema._optional("out") ? "optional" : undefined; }
  get values() { return this.schema._values(); }
  get propValues() { return this.schema._propValues(); }
  get bag() { return this.schema._bag(); }
  get parent() { return this.schema._parent; }
  run(payload, ctx) { return run(this.schema, payload, ctx); }
}

function run(schema, payload, ctx) {
  const { checks } = schema.def;
  const parsed = schema._parse(payload, ctx);
  return checks && checks.length ? after(parsed, (p) => runChecks(checks, p, ctx)) : parsed;
}

const start = (schema, value, params, async) => run(schema, { value, issues: [] }, { ...params, async });
const failure = (payload, params) => new ZodError(payload.issues.map((issue) => finalize(issue, params)));

function safeParse(schema, value, params) {
  const payload = start(schema, value, params, false);
  if (isPromise(payload)) throw new AsyncNeeded();
  return payload.issues.length ? { success: false, error: failure(payload, params) } : { success: true, data: payload.value };
}
async function safeParseAsync(schema, value, params) {
  const payload = await start(schema, value, params, true);
  return payload.issues.length ? { success: false, error: failure(payload, params) } : { success: true, data: payload.value };
}
function orThrow(result) {
  if (!result.success) throw result.error;
  return result.data;
}
const parse = (schema, value, params) => orThrow(safeParse(schema, value, params));
const parseAsync = async (schema, value, params) => orThrow(await safeParseAsync(schema, value, params));

class ZodType {
  constructor(def) {
    this.def = def;
  }
  get _def() { return this.def; }
  get type() { return this.def.type; }
  get _zod() {
    const inner = new Inner(this);
    hidden(this, "_zod", inner);
    return inner;
  }
  get "~standard"() {
    const tell = (r) => (r.success ? { value: r.data } : { issues: r.error.issues });
    const validate = (value) => {
      try {
        return tell(safeParse(this, value));
      } catch {
        return safeParseAsync(this, value).then(tell);
      }
    };
    return { vendor: "zod", version: 1, validate };
  }

  // What subclasses answer: may it be left out, which values it has, and what its checks add up to.
  _optional() { return false; }
  _values() { return undefined; }
  _propValues() { return undefined; }
  _bag() {
    if (!this._noted) {
      const bag = {};
      for (const check of this.def.checks ?? []) check.note?.(bag);
      hidden(this, "_noted", bag);
    }
    return this._noted;
  }

  _with(changes) {
    return new this.constructor({ ...this.def, ...changes });
  }
  clone(def) {
    if (def) return new this.constructor(def);
    const copy = new this.constructor(this.def);
    hidden(copy, "_parent", this);
    return copy;
  }
  check(...checks) {
    return this._with({ checks: [...(this.def.checks ?? []), ...checks.map(checkOf)] });
  }
  refine(test, params) { return this.check(refine(test, params)); }
  superRefine(look) { return this.check(superRefine(look)); }
  overwrite(change) { return this.check(overwrite(change)); }
  brand() { return this; }
  register(registry, meta) {
    registry.add(this, meta);
    return this;
  }
  describe(description) {
    const copy = this.clone();
    globalRegistry.add(copy, { description });
    return copy;
  }
  get description() { return globalRegistry.get(this)?.description; }
  meta(meta) {
    if (meta === undefined) return globalRegistry.get(this);
    const copy = this.clone();
    globalRegistry.add(copy, meta);
    return copy;
  }

  optional() { return optional(this); }
  nullable() { return nullable(this); }
  nullish() { return nullish(this); }
  nonoptional(params) { return nonoptional(this, params); }
  array() { return array(this); }
  or(other) { return union([this, other]); }
  and(other) { return intersection(this, other); }
  transform(change) { return pipe(this, transform(change)); }
  default(value) { return _default(this, value); }
  prefault(value) { return prefault(this, value); }
  catch(value) { return _catch(this, value); }
  pipe(next) { return pipe(this, next); }
  readonly() { return readonly(this); }
  isOptional() { return this.safeParse(undefined).success; }
  isNullable() { return this.safeParse(null).success; }
}

// The parse methods may be taken off their schema (list.map(schema.parse)): they are bound when first asked for.
for (const [name, work] of Object.entries({ parse, safeParse, parseAsync, safeParseAsync, spa: safeParseAsync })) {
  Object.defineProperty(ZodType.prototype, name, {
    configurable: true,
    get() {
      const bound = (value, params) => work(this, value, params);
      hidden(this, name, bound);
      return bound;
    },
  });
}

// methods adds methods that only append a check.
function methods(type, makers) {
  for (const [name, make] of Object.entries(makers)) {
    hidden(type.prototype, name, function (...args) {
      return this.check(make(...args));
    });
  }
}

// --- plain values

class _ZodString extends ZodType {
  get format() { return this._bag().format ?? null; }
  get minLength() { return this._bag().minimum ?? null; }
  get maxLength() { return this._bag().maximum ?? null; }
  _parse(payload) {
    if (this.def.coerce) {
      try {
        payload.value = String(payload.value);
      } catch { /* stays what it is */ }
    }
    return typeof payload.value === "string" ? payload : wrongType(payload, this, "string");
  }
}
methods(_ZodString, {
  min: minLength, max: maxLength, length, regex, includes, startsWith, endsWith, lowercase, uppercase, trim, normalize,
  toLowerCase, toUpperCase, nonempty: (params) => minLength(1, params),
});
class ZodString extends _ZodString {}
class ZodStringFormat extends _ZodString {}
class ZodCustomStringFormat extends ZodStringFormat {}

class ZodNumber extends ZodType {
  get format() { return this._bag().format ?? null; }
  get minValue() { return Math.max(this._bag().minimum ?? -Infinity, this._bag().exclusiveMinimum ?? -Infinity); }
  get maxValue() { return Math.min(this._bag().maximum ?? Infinity, this._bag().exclusiveMaximum ?? Infinity); }
  get isInt() { return /int/.test(this.format ?? "") || Number.isSafeInteger(this._bag().multipleOf); }
  get isFinite() { return true; }
  finite() { return this; }
  _parse(payload) {
    if (this.def.coerce) {
      try {
        payload.value = Number(payload.value);
      } catch { /* stays what it is */ }
    }
    const { value } = payload;
    if (typeof value !== "number") return wrongType(payload, this, "number");
    if (Number.isFinite(value)) return payload;
    return wrongType(payload, this, "number", { received: Number.isNaN(value) ? "NaN" : "Infinity" });
  }
}
methods(ZodNumber, {
  gt, gte, min: gte, lt, lte, max: lte, positive, negative, nonnegative, nonpositive, multipleOf, step: multipleOf,
  int: (params) => numberFormat("safeint", params), safe: (params) => numberFormat("safeint", params),
});
class ZodNumberFormat extends ZodNumber {}

class ZodBigInt extends ZodType {
  get format() { return this._bag().format ?? null; }
  get minValue() { return this._bag().minimum ?? null; }
  get maxValue() { return this._bag().maximum ?? null; }
  _parse(payload) {
    if (this.def.coerce) {
      try {
        payload.value = BigInt(payload.value);
      } catch { /* stays what it is */ }
    }
    return typeof payload.value === "bigint" ? payload : wrongType(payload, this, "bigint");
  }
}
methods(ZodBigInt, {
  gt, gte, min: gte, lt, lte, max: lte, multipleOf, positive: (params) => gt(0n, params), negative: (params) => lt(0n, params),
  nonnegative: (params) => gte(0n, params), nonpositive: (params) => lte(0n, params),
});
class ZodBigIntFormat extends ZodBigInt {}

class ZodBoolean extends ZodType {
  _parse(payload) {
    if (this.def.coerce) payload.value = Boolean(payload.value);
    return typeof payload.value === "boolean" ? payload : wrongType(payload, this, "boolean");
  }
}

class ZodDate extends ZodType {
  get minDate() { return this._bag().minimum ?? null; }
  get maxDate() { return this._bag().maximum ?? null; }
  _parse(payload) {
    if (this.def.coerce) {
      try {
        payload.value = new Date(payload.value);
      } catch { /* stays what it is */ }
    }
    const isDate = payload.value instanceof Date;
    if (isDate && !Number.isNaN(payload.value.getTime())) return payload;
    return wrongType(payload, this, "date", isDate ? { received: "Invalid Date" } : {});
  }
}
methods(ZodDate, { min: gte, max: lte });

class ZodAny extends ZodType {
  _parse(payload) { return payload; }
}
class ZodUnknown extends ZodType {
  _parse(payload) { return payload; }
}

// Exact is the base of types that one test decides.
class Exact extends ZodType {
  _parse(payload) {
    return this._is(payload.value) ? payload : wrongType(payload, this, this.def.type);
  }
}
class ZodSymbol extends Exact {
  _is(x) { return typeof x === "symbol"; }
}
class ZodUndefined extends Exact {
  _is(x) { return x === undefined; }
  _optional() { return true; }
  _values() { return new Set([undefined]); }
}
class ZodVoid extends Exact {
  _is(x) { return x === undefined; }
}
class ZodNull extends Exact {
  _is(x) { return x === null; }
  _values() { return new Set([null]); }
}
class ZodNaN extends Exact {
  _is(x) { return Number.isNaN(x); }
}
class ZodNever extends Exact {
  _is() { return false; }
}
class ZodFile extends Exact {
  _is(x) { return typeof File === "function" && x instanceof File; }
}

class ZodEnum extends ZodType {
  get enum() { return this.def.entries; }
  get options() { return Object.values(this.def.entries); }
  // The entries of a compiled TypeScript enum also map its numbers back to names: those are no values.
  _values() {
    const { entries } = this.def;
    const numbers = new Set(Object.values(entries).filter((v) => typeof v === "number"));
    return new Set(Object.entries(entries).filter(([key]) => !numbers.has(Number(key))).map(([, v]) => v));
  }
  _parse(payload) {
    const values = (this._set ??= this._values());
    return values.has(payload.value) ? payload : fail(payload, this, { code: "invalid_value", values: [...values] });
  }
  _pick(keys, params, keep) {
    const { entries } = this.def;
    for (const key of keys) if (!(key in entries)) throw new Error(`Key ${key} not found in enum`);
    const kept = Object.entries(entries).filter(([key]) => keys.includes(key) === keep);
    return new ZodEnum({ ...this.def, checks: [], ...options(params), entries: Object.fromEntries(kept) });
  }
  extract(keys, params) { return this._pick(keys, params, true); }
  exclude(keys, params) { return this._pick(keys, params, false); }
}

class ZodLiteral extends ZodType {
  get values() { return this._values(); }
  get value() {
    if (this.def.values.length > 1) throw new Error("This schema contains multiple valid literal values. Use `.values` instead.");
    return this.def.values[0];
  }
  _values() { return new Set(this.def.values); }
  _parse(payload) {
    const { values } = this.def;
    return values.includes(payload.value) ? payload : fail(payload, this, { code: "invalid_value", values });
  }
}

class ZodCustom extends ZodType {
  _parse(payload) { return payload; }
}

// --- objects, lists and other containers

class ZodObject extends ZodType {
  get shape() { return this.def.shape; }
  // Fields may be getters that name schemas of later lines: they are read when first needed.
  _fields() {
    if (!this._read) hidden(this, "_read", Object.keys(this.shape).map((key) => [key, this.shape[key]]));
    return this._read;
  }
  _propValues() {
    const all = {};
    for (const [key, field] of this._fields()) {
      const values = field._values();
      if (values) all[key] = values;
    }
    return all;
  }
  _parse(payload, ctx) {
    const input = payload.value;
    if (typeof input !== "object" || input === null || Array.isArray(input)) return wrongType(payload, this, "object");
    const out = (payload.value = {});
    const pending = [];
    const take = (key, field) => {
      const part = run(field, { value: input[key], issues: [] }, ctx);
      const put = (done) => {
        if (done.issues.length) adopt(payload, done, key);
        if (done.value !== undefined || key in input) out[key] = done.value;
      };
      if (isPromise(part)) pending.push(part.then(put));
      else put(part);
    };
    for (const [key, field] of this._fields()) {
      if (!isSchema(field)) throw new Error(`Invalid element at key "${key}": expected a Zod schema`);
      take(key, field);
    }
    const { catchall } = this.def;
    if (catchall) {
      const extra = Object.keys(input).filter((key) => !Object.hasOwn(this.shape, key));
      if (!(catchall instanceof ZodNever)) for (const key of extra) key !== "__proto__" && take(key, catchall);
      else if (extra.length) payload.issues.push({ code: "unrecognized_keys", keys: extra, input, inst: this });
    }
    return pending.length ? Promise.all(pending).then(() => payload) : payload;
  }

  keyof() { return _enum(Object.keys(this.shape)); }
  catchall(schema) { return this._with({ catchall: schema }); }
  passthrough() { return this.loose(); }
  loose() { return this._with({ catchall: unknown() }); }
  strict() { return this._with({ catchall: never() }); }
  strip() { return this._with({ catchall: undefined }); }
  // _reshape makes an object of other fields; make is called when they are first needed.
  _reshape(make, changes) {
    return new ZodObject(withShape({ ...this._plainDef(), ...changes }, make));
  }
  _plainDef() {
    const { shape: _shape, ...rest } = Object.getOwnPropertyDescriptors(this.def);
    return Object.defineProperties({}, rest);
  }
  _with(changes) { return this._reshape(() => this.def.shape, changes); }
  safeExtend(shape) { return this._reshape(() => joinShapes(this.shape, shape)); }
  extend(shape) {
    if (!isPlainObject(shape)) throw new Error("Invalid input to extend: expected a plain object");
    if (this.def.checks?.length) {
      throw new Error("Object schemas containing refinements cannot be extended. Use `.safeExtend()` instead.");
    }
    return this.safeExtend(shape);
  }
  merge(other) {
    return this._reshape(() => joinShapes(this.shape, other.shape), { catchall: other.def.catchall, checks: [] });
  }
  // _select calls each with the shape and the chosen keys and takes its answer as the new shape.
  _select(mask, each) {
    return this._reshape(() => {
      const shape = joinShapes(this.shape, {});
      const keys = mask ? Object.keys(mask).filter((key) => mask[key]) : Object.keys(shape);
      for (const key of Object.keys(mask ?? {})) if (!(key in shape)) throw new Error(`Unrecognized key: "${key}"`);
      return each(shape, keys) ?? shape;
    }, { checks: [] });
  }
  pick(mask) { return this._select(mask, (shape, keys) => Object.fromEntries(keys.map((key) => [key, shape[key]]))); }
  omit(mask) { return this._select(mask, (shape, keys) => keys.forEach((key) => delete shape[key])); }
  partial(mask) { return this._wrapFields(mask, optional); }
  required(mask) { return this._wrapFields(mask, nonoptional); }
  _wrapFields(mask, wrap) {
    return this._select(mask, (shape, keys) => keys.forEach((key) => hiddenField(shape, key, wrap(shape[key]))));
  }
}

const hiddenField = (shape, key, value) => void Object.defineProperty(shape, key, { value, enumerable: true, configurable: true, writable: true });
const joinShapes = (a, b) =>
  Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(a), ...Object.getOwnPropertyDescriptors(b) });

// withShape gives a def its fields late, once, and with every getter read no more than once.
function withShape(def, make) {
  let shape;
  const read = () => {
    if (shape) return shape;
    shape = joinShapes(make(), {});
    for (const key of Object.keys(shape)) {
      const { get } = Object.getOwnPropertyDescriptor(shape, key);
      if (!get) continue;
      Object.defineProperty(shape, key, {
        enumerable: true,
        configurable: true,
        get() {
          const value = get.call(shape);
          hiddenField(shape, key, value);
          return value;
        },
      });
    }
    return shape;
  };
  return Object.defineProperty(def, "shape", { get: read, enumerable: true, configurable: true });
}

class ZodArray extends ZodType {
  get element() { return this.def.element; }
  unwrap() { return this.def.element; }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!Array.isArray(input)) return wrongType(payload, this, "array");
    const parts = Array.from(input, (value) => run(this.def.element, { value, issues: [] }, ctx));
    return afterAll(parts, (done) => {
      payload.value = done.map((part, i) => (adopt(payload, part, i), part.value));
      return payload;
    });
  }
}
methods(ZodArray, { min: minLength, max: maxLength, length, nonempty: (params) => minLength(1, params) });

class ZodTuple extends ZodType {
  rest(rest) { return this._with({ rest }); }
  _parse(payload, ctx) {
    const input = payload.value;
    const { items, rest } = this.def;
    if (!Array.isArray(input)) return wrongType(payload, this, "tuple");
    // Items at the end that may be left out; one that lacks only its last needed item is told so by that item.
    const needed = items.length - items.toReversed().findIndex((item) => !item._optional("in"));
    if (!rest) {
      if (input.length > items.length) return fail(payload, this, { code: "too_big", maximum: items.length, origin: "array" });
      if (input.length < needed - 1) return fail(payload, this, { code: "too_small", minimum: items.length, origin: "array" });
    }
    const known = items.slice(0, Math.max(input.length, needed));
    const more = rest ? input.slice(items.length).map(() => rest) : [];
    const parts = [...known, ...more].map((item, i) => run(item, { value: input[i], issues: [] }, ctx));
    return afterAll(parts, (done) => {
      payload.value = done.map((part, i) => (adopt(payload, part, i), part.value));
      return payload;
    });
  }
}

class ZodRecord extends ZodType {
  get keyType() { return this.def.keyType; }
  get valueType() { return this.def.valueType; }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!isPlainObject(input)) return wrongType(payload, this, "record");
    const out = (payload.value = {});
    const pending = [];
    const take = (key, name) => {
      const part = run(this.def.valueType, { value: input[key], issues: [] }, ctx);
      const put = (done) => {
        adopt(payload, done, key);
        out[name] = done.value;
      };
      if (isPromise(part)) pending.push(part.then(put));
      else put(part);
    };
    const values = this.def.partial ? undefined : this.def.keyType._values();
    if (values) this._known(payload, input, values, take);
    else this._free(payload, ctx, input, take);
    return pending.length ? Promise.all(pending).then(() => payload) : payload;
  }
  // _known: the keys are a closed set, and every one must be there.
  _known(payload, input, values, take) {
    for (const key of values) if (isKey(key)) take(key, key);
    const keys = Object.keys(input).filter((key) => !values.has(key));
    if (keys.length) payload.issues.push({ code: "unrecognized_keys", input, inst: this, keys });
  }
  _free(payload, ctx, input, take) {
    for (const key of Reflect.ownKeys(input)) {
      if (key === "__proto__") continue;
      const named = run(this.def.keyType, { value: key, issues: [] }, ctx);
      if (isPromise(named)) throw new Error("Async schemas not supported in object keys currently");
      if (!named.issues.length) {
        take(key, named.value);
        continue;
      }
      const issues = named.issues.map((issue) => finalize(issue, ctx));
      payload.issues.push({ code: "invalid_key", origin: "record", issues, input: key, path: [key], inst: this });
    }
  }
}

class ZodMap extends ZodType {
  get keyType() { return this.def.keyType; }
  get valueType() { return this.def.valueType; }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!(input instanceof Map)) return wrongType(payload, this, "map");
    const out = (payload.value = new Map());
    const told = (part) => part.issues.map((issue) => finalize(issue, ctx));
    const pairs = [...input].map(([key, value]) => afterAll([
      run(this.def.keyType, { value: key, issues: [] }, ctx),
      run(this.def.valueType, { value, issues: [] }, ctx),
    ], ([k, v]) => ({ key, k, v })));
    return afterAll(pairs, (done) => {
      for (const { key, k, v } of done) {
        if (isKey(key)) {
          adopt(payload, k, key);
          adopt(payload, v, key);
        } else {
          if (k.issues.length) payload.issues.push({ code: "invalid_key", origin: "map", issues: told(k), input, inst: this });
          if (v.issues.length) payload.issues.push({ origin: "map", code: "invalid_element", key, issues: told(v), input, inst: this });
        }
        out.set(k.value, v.value);
      }
      return payload;
    });
  }
}

class ZodSet extends ZodType {
  _parse(payload, ctx) {
    if (!(payload.value instanceof Set)) return wrongType(payload, this, "set");
    const parts = [...payload.value].map((value) => run(this.def.valueType, { value, issues: [] }, ctx));
    return afterAll(parts, (done) => {
      payload.issues.push(...done.flatMap((part) => part.issues));
      payload.value = new Set(done.map((part) => part.value));
      return payload;
    });
  }
}
for (const type of [ZodSet, ZodMap]) methods(type, { min: minSize, max: maxSize, size, nonempty: (params) => minSize(1, params) });

// --- unions and intersections

class ZodUnion extends ZodType {
  get options() { return this.def.options; }
  _optional(side) { return this.def.options.some((option) => option._optional(side)); }
  _values() {
    const all = this.def.options.map((option) => option._values());
    return all.every(Boolean) ? new Set(all.flatMap((values) => [...values])) : undefined;
  }
  _propValues() {
    const all = {};
    for (const option of this.def.options) {
      for (const [key, values] of Object.entries(option._propValues() ?? {})) {
        for (const value of values) (all[key] ??= new Set()).add(value);
      }
    }
    return all;
  }
  _parse(payload, ctx) {
    const { options: members } = this.def;
    if (members.length === 1) return run(members[0], payload, ctx);
    const results = [];
    for (const member of members) {
      const result = run(member, { value: payload.value, issues: [] }, ctx);
      if (!isPromise(result) && !result.issues.length) return result;
      results.push(result);
    }
    return afterAll(results, (done) => this._choose(payload, done, ctx));
  }
  _choose(payload, results, ctx) {
    const good = results.find((result) => !result.issues.length);
    if (good) return Object.assign(payload, { value: good.value });
    // A single member of the right type explains itself.
    const close = results.filter((result) => !aborted(result));
    if (close.length === 1) {
      payload.value = close[0].value;
      return close[0];
    }
    const errors = results.map((result) => result.issues.map((issue) => finalize(issue, ctx)));
    payload.issues.push({ code: "invalid_union", input: payload.value, inst: this, errors });
    return payload;
  }
}

class ZodDiscriminatedUnion extends ZodUnion {
  _members() {
    const { options: members, discriminator } = this.def;
    const found = new Map();
    members.forEach((member, index) => {
      const values = member._propValues()?.[discriminator];
      if (!values?.size) throw new Error(`Invalid discriminated union option at index "${index}"`);
      for (const value of values) {
        if (found.has(value)) throw new Error(`Duplicate discriminator value "${String(value)}"`);
        found.set(value, member);
      }
    });
    return found;
  }
  _parse(payload, ctx) {
    const input = payload.value;
    const { discriminator, unionFallback } = this.def;
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      return fail(payload, this, { code: "invalid_type", expected: "object" });
    }
    const member = (this._found ??= this._members()).get(input[discriminator]);
    if (member) return run(member, payload, ctx);
    if (unionFallback) return super._parse(payload, ctx);
    return fail(payload, this, { code: "invalid_union", errors: [], note: "No matching discriminator", discriminator, path: [discriminator] });
  }
}

class ZodIntersection extends ZodType {
  _parse(payload, ctx) {
    const side = (schema) => run(schema, { value: payload.value, issues: [] }, ctx);
    return afterAll([side(this.def.left), side(this.def.right)], ([left, right]) => {
      payload.issues.push(...left.issues, ...right.issues);
      if (aborted(payload)) return payload;
      payload.value = mergeValues(left.value, right.value, []);
      return payload;
    });
  }
}

function mergeValues(a, b, path) {
  if (a === b || (a instanceof Date && b instanceof Date && +a === +b)) return a;
  if (isPlainObject(a) && isPlainObject(b)) {
    const both = { ...a, ...b };
    for (const key of Object.keys(a)) if (Object.hasOwn(b, key)) both[key] = mergeValues(a[key], b[key], [...path, key]);
    return both;
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) return a.map((item, i) => mergeValues(item, b[i], [...path, i]));
  throw new Error(`Unmergable intersection. Error path: ${JSON.stringify(path)}`);
}

// --- wrappers

class Wrapper extends ZodType {
  unwrap() { return this.def.innerType; }
  _optional(side) { return this.def.innerType._optional(side); }
  _values() { return this.def.innerType._values(); }
  _propValues() { return this.def.innerType._propValues(); }
  _parse(payload, ctx) { return run(this.def.innerType, payload, ctx); }
}

class ZodOptional extends Wrapper {
  _optional() { return true; }
  _values() {
    const values = super._values();
    return values && new Set([...values, undefined]);
  }
  _parse(payload, ctx) {
    if (payload.value !== undefined) return super._parse(payload, ctx);
    if (!this.def.innerType._optional("in")) return payload;
    // What is left out and stays so is no reason to complain.
    return after(super._parse(payload, ctx), (done) => (done.issues.length && payload.value === undefined ? { value: undefined, issues: [] } : done));
  }
}

class ZodNullable extends Wrapper {
  _values() {
    const values = super._values();
    return values && new Set([...values, null]);
  }
  _parse(payload, ctx) { return payload.value === null ? payload : super._parse(payload, ctx); }
}

class ZodDefault extends Wrapper {
  removeDefault() { return this.def.innerType; }
  _optional(side) { return side === "in"; }
  _parse(payload, ctx) {
    const fill = (done) => {
      if (done.value === undefined) done.value = this.def.defaultValue;
      return done;
    };
    return payload.value === undefined ? fill(payload) : after(super._parse(payload, ctx), fill);
  }
}

class ZodPrefault extends Wrapper {
  _optional(side) { return side === "in"; }
  _parse(payload, ctx) {
    if (payload.value === undefined) payload.value = this.def.defaultValue;
    return super._parse(payload, ctx);
  }
}

class ZodNonOptional extends Wrapper {
  _optional() { return false; }
  _values() {
    const values = super._values();
    return values && new Set([...values].filter((value) => value !== undefined));
  }
  _parse(payload, ctx) {
    return after(super._parse(payload, ctx), (done) =>
      done.issues.length || done.value !== undefined ? done : fail(done, this, { code: "invalid_type", expected: "nonoptional" }));
  }
}

class ZodCatch extends Wrapper {
  removeCatch() { return this.def.innerType; }
  _parse(payload, ctx) {
    const input = payload.value;
    return after(super._parse(payload, ctx), (done) => {
      payload.value = done.value;
      if (!done.issues.length) return payload;
      const error = { issues: done.issues.map((issue) => finalize(issue, ctx)) };
      payload.value = this.def.catchValue({ ...payload, error, input });
      payload.issues = [];
      return payload;
    });
  }
}

class ZodReadonly extends Wrapper {
  _parse(payload, ctx) {
    return after(super._parse(payload, ctx), (done) => {
      done.value = Object.freeze(done.value);
      return done;
    });
  }
}

class ZodPromise extends Wrapper {
  _optional() { return false; }
  _parse(payload, ctx) {
    return settle(Promise.resolve(payload.value), ctx, (value) => run(this.def.innerType, { value, issues: [] }, ctx));
  }
}

class ZodLazy extends Wrapper {
  constructor(def) {
    super(def);
    let inner;
    hidden(this, "_get", () => (inner ??= def.getter()));
  }
  unwrap() { return this._get(); }
  _optional(side) { return this._get()._optional(side); }
  _values() { return this._get()._values(); }
  _propValues() { return this._get()._propValues(); }
  _parse(payload, ctx) { return run(this._get(), payload, ctx); }
}

class ZodTransform extends ZodType {
  _parse(payload, ctx) {
    return settle(this.def.transform(payload.value, allowIssues(payload, this)), ctx, (value) => {
      payload.value = value;
      return payload;
    });
  }
}

class ZodPipe extends ZodType {
  get in() { return this.def.in; }
  get out() { return this.def.out; }
  _optional(side) { return this.def[side]._optional(side); }
  _values() { return this.def.in._values(); }
  _propValues() { return this.def.in._propValues(); }
  _parse(payload, ctx) {
    return after(run(this.def.in, payload, ctx), (done) => {
      if (done.issues.length) return Object.assign(done, { aborted: true });
      return this._next(done, ctx);
    });
  }
  _next(payload, ctx) { return run(this.def.out, { value: payload.value, issues: payload.issues }, ctx); }
}

class ZodCodec extends ZodPipe {
  _next(payload, ctx) {
    return settle(this.def.transform(payload.value, allowIssues(payload, this)), ctx, (value) => {
      payload.value = value;
      return payload.issues.length ? Object.assign(payload, { aborted: true }) : super._next(payload, ctx);
    });
  }
}

// --- builders

const builder = (Type, type, more) => (params) => new Type({ type, ...more, ...options(params) });
const string = builder(ZodString, "string");
const number = builder(ZodNumber, "number");
const boolean = builder(ZodBoolean, "boolean");
const bigint = builder(ZodBigInt, "bigint");
const date = builder(ZodDate, "date");
const unknown = builder(ZodUnknown, "unknown");
const never = builder(ZodNever, "never");
const _null = builder(ZodNull, "null");

const coerce = {};
for (const [name, Type] of Object.entries({ string: ZodString, number: ZodNumber, boolean: ZodBoolean, bigint: ZodBigInt, date: ZodDate })) {
  coerce[name] = builder(Type, name, { coerce: true });
}

function withFormat(Type, type, check) {
  const { error, pattern, format } = check.def;
  return new Type({ type, format, check: check.def.check, abort: check.def.abort, pattern, error, checks: [check] });
}
const numberOf = (format) => (params) => withFormat(ZodNumberFormat, "number", numberFormat(format, params));
const bigintOf = (format) => (params) => withFormat(ZodBigIntFormat, "bigint", bigintFormat(format, params));

function stringFormat(name, test, params) {
  const pattern = test instanceof RegExp ? test : params?.pattern;
  const check = testedFormat(name, test instanceof RegExp ? (text) => new RegExp(test.source, test.flags.replace(/[gy]/g, "")).test(text) : test, pattern, params);
  return withFormat(ZodCustomStringFormat, "string", check);
}

function object(shape, params, catchall) {
  return new ZodObject(withShape({ type: "object", ...(catchall && { catchall }), ...options(params) }, () => shape ?? {}));
}
const array = (element, params) => new ZodArray({ type: "array", element, ...options(params) });
function tuple(items, rest, params) {
  const given = isSchema(rest) ? rest : null;
  return new ZodTuple({ type: "tuple", items, rest: given, ...options(given ? params : rest) });
}
function record(keyType, valueType, params) {
  // With one schema only, it is that of the values, as before zod 4.
  if (!isSchema(valueType)) return new ZodRecord({ type: "record", keyType: string(), valueType: keyType, ...options(valueType) });
  return new ZodRecord({ type: "record", keyType, valueType, ...options(params) });
}
const partialRecord = (keyType, valueType, params) =>
  new ZodRecord({ type: "record", keyType, valueType, partial: true, ...options(params) });
const map = (keyType, valueType, params) => new ZodMap({ type: "map", keyType, valueType, ...options(params) });
const set = (valueType, params) => new ZodSet({ type: "set", valueType, ...options(params) });
const union = (members, params) => new ZodUnion({ type: "union", options: members, ...options(params) });
const discriminatedUnion = (discriminator, members, params) =>
  new ZodDiscriminatedUnion({ type: "union", options: members, discriminator, ...options(params) });
const intersection = (left, right) => new ZodIntersection({ type: "intersection", left, right });
function _enum(values, params) {
  const entries = Array.isArray(values) ? Object.fromEntries(values.map((value) => [value, value])) : values;
  return new ZodEnum({ type: "enum", entries, ...options(params) });
}
function literal(value, params) {
  const values = Array.isArray(value) ? value : [value];
  if (!values.length) throw new Error("Cannot create literal schema with no valid values");
  return new ZodLiteral({ type: "literal", values, ...options(params) });
}

const optional = (innerType) => new ZodOptional({ type: "optional", innerType });
const nullable = (innerType) => new ZodNullable({ type: "nullable", innerType });
const nullish = (innerType) => optional(nullable(innerType));
const nonoptional = (innerType, params) => new ZodNonOptional({ type: "nonoptional", innerType, ...options(params) });
const readonly = (innerType) => new ZodReadonly({ type: "readonly", innerType });
const promise = (innerType) => new ZodPromise({ type: "promise", innerType });
const lazy = (getter) => new ZodLazy({ type: "lazy", getter, get innerType() { return getter(); } });
const copyOf = (value) => (isPlainObject(value) ? { ...value } : Array.isArray(value) ? [...value] : value);
// withValue: a default is made anew for every use, by the function if there is one.
function withValue(Type, type, innerType, value) {
  const make = typeof value === "function" ? value : () => copyOf(value);
  return new Type({ type, innerType, get defaultValue() { return make(); } });
}
const _default = (innerType, value) => withValue(ZodDefault, "default", innerType, value);
const prefault = (innerType, value) => withValue(ZodPrefault, "prefault", innerType, value);
function _catch(innerType, value) {
  return new ZodCatch({ type: "catch", innerType, catchValue: typeof value === "function" ? value : () => value });
}
const transform = (change) => new ZodTransform({ type: "transform", transform: change });
const pipe = (first, next) => new ZodPipe({ type: "pipe", in: first, out: next });
const preprocess = (change, schema) => pipe(transform(change), schema);
const codec = (first, next, { decode, encode }) =>
  new ZodCodec({ type: "pipe", in: first, out: next, transform: decode, reverseTransform: encode });

function custom(test, params) {
  const check = refine(test ?? (() => true), { abort: true, ...options(params) });
  return new ZodCustom({ type: "custom", check: "custom", fn: check.def.fn, error: check.def.error, checks: [check] });
}
function _instanceof(Class, params = { error: `Input not instance of ${Class.name}` }) {
  return custom((value) => value instanceof Class, params);
}
function json(params) {
  const any = lazy(() => union([string(params), number(), boolean(), _null(), array(any), record(string(), any)]));
  return any;
}
function stringbool(params) {
  const { truthy = ["true", "1", "yes", "on", "y", "enabled"], falsy = ["false", "0", "no", "off", "n", "disabled"], case: sensitive, error } = options(params);
  const fold = (text) => (sensitive === "sensitive" ? text : text.toLowerCase());
  const [yes, no] = [truthy, falsy].map((words) => new Set(words.map(fold)));
  const schema = codec(string({ error }), boolean({ error }), {
    decode: (text, payload) => {
      const word = fold(text);
      if (yes.has(word) || no.has(word)) return yes.has(word);
      payload.issues.push({ code: "invalid_value", expected: "stringbool", values: [...yes, ...no], input: text, inst: schema });
      return NEVER;
    },
    encode: (value) => (value ? truthy[0] : falsy[0]),
  });
  schema.def.error = error;
  return schema;
}
const NEVER = Object.freeze({ status: "aborted" });

// --- JSON Schema

// transforms tells whether what comes out may be of another type than what went in.
function transforms(schema, seen = new Set()) {
  if (!schema || seen.has(schema)) return false;
  seen.add(schema);
  const { def } = schema;
  if (def.type === "transform" || def.type === "catch") return def.type === "transform";
  if (def.type === "object") return schema._fields().some(([, field]) => transforms(field, seen));
  const inner = def.type === "lazy" ? [schema.unwrap()]
    : [def.innerType, def.in, def.out, def.element, def.left, def.right, def.keyType, def.valueType, def.rest, ...(def.items ?? [])];
  return [...inner, ...(def.type === "union" ? def.options : [])].some((part) => transforms(part, seen));
}

const unrepresentables = {
  bigint: "BigInt", symbol: "Symbols", undefined: "Undefined", void: "Void", date: "Date", map: "Map", set: "Set",
  transform: "Transforms", nan: "NaN", custom: "Custom types",
};

class Converter {
  constructor({ io = "output", target = "draft-2020-12", unrepresentable = "throw", cycles = "ref", reused = "inline", override, metadata = globalRegistry } = {}) {
    Object.assign(this, { io, target, unrepresentable, cycles, reused, override, metadata });
    this.entries = new Map();
  }
  get older() { return this.target === "draft-7" || this.target === "draft-4"; }

  // visit gives the JSON of a schema; the same object for the same schema, so that it can become a reference later.
  visit(schema, path) {
    if (!isSchema(schema)) throw new TypeError(`Not a schema: ${kindOf(schema)} at #/${path.join("/")}`);
    const known = this.entries.get(schema);
    if (known) {
      known.uses++;
      if (known.open) known.cycle = path;
      return known.json;
    }
    const entry = { json: {}, base: undefined, open: true, uses: 1, path };
    this.entries.set(schema, entry);
    if (schema._parent) {
      this.base(entry, schema._parent);
      this.entries.get(schema._parent).isParent = true;
    } else {
      this.convert(schema, entry, (part, ...keys) => this.visit(part, [...path, ...keys]));
    }
    Object.assign(entry.json, this.metadata.get(schema));
    if (this.io === "input") {
      if (("default" in entry.json || "examples" in entry.json) && transforms(schema)) {
        delete entry.json.examples;
        delete entry.json.default;
      }
      if (entry.prefault) entry.json.default ??= entry.prefault;
    }
    entry.open = false;
    return entry.json;
  }
  // base: the JSON of an entry goes on with that of another schema.
  base(entry, schema) {
    entry.base = schema;
    this.visit(schema, entry.path);
  }
  cannot(what) {
    if (this.unrepresentable === "throw") throw new Error(`${what} cannot be represented in JSON Schema`);
  }

  convert(schema, entry, sub) {
    const { json } = entry;
    const { def } = schema;
    switch (def.type) {
      case "string": return this.string(schema._bag(), json);
      case "number": return this.number(schema._bag(), json);
      case "boolean": return void (json.type = "boolean");
      case "null":
        return void Object.assign(json, this.target === "openapi-3.0" ? { type: "string", nullable: true, enum: [null] } : { type: "null" });
      case "never": return void (json.not = {});
      case "any": case "unknown": return;
      case "enum": return this.values([...schema._values()], json, false);
      case "literal": return this.literal(def.values, json);
      case "file": return void Object.assign(json, { type: "string", format: "binary", contentEncoding: "binary" });
      case "array":
        this.items(schema._bag(), json);
        return void Object.assign(json, { type: "array", items: sub(def.element, "items") });
      case "tuple": return this.tuple(schema, json, sub);
      case "object": return this.object(schema, json, sub);
      case "record":
        json.type = "object";
        if (this.target !== "draft-4") json.propertyNames = sub(def.keyType, "propertyNames");
        return void (json.additionalProperties = sub(def.valueType, "additionalProperties"));
      case "union": return void (json.anyOf = def.options.map((option, i) => sub(option, "anyOf", i)));
      case "intersection": return this.intersection(def, json, sub);
      case "nullable": return this.nullable(def, entry, sub);
    }
    return this.wrapper(schema, entry);
  }
  wrapper(schema, entry) {
    const { def } = schema;
    const { json } = entry;
    switch (def.type) {
      case "lazy": return this.base(entry, schema.unwrap());
      case "pipe": {
        const first = def.in.def.type === "transform" ? def.out : def.in;
        return this.base(entry, this.io === "input" ? first : def.out);
      }
    }
    if (!def.innerType) return this.cannot(unrepresentables[def.type] ?? def.type);
    this.base(entry, def.innerType);
    if (def.type === "readonly") json.readOnly = true;
    if (def.type === "default") json.default = JSON.parse(JSON.stringify(def.defaultValue));
    if (def.type === "prefault" && this.io === "input") entry.prefault = JSON.parse(JSON.stringify(def.defaultValue));
    if (def.type !== "catch") return;
    try {
      json.default = def.catchValue(undefined);
    } catch {
      throw new Error("Dynamic catch values are not supported in JSON Schema");
    }
  }
  string({ minimum, maximum, format, patterns, contentEncoding }, json) {
    json.type = "string";
    if (typeof minimum === "number") json.minLength = minimum;
    if (typeof maximum === "number") json.maxLength = maximum;
    if (format && format !== "regex") json.format = { guid: "uuid", url: "uri", datetime: "date-time" }[format] ?? format;
    if (contentEncoding) json.contentEncoding = contentEncoding;
    const sources = [...(patterns ?? [])].map((pattern) => pattern.source);
    if (sources.length === 1) json.pattern = sources[0];
    if (sources.length < 2) return;
    const typed = this.older || this.target === "openapi-3.0" ? { type: "string" } : {};
    json.allOf = sources.map((pattern) => ({ ...typed, pattern }));
  }
  number({ minimum, maximum, format, multipleOf: step, exclusiveMinimum, exclusiveMaximum }, json) {
    json.type = /int/.test(format ?? "") ? "integer" : "number";
    const bound = (name, Exclusive, inclusive, exclusive, wins) => {
      if (exclusive !== undefined && (inclusive === undefined || wins)) {
        const flag = this.target === "draft-4" || this.target === "openapi-3.0";
        Object.assign(json, flag ? { [name]: exclusive, [Exclusive]: true } : { [Exclusive]: exclusive });
      } else if (inclusive !== undefined) json[name] = inclusive;
    };
    bound("minimum", "exclusiveMinimum", minimum, exclusiveMinimum, exclusiveMinimum >= minimum);
    bound("maximum", "exclusiveMaximum", maximum, exclusiveMaximum, exclusiveMaximum <= maximum);
    if (step !== undefined) json.multipleOf = step;
  }
  items({ minimum, maximum }, json) {
    if (typeof minimum === "number") json.minItems = minimum;
    if (typeof maximum === "number") json.maxItems = maximum;
  }
  values(values, json, constant) {
    const types = new Set(values.map((v) => (v === null ? "null" : typeof v)));
    const [type] = types.size === 1 ? types : values.length ? [] : ["string"];
    if (type) json.type = type;
    if (constant && values.length === 1 && this.target !== "draft-4" && this.target !== "openapi-3.0") json.const = values[0];
    else json.enum = values;
  }
  literal(all, json) {
    const values = [];
    for (const value of all) {
      if (value === undefined) this.cannot("Literal `undefined`");
      else if (typeof value === "bigint") {
        this.cannot("BigInt literals");
        values.push(Number(value));
      } else values.push(value);
    }
    if (values.length) this.values(values, json, true);
  }
  tuple(schema, json, sub) {
    const { items, rest } = schema.def;
    json.type = "array";
    if (this.target === "openapi-3.0") {
      const anyOf = items.map((item, i) => sub(item, "items", "anyOf", i));
      if (rest) anyOf.push(sub(rest, "items", "anyOf", items.length));
      Object.assign(json, { items: { anyOf }, minItems: items.length }, rest ? {} : { maxItems: items.length });
    } else {
      const [listKey, restKey] = this.older ? ["items", "additionalItems"] : ["prefixItems", "items"];
      json[listKey] = items.map((item, i) => sub(item, listKey, i));
      if (rest) json[restKey] = sub(rest, restKey);
    }
    this.items(schema._bag(), json);
  }
  object(schema, json, sub) {
    json.type = "object";
    json.properties = {};
    const fields = schema._fields();
    for (const [key, field] of fields) hiddenField(json.properties, key, sub(field, "properties", key));
    const needed = fields.filter(([, field]) => !field._optional(this.io === "input" ? "in" : "out"));
    if (needed.length) json.required = needed.map(([key]) => key);
    const { catchall } = schema.def;
    if (catchall instanceof ZodNever || (!catchall && this.io === "output")) json.additionalProperties = false;
    else if (catchall) json.additionalProperties = sub(catchall, "additionalProperties");
  }
  intersection(def, json, sub) {
    const flat = (part) => (Object.keys(part).length === 1 && "allOf" in part ? part.allOf : [part]);
    json.allOf = [...flat(sub(def.left, "allOf", 0)), ...flat(sub(def.right, "allOf", 1))];
  }
  nullable(def, entry, sub) {
    if (this.target === "openapi-3.0") {
      entry.json.nullable = true;
      return this.base(entry, def.innerType);
    }
    entry.json.anyOf = [sub(def.innerType, "anyOf", 0), { type: "null" }];
  }

  // extract turns what is cyclic, named or (if asked) used often into definitions.
  extract(root) {
    const defs = {};
    let unnamed = 0;
    for (const [schema, entry] of this.entries) {
      if (entry.cycle && this.cycles === "throw") {
        throw new Error(`Cycle detected: #/${entry.cycle.join("/")}/<root>\n\nSet the \`cycles\` parameter to \`"ref"\` to resolve cyclical schemas with defs.`);
      }
      if (schema === root) {
        entry.def = { ...entry.json };
        if (entry.cycle) this.refer(entry, "#");
        continue;
      }
      const id = this.metadata.get(schema)?.id;
      if (!id && !entry.cycle && !(this.reused === "ref" && entry.uses > 1)) continue;
      const name = id ?? `__schema${unnamed++}`;
      entry.def = defs[name] = { ...entry.json };
      this.refer(entry, `#/${this.defsKey}/${name}`);
    }
    return defs;
  }
  get defsKey() { return this.older ? "definitions" : "$defs"; }
  refer(entry, $ref) {
    for (const key of Object.keys(entry.json)) delete entry.json[key];
    entry.json.$ref = $ref;
  }
  // resolve lays what a schema says itself over the JSON it goes on with.
  resolve(schema) {
    const entry = this.entries.get(schema);
    if (entry.resolved) return;
    entry.resolved = true;
    const json = entry.def ?? entry.json;
    if (entry.base) {
      this.resolve(entry.base);
      const base = this.entries.get(entry.base).json;
      if (base.$ref && (this.older || this.target === "openapi-3.0")) (json.allOf ??= []).push(base);
      else Object.assign(json, base, { ...json });
    }
    if (!entry.isParent) this.override?.({ zodSchema: schema, jsonSchema: json, path: entry.path });
  }
  run(root) {
    this.visit(root, []);
    const defs = this.extract(root);
    for (const schema of [...this.entries.keys()].reverse()) this.resolve(schema);
    const out = {};
    const drafts = { "draft-2020-12": "https://json-schema.org/draft/2020-12/schema", "draft-7": "http://json-schema.org/draft-07/schema#", "draft-4": "http://json-schema.org/draft-04/schema#" };
    if (drafts[this.target]) out.$schema = drafts[this.target];
    Object.assign(out, this.entries.get(root).def);
    if (Object.keys(defs).length) out[this.defsKey] = defs;
    return JSON.parse(JSON.stringify(out)); // no two places share an object
  }
}
const toJSONSchema = (schema, params) => new Converter(params).run(schema);

// --- the module

const zod = {
  string, number, boolean, bigint, date, unknown, never, object, array, tuple, record, partialRecord, map, set, union,
  discriminatedUnion, intersection, literal, optional, nullable, nullish, nonoptional, readonly, promise, lazy, prefault,
  transform, pipe, preprocess, codec, custom, json, stringbool, stringFormat, coerce, NEVER, config,
  any: builder(ZodAny, "any"), null: _null, undefined: builder(ZodUndefined, "undefined"), void: builder(ZodVoid, "void"),
  symbol: builder(ZodSymbol, "symbol"), nan: builder(ZodNaN, "nan"), file: builder(ZodFile, "file"),
  enum: _enum, nativeEnum: _enum, catch: _catch, _default, instanceof: _instanceof, keyof: (schema) => schema.keyof(),
  strictObject: (shape, params) => object(shape, params, never()), looseObject: (shape, params) => object(shape, params, unknown()),
  int: numberOf("safeint"), int32: numberOf("int32"), uint32: numberOf("uint32"), float32: numberOf("float32"), float64: numberOf("float64"),
  int64: bigintOf("int64"), uint64: bigintOf("uint64"),
  hostname: (params) => stringFormat("hostname", hostnamePattern(), params), hex: (params) => stringFormat("hex", /^[0-9a-fA-F]*$/, params),
  check: (...checks) => custom().check(...checks), refine, superRefine, overwrite, gt, gte, minimum: gte, lt, lte, maximum: lte,
  positive, negative, nonnegative, nonpositive, multipleOf, minLength, maxLength, length, minSize, maxSize, size, regex,
  lowercase, uppercase, includes, startsWith, endsWith, trim, normalize, toLowerCase, toUpperCase,
  parse, safeParse, parseAsync, safeParseAsync, toJSONSchema, prettifyError, treeifyError, formatError, flattenError,
  registry: () => new Registry(), globalRegistry, $ZodRegistry: Registry, clone: (schema, def) => schema.clone(def),
  setErrorMap: (customError) => void config({ customError }), getErrorMap: () => settings.customError,
  ZodError, ZodRealError: ZodError, ZodType, ZodSchema: ZodType, ZodTypeAny: ZodType, _ZodString, ZodString, ZodStringFormat,
  ZodCustomStringFormat, ZodNumber, ZodNumberFormat, ZodBigInt, ZodBigIntFormat, ZodBoolean, ZodDate, ZodAny, ZodUnknown,
  ZodSymbol, ZodUndefined, ZodVoid, ZodNull, ZodNaN, ZodNever, ZodFile, ZodEnum, ZodLiteral, ZodCustom, ZodObject, ZodArray,
  ZodTuple, ZodRecord, ZodMap, ZodSet, ZodUnion, ZodDiscriminatedUnion, ZodIntersection, ZodOptional, ZodNullable, ZodDefault,
  ZodPrefault, ZodNonOptional, ZodCatch, ZodReadonly, ZodPromise, ZodLazy, ZodTransform, ZodPipe, ZodCodec, iso: {},
};

zod.ZodFirstPartyTypeKind = {};
zod.ZodIssueCode = Object.fromEntries(["invalid_type", "too_big", "too_small", "invalid_format", "not_multiple_of", "unrecognized_keys",
  "invalid_union", "invalid_key", "invalid_element", "invalid_value", "custom"].map((code) => [code, code]));

// Every string format is a class, a builder (z.email, z.iso.date) and a method of strings.
const formatClasses = {
  email: "Email", guid: "GUID", uuid: "UUID", url: "URL", emoji: "Emoji", nanoid: "NanoID", cuid: "CUID", cuid2: "CUID2", ulid: "ULID",
  xid: "XID", ksuid: "KSUID", ipv4: "IPv4", ipv6: "IPv6", cidrv4: "CIDRv4", cidrv6: "CIDRv6", base64: "Base64", base64url: "Base64URL",
  e164: "E164", jwt: "JWT", datetime: "ISODateTime", date: "ISODate", time: "ISOTime", duration: "ISODuration",
};
const versioned = (version) => (params) => ({ ...options(params), version });
for (const [format, name] of Object.entries(formatClasses)) {
  const Type = class extends ZodStringFormat {};
  hidden(Type, "name", `Zod${name}`);
  const build = (params) => withFormat(Type, "string", formatCheck(format, params));
  zod[`Zod${name}`] = Type;
  (name.startsWith("ISO") ? zod.iso : zod)[format] = build;
  methods(ZodString, { [format]: (params) => formatCheck(format, params) });
}
for (const version of ["v4", "v6", "v7"]) {
  const given = versioned(version);
  zod[`uuid${version}`] = (params) => zod.uuid(given(params));
  methods(ZodString, { [`uuid${version}`]: (params) => formatCheck("uuid", given(params)) });
}
zod.httpUrl = (params) => zod.url({ protocol: /^https?$/, hostname: /^([a-zA-Z0-9-]+\.)+[a-zA-Z]{2,}$/, ...options(params) });
zod.core = { $ZodType: ZodType, $ZodError: ZodError, $ZodAsyncError: AsyncNeeded, toJSONSchema, globalRegistry };
zod.util = { isPlainObject };
zod.locales = { en: () => ({ localeError: english }) };

// What is not built here fails by its name, so that a file's error says why.
for (const name of ["templateLiteral", "function", "fromJSONSchema", "codec", "stringbool", "json", "file", "promise", "keyof", "prefault", "nonoptional", "success", "int64", "uint64", "symbol", "hash", "hex", "mac", "xor", "looseRecord", "partialRecord", "invertCodec"]) {
  if (!(name in zod)) zod[name] = () => { throw new Error(`z.${name} is not available to tools that run in the embedded engine`); };
}

module.exports = zod;
zod.z = zod;
zod.default = zod;
Object.defineProperty(zod, "__esModule", { value: true });
