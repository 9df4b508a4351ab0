// The page of all that waits for a person.

import { h, put, text } from './dom.js';
import { failure, loading } from './bits.js';
import { state } from './state.js';
import { permissionCard, questionCard } from './request.js';
import { shifted } from './waiting.js';

const maxCards = 30; // at once; the others come up as these are answered
const maxSettled = 10; // lines that say how one ended

/** Keeps cards true to the state: new ones at the end, answered ones as a line until there are many. */
function cardList(ctx) {
  const cards = new Map(); // by request id
  const list = h('div', { class: 'requests stack' });
  const isDone = (card) => card.classList.contains('settled');

  function draw() {
    const waiting = [...state.permissions.map((req) => [req, permissionCard]), ...state.questions.map((req) => [req, questionCard])];
    const ids = new Set(waiting.map(([req]) => req.id));
    let moved = false;
    for (const [id, card] of cards) {
      if (ids.has(id) || isDone(card) || card.getAttribute('aria-busy') === 'true') continue;
      cards.delete(id);
      card.remove();
      moved = true;
    }
    let open = [...cards.values()].filter((card) => !isDone(card)).length;
    for (const [req, make] of waiting) {
      if (cards.has(req.id)) continue;
      if (open >= maxCards) break;
      const card = make(req, ctx);
      cards.set(req.id, card);
      list.append(card);
      open++;
      moved = true;
    }
    moved = tidy() || moved;
    if (moved) shifted();
    return { waiting: waiting.length, shown: open };
  }

  /** Old outcomes go first. */
  function tidy() {
    const done = [...cards].filter(([, card]) => isDone(card));
    for (const [id, card] of done.slice(0, Math.max(0, done.length - maxSettled))) {
      cards.delete(id);
      card.remove();
    }
    return done.length > maxSettled;
  }
  return { list, draw };
}

function emptyState() {
  return h('div', { class: 'empty' }, h('p', null, 'Nothing waits for you.'),
    h('p', { class: 'small' }, 'When a rule asks before a tool may do something, or an agent has a question, it appears here by itself.'));
}

export const page = {
  title: 'Requests',

  mount(root, params, ctx) {
    const { list, draw } = cardList(ctx);
    const count = h('p', { class: 'dim', role: 'status' });
    const more = h('p', { class: 'dim', hidden: true });
    const place = h('div');
    put(root, h('div', { class: 'page-head' }, h('h1', null, 'Requests'), count), list, more, place);

    function update() {
      const { waiting, shown } = draw();
      text(count, waiting === 0 ? '' : waiting === 1 ? 'One waits for an answer' : `${waiting.toLocaleString('en')} wait for an answer`);
      more.hidden = waiting <= shown;
      text(more, `${(waiting - shown).toLocaleString('en')} more come up as these are answered.`);
      if (waiting > 0) put(place);
      else if (state.error && !state.loaded) put(place, failure(state.error, () => state.load().catch(() => {})));
      else if (!state.loaded) put(place, loading('Loading …'));
      else if (!place.firstChild || !place.querySelector('.empty')) put(place, emptyState());
    }
    update();
    return state.on(update);
  },
};
