// What the cards of requests and questions share: a click counts only on a
// card that has stood still, the time that is left is shown, and what was
// answered elsewhere is told.

import { h, put, text } from './dom.js';
import { events } from './events.js';
import { state } from './state.js';

/** How long a card has to stand still before it takes an answer. */
const still = 400;

let moved = -Infinity; // when any card last came, went or changed its size

const now = () => performance.now();
const watched = new Set(); // of {card, since, shown, timer, tell}

/** Whether a card has stood still for long enough; 0, or the ms that are missing. */
const missing = (w) => Math.max(0, still - (now() - Math.max(w.since, moved)));

function check(w) {
  clearTimeout(w.timer);
  if (w.card.isConnected) w.shown = true;
  else if (w.shown) return void watched.delete(w); // it is gone
  const ms = missing(w);
  w.tell(ms === 0);
  if (ms > 0 && w.since !== Infinity) w.timer = setTimeout(() => check(w), Math.ceil(ms) + 1);
}

/** Says that what is on the page may have moved. */
export function shifted() {
  moved = now();
  for (const w of watched) check(w);
}

const sizes = new ResizeObserver(shifted);

// Where the browser tells it, also what moves a card from outside counts. To
// scroll is no such move: who scrolls looks.
if (PerformanceObserver.supportedEntryTypes?.includes('layout-shift')) {
  new PerformanceObserver((list) => {
    const nodes = list.getEntries().flatMap((e) => (e.sources || []).map((s) => s.node)).filter(Boolean);
    for (const w of watched) {
      if (!nodes.some((node) => node.contains(w.card) || w.card.contains(node))) continue;
      if (w.since !== Infinity) w.since = now();
      check(w);
    }
  }).observe({ type: 'layout-shift' });
}

/**
 * Watches a card: a click that was meant for what stood here before is no
 * answer. tell(ready) is called when that changes; the function that is
 * returned says how it is now.
 * @param {HTMLElement} card
 * @param {(ready: boolean) => void} tell
 */
export function steady(card, tell) {
  const w = { card, since: Infinity, shown: false, timer: 0, tell };
  watched.add(w);
  new IntersectionObserver((entries) => {
    const visible = entries.at(-1).isIntersecting;
    if (!visible) w.since = Infinity;
    else if (w.since === Infinity) w.since = now();
    check(w);
  }).observe(card);
  sizes.observe(card);
  shifted();
  return () => missing(w) === 0;
}

// --- the time that is left

const clocks = new Set();
let ticking = 0;

function left(ms) {
  if (ms <= 0) return 'time is up';
  const s = Math.ceil(ms / 1000);
  if (s < 60) return `${s} s left`;
  const min = Math.ceil(s / 60);
  return min < 120 ? `${min} min left` : `${Math.round(min / 60)} h left`;
}

/** The list is loaded anew after an event, which does not say when it expires. */
function expiry(clock) {
  if (clock.expires > 0) return clock.expires;
  const found = [...state.permissions, ...state.questions].find((r) => r.id === clock.id);
  clock.expires = Number(found?.expires) || 0;
  return clock.expires;
}

function tick() {
  for (const clock of clocks) {
    if (clock.el.isConnected) clock.shown = true;
    else if (clock.shown) clocks.delete(clock);
    const at = expiry(clock);
    if (at > 0) {
      const ms = at - Date.now();
      text(clock.el, left(ms));
      clock.el.classList.toggle('warn', ms < 60_000);
    }
  }
  if (clocks.size === 0) {
    clearInterval(ticking);
    ticking = 0;
  }
}

/** Shows how long a request still waits. */
export function countdown(req) {
  const el = h('span', { class: 'small dim num nowrap', title: 'Without an answer until then it is rejected' });
  clocks.add({ el, id: req.id, expires: Number(req.expires) || 0, shown: false });
  ticking ||= setInterval(tick, 1000);
  tick();
  return el;
}

// --- answers from elsewhere

const settled = new Map(); // request id → functions to call with how it ended

events.on((event) => {
  const id = event.properties?.requestID;
  if (!id || !settled.has(id)) return;
  const reply = event.type === 'permission.replied' ? event.properties.reply : event.type === 'question.replied' ? 'answered' : event.type === 'question.rejected' ? 'dismissed' : '';
  if (reply === '') return;
  const told = settled.get(id);
  settled.delete(id);
  for (const fn of told) fn(reply);
});

/** Calls fn once, with how the request ended, if that is told. Returns off(). */
export function onSettled(id, fn) {
  if (!settled.has(id)) settled.set(id, new Set());
  settled.get(id).add(fn);
  return () => {
    settled.get(id)?.delete(fn);
    if (settled.get(id)?.size === 0) settled.delete(id);
  };
}

/** Turns a card into the line that says how it ended. */
export function settle(card, kind, ...words) {
  const focused = card.contains(document.activeElement);
  card.className = 'card request settled';
  card.removeAttribute('aria-labelledby');
  put(card, h('p', { class: 'row', role: 'status' }, h('span', { class: kind, 'aria-hidden': 'true' }, { ok: '✓', bad: '✕' }[kind] || '·'), h('span', { class: 'grow' }, words)));
  card.tabIndex = -1;
  if (focused) card.focus({ preventScroll: true });
  shifted();
  card.dispatchEvent(new CustomEvent('settled', { bubbles: true }));
}

/** Where the request comes from: its session, and the call. */
export function origin(req) {
  const id = String(req.sessionID ?? '');
  const session = state.sessions.get(id);
  const title = typeof session?.title === 'string' && session.title ? session.title : id || 'no session';
  const place = '#/sessions/' + encodeURIComponent(id);
  return { title, place, call: req.tool?.callID ? `${place}/calls/${encodeURIComponent(req.tool.callID)}` : '', agent: typeof session?.agent === 'string' ? session.agent : '' };
}
