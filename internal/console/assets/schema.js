// Reading JSON Schemas. They come from servers we did not write: they may be
// huge, deep, recursive or nonsense. Nothing here follows one further than a
// bound, and what is not understood is left to the JSON editor.

/** How far a schema is followed. */
export const BOUNDS = {
  depth: 8, // nested values; deeper ones are edited as JSON
  hops: 16, // of one $ref to the next
  properties: 150, // of one object
  options: 500, // of one enum
  variants: 24, // of one oneOf
  items: 100, // of one list
  help: 1200, // characters of a description
};

const has = Object.hasOwn;

/** Whether v is a JSON object. */
export const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);

/** Sets a property of any name: assignment would take __proto__ for something else. */
export function define(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}

/** JSON text of a value; '' where there is none (undefined, or too deep to write). */
export function jsonText(value, indent) {
  try {
    return JSON.stringify(value, null, indent) ?? '';
  } catch {
    return '';
  }
}

/** Whether two JSON values are alike. */
export const same = (a, b) => a === b || (typeof a === 'object' && jsonText(a) === jsonText(b));

/** The value that a JSON pointer names within root, or undefined. */
function pointer(root, ref) {
  if (ref === '#') return root;
  if (!ref.startsWith('#/') || ref.length > 2000) return undefined; // remote ones are never fetched
  let at = root;
  for (const part of ref.slice(2).split('/')) {
    let name = part;
    try {
      name = decodeURIComponent(part);
    } catch {
      // taken as it stands
    }
    name = name.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !has(at, name)) return undefined;
    at = at[name];
  }
  return at;
}

/** Lays one schema over another; what both name of properties and required is joined. */
function overlay(below, above) {
  const out = { ...below, ...above };
  if (isObject(below.properties) && isObject(above.properties)) {
    out.properties = Object.fromEntries([...Object.entries(below.properties), ...Object.entries(above.properties)]);
  }
  if (Array.isArray(below.required) && Array.isArray(above.required)) out.required = [...below.required, ...above.required];
  return out;
}

/** A schema without $ref and allOf at its top, or null where that can not be. */
export function resolve(schema, root) {
  let at = schema;
  for (let hop = 0; hop < BOUNDS.hops; hop++) {
    if (!isObject(at)) return null;
    if (has(at, '$ref')) {
      const target = typeof at.$ref === 'string' ? pointer(root, at.$ref) : undefined;
      if (!isObject(target)) return null;
      const { $ref: _, ...beside } = at;
      at = overlay(target, beside);
      continue;
    }
    if (Array.isArray(at.allOf)) {
      if (at.allOf.length > BOUNDS.variants) return null;
      const { allOf, ...beside } = at;
      at = beside;
      for (const one of allOf) {
        if (!isObject(one)) return null;
        at = overlay(has(one, '$ref') ? deref(one, root) || {} : one, at);
      }
      continue;
    }
    return at;
  }
  return null;
}

function deref(schema, root) {
  const target = typeof schema.$ref === 'string' ? pointer(root, schema.$ref) : undefined;
  return isObject(target) ? target : null;
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/** The types that a schema names, or those its other words are about. */
function typesOf(s) {
  if (typeof s.type === 'string') return TYPES.includes(s.type) ? [s.type] : [];
  if (Array.isArray(s.type)) return [...new Set(s.type.filter((t) => TYPES.includes(t)))];
  if (isObject(s.properties) || isObject(s.additionalProperties)) return ['object'];
  if (has(s, 'items') || has(s, 'prefixItems')) return ['array'];
  if (has(s, 'pattern') || has(s, 'minLength') || has(s, 'maxLength') || has(s, 'format')) return ['string'];
  if (has(s, 'minimum') || has(s, 'maximum') || has(s, 'multipleOf')) return ['number'];
  return [];
}

const isNull = (s) => isObject(s) && (s.type === 'null' || (has(s, 'const') && s.const === null));

/**
 * What kind of control a schema wants. Only its top is looked at: what is
 * inside is planned when it is shown, so that recursion costs nothing.
 * @returns {{kind: string, schema: Object, nullable: boolean}} kind: string,
 *   number, integer, boolean, enum, const, array, object, map, variants or json
 */
export function plan(schema, root, depth = 0) {
  const s = resolve(schema, root);
  const as = (kind, more) => ({ kind, schema: s || {}, nullable: false, ...more });
  if (!s || depth > BOUNDS.depth) return as('json');
  if (has(s, 'const')) return as('const', { nullable: s.const === null });
  if (Array.isArray(s.enum)) return planEnum(s, s.enum);
  const union = Array.isArray(s.oneOf) ? s.oneOf : Array.isArray(s.anyOf) ? s.anyOf : null;
  if (union) return planUnion(s, union, root, depth);
  const types = typesOf(s);
  const real = types.filter((t) => t !== 'null');
  const nullable = real.length < types.length || s.nullable === true;
  if (real.length === 0) return as('json', { nullable });
  if (real.length > 1) {
    // Without a union in the type list, integer is a number.
    const kinds = real.includes('number') ? real.filter((t) => t !== 'integer') : real;
    return kinds.length === 1 ? planType(s, kinds[0], nullable) : as('variants', { nullable, variants: kinds.map((type) => ({ ...s, type })) });
  }
  return planType(s, real[0], nullable);
}

function planEnum(s, values) {
  const real = values.filter((v) => v !== null);
  const nullable = real.length < values.length;
  if (real.length === 0 || real.length > BOUNDS.options) return { kind: 'json', schema: s, nullable };
  return { kind: 'enum', schema: s, nullable, values: real };
}

function planUnion(s, union, root, depth) {
  const { oneOf: _1, anyOf: _2, ...base } = s;
  const real = union.filter((v) => !isNull(v));
  const nullable = real.length < union.length;
  const json = { kind: 'json', schema: s, nullable };
  if (real.length === 0 || real.length > BOUNDS.variants || !real.every(isObject)) return json;
  if (real.every((v) => has(v, 'const'))) return planEnum({ ...base, labels: real.map((v) => v.title) }, real.map((v) => v.const));
  // Variants that only say what is required beside what: the server checks that.
  if (isObject(base.properties) && real.every((v) => !has(v, 'properties') && !has(v, '$ref') && !has(v, 'type'))) {
    return { ...plan(base, root, depth), nullable };
  }
  const { title: _3, description: _4, default: _5, ...inherit } = base;
  const variants = real.map((v) => (Object.keys(inherit).length ? { allOf: [inherit, v] } : v));
  if (variants.length > 1) return { kind: 'variants', schema: base, nullable, variants };
  const only = plan({ allOf: [base, real[0]] }, root, depth + 1); // deeper, so that a schema which is its own variant ends
  return { ...only, nullable: nullable || only.nullable };
}

function planType(s, type, nullable) {
  const as = (kind) => ({ kind, schema: s, nullable });
  if (type === 'object') return as(objectKind(s));
  if (type === 'array') return as(has(s, 'prefixItems') || Array.isArray(s.items) || !isObject(s.items) ? 'json' : 'array');
  return as(type);
}

function objectKind(s) {
  const names = isObject(s.properties) ? Object.keys(s.properties).length : 0;
  if (names > BOUNDS.properties) return 'json';
  if (names > 0 || s.additionalProperties === false) return 'object';
  return isObject(s.additionalProperties) && Object.keys(s.additionalProperties).length ? 'map' : 'json';
}

/** The properties of an object's schema, those that are required first. */
export function propertiesOf(s) {
  const required = new Set(Array.isArray(s.required) ? s.required : []);
  const all = Object.entries(isObject(s.properties) ? s.properties : {}).map(([name, schema]) => ({ name, schema, required: required.has(name) }));
  return [...all.filter((p) => p.required), ...all.filter((p) => !p.required)];
}

const NAMES = { __proto__: null, string: 'a text', number: 'a number', integer: 'a whole number', boolean: 'true or false', array: 'a list', object: 'an object', map: 'an object' };

/** What a plan wants, in words; '' where anything goes. */
export function wanted(p) {
  if (p.kind === 'json') return typesOf(p.schema).map((t) => NAMES[t]).filter(Boolean).join(' or ');
  return NAMES[p.kind] || '';
}

/** The type of a JSON value as schemas name it. */
export function typeOf(v) {
  if (v === null) return 'null';
  if (Array.isArray(v)) return 'array';
  return typeof v;
}

/**
 * Whether a value is of a schema's kind, looked at a few levels deep: to choose
 * a variant. A schema that branches without end runs out of steps and fits.
 * Where steps.part is set, what is required may still be missing.
 */
export function fits(schema, value, root, depth = 0, steps = { left: 2000 }) {
  if (depth > 3 || steps.left-- <= 0) return true;
  const p = plan(schema, root, depth);
  if (value === null) return p.nullable || p.kind === 'json';
  switch (p.kind) {
    case 'const': return same(p.schema.const, value);
    case 'enum': return p.values.some((v) => same(v, value));
    case 'integer': return Number.isInteger(value);
    case 'string': case 'number': case 'boolean': return typeof value === p.kind;
    case 'array': return Array.isArray(value) && value.slice(0, 10).every((v) => fits(p.schema.items, v, root, depth + 1, steps));
    case 'map': return isObject(value);
    case 'object': return isObject(value) && fitsObject(p.schema, value, { root, depth, steps });
    case 'variants': return p.variants.some((v) => fits(v, value, root, depth + 1, steps));
  }
  const types = typesOf(p.schema);
  const type = typeOf(value);
  return types.length === 0 || types.includes(type) || (types.includes('integer') && Number.isInteger(value));
}

function fitsObject(s, value, { root, depth, steps }) {
  const known = propertiesOf(s);
  if (!steps.part && known.some((f) => f.required && !has(value, f.name))) return false;
  if (s.additionalProperties === false && Object.keys(value).some((name) => !has(s.properties || {}, name))) return false;
  return known.every((f) => !has(value, f.name) || fits(f.schema, value[f.name], root, depth + 1, steps));
}

/** A name for a variant, from what sets it apart. */
export function variantName(schema, root, index) {
  const s = resolve(schema, root);
  if (!s) return `Variant ${index + 1}`;
  if (typeof s.title === 'string' && s.title) return s.title.slice(0, 80);
  const fixed = propertiesOf(s).map((f) => [f.name, resolve(f.schema, root)]).find(([, r]) => r && has(r, 'const'));
  if (fixed) return `${fixed[0]}: ${jsonText(fixed[1].const)}`.slice(0, 80);
  const p = plan(s, root);
  const must = p.kind === 'object' ? propertiesOf(s).filter((f) => f.required).map((f) => f.name).slice(0, 3) : [];
  const name = wanted(p).replace(/^an? /, '') || `variant ${index + 1}`;
  return must.length ? `${name} with ${must.join(', ')}`.slice(0, 80) : name;
}

// --- checks, in plain words. A schema's pattern is not tried: a hostile one
// could keep the page busy for ever. The server checks it.

/** What is wrong with a text, or ''. */
export function textFault(s, text) {
  const least = Number(s.minLength);
  const most = Number(s.maxLength);
  if (!(least > 0) && !(most >= 0)) return '';
  const n = text.length > 1e6 ? text.length : [...text].length;
  if (n < least) return least === 1 ? 'This must not be empty.' : `Too short: at least ${least} characters, and this has ${n}.`;
  return n > most ? `Too long: at most ${most} characters, and this has ${n}.` : '';
}

/** Whether a number as it is written has digits that would be lost. */
const loses = (text) => /^[+-]?\d{16,}$/.test(text) && BigInt(text) !== BigInt(Number(text));

/** What is wrong with a number as it is written, or ''. */
export function numberFault(s, n, whole, text) {
  if (!Number.isFinite(n)) return whole ? 'This is to be a whole number, such as 12.' : 'This is to be a number, such as 1.5.';
  if (whole && !Number.isInteger(n)) return 'This is to be a whole number.';
  if (loses(text)) return 'This number is too large to be sent without losing digits.';
  if (n < s.minimum) return `This is to be at least ${s.minimum}.`;
  if (n > s.maximum) return `This is to be at most ${s.maximum}.`;
  if (n <= s.exclusiveMinimum) return `This is to be more than ${s.exclusiveMinimum}.`;
  if (n >= s.exclusiveMaximum) return `This is to be less than ${s.exclusiveMaximum}.`;
  const parts = n / s.multipleOf;
  return Math.abs(parts - Math.round(parts)) > 1e-9 ? `This is to be a multiple of ${s.multipleOf}.` : '';
}

/** What is wrong with the length of a list, or ''. */
export function listFault(s, values) {
  const n = values.length;
  if (n < s.minItems) return s.minItems === 1 ? 'At least one entry is needed.' : `At least ${s.minItems} entries are needed.`;
  if (n > s.maxItems) return `At most ${s.maxItems} entries are taken.`;
  if (s.uniqueItems === true && new Set(values.map((v) => jsonText(v))).size < n) return 'Two entries are the same.';
  return '';
}

/** The bounds of a schema as a few words of help, or ''. */
export function boundsOf(s) {
  const edge = (n) => (typeof n === 'number' && Math.abs(n) < Number.MAX_SAFE_INTEGER ? n : null);
  const out = [];
  const [least, most] = [edge(s.minimum), edge(s.maximum)];
  if (least !== null && most !== null) out.push(`from ${least} to ${most}`);
  else if (least !== null) out.push(`at least ${least}`);
  else if (most !== null) out.push(`at most ${most}`);
  if (typeof s.pattern === 'string') out.push(`matches ${s.pattern.slice(0, 200)}`);
  if (typeof s.format === 'string') out.push(s.format.slice(0, 40));
  return out.join('; ');
}

/**
 * Reads JSON text.
 * @returns {{value?: any, fault?: string}}
 */
export function readJSON(text) {
  let unsafe = false;
  try {
    const value = JSON.parse(text, (_, v, at) => {
      if (typeof v === 'number' && at && loses(at.source)) unsafe = true;
      return v;
    });
    return unsafe ? { fault: 'It holds a number that is too large to be sent without losing digits.' } : { value };
  } catch (err) {
    return { fault: 'This is not JSON: ' + where(text, String(err.message)) };
  }
}

/** The message of a parser with line and column, which not every browser names. */
function where(text, message) {
  const at = /position (\d+)/.exec(message);
  const said = message.replace(/^JSON\.parse: /, '').replace(/ in JSON at position.*/, '').slice(0, 200);
  if (!at) return said + '.';
  const before = text.slice(0, Number(at[1])).split('\n');
  return `${said}, at line ${before.length}, column ${before.at(-1).length + 1}.`;
}
