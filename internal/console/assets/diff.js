// Shows differences: inline, or side by side where there is room. Big ones are
// built piece by piece, so that nothing waits for lines that nobody looks at.

import { shortPath } from './state.js';
import { h, put } from './dom.js';
import { plural } from './format.js';
import { codeText, visibleLine, visibleLineNode } from './visible.js';
import { colour, languageOf, paint } from './colour.js';
import { compare, parseDiff, wordChanges } from './difftext.js';

const firstRows = 300; // of a file, before somebody asks for more
const moreRows = 500;
const openRows = 900; // of all files together, before the others stay folded
const maxFiles = 200;
const foldFrom = 12; // equal lines in a row
const foldKeep = 3; // of them at each end
const longFold = 1000; // folded lines that are read for the colours after them
const longLine = 4000;
const key = 'helve.diff';

const roomy = matchMedia('(min-width: 900px)');
const views = new Set(); // of WeakRef: what is drawn anew when the layout changes

let wanted = remembered();

function remembered() {
  try {
    return localStorage.getItem(key) === 'split' ? 'split' : 'inline';
  } catch {
    return 'inline'; // storage may be off
  }
}

function layout() {
  return wanted === 'split' && roomy.matches ? 'split' : 'inline';
}

function redrawAll() {
  for (const ref of views) {
    const view = ref.deref();
    if (view) view.draw();
    else views.delete(ref);
  }
}

roomy.addEventListener('change', redrawAll);

function choose(mode) {
  wanted = mode;
  try {
    localStorage.setItem(key, mode);
  } catch {
    // then it holds for this page
  }
  redrawAll();
}

// --- rows: what a file's table is made of

/** Links removed lines with the lines that took their place. */
function pairUp(lines) {
  let i = 0;
  while (i < lines.length) {
    let gone = i;
    while (gone < lines.length && lines[gone].kind === '-') gone++;
    let came = gone;
    while (came < lines.length && lines[came].kind === '+') came++;
    for (let n = 0; gone > i && n < Math.min(gone - i, came - gone); n++) {
      lines[i + n].pair = lines[gone + n];
      lines[gone + n].pair = lines[i + n];
    }
    i = Math.max(came, i + 1);
  }
}

/** Rows of a hunk side by side: [old, new], null where there is none. */
function sides(lines) {
  const rows = [];
  for (let i = 0; i < lines.length;) {
    if (lines[i].kind === ' ') {
      rows.push([lines[i], lines[i]]);
      i++;
      continue;
    }
    const block = { '-': [], '+': [] };
    for (const kind of ['-', '+']) while (i < lines.length && lines[i].kind === kind) block[kind].push(lines[i++]);
    for (let n = 0; n < Math.max(block['-'].length, block['+'].length); n++) rows.push([block['-'][n] || null, block['+'][n] || null]);
  }
  return rows;
}

const isContext = (row, split) => (split ? row[0] === row[1] : row.kind === ' ');

/** A hunk's rows, with long runs of equal lines folded. */
function folded(rows, split) {
  const out = [];
  for (let i = 0; i < rows.length;) {
    let end = i;
    while (end < rows.length && isContext(rows[end], split)) end++;
    if (end - i >= foldFrom) {
      const head = i === 0 ? 0 : foldKeep;
      const tail = end === rows.length ? 0 : foldKeep;
      for (const row of rows.slice(i, i + head)) out.push({ row });
      out.push({ fold: rows.slice(i + head, end - tail) });
      for (const row of rows.slice(end - tail, end)) out.push({ row });
    } else {
      for (const row of rows.slice(i, Math.max(end, i + 1))) out.push({ row });
    }
    i = Math.max(end, i + 1);
  }
  return out;
}

/** All that a file's table shows, in order. */
function itemsOf(file, split) {
  const items = [];
  let after = 1; // the old text's first line that was not shown yet
  for (const hunk of file.hunks) {
    if (hunk.numbered) {
      const skipped = hunk.from - after;
      if (skipped > 0 || hunk.title || items.length > 0) items.push({ gap: Math.max(0, skipped), title: hunk.title });
    }
    pairUp(hunk.lines);
    for (const item of folded(split ? sides(hunk.lines) : hunk.lines, split)) items.push(item);
    const last = hunk.lines.findLast((l) => l.old > 0);
    after = last ? last.old + 1 : Math.max(after, hunk.from + 1);
  }
  return items;
}

// --- cells

/** Gives a line its colours and marks, once. Lines come in order, each side by itself. */
function tint(line, look) {
  if (line.shown) return;
  line.shown = codeText(line.text);
  const side = line.kind === '-' ? 'old' : 'now';
  const { spans, state } = colour(line.shown.text, look.language, look[side]);
  const { marks } = line.shown;
  line.spans = marks.length === 0 ? spans : spans.filter(([from, to]) => !marks.some((m) => m[0] < to && m[1] > from)); // a mark stays whole
  look[side] = state;
  if (line.kind === ' ') look.old = state;
}

function wordMarks(line) {
  if (!line.pair) return [];
  const [before, after] = line.kind === '-' ? [line, line.pair] : [line.pair, line];
  if (before.words === undefined) before.words = wordChanges(codeText(before.text).text, codeText(after.text).text);
  if (!before.words) return [];
  return before.words[line.kind === '-' ? 'old' : 'now'].map(([from, to]) => [from, to, 'word']);
}

function textCell(line, look) {
  tint(line, look);
  const { text, marks } = line.shown;
  const cell = h('td', { class: 'text' });
  if (text.length <= longLine) {
    cell.append(paint(text, line.spans, wordMarks(line), marks));
  } else {
    const rest = text.length - longLine;
    const more = h('button', { type: 'button', class: 'quiet more', onclick: () => more.replaceWith(text.slice(longLine)) }, `… show ${plural(rest, 'more character')} of this line`);
    cell.append(paint(text.slice(0, longLine), marks), more);
  }
  if (line.end) cell.append(h('span', { class: 'no-end' }, 'no line feed at the end'));
  return cell;
}

const sign = { '+': '+', '-': '−', ' ': '' };
const kindClass = { '+': 'add', '-': 'del', ' ': 'same' };

function number(n) {
  return h('td', { class: 'no' }, n > 0 ? String(n) : '');
}

function inlineRow(line, look) {
  return h('tr', { class: kindClass[line.kind] }, number(line.old), number(line.now), h('td', { class: 'sign' }, sign[line.kind]), textCell(line, look));
}

function half(line, n, look) {
  if (!line) return [h('td', { class: 'no none' }), h('td', { class: 'sign none' }), h('td', { class: 'text none' })];
  const cls = kindClass[line.kind];
  const cells = [number(n), h('td', { class: 'sign' }, sign[line.kind]), textCell(line, look)];
  for (const cell of cells) cell.classList.add(cls);
  return cells;
}

function splitRow([old, now], look) {
  return h('tr', null, half(old, old?.old, look), half(now, now?.now, look));
}

// --- tables

/** How many characters the numbers of a file's lines have. */
function digits(file) {
  const last = file.hunks.reduce((n, hunk) => Math.max(n, hunk.from, hunk.to, ...[hunk.lines.at(-1)].filter(Boolean).map((l) => Math.max(l.old, l.now))), 0);
  return Math.max(2, String(last).length);
}

/** One file's table, which grows when somebody asks for more. */
class Table {
  constructor(file, name) {
    this.split = layout() === 'split';
    this.items = itemsOf(file, this.split);
    this.look = { language: languageOf(name), old: -1, now: -1 };
    this.at = 0;
    this.body = h('tbody');
    this.more = h('button', { type: 'button', class: 'more', onclick: () => this.grow(moreRows) });
    this.el = h('div', { class: 'diff-body', tabindex: '-1' },
      h('table', { class: this.split ? 'diff-table split' : 'diff-table', style: { '--digits': digits(file) } },
        h('caption', { class: 'sr' }, `Changes in ${visibleLine(name) || 'a file'}`), this.columns(), this.head(), this.body),
      this.more);
    this.grow(firstRows);
  }

  columns() {
    const side = ['c-no', 'c-sign', 'c-text'];
    const classes = this.split ? [...side, ...side] : ['c-no', ...side];
    return h('colgroup', null, classes.map((cls) => h('col', { class: cls })));
  }

  head() {
    const heads = this.split ? ['Old line', 'Change', 'Old text', 'New line', 'Change', 'New text'] : ['Old line', 'New line', 'Change', 'Text'];
    return h('thead', { class: 'sr' }, h('tr', null, heads.map((text) => h('th', { scope: 'col' }, text))));
  }

  grow(n) {
    const rows = document.createDocumentFragment();
    const end = Math.min(this.items.length, this.at + n);
    for (; this.at < end; this.at++) rows.append(this.row(this.items[this.at]));
    this.body.append(rows);
    const left = this.items.length - this.at;
    if (left === 0 && document.activeElement === this.more) this.el.focus({ preventScroll: true });
    this.more.hidden = left === 0;
    this.more.textContent = `Show ${plural(Math.min(left, moreRows), 'more line')} of ${left.toLocaleString('en')} left`;
  }

  line(row) {
    return this.split ? splitRow(row, this.look) : inlineRow(row, this.look);
  }

  band(...children) {
    return h('tr', { class: 'gap' }, h('td', { colspan: this.split ? 6 : 4 }, children));
  }

  row(item) {
    if (item.row) return this.line(item.row);
    if (item.fold) return this.fold(item.fold);
    const skipped = item.gap > 0 ? plural(item.gap, 'unchanged line') : '';
    return this.band(skipped, skipped && item.title ? ' · ' : '', item.title ? visibleLineNode(item.title.slice(0, 200)) : '', skipped || item.title ? '' : '⋯');
  }

  fold(rows) {
    for (const row of rows.slice(-longFold)) for (const line of new Set([row].flat())) tint(line, this.look); // what is open in them goes on after them
    let shown = 0;
    const band = this.band(h('button', {
      type: 'button', class: 'quiet', onclick: () => {
        const part = rows.slice(shown, shown + moreRows);
        shown += part.length;
        band.before(...part.map((row) => this.line(row)));
        if (shown >= rows.length) band.remove();
      },
    }, `Show ${plural(rows.length, 'unchanged line')}`));
    return band;
  }
}

// --- files

// Tables that foreign words are looked up in have nothing by themselves: no constructor, no toString.
const statusWords = { __proto__: null, new: 'new', add: 'new', deleted: 'deleted', delete: 'deleted', renamed: 'renamed', move: 'moved' };

function counts(added, removed) {
  return h('span', { class: 'diff-counts num' },
    h('span', { class: 'ok', 'aria-label': plural(added, 'line') + ' added' }, `+${added.toLocaleString('en')}`), ' ',
    h('span', { class: 'bad', 'aria-label': plural(removed, 'line') + ' removed' }, `−${removed.toLocaleString('en')}`));
}

function fileTitle(file) {
  const moved = file.before && file.before !== file.name && file.name ? [visibleLineNode(shortPath(file.before)), ' → '] : null;
  return h('span', { class: 'diff-name mono', title: visibleLine(file.name || '') }, moved, file.name ? visibleLineNode(shortPath(file.name)) : 'Changes');
}

function notes(file) {
  if (file.notes.length === 0) return null;
  const shown = file.notes.slice(0, 20).map((line) => h('p', null, visibleLineNode(line.slice(0, 1000))));
  if (file.notes.length > 20) shown.push(h('p', null, `… and ${plural(file.notes.length - 20, 'more line')} that are no part of a difference.`));
  return h('div', { class: 'diff-note' }, shown);
}

/** A file as something to fold, whose table is made when it is opened. */
function fileView(file, open) {
  const holder = h('div');
  let made = false;
  const fill = () => {
    if (made) return;
    made = true;
    const numbered = file.hunks.some((hunk) => hunk.numbered);
    const table = file.hunks.length > 0 ? new Table(file, file.name).el : null;
    put(holder, file.cut ? h('p', { class: 'diff-note warn' }, 'Only the beginning is shown: ', visibleLine(file.cut)) : null, numbered ? null : notes(file), table, numbered ? notes(file) : null,
      table || file.notes.length > 0 || file.cut ? null : h('p', { class: 'diff-note' }, 'No lines differ.'));
  };
  if (open) fill();
  const status = statusWords[file.status];
  return h('details', { class: 'diff-file', open, ontoggle: (e) => e.target.open && fill() },
    h('summary', { class: 'diff-head' }, fileTitle(file), status ? h('span', { class: 'badge' }, status) : null,
      file.cut ? h('span', { class: 'badge warn' }, 'cut') : file.hunks.length > 0 ? counts(file.added, file.removed) : null),
    holder);
}

function toolbar(files) {
  const mode = layout();
  const button = (value, text) => h('button', { type: 'button', 'aria-pressed': mode === value, onclick: () => choose(value) }, text);
  const cut = files.some((f) => f.cut);
  const added = files.reduce((n, f) => n + f.added, 0);
  const removed = files.reduce((n, f) => n + f.removed, 0);
  return h('div', { class: 'diff-bar' },
    cut ? h('span', { class: 'badge warn' }, 'cut: not all of it is shown') : null,
    files.length > 1 ? h('span', null, plural(files.length, 'file'), ' ', cut ? null : counts(added, removed)) : null,
    roomy.matches ? h('div', { class: 'segments push', role: 'group', 'aria-label': 'How differences are shown' }, button('inline', 'Inline'), button('split', 'Side by side')) : null);
}

/**
 * Shows a difference.
 * @param {string|Object|Object[]} difference a unified diff, or what parseDiff or compare gave
 * @param {{name?: string, status?: string}} [about] a name for a difference that has none
 * @returns {HTMLElement}
 */
export function renderDiff(difference, { name = '', status = '' } = {}) {
  const files = typeof difference === 'string' ? parseDiff(difference) : [difference].flat();
  for (const file of files) {
    if (!file.name && files.length === 1) file.name = name;
    if (!file.status && status) file.status = status;
  }
  const el = h('div', { class: 'diff' });
  const view = { draw };
  const more = h('button', { type: 'button', class: 'more', onclick: () => grow(at + maxFiles) });
  let left = openRows;
  let at = 0;
  function grow(to) {
    for (; at < Math.min(to, files.length); at++) {
      const rows = files[at].hunks.reduce((n, hunk) => n + hunk.lines.length, 0);
      more.before(fileView(files[at], at === 0 || left > 0));
      left -= Math.min(rows, firstRows);
    }
    more.hidden = at === files.length;
    put(more, `Show ${plural(Math.min(maxFiles, files.length - at), 'more file')} of ${(files.length - at).toLocaleString('en')} left`);
  }
  function draw() {
    const to = Math.max(at, maxFiles);
    left = openRows;
    at = 0;
    put(el, toolbar(files), more);
    grow(to);
    if (files.length === 0) put(el, toolbar(files), h('p', { class: 'diff-note' }, 'No differences.'));
  }
  draw();
  el.view = view; // lives as long as the element
  views.add(new WeakRef(view));
  return el;
}

/** Shows how one text became another. */
export function renderChange(before, after, name = '') {
  return renderDiff(compare(String(before), String(after), name), { name });
}
