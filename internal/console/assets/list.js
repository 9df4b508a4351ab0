// A list that draws only the rows in sight. All rows have one height, so the
// place of each is known without measuring; scrolling moves and refills the
// same few elements.

import { attr, h } from './dom.js';

const AROUND = 6; // rows drawn above and below the sight
let serial = 0;

/**
 * @param {Object} o
 * @param {string} o.label what the list is, for those who can not see it
 * @param {() => number} o.height of a row in px, asked again when the list is resized
 * @param {(item, index) => string} o.key the same for the same thing
 * @param {() => HTMLElement} o.make an empty row
 * @param {(el, item, index) => void} o.fill puts an item into a row
 * @param {(item, index, event) => void} o.open a row was clicked, or Enter was pressed on it
 * @param {(item, key, index) => boolean} [o.onkey] a key on a row; true when it was used
 * @param {string} [o.role] of the list: listbox, or tree
 * @param {boolean} [o.follow] stay at the end while it is in sight
 * @param {() => void} [o.before] called before rows are drawn, when it is known which are in sight
 */
export function virtualList(o) {
  const id = `list${++serial}`;
  const itemRole = o.role === 'tree' ? 'treeitem' : 'option';
  const space = h('div', { class: 'vlist-space', role: 'presentation' });
  const el = h('div', { class: 'vlist', role: o.role || 'listbox', tabindex: 0, 'aria-label': o.label, id }, space);

  let items = [];
  let row = o.height();
  let active = -1;
  let activeKey = '';
  let first = 0;
  let last = -1; // inclusive
  let atEnd = !!o.follow;
  let pending = 0;
  let top = 0; // as they were when it was drawn last
  let seen = 0;
  let tall = -1; // height of the space as it was set last
  const drawn = new Map(); // index → element
  const spare = [];

  function range() {
    // Read once a frame, before anything is written: each reading after a
    // writing would cost a layout.
    top = el.scrollTop;
    seen = el.clientHeight;
    return [Math.max(0, Math.floor(top / row) - AROUND), Math.min(items.length - 1, Math.ceil((top + seen) / row) + AROUND)];
  }

  function place(index) {
    let node = drawn.get(index);
    if (!node) {
      node = spare.pop() || o.make();
      node.setAttribute('role', itemRole);
      node.classList.add('vrow');
      node.id = `${id}-${index}`;
      node.dataset.index = index;
      node.style.setProperty('transform', `translateY(${index * row}px)`);
      attr(node, 'aria-posinset', index + 1);
      node.hidden = false;
      drawn.set(index, node);
      if (!node.isConnected) space.append(node);
    }
    attr(node, 'aria-setsize', items.length);
    attr(node, 'aria-selected', index === active ? 'true' : 'false');
    o.fill(node, items[index], index);
  }

  function draw() {
    pending = 0;
    const height = items.length * row;
    if (height !== tall) {
      tall = height;
      space.style.setProperty('height', `${height}px`);
    }
    if (atEnd) el.scrollTop = height;
    [first, last] = range();
    for (const [index, node] of drawn) {
      if (index < first || index > last) {
        drawn.delete(index);
        node.hidden = true;
        node.removeAttribute('id');
        spare.push(node);
      }
    }
    if (o.before) o.before();
    for (let i = first; i <= last; i++) place(i);
    attr(el, 'aria-activedescendant', drawn.has(active) ? `${id}-${active}` : null);
  }

  function soon() {
    if (!pending) pending = requestAnimationFrame(draw);
  }

  function show(index) {
    const y = index * row;
    if (y < el.scrollTop) el.scrollTop = y;
    else if (y + row > el.scrollTop + el.clientHeight) el.scrollTop = y + row - el.clientHeight;
  }

  function activate(index) {
    if (!items.length) return;
    active = Math.max(0, Math.min(items.length - 1, index));
    activeKey = o.key(items[active], active);
    atEnd = !!o.follow && active === items.length - 1;
    show(active);
    soon();
  }

  /** Where things are now, after others came or went: the row at the top stays where it is. */
  function anchor(next) {
    const at0 = Math.floor(el.scrollTop / row);
    const key = items[at0] && o.key(items[at0], at0);
    let moved = 0;
    if (!atEnd && key !== undefined && !(next[at0] && o.key(next[at0], at0) === key)) {
      const at = next.findIndex((item, i) => o.key(item, i) === key);
      if (at >= 0) moved = at - at0;
    }
    if (activeKey && !(next[active] && o.key(next[active], active) === activeKey)) {
      active = next.findIndex((item, i) => o.key(item, i) === activeKey);
      if (active < 0) activeKey = '';
    }
    return moved;
  }

  el.addEventListener('scroll', () => {
    atEnd = !!o.follow && el.scrollTop + el.clientHeight >= items.length * row - row / 2;
    soon();
  }, { passive: true });
  el.addEventListener('click', (e) => {
    const node = e.target.closest('.vrow');
    if (!node || e.target.closest('a, button:not(.vrow), input')) return;
    const index = Number(node.dataset.index);
    activate(index);
    o.open(items[index], index, e);
  });
  el.addEventListener('focus', () => {
    if (active < 0 && items.length) activate(o.follow && atEnd ? items.length - 1 : Math.ceil(el.scrollTop / row));
  });
  el.addEventListener('keydown', (e) => {
    if (e.target !== el || e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, Math.floor(el.clientHeight / row) - 1);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (e.key in steps) activate(steps[e.key] === Infinity ? items.length - 1 : steps[e.key] === -Infinity ? 0 : active + steps[e.key]);
    else if (e.key === 'Enter' && items[active]) o.open(items[active], active, e);
    else if (!(items[active] && o.onkey && o.onkey(items[active], e.key, active))) return;
    e.preventDefault();
  });

  const resized = new ResizeObserver(() => {
    const next = o.height();
    if (next !== row) {
      const rows = el.scrollTop / row;
      row = next;
      for (const node of drawn.values()) {
        node.hidden = true;
        spare.push(node);
      }
      drawn.clear();
      tall = items.length * row;
      space.style.setProperty('height', `${tall}px`);
      el.scrollTop = rows * row;
    }
    el.style.setProperty('--row', `${row}px`);
    soon();
  });
  resized.observe(el);
  el.style.setProperty('--row', `${row}px`);

  return {
    el,
    /** Other items. What was in sight stays in sight. */
    set(next) {
      const moved = anchor(next);
      items = next;
      if (moved) {
        // The new height must be there before the scrolling, or it ends too early.
        tall = items.length * row;
        space.style.setProperty('height', `${tall}px`);
        el.scrollTop += moved * row;
      }
      soon();
    },
    /** The same items, of which some have changed. */
    refresh: soon,
    /** First and last item in sight. */
    sight() {
      const from = Math.max(0, Math.floor(top / row));
      const to = Math.min(items.length - 1, Math.ceil((top + seen) / row) - 1);
      return { from, to, items };
    },
    /** Marks the item of a key and brings it into sight. */
    select(key) {
      const at = items.findIndex((item, i) => o.key(item, i) === key);
      if (at >= 0) activate(at);
      return at >= 0;
    },
    /** Follows the end from now on, or no more. */
    follow(on) {
      atEnd = on && !!o.follow;
      soon();
    },
    get active() {
      return items[active];
    },
    focus: () => el.focus(),
    destroy() {
      resized.disconnect();
      if (pending) cancelAnimationFrame(pending);
    },
  };
}
