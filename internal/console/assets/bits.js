// Small pieces that several pages are made of.

import { explain } from './api.js';
import { h, put } from './dom.js';
import { full, when } from './format.js';
import { state } from './state.js';
import { visibleLine, visibleLineNode } from './visible.js';

/** What went wrong, in place, with a way to try again. */
export function failure(err, again) {
  return h('div', { class: 'note bad row wrap', role: 'alert' }, h('span', { class: 'grow' }, visibleLine(explain(err))),
    again && h('button', { type: 'button', onclick: again }, 'Try again'));
}

/** Something that is being loaded. */
export const loading = (what) => h('p', { class: 'dim row', role: 'status' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), what);

/** Nothing there, and why. */
export const empty = (...words) => h('div', { class: 'empty' }, words.map((w) => (w instanceof Node ? w : h('p', null, w))));

/** A part of a page with its heading. */
export function section(title, ...children) {
  const id = 's-' + title.toLowerCase().replace(/[^a-z]+/g, '-');
  return h('section', { class: 'part', 'aria-labelledby': id }, h('h2', { id }, title), children);
}

/** A time, with the whole of it on asking. Takes milliseconds or a text of RFC 3339. */
export function time(t, how = when) {
  const ms = typeof t === 'number' ? t : Date.parse(t);
  if (!ms || ms < 0) return null;
  return h('time', { datetime: new Date(ms).toISOString(), title: full(ms), class: 'nowrap' }, how(ms));
}

/** The way to a session, and to a call in it. */
export function sessionLink(id, call) {
  if (!id) return null;
  const to = `#/sessions/${encodeURIComponent(id)}${call ? '/calls/' + encodeURIComponent(call) : ''}`;
  return h('a', { class: 'small', href: to }, visibleLine(state.sessions.get(id)?.title || state.sessions.get(id)?.first || 'its session'));
}

/** A foreign name or path, in the fixed font, nothing hidden in it. */
export const code = (text, cls) => h('code', cls ? { class: cls } : null, visibleLineNode(text));

const ACTIONS = { __proto__: null, allow: 'ok', ask: 'warn', deny: 'bad' };

/** allow, ask or deny. */
export const actionBadge = (action) => h('span', { class: ['badge', ACTIONS[action]] }, visibleLine(action || 'none'));

/** A button that copies what get() gives. Where that is not allowed, the text is marked for the hand to copy. */
export function copyButton(get, { label = 'Copy', from } = {}) {
  const button = h('button', { type: 'button', onclick: copy }, label);
  async function copy() {
    try {
      await navigator.clipboard.writeText(get());
      button.textContent = 'Copied';
    } catch {
      if (from) mark(from());
      button.textContent = from ? 'Marked: copy it now' : 'Not allowed here';
    }
    setTimeout(() => (button.textContent = label), 2_000);
  }
  return button;
}

function mark(el) {
  if (el.select) return el.focus(), el.select();
  const range = document.createRange();
  range.selectNodeContents(el);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

/** A table that becomes a list of cards where there is no room. cls is for its looks. */
export function table(heads, rows, cls = '') {
  return h('div', { class: 'table-wrap' }, h('table', { class: ['cards', cls] },
    h('thead', null, h('tr', null, heads.map((t) => h('th', { scope: 'col' }, t || h('span', { class: 'sr' }, 'Actions'))))),
    h('tbody', null, rows.map((cells) => h('tr', null, cells.map((c, i) => (c === '' ? h('td') : h('td', { 'data-label': heads[i] }, c))))))));
}

/** A picker of agents, filled when they are there. */
export function agentPicker(agents, chosen, onchange) {
  const box = h('select', { onchange: () => onchange(box.value) });
  put(box, agents.map((a) => h('option', { value: a.name, selected: a.name === chosen }, visibleLine(a.name) + (a.hidden ? ' (hidden)' : ''))));
  return box;
}

/** Calls fn ms after it was first asked for, once for all that asked meanwhile. */
export function gather(fn, ms) {
  let timer = 0;
  const run = () => {
    timer = 0;
    fn();
  };
  const ask = () => {
    if (!timer) timer = setTimeout(run, ms);
  };
  ask.stop = () => {
    clearTimeout(timer);
    timer = 0;
  };
  return ask;
}

/** The address of a place of the console with a query; what is empty is left out. */
export function hashOf(place, query) {
  const q = new URLSearchParams(Object.entries(query).filter(([, v]) => v)).toString();
  return '#/' + place + (q ? '?' + q : '');
}
