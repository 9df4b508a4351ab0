// The calls of a session: a row each, with a bar that says when it ran.

import { attr, h, put, text } from './dom.js';
import { clock, outcome, plural } from './format.js';
import { virtualList } from './list.js';
import { why } from './pieces.js';
import { state } from './state.js';
import { visibleLine } from './visible.js';
import { timeScale, took } from './waterfall.js';

const STATES = ['running', 'completed', 'error', 'interrupted'];
const rowHeight = () => (matchMedia('(max-width: 720px)').matches ? 52 : 30);

function makeRow() {
  return h('div', { class: 'call-row' },
    h('span', { class: 'dot' }), h('span', { class: 'call-tool mono ellipsis' }), h('span', { class: 'call-title ellipsis' }),
    h('span', { class: 'call-took num dim' }), h('span', { class: 'wf-track' }, h('span', { class: 'wf-bar' }), h('span', { class: 'sr' })));
}

/**
 * @param {Object} feed of the session
 * @param {(id: string) => void} open goes to a call
 */
export function callsView(feed, open) {
  let tool = '';
  let want = '';
  let words = [];
  let rows = [];
  let tools = 0; // how many the picker offers
  let looked = false;
  let stale = true;

  const filter = h('input', { type: 'search', placeholder: 'Filter calls', 'aria-label': 'Filter calls by text', 'data-filter': '' });
  const toolPick = h('select', { 'aria-label': 'Tool' });
  const statePick = h('select', { 'aria-label': 'State' }, h('option', { value: '' }, 'Any state'), STATES.map((s) => h('option', { value: s }, s)));
  const shown = h('span', { class: 'dim num small', role: 'status' });
  const bar = h('progress', { max: 1, hidden: true, 'aria-label': 'Loading calls' });
  const none = h('div', { class: 'empty', hidden: true });

  const scale = timeScale(extent, () => list.refresh());
  const list = virtualList({
    label: 'Calls', height: rowHeight, follow: true, key: (c) => c.id, make: makeRow, fill,
    open: (c) => open(c.id),
    onkey: (c, key) => scale.key(key),
    before: () => scale.update(),
  });
  const head = h('div', { class: 'call-row call-head', 'aria-hidden': 'true' }, h('span'), h('span', { class: 'call-tool' }, 'Tool'), h('span', { class: 'call-title' }, 'Call'), h('span', { class: 'call-took' }, 'Took'), scale.axis);
  const el = h('div', { class: 'calls' },
    h('div', { class: 'row wrap calls-bar' }, filter, toolPick, statePick, shown, h('span', { class: 'grow' }), scale.bar), bar, head, list.el, none);

  function extent() {
    const { from, to, items } = list.sight();
    const all = feed.order;
    return {
      rows: items.slice(from, to + 1),
      first: all.length ? all[0].started : 0,
      last: () => (feed.live.size ? Date.now() : all.reduce((max, c) => Math.max(max, c.ended || c.started), 0)),
    };
  }

  function fill(row, call) {
    const [dot, name, title, time, track] = row.children;
    const now = Date.now();
    const come = outcome(call.state, call.exit);
    attr(dot, 'data-state', come);
    text(name, visibleLine(call.tool));
    const { permissions, questions } = state.requestsOf(feed.id, call.id);
    const waits = permissions.length + questions.length > 0;
    const what = visibleLine(((call.error ? why(call.error) : call.title) || '').slice(0, 300));
    text(title, (call.parent ? '↳ ' : '') + [waits && 'waits for you', what].filter(Boolean).join(': '));
    attr(title, 'class', `call-title ellipsis${call.error ? ' bad' : waits ? ' warn' : ''}`);
    took(time, call, now);
    text(track.lastChild, waits ? 'waits for you' : call.exit ? (call.exit < 0 ? 'ended by a signal' : `exit ${call.exit}`) : call.state); // what the colours say
    attr(row, 'data-open', call.id === current ? 'true' : null);
    const wf = track.firstChild;
    attr(wf, 'data-state', waits ? 'waiting' : come);
    attr(track, 'title', `${clock(call.started)} – ${call.ended ? clock(call.ended) : call.state === 'interrupted' ? '?' : 'now'}`);
    scale.place(wf, call, now);
  }

  function fits(c) {
    if (tool && c.tool !== tool) return false;
    if (want && (want === 'running' ? c.state !== 'running' && c.state !== 'pending' : c.state !== want)) return false;
    if (!words.length) return true;
    const hay = `${c.tool} ${c.title || ''} ${c.error ? c.error.message + ' ' + c.error.code + ' ' + c.error.kind : ''} ${c.id} ${c.agent || ''}`.toLowerCase();
    return words.every((w) => hay.includes(w));
  }

  function draw() {
    const all = feed.order;
    rows = tool || want || words.length ? all.filter(fits) : all;
    list.set(rows);
    if (wanted && list.select(current)) wanted = false; // it came with a later page
    drawTools();
    const loading = feed.loading.calls;
    bar.hidden = !loading;
    text(shown, loading ? `${plural(feed.loading.done, 'call')}, loading …` : rows.length === all.length ? plural(all.length, 'call') : `${rows.length.toLocaleString('en')} of ${plural(all.length, 'call')}`);
    none.hidden = rows.length > 0 || loading;
    head.hidden = list.el.hidden = rows.length === 0;
    if (!rows.length) put(none, all.length ? 'No call fits the filter.' : feed.error ? 'The calls could not be loaded.' : 'No tool was called here yet.');
  }

  function drawTools() {
    if (feed.tools.size === tools) return;
    tools = feed.tools.size;
    const names = [...feed.tools].sort();
    put(toolPick, h('option', { value: '' }, 'Any tool'), names.map((n) => h('option', { value: n }, n)));
    toolPick.value = tool;
  }

  let current = '';
  let wanted = false; // the open call is not in the list yet
  let ticking = 0;
  /** While something runs, its bar grows; otherwise nothing is drawn. */
  function tick() {
    ticking = 0;
    if (!looked || document.hidden) return;
    const { from, to, items } = list.sight();
    const running = items.slice(from, to + 1).some((c) => c.state === 'running' || c.state === 'pending');
    if (running || scale.mode === 'now') list.refresh();
  }
  const timer = setInterval(() => {
    if (looked && !ticking) ticking = requestAnimationFrame(tick);
  }, 250);

  filter.addEventListener('input', () => {
    words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    draw();
  });
  filter.addEventListener('keydown', (e) => {
    if (e.key !== 'Enter' && e.key !== 'ArrowDown') return;
    e.preventDefault();
    list.focus();
  });
  toolPick.addEventListener('change', () => {
    tool = toolPick.value;
    draw();
  });
  statePick.addEventListener('change', () => {
    want = statePick.value;
    draw();
  });
  const off = state.on(() => list.refresh()); // what waits may have changed

  return {
    el,
    /** Whether it is looked at. */
    show(on) {
      looked = on;
      if (on && stale) draw();
      if (on) stale = false;
    },
    focus: () => list.focus(),
    /** Something has changed in the feed. */
    update(dirty) {
      if (!looked) stale = true;
      else if (dirty.calls) draw();
      else if (dirty.rows) list.refresh();
    },
    /** Marks the call that is open. */
    current(id) {
      current = id;
      if (id) wanted = !list.select(id);
      list.refresh();
    },
    destroy() {
      clearInterval(timer);
      if (ticking) cancelAnimationFrame(ticking);
      off();
      list.destroy();
      scale.destroy();
    },
  };
}
