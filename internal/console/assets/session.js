// The page of one session: who works on what, the conversation, the calls,
// what is to be done, who else was sent for.

import { explain } from './api.js';
import { callPanel } from './call.js';
import { callsView } from './calls.js';
import { cardPlace } from './cards.js';
import { attr, h, put, text, typing } from './dom.js';
import { sessionFeed } from './feed.js';
import { cost, count, full, modelName, plural, tokenSums, when } from './format.js';
import { icon } from './icons.js';
import { todoList } from './pieces.js';
import { promptBox } from './prompt.js';
import { fillRow, makeRow, rowHeight, statusWord } from './sessions.js';
import { state } from './state.js';
import { talkView } from './talk.js';
import { arrange, treeList } from './tree.js';
import { visibleLine } from './visible.js';

const TABS = [['talk', 'Conversation'], ['calls', 'Calls'], ['todos', 'Todos'], ['agents', 'Subagents']];
const link = (...words) => '#/sessions/' + words.map(encodeURIComponent).join('/');

/** The sessions that were started by a session, and by those. */
export function below(id) {
  const all = [...state.sessions.values()];
  const found = new Set([id]);
  for (let n = 0; n !== found.size;) {
    n = found.size;
    for (const s of all) if (found.has(s.parentID)) found.add(s.id);
  }
  found.delete(id);
  return all.filter((s) => found.has(s.id)).sort((a, b) => a.time.created - b.time.created);
}

// --- head

function makeHead() {
  const back = h('a', { class: 'button quiet icon', href: '#/sessions', 'aria-label': 'All sessions', title: 'All sessions' }, icon('back'));
  const title = h('h1', { class: 'ellipsis' });
  const status = h('span', { class: 'badge', role: 'status' });
  const facts = h('div', { class: 'ses-facts dim small num' });
  const el = h('header', { class: 'ses-head' }, h('div', { class: 'row' }, back, title, status), facts);
  return {
    el,
    set(s, todos) {
      text(title, visibleLine(s.title || s.first || s.id));
      attr(title, 'title', title.textContent);
      const word = statusWord(s);
      const retry = s.status && s.status.type === 'retry';
      text(status, retry ? `retrying: ${visibleLine(s.status.message || '')}`.slice(0, 80) : word);
      attr(status, 'title', s.failure && s.failure.data ? visibleLine(s.failure.data.message || '') : null);
      attr(status, 'class', `badge ${{ __proto__: null, working: 'info', retrying: 'warn', failed: 'bad' }[word] || ''}`);
      const sum = tokenSums(s.tokens);
      const done = todos.filter((t) => t.status === 'completed').length;
      const open = todos.filter((t) => t.status !== 'cancelled').length;
      const parent = s.parentID && state.sessions.get(s.parentID);
      const key = JSON.stringify([s.parentID, parent && parent.title, s.agent, s.model, sum, s.cost, done, open]);
      if (facts.dataset.key === key) return; // a turn tells of itself many times a second
      facts.dataset.key = key;
      put(facts, [
        s.parentID && h('a', { href: link(s.parentID) }, '↑ ' + visibleLine((parent && parent.title) || 'who started it').slice(0, 60)),
        s.agent && h('span', null, visibleLine(s.agent)),
        modelName(s.model) && h('span', null, visibleLine(modelName(s.model))),
        (sum.input > 0 || sum.output > 0) && h('span', { title: `${plural(sum.input, 'token')} in, of which ${sum.cached.toLocaleString('en')} cached; ${sum.output.toLocaleString('en')} out` }, `${count(sum.input)} in · ${count(sum.output)} out`),
        s.cost > 0 && h('span', null, cost(s.cost)),
        open > 0 && h('span', { class: 'row' }, h('progress', { max: open, value: done, 'aria-label': 'Todos done' }), `${done}/${open} done`),
        h('span', { title: full(s.time.created) }, 'since ', when(s.time.created)),
      ]);
    },
  };
}

// --- todos

function todosView(feed) {
  const el = h('div', { class: 'todos-view' });
  return {
    el,
    update: () => put(el, feed.todos.length ? todoList(feed.todos) : h('div', { class: 'empty' }, 'No list of things to do.')),
    destroy() {},
  };
}

// --- subagents

function agentsView(id, ctx) {
  const tree = treeList({ label: 'Subagents', height: rowHeight, make: makeRow, fill: fillRow, isOpen: () => true, open: (s) => ctx.go(link(s.id)) });
  const none = h('div', { class: 'empty' }, 'No other agent was sent for.');
  const sum = h('p', { class: 'dim small num' });
  const el = h('div', { class: 'agents' }, sum, tree.el, none);
  return {
    el,
    update() {
      const list = below(id);
      tree.set(arrange(list, (s) => s.parentID));
      tree.el.hidden = sum.hidden = !list.length;
      none.hidden = !!list.length;
      const money = list.reduce((n, s) => n + (s.cost || 0), 0);
      text(sum, [plural(list.length, 'subagent'), `${list.filter((s) => s.status && s.status.type !== 'idle').length} working`, cost(money)].filter(Boolean).join(' · '));
    },
    focus: () => tree.focus(),
    destroy: () => tree.destroy(),
  };
}

// --- what waits

/** The cards of the requests of a session and of those below it. */
function cardsView(id, ctx) {
  let ids = new Set();
  const cards = cardPlace(ctx, { fits: (r) => ids.has(r.sessionID) });
  const el = h('div', { class: 'ses-cards', 'aria-label': 'Waiting for you', role: 'region', hidden: true }, h('h2', { class: 'sr' }, 'Waiting for you'), cards.el);
  const show = () => (el.hidden = !cards.el.firstChild);
  cards.el.addEventListener('settled', show);
  return {
    el,
    update() {
      ids = new Set([id, ...below(id).map((s) => s.id)]);
      cards.update();
      show();
    },
  };
}

// --- page

/** The tabs and their panes. go(hash) is told which one is wanted. */
function makeTabs(id, views, go) {
  const tabs = TABS.map(([name, label]) => h('a', { role: 'tab', id: `tab-${name}`, href: name === 'talk' ? link(id) : link(id, name), 'aria-controls': `pane-${name}` }, label, h('span', { class: 'badge num', hidden: true })));
  const panes = TABS.map(([name]) => h('div', { class: 'pane', role: 'tabpanel', id: `pane-${name}`, 'aria-labelledby': `tab-${name}`, hidden: true }, views[name].el));
  const changes = h('a', { href: `#/changes?session=${encodeURIComponent(id)}` }, 'Changes', icon('open', 12));
  const bar = h('div', { class: 'tabs' }, h('div', { class: 'row', role: 'tablist', 'aria-label': 'Session' }, tabs), changes);
  let now = '';
  const step = (n) => tabs[(TABS.findIndex(([name]) => name === now) + n + TABS.length) % TABS.length];
  bar.addEventListener('keydown', (e) => {
    const n = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!n || !tabs.includes(e.target)) return;
    e.preventDefault();
    const next = step(n);
    go(next.getAttribute('href'));
    next.focus();
  });
  return {
    bar, panes,
    get now() {
      return now;
    },
    show(name) {
      if (name === now) return;
      now = name;
      tabs.forEach((t, i) => {
        const on = TABS[i][0] === name;
        attr(t, 'aria-selected', String(on));
        attr(t, 'tabindex', on ? 0 : -1);
        panes[i].hidden = !on;
      });
    },
    /** Goes n tabs on. */
    move: (n) => go(step(n).getAttribute('href')),
    counts(list) {
      tabs.forEach((t, i) => {
        t.lastChild.hidden = !list[i];
        text(t.lastChild, count(list[i]));
      });
    },
  };
}

/** Where the open call is shown, beside the list of calls. */
function makeSide(feed, views, root, ctx) {
  const el = h('div', { class: 'side', hidden: true });
  let panel = null;
  let opened = '';
  return {
    el,
    get opened() {
      return opened;
    },
    open(call, visibleList) {
      if (call === opened) return;
      opened = call;
      if (panel) panel.destroy();
      panel = call ? callPanel(feed, call, { ...ctx, close: () => ctx.go(link(feed.id, 'calls')) }) : null;
      put(el, panel && panel.el);
      el.hidden = !panel;
      attr(root, 'data-panel', panel ? 'open' : null);
      views.calls.current(call);
      if (panel) panel.focus();
      else if (visibleList) views.calls.focus();
    },
    update: () => panel && panel.update(),
    destroy: () => panel && panel.destroy(),
  };
}

/** The keys of the page; returns what takes them away. */
function listenKeys({ tabs, side, box, id, ctx }) {
  const keys = (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector('dialog[open]')) return;
    if (e.key === 'Escape' && side.opened) ctx.go(link(id, 'calls'));
    else if (e.key === 'i' && tabs.now === 'talk') box.focus();
    else if (e.key === '[') tabs.move(-1);
    else if (e.key === ']') tabs.move(1);
    else return;
    e.preventDefault();
  };
  addEventListener('keydown', keys);
  return () => removeEventListener('keydown', keys);
}

/** A turn that did not come to its end: the agent can be let go on. An answer with calls is whole, and waits for another. */
function broken(feed) {
  const last = [...feed.messages.values()].at(-1);
  return !!last && (last.info.role === 'user' || !!last.info.error || !last.info.time.completed
    || last.info.finish === 'tool-calls' || last.parts.some((p) => p.type === 'tool'));
}

const gone = (err) => !!err && err.status === 404;

function failureNote(feed) {
  const el = h('div', { class: 'note bad', role: 'alert', hidden: true });
  let shown = null;
  return {
    el,
    update() {
      const err = feed.error;
      if (err === shown) return;
      shown = err;
      el.hidden = !err;
      if (!err) return;
      put(el, h('div', { class: 'row wrap' }, h('span', { class: 'grow' }, gone(err) ? 'There is no such session.' : explain(err)),
        !gone(err) && h('button', { type: 'button', onclick: () => feed.load() }, 'Try again')));
    },
  };
}

export const page = {
  title: 'Session',
  mount(root, params, ctx) {
    const id = params.id;
    root.classList.add('fill', 'session');
    const feed = sessionFeed(id, (dirty) => {
      views.talk.update(dirty);
      views.calls.update(dirty);
      if (dirty.todos) views.todos.update();
      if (dirty.rows || dirty.calls) side.update();
      drawHead();
    });
    const views = { talk: talkView(feed), calls: callsView(feed, (call) => ctx.go(link(id, 'calls', call))), todos: todosView(feed), agents: agentsView(id, ctx) };
    const head = makeHead();
    const failed = failureNote(feed);
    const box = promptBox({ ctx, session: id, sent: () => views.talk.toEnd() });
    const cards = cardsView(id, ctx);
    const tabs = makeTabs(id, views, ctx.go);
    const side = makeSide(feed, views, root, ctx);
    tabs.panes[0].append(box.el);
    tabs.panes[1].append(side.el);
    put(root, head.el, failed.el, cards.el, tabs.bar, tabs.panes); // what waits is in sight whatever tab is open
    let agents = 0;

    function drawHead() {
      const s = state.sessions.get(id);
      if (s) {
        head.set(s, feed.todos);
        ctx.title(visibleLine(s.title || s.first || 'Session'));
        box.update({ status: s.status, agent: s.agent, model: s.model, broken: broken(feed), talked: feed.messages.size > 1 });
      }
      tabs.counts([0, feed.order.length, feed.todos.filter((t) => t.status !== 'completed' && t.status !== 'cancelled').length, agents]);
      failed.update();
      if (gone(feed.error) && root.contains(tabs.bar)) [cards.el, tabs.bar, ...tabs.panes].forEach((e) => e.remove()); // there is nobody to talk to
    }
    function redraw() {
      agents = below(id).length;
      cards.update();
      views.agents.update();
      drawHead();
    }
    function show(name) {
      if (name === tabs.now) return;
      tabs.show(name);
      views.talk.show(name === 'talk');
      views.calls.show(name === 'calls');
    }
    function take(next) {
      const [name, call] = next.rest;
      show(TABS.some(([n]) => n === name) ? name : 'talk');
      side.open((name === 'calls' && call) || '', name === 'calls');
    }
    async function loadSession() {
      try {
        await state.fetch(id);
      } catch (err) {
        feed.error = feed.error || err;
        drawHead();
      }
    }

    const offs = [state.on(redraw), listenKeys({ tabs, side, box, id, ctx })];
    take(params);
    views.todos.update();
    redraw();
    if (!state.sessions.has(id)) loadSession();
    feed.load().then(() => {
      // A session that only holds calls has nothing to say under Conversation.
      if (!feed.messages.size && feed.order.length && !params.rest.length && tabs.now === 'talk' && root.isConnected) {
        history.replaceState(null, '', link(id, 'calls')); // so that the other tab leads somewhere
        show('calls');
      }
    });

    const cleanup = () => {
      offs.forEach((off) => off());
      feed.close();
      side.destroy();
      for (const v of Object.values(views)) v.destroy();
    };
    cleanup.update = (next) => {
      if (next.id !== id) return false;
      take(next);
      return true;
    };
    return cleanup;
  },
};
