// One call: what was asked, how it gets on, what came of it, and what can be
// done about it.

import { api, explain, path } from './api.js';
import { attr, h, put, text } from './dom.js';
import { ended } from './feed.js';
import { clock, duration, full, outcome } from './format.js';
import { icon } from './icons.js';
import { liveOutput } from './output.js';
import { renderGiven, renderInput, renderResult } from './result.js';
import { state } from './state.js';
import { visibleLine } from './visible.js';

const KINDS = { __proto__: null, completed: 'ok', error: 'bad', interrupted: 'warn', running: 'info', pending: 'info' };

/** A link to the session that a call has started, where its report or result names one. */
export function startedSession(metadata) {
  const id = metadata && (metadata.sessionId || metadata.sessionID);
  const session = typeof id === 'string' && state.sessions.get(id);
  return session ? h('a', { class: 'button', href: `#/sessions/${encodeURIComponent(id)}` }, icon('sessions'), 'Go to the subagent') : null;
}

/** What a running call tells: growing text as text, other reports by their shape. */
export function liveView() {
  const out = liveOutput();
  const rest = h('div');
  let grows = false;
  const el = h('div', { class: 'stack' }, rest);
  return {
    el,
    set(call, live) {
      const metadata = (live && live.metadata) || {};
      if (typeof metadata.output === 'string') {
        if (!grows) el.append(out.el);
        grows = true;
        out.set(metadata.output);
      } else if (Object.keys(metadata).length) {
        put(rest, renderResult({ tool: call.tool, input: live.input, state: 'running', title: live.title, metadata }));
      }
    },
    end: () => grows && out.end(),
  };
}

/**
 * The panel of a call.
 * @param {Object} feed of the session
 * @param {string} id of the call
 * @param {Object} ctx of the page; close() goes back to the list
 */
export function callPanel(feed, id, ctx) {
  let record = null;
  let asked = '';
  let closed = false;
  let drawn = ''; // what the body shows, so that it is not built again for nothing
  let view = null;
  const ask = new AbortController();

  const title = h('h2', { class: 'call-name', tabindex: -1 });
  const badge = h('span', { class: 'badge' });
  const actions = h('div', { class: 'row wrap' });
  const facts = h('dl', { class: 'kv small facts' });
  const body = h('div', { class: 'stack' });
  const el = h('section', { class: 'call-panel', 'aria-label': 'Call' },
    h('div', { class: 'row call-top' },
      h('button', { type: 'button', class: 'quiet icon', 'aria-label': 'Back to the calls', title: 'Close (Esc)', onclick: () => ctx.close() }, icon('back')),
      title, badge, h('span', { class: 'grow' })),
    h('div', { class: 'call-body stack' }, actions, body, facts));

  async function load(why) {
    if (asked === why) return;
    asked = why;
    try {
      const got = await api.get(path('sessions', feed.id, 'calls', id), null, { signal: ask.signal });
      if (closed) return;
      record = got;
      draw();
    } catch (err) {
      if (closed || err.name === 'AbortError') return;
      asked = '';
      if (!record && !feed.calls.get(id)) put(body, h('div', { class: 'note bad' }, err.status === 404 ? 'There is no such call in this session.' : explain(err)));
    }
  }

  async function act(button, what, said) {
    button.disabled = true;
    try {
      await api.post(path('sessions', feed.id, 'calls', id, what));
      ctx.toast(said, 'ok');
    } catch (err) {
      ctx.toast(err.status === 404 ? 'The call does not run here any more.' : explain(err), 'bad');
      button.disabled = false;
    }
  }

  function drawActions(call) {
    const running = !ended(call);
    const metadata = running ? (feed.live.get(id) || {}).metadata : record && record.result && record.result.metadata;
    const started = startedSession(metadata);
    const prints = running && !!metadata && typeof metadata.output === 'string';
    const key = `${running} ${prints} ${call.parent || ''} ${!!started}`;
    if (actions.dataset.key === key) return;
    actions.dataset.key = key;
    const stop = running && h('button', { type: 'button', class: 'danger', onclick: (e) => act(e.currentTarget, 'cancel', 'The call is being stopped.') }, icon('stop'), 'Stop');
    const away = prints && h('button', { type: 'button', title: 'Let the command go on, and the agent too', onclick: (e) => act(e.currentTarget, 'background', 'The command goes on in the background.') }, 'Move to background');
    const query = new URLSearchParams({ session: feed.id, call: id });
    const undo = !running && h('a', { class: 'button', href: `#/changes?${query}` }, icon('undo'), 'Changes and undo');
    const parent = call.parent && h('a', { class: 'button quiet', href: `#/sessions/${encodeURIComponent(feed.id)}/calls/${encodeURIComponent(call.parent)}` }, 'Call that made this one');
    put(actions, stop, away, undo, started, parent);
  }

  function drawFacts(call) {
    const now = Date.now();
    const rows = [
      ['Started', h('span', { title: full(call.started) }, clock(call.started))],
      ['Took', call.ended ? duration(call.ended - call.started) : ended(call) ? '' : `${duration(now - call.started)} so far`],
      ['Agent', visibleLine(call.agent || '')], ['Model', visibleLine(call.model || '')], ['Call', h('code', null, visibleLine(id))],
    ];
    put(facts, rows.filter(([, v]) => v).map(([k, v]) => [h('dt', null, k), h('dd', null, v)]));
  }

  function drawBody(call) {
    if (!ended(call)) {
      const live = feed.live.get(id) || {};
      const input = live.input ?? (record ? record.input : undefined);
      const key = `live ${input !== undefined}`;
      if (drawn !== key) {
        drawn = key;
        view = view || liveView();
        put(body, input !== undefined && section('Input', renderInput(input)), section('So far', view.el));
      }
      view.set(call, live);
      body.lastChild.hidden = !live.metadata;
      return;
    }
    if (!record || !ended(record)) return void load('end');
    if (drawn === 'end') return;
    drawn = 'end';
    if (view) view.end();
    const { input } = record;
    put(body,
      record.state === 'interrupted' && h('div', { class: 'note warn' }, 'helve ended while this call ran. It was not made again.'),
      section('Input', renderGiven(input, record.result && record.result.metadata)),
      (record.result || record.error) && section('Result', renderResult({
        tool: record.tool, input, result: record.result, error: record.error, state: record.state, title: record.title, metadata: record.result && record.result.metadata,
      })));
  }

  function draw() {
    const call = feed.calls.get(id) || record;
    if (!call) return;
    text(title, visibleLine(call.tool));
    text(badge, call.state);
    attr(badge, 'class', `badge ${KINDS[outcome(call.state, call.exit)] || ''}`);
    drawActions(call);
    drawFacts(call);
    drawBody(call);
  }

  const timer = setInterval(() => {
    const call = feed.calls.get(id) || record;
    if (call && !ended(call)) drawFacts(call);
  }, 1000);
  load('begin');
  draw();
  return {
    el,
    update: draw,
    focus: () => title.focus({ preventScroll: true }),
    destroy() {
      closed = true;
      ask.abort();
      clearInterval(timer);
      if (view) view.end();
    },
  };
}

function section(name, ...children) {
  return h('section', { class: 'call-section' }, h('h3', null, name), children);
}
