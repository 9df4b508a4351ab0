// What the navigation and several pages share: the sessions, and what waits
// for a person. Loaded once, and kept true by the events.

import { api, path } from './api.js';
import { events } from './events.js';
import { within } from './paths.js';

const PAGE = 500; // sessions loaded at a time: those used last come first
const MOST = 1000; // that the server gives at once
const AGAIN = 5_000; // ms until a session that could not be fetched is asked for again

const listeners = new Set();
const asked = new Set(); // sessions being fetched, so that each is asked for once
let changed = false;
let during = null; // what events told while everything was loaded
let loading = null;

/** The shared state. Arrays and the map are replaced or changed in place; read them when told. */
export const state = {
  info: null, // GET /v1
  sessions: new Map(), // by id: a session with its status
  next: '', // where older sessions begin; '' when all are loaded
  permissions: [], // oldest first
  questions: [],
  loaded: false,
  error: null,

  /** fn() after every change, once a frame. Returns off(). */
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },

  /** How many requests wait; of one session when it is named. */
  waiting(session) {
    if (!session) return state.permissions.length + state.questions.length;
    const of = (r) => r.sessionID === session;
    return state.permissions.filter(of).length + state.questions.filter(of).length;
  },

  /** The requests that wait because of one call. */
  requestsOf(session, call) {
    const of = (r) => r.sessionID === session && r.tool && r.tool.callID === call;
    return { permissions: state.permissions.filter(of), questions: state.questions.filter(of) };
  },

  /** Loads everything; who comes while it goes on gets the same promise. */
  load() {
    if (!loading) loading = fetchAll().finally(() => (loading = null));
    return loading;
  },

  /** Loads a page of older sessions. */
  async older() {
    if (!state.next) return;
    const before = state.next;
    const page = await api.get('/sessions', { limit: PAGE, before });
    if (state.next !== before) return; // everything was loaded anew meanwhile
    for (const s of page.sessions || []) if (!state.sessions.has(s.id)) merge(s);
    state.next = nextOf(page);
    tell();
  },

  /** Fetches a session. A status that is told of meanwhile is newer than the answer's. */
  async fetch(id) {
    const before = heard.get(id);
    const session = await api.get(path('sessions', id));
    const now = heard.get(id);
    state.keep(now === before ? session : { ...session, status: now });
  },

  /** Puts in a session that was fetched. */
  keep(session) {
    merge(session);
    tell();
  },
};

const nextOf = (page) => (page.more && page.next) || '';

/** The newest sessions; as many as are there already, so that a reload takes none away. */
async function fetchSessions() {
  const want = Math.max(PAGE, state.sessions.size);
  const found = new Map();
  for (let before = ''; ;) {
    const page = await api.get('/sessions', { limit: Math.min(MOST, want), before });
    for (const s of page.sessions || []) found.set(s.id, s);
    before = nextOf(page);
    if (!before || found.size >= want) return [found, before];
  }
}

async function fetchAll() {
  during = [];
  try {
    const [info, [sessions, next], requests] = await Promise.all([api.get(''), fetchSessions(), api.get('/requests')]);
    state.info = info;
    state.sessions = sessions;
    state.next = next;
    state.permissions = requests.permissions || [];
    state.questions = requests.questions || [];
    // What was told of in the meantime may be newer than the answers.
    for (const [handle, properties] of during) handle(properties);
    state.loaded = true;
    state.error = null;
  } catch (err) {
    state.error = err;
    throw err;
  } finally {
    during = null;
    tell();
  }
}

function tell() {
  changed = false;
  for (const fn of listeners) {
    try {
      fn();
    } catch (err) {
      console.error(err);
    }
  }
}

function merge(session) {
  const old = state.sessions.get(session.id);
  state.sessions.set(session.id, { status: { type: 'idle' }, ...old, ...session });
}

/** A session that an event names and nobody has told us about. */
async function fetchSession(id) {
  if (!id || asked.has(id)) return;
  asked.add(id);
  try {
    await state.fetch(id);
    asked.delete(id);
  } catch {
    setTimeout(() => asked.delete(id), AGAIN); // its record may be a moment behind, or the server away
  }
}

/** The requests once more: an event does not say when one expires. */
let soon = 0;
let told = 0; // how often events have changed the lists
function refreshRequests(wait = 150) {
  clearTimeout(soon);
  soon = setTimeout(async () => {
    const before = told;
    try {
      const r = await api.get('/requests');
      if (told !== before) return refreshRequests(); // the answer may be older than what we know
      state.permissions = r.permissions || [];
      state.questions = r.questions || [];
      tell();
    } catch (err) {
      if (err.status !== 401 && events.status === 'live') refreshRequests(AGAIN); // else all is loaded anew when the events are back
    }
    return undefined;
  }, wait);
}

const without = (list, id) => list.filter((r) => r.id !== id);

const handlers = {
  __proto__: null,
  'session.created': (p) => merge(p.info),
  'session.updated': (p) => merge(p.info),
  'session.status': (p) => status(p.sessionID, p.status),
  'session.idle': (p) => status(p.sessionID, { type: 'idle' }),
  'session.error': (p) => {
    const s = state.sessions.get(p.sessionID);
    if (s) s.failure = p.error;
  },
  'call.finished': (p) => {
    const s = state.sessions.get(p.session);
    if (s && !s.title && !s.first) s.first = [p.tool, p.result && p.result.title].filter(Boolean).join(' ').slice(0, 120);
  },
  'permission.asked': (p) => {
    state.permissions = [...without(state.permissions, p.id), p];
    if (!state.sessions.has(p.sessionID)) fetchSession(p.sessionID);
    refreshRequests();
  },
  'permission.replied': (p) => {
    state.permissions = without(state.permissions, p.requestID);
  },
  'question.asked': (p) => {
    state.questions = [...without(state.questions, p.id), p];
    if (!state.sessions.has(p.sessionID)) fetchSession(p.sessionID);
    refreshRequests();
  },
  'question.replied': (p) => {
    state.questions = without(state.questions, p.requestID);
  },
  'question.rejected': (p) => {
    state.questions = without(state.questions, p.requestID);
  },
};

const heard = new Map(); // what events said last of a session's status

function status(id, value) {
  heard.set(id, value);
  const s = state.sessions.get(id);
  if (!s) return void fetchSession(id);
  if (s.failure && value.type === 'busy') s.failure = null;
  s.status = value;
}

events.on((event) => {
  if (event.type === 'reload') {
    asked.clear();
    state.load().catch(() => {}); // kept in state.error
    return;
  }
  const handle = handlers[event.type];
  if (handle && event.properties) {
    if (/^(?:permission|question)/.test(event.type)) told++;
    handle(event.properties);
    if (during) during.push([handle, event.properties]);
    changed = true;
  }
});
events.onFlush(() => {
  if (changed) tell();
});

/** A path as it reads in this project: from its root, where it lies there; else whole. */
export function shortPath(path) {
  for (const root of [state.info?.worktree, state.info?.directory]) {
    const name = within(path, root);
    if (name) return name;
  }
  return path;
}
