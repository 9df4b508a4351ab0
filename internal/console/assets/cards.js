// Cards of requests and questions, kept true to the state wherever they stand.

import { h } from './dom.js';
import { permissionCard, questionCard } from './request.js';
import { state } from './state.js';
import { shifted } from './waiting.js';

const isDone = (card) => card.classList.contains('settled');
const isBusy = (card) => card.getAttribute('aria-busy') === 'true';
const hasFocus = (card) => card.contains(document.activeElement);

/**
 * A place for cards. Each is made once, because somebody may be writing in it,
 * and new ones come last; one that is just being answered stays until it knows
 * how that ended, and one that has the focus until the person leaves it: what is
 * typed into it is for nobody else.
 * @param {Object} ctx of the page
 * @param {Object} o
 * @param {(req: Object) => boolean} [o.fits] which requests belong here
 * @param {number} [o.most] cards at once; the others come up as these are answered
 * @param {number} [o.outcomes] lines that stay to say how one ended
 * @returns {{el: HTMLElement, update: () => {waiting: number, open: number, came: boolean}, clear: () => void}}
 */
export function cardPlace(ctx, { fits = () => true, most = Infinity, outcomes = 0 } = {}) {
  const cards = new Map(); // by request id
  const el = h('div', { class: 'stack' });

  function drop(id) {
    cards.get(id).remove();
    cards.delete(id);
  }

  /** One that waits no more, and was not told how it ended. */
  function lose(id) {
    if (hasFocus(cards.get(id))) cards.get(id).dispatchEvent(new CustomEvent('gone'));
    else drop(id);
  }

  /** Whoever has answered goes on with the next, at its heading: no button is at hand by itself. */
  function goOn(card) {
    const open = [...el.children].filter((c) => !isDone(c) && c !== card);
    const next = open.find((c) => card.compareDocumentPosition(c) & Node.DOCUMENT_POSITION_FOLLOWING) || open[0];
    const heading = next?.querySelector('h3');
    if (!heading) return;
    heading.tabIndex = -1;
    heading.focus();
  }

  function update() {
    const wanted = [...state.permissions.map((req) => [req, permissionCard]), ...state.questions.map((req) => [req, questionCard])].filter(([req]) => fits(req));
    const ids = new Set(wanted.map(([req]) => req.id));
    const before = cards.size;
    for (const [id, card] of cards) if (!ids.has(id) && !isDone(card) && !isBusy(card)) lose(id);
    const ended = [...cards].filter(([id, card]) => isDone(card) && !ids.has(id) && !hasFocus(card));
    for (const [id] of ended.slice(0, Math.max(0, ended.length - outcomes))) drop(id); // the oldest go first
    const left = cards.size;
    let open = [...cards.values()].filter((card) => !isDone(card)).length;
    for (const [req, make] of wanted) {
      if (cards.has(req.id)) continue;
      if (open >= most) break;
      cards.set(req.id, make(req, ctx));
      el.append(cards.get(req.id));
      open++;
    }
    const came = cards.size > left;
    if (came || left < before) shifted();
    return { waiting: wanted.length, open, came };
  }

  function clear() {
    for (const id of [...cards.keys()]) {
      if (!isDone(cards.get(id))) lose(id);
      else if (!hasFocus(cards.get(id))) drop(id);
    }
  }

  // One that was spared while it was answered.
  el.addEventListener('settled', update);
  el.addEventListener('settled', (e) => {
    if (e.detail?.own && document.activeElement === e.target) goOn(e.target);
  });
  el.addEventListener('focusout', (e) => {
    const card = e.target.closest('.request');
    if (card && isDone(card)) setTimeout(() => hasFocus(card) || el.dispatchEvent(new CustomEvent('settled')));
  });
  return { el, update, clear };
}
