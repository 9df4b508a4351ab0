// The beginning: who we are, the frame, and which page is shown.

import { api, auth, explain } from './api.js';
import { h, put } from './dom.js';
import { events } from './events.js';
import { confirm, frame, globalKeys, markPlace, retitle, toast } from './shell.js';
import { state } from './state.js';

const app = document.getElementById('app');

/** Pages are fetched when they are gone to; one that can not be is no harm to the others. */
const PAGES = {
  sessions: () => import('./sessions.js'),
  session: () => import('./session.js'),
  requests: () => import('./requests.js'),
  tools: () => import('./tools.js'),
  rules: () => import('./rules.js'),
  changes: () => import('./changes.js'),
  status: () => import('./status.js'),
};

const ctx = {
  go(hash) {
    if (location.hash === hash) route();
    else location.hash = hash;
  },
  toast,
  confirm,
  title: retitle,
};

/**
 * Reads the hash: #/sessions/ID/calls/CALL?filter=x. Words after the place are
 * params.id and params.rest; the query is params.query.
 */
export function readHash(hash) {
  const [where, query] = hash.replace(/^#\/?/, '').split('?', 2);
  const words = where.split('/').filter(Boolean).map((w) => {
    try {
      return decodeURIComponent(w);
    } catch {
      return w;
    }
  });
  const place = words[0] || 'sessions';
  const params = { id: words[1] || '', name: words[1] || '', rest: words.slice(2), query: Object.fromEntries(new URLSearchParams(query || '')) };
  return { place, page: place === 'sessions' && params.id ? 'session' : place, params };
}

let main = null;
let shown = null; // {page, cleanup}
let turn = 0;

async function route() {
  if (/^#open=/.test(location.hash)) { // a new link into an old tab
    if (!main) return boot();
    await exchange();
  }
  if (!main) return;
  const { place, page, params } = readHash(location.hash);
  if (!PAGES[page]) return ctx.go('#/sessions');
  // A page that can take new parameters keeps what it has.
  if (shown && shown.page === page && shown.cleanup && shown.cleanup.update && shown.cleanup.update(params)) return;
  const mine = ++turn;
  leave();
  markPlace(place);
  put(main);
  const root = h('div', { class: 'page' });
  let module;
  try {
    module = await PAGES[page]();
  } catch (err) {
    if (mine === turn) put(main, h('div', { class: 'page' }, h('div', { class: 'note bad', role: 'alert' }, 'This page could not be loaded. ', explain(err))));
    return;
  }
  if (mine !== turn) return;
  main.append(root);
  main.scrollTop = 0;
  retitle(module.page.title);
  try {
    shown = { page, cleanup: module.page.mount(root, params, ctx) };
  } catch (err) {
    console.error(err);
    put(root, h('div', { class: 'note bad', role: 'alert' }, 'This page failed. ', explain(err)));
  }
  if (document.activeElement === document.body || !document.activeElement) main.focus({ preventScroll: true });
}

function leave() {
  const old = shown;
  shown = null;
  try {
    if (old && typeof old.cleanup === 'function') old.cleanup();
  } catch (err) {
    console.error(err);
  }
}

/** Says how to get in. */
function door(reason) {
  turn++;
  leave();
  main = null;
  retitle('Open');
  put(app, h('main', { class: 'door' }, h('div', { class: 'card' },
    h('h1', null, 'helve'),
    reason && h('div', { class: 'note warn', role: 'alert' }, reason),
    h('p', null, 'This console opens with a link that is good for one use and ten minutes. To get one, run this where the server runs:'),
    h('pre', { class: 'code-block' }, 'helve open'),
    h('p', { class: 'dim' }, 'The link is then printed, and opened in your browser where there is one. What you are allowed to is kept in this tab only, and ends with it.'))));
}

/** Exchanges the code of a link for the token. The code leaves the address first. */
async function exchange() {
  const code = (/^#open=(.+)$/.exec(location.hash) || [])[1];
  if (!code) return '';
  history.replaceState(null, '', location.pathname + '#/sessions');
  try {
    const answer = await api.post('/open', { code: decodeURIComponent(code) });
    auth.set(answer.token);
    return '';
  } catch (err) {
    if (auth.token) return ''; // an old link in a tab that is open already
    return err.status === 403 ? 'This link was used before, or is too old.' : explain(err);
  }
}

async function boot() {
  const failure = await exchange();
  if (failure || !auth.token) return door(failure);
  main = frame(app);
  const hello = events.start();
  // Loading after the first hello misses nothing; without one, what there is has to do.
  await Promise.race([hello, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  try {
    await state.load();
  } catch (err) {
    if (!auth.token) return;
    toast(explain(err), 'bad');
  }
  if (main && !shown) route(); // who has gone somewhere meanwhile is not sent there again
}

auth.onLost(() => door('The server does not know this tab any more: its token was changed, or another server runs here now. Get a new link.'));
addEventListener('hashchange', route);
globalKeys(ctx.go);
boot();
