// The page of all sessions: newest use first, subagents below who started them.

import { failure } from './bits.js';
import { attr, h, put, text } from './dom.js';
import { ago, cost, full, modelName, plural, tokens } from './format.js';
import { icon } from './icons.js';
import { within } from './paths.js';
import { promptBox } from './prompt.js';
import { state } from './state.js';
import { arrange, treeList } from './tree.js';
import { visibleLine } from './visible.js';

/** A word for how a session stands. */
export function statusWord(session) {
  const type = (session.status && session.status.type) || 'idle';
  if (type === 'busy') return 'working';
  if (type === 'retry') return 'retrying';
  return session.failure ? 'failed' : 'idle';
}

const dotState = (s) => (s.failure && (!s.status || s.status.type === 'idle') ? 'error' : (s.status && s.status.type) || 'idle');

let scope = 'here'; // or 'all'; kept while the console is open
let filter = '';

/** Whether a session belongs to the folder the server works in. */
function here(session) {
  const info = state.info;
  if (!info || !session.directory) return true;
  return [info.directory, info.worktree].some((d) => within(session.directory, d) !== null);
}

/** The sessions that are asked for, and those that they stand below. */
function wanted() {
  const all = [...state.sessions.values()].sort((a, b) => b.time.updated - a.time.updated);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (s) => {
    if (scope === 'here' && !here(s)) return false;
    const hay = [s.title, s.first, s.agent, modelName(s.model), s.id, s.directory, statusWord(s)].join(' ').toLowerCase();
    return words.every((w) => hay.includes(w));
  };
  const keep = new Set();
  for (const s of all) {
    if (!fits(s)) continue;
    for (let t = s; t && !keep.has(t.id); t = state.sessions.get(t.parentID)) keep.add(t.id);
  }
  return all.filter((s) => keep.has(s.id));
}

/** An empty row of the tree; also for the subagents of one session. */
export function makeRow() {
  return h('div', { class: 'ses' },
    h('span', { class: 'fold' }),
    h('span', { class: 'dot' }),
    h('span', { class: 'ses-title ellipsis' }),
    h('span', { class: 'ses-flags' }, h('span', { class: 'badge warn', hidden: true }), h('span', { class: 'ses-word' })),
    h('span', { class: 'ses-agent dim ellipsis' }),
    h('span', { class: 'ses-model dim ellipsis' }),
    h('span', { class: 'ses-tokens dim num ellipsis' }),
    h('span', { class: 'ses-cost dim num' }),
    h('span', { class: 'ses-time dim num' }));
}

/** Puts a session into its row. */
export function fillRow(el, { thing: s, count, open }) {
  const [fold, dot, title, flags, agent, model, toks, money, time] = el.children;
  const key = `${count > 0}${open}`;
  if (fold.dataset.key !== key) {
    fold.dataset.key = key;
    put(fold, count > 0 && icon(open ? 'down' : 'right', 14));
  }
  attr(dot, 'data-state', dotState(s));
  text(title, visibleLine(s.title || s.first || s.id));
  attr(title, 'title', title.textContent);
  const [waits, word] = flags.children;
  const n = state.waiting(s.id);
  waits.hidden = !n;
  text(waits, n ? `${n} waiting` : '');
  const status = statusWord(s);
  text(word, status === 'idle' ? (count && !open ? plural(count, 'subagent') : '') : status);
  attr(word, 'class', `ses-word badge ${{ working: 'info', retrying: 'warn', failed: 'bad' }[status] || ''}`);
  word.hidden = !word.textContent;
  text(agent, visibleLine(s.agent || ''));
  text(model, visibleLine((s.model && s.model.modelID) || ''));
  attr(model, 'title', visibleLine(modelName(s.model)));
  text(toks, tokens(s.tokens));
  text(money, cost(s.cost));
  text(time, ago(s.time.updated));
  attr(time, 'title', full(s.time.updated));
}

export const rowHeight = () => (matchMedia('(max-width: 720px)').matches ? 62 : 36);

export const page = {
  title: 'Sessions',
  mount(root, params, ctx) {
    root.classList.add('fill', 'sessions');
    const input = h('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter sessions', 'data-filter': '', value: filter });
    const scopes = ['here', 'all'].map((name) => h('button', { type: 'button', 'aria-pressed': String(scope === name), 'data-scope': name }, name === 'here' ? 'This folder' : 'All'));
    const shown = h('span', { class: 'dim num small', role: 'status' });
    const box = promptBox({ ctx, sent: (id) => ctx.go('#/sessions/' + encodeURIComponent(id)) });
    const none = h('div', { class: 'empty', hidden: true });
    const more = h('button', { type: 'button', hidden: true, onclick: older }, 'Show more');
    const trouble = h('div');
    const tree = treeList({
      label: 'Sessions', height: rowHeight, make: makeRow, fill: fillRow,
      open: (s) => ctx.go('#/sessions/' + encodeURIComponent(s.id)),
      isOpen: (s, below) => filter !== '' || below.length <= 4 || below.some((b) => b.status && b.status.type !== 'idle'),
    });
    put(root,
      h('div', { class: 'page-head' }, h('h1', null, 'Sessions'), shown, h('div', { class: 'segments', role: 'group', 'aria-label': 'Which sessions' }, scopes), input),
      box.el, tree.el, none, h('div', { class: 'ses-more' }, trouble, more));

    function draw() {
      const list = wanted();
      tree.set(arrange(list, (s) => s.parentID));
      text(shown, state.next ? `${plural(list.length, 'session')} of the newest` : plural(list.length, 'session'));
      more.hidden = !state.next;
      tree.el.hidden = !list.length;
      none.hidden = !!list.length;
      if (!list.length) put(none, emptyText());
    }
    async function older() {
      more.disabled = true;
      put(trouble);
      try {
        await state.older();
      } catch (err) {
        put(trouble, failure(err));
      }
      more.disabled = false;
    }
    function emptyText() {
      if (!state.loaded) return h('p', null, 'The sessions could not be loaded. They will be when the server answers again.');
      if (filter) return h('p', null, 'No session fits the filter.');
      if (scope === 'here' && state.sessions.size) return [h('p', null, 'No session in this folder yet.'), h('p', null, 'Those of other folders are under All.')];
      return [h('p', null, 'No session yet.'), h('p', null, 'Say above what is to be done, or start one with ', h('code', null, 'helve run'), ' or ', h('code', null, 'helve chat'), '.')];
    }
    input.addEventListener('input', () => {
      filter = input.value;
      draw();
    });
    input.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' || e.key === 'ArrowDown') tree.focus();
      else if (e.key === 'Escape' && !input.value) tree.focus();
      else return;
      e.preventDefault();
    });
    for (const b of scopes) {
      b.addEventListener('click', () => {
        scope = b.dataset.scope;
        for (const x of scopes) attr(x, 'aria-pressed', String(x === b));
        draw();
      });
    }
    const off = state.on(draw);
    const tick = setInterval(() => tree.refresh(), 30_000); // "5 min ago" grows old
    draw();
    tree.focus();
    return () => {
      off();
      clearInterval(tick);
      tree.destroy();
    };
  },
};
