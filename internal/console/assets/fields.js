// The controls of a form that hold one value: text, number, choice, JSON. Each
// is {el, box, tools, get, set, fault}: box is what a label names and focus goes
// to, get gives undefined for what is left out, set takes a value or says false
// and changes nothing, fault says what is wrong in a sentence.

import { h, put } from './dom.js';
import { boundsOf, isObject, jsonText, numberFault, readJSON, same, textFault, typeOf, wanted } from './schema.js';
import { hasHidden, visibleLine, visibleNode } from './visible.js';

const LONG_NAME = /^(command|prompt|query|sql|message|patch|diff|script|instructions|template)$|(text|string|content|contents|body|code|prompt|markdown)$/i;
const LONG_WORDS = /\b(whole contents|contents of|multi-?line|several lines|whole patch|source code|markdown)\b/i;
const HUGE = 50_000; // characters beyond which a field does not grow with its text

/** Whether a text is likely to be more than a line. */
function isLong(name, s) {
  return LONG_NAME.test(name) || LONG_WORDS.test(String(s.description || '')) || s.maxLength > 300 || typeof s.contentMediaType === 'string';
}

function toggle(text, title, onclick) {
  return h('button', { type: 'button', class: 'quiet f-tool f-rare', title, 'aria-pressed': 'false', onclick }, text);
}

const press = (button, on) => button.setAttribute('aria-pressed', String(on));

function hintOf(s) {
  if (s.default !== undefined) return 'default: ' + visibleLine((typeof s.default === 'string' ? s.default : jsonText(s.default)).slice(0, 100));
  const example = Array.isArray(s.examples) ? s.examples[0] : undefined;
  return example === undefined ? '' : 'such as ' + visibleLine((typeof example === 'string' ? example : jsonText(example)).slice(0, 100));
}

/** A text: a line, or several. Empty means left out unless the person says that empty is meant. */
export function textControl(p, { id, name }) {
  const s = p.schema;
  let meant = false; // the empty text is what shall be sent
  const hidden = h('div', { class: 'f-hidden', role: 'status' });
  const el = h('div', { class: 'f-text' });
  const several = toggle('Multi-line', 'Edit as several lines', () => swap(control.box.tagName !== 'TEXTAREA', true));
  const empty = toggle('Empty text', 'Send an empty text instead of leaving this out', () => {
    meant = !meant;
    refresh();
    el.dispatchEvent(new Event('input', { bubbles: true }));
  });
  const make = (tag) => h(tag, {
    id, class: 'code', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', placeholder: hintOf(s), ...(tag === 'input' ? { type: 'text' } : { rows: 2 }),
    oninput: () => { meant = false; refresh(); },
    onpaste: tag === 'input' ? onpaste : undefined,
  });
  const control = { el, box: null, tools: [empty, several], get, set, fault: () => (get() === undefined ? '' : textFault(s, get())) };

  // A one-line field would drop the line ends of what is pasted.
  function onpaste(e) {
    const text = e.clipboardData?.getData('text') || '';
    if (!/[\r\n]/.test(text)) return;
    e.preventDefault();
    const { value, selectionStart: from, selectionEnd: to } = control.box;
    swap(true, true);
    control.box.value = value.slice(0, from) + text + value.slice(to);
    control.box.dispatchEvent(new Event('input', { bubbles: true }));
  }
  function swap(lines, focus) {
    const old = control.box;
    const value = old ? old.value : '';
    if (!lines && value.includes('\n')) return;
    control.box = make(lines ? 'textarea' : 'input');
    control.box.value = value;
    for (const name of ['aria-describedby', 'aria-invalid', 'aria-required']) if (old?.hasAttribute(name)) control.box.setAttribute(name, old.getAttribute(name));
    put(el, control.box, hidden);
    if (focus) control.box.focus();
    refresh();
  }
  function refresh() {
    const { value } = control.box;
    const lines = control.box.tagName === 'TEXTAREA';
    press(several, lines);
    several.disabled = lines && value.includes('\n');
    press(empty, meant);
    empty.classList.toggle('f-told', meant); // it says what is sent, so it stays in sight
    empty.hidden = value !== '';
    control.box.placeholder = meant ? 'an empty text is sent' : hintOf(s);
    control.box.classList.toggle('f-huge', value.length > HUGE);
    if (hasHidden(value)) put(hidden, h('b', null, 'Holds hidden characters: '), visibleNode(value.slice(0, 4000)));
    else put(hidden);
  }
  function get() {
    return control.box.value !== '' ? control.box.value : meant ? '' : undefined;
  }
  function set(v) {
    if (v !== undefined && typeof v !== 'string') return false;
    if (v?.includes('\r')) return false; // a field would make it a plain line end
    if (v?.includes('\n') && control.box.tagName !== 'TEXTAREA') swap(true, false);
    control.box.value = v ?? '';
    meant = v === '';
    refresh();
    return true;
  }
  swap(isLong(name, s), false);
  return control;
}

/** A number, in a field of text: one of numbers would give nothing for a slip. */
export function numberControl(p, { id }) {
  const whole = p.kind === 'integer';
  const box = h('input', { id, type: 'text', inputmode: whole ? 'numeric' : 'decimal', class: 'code f-number', autocomplete: 'off', placeholder: hintOf(p.schema) });
  const read = () => {
    const text = box.value.trim();
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  };
  return {
    el: box, box, tools: [],
    get: () => (box.value.trim() === '' ? undefined : Number.isNaN(read()) ? box.value : read()),
    set(v) {
      if (v !== undefined && typeof v !== 'number') return false;
      box.value = v === undefined ? '' : String(v);
      return true;
    },
    fault: () => (box.value.trim() === '' ? '' : numberFault(p.schema, read(), whole, box.value.trim())),
  };
}

const labelOf = (v) => visibleLine((typeof v === 'string' && v !== '' ? v : jsonText(v)).slice(0, 120));

/** One of some values: a few side by side, more in a list. */
export function choiceControl(p, { id, required, label }) {
  const values = p.kind === 'boolean' ? [true, false] : p.values;
  const names = values.map((v, i) => (p.schema.labels?.[i] && visibleLine(String(p.schema.labels[i]).slice(0, 120))) || labelOf(v));
  const none = p.schema.default === undefined ? 'not set' : `default (${labelOf(p.schema.default)})`;
  const few = values.length <= 4 && names.every((n) => n.length <= 16);
  const at = few ? radios({ id, names, none: required ? null : none, label }) : select({ id, names, none });
  return {
    el: at.el, box: at.box, tools: [], fault: () => '',
    get: () => (at.get() < 0 ? undefined : values[at.get()]),
    set(v) {
      const i = v === undefined ? -1 : values.findIndex((one) => same(one, v));
      if (v !== undefined && i < 0) return false;
      at.set(i);
      return true;
    },
  };
}

function radios({ id, names, none, label }) {
  const all = none === null ? names : [none, ...names];
  const shift = none === null ? 0 : 1;
  const boxes = all.map((_, i) => h('input', { type: 'radio', name: id, ...(i === 0 ? { id } : {}), checked: i === 0 && shift === 1 }));
  const el = h('div', { class: 'f-choice', role: 'radiogroup', 'aria-label': label },
    all.map((name, i) => h('label', { class: i < shift ? 'dim' : '' }, boxes[i], h('span', null, name))));
  return {
    el, box: boxes[0],
    get: () => boxes.findIndex((b) => b.checked) - (boxes.some((b) => b.checked) ? shift : 0),
    set(i) {
      for (const b of boxes) b.checked = false;
      if (boxes[i + shift]) boxes[i + shift].checked = true;
    },
  };
}

function select({ id, names, none }) {
  const box = h('select', { id }, h('option', { value: '-1' }, none), names.map((n, i) => h('option', { value: String(i) }, n)));
  return { el: box, box, get: () => Number(box.value), set: (i) => (box.value = String(i)) };
}

/** A value that is what it is; where it is not required it may be left out. */
export function constControl(p, { id, required }) {
  const box = h('input', { id, type: 'checkbox', checked: required, hidden: required });
  return {
    el: h('div', { class: 'row' }, box, h('code', null, visibleLine(jsonText(p.schema.const).slice(0, 400)))), box, tools: [], fault: () => '',
    get: () => (box.checked ? p.schema.const : undefined),
    set(v) {
      if (v !== undefined && !same(v, p.schema.const)) return false;
      box.checked = required || v !== undefined;
      return true;
    },
  };
}

/** Any value, as JSON. fault also says when it is not of the kind that is wanted. */
export function jsonControl(p, { id }) {
  const state = h('div', { class: 'f-json-state dim', 'aria-live': 'polite' });
  const box = h('textarea', {
    id, class: 'code f-json', rows: 3, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', placeholder: hintOf(p.schema) || (wanted(p) === 'an object' ? '{}' : 'JSON'),
    oninput: () => { stored = undefined; later(); },
  });
  let stored; // what was set and can not be written as text
  let timer = 0;
  const read = () => (stored ? stored : readJSON(box.value));
  function later() {
    clearTimeout(timer);
    timer = setTimeout(look, 300);
  }
  function look() {
    const { fault } = box.value.trim() === '' ? {} : read();
    state.textContent = fault || '';
    state.classList.toggle('bad', !!fault);
  }
  return {
    el: h('div', { class: 'f-text' }, box, state), box, tools: [],
    /** Text that is no JSON: get can not give it. */
    broken: () => !stored && box.value.trim() !== '' && 'fault' in readJSON(box.value),
    get: () => (box.value.trim() === '' && !stored ? undefined : read().value),
    set(v) {
      stored = undefined;
      box.value = v === undefined ? '' : jsonText(v, 2);
      if (v !== undefined && box.value === '') {
        stored = { value: v };
        box.value = '(too deep to be shown)';
      }
      box.rows = Math.min(16, Math.max(3, box.value.split('\n').length));
      look();
      return true;
    },
    fault() {
      if (box.value.trim() === '') return '';
      const { value, fault } = read();
      return fault || mismatch(p, value);
    },
  };
}

const KINDS = { string: 'a text', number: 'a number', boolean: 'true or false', array: 'a list', object: 'an object', null: 'null' };

/** How a value differs in kind from what is wanted, or ''. */
function mismatch(p, value) {
  const want = wanted(p);
  const is = KINDS[typeOf(value)];
  if (!want || (value === null && p.nullable) || want.split(' or ').includes(is)) return '';
  if (want === 'true or false' && typeof value === 'boolean') return '';
  if (want.includes('a whole number') && Number.isInteger(value)) return '';
  if (want.includes('an object') && isObject(value)) return '';
  return `This is to be ${want}, and it is ${is}.`;
}

/** Help for a field: its description and its bounds. */
export function helpOf(s, most) {
  const text = typeof s.description === 'string' ? s.description : '';
  const cut = text.length > most ? text.slice(0, most) + ' … (cut)' : text;
  return [cut, boundsOf(s)].filter(Boolean).join(' · ');
}
