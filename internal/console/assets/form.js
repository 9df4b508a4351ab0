// A form from a JSON Schema. What is inside of a value is built when it is
// shown, and only so much of it, so that a hostile schema costs no more than a
// kind one. A value that a control can not hold is shown as JSON in its place:
// going from form to JSON and back loses nothing.

import { attr, h, put } from './dom.js';
import { choiceControl, constControl, helpOf, jsonControl, numberControl, textControl } from './fields.js';
import { button, changed, listControl, mapControl, objectControl, shown, variantControl } from './nested.js';
import { BOUNDS, isObject, plan, propertiesOf } from './schema.js';
import { visible, visibleLine } from './visible.js';

const BUILT = 400; // fields made by one step; what comes after is edited as JSON
const SHORT = 70; // characters of help that stand beside the name

const LEAVES = { __proto__: null, string: textControl, number: numberControl, integer: numberControl, boolean: choiceControl, enum: choiceControl, const: constControl, json: jsonControl };
const NESTED = { __proto__: null, object: objectControl, array: listControl, map: mapControl, variants: variantControl };

let count = 0;
const newID = () => `f${++count}`;

/** The plan, or JSON where what is inside would be more than there is room for. */
function affordable(p, env) {
  const inside = p.kind === 'object' ? propertiesOf(p.schema).length : 0;
  if (inside > env.left || env.left <= 0) return { kind: 'json', schema: p.schema, nullable: p.nullable };
  env.left -= 1 + inside;
  return p;
}

/** The parts of a field that do not change: its name, whether it is required, its help. */
function frame(p, { id, name, required }) {
  const nested = p.kind in NESTED;
  const label = shown(name);
  const help = helpOf(p.schema, BOUNDS.help);
  const brief = help.length <= SHORT;
  const hint = help && h(brief ? 'span' : 'p', { class: 'hint', id: id + 'h' }, brief ? visibleLine(help) : visible(help));
  const own = typeof p.schema.title === 'string' ? p.schema.title : '';
  // A press on the label of radio buttons would choose the first of them.
  const named = nested || p.kind === 'boolean' || p.kind === 'enum' ? { tag: 'span' } : { tag: 'label', for: id };
  const tools = h('span', { class: 'f-tools' });
  const head = h('div', { class: 'f-head' }, h(named.tag, { class: 'f-name', for: named.for, id: id + 'l' }, label),
    own !== name && !help.startsWith(own) && h('span', { class: 'dim' }, shown(own)),
    h('span', { class: required ? 'f-need' : 'f-may' }, required ? 'required' : 'optional'), brief && hint, tools);
  const body = h('div', { class: 'f-body' });
  const error = h('p', { class: 'error', id: id + 'e', hidden: true });
  const el = h('div', { class: ['field f-field', nested && 'f-nest'], role: nested ? 'group' : null, 'aria-labelledby': nested ? id + 'l' : null }, head, !brief && hint, body, error);
  return { el, head, tools, body, error, label, help, nested };
}

/**
 * A field: a label, help, a control, and what is wrong with it. It is left out,
 * plain, null, or raw JSON.
 */
function field(schema, env, { name, required, depth }) {
  const p = affordable(plan(schema, env.root, depth), env);
  const id = newID();
  const { el, head, tools, body, error, label, help, nested } = frame(p, { id, name, required });
  let mode = nested && !required ? 'absent' : 'plain';
  let control = null;
  let raw = null;

  function make() {
    if (control) return control;
    const ids = { id, name: String(name), label, required, depth };
    control = nested ? NESTED[p.kind](p, env, ids) : LEAVES[p.kind](p, ids);
    return control;
  }
  const current = () => (mode === 'raw' ? raw : mode === 'plain' ? make() : null);

  function show(next) {
    mode = next;
    const now = current();
    put(body, mode === 'null' ? h('p', { class: 'dim' }, 'null is sent.') : now?.el,
      mode === 'raw' && p.kind !== 'json' && h('p', { class: 'hint' }, 'Shown as JSON, because the form of this field can not hold it.'));
    put(tools, buttons());
    el.classList.toggle('f-absent', mode === 'absent');
    describe();
  }
  function buttons() {
    const step = (text, next) => button(`${text}: ${label}`, text, () => { env.refill(); next(); changed(el); });
    if (mode === 'absent') return step('Add', () => { show('plain'); control.begin?.(); focus(); });
    if (mode === 'null') return step('Not null', () => show('plain'));
    if (mode === 'raw') return step('As a form', back);
    return [
      ...(current().tools || []),
      p.nullable && step('Null', () => show('null')),
      nested && !required && step('Leave out', () => { control = null; show('absent'); }),
    ];
  }
  function back() {
    if (raw.broken()) return fail([], raw.fault());
    if (!make().set(raw.get())) return fail([], 'The form of this field can not hold this value.');
    show('plain');
  }
  function describe() {
    const box = current()?.box;
    if (!box) return;
    attr(box, 'aria-describedby', [help && id + 'h', !error.hidden && id + 'e'].filter(Boolean).join(' ') || null);
    attr(box, 'aria-invalid', error.hidden ? null : 'true');
    if (head.firstChild.tagName !== 'LABEL' && box.type !== 'radio') box.setAttribute('aria-labelledby', id + 'l');
    if (required && box.type !== 'radio') box.setAttribute('aria-required', 'true');
  }
  function say(message) {
    error.textContent = message;
    error.hidden = !message;
    describe();
  }
  function fail(path, message) {
    const inner = mode === 'plain' && path.length && control?.child ? control.child(path[0]) : null;
    if (inner) return inner.fail(path.slice(1), message);
    say([shown(path.join('.')), message].filter(Boolean).join(': '));
    return api;
  }
  function focus() {
    const at = current()?.box || body.querySelector('input, textarea, select, button') || tools.querySelector('button');
    at?.focus();
  }
  function set(v) {
    say('');
    if (v === undefined) {
      if (required && p.schema.default !== undefined) return set(p.schema.default);
      const out = nested && (!required || depth > 0); // what was left out is not put in by being looked at
      if (out) control = null;
      else make().set(undefined);
      return show(out ? 'absent' : 'plain');
    }
    if (v === null && p.nullable) return show('null');
    if (make().set(v)) return show('plain');
    raw = raw || jsonControl(p, { id });
    raw.set(v);
    show('raw');
  }
  /** What is wrong, here and inside, said beside each field. */
  function faults(path) {
    const now = current();
    if (mode === 'plain' && nested) {
      const own = now.fault();
      say(own);
      return [...(own ? [{ path, message: own, at: api }] : []), ...now.faults(path)];
    }
    const message = now?.fault() || (required && mode !== 'null' && now?.get() === undefined ? needed(p) : '');
    say(message);
    return message ? [{ path, message, at: api }] : [];
  }
  const api = {
    el, name, head, tools, set, faults, fail, focus, plan: p,
    get: () => (mode === 'null' ? null : current()?.get()),
    broken: () => current()?.broken?.() || false,
  };
  show(mode);
  if (required && p.schema.default !== undefined) set(p.schema.default);
  return api;
}

function needed(p) {
  if (p.kind === 'string') return 'Fill this in. If an empty text is meant, say so with “Empty text”.';
  if (p.kind in NESTED) return 'This is needed: add it.';
  return p.kind === 'boolean' || p.kind === 'enum' ? 'Choose one.' : 'Fill this in.';
}

/**
 * A form for the arguments of a tool.
 * @returns {{el: HTMLElement, value: () => Object, errors: () => {path, message}[], set: (v) => void, show: (issues) => void}}
 *   value gives what is filled in; ask errors first: it says what is wrong
 *   beside each field and goes to the first. show does so with what the server
 *   found. Changes are told as input events of el.
 */
export function schemaForm(schema, value) {
  const env = { root: schema, field, left: BUILT, refill: () => (env.left = BUILT) };
  let top;
  try {
    top = field(isObject(schema) ? schema : { type: 'object' }, env, { name: 'arguments', required: true, depth: 0 });
  } catch { // a schema that is odder than we thought is no reason to show nothing
    top = field({ type: 'object' }, env, { name: 'arguments', required: true, depth: 0 });
  }
  top.el.classList.add('f-top');
  const json = jsonControl({ kind: 'json', schema: { type: 'object' }, nullable: false }, { id: newID() });
  json.box.setAttribute('aria-label', 'The arguments as JSON');
  const problems = h('ul', { class: 'f-problems bad', role: 'alert' });
  const asForm = h('button', { type: 'button', 'aria-pressed': 'true', onclick: () => turn(false) }, 'Form');
  const asJSON = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => turn(true) }, 'JSON');
  const slot = h('div', null, top.el);
  const el = h('div', { class: 'f-form' }, h('div', { class: 'f-switch' }, h('div', { class: 'segments', role: 'group', 'aria-label': 'Edit as' }, asForm, asJSON)), slot, problems);
  let text = false;
  let last = {};

  function turn(toText) {
    if (toText === text) return;
    put(problems);
    if (toText) {
      if (top.broken()) return void errors();
      json.set(top.get() ?? {});
      json.box.rows = Math.max(8, json.box.rows);
    } else {
      if (json.broken()) return json.box.focus();
      env.refill();
      top.set(json.get() ?? {});
    }
    text = toText;
    asForm.setAttribute('aria-pressed', String(!text));
    asJSON.setAttribute('aria-pressed', String(text));
    put(slot, text ? json.el : top.el);
  }
  function current() {
    const v = text ? (json.broken() ? undefined : json.get()) : top.get();
    if (isObject(v)) last = v;
    return isObject(v) ? v : last;
  }
  function errors() {
    put(problems);
    if (!text) return found(top.faults([]));
    const fault = json.fault();
    if (fault) return json.box.focus(), list([{ path: [], message: fault }]);
    env.refill();
    top.set(json.get() ?? {});
    const all = top.faults([]);
    if (all.length) json.box.focus();
    return list(all);
  }
  function found(all) {
    const first = all[0]?.at;
    for (let d = first?.el.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
    first?.focus();
    return all.map(({ path, message }) => ({ path, message }));
  }
  function list(all) {
    put(problems, all.slice(0, 20).map((f) => h('li', null, [shown(f.path.join('.')), f.message].filter(Boolean).join(': '))));
    return all.map(({ path, message }) => ({ path, message }));
  }
  function show(issues) {
    const all = (Array.isArray(issues) ? issues : []).map((i) => ({ path: Array.isArray(i.path) ? i.path : [], message: visibleLine(String(i.message || 'not as it should be')) }));
    if (text) return void list(all);
    const at = all.map((i) => top.fail(i.path, i.message));
    at[0]?.focus();
  }
  function set(v) {
    env.refill();
    put(problems);
    const given = isObject(v) ? v : {};
    if (text) json.set(given);
    top.set(given);
  }
  if (value !== undefined) set(value);
  return { el, value: current, errors, set, show };
}
