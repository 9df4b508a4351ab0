// The stream of events. EventSource can not send the token, so the stream is
// read by fetch. What arrives is handed on once per frame, in its order; a
// broken connection is taken up where it ended.

import { address, auth, headers } from './api.js';
import { Unknown, doubt, known } from './proof.js';

const FIRST_WAIT = 500; // ms until the first new try
const LONGEST_WAIT = 10_000;
const SILENCE = 40_000; // the server says something every 15 s
const BUDGET = 12; // ms of work a frame
const HIDDEN_PAUSE = 250; // frames do not come in a hidden tab

const listeners = new Set();
const flushed = new Set();
const watchers = new Set();

let status = 'connecting';
let lastID = '';
let queue = [];
let scheduled = false;
let running = false;
let ready = null; // called at the first hello

function setStatus(next) {
  if (next === status) return;
  status = next;
  for (const fn of watchers) fn(status);
}

// --- handing on

function schedule() {
  if (scheduled) return;
  scheduled = true;
  if (document.hidden) setTimeout(flush, HIDDEN_PAUSE);
  else requestAnimationFrame(flush);
}

function flush() {
  scheduled = false;
  const began = performance.now();
  let n = 0;
  while (n < queue.length && (n % 16 !== 0 || n === 0 || performance.now() - began < BUDGET)) {
    const event = queue[n++];
    for (const fn of listeners) guard(fn, event);
  }
  queue = n < queue.length ? queue.slice(n) : [];
  for (const fn of flushed) guard(fn);
  if (queue.length) schedule();
}

/** One listener that fails must not keep the others from hearing. */
function guard(fn, event) {
  try {
    fn(event);
  } catch (err) {
    console.error(err);
  }
}

function emit(event) {
  queue.push(event);
  schedule();
}

// A tab that is shown again may have a frame pending that was asked for as a timer.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && queue.length) requestAnimationFrame(flush);
});

// --- reading

/**
 * Takes a stream apart: feed(text) calls message({id, event, data}) for each
 * whole message, and never looks at a character twice.
 */
export function parser(message) {
  let rest = '';
  let id = '';
  let type = '';
  let data = [];
  function line(s) {
    if (s === '') {
      if (data.length) message({ id, event: type || 'message', data: data.join('\n') });
      id = type = '';
      data = [];
      return;
    }
    if (s[0] === ':') return;
    const colon = s.indexOf(':');
    const field = colon < 0 ? s : s.slice(0, colon);
    const value = colon < 0 ? '' : s.slice(s[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
    else if (field === 'event') type = value;
  }
  return (chunk) => {
    let from = 0;
    for (let at; (at = chunk.indexOf('\n', from)) >= 0; from = at + 1) {
      const s = rest + chunk.slice(from, at);
      rest = '';
      line(s.endsWith('\r') ? s.slice(0, -1) : s);
    }
    rest += chunk.slice(from);
  };
}

/**
 * Understands the messages of one connection. began(anew) is called at its
 * hello, at(id) with where it has come to, emit with what is to be handed on.
 */
function receiver({ began, at, emit: hand }) {
  let skip = 0; // what is up to here comes with what is loaded at the hello
  return ({ id, event, data }) => {
    let body;
    try {
      body = JSON.parse(data);
    } catch {
      return; // not ours to repair; the next one counts
    }
    if (event === 'hello') {
      if (!body.resumed) {
        skip = body.seq || 0;
        at(`${body.instance}-${skip}`);
      }
      began(!body.resumed);
      return;
    }
    if (id) at(id);
    if (body.seq <= skip) return;
    // What was missed since then nobody has loaded: the stream fell behind on its way.
    hand(event === 'events.missed' ? { type: 'reload' } : body);
  };
}

/** One connection, from its beginning to its end. Returns whether it was live. */
async function connect() {
  const control = new AbortController();
  let live = false;
  let heard = performance.now();
  const watch = setInterval(() => {
    if (performance.now() - heard > SILENCE) control.abort();
  }, 2_000);
  const hasten = () => {
    if (!document.hidden && performance.now() - heard > SILENCE) control.abort();
  };
  document.addEventListener('visibilitychange', hasten);

  const message = receiver({
    began(anew) {
      live = true;
      setStatus('live');
      // The first connection has nothing to load anew: who waits for it loads.
      if (anew && ready) ready();
      else if (anew) emit({ type: 'reload' });
      ready = null;
    },
    at: (id) => (lastID = id),
    emit,
  });

  try {
    await known(auth.token);
    const more = { Accept: 'text/event-stream' };
    if (lastID) more['Last-Event-ID'] = lastID;
    const response = await fetch(address('/events'), { headers: headers(more), signal: control.signal, cache: 'no-store', credentials: 'omit' });
    if (response.status === 401) {
      auth.lose();
      running = false;
      return false;
    }
    if (!response.ok || !response.body) return false;
    const feed = parser(message);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return live;
      heard = performance.now();
      feed(value);
    }
  } catch (err) {
    if (err instanceof Unknown) {
      auth.lose();
      running = false;
    }
    return live; // ended, by us or by the other side: the loop comes again
  } finally {
    doubt();
    clearInterval(watch);
    document.removeEventListener('visibilitychange', hasten);
    control.abort();
  }
}

/** Waits, but not longer than until the network is back or the tab is looked at. */
function pause(ms) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('online', end);
      document.removeEventListener('visibilitychange', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
    document.addEventListener('visibilitychange', end);
  });
}

async function loop() {
  let wait = FIRST_WAIT;
  while (running) {
    const live = await connect();
    if (!running) return;
    if (live) wait = FIRST_WAIT;
    setStatus(wait >= 4_000 ? 'lost' : 'connecting');
    await pause(wait * (0.8 + Math.random() * 0.4));
    wait = Math.min(LONGEST_WAIT, wait * 2);
  }
}

/** What happens on the server. */
export const events = {
  get status() {
    return status;
  },
  /** fn(event) for every event, {type:'reload'} when state must be loaded anew. Returns off(). */
  on(fn) {
    listeners.add(fn);
    return () => listeners.delete(fn);
  },
  /** fn() after the events of a frame: the time to draw. */
  onFlush(fn) {
    flushed.add(fn);
    return () => flushed.delete(fn);
  },
  /** fn('live' | 'connecting' | 'lost'), at once and at every change. */
  onStatus(fn) {
    watchers.add(fn);
    fn(status);
    return () => watchers.delete(fn);
  },
  /** Begins. The promise is kept at the first hello. */
  start() {
    if (running) return Promise.resolve();
    running = true;
    return new Promise((resolve) => {
      ready = resolve;
      loop();
    });
  },
};

/** The session an event is about, or ''. */
export function sessionOf(event) {
  const p = event.properties;
  if (!p) return '';
  if (p.sessionID) return p.sessionID;
  if (typeof p.session === 'string' && p.session) return p.session;
  if (p.call && p.call.session) return p.call.session;
  if (p.part && p.part.sessionID) return p.part.sessionID;
  if (p.info) return p.info.sessionID || (event.type.startsWith('session.') ? p.info.id : '') || '';
  return '';
}
