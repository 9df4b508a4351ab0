// A safe part of Markdown as nodes: headings, lists, quotes, tables, code,
// emphasis and links. There is no way to markup: what is not understood stays
// text. Images are not fetched. Every text takes linear time.

import { h } from './dom.js';
import { codeBlock, languageNamed } from './colour.js';
import { codeNode, codeText, visibleLine, visibleLineNode } from './visible.js';
import { textBox } from './output.js';

const maxChars = 300_000;
const maxLines = 10_000;
const maxDepth = 6; // of quotes and lists
const maxInline = 4; // of emphasis in emphasis
const maxLabel = 1000; // characters between [ and ]
const maxURL = 2000;
const maxCells = 40; // of a row

// --- inside a line

/** The address of a link as it is shown and opened; null for what is no link. */
function safeURL(text) {
  try {
    const url = new URL(text);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

/** A link says where it leads, whatever it calls itself. */
function link(label, address, depth) {
  const url = safeURL(address);
  if (!url) return [h('span', null, inline(label, depth + 1)), address ? h('span', { class: 'md-url' }, ' (', visibleLineNode(address), ')') : null];
  const a = h('a', { href: url.href, rel: 'noopener noreferrer', target: '_blank', referrerpolicy: 'no-referrer' }, inline(label, depth + 1));
  const plain = label === address || label === url.href || label + '/' === url.href;
  const shown = url.href.length > 120 ? url.href.slice(0, 120) + '…' : url.href;
  return [a, plain ? null : h('span', { class: 'md-url' }, ' (', visibleLine(shown.replace(/^mailto:/, '')), ')')];
}

/** Reads the inside of a line. What is searched for in vain is not searched for again. */
class Inline {
  constructor(text, depth) {
    this.text = text;
    this.depth = depth;
    this.out = document.createDocumentFragment();
    this.plain = 0; // where the text begins that is not written yet
    this.missing = new Set();
  }

  /** Where a marker stands next; -1 where there is none. */
  find(marker, from) {
    if (this.missing.has(marker)) return -1;
    const at = this.text.indexOf(marker, from);
    if (at < 0) this.missing.add(marker);
    return at;
  }

  flush(to) {
    if (to > this.plain) this.out.append(codeNode(this.text.slice(this.plain, to)));
  }

  /** Puts nodes in place of the text from at to end. */
  emit(at, end, ...nodes) {
    this.flush(at);
    for (const node of nodes.flat()) if (node) this.out.append(node);
    this.plain = end;
    return end;
  }

  run() {
    const special = /[`*_~[!\\<]|https?:\/\//g;
    for (let m; (m = special.exec(this.text));) {
      const end = this.at(m.index, m[0]);
      special.lastIndex = Math.max(end, m.index + 1);
    }
    this.flush(this.text.length);
    return this.out;
  }

  /** Reads what begins at i; returns where to go on. */
  at(i, found) {
    switch (found) {
      case '`': return this.code(i);
      case '*': case '_': case '~': return this.emphasis(i, found);
      case '[': return this.link(i, i);
      case '!': return this.text[i + 1] === '[' ? this.link(i, i + 1) : i + 1;
      case '\\': return this.escaped(i);
      case '<': return this.angle(i);
    }
    return this.bare(i);
  }

  code(i) {
    const run = /^`+/.exec(this.text.slice(i, i + 100))[0];
    const from = i + run.length;
    for (let at = this.find(run, from), tries = 0; at >= 0 && tries < 20; tries++) {
      let end = at;
      while (this.text[end] === '`') end++;
      if (end - at === run.length) {
        const inside = this.text.slice(from, at);
        return this.emit(i, end, h('code', null, codeNode(/^ .*[^ ].* $/s.test(inside) ? inside.slice(1, -1) : inside)));
      }
      at = this.text.indexOf(run, end);
    }
    return from;
  }

  emphasis(i, char) {
    const double = this.text[i + 1] === char;
    const marker = double ? char + char : char;
    const from = i + marker.length;
    if (this.depth >= maxInline || (char === '~' && !double) || /\s|^$/.test(this.text[from] ?? '')) return from;
    const wordBefore = i > 0 && /[\p{L}\p{N}]/u.test(this.text[i - 1]);
    if (char === '_' && wordBefore) return from;
    const at = this.find(marker, from + 1);
    if (at < 0 || /\s/.test(this.text[at - 1])) return from;
    const end = at + marker.length;
    if (char === '_' && /[\p{L}\p{N}]/u.test(this.text[end] ?? '')) return from;
    const tag = char === '~' ? 'del' : double ? 'strong' : 'em';
    return this.emit(i, end, h(tag, null, inline(this.text.slice(from, at), this.depth + 1)));
  }

  link(i, open) {
    const close = this.find(']', open);
    if (close < 0 || close - open > maxLabel || this.text[close + 1] !== '(') return open + 1;
    const end = this.addressEnd(close + 2);
    if (end < 0) return open + 1;
    const address = this.text.slice(close + 2, end).trim().replace(/\s+["'(].*$/s, '').replace(/^<(.*)>$/, '$1');
    const label = this.text.slice(open + 1, close);
    return this.emit(i, end + 1, link(label || address, address, this.depth));
  }

  /** Where the address of a link ends, with pairs of parentheses in it; -1 where it does not. */
  addressEnd(from) {
    const first = this.find(')', from);
    if (first < 0 || first - from > maxURL) return -1;
    let depth = 0;
    for (let i = from; i < from + maxURL && i < this.text.length; i++) {
      if (this.text[i] === '(') depth++;
      else if (this.text[i] === ')' && depth-- === 0) return i;
    }
    return first;
  }

  escaped(i) {
    if (!/[!-/:-@[-`{-~]/.test(this.text[i + 1] ?? '')) return i + 1;
    this.emit(i, i + 1);
    return i + 2;
  }

  angle(i) {
    const m = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/i.exec(this.text.slice(i, i + maxURL));
    return m ? this.emit(i, i + m[0].length, link(m[1], m[1], maxInline)) : i + 1;
  }

  bare(i) {
    const m = /^https?:\/\/[^\s<>"'`\]]+/.exec(this.text.slice(i, i + maxURL));
    if (!m || this.depth > maxInline) return i + 1;
    let address = m[0].replace(/[.,;:!?*_]+$/, '');
    if (address.endsWith(')') && !address.includes('(')) address = address.slice(0, -1);
    if (!safeURL(address)) return i + 1;
    return this.emit(i, i + address.length, link(address, address, maxInline));
  }
}

function inline(text, depth = 0) {
  if (depth > maxInline) return codeNode(text);
  return new Inline(text, depth).run();
}

// --- lines

const fence = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const heading = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+\s*)?$/;
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const delimiter = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** Reads lines into blocks. */
class Blocks {
  constructor(lines, depth) {
    this.lines = lines;
    this.depth = depth;
    this.i = 0;
    this.out = [];
  }

  run() {
    while (this.i < this.lines.length) {
      const line = this.lines[this.i];
      if (line.trim() === '') this.i++;
      else if (fence.test(line)) this.fenced(fence.exec(line));
      else if (heading.test(line)) this.heading(heading.exec(line));
      else if (rule.test(line)) this.one(h('hr'));
      else if (/^ {0,3}>/.test(line) && this.depth < maxDepth) this.quote();
      else if (item.test(line) && this.depth < maxDepth) this.list();
      else if (line.includes('|') && delimiter.test(this.lines[this.i + 1] ?? '')) this.table();
      else this.paragraph();
    }
    return this.out;
  }

  one(node) {
    this.out.push(node);
    this.i++;
  }

  heading(m) {
    this.one(h('h' + Math.min(6, m[1].length + 2), { class: 'md-h' }, inline(m[2] || '')));
  }

  fenced([, mark, info]) {
    const from = ++this.i;
    while (this.i < this.lines.length && !(this.lines[this.i].trim().startsWith(mark) && this.lines[this.i].trim().replaceAll(mark[0], '') === '')) this.i++;
    const text = this.lines.slice(from, this.i++).join('\n');
    this.out.push(h('pre', { class: 'md-code', tabindex: '0' }, codeBlock(codeText(text).text, languageNamed(info))));
  }

  quote() {
    const inside = [];
    while (this.i < this.lines.length && /^ {0,3}>/.test(this.lines[this.i])) inside.push(this.lines[this.i++].replace(/^ {0,3}> ?/, ''));
    this.out.push(h('blockquote', null, new Blocks(inside, this.depth + 1).run()));
  }

  /** The lines of one entry, without its mark and its indentation. */
  entry(m) {
    const inside = [m[3]];
    const indent = m[1].length + m[2].length + 1;
    this.i++;
    for (; this.i < this.lines.length; this.i++) {
      const line = this.lines[this.i];
      const deep = line.search(/\S/);
      if (deep < 0) {
        const next = this.lines[this.i + 1] ?? '';
        if (next.search(/\S/) < indent) break;
        inside.push('');
      } else if (deep > m[1].length) {
        inside.push(line.slice(Math.min(deep, indent)));
      } else {
        break;
      }
    }
    return inside;
  }

  list() {
    const first = item.exec(this.lines[this.i]);
    const ordered = /\d/.test(first[2]);
    const entries = [];
    for (let m; (m = item.exec(this.lines[this.i] ?? '')) && /\d/.test(m[2]) === ordered && m[1].length <= first[1].length + 1;) {
      const inside = this.entry(m);
      entries.push(h('li', /^\[[ xX]\]\s/.test(inside[0]) ? { class: 'md-task' } : null, this.task(inside)));
      while (this.lines[this.i]?.trim() === '' && item.test(this.lines[this.i + 1] ?? '')) this.i++;
    }
    this.out.push(h(ordered ? 'ol' : 'ul', ordered ? { start: parseInt(first[2], 10) } : null, entries));
  }

  /** An entry's blocks; [ ] and [x] at its beginning are a box. */
  task(lines) {
    const m = /^\[([ xX])\]\s+(.*)$/.exec(lines[0]);
    if (m) lines[0] = m[2];
    const blocks = new Blocks(lines, this.depth + 1).run();
    if (blocks[0]?.tagName === 'P') blocks[0] = h('span', null, [...blocks[0].childNodes]);
    return m ? [h('span', { class: 'md-box', role: 'img', 'aria-label': m[1] === ' ' ? 'to do' : 'done' }, m[1] === ' ' ? '☐ ' : '☑ '), blocks] : blocks;
  }

  table() {
    const cells = (line) => line.trim().replace(/^\||\|$/g, '').split('|').slice(0, maxCells).map((c) => c.trim());
    const heads = cells(this.lines[this.i]);
    const sides = cells(this.lines[this.i + 1]).map((c) => (/^:-*:$/.test(c) ? 'md-center' : c.endsWith(':') ? 'md-right' : null));
    this.i += 2;
    const rows = [];
    while (this.i < this.lines.length && this.lines[this.i].includes('|')) rows.push(cells(this.lines[this.i++]));
    this.out.push(h('div', { class: 'table-wrap' }, h('table', null,
      h('thead', null, h('tr', null, heads.map((c, k) => h('th', { scope: 'col', class: sides[k] }, inline(c))))),
      h('tbody', null, rows.map((row) => h('tr', null, heads.map((_, k) => h('td', { class: sides[k] }, inline(row[k] ?? '')))))))));
  }

  /** Whether a line ends a paragraph by beginning something else. */
  begins(line) {
    return line.trim() === '' || fence.test(line) || heading.test(line) || rule.test(line) || /^ {0,3}>/.test(line) || item.test(line);
  }

  paragraph() {
    const from = this.i++;
    while (this.i < this.lines.length && !this.begins(this.lines[this.i])) this.i++;
    const text = this.lines.slice(from, this.i).map((line) => line.trim()).join('\n');
    this.out.push(h('p', null, inline(text)));
  }
}

/**
 * Shows Markdown.
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdown(text) {
  const all = String(text ?? '').replaceAll('\r\n', '\n');
  const lines = all.split('\n');
  if (all.length > maxChars || lines.length > maxLines) return h('div', { class: 'md' }, textBox(all, { label: 'Text' }));
  return h('div', { class: 'md' }, new Blocks(lines, 0).run());
}
