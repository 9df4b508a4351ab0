// One session as it is and as it goes on: its messages, calls and todos,
// loaded in pages and kept true by the events.

import { api, path } from './api.js';
import { events, sessionOf } from './events.js';
import { exitOf } from './format.js';

const MESSAGES = 60; // a page
const CALLS = 1000;
const KEEP = 150; // messages that are held while the end is followed

const time = (event) => Date.parse(event.time) || Date.now();
const ENDED = new Set(['completed', 'error', 'interrupted']);

/** Whether a call has come to its end. */
export const ended = (call) => ENDED.has(call.state);

/**
 * @param {string} id of the session
 * @param {(dirty: {shape: boolean, touched: Map<string, Set<string>>, calls: boolean, rows: boolean, todos: boolean}) => void} changed
 *   called after a frame's events, and when something was loaded. shape: messages came or went; touched: which
 *   messages have changed, and which parts of them; calls: some came, went or ended; rows: some report progress
 */
export function sessionFeed(id, changed) {
  const messages = new Map(); // in order: id → {info, parts: [in order of their ids]}
  const calls = new Map();
  const tools = new Set(); // the names of those that were called
  const live = new Map(); // of running calls, by id: {title, metadata}
  let order = []; // calls by their beginning
  let dirty = fresh();
  let any = false;
  const since = new Set(); // messages and parts that events told of since the last load began
  let closed = false;
  let generation = 0; // what was asked for before a reload is not taken any more
  const ask = new AbortController();

  const feed = {
    id, messages, calls, live, tools,
    get order() {
      return order;
    },
    todos: [],
    more: false, // there are older messages
    loading: { messages: false, calls: false, done: 0 },
    error: null,
    follow: true, // the end is in sight: what is old may go

    async load() {
      const mine = ++generation;
      feed.error = null;
      await Promise.all([loadMessages(mine), loadCalls(mine), loadTodos(mine)]);
    },
    older,
    close() {
      closed = true;
      ask.abort();
      offs.forEach((off) => off());
    },
  };

  function fresh() {
    return { shape: false, touched: new Map(), calls: false, rows: false, todos: false };
  }
  function mark(kind) {
    dirty[kind] = true;
    any = true;
  }
  function touch(message, part) {
    let parts = dirty.touched.get(message);
    if (!parts) dirty.touched.set(message, (parts = new Set()));
    if (part) parts.add(part);
    if (feed.loading.messages) since.add(part || message);
    any = true;
  }
  function tell() {
    if (!any || closed) return;
    const now = dirty;
    dirty = fresh();
    any = false;
    changed(now);
  }
  const stale = (mine) => closed || mine !== generation;

  /** Runs one load; what fails is kept to be shown, and is no end of the others. */
  async function attempt(mine, fn) {
    try {
      await fn();
    } catch (err) {
      if (stale(mine) || err.name === 'AbortError') return;
      feed.error = err;
      feed.loading.messages = feed.loading.calls = false;
      mark('shape');
      mark('calls');
    } finally {
      tell();
    }
  }

  // --- messages

  function loadMessages(mine) {
    return attempt(mine, async () => {
      feed.loading.messages = true;
      since.clear();
      const limit = Math.min(KEEP, Math.max(MESSAGES, messages.size));
      const page = await api.get(path('sessions', id, 'messages'), { limit }, { signal: ask.signal });
      if (stale(mine)) return;
      const growing = new Map(messages);
      messages.clear();
      for (const m of page.messages || []) messages.set(m.info.id, merged(m, growing.get(m.info.id)));
      // What the events told of while the page was on its way.
      const last = [...messages.keys()].at(-1) || '';
      for (const [key, m] of growing) if (key > last && !messages.has(key)) messages.set(key, m);
      feed.more = !!page.more;
      feed.loading.messages = false;
      mark('shape');
    });
  }

  /**
   * A message as the server has it, but with what events have told since it was
   * asked for: what they told last is never older than the answer for long.
   */
  function merged(m, old) {
    if (!old) return { info: m.info, parts: m.parts || [] };
    const parts = new Map((m.parts || []).map((p) => [p.id, p]));
    for (const p of old.parts) {
      if (since.has(p.id) && !(p.partial && parts.has(p.id))) parts.set(p.id, p);
    }
    const sorted = [...parts.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return { info: since.has(m.info.id) ? old.info : m.info, parts: sorted };
  }

  async function older() {
    if (!feed.more || feed.loading.messages) return;
    const mine = generation;
    await attempt(mine, async () => {
      feed.loading.messages = true;
      try {
        const before = messages.keys().next().value;
        const page = await api.get(path('sessions', id, 'messages'), { limit: MESSAGES, before }, { signal: ask.signal });
        if (stale(mine)) return;
        const rest = [...messages];
        messages.clear();
        for (const m of page.messages || []) messages.set(m.info.id, { info: m.info, parts: m.parts || [] });
        for (const [key, m] of rest) messages.set(key, m);
        feed.more = !!page.more;
        mark('shape');
      } finally {
        feed.loading.messages = false;
      }
    });
  }

  function messageOf(key) {
    let m = messages.get(key);
    if (!m) {
      m = { info: { id: key, sessionID: id, role: 'assistant', time: { created: Date.now() }, bare: true }, parts: [] };
      messages.set(key, m);
      mark('shape');
      if (feed.follow && messages.size > KEEP) {
        for (const old of [...messages.keys()].slice(0, messages.size - KEEP)) messages.delete(old);
        feed.more = true;
      }
    }
    return m;
  }

  function setPart(part) {
    const m = messageOf(part.messageID);
    const at = m.parts.findIndex((p) => p.id === part.id);
    if (at >= 0) m.parts[at] = part;
    else {
      let i = m.parts.length;
      while (i > 0 && m.parts[i - 1].id > part.id) i--;
      m.parts.splice(i, 0, part);
    }
    touch(part.messageID, part.id);
  }

  function grow(p) {
    const m = messageOf(p.messageID);
    const part = m.parts.find((x) => x.id === p.partID);
    // One whose beginning nobody told us of: its whole comes with its end.
    if (!part) return setPart({ id: p.partID, messageID: p.messageID, sessionID: id, type: 'text', text: '… ' + p.delta, partial: true });
    part.text = (part.text || '') + p.delta;
    touch(p.messageID, part.id);
  }

  // --- calls

  function loadCalls(mine) {
    return attempt(mine, async () => {
      feed.loading.calls = true;
      feed.loading.done = 0;
      const seen = new Set();
      for (let before = ''; ;) {
        const page = await api.get(path('sessions', id, 'calls'), { limit: CALLS, before }, { signal: ask.signal });
        if (stale(mine)) return;
        const rows = page.calls || [];
        take(rows, seen);
        feed.loading.done += rows.length;
        if (!page.more || !page.next) break;
        before = page.next;
        tell();
      }
      feed.loading.calls = false;
      // After a reload, what the server does not know of any more is gone.
      for (const [key, row] of calls) if (!seen.has(key) && !row.told) calls.delete(key);
      order = order.filter((row) => calls.get(row.id) === row);
      mark('calls');
    });
  }

  /** A page of rows, newest first, goes before those that are there. */
  function take(rows, seen) {
    const before = [];
    for (const row of rows) {
      seen.add(row.id);
      if (ended(row)) live.delete(row.id);
      const old = calls.get(row.id);
      if (!old) {
        calls.set(row.id, row);
        tools.add(row.tool);
        before.push(row);
      } else if (!ended(old) || ended(row)) Object.assign(old, row);
    }
    order = before.reverse().concat(order);
    // Pages fit each other; only what ran at the same time may stand the wrong way round.
    for (let i = 1; i < order.length; i++) {
      if (order[i - 1].started > order[i].started) {
        order.sort((a, b) => a.started - b.started);
        break;
      }
    }
    mark('calls');
  }

  function callOf(p, event) {
    let row = calls.get(p.id);
    if (!row) {
      row = { id: p.id, session: id, tool: p.tool, agent: p.agent, model: p.model, parent: p.parent, state: 'pending', started: time(event), told: true };
      calls.set(row.id, row);
      tools.add(row.tool);
      order.push(row);
      mark('calls');
    }
    return row;
  }

  // --- todos

  function loadTodos(mine) {
    return attempt(mine, async () => {
      const page = await api.get(path('sessions', id, 'todos'), null, { signal: ask.signal });
      if (stale(mine)) return;
      feed.todos = page.todos || [];
      mark('todos');
    });
  }

  // --- events

  const handlers = {
    __proto__: null,
    'message.updated': (p) => {
      messageOf(p.info.id).info = p.info;
      touch(p.info.id);
    },
    'message.removed': (p) => messages.delete(p.messageID) && mark('shape'),
    'message.part.updated': (p) => setPart(p.part),
    'message.part.delta': (p) => grow(p),
    'message.part.removed': (p) => {
      const m = messages.get(p.messageID);
      if (m) m.parts = m.parts.filter((x) => x.id !== p.partID);
      touch(p.messageID);
    },
    'todo.updated': (p) => {
      feed.todos = p.todos || [];
      mark('todos');
    },
    'call.started': (p, event) => callOf(p.call, event),
    'call.running': (p, event) => {
      const row = callOf(p, event);
      if (!ended(row)) row.state = 'running';
      live.set(row.id, { ...live.get(row.id), input: p.input });
      mark('rows');
    },
    'call.progress': (p, event) => {
      const row = callOf(p, event);
      if (p.title) row.title = p.title;
      live.set(row.id, { ...live.get(row.id), title: p.title, metadata: p.metadata });
      mark('rows');
    },
    'call.finished': (p, event) => {
      const row = callOf(p, event);
      row.state = p.state;
      row.ended = time(event);
      row.error = p.error;
      row.exit = exitOf(p.result?.metadata);
      if (p.result && p.result.title) row.title = p.result.title;
      live.delete(row.id);
      mark('calls'); // a filter by state may want it now
      mark('rows');
    },
  };

  const offs = [
    events.on((event) => {
      if (event.type === 'reload') return void feed.load();
      const handle = handlers[event.type];
      if (handle && event.properties && sessionOf(event) === id) handle(event.properties, event);
    }),
    events.onFlush(tell),
  ];
  return feed;
}
