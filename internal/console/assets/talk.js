// The conversation of a session: messages as they come, calls as rows that
// unfold, older messages when one scrolls up to them.

import { attr, h, put, text } from './dom.js';
import { liveView, startedSession } from './call.js';
import { clock, cost, duration, exitOf, full, modelName, outcome, tokens } from './format.js';
import { icon } from './icons.js';
import { markdown } from './markdown.js';
import { renderGiven, renderInput, renderResult } from './result.js';
import { state } from './state.js';
import { visible, visibleLine } from './visible.js';

const NEAR = 80; // px from the end that count as the end

/** Text that grows: what is finished stays, only the last block is read again. */
function growing() {
  const el = h('div', { class: 'md' });
  const tail = h('div', { class: 'md-tail' });
  el.append(tail);
  let done = 0; // up to here it is drawn for good
  let shown = '';
  return {
    el,
    set(value, final) {
      if (value === shown && !final) return;
      if (final || !value.startsWith(shown)) {
        put(el, markdown(value));
        done = 0;
        shown = final ? value : '';
        if (final) return;
        put(el, tail);
      }
      shown = value;
      const cut = lastBlock(value, done);
      if (cut > done) {
        tail.before(h('div', null, markdown(value.slice(done, cut))));
        done = cut;
      }
      put(tail, markdown(value.slice(done)));
    },
  };
}

/** Where the last block of a text begins: after a blank line that is not in a fenced block. */
function lastBlock(value, from) {
  let fenced = false;
  let at = from;
  for (let i = from; i < value.length;) {
    const end = value.indexOf('\n', i);
    if (end < 0) break;
    const line = value.slice(i, end);
    if (/^ {0,3}(?:```|~~~)/.test(line)) fenced = !fenced;
    else if (!fenced && line.trim() === '' && !/^(?: {2,}|\t|[-*+] |\d+[.)] )/.test(value.slice(end + 1, end + 6))) at = end + 1;
    i = end + 1;
  }
  return at;
}

/** A part of a message, by its type: {el, set(part)}; null for those that are not shown. */
function makePart(part, feed) {
  switch (part.type) {
    case 'text': return part.synthetic ? folded('Added for the agent') : prose();
    case 'reasoning': return folded('Reasoning');
    case 'tool': return toolRow(feed);
    case 'file': return fileRow();
    case 'retry': return simple((p) => h('div', { class: 'note warn small' }, `Attempt ${p.attempt} failed: `, visible((p.error && p.error.data && p.error.data.message) || '')));
    case 'compaction': return simple((p) => h('div', { class: 'divider dim small' }, p.auto ? 'The conversation was summed up to make room' : 'The conversation is summed up'));
    default: return null;
  }
}

function simple(make) {
  const el = h('div');
  return { el, set: (part) => put(el, make(part)) };
}

function prose() {
  const g = growing();
  return { el: g.el, set: (part) => g.set(part.text || '', !!(part.time && part.time.end)) };
}

function folded(label) {
  const body = h('div', { class: 'pre reasoning' });
  const name = h('span', null, label);
  const first = h('span', { class: 'dim ellipsis' });
  const el = h('details', { class: 'fold-part' }, h('summary', { class: 'row' }, icon('right', 12), name, first), body);
  let whole = '';
  el.addEventListener('toggle', () => el.open && text(body, visible(whole)));
  return {
    el,
    set(part) {
      whole = part.text || '';
      const t = part.time;
      text(name, t && t.end && part.type === 'reasoning' ? `${label}, ${duration(t.end - t.start)}` : label);
      text(first, visibleLine(whole.slice(-160).split('\n').filter(Boolean).at(-1) || ''));
      if (el.open) text(body, visible(whole));
    },
  };
}

function fileRow() {
  return simple((p) => {
    const name = visibleLine(p.filename || p.mime || 'file');
    const image = /^data:image\/(?:png|jpeg|gif|webp);base64,/.test(p.url || '') && h('img', { class: 'thumb', src: p.url, alt: name });
    return h('div', { class: 'row small dim' }, image || icon('clip'), name);
  });
}

const whither = (metadata) => {
  const a = startedSession(metadata);
  return a && h('div', { class: 'row' }, a);
};

function toolRow(feed) {
  const dot = h('span', { class: 'dot' });
  const name = h('span', { class: 'mono tool-name' });
  const title = h('span', { class: 'ellipsis dim grow' });
  const time = h('span', { class: 'num dim small' });
  const link = h('a', { class: 'tool-open', 'aria-label': 'Open the call', title: 'Open the call' }, icon('open', 14));
  const body = h('div', { class: 'stack tool-body' });
  const fold = h('details', null, h('summary', { class: 'row' }, icon('right', 12), dot, name, title, time), body);
  const el = h('div', { class: 'tool-part' }, fold, link); // a link within a summary is none for many readers
  let part = null;
  let drawn = '';
  let view = null;

  function drawBody() {
    if (!fold.open || !part) return;
    const s = part.state || {};
    const running = s.status === 'running' || s.status === 'pending';
    if (!running) {
      if (drawn === s.status) return;
      drawn = s.status;
      if (view) view.end();
      put(body, renderGiven(s.input, s.metadata),
        renderResult({ tool: part.tool, input: s.input, state: s.status, title: s.title, metadata: s.metadata, error: s.error && { kind: s.kind, reason: s.reason, message: s.error },
          result: s.status === 'completed' ? { title: s.title, output: s.output, metadata: s.metadata, attachments: s.attachments } : undefined }), whither(s.metadata));
      return;
    }
    const live = feed.live.get(part.callID) || {};
    const key = `live ${JSON.stringify(s.input || {}).length} ${!!startedSession(live.metadata)}`;
    if (drawn !== key) {
      drawn = key;
      view = view || liveView();
      put(body, renderInput(s.input), view.el, whither(live.metadata));
    }
    view.set({ tool: part.tool }, { ...live, input: live.input || s.input });
  }

  fold.addEventListener('toggle', drawBody);
  return {
    el,
    set(next) {
      part = next;
      const s = next.state || {};
      const call = feed.calls.get(next.callID);
      const { permissions, questions } = state.requestsOf(feed.id, next.callID);
      const waits = permissions.length + questions.length > 0;
      const come = outcome(s.status, exitOf(s.metadata), s.kind);
      attr(dot, 'data-state', come);
      text(name, visibleLine(next.tool || ''));
      const what = s.status === 'error' ? s.reason || s.error : s.title || (call && call.title) || briefInput(s.input);
      text(title, visibleLine(String(what || '').slice(0, 300)));
      attr(title, 'class', `ellipsis grow ${come === 'error' ? 'bad' : 'dim'}`);
      text(time, waits ? 'waits for you' : s.time && s.time.end ? duration(s.time.end - s.time.start) : s.status === 'completed' ? '' : s.status || '');
      attr(time, 'class', `num small nowrap ${waits ? 'badge warn' : 'dim'}`);
      attr(link, 'href', `#/sessions/${encodeURIComponent(feed.id)}/calls/${encodeURIComponent(next.callID || '')}`);
      drawBody();
    },
  };
}

const aPath = /^[^\s*?<>|"']*[\\/.][^\s*?<>|"']*$/; // a file, a folder, an address: one word with a dot or a slash

/** The argument that says what a call is about, before it says so itself: a file, else something short. */
export function briefInput(input) {
  if (!input || typeof input !== 'object') return '';
  const lines = Object.values(input).filter((v) => typeof v === 'string' && v.trim() !== '' && v.length < 300 && !/[\r\n]/.test(v));
  return lines.find((v) => aPath.test(v)) || lines.find((v) => v.length <= 100) || lines[0] || '';
}

/** A message with its parts. */
function makeMessage(feed) {
  const who = h('span', { class: 'who' });
  const when = h('span', { class: 'dim small num' });
  const body = h('div', { class: 'msg-body' });
  const foot = h('div');
  const el = h('article', { class: 'msg' }, h('header', { class: 'row' }, who, when), body, foot);
  const parts = new Map();
  return {
    el,
    set(m, dirty) {
      const { info } = m;
      attr(el, 'data-role', info.role);
      text(who, info.role === 'user' ? 'You' : info.summary ? 'Summary' : visibleLine(info.agent || 'Agent'));
      const t = info.time || {};
      text(when, [clock(t.created), info.role === 'assistant' && visibleLine(modelName(info)), t.completed && duration(t.completed - t.created)].filter(Boolean).join(' · '));
      attr(when, 'title', [full(t.created), tokens(info.tokens), cost(info.cost)].filter(Boolean).join(' · '));
      const keep = new Set();
      let at = body.firstChild;
      for (const p of m.parts) {
        keep.add(p.id);
        let view = parts.get(p.id);
        // What came as a delta first is text until its part says what it is.
        const isNew = !view || view.type !== p.type;
        if (isNew) {
          if (view && view.el && view.el === at) at = at.nextSibling;
          if (view && view.el) view.el.remove();
          parts.set(p.id, (view = { type: p.type, ...makePart(p, feed) }));
        }
        if (!view.el) continue;
        if (isNew || !dirty || dirty.has(p.id)) view.set(p);
        if (view.el === at) at = at.nextSibling;
        else body.insertBefore(view.el, at);
      }
      for (const [key, view] of parts) {
        if (keep.has(key)) continue;
        if (view.el) view.el.remove();
        parts.delete(key);
      }
      const failure = info.error && info.error.data;
      const note = failure ? `${info.error.name}: ${failure.message}` : '';
      if (foot.dataset.note !== note) {
        foot.dataset.note = note;
        put(foot, failure && (info.error.name === 'MessageAbortedError' ? h('div', { class: 'dim small' }, 'Stopped.') : h('div', { class: 'note bad' }, visible(failure.message || info.error.name))));
      }
      el.hidden = !body.firstChild && !failure && info.role === 'assistant' && !!t.completed;
    },
  };
}

/** Whether a message is the next step of the same agent: who it is need not be said again. */
function goesOn(before, info) {
  return !!before && before.role === 'assistant' && info.role === 'assistant' && before.agent === info.agent
    && before.modelID === info.modelID && !before.summary && !info.summary && !before.error;
}

/** @param {Object} feed of the session */
export function talkView(feed) {
  const views = new Map();
  const olderButton = h('button', { type: 'button', class: 'quiet', onclick: () => feed.older() }, 'Older messages');
  const top = h('div', { class: 'talk-top', hidden: true }, olderButton);
  const none = h('div', { class: 'empty', hidden: true });
  const flow = h('div', { class: 'talk-flow', role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation' });
  const down = h('button', { type: 'button', class: 'talk-down', hidden: true, onclick: () => toEnd() }, icon('down'), 'To the end');
  const scroll = h('div', { class: 'talk-scroll', tabindex: 0, role: 'region', 'aria-label': 'Messages' }, top, none, flow);
  const el = h('div', { class: 'talk' }, scroll, down);
  let atEnd = true;
  let shown = false;
  let stale = true;

  function toEnd() {
    atEnd = feed.follow = true;
    down.hidden = true;
    scroll.scrollTop = scroll.scrollHeight;
  }

  scroll.addEventListener('scroll', () => {
    atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR;
    feed.follow = atEnd;
    down.hidden = atEnd;
    if (shown && scroll.scrollTop < 200 && feed.more) feed.older();
  }, { passive: true });
  // Neither a part that unfolds, nor another window, nor the true height of what
  // was only guessed may lose the end.
  const sized = new ResizeObserver(() => atEnd && toEnd());
  sized.observe(scroll);
  sized.observe(flow);

  function update(dirty) {
    if (!shown) { // nobody looks: once for all when somebody does
      stale = true;
      return;
    }
    const before = atEnd ? 0 : scroll.scrollHeight - scroll.scrollTop; // reading it costs a layout
    const head = flow.firstChild;
    if (!dirty || dirty.shape) arrange(dirty);
    else for (const [key, parts] of dirty.touched) if (feed.messages.has(key)) views.get(key)?.set(feed.messages.get(key), parts);
    if (dirty && dirty.rows) refreshTools();
    if (atEnd) toEnd();
    else if (flow.firstChild !== head) scroll.scrollTop = scroll.scrollHeight - before; // older ones came in above
  }

  function arrange(dirty) {
    let at = flow.firstChild;
    let before = null;
    for (const [key, m] of feed.messages) {
      let view = views.get(key);
      const isNew = !view;
      if (isNew) views.set(key, (view = makeMessage(feed)));
      if (isNew || !dirty || !dirty.touched.size) view.set(m, null);
      else if (dirty.touched.has(key)) view.set(m, dirty.touched.get(key));
      attr(view.el, 'data-goes-on', goesOn(before, m.info) ? '' : null);
      before = m.info;
      if (view.el === at) at = at.nextSibling;
      else flow.insertBefore(view.el, at);
    }
    for (const [key, view] of views) {
      if (feed.messages.has(key)) continue;
      view.el.remove();
      views.delete(key);
    }
    top.hidden = !feed.more;
    none.hidden = feed.messages.size > 0;
    if (!feed.messages.size) put(none, feed.loading.messages ? 'Loading …' : feed.error ? 'The conversation could not be loaded.' : 'Nothing was said here yet.');
    attr(flow, 'aria-busy', feed.loading.messages ? 'true' : null);
  }

  /** Rows of calls that run show what their calls report. */
  function refreshTools() {
    if (!shown) return;
    const last = [...feed.messages.values()].slice(-3);
    for (const m of last) {
      const running = m.parts.filter((p) => p.type === 'tool' && p.state && (p.state.status === 'running' || p.state.status === 'pending'));
      if (running.length) views.get(m.info.id)?.set(m, new Set(running.map((p) => p.id)));
    }
  }
  const off = state.on(refreshTools);
  return {
    el, update, toEnd,
    /** Whether it is looked at. */
    show(on) {
      shown = on;
      if (!on) return void attr(flow, 'aria-busy', null); // what nobody sees keeps nobody waiting
      if (stale) update(null);
      stale = false;
      toEnd();
    },
    focus: () => scroll.focus(),
    destroy() {
      off();
      sized.disconnect();
    },
  };
}
