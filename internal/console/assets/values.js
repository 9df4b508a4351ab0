// Any value as something to look into. What is inside is built when it is
// opened, so neither depth nor size costs anything before.

import { h, put } from './dom.js';
import { plural } from './format.js';
import { visibleLineNode, visibleNode } from './visible.js';
import { textBox } from './output.js';

const shortText = 200;
const longText = 20_000; // shown at once; more in a box of its own
const firstEntries = 100;
const maxDepth = 40;

const isObject = (v) => typeof v === 'object' && v !== null;

/** A value that fits on a line; null where it does not. */
function simple(value) {
  if (typeof value === 'string') {
    if (value === '') return h('span', { class: 'dim' }, 'empty');
    return value.length <= shortText && !value.includes('\n') ? visibleLineNode(value) : null;
  }
  if (!isObject(value)) return h('span', { class: 'val-' + typeof value }, String(value));
  if (Object.keys(value).length === 0) return h('span', { class: 'dim' }, Array.isArray(value) ? 'none' : 'nothing');
  return null;
}

/** A list of short texts, as one line. */
function shortList(value) {
  if (!Array.isArray(value) || value.length > 12) return null;
  const fits = value.every((v) => !isObject(v) && String(v).length <= 40 && !String(v).includes('\n'));
  return fits ? h('span', null, value.flatMap((v, i) => [i > 0 ? ', ' : '', visibleLineNode(String(v))])) : null;
}

/** A few short fields, as one line. */
function shortObject(value) {
  if (!isObject(value) || Array.isArray(value)) return null;
  const fields = Object.entries(value);
  if (fields.length > 6 || fields.some(([, v]) => isObject(v) || String(v).includes('\n'))) return null;
  if (fields.reduce((n, [k, v]) => n + k.length + String(v).length, 0) > 240) return null;
  return h('span', null, fields.flatMap(([k, v], i) => [i > 0 ? '  ' : '', keyNode(k), ' ', simple(v)]));
}

/** A value on one line; null where it does not fit. */
const oneLine = (value) => simple(value) || shortList(value) || shortObject(value);

function about(value) {
  if (typeof value === 'string') return plural(value.length, 'character');
  return Array.isArray(value) ? plural(value.length, 'entry', 'entries') : plural(Object.keys(value).length, 'field');
}

/** Something to open; fill is called for what is inside, once. */
export function folded(summary, fill, open = false) {
  const inside = h('div', { class: 'fold-in' });
  let made = false;
  const make = () => {
    if (made) return;
    made = true;
    put(inside, fill());
  };
  if (open) make();
  return h('details', { class: 'fold', open, ontoggle: (e) => e.target.open && make() }, h('summary', null, summary), inside);
}

function longOne(value) {
  if (value.length > longText) return textBox(value, { label: 'Text', open: 200 });
  return h('pre', { class: 'val-text' }, visibleNode(value));
}

function entries(value, depth) {
  const keys = Array.isArray(value) ? null : Object.keys(value);
  const count = keys ? keys.length : value.length;
  const list = h('ul', { class: 'val-list' });
  const more = h('button', { type: 'button', class: 'more', onclick: () => grow(1000) });
  let at = 0;
  function grow(n) {
    const end = Math.min(count, at + n);
    for (; at < end; at++) {
      const name = keys ? keys[at] : at;
      list.append(h('li', null, entry(String(name), value[name], depth)));
    }
    more.hidden = at >= count;
    more.textContent = `Show ${plural(Math.min(1000, count - at), 'more entry', 'more entries')} of ${(count - at).toLocaleString('en')} left`;
  }
  grow(firstEntries);
  return [list, more];
}

function keyNode(name) {
  const short = name.length > 100 ? name.slice(0, 100) + '…' : name;
  return h('span', { class: 'val-key' }, visibleLineNode(short));
}

/** A named value: on its line, or to be opened. */
function entry(name, value, depth) {
  const line = oneLine(value);
  if (line) return h('div', { class: 'val-line' }, keyNode(name), ' ', line);
  if (depth >= maxDepth) return h('div', { class: 'val-line' }, keyNode(name), ' ', h('span', { class: 'dim' }, 'too deep to be shown here'));
  return folded([keyNode(name), ' ', h('span', { class: 'dim' }, about(value))], () => (typeof value === 'string' ? longOne(value) : entries(value, depth + 1)));
}

/**
 * Shows any value that came as JSON.
 * @returns {Node}
 */
export function valueTree(value) {
  const line = simple(value) || shortList(value);
  if (line) return h('div', { class: 'val' }, line);
  if (typeof value === 'string') return h('div', { class: 'val' }, longOne(value));
  return h('div', { class: 'val' }, entries(value, 0));
}
