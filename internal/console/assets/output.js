// Text that grows while one looks at it, and text that is too long to be shown
// at once.

import { h, put } from './dom.js';
import { plural } from './format.js';
import { ansiNode, plainLook } from './ansi.js';

const keptChars = 400_000; // of live output: the newest
const keptLines = 5000;
const openLine = 20_000; // of a line that has not ended
const firstLines = 2000; // of a finished text, before somebody asks for more
const moreLines = 5000;
const pieceChars = 256 << 10; // at once, however few lines they are
const nearEnd = 24; // px from the end that still count as the end

function lineCount(text) {
  let n = 0;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) n++;
  return n;
}

/** What a terminal would show of a line that has been written over. */
function overwritten(line) {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf('\r') + 1);
}

const tidy = (text) => (text.includes('\r') ? text.split('\n').map(overwritten).join('\n') : text);

/** The newest part of a text that is kept, from the beginning of a line on. */
function newest(text) {
  if (text.length <= keptChars) return text;
  const from = text.length - keptChars;
  const feed = text.indexOf('\n', from);
  return text.slice(feed >= 0 && feed - from < 10_000 ? feed + 1 : from);
}

/** The lines of live output that have ended, in pieces that can be dropped. */
class Lines {
  constructor() {
    this.el = h('span');
    this.clear();
  }

  clear() {
    this.pieces = [];
    this.chars = 0;
    this.lines = 0;
    this.look = plainLook;
    this.dropped = false;
    this.el.replaceChildren();
  }

  add(text) {
    const { node, look } = ansiNode(tidy(text), this.look);
    this.look = look;
    const piece = h('span', null, node);
    this.el.append(piece);
    this.pieces.push({ piece, chars: text.length, lines: lineCount(text) });
    this.chars += text.length;
    this.lines += this.pieces.at(-1).lines;
    while (this.pieces.length > 1 && (this.chars > keptChars || this.lines > keptLines)) this.drop();
  }

  drop() {
    const { piece, chars, lines } = this.pieces.shift();
    piece.remove();
    this.chars -= chars;
    this.lines -= lines;
    this.dropped = true;
  }
}

/**
 * A box for output that grows. It is bounded: the newest is kept. It follows
 * the end unless the person has scrolled up.
 * @returns {{el: HTMLElement, set(text: string): void, append(text: string): void, end(): void}}
 */
export function liveOutput() {
  const lines = new Lines();
  const open = h('span');
  const box = h('pre', { class: 'out-text', tabindex: '0', role: 'group', 'aria-label': 'Output' }, lines.el, open);
  const dropped = h('p', { class: 'small dim', hidden: true }, 'Only the newest output is shown.');
  const follow = h('button', { type: 'button', class: 'out-follow', hidden: true, onclick: () => jump() }, '↓ To the end');
  const el = h('div', { class: 'out live', 'data-live': 'true' }, dropped, box, follow);
  let whole = ''; // what set() was given last, to tell growth from a new text
  let waiting = '';
  let rest = ''; // of the line that has not ended
  let follows = true;
  let anew = false; // the next draw begins with nothing
  let frame = 0;

  function jump() {
    follows = true;
    follow.hidden = true;
    box.scrollTop = box.scrollHeight;
  }
  box.addEventListener('scroll', () => {
    follows = box.scrollHeight - box.scrollTop - box.clientHeight <= nearEnd;
    if (follows) follow.hidden = true;
  });

  function draw() {
    frame = 0;
    if (anew) lines.clear();
    anew = false;
    const text = newest(rest + waiting);
    waiting = '';
    const feed = text.lastIndexOf('\n') + 1;
    if (feed > 0) lines.add(text.slice(0, feed));
    rest = text.slice(feed).slice(-openLine);
    put(open, ansiNode(overwritten(rest), lines.look).node);
    dropped.hidden = !lines.dropped;
    if (follows) box.scrollTop = box.scrollHeight;
    else follow.hidden = false;
  }
  const soon = () => {
    frame ||= requestAnimationFrame(draw);
  };
  const append = (text) => {
    waiting = newest(waiting + text);
    soon();
  };
  return {
    el,
    append(text) {
      const more = String(text ?? '');
      if (more === '') return;
      whole = null;
      append(more);
    },
    set(text) {
      const next = String(text ?? '');
      if (next === whole) return;
      if (whole !== null && whole !== '' && next.startsWith(whole)) {
        append(next.slice(whole.length));
      } else {
        anew = true;
        rest = '';
        waiting = '';
        append(next);
      }
      whole = next;
    },
    end() {
      if (frame) {
        cancelAnimationFrame(frame);
        draw();
      }
      el.removeAttribute('data-live');
    },
  };
}

/** Where the next piece of a text ends: after so many lines, or so many characters. */
function pieceEnd(text, from, lines) {
  let at = from;
  for (let n = 0; n < lines && at < text.length; n++) {
    const feed = text.indexOf('\n', at);
    const end = feed < 0 ? text.length : feed + 1;
    if (end - from > pieceChars) {
      const cut = at > from ? at : from + pieceChars;
      return text.charCodeAt(cut - 1) >= 0xd800 && text.charCodeAt(cut - 1) < 0xdc00 ? cut - 1 : cut;
    }
    at = end;
  }
  return at;
}

/**
 * A finished text in a box: the first of it, and a button for more.
 * @param {string} text
 * @param {{label?: string, open?: number}} [how] the box's name; lines shown at first
 */
export function textBox(text, { label = 'Output', open = firstLines } = {}) {
  const all = String(text ?? '').replaceAll('\r\n', '\n');
  const pre = h('pre', { class: 'out-text', tabindex: '0', role: 'group', 'aria-label': label });
  const more = h('button', { type: 'button', class: 'more', onclick: () => grow(moreLines) });
  let at = 0;
  let look = plainLook;
  function grow(lines) {
    const end = pieceEnd(all, at, lines);
    const made = ansiNode(all.slice(at, end), look);
    look = made.look;
    pre.append(made.node);
    at = end;
    const left = all.slice(at);
    if (left === '' && document.activeElement === more) pre.focus({ preventScroll: true });
    more.hidden = left === '';
    more.textContent = `Show more (${plural(lineCount(left) + (left.endsWith('\n') ? 0 : 1), 'line')}, ${plural(left.length, 'character')} left)`;
  }
  grow(open);
  return h('div', { class: 'out' }, pre, more);
}
