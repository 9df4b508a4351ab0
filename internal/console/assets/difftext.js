// Differences as data: reading unified diffs, and comparing two texts where
// there is no diff. Nothing here throws, and all of it is bounded.

/** How much of a diff is read at all. */
const maxText = 8 << 20;

/** Lines of context around a change in what compare() makes. */
const context = 4;

/** Steps that comparing may take before it says "all of it changed". */
const maxSteps = 4_000_000;

/**
 * @typedef {{kind: ' '|'+'|'-', text: string, old: number, now: number, end?: boolean}} Line
 *   old and now are line numbers, 0 where there is none; end: no line feed follows
 * @typedef {{from: number, to: number, title: string, numbered: boolean, lines: Line[]}} Hunk
 *   from and to are the first lines of the old and of the new text
 * @typedef {{name: string, before: string, status: string, hunks: Hunk[], notes: string[], added: number, removed: number, cut?: string}} FileDiff
 *   cut: what was said where the text ends before the difference does; the counts are then too low
 */

function newFile(name) {
  return { name, before: '', status: '', hunks: [], notes: [], added: 0, removed: 0, cut: '' };
}

/** What our tools write where they cut a difference. No line of a text begins so: those have a sign before them. */
const cutLine = /^\.\.\. \((?:the difference is )?cut: /;

const hunkHead = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)$/;

/** A name in a header: without a timestamp, a prefix of git, or quotes. */
function headerName(text) {
  const name = text.replace(/\t.*$/, '').replace(/^"(.*)"$/, '$1');
  return name === '/dev/null' ? '' : name.replace(/^[ab]\//, '');
}

/** Reads lines one by one; what it has read is in files. */
class Reader {
  files = [];
  file = null;
  hunk = null;
  old = 0; // the next line's numbers
  now = 0;
  oldLeft = 0; // lines that the hunk still has
  nowLeft = 0;

  begin(name) {
    this.file = newFile(name);
    this.hunk = null;
    this.files.push(this.file);
  }

  /** The file that a header line belongs to: a new one once there are lines. */
  header(name) {
    if (!this.file || this.file.hunks.length > 0 || this.file.notes.length > 0) this.begin(name);
    else if (name) this.file.name = name;
  }

  startHunk(m) {
    if (!this.file) this.begin('');
    this.old = Number(m[1]);
    this.now = Number(m[3]);
    this.oldLeft = Number(m[2] ?? 1);
    this.nowLeft = Number(m[4] ?? 1);
    this.hunk = { from: this.old, to: this.now, title: m[5], numbered: true, lines: [] };
    this.file.hunks.push(this.hunk);
  }

  /** Lines that stand in no hunk: a part of what a patch puts in. */
  loose() {
    if (!this.file) this.begin('');
    const last = this.file.hunks.at(-1);
    if (last && !last.numbered) return last;
    const hunk = { from: 0, to: 0, title: '', numbered: false, lines: [] };
    this.file.hunks.push(hunk);
    return hunk;
  }

  content(kind, text) {
    const line = { kind, text, old: 0, now: 0 };
    if (kind !== '+') {
      line.old = this.old++;
      this.oldLeft--;
    }
    if (kind !== '-') {
      line.now = this.now++;
      this.nowLeft--;
    }
    this.count(kind);
    this.hunk.lines.push(line);
  }

  count(kind) {
    if (kind === '+') this.file.added++;
    if (kind === '-') this.file.removed++;
  }

  /** A line where the hunk says there is one; false where it is none. */
  inHunk(line) {
    if (!this.hunk || this.oldLeft + this.nowLeft <= 0) return false;
    const kind = line[0] ?? ' ';
    const fits = kind === '+' ? this.nowLeft > 0 : kind === '-' ? this.oldLeft > 0 : kind === ' ' && this.oldLeft > 0 && this.nowLeft > 0;
    if (fits) this.content(kind, line.slice(1));
    return fits;
  }

  line(line) {
    if (line.startsWith('\\ ') && this.hunk?.lines.length > 0) {
      this.hunk.lines.at(-1).end = true;
      return;
    }
    if (this.inHunk(line)) return;
    const head = hunkHead.exec(line);
    if (head) {
      this.startHunk(head);
      return;
    }
    this.outside(line);
  }

  outside(line) {
    const m = /^(Index: |diff --git |--- |\+\+\+ |rename (?:from|to) |new file|deleted file|={60,}$|index [0-9a-f]|similarity |(?:old|new) mode)(.*)$/.exec(line);
    if (m) {
      this.heading(m[1], m[2]);
      return;
    }
    this.hunk = null;
    if (cutLine.test(line)) {
      if (!this.file) this.begin('');
      this.file.cut = line;
    } else if (line[0] === '+' || line[0] === '-') {
      const hunk = this.loose();
      hunk.lines.push({ kind: line[0], text: line.slice(1), old: 0, now: 0 });
      this.count(line[0]);
    } else if (line.trim() !== '') {
      if (!this.file) this.begin('');
      this.file.notes.push(line);
    }
  }

  heading(key, value) {
    this.hunk = null;
    switch (key) {
      case 'Index: ': this.header(value); break;
      case 'diff --git ': this.begin(headerName(value.split(' b/').pop())); break;
      case '--- ': this.header(headerName(value)); this.file.before = headerName(value); break;
      case '+++ ': if (this.file) this.file.name = headerName(value) || this.file.name; break;
      case 'rename from ': if (this.file) this.file.before = value; break;
      case 'rename to ': if (this.file) Object.assign(this.file, { name: value, status: 'renamed' }); break;
      case 'new file': if (this.file) this.file.status = 'new'; break;
      case 'deleted file': if (this.file) this.file.status = 'deleted'; break;
    }
  }
}

/**
 * Reads a unified diff, as our tools and git write it. What is no part of one
 * is kept as a note of the file it stands in.
 * @returns {FileDiff[]}
 */
export function parseDiff(text) {
  const all = String(text ?? '');
  const reader = new Reader();
  const lines = all.slice(0, maxText).split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) reader.line(line);
  if (all.length > maxText) {
    if (!reader.file) reader.begin('');
    reader.file.cut = `${(all.length - maxText).toLocaleString('en')} more characters are not shown here.`;
  }
  return reader.files;
}

/** The lines of a text; a line feed at the end makes no line of its own. */
function linesOf(text) {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Myers' way through the middle of two texts: runs of [kind, count], or null where it takes too long. */
function script(a, b) {
  const n = a.length;
  const m = b.length;
  const trail = [];
  const v = new Int32Array(2 * (n + m) + 3);
  const zero = n + m + 1;
  let steps = 0;
  for (let d = 0; d <= n + m; d++) {
    trail.push(v.slice(zero - d - 1, zero + d + 2));
    steps += 2 * d + 3;
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && v[zero + k - 1] < v[zero + k + 1]) ? v[zero + k + 1] : v[zero + k - 1] + 1;
      const began = x;
      while (x < n && x - k < m && a[x] === b[x - k]) x++;
      steps += x - began;
      v[zero + k] = x;
      if (x >= n && x - k >= m) return walkBack(trail, n, m);
    }
    if (steps > maxSteps) return null;
  }
  return null;
}

function walkBack(trail, n, m) {
  const kinds = [];
  let x = n;
  let y = m;
  for (let d = trail.length - 1; d > 0; d--) {
    const v = trail[d];
    const zero = d + 1;
    const k = x - y;
    const down = k === -d || (k !== d && v[zero + k - 1] < v[zero + k + 1]);
    const fromX = down ? v[zero + k + 1] : v[zero + k - 1];
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      kinds.push(' ');
      x--;
      y--;
    }
    if (x > fromX && y >= fromY && !down) kinds.push('-');
    else kinds.push('+');
    x = fromX;
    y = fromY;
  }
  while (x-- > 0) kinds.push(' ');
  return kinds.reverse();
}

/** What happens to each line of a and b: ' ', '-' or '+', in order. */
function editScript(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const left = a.slice(head, a.length - tail);
  const right = b.slice(head, b.length - tail);
  const middle = script(left, right) || [...left.map(() => '-'), ...right.map(() => '+')];
  return { head, middle, tail };
}

/**
 * Compares two texts as a diff of one file.
 * @returns {FileDiff}
 */
export function compare(before, after, name = '') {
  const a = linesOf(before);
  const b = linesOf(after);
  const file = newFile(name);
  const { head, middle, tail } = editScript(a, b);
  const reader = new Reader();
  reader.file = file;
  const lead = Math.min(head, context);
  const kinds = [...Array(lead).fill(' '), ...middle, ...Array(Math.min(tail, context)).fill(' ')];
  if (middle.length === 0) return file;
  const at = head - lead;
  reader.startHunk(['', at + 1, a.length, at + 1, b.length, '']);
  let x = at;
  let y = at;
  for (const kind of kinds) {
    reader.content(kind, kind === '+' ? b[y] : a[x]);
    if (kind !== '+') x++;
    if (kind !== '-') y++;
  }
  if (before === '') file.status = 'new';
  if (after === '') file.status = 'deleted';
  return file;
}

const wordParts = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

/**
 * The parts in which two lines differ, as [from, to] of each; null where they
 * are too long, or too different for it to help.
 * @returns {{old: number[][], now: number[][]}|null}
 */
export function wordChanges(before, after) {
  if (before.length > 600 || after.length > 600) return null;
  const a = before.match(wordParts) || [];
  const b = after.match(wordParts) || [];
  if (a.length * b.length > 40_000) return null;
  const { head, middle, tail } = editScript(a, b);
  const out = { old: [], now: [] };
  const from = a.slice(0, head).join('').length;
  const at = { old: from, now: from };
  let same = 0;
  const mark = (side, length) => {
    const last = out[side].at(-1);
    if (last && last[1] === at[side]) last[1] += length;
    else out[side].push([at[side], at[side] + length]);
    at[side] += length;
  };
  let x = head;
  let y = head;
  for (const kind of middle) {
    if (kind === '-') mark('old', a[x++].length);
    else if (kind === '+') mark('now', b[y++].length);
    else {
      const part = a[x++];
      y++;
      if (part.trim() !== '') same += part.length;
      at.old += part.length;
      at.now += part.length;
    }
  }
  same += a.slice(0, head).join('').trim().length + a.slice(a.length - tail).join('').trim().length;
  const longest = Math.max(before.trim().length, after.trim().length);
  return longest > 0 && same / longest < 0.3 ? null : out;
}
