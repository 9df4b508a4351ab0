// What tools changed on disk, and the way back. An undo is always shown before
// it is done, what can not be put back first.

import { api } from './api.js';
import { code, empty, failure, gather, hashOf, loading, sessionLink, time } from './bits.js';
import { renderDiff } from './diff.js';
import { parseDiff } from './difftext.js';
import { h, put } from './dom.js';
import { events } from './events.js';
import { bytes, plural } from './format.js';
import { state } from './state.js';
import { visibleLine } from './visible.js';

const STEP = 100; // sets loaded at a time
const MOST = 1000;
const OWN = 3_000; // ms in which changes are taken for those of an undo made here
const FILES = 30; // of one call, shown at first

const KINDS = { __proto__: null, add: ['ok', 'added'], update: ['info', 'changed'], delete: ['bad', 'deleted'] };
const ACTIONS = {
  __proto__: null,
  restore: ['info', 'put back', 'to be put back'], create: ['ok', 'made again', 'to be made again'], remove: ['bad', 'removed', 'to be removed'],
  same: ['', 'already so', 'already so'], conflict: ['warn', 'left alone', 'conflict'], lost: ['bad', 'left alone', 'lost'],
};
const stuck = (f) => f.action === 'conflict' || f.action === 'lost';
const acts = (f) => !stuck(f) && f.action !== 'same';

/** What an undo came to, by what it reports: the words above it, and how they are meant. */
function outcome(report) {
  const done = report.files.filter(acts).length;
  const left = report.files.filter(stuck).length;
  if (done === 0) return [left > 0 ? 'Nothing was undone' : 'Nothing to undo: it was so already', left > 0 ? 'bad' : 'warn'];
  return left > 0 ? [`Undone in part: ${plural(left, 'file')} left alone`, 'warn'] : ['Undone', 'ok'];
}

/** Sets that follow each other and are of one call stand together. */
function grouped(sets) {
  const groups = [];
  for (const s of sets) {
    const last = groups.at(-1);
    if (last && s.call && last.call === s.call && last.session === s.session) last.sets.push(s);
    else groups.push({ call: s.call, session: s.session, sets: [s] });
  }
  return groups;
}

/** One change of a file. */
function fileLine(f) {
  const [cls, word] = KINDS[f.kind] || ['', f.kind];
  const size = f.kind === 'add' ? bytes(f.after || 0) : f.kind === 'delete' ? bytes(f.before || 0) : `${bytes(f.before || 0)} → ${bytes(f.after || 0)}`;
  return h('li', { class: 'change-file' }, h('span', { class: ['badge', cls] }, visibleLine(word)),
    h('a', { class: 'grow', href: hashOf('changes', { file: f.file }), title: 'Only changes of this file' }, code(f.title || f.file)),
    h('span', { class: 'dim num nowrap' }, size),
    f.kept === false && h('span', { class: 'badge warn', title: 'What was there before was not kept, so it can not be put back.' }, 'not kept'));
}

function fileList(files) {
  const list = h('ul', { class: 'plain' }, files.slice(0, FILES).map(fileLine));
  if (files.length <= FILES) return list;
  const more = h('button', { type: 'button', onclick: () => { list.append(...files.slice(FILES).map(fileLine)); more.remove(); } }, `Show ${files.length - FILES} more files`);
  return [list, more];
}

// --- undo

/** What an undo would do, or did. */
function reportBody(report, done) {
  const bad = report.files.filter(stuck);
  const rest = report.files.filter((f) => !stuck(f));
  const line = (f) => {
    const [cls, past, coming] = ACTIONS[f.action] || ['', f.action, f.action];
    return h('li', { class: 'change-file' }, h('span', { class: ['badge', cls] }, visibleLine(done ? past : coming)),
      h('div', { class: 'grow' }, code(f.title || f.file), f.reason && h('div', { class: 'dim' }, visibleLine(f.reason))));
  };
  const diffs = rest.filter((f) => f.diff).flatMap((f) => parseDiff(f.diff).map((d) => ({ ...d, name: f.title || f.file, before: '' })));
  return [
    bad.length > 0 && h('div', { class: 'note warn' },
      h('b', null, plural(bad.length, 'file'), done ? ' could not be put back, and nothing was done there.' : ' can not be put back and would be left alone.'),
      h('ul', { class: 'plain' }, bad.map(line))),
    h('ul', { class: 'plain' }, rest.map(line)),
    diffs.length > 0 && renderDiff(diffs),
  ];
}

/** The place in a card where an undo is looked at, and then done. */
function undoPanel(ctx, { onDone, onUndo }) {
  const el = h('div', { class: 'undo-panel', hidden: true });
  let turn = 0;
  function close(back) {
    turn++;
    el.hidden = true;
    put(el);
    back?.focus();
  }
  function head(title) {
    return h('h3', { tabindex: -1 }, title);
  }
  async function preview(request, title) {
    const mine = ++turn;
    const back = document.activeElement;
    el.hidden = false;
    put(el, loading('Looking at what an undo would do …'));
    try {
      const report = await api.post('/undo', { ...request, preview: true });
      if (mine !== turn) return;
      const able = report.files.some(acts);
      const top = head(title);
      const go = h('button', { type: 'button', class: 'danger', disabled: !able, onclick: () => run(request, report, go) }, 'Undo');
      put(el, top, h('p', { class: 'dim' }, `Nothing has been done yet. ${plural(report.sets?.length || 0, 'change set')}, ${plural(report.files.length, 'file')}.`), reportBody(report, false),
        h('div', { class: 'row wrap undo-actions' }, h('button', { type: 'button', onclick: () => close(back) }, 'Close'), go, !able && h('span', { class: 'dim' }, 'There is nothing that could be put back.')));
      top.focus({ preventScroll: true });
      el.scrollIntoView({ block: 'nearest' });
    } catch (err) {
      if (mine !== turn) return;
      put(el, err.code === 'nothing-to-undo' ? h('p', { class: 'note' }, 'There is nothing to undo here: it was taken back already, or nothing came after it.') : failure(err),
        h('div', { class: 'row' }, h('button', { type: 'button', onclick: () => close(back) }, 'Close')));
    }
  }
  async function run(request, seen, go) {
    const n = seen.files.filter(acts).length;
    const left = seen.files.filter(stuck).length;
    if (!(await ctx.confirm(`Undo the changes of ${plural(n, 'file')}?${left ? ` ${plural(left, 'file')} will be left alone.` : ''} This can be undone.`, { yes: 'Undo', danger: true }))) return;
    const mine = ++turn;
    go.disabled = true;
    onUndo();
    try {
      // What was looked at and no more: something may have been changed since.
      const report = await api.post('/undo', { sets: (seen.sets || []).map((s) => s.id), ...(request.session && { session: request.session }) });
      if (mine !== turn) return;
      const [said, kind] = outcome(report);
      const top = head(said);
      put(el, top, reportBody(report, true), h('div', { class: 'row wrap undo-actions' }, h('button', { type: 'button', onclick: () => { close(); onDone(); } }, 'Close'),
        report.id && h('button', { type: 'button', onclick: () => preview({ sets: [report.id] }, 'Undo the undo') }, 'Undo the undo …')));
      top.focus({ preventScroll: true });
      ctx.toast(said + '.', kind);
    } catch (err) {
      go.disabled = false;
      if (mine === turn) put(el, failure(err), h('button', { type: 'button', onclick: () => preview(request, 'Undo') }, 'Look again'));
    }
  }
  return { el, preview, close, open: () => !el.hidden };
}

/** What one call changed. */
function card(group, ctx, { narrow, panels, newest: first, ...told }) {
  const [newest] = group.sets;
  const undone = group.sets.every((s) => s.undoneBy);
  const isUndo = group.sets.some((s) => s.undoes?.length);
  const panel = undoPanel(ctx, told);
  panels.push(panel);
  const files = group.sets.flatMap((s) => s.files || []);
  const request = group.call && group.sets.length > 1 ? { call: group.call, session: group.session } : { sets: group.sets.map((s) => s.id) };
  const name = isUndo ? 'Undo' : newest.tool || 'Change';
  const newer = () => panel.preview({ to: newest.id, ...(narrow && { session: narrow }) }, 'Undo everything newer than this');
  return h('li', { class: ['card change', undone && 'undone'] },
    h('div', { class: 'change-head' }, h('h2', null, visibleLine(name)), undone && h('span', { class: 'badge' }, 'undone'),
      isUndo && h('span', { class: 'badge info' }, `took back ${plural(group.sets.reduce((n, s) => n + (s.undoes?.length || 0), 0), 'change')}`),
      h('span', { class: 'dim' }, time(newest.time), newest.agent && ` · ${visibleLine(newest.agent)}`),
      sessionLink(group.session, isUndo ? '' : group.call),
      h('span', { class: 'row wrap push change-tools' },
        !undone && h('button', { type: 'button', onclick: () => panel.preview(request, isUndo ? 'Undo the undo' : `Undo what ${visibleLine(name)} changed`) }, isUndo ? 'Undo the undo …' : 'Undo …'),
        !first && h('button', { type: 'button', class: 'quiet', title: 'Back to how things were just after this', onclick: newer }, 'Undo all newer …'))),
    fileList(files), panel.el);
}

/** The filters, each in the address of the page. */
function filters(query, ctx) {
  const known = [...state.sessions.values()].sort((a, b) => (b.time?.updated || 0) - (a.time?.updated || 0)).slice(0, 100);
  const session = h('select', { onchange: go }, h('option', { value: '' }, 'All sessions'),
    query.session && !known.some((s) => s.id === query.session) && h('option', { value: query.session }, visibleLine(query.session)),
    known.map((s) => h('option', { value: s.id }, visibleLine(s.title || s.id).slice(0, 60))));
  session.value = query.session || '';
  const file = h('input', { type: 'search', class: 'code', placeholder: 'File or folder', value: query.file || '', 'data-filter': '', autocomplete: 'off', spellcheck: 'false' });
  function go(e) {
    e?.preventDefault();
    ctx.go(hashOf('changes', { session: session.value, call: session.value === (query.session || '') ? query.call : '', file: file.value.trim() }));
  }
  return h('form', { class: 'row wrap change-filter', onsubmit: go, role: 'search', 'aria-label': 'Filter changes' },
    h('label', null, h('span', { class: 'sr' }, 'Session'), session), h('label', null, h('span', { class: 'sr' }, 'File or folder'), file), h('button', { type: 'submit' }, 'Filter'),
    query.call && h('span', { class: 'badge accent' }, 'one call'), query.message && h('span', { class: 'badge accent' }, 'one message'),
    (query.session || query.call || query.file || query.message) && h('a', { class: 'button quiet', href: '#/changes' }, 'Show all'));
}

export const page = {
  title: 'Changes',
  mount(root, params, ctx) {
    const { session, call, file, message } = params.query;
    let limit = STEP;
    let turn = 0;
    let panels = [];
    let own = 0; // when an undo was begun here: its changes are no news
    const list = h('ul', { class: 'plain stack' });
    const note = h('div', { role: 'status' });
    const more = h('button', { type: 'button', hidden: true, onclick: () => { limit = Math.min(MOST, limit * 3); load(); } }, 'Show older ones');
    put(root, h('div', { class: 'page-head' }, h('h1', null, 'Changes'), filters(params.query, ctx)), note, list, more);
    put(list, h('li', null, loading('Loading the changes …')));

    async function load() {
      const mine = ++turn;
      put(note);
      try {
        const got = await api.get('/changes', { session, call, file, message, limit });
        if (mine !== turn) return;
        panels = [];
        const cards = grouped(got.changes || []).map((g, i) => card(g, ctx, { onDone: load, onUndo: () => (own = Date.now()), narrow: session, panels, newest: i === 0 && !call && !file && !message }));
        put(list, cards, !cards.length && h('li', null, empty(session || call || file || message ? 'No change fits this filter.' : 'No tool has changed a file here yet.')));
        more.hidden = !got.more || limit >= MOST;
      } catch (err) {
        if (mine === turn) put(list, h('li', null, failure(err, load)));
      }
    }
    // Somebody who looks at an undo is not to have it pulled away.
    const later = gather(() => {
      if (!panels.some((p) => p.open())) return load();
      if (Date.now() - own < OWN) return;
      put(note, h('div', { class: 'note info row wrap' }, h('span', { class: 'grow' }, 'There are newer changes.'), h('button', { type: 'button', onclick: load }, 'Show them')));
    }, 600);
    const off = events.on((e) => {
      if (e.type === 'file.edited' || e.type === 'reload') later();
    });
    load();
    return () => {
      turn = -1;
      off();
      later.stop();
    };
  },
};
