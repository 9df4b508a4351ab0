// When calls ran, as bars on one scale of time: which part of it is shown, and
// where on it things stand.

import { attr, h, text } from './dom.js';
import { clock, duration } from './format.js';
import { icon } from './icons.js';

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 144e5, 288e5, 864e5];
const LEAST = 20; // ms in sight
const EVERY = 90; // px between two ticks, about

/** The times at which a scale is marked, for about n marks. */
export function ticks(from, to, n) {
  const span = Math.max(1, to - from);
  const step = STEPS.find((s) => span / s <= n) || STEPS.at(-1) * Math.ceil(span / n / STEPS.at(-1));
  const out = [];
  for (let t = Math.ceil(from / step) * step; t <= to && out.length < 100; t += step) out.push(t);
  return { step, times: out };
}

/**
 * A scale with its head: marks, zoom, what it follows. mode is 'rows' (the
 * rows in sight), 'all', 'now' (the last while), or 'free' after zooming.
 * @param {() => {first: number, last: () => number, rows: Array}} extent all there is, and the rows in sight
 * @param {() => void} changed the bars have to be drawn again
 */
export function timeScale(extent, changed) {
  let mode = 'rows';
  let from = 0;
  let to = 1;
  let width = 600;

  const axis = h('div', { class: 'wf-axis', 'aria-hidden': 'true' });
  const modes = [['rows', 'Rows', 'The time of the rows in sight'], ['all', 'All', 'The whole session'], ['now', 'Now', 'The last while, following the clock']]
    .map(([name, label, title]) => h('button', { type: 'button', title, 'data-mode': name, onclick: () => setMode(name) }, label));
  const bar = h('div', { class: 'row wf-tools', role: 'group', 'aria-label': 'Scale of time' },
    h('div', { class: 'segments' }, modes),
    h('div', { class: 'segments' },
      h('button', { type: 'button', class: 'icon', 'aria-label': 'Zoom out', title: 'Zoom out (−)', onclick: () => zoom(2) }, icon('minus')),
      h('button', { type: 'button', class: 'icon', 'aria-label': 'Zoom in', title: 'Zoom in (+)', onclick: () => zoom(0.5) }, icon('plus'))));

  function setMode(next) {
    mode = next;
    for (const b of modes) attr(b, 'aria-pressed', String(b.dataset.mode === mode));
    changed();
  }

  /** Sets the window from what there is; true where it has moved. */
  function update(now = Date.now()) {
    const before = from * 3 + to;
    const e = extent();
    if (mode === 'all') [from, to] = [e.first, Math.max(e.last(), e.first + LEAST)];
    if (mode === 'now') [from, to] = [now - (to - from > LEAST && to - from < 36e5 ? to - from : 6e4), now];
    if (mode === 'rows' && e.rows.length) {
      from = Infinity;
      to = 0;
      for (const r of e.rows) {
        from = Math.min(from, r.started);
        to = Math.max(to, r.ended || (r.state === 'running' || r.state === 'pending' ? now : r.started));
      }
      const pad = Math.max(LEAST, (to - from) * 0.02);
      from -= pad;
      to += pad;
    }
    if (!(to > from)) to = from + LEAST;
    const moved = before !== from * 3 + to;
    if (moved) drawAxis();
    return moved;
  }

  function drawAxis() {
    const { step, times } = ticks(from, to, Math.max(2, width / EVERY));
    const label = (t) => (step < 1000 ? `${clock(t).slice(3)}.${String(Math.floor(t % 1000)).padStart(3, '0')}` : step < 36e5 ? clock(t) : clock(t).slice(0, 5));
    while (axis.children.length < times.length) axis.append(h('span', { class: 'wf-tick' }));
    [...axis.children].forEach((tick, i) => {
      tick.hidden = i >= times.length;
      if (tick.hidden) return;
      text(tick, label(times[i]));
      tick.style.setProperty('left', `${x(times[i])}%`);
    });
  }

  const x = (t) => ((t - from) / (to - from)) * 100;

  function zoom(factor, at = 0.5) {
    const span = Math.max(LEAST, (to - from) * factor);
    const fixed = mode === 'now' ? to : from + (to - from) * at;
    const share = mode === 'now' ? 1 : at;
    from = fixed - span * share;
    to = from + span;
    free();
  }
  function pan(share) {
    const d = (to - from) * share;
    from += d;
    to += d;
    mode = mode === 'now' ? 'free' : mode;
    free();
  }
  function free() {
    if (mode !== 'now') mode = 'free';
    for (const b of modes) attr(b, 'aria-pressed', String(b.dataset.mode === mode));
    drawAxis();
    changed();
  }

  axis.addEventListener('wheel', (e) => {
    e.preventDefault();
    const box = axis.getBoundingClientRect();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan((e.deltaX || e.deltaY) / box.width);
    else zoom(Math.exp(e.deltaY / 300), (e.clientX - box.left) / box.width);
  }, { passive: false });
  axis.addEventListener('pointerdown', (e) => {
    axis.setPointerCapture(e.pointerId);
    let last = e.clientX;
    const move = (m) => {
      pan((last - m.clientX) / axis.clientWidth);
      last = m.clientX;
    };
    const end = () => {
      axis.removeEventListener('pointermove', move);
      axis.removeEventListener('pointerup', end);
      axis.removeEventListener('pointercancel', end);
    };
    axis.addEventListener('pointermove', move);
    axis.addEventListener('pointerup', end);
    axis.addEventListener('pointercancel', end);
  });
  const sized = new ResizeObserver(([entry]) => {
    width = entry.contentRect.width || width;
    drawAxis();
  });
  sized.observe(axis);
  for (const b of modes) attr(b, 'aria-pressed', String(b.dataset.mode === mode));

  return {
    axis, bar, update, setMode,
    get mode() {
      return mode;
    },
    /** Puts a bar where a call stands; what is out of the window is marked at its edge. */
    place(el, call, now) {
      const end = call.ended || (call.state === 'running' || call.state === 'pending' ? now : call.started);
      const a = x(call.started);
      const b = x(end);
      const out = b < 0 ? 'before' : a > 100 ? 'after' : '';
      attr(el, 'data-out', out || null);
      const left = out ? (out === 'before' ? 0 : 100) : Math.max(0, a);
      el.style.setProperty('left', `${left}%`);
      el.style.setProperty('width', out ? '0' : `${Math.max(0, Math.min(100, b) - left)}%`);
    },
    /** Keys of the list: true when one was used. */
    key(key) {
      if (key === '+' || key === '=') zoom(0.5);
      else if (key === '-' || key === '−') zoom(2);
      else if (key === '0') setMode('rows');
      else if (key === 'ArrowLeft') pan(-0.2);
      else if (key === 'ArrowRight') pan(0.2);
      else return false;
      return true;
    },
    destroy: () => sized.disconnect(),
  };
}

/** Sets the text that says how long a call took, or has taken until now. */
export function took(el, call, now) {
  const running = call.state === 'running' || call.state === 'pending';
  text(el, call.ended ? duration(call.ended - call.started) : running ? duration(now - call.started) : '');
}
