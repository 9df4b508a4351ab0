// What the cards of requests and questions share: a click counts only on a
// card that has stood still, the time that is left is shown, and what was
// answered elsewhere is told.

import { api, path } from './api.js';
import { attr, h, put, text } from './dom.js';
import { events } from './events.js';
import { state } from './state.js';
import { visibleLine } from './visible.js';

/** How long a card has to stand still before it takes an answer. */
const still = 400;

let moved = -Infinity; // when any card last came, went or changed its size

const now = () => performance.now();
const watched = new Set(); // of {card, since, seen, onScreen, shown, timer, tell}

/** Whether a card has stood still for long enough; 0, or the ms that are missing. */
const missing = (w) => Math.max(0, still - (now() - Math.max(w.since, moved)));

/** Whether what decides can be read: all of it, or as much as there is room for, and nothing lies over it. */
function legible(card) {
  const what = card.querySelector('.asked li') || card.querySelector('.asked, .question, .req-body');
  if (!what) return false;
  const r = what.getBoundingClientRect();
  const foot = card.querySelector('.req-foot')?.offsetHeight || 0;
  const around = ['.ses-cards', '.main'].map((s) => card.closest(s)?.clientHeight).filter(Boolean);
  const room = Math.min(what.closest('.req-body')?.clientHeight || Infinity, ...[innerHeight, ...around].map((n) => n - foot));
  const need = r.height <= room - 4 ? r.height : Math.max(24, room * 0.6);
  const hit = (x, y) => what.contains(document.elementFromPoint(x, y));
  return r.width > 16 && r.height > 0 && [r.top + 2, r.top + need / 2, r.top + need - 2].every((y) => hit(r.left + 6, y) && hit(r.right - 6, y));
}

/** A card counts from when what decides came into view. Who has seen it may scroll on, as long as the card is there. */
function check(w) {
  clearTimeout(w.timer);
  if (w.card.isConnected) w.shown = true;
  else if (w.shown) return void watched.delete(w); // it is gone
  if (!w.onScreen) w.seen = false;
  if (!w.seen) w.since = !w.onScreen || !legible(w.card) ? Infinity : Math.min(w.since, now());
  const ms = missing(w);
  if (ms === 0) w.seen = true;
  w.tell(ms === 0);
  if (ms > 0 && w.onScreen) w.timer = setTimeout(() => check(w), w.since === Infinity ? still : Math.ceil(ms) + 1);
}

/** Says that what is on the page may have moved. */
export function shifted() {
  moved = now();
  for (const w of watched) check(w);
}

const sizes = new ResizeObserver(shifted);

let looking = 0; // what is in view may have changed: looked at once a frame
function look() {
  looking ||= requestAnimationFrame(() => {
    looking = 0;
    for (const w of watched) if (!w.seen) check(w);
  });
}
addEventListener('scroll', look, { capture: true, passive: true });
addEventListener('resize', look);

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
 * answer, and neither is one on a card whose text was not in view. tell(ready)
 * is called when that changes; the function that is returned says how it is
 * now, and its seen() whether the text was in view.
 * @param {HTMLElement} card
 * @param {(ready: boolean) => void} tell
 */
export function steady(card, tell) {
  const w = { card, since: Infinity, seen: false, onScreen: false, shown: false, timer: 0, tell };
  watched.add(w);
  new IntersectionObserver((entries) => {
    w.onScreen = entries.at(-1).isIntersecting;
    check(w);
  }).observe(card);
  sizes.observe(card);
  shifted();
  const ready = () => {
    check(w);
    return missing(w) === 0;
  };
  ready.seen = () => w.since !== Infinity;
  return ready;
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

let rejected = { session: '', at: -Infinity }; // the last that was rejected by itself: others of its session go with it

/** How a request ended, in a word, by the event that tells of it. */
function howEnded({ type, properties: p }) {
  const late = [...clocks].some((c) => c.id === p.requestID && c.expires > 0 && Date.now() > c.expires - 1_000);
  if (type === 'question.replied') return 'answered';
  if (type === 'question.rejected') return late ? 'expired' : 'dismissed';
  if (type !== 'permission.replied') return '';
  if (p.reply !== 'reject') return p.reply;
  if (late) return 'expired';
  if (rejected.session === p.sessionID && now() - rejected.at < 1_000) return 'along';
  rejected = { session: p.sessionID, at: now() };
  return 'reject';
}

events.on((event) => {
  const id = event.properties?.requestID;
  if (!id) return;
  const reply = howEnded(event);
  if (reply === '' || !settled.has(id)) return;
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

/**
 * Turns a card into the line that says how it ended. What was typed and not
 * sent stays in sight, and keeps the focus: what is typed next is for nobody else.
 */
export function settle(card, kind, ...words) {
  const active = document.activeElement;
  const focused = card.contains(active);
  const own = card.getAttribute('aria-busy') === 'true'; // it was answered here
  const kept = own ? [] : [...card.querySelectorAll('textarea')].filter((f) => f === active || (!f.matches('.code') && f.value.trim() !== '')).slice(0, 3);
  for (const field of kept) Object.assign(field, { readOnly: true, disabled: false });
  card.className = 'card request settled';
  card.removeAttribute('aria-labelledby');
  card.removeAttribute('aria-busy');
  put(card, h('p', { class: 'row', role: 'status' }, h('span', { class: kind, 'aria-hidden': 'true' }, { ok: '✓', bad: '✕' }[kind] || '·'), h('span', { class: 'grow' }, words)),
    kept.length > 0 && h('label', { class: 'field small' }, 'What you had written; it was not sent', kept));
  card.tabIndex = -1;
  if (focused) (kept.includes(active) ? active : card).focus({ preventScroll: true });
  shifted();
  card.dispatchEvent(new CustomEvent('settled', { bubbles: true, detail: { own } }));
}

// --- who asks

const tools = new Map(); // call id → the name of its tool, of calls that events told of or that were asked for
const maxTools = 2000;

function remember(call, tool) {
  if (!call || typeof tool !== 'string' || tool === '') return;
  if (tools.size >= maxTools) tools.delete(tools.keys().next().value);
  tools.set(call, tool);
}

events.on(({ type, properties: p }) => {
  if (type === 'call.started') remember(p?.call?.id, p?.call?.tool);
});

/** The tool whose call is the reason of a request, as soon as it is known. */
export function toolName(req) {
  const el = h('span');
  const call = req.tool?.callID;
  const show = () => put(el, tools.has(call) && ['tool ', h('span', { class: 'mono' }, visibleLine(tools.get(call).slice(0, 100))), ' · ']);
  async function ask() {
    try {
      remember(call, (await api.get(path('sessions', String(req.sessionID ?? ''), 'calls', String(call))))?.tool);
      show();
      shifted();
    } catch {
      // the card says what is asked for all the same
    }
  }
  show();
  if (call && !tools.has(call)) ask();
  return el;
}

/** Where the request comes from: its session, and the call. */
export function origin(req) {
  const id = String(req.sessionID ?? '');
  const session = state.sessions.get(id);
  const title = typeof session?.title === 'string' && session.title ? session.title : id || 'no session';
  const place = '#/sessions/' + encodeURIComponent(id);
  return { title, place, call: req.tool?.callID ? `${place}/calls/${encodeURIComponent(req.tool.callID)}` : '', agent: typeof session?.agent === 'string' ? session.agent : '' };
}

/** The links to where a request comes from, and the agent; true as soon as the session is known. */
export function asker(req) {
  const agent = h('span');
  const link = h('a');
  const { call } = origin(req);
  const el = h('span', null, agent, link, call ? [' · ', h('a', { href: call }, 'the call')] : null);
  let shown = false;
  function draw() {
    shown ||= el.isConnected;
    if (shown && !el.isConnected) return void off();
    const from = origin(req);
    text(agent, from.agent ? `agent ${visibleLine(from.agent)} · ` : '');
    text(link, visibleLine(from.title.slice(0, 120)));
    attr(link, 'href', from.place);
  }
  const off = state.on(draw);
  draw();
  return el;
}
