// One call made from the console, followed from its start to its end: what it
// asks, what it prints, how it ended.

import { api, path } from './api.js';
import { failure } from './bits.js';
import { cardPlace } from './cards.js';
import { h, put, text } from './dom.js';
import { events } from './events.js';
import { duration } from './format.js';
import { liveOutput } from './output.js';
import { renderResult } from './result.js';
import { state } from './state.js';
import { visibleLine } from './visible.js';

const made = new Set(); // sessions that were made for calls of this page

const POLL = 3_000; // ms between looks at the record while no events come
const WORDS = { __proto__: null, starting: 'Sending …', pending: 'Waiting to run', running: 'Running', completed: 'Completed', error: 'Failed', interrupted: 'Interrupted', refused: 'Not run' };
const ENDS = { __proto__: null, canceled: 'Stopped', denied: 'Denied', rejected: 'Rejected', unattended: 'Nobody answered' };
const OPEN = new Set(['pending', 'running']);
const DOTS = { __proto__: null, starting: 'pending', refused: 'error' };

/** The call an event is about, or ''. */
function callOf(event) {
  if (!event.type.startsWith('call.') || !event.properties) return '';
  return event.type === 'call.started' ? event.properties.call?.id : event.properties.id;
}

async function newSession(agent) {
  const { id } = await api.post('/sessions', { title: 'Tools by hand', ...(agent && { agent }) });
  made.add(id);
  return id;
}

/**
 * A place in which calls run, one at a time.
 * @param {Object} ctx of the page
 * @param {{onState: (busy: boolean) => void, onIssues: (issues: Object[]) => void, onSession: (id: string) => void}} told
 */
export function runner(ctx, { onState, onIssues, onSession }) {
  let call = null; // {tool, input, id, session, state, began, ended, early, waits, output}
  const dot = h('span', { class: 'dot', 'aria-hidden': 'true' });
  const word = h('b', { role: 'status' });
  const took = h('span', { class: 'dim num' });
  const title = h('span', { class: 'dim ellipsis grow' });
  const link = h('a', { class: 'button quiet', href: '#/sessions' }, 'In its session');
  const aside = h('button', { type: 'button', onclick: () => send('background') }, 'To the background');
  const stop = h('button', { type: 'button', class: 'danger', onclick: () => send('cancel') }, 'Stop');
  // In a session made for calls of this page, what waits waits for this one.
  const asks = cardPlace(ctx, { fits: (r) => r.sessionID === call.session && (made.has(call.session) || r.tool?.callID === call.id) });
  asks.el.setAttribute('aria-live', 'polite');
  const body = h('div', { class: 'run-body' });
  const el = h('section', { class: 'card run', 'aria-label': 'The call', hidden: true },
    h('div', { class: 'run-head' }, dot, word, took, title, link, aside, stop), asks.el, body);

  const busy = () => !!call && !call.ended;

  function draw() {
    const s = call.state;
    dot.dataset.state = DOTS[s] || s;
    text(word, call.waits && busy() ? 'Waits for you' : ENDS[call.kind] || WORDS[s] || s);
    text(took, duration((call.ended || Date.now()) - call.began));
    text(title, visibleLine(call.title || ''));
    link.hidden = !call.session;
    if (call.session) link.setAttribute('href', `#/sessions/${encodeURIComponent(call.session)}${call.id ? '/calls/' + encodeURIComponent(call.id) : ''}`);
    stop.hidden = !busy();
    aside.hidden = !busy() || !call.output;
    stop.disabled = !call.id;
  }

  /** Brings the call into sight, once: where it then is, is the person's to say. */
  function reveal() {
    if (call.revealed || el.getBoundingClientRect().bottom <= innerHeight) return;
    call.revealed = true;
    el.scrollIntoView({ block: 'start' });
  }

  /** A new call takes the place of the one before. */
  async function start(request) {
    if (busy()) return;
    const mine = { ...request, state: 'starting', began: Date.now(), early: [], waits: false };
    call = mine;
    el.hidden = false;
    asks.clear();
    put(body);
    onState(true);
    draw();
    try {
      const { tool, input, agent } = request;
      const session = request.session || (await newSession(agent));
      const got = await api.post('/calls', { tool, input, session, wait: false, ...(agent && { agent }) });
      if (call !== mine) return;
      Object.assign(mine, { id: got.id, session: got.session, state: 'pending' });
      onSession(got.session);
      const early = mine.early;
      mine.early = null;
      for (const event of early) hear(event); // some came before we knew its name
      drawAsks();
      draw();
    } catch (err) {
      if (call !== mine) return;
      put(body, failure(err));
      finish({ state: 'refused' });
      if (err.issues?.length) onIssues(err.issues.map(({ path: at = [], message }) => ({ path: at[0] === 'body' && at[1] === 'input' ? at.slice(2) : at, message })));
    }
  }

  function hear(event) {
    if (!busy()) return;
    if (event.type === 'reload') return void look();
    const id = callOf(event);
    if (!id) return;
    if (call.early) return void (call.early.length < 1000 && call.early.push(event));
    if (id !== call.id) return;
    const p = event.properties;
    if (event.type === 'call.running') call.state = 'running';
    else if (event.type === 'call.progress') call.latest = p; // each replaces the one before: the last of a frame is shown
    else if (event.type === 'call.finished') return finish(p);
    draw();
  }

  function progress() {
    if (!busy() || !call.latest) return;
    const { title: t, metadata } = call.latest;
    call.latest = null;
    call.state = 'running';
    if (t) call.title = t;
    if (typeof metadata?.output === 'string') {
      if (!call.output) {
        call.output = liveOutput();
        put(body, call.output.el);
      }
      call.output.set(metadata.output);
    } else if (metadata) {
      put(body, renderResult({ tool: call.tool, input: call.input, state: 'running', title: t, metadata }));
    }
    draw();
    reveal();
  }

  /** The end, told by an event or read from the record. */
  function finish({ state: s, result, error, started, ended }) {
    call.output?.end();
    call.state = s;
    call.kind = error?.kind;
    call.ended = ended && started ? call.began + (ended - started) : Date.now();
    if (result?.title) call.title = result.title;
    asks.clear();
    if (!result && !error && s === 'interrupted') put(body, h('p', { class: 'dim' }, 'The server ended before this call did. What it had done by then stays done.'));
    if (result || error) {
      put(body, renderResult({ tool: call.tool, input: call.input, result, error, state: s, title: result?.title, metadata: result?.metadata }), error && call.output?.el); // what it had printed stays in sight
      if (error?.code === 'invalid_input' || error?.kind === 'invalid_input') onIssues(error.issues || []);
    }
    draw();
    reveal();
    onState(false);
  }

  /** Looks at the record: the events do not come, or some were missed. */
  async function look() {
    const mine = call;
    if (!mine?.id || mine.ended) return;
    try {
      const record = await api.get(path('sessions', mine.session, 'calls', mine.id));
      if (call === mine && busy() && !OPEN.has(record.state)) finish(record);
    } catch (err) {
      if (err.status !== 404 || call !== mine || !busy()) return; // looked at again soon
      finish({ state: 'error', error: { kind: 'internal', code: 'gone', message: 'The server does not know this call any more.', hint: 'It may have been started anew.' } });
    }
  }

  async function send(what) {
    const { session, id } = call;
    try {
      await api.post(path('sessions', session, 'calls', id, what));
    } catch (err) {
      if (err.status !== 404) ctx.toast(err.message, 'bad');
      look();
    }
  }

  /** The requests that wait because of this call. */
  function drawAsks() {
    if (!busy() || !call.id) return;
    const { waiting, came } = asks.update();
    call.waits = waiting > 0;
    if (came) reveal();
    draw();
  }

  const offEvents = events.on(hear);
  const offFlush = events.onFlush(progress);
  const offState = state.on(drawAsks);
  const tick = setInterval(() => {
    if (busy()) draw();
  }, 200);
  const poll = setInterval(() => {
    if (busy() && events.status !== 'live') look();
  }, POLL);
  return {
    el, start, busy,
    cleanup() {
      offEvents();
      offFlush();
      offState();
      clearInterval(tick);
      clearInterval(poll);
    },
  };
}
