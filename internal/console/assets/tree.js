// Things that stand below others, as the flat rows of a virtual list: a tree
// for those who can not see it, with levels and folds.

import { attr } from './dom.js';
import { virtualList } from './list.js';

/**
 * Puts things below their parents. Roots and children keep the order they come
 * in; what names a parent that is not there is a root. A cycle is cut.
 * @returns {{roots: Array, children: Map<string, Array>}}
 */
export function arrange(things, parentOf) {
  const by = new Map(things.map((t) => [t.id, t]));
  const children = new Map();
  const roots = [];
  for (const t of things) {
    const parent = by.get(parentOf(t));
    if (!parent || parent === t || loops(by, t, parentOf)) roots.push(t);
    else if (children.has(parent.id)) children.get(parent.id).push(t);
    else children.set(parent.id, [t]);
  }
  return { roots, children };
}

function loops(by, start, parentOf) {
  const seen = new Set([start.id]);
  for (let t = by.get(parentOf(start)); t; t = by.get(parentOf(t))) {
    if (seen.has(t.id)) return t.id === start.id;
    seen.add(t.id);
  }
  return false;
}

/** The rows that are not folded away: {thing, level, count, open, parent}. */
export function unfold({ roots, children }, isOpen) {
  const rows = [];
  const walk = (things, level, parent) => {
    for (const thing of things) {
      const below = children.get(thing.id) || [];
      const open = below.length > 0 && isOpen(thing, below);
      rows.push({ thing, level, count: below.length, open, parent });
      if (open) walk(below, level + 1, thing.id);
    }
  };
  walk(roots, 1, '');
  return rows;
}

/**
 * A tree that is drawn by rows. The options are those of a virtual list, with
 * fill(el, row) and open(thing); further:
 * @param {(thing, below) => boolean} o.isOpen whether a thing begins unfolded
 */
export function treeList(o) {
  const folds = new Map(); // id → open, where the person has said so
  let shape = { roots: [], children: new Map() };
  const isOpen = (thing, below) => folds.get(thing.id) ?? o.isOpen(thing, below);

  const list = virtualList({
    label: o.label,
    role: 'tree',
    height: o.height,
    key: (row) => row.thing.id,
    make: o.make,
    fill(el, row, index) {
      attr(el, 'aria-level', row.level);
      attr(el, 'aria-expanded', row.count ? String(row.open) : null);
      el.style.setProperty('--level', row.level - 1);
      o.fill(el, row, index);
    },
    open(row, index, event) {
      if (event.target instanceof Element && event.target.closest('.fold') && row.count) toggle(row.thing.id, !row.open);
      else o.open(row.thing);
    },
    onkey(row, key) {
      if (key === 'ArrowRight' && row.count && !row.open) toggle(row.thing.id, true);
      else if (key === 'ArrowLeft' && row.open) toggle(row.thing.id, false);
      else if (key === 'ArrowLeft' && row.parent) list.select(row.parent);
      else if (key === ' ' && row.count) toggle(row.thing.id, !row.open);
      else return false;
      return true;
    },
  });

  function draw() {
    list.set(unfold(shape, isOpen));
  }
  function toggle(id, open) {
    folds.set(id, open);
    draw();
  }
  return {
    ...list,
    el: list.el,
    /** Other things, as arrange gives them. */
    set(next) {
      shape = next;
      draw();
    },
  };
}
