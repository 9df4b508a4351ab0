// The beginning: who we are, the frame, and which page is shown.

import { api, auth, explain } from './api.js';
import { h, put } from './dom.js';
import { events } from './events.js';
import { closeDialogs, confirm, frame, globalKeys, markPlace, retitle, toast } from './shell.js';
import { state } from './state.js';
import { page as sessionsPage } from './sessions.js';
import { page as sessionPage } from './session.js';
import { page as requestsPage } from './requests.js';
import { page as toolsPage } from './tools.js';
import { page as rulesPage } from './rules.js';
import { page as changesPage } from './changes.js';
import { page as statusPage } from './status.js';

const app = document.getElementById('app');

// All of them come with this page, from the server that it came from: what is
// loaded later could come from whoever has taken its port.
const PAGES = {
  __proto__: null,
  sessions: sessionsPage,
  session: sessionPage,
  requests: requestsPage,
  tools: toolsPage,
  rules: rulesPage,
  changes: changesPage,
  status: statusPage,
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

async function route() {
  if (/^#open=/.test(location.hash)) { // a new link into an old tab
    if (!main) return boot();
    await exchange();
  }
  if (!main) return;
  const { place, page, params } = readHash(location.hash);
  closeDialogs();
  if (!PAGES[page]) return missing();
  // A page that can take new parameters keeps what it has.
  if (shown && shown.page === page && shown.cleanup && shown.cleanup.update && shown.cleanup.update(params)) return;
  leave();
  markPlace(place);
  put(main);
  const root = h('div', { class: 'page' });
  main.append(root);
  main.scrollTop = 0;
  retitle(PAGES[page].title);
  try {
    shown = { page, cleanup: PAGES[page].mount(root, params, ctx) };
  } catch (err) {
    console.error(err);
    put(root, h('div', { class: 'note bad', role: 'alert' }, 'This page failed. ', explain(err)));
  }
  if (document.activeElement === document.body || !document.activeElement) main.focus({ preventScroll: true });
}

/** An address that leads nowhere. */
function missing() {
  leave();
  markPlace('');
  retitle('Not found');
  put(main, h('div', { class: 'page' }, h('div', { class: 'page-head' }, h('h1', null, 'Not found')),
    h('div', { class: 'empty' }, h('p', null, 'There is no such page in this console.'), h('p', null, h('a', { href: '#/sessions' }, 'Go to the sessions')))));
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
  closeDialogs();
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
