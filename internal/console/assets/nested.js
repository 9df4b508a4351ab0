// The controls of a form that hold other fields: objects, lists, maps, and one of
// several. They make their fields by env.field, when these are shown. Beside
// what the controls of one value have: child(name) is a field inside, faults
// says what is wrong inside, broken whether something inside can not be read.

import { h, put } from './dom.js';
import { jsonControl } from './fields.js';
import { BOUNDS, define, fits, isObject, listFault, propertiesOf, variantName } from './schema.js';
import { visibleLine } from './visible.js';

const FOLD = 8; // so many optional fields are shown without being asked for

let count = 0;
const newID = () => `n${++count}`;

/** A name of a schema as it may be shown. */
export const shown = (name) => visibleLine(String(name).slice(0, 120));

/** A small button beside a field. */
export const button = (label, text, onclick, cls = 'quiet f-tool') => h('button', { type: 'button', class: cls, title: label, 'aria-label': label, onclick }, text);

/** Gives a button another name, which says what it is about. */
function rename(el, label) {
  el.title = label;
  el.setAttribute('aria-label', label);
}

/** Tells who listens to the form that it has changed by a button. */
export function changed(el) {
  el.dispatchEvent(new Event('input', { bubbles: true }));
}

/** An object with named fields. What the schema does not name is kept as JSON. */
export function objectControl(p, env, { depth }) {
  const known = propertiesOf(p.schema);
  const fields = known.map((f) => env.field(f.schema, env, { name: f.name, required: f.required, depth: depth + 1 }));
  const closed = p.schema.additionalProperties === false;
  const open = p.schema.additionalProperties === true || isObject(p.schema.additionalProperties);
  const extra = h('details', { class: 'f-other', hidden: !open, ontoggle: () => others() }, h('summary', null, 'Other fields, as JSON'));
  let other = null; // made when it is wanted
  function others() {
    if (other) return other;
    other = jsonControl({ kind: 'json', schema: { type: 'object' }, nullable: false }, { id: newID() });
    other.box.setAttribute('aria-label', 'Other fields, as JSON');
    extra.append(other.el);
    return other;
  }
  const must = fields.filter((_, i) => known[i].required);
  const may = fields.filter((_, i) => !known[i].required);
  const fold = may.length > FOLD ? h('details', { class: 'f-fold' }, h('summary', null, `${may.length} optional fields`), may.map((f) => f.el)) : null;
  const el = h('div', { class: 'f-object' }, must.map((f) => f.el), fold || may.map((f) => f.el), extra,
    fields.length === 0 && !open && h('p', { class: 'dim' }, 'Nothing to fill in.'));
  return {
    el, tools: [], box: null,
    child: (name) => fields.find((f) => f.name === name),
    get() {
      const out = {};
      for (const f of fields) {
        const v = f.get();
        if (v !== undefined) define(out, f.name, v);
      }
      const rest = !other || other.broken() ? undefined : other.get();
      if (isObject(rest)) for (const [name, v] of Object.entries(rest)) if (!Object.hasOwn(out, name)) define(out, name, v);
      return out;
    },
    set(v) {
      const given = v === undefined ? {} : v;
      if (!isObject(given)) return false;
      for (const f of fields) f.set(Object.hasOwn(given, f.name) ? given[f.name] : undefined);
      const rest = Object.entries(given).filter(([name]) => !fields.some((f) => f.name === name));
      if (rest.length) others().set(rest.reduce((o, [name, x]) => define(o, name, x), {}));
      else other?.set(undefined);
      extra.hidden = !open && rest.length === 0;
      extra.open = rest.length > 0;
      if (fold) fold.open = fold.open || may.some((f) => f.get() !== undefined);
      return true;
    },
    broken: () => other?.broken() || fields.some((f) => f.broken()),
    fault() {
      const said = other?.fault();
      if (said) return 'Other fields: ' + said;
      return closed && other?.get() ? `The schema knows no field ${shown(Object.keys(other.get()).join(', '))}.` : '';
    },
    faults: (path) => fields.flatMap((f) => f.faults([...path, f.name])),
  };
}

/** A list: entries can be added, taken away and moved. */
export function listControl(p, env, { depth, label }) {
  let fields = [];
  const list = h('ol', { class: 'f-list plain' });
  const none = h('p', { class: 'dim' }, 'An empty list is sent.');
  const plus = h('button', { type: 'button', class: 'f-add', onclick: () => { env.refill(); insert().focus(); changed(el); } }, 'Add an entry');
  const el = h('div', { class: 'f-listing' }, none, list, plus);

  function insert(value) {
    const f = env.field(p.schema.items, env, { name: fields.length + 1, required: true, depth: depth + 1 });
    const moves = h('span', { class: 'f-moves' }, [['↑', -1], ['↓', 1]].map(([text, by]) => button('', text, (e) => move(f, by, e.currentTarget), 'quiet icon f-tool')),
      button('', '✕', () => remove(f), 'quiet icon f-tool'));
    f.head.append(moves);
    if (value !== undefined) f.set(value);
    fields.push(f);
    list.append(h('li', null, f.el));
    number();
    return f;
  }
  function move(f, by, pressed) {
    const from = fields.indexOf(f);
    const to = from + by;
    if (to < 0 || to >= fields.length) return;
    [fields[from], fields[to]] = [fields[to], fields[from]];
    const item = f.el.parentNode;
    if (by < 0) item.previousSibling.before(item);
    else item.nextSibling.after(item);
    number();
    (pressed.disabled ? pressed.parentNode.querySelector('button:not(:disabled)') : pressed).focus();
    changed(el);
  }
  function remove(f) {
    const i = fields.indexOf(f);
    fields.splice(i, 1);
    f.el.parentNode.remove();
    number();
    (fields[Math.min(i, fields.length - 1)] || { focus: () => plus.focus() }).focus();
    changed(el);
  }
  function number() {
    fields.forEach((f, i) => {
      f.head.querySelector('.f-name').textContent = `${label} ${i + 1}`;
      const [up, down, gone] = f.head.querySelector('.f-moves').children;
      rename(up, `Move entry ${i + 1} up`);
      rename(down, `Move entry ${i + 1} down`);
      rename(gone, `Remove entry ${i + 1}`);
      up.disabled = i === 0;
      down.disabled = i === fields.length - 1;
    });
    none.hidden = fields.length > 0;
  }
  number();
  const control = {
    el, tools: [], box: null,
    begin: () => { if (!fields.length) insert(); },
    child: (i) => fields[Number(i)],
    get: () => fields.map((f) => f.get()).filter((v) => v !== undefined),
    set(v) {
      const given = v === undefined ? [] : v;
      if (!Array.isArray(given) || given.length > BOUNDS.items) return false;
      fields = [];
      put(list);
      for (const one of given) insert(one);
      number();
      return true;
    },
    broken: () => fields.some((f) => f.broken()),
    fault: () => listFault(p.schema, control.get()),
    faults: (path) => fields.flatMap((f, i) => f.faults([...path, i])),
  };
  if (p.schema.minItems >= 1) insert();
  return control;
}

/** An object whose names are the person's to choose. */
export function mapControl(p, env, { depth }) {
  let rows = [];
  const list = h('ul', { class: 'f-list plain' });
  const plus = h('button', { type: 'button', class: 'f-add', onclick: () => { env.refill(); insert('').key.focus(); changed(el); } }, 'Add an entry');
  const el = h('div', { class: 'f-listing' }, list, plus);
  function insert(name, value) {
    const key = h('input', { type: 'text', class: 'code', value: name, 'aria-label': 'Name', placeholder: 'name', autocomplete: 'off', spellcheck: 'false' });
    const f = env.field(p.schema.additionalProperties, env, { name: 'value', required: true, depth: depth + 1 });
    if (value !== undefined) f.set(value);
    const row = { key, f };
    const li = h('li', { class: 'f-pair' }, key, f.el);
    const gone = button('', '✕', () => { rows = rows.filter((r) => r !== row); li.remove(); number(); plus.focus(); changed(el); }, 'quiet icon f-tool');
    f.head.append(h('span', { class: 'f-moves' }, gone));
    row.number = (i) => rename(gone, key.value ? `Remove entry ${shown(key.value)}` : `Remove entry ${i + 1}`);
    key.addEventListener('input', number);
    rows.push(row);
    list.append(li);
    number();
    return row;
  }
  function number() {
    rows.forEach((r, i) => r.number(i));
  }
  return {
    el, tools: [], box: null,
    begin: () => { if (!rows.length) insert(''); },
    child: (name) => rows.find((r) => r.key.value === name)?.f,
    get: () => rows.reduce((out, r) => (r.key.value === '' || r.f.get() === undefined ? out : define(out, r.key.value, r.f.get())), {}),
    set(v) {
      const given = v === undefined ? {} : v;
      if (!isObject(given) || Object.keys(given).length > BOUNDS.items || Object.hasOwn(given, '')) return false;
      rows = [];
      put(list);
      for (const [name, value] of Object.entries(given)) insert(name, value);
      return true;
    },
    broken: () => rows.some((r) => r.f.broken()) || new Set(rows.map((r) => r.key.value)).size < rows.length,
    fault() {
      const names = rows.map((r) => r.key.value);
      if (names.includes('')) return 'Every entry needs a name.';
      return new Set(names).size < names.length ? 'Two entries have the same name.' : '';
    },
    faults: (path) => rows.flatMap((r) => r.f.faults([...path, r.key.value])),
  };
}

/** One of several schemas. What was filled in under one stays while another is looked at. */
export function variantControl(p, env, { depth, id }) {
  const made = new Map();
  const slot = h('div', { class: 'f-variant' });
  const names = p.variants.map((v, i) => variantName(v, env.root, i)); // as they are: each place that shows one escapes it
  const box = h('select', { id, onchange: () => { env.refill(); choose(Number(box.value)); } }, names.map((n, i) => h('option', { value: String(i) }, shown(n))));
  let at = 0;
  function choose(i) {
    at = i;
    box.value = String(i);
    if (!made.has(i)) {
      made.set(i, env.field(p.variants[i], env, { name: names[i], required: true, depth: depth + 1 }));
      made.get(i).el.classList.add('f-only');
    }
    put(slot, made.get(i).el);
    return made.get(i);
  }
  choose(0);
  return {
    el: h('div', { class: 'stack' }, box, slot), box, tools: [],
    child: () => made.get(at),
    get: () => made.get(at).get(),
    set(v) {
      if (v === undefined) return made.clear(), choose(0), true;
      let i = p.variants.findIndex((s) => fits(s, v, env.root, 1));
      if (i < 0) i = p.variants.findIndex((s) => fits(s, v, env.root, 1, { left: 2000, part: true }));
      if (i < 0) return false;
      choose(i).set(v);
      return true;
    },
    broken: () => made.get(at).broken(),
    fault: () => '',
    faults: (path) => made.get(at).faults(path),
  };
}
