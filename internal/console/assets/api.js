// Talking to the server that this page came from. The token is kept for this
// tab only, and goes out in a header and nowhere else.

import { Unknown, doubt, known } from './proof.js';

const KEY = 'helve.token';
const ROOT = '/v1';

/** A failure with what there is to know about it: RFC 9457, as the server sends it. */
export class Problem extends Error {
  constructor(fields) {
    super(fields.detail || fields.title || 'The request failed.');
    this.name = 'Problem';
    this.status = fields.status || 0;
    this.title = fields.title || '';
    this.detail = fields.detail || '';
    this.kind = fields.kind || '';
    this.code = fields.code || '';
    this.hint = fields.hint || '';
    this.reason = fields.reason || '';
    this.issues = fields.issues || [];
    this.call = fields.call || '';
    this.session = fields.session || '';
  }
}

const lost = new Set();

/** The token of this tab. */
export const auth = {
  get token() {
    return sessionStorage.getItem(KEY) || '';
  },
  set(token) {
    sessionStorage.setItem(KEY, token);
  },
  clear() {
    sessionStorage.removeItem(KEY);
  },
  /** fn is called when the server does not take the token (any more). */
  onLost(fn) {
    lost.add(fn);
    return () => lost.delete(fn);
  },
  /** Forgets the token and tells everybody. */
  lose() {
    auth.clear();
    for (const fn of lost) fn();
  },
};

/** The headers that say who asks. */
export function headers(more) {
  const token = auth.token;
  return token ? { Authorization: 'Bearer ' + token, ...more } : { ...more };
}

/** A path with a query; values that are empty or absent are left out, arrays repeat. */
export function address(path, query) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) {
    for (const v of Array.isArray(value) ? value : [value]) {
      if (v !== undefined && v !== null && v !== '') q.append(name, String(v));
    }
  }
  const s = q.toString();
  return ROOT + path + (s ? '?' + s : '');
}

/** The problem that an answer holds; never throws. */
export async function problemOf(response) {
  let fields = {};
  try {
    fields = JSON.parse(await response.text());
  } catch {
    // a proxy, or an answer that broke off: the status has to do
  }
  if (!fields || typeof fields !== 'object') fields = {};
  return new Problem({ title: response.statusText, ...fields, status: response.status });
}

async function request(method, path, { query, body, signal } = {}) {
  // The browser would take such a segment for a way up, whatever it was a name of.
  if (/\/\.\.?(?:\/|$)/.test(path)) throw new Problem({ status: 404, title: 'No such thing', code: 'not-found', detail: 'There is nothing of this name.' });
  const init = { method, headers: headers({ Accept: 'application/json' }), signal, cache: 'no-store', credentials: 'omit', redirect: 'error' };
  if (method === 'POST') {
    init.headers['Content-Type'] = 'application/json';
    if (body !== undefined) init.body = JSON.stringify(body);
  }
  let response;
  try {
    await known(auth.token);
    response = await fetch(address(path, query), init);
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    doubt();
    if (err instanceof Unknown) auth.lose();
    throw new Problem({ title: 'Not reachable', code: 'offline', detail: 'The server does not answer.', hint: 'See whether helve serve still runs, then try again.' });
  }
  if (!response.ok) {
    const problem = await problemOf(response);
    if (response.status === 401) auth.lose();
    throw problem;
  }
  if (response.status === 204) return null;
  const text = await response.text();
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem({ status: response.status, title: 'Not JSON', detail: 'The server sent something else than JSON.', hint: 'Is there a proxy in between?' });
  }
}

/** The API. Paths are without /v1; put what varies through encodeURIComponent. */
export const api = {
  get: (path, query, { signal } = {}) => request('GET', path, { query, signal }),
  post: (path, body, { signal } = {}) => request('POST', path, { body, signal }),
  del: (path, { signal } = {}) => request('DELETE', path, { signal }),
};

/** A path of segments, each escaped: path('sessions', id, 'calls'). */
export function path(...segments) {
  return '/' + segments.map(encodeURIComponent).join('/');
}

/** What to tell a person about any error, in one sentence or two. */
export function explain(err) {
  if (err instanceof Problem) {
    const news = err.issues.filter((i) => !i.message || !err.message.includes(i.message)); // what is said already is not said twice
    const issues = news.slice(0, 3).map((i) => [(i.path || []).join('.'), i.message].filter(Boolean).join(': '));
    return [err.message, ...issues, err.hint].filter(Boolean).join(' ');
  }
  return (err && err.message) || String(err);
}
