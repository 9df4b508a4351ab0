// The page of all that waits for a person.

import { h, put, text, typing } from './dom.js';
import { failure, loading } from './bits.js';
import { cardPlace } from './cards.js';
import { state } from './state.js';

const maxCards = 30; // at once; the others come up as these are answered
const maxSettled = 10; // lines that say how one ended

function emptyState() {
  return h('div', { class: 'empty' }, h('p', null, 'Nothing waits for you.'),
    h('p', { class: 'small' }, 'When a rule asks before a tool may do something, or an agent has a question, it appears here by itself.'));
}

export const page = {
  title: 'Requests',

  mount(root, params, ctx) {
    const cards = cardPlace(ctx, { most: maxCards, outcomes: maxSettled });
    cards.el.classList.add('requests');
    const heading = h('h2', { class: 'sr' }, 'Waiting for you'); // what the cards' own headings stand below
    const count = h('p', { class: 'dim', role: 'status' });
    const more = h('p', { class: 'dim', hidden: true });
    const place = h('div');
    put(root, h('div', { class: 'page-head' }, h('h1', null, 'Requests'), count), heading, cards.el, more, place);

    function update() {
      const { waiting, open } = cards.update();
      heading.hidden = !cards.el.firstChild;
      text(count, waiting === 0 ? '' : waiting === 1 ? 'One waits for an answer' : `${waiting.toLocaleString('en')} wait for an answer`);
      more.hidden = waiting <= open;
      text(more, `${(waiting - open).toLocaleString('en')} more come up as these are answered.`);
      if (waiting > 0) put(place);
      else if (state.error && !state.loaded) put(place, failure(state.error, () => state.load().catch(() => {})));
      else if (!state.loaded) put(place, loading('Loading …'));
      else if (!place.firstChild || !place.querySelector('.empty')) put(place, emptyState());
    }
    /** j and k go from card to card; what a card's own keys do, they do where it has the focus. */
    function keys(e) {
      const by = { __proto__: null, j: 1, k: -1 }[e.key];
      if (!by || e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector('dialog[open]')) return;
      const open = [...cards.el.querySelectorAll('.request:not(.settled)')];
      const at = open.findIndex((card) => card.contains(document.activeElement));
      const next = open[at < 0 ? (by > 0 ? 0 : open.length - 1) : at + by];
      if (!next) return;
      e.preventDefault();
      next.focus();
    }
    update();
    const off = state.on(update);
    addEventListener('keydown', keys);
    return () => {
      off();
      removeEventListener('keydown', keys);
    };
  },
};
