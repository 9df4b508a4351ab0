// What programs print to a terminal, as nodes: colours become classes, and every
// other escape is shown.

import { h } from './dom.js';
import { codeNode } from './visible.js';

/** More changes of colour than this are shown as escapes. */
const maxSpans = 4000;

const escape = String.fromCharCode(27);
const sgr = new RegExp(`${escape}\\[([0-9;:]{0,60})m`, 'g');

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** The look at the beginning. It is never changed; changes make a new one. */
export const plainLook = Object.freeze({ bold: false, dim: false, italic: false, underline: false, inverse: false, colour: '', ground: '' });

const on = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse' };
const off = { 22: ['bold', 'dim'], 23: ['italic'], 24: ['underline'], 27: ['inverse'] };

/** Of the 256 colours only the sixteen with names are known; others keep what is there. */
function extended(codes, i) {
  if (codes[i + 1] === 5) return { skip: 2, name: codes[i + 2] < 16 ? names[codes[i + 2] % 8] : '' };
  if (codes[i + 1] === 2) return { skip: 4, name: '' };
  return { skip: 0, name: '' };
}

function changed(look, code) {
  if (code === 0) return plainLook;
  if (on[code]) return { ...look, [on[code]]: true };
  if (off[code]) return { ...look, ...Object.fromEntries(off[code].map((name) => [name, false])) };
  if (code >= 30 && code <= 37) return { ...look, colour: names[code - 30] };
  if (code >= 90 && code <= 97) return { ...look, colour: names[code - 90] };
  if (code >= 40 && code <= 47) return { ...look, ground: names[code - 40] };
  if (code >= 100 && code <= 107) return { ...look, ground: names[code - 100] };
  if (code === 39) return { ...look, colour: '' };
  if (code === 49) return { ...look, ground: '' };
  return look;
}

function apply(look, text) {
  const codes = text.split(/[;:]/).map(Number);
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === 38 || codes[i] === 48) {
      const { skip, name } = extended(codes, i);
      look = { ...look, [codes[i] === 38 ? 'colour' : 'ground']: name };
      i += skip;
    } else {
      look = changed(look, codes[i]);
    }
  }
  return look;
}

function classOf(look) {
  const classes = Object.values(on).filter((name) => look[name]).map((name) => 'ansi-' + name);
  if (look.colour) classes.push('ansi-' + look.colour);
  if (look.ground) classes.push('ansi-on-' + look.ground);
  return classes.join(' ');
}

/**
 * A text with its colours, and the look that it ends with.
 * @returns {{node: DocumentFragment, look: Object}}
 */
export function ansiNode(text, look = plainLook) {
  const out = document.createDocumentFragment();
  if (!text.includes(escape) && look === plainLook) {
    out.append(codeNode(text));
    return { node: out, look };
  }
  const add = (part) => {
    if (part === '') return;
    const cls = classOf(look);
    out.append(cls ? h('span', { class: cls }, codeNode(part)) : codeNode(part));
  };
  let from = 0;
  let spans = 0;
  for (const m of text.matchAll(sgr)) {
    if (++spans > maxSpans) break;
    add(text.slice(from, m.index));
    look = apply(look, m[1]);
    from = m.index + m[0].length;
  }
  add(text.slice(from));
  return { node: out, look };
}
