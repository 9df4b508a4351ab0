// Syntax colours: a small tokenizer and a table per language. It reads line by
// line and keeps between lines only which comment or string is open, so a line
// of a diff can be coloured where it stands. Every line takes linear time, and
// long ones are left as they are.

import { h } from './dom.js';
import { languages, names } from './languages.js';

/** Lines that are longer have no colours. */
const maxLine = 2000;

const compiled = new Map();

/**
 * The language of a file, by its name; '' where it is not known.
 * @param {string} file
 */
export function languageOf(file) {
  const base = String(file ?? '').split(/[\\/]/).pop().toLowerCase();
  if (names.has(base)) return names.get(base);
  const dot = base.lastIndexOf('.');
  return (dot >= 0 && names.get(base.slice(dot + 1))) || '';
}

/** The language that a fence of Markdown names; '' where it is not known. */
export function languageNamed(name) {
  const word = String(name ?? '').trim().split(/[\s,{]/, 1)[0].toLowerCase();
  return Object.hasOwn(languages, word) ? word : names.get(word) || '';
}

/** One sticky expression for all that a language knows. */
function compile(name) {
  if (compiled.has(name)) return compiled.get(name);
  let made = null;
  const table = Object.hasOwn(languages, name) ? languages[name] : null;
  if (table) {
    const spans = table.spans || [];
    const sources = [...spans.map((s) => s.open), ...table.rules.map((r) => r[1])].map((s) => `(${s})`);
    made = {
      at: new RegExp(sources.join('|'), table.fold ? 'iyu' : 'yu'),
      spans,
      classes: table.rules.map((r) => r[0]),
      keywords: table.keywords || new Set(),
      types: table.types || new Set(),
      fold: Boolean(table.fold),
    };
  }
  compiled.set(name, made);
  return made;
}

/** Where an open comment or string ends, from index on; -1 if not on this line. */
function closing(span, text, index) {
  if (!span.escapes) {
    const found = text.indexOf(span.close, index);
    return found < 0 ? -1 : found + span.close.length;
  }
  for (let i = index; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text.startsWith(span.close, i)) return i + span.close.length;
  }
  return -1;
}

function classOf(lang, cls, word) {
  if (cls !== 'word') return cls;
  const key = lang.fold ? word.toLowerCase() : word;
  if (lang.keywords.has(key)) return 'keyword';
  if (lang.types.has(key)) return 'type';
  return '';
}

/** One token at index: its end, its class, and the span it leaves open. */
function token(lang, text, index) {
  lang.at.lastIndex = index;
  const m = lang.at.exec(text);
  if (!m || m[0] === '') return { end: index + (text.codePointAt(index) > 0xffff ? 2 : 1), cls: '', open: -1 };
  let group = 1;
  while (m[group] === undefined) group++;
  const end = index + m[0].length;
  if (group <= lang.spans.length) {
    const span = lang.spans[group - 1];
    const to = closing(span, text, end);
    if (to >= 0) return { end: to, cls: span.cls, open: -1 };
    return { end: text.length, cls: span.cls, open: span.line ? -1 : group - 1 };
  }
  return { end, cls: classOf(lang, lang.classes[group - 1 - lang.spans.length], m[0]), open: -1 };
}

/**
 * Reads one line. The state is what colour gave for the line before, -1 at the
 * beginning.
 * @returns {{spans: [number, number, string][], state: number}}
 */
export function colour(text, language, state = -1) {
  const lang = compile(language);
  if (!lang || text.length > maxLine) return { spans: [], state: -1 };
  const spans = [];
  let i = 0;
  let open = state;
  if (open >= 0 && lang.spans[open]) {
    const to = closing(lang.spans[open], text, 0);
    i = to < 0 ? text.length : to;
    if (i > 0) spans.push([0, i, 'syn-' + lang.spans[open].cls]);
    if (to >= 0) open = -1;
  }
  while (i < text.length) {
    const t = token(lang, text, i);
    const last = spans.at(-1);
    if (last && last[1] === i && last[2] === 'syn-' + t.cls) last[1] = t.end;
    else if (t.cls) spans.push([i, t.end, 'syn-' + t.cls]);
    i = t.end;
    open = t.open;
  }
  return { spans, state: open };
}

/**
 * A text with classes on parts of it. Each layer is a list of [from, to, class]
 * in order and without overlap; layers may overlap each other.
 */
export function paint(text, ...layers) {
  const out = document.createDocumentFragment();
  const next = layers.map(() => 0);
  let i = 0;
  while (i < text.length) {
    let end = text.length;
    const classes = [];
    layers.forEach((layer, k) => {
      while (next[k] < layer.length && layer[next[k]][1] <= i) next[k]++;
      const span = layer[next[k]];
      if (!span) return;
      if (span[0] > i) {
        end = Math.min(end, span[0]);
      } else {
        end = Math.min(end, span[1]);
        classes.push(span[2]);
      }
    });
    const part = text.slice(i, end);
    out.append(classes.length > 0 ? h('span', { class: classes.join(' ') }, part) : part);
    i = end;
  }
  return out;
}

/** A block of code in colours, as a fragment for a pre. */
export function codeBlock(text, language) {
  const out = document.createDocumentFragment();
  let state = -1;
  text.split('\n').forEach((line, i) => {
    if (i > 0) out.append('\n');
    const { spans, state: after } = colour(line, language, state);
    state = after;
    out.append(paint(line, spans));
  });
  return out;
}
