// Commands in the background: how they stand, what they print, and their end.

import { api, path } from './api.js';
import { code, empty, failure, gather, loading, sessionLink } from './bits.js';
import { h, put, text } from './dom.js';
import { events } from './events.js';
import { bytes, duration } from './format.js';
import { liveOutput } from './output.js';
import { visibleLine, visibleNode } from './visible.js';

const TAIL = 16_384; // bytes of output shown at first
const MOST = 262_144; // and when more is asked for
const REFRESH = 400; // ms between looks at an output that grows

const DOTS = { __proto__: null, running: 'running', ended: 'completed', lost: 'interrupted' };

function endOf(j) {
  if (j.state === 'running') return j.exited ? 'left children running' : 'running';
  if (j.state === 'lost') return 'lost: the process that watched it has ended';
  if (j.signal) return `ended by ${visibleLine(j.signal)}`;
  return j.code === undefined || j.code === null ? 'ended' : `ended with ${j.code}`;
}

const failed = (j) => j.state === 'ended' && (j.signal || j.code);

/** One job. It is drawn anew in place, so that what is open stays open. */
function jobCard(first, ctx) {
  let job = first;
  let output = null;
  let turn = 0;
  let tail = TAIL;
  const dot = h('span', { class: 'dot', 'aria-hidden': 'true' });
  const word = h('span', { class: 'nowrap' });
  const took = h('span', { class: 'dim num nowrap' });
  const size = h('span', { class: 'dim num nowrap' });
  const stop = h('button', { type: 'button', class: 'danger', onclick: end }, 'Stop');
  const slot = h('div', { class: 'job-output' });
  const more = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: () => { tail = MOST; look(); } }, `Show the last ${bytes(MOST)}`);
  const fold = h('details', { ontoggle: () => fold.open && look() }, h('summary', null, 'Output ', size), slot, more);
  const el = h('li', { class: 'card tight job' },
    h('div', { class: 'job-head' }, dot, word, took, sessionLink(first.session, first.call), h('span', { class: 'push' }, stop)),
    h('pre', { class: 'job-command' }, visibleNode(first.command)), first.dir && h('div', { class: 'dim small' }, 'in ', code(first.dir)), fold);

  function draw() {
    dot.dataset.state = failed(job) ? 'error' : DOTS[job.state] || job.state;
    text(word, endOf(job));
    word.className = failed(job) ? 'nowrap bad' : 'nowrap';
    const until = job.ended ? Date.parse(job.ended) : Date.now();
    text(took, job.state === 'lost' ? '' : duration(until - Date.parse(job.began)));
    text(size, bytes(job.bytes || 0) + (job.bytes > tail ? ', its end' : ''));
    stop.hidden = job.state !== 'running';
  }
  async function look() {
    const mine = ++turn;
    try {
      const got = await api.get(path('jobs', job.id, 'output'), { offset: -tail });
      if (mine !== turn) return;
      if (!output) {
        output = liveOutput();
        put(slot, output.el);
      }
      output.set(got.text || '');
      more.hidden = tail === MOST || !(got.offset > 0);
      if (got.state !== 'running') output.end();
    } catch (err) {
      if (mine === turn) put(slot, failure(err, look));
    }
  }
  async function end() {
    if (!(await ctx.confirm(`Stop this command? ${visibleLine(job.command).slice(0, 200)}`, { yes: 'Stop', danger: true }))) return;
    stop.disabled = true;
    try {
      update(await api.post(path('jobs', job.id, 'stop')));
    } catch (err) {
      ctx.toast(err.message, 'bad');
    }
    stop.disabled = false;
  }
  const later = gather(look, REFRESH);
  function update(next) {
    if (next?.id === job.id) job = { ...job, ...next };
    draw();
    if (fold.open) later();
  }
  draw();
  if (job.state === 'running') fold.open = true;
  return { el, draw, update, running: () => job.state === 'running', cleanup: later.stop };
}

/** The list of jobs, kept true by the events. */
export function jobsPart(ctx) {
  const cards = new Map();
  const list = h('ul', { class: 'plain stack' }, h('li', null, loading('Loading the jobs …')));
  let turn = 0;
  async function load() {
    const mine = ++turn;
    try {
      const all = (await api.get('/jobs')).jobs || [];
      if (mine === turn) draw(all);
    } catch (err) {
      if (mine === turn) put(list, h('li', null, failure(err, load)));
    }
  }
  function draw(all) {
    const rank = (j) => (j.state === 'running' ? 0 : 1);
    all.sort((a, b) => rank(a) - rank(b) || Date.parse(b.began) - Date.parse(a.began));
    for (const [id, card] of cards) {
      if (all.some((j) => j.id === id)) continue;
      card.cleanup();
      cards.delete(id);
    }
    for (const j of all) {
      if (cards.has(j.id)) cards.get(j.id).update(j);
      else cards.set(j.id, jobCard(j, ctx));
    }
    put(list, all.map((j) => cards.get(j.id).el), !all.length && h('li', null, empty('No command runs in the background.')));
  }
  const off = events.on((e) => {
    if (e.type === 'reload') load();
    if (e.type !== 'job.updated') return;
    const card = cards.get(e.properties.id);
    if (card) card.update(e.properties);
    else later();
  });
  const later = gather(load, 200);
  const tick = setInterval(() => {
    for (const c of cards.values()) if (c.running()) c.draw();
  }, 1000);
  load();
  return {
    el: list,
    cleanup() {
      turn = -1;
      off();
      later.stop();
      clearInterval(tick);
      for (const c of cards.values()) c.cleanup();
    },
  };
}
