// Makes what could hide, reorder or repaint text visible. It mirrors the
// runtime's own function (internal/text/visible.go): both write the same text,
// and testdata/visible.jsonl holds them to it.

import { h } from './dom.js';

// What has a picture: letters, marks, numbers, punctuation, symbols. All else
// is hidden, and so are the few of these that leave no mark.
const noPicture = String.raw`[^\p{L}\p{M}\p{N}\p{P}\p{S} \t\n]`;
const leavesNoMark = String.raw`[\u034f\u115f\u1160\u3164\uffa0\u17b4\u17b5\u180b-\u180f\u2800\ufe00-\ufe0f\u{16fe4}\u{1d159}\u{e0000}-\u{e0fff}]`;
const hiddenSource = `${noPicture}|${leavesNoMark}`;
const hidden = new RegExp(hiddenSource, 'u');
const hiddenHere = new RegExp(hiddenSource, 'uy');
const countHere = /<[0-9]{1,19} (?:spaces|tabs|blanks|blank lines)>/y;

// The places that may have to be written otherwise, by where the text goes.
const places = {
  many: new RegExp(`[ \\t\\n]{10,}|\\\\+|<(?=[0-9])|${hiddenSource}`, 'gu'),
  line: new RegExp(`[ \\t]{10,}|[\\t\\n]|\\\\+|<(?=[0-9])|${hiddenSource}`, 'gu'),
  code: new RegExp(`[ \\t]{10,}|${hiddenSource}`, 'gu'),
};

/** More marks than this are written without a mark of their own. */
const maxMarks = 5000;

/** Longest indentation of code that is shown as it is. */
const maxIndent = 120;

function at(regexp, text, index) {
  regexp.lastIndex = index;
  return regexp.test(text);
}

/** Whether a backslash before index would be read with what stands there. */
function takesBackslash(text, index, line) {
  switch (text[index]) {
    case undefined: return false;
    case 'x': return true;
    case 'u': return text[index + 1] === '{';
    case 'n': case '\n': case 't': case '\t': return line;
    case '<': return at(countHere, text, index);
  }
  return at(hiddenHere, text, index);
}

function escapeOf(char) {
  if (char === '\n') return '\\n';
  if (char === '\t') return '\\t';
  const code = char.codePointAt(0);
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** A run of blanks without line feeds. */
function blanks(run) {
  if (run.length < 10) return run;
  const unit = /^ +$/.test(run) ? 'spaces' : /^\t+$/.test(run) ? 'tabs' : 'blanks';
  return `<${run.length} ${unit}>`;
}

function blankRun(run, emit) {
  const parts = run.split('\n');
  const feeds = parts.length - 1;
  let left = parts;
  if (feeds >= 10) {
    emit('\n', false);
    emit(`<${feeds - 1} blank lines>`, true);
    emit('\n', false);
    left = [parts[feeds]];
  }
  left.forEach((part, i) => {
    if (i > 0) emit('\n', false);
    const shown = blanks(part);
    emit(shown, shown !== part);
  });
}

/** Writes one place that was found, at index. */
function place(text, found, index, mode, emit) {
  const c = found[0];
  if (c === '\\') {
    emit(found, false);
    if (takesBackslash(text, index + found.length, mode === 'line')) emit(found, false);
  } else if (c === '<') {
    const forged = at(countHere, text, index);
    emit(forged ? '\\x3c' : found, forged);
  } else if (found.length >= 10 && mode === 'code') {
    const indent = found.length <= maxIndent && (index === 0 || text[index - 1] === '\n');
    emit(indent ? found : blanks(found), !indent);
  } else if (found.length >= 10) {
    blankRun(found, emit);
  } else {
    emit(escapeOf(found), true);
  }
}

/**
 * Walks over text and calls emit(piece, marked) for each piece of what is
 * shown; marked pieces are not of the text itself. The mode is "many" (as
 * Visible of the runtime), "line" (as VisibleLine) or "code": hidden
 * characters alone are escaped, indentation stays, and only the mark tells an
 * escape from text that looks like one.
 */
export function pieces(text, mode, emit) {
  const s = String(text ?? '');
  const next = places[mode]; // used in place: matchAll would compile it anew each time
  let from = 0;
  next.lastIndex = 0;
  for (let m; (m = next.exec(s));) {
    if (m.index > from) emit(s.slice(from, m.index), false);
    place(s, m[0], m.index, mode, emit);
    from = m.index + m[0].length;
  }
  if (from < s.length) emit(s.slice(from), false);
}

function joined(text, mode) {
  const out = [];
  pieces(text, mode, (piece) => out.push(piece));
  return out.join('');
}

/** The text as it may be shown: what is hidden as escapes that can be seen. */
export function visible(text) {
  return joined(text, 'many');
}

/** The same for a place that has one line: line feeds and tabs too. */
export function visibleLine(text) {
  return joined(text, 'line');
}

/** Whether text holds a character that visible() escapes. */
export function hasHidden(text) {
  return hidden.test(String(text ?? ''));
}

/** Whether a text anywhere in a value holds such a character, as far as one looks into it. */
export function hiddenWithin(value, depth = 0) {
  if (typeof value === 'string') return hasHidden(value);
  if (typeof value !== 'object' || value === null || depth > 12) return false;
  return Object.entries(value).slice(0, 5000).some(([key, v]) => hasHidden(key) || hiddenWithin(v, depth + 1));
}

const rightToLeft = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Whether a text anywhere in a value holds letters that are written from right to left. */
export function rightToLeftWithin(value, depth = 0) {
  if (typeof value === 'string') return rightToLeft.test(value);
  if (typeof value !== 'object' || value === null || depth > 12) return false;
  return Object.entries(value).slice(0, 5000).some(([key, v]) => rightToLeft.test(key) || rightToLeftWithin(v, depth + 1));
}

function marked(text, mode) {
  const out = document.createDocumentFragment();
  let plain = [];
  let mark = [];
  let marks = 0;
  const flush = () => {
    if (plain.length > 0) out.append(plain.join(''));
    if (mark.length > 0) out.append(h('span', { class: 'hidden-mark', title: 'a character or a run that could not be seen' }, mark.join('')));
    plain = [];
    mark = [];
  };
  pieces(text, mode, (piece, isMark) => {
    if (isMark && marks < maxMarks) {
      if (plain.length > 0) flush();
      if (mark.length === 0) marks++;
      mark.push(piece);
      return;
    }
    if (mark.length > 0) flush();
    plain.push(piece);
  });
  flush();
  return out;
}

/** visible() as a node in which the escapes are marked. */
export function visibleNode(text) {
  return h('span', { class: 'visible', dir: 'ltr' }, marked(text, 'many'));
}

/** visibleLine() as a node in which the escapes are marked. */
export function visibleLineNode(text) {
  return h('span', { class: 'visible', dir: 'ltr' }, marked(text, 'line'));
}

/** Code as it is, but for hidden characters, which are escaped and marked. */
export function codeNode(text) {
  return marked(text, 'code');
}

/** What codeNode shows, as text and the places [from, to] of its marks. */
export function codeText(text) {
  const out = [];
  const marks = [];
  let n = 0;
  pieces(text, 'code', (piece, isMark) => {
    if (isMark) marks.push([n, n + piece.length, 'hidden-mark']);
    out.push(piece);
    n += piece.length;
  });
  return { text: out.join(''), marks };
}
