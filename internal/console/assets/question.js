// The card of questions that an agent asks: answers to pick from, or words of
// one's own.

import { h, put } from './dom.js';
import { api, explain, path } from './api.js';
import { hiddenWithin, visibleLine, visibleLineNode, visibleNode } from './visible.js';
import { countdown, onSettled, origin, settle, steady } from './waiting.js';

const maxQuestions = 50;
const maxOptions = 100;

const textOf = (v) => (typeof v === 'string' ? v : '');

/** One question: its options as radios or boxes, and a field. */
function questionField(q, index, req) {
  const multiple = q?.multiple === true;
  const type = multiple ? 'checkbox' : 'radio';
  const name = `q-${req.id}-${index}`;
  const options = (Array.isArray(q?.options) ? q.options : []).slice(0, maxOptions);
  const inputs = options.map(() => h('input', { type, name }));
  const own = h('input', { type, name });
  const field = h('textarea', { rows: 1, maxlength: 8000, 'aria-label': 'Your own words' });
  field.addEventListener('input', () => {
    own.checked = field.value.trim() !== '';
  });
  own.addEventListener('change', () => own.checked && field.focus());
  const clear = h('button', { type: 'button', class: 'quiet', onclick: () => [...inputs, own].forEach((i) => (i.checked = false)) }, 'Clear');
  const el = h('fieldset', { class: 'question' },
    h('legend', null, textOf(q?.header) ? h('span', { class: 'badge accent' }, visibleLine(q.header)) : null, ' ', h('span', { class: 'question-text' }, visibleNode(textOf(q?.question)))),
    multiple ? h('p', { class: 'small dim' }, 'Several may be picked.') : null,
    options.map((o, i) => h('label', { class: 'choice' }, inputs[i], h('span', null, visibleLineNode(textOf(o?.label)), textOf(o?.description) ? h('span', { class: 'dim choice-about' }, visibleLineNode(o.description)) : null))),
    h('div', { class: 'own' }, h('label', { class: 'choice' }, own, 'In your own words'), field), multiple ? null : clear);
  return {
    el,
    answer() {
      const picked = options.filter((_, i) => inputs[i].checked).map((o) => textOf(o?.label));
      const words = own.checked ? field.value.trim() : '';
      return words === '' ? picked : [...picked, words];
    },
  };
}

/**
 * The card of a set of questions. It sends its own answers, once.
 * @param {Object} req as GET /v1/requests gives it
 * @returns {HTMLElement}
 */
export function questionCard(req) {
  const questions = (Array.isArray(req.questions) ? req.questions : []).slice(0, maxQuestions);
  const fields = questions.map((q, i) => questionField(q, i, req));
  const from = origin(req);
  const titleID = 'req-' + req.id;
  const status = h('p', { class: 'req-status', role: 'status' });
  const hidden = hiddenWithin(questions);
  const send = h('button', { type: 'button', class: 'primary', 'data-reply': 'answer', onclick: () => press(answer) }, questions.length === 1 ? 'Send the answer' : 'Send the answers');
  const dismiss = h('button', { type: 'button', 'data-reply': 'dismiss', onclick: () => press(() => post('dismiss')) }, 'Dismiss');
  const el = h('article', { class: 'card attention request', tabindex: '0', 'aria-labelledby': titleID, 'data-request': req.id },
    h('header', { class: 'req-head' },
      h('div', { class: 'row wrap' }, h('h3', { id: titleID }, questions.length === 1 ? 'A question' : `${questions.length} questions`),
        hidden ? h('span', { class: 'badge bad' }, 'contains hidden characters') : null, h('span', { class: 'push' }, countdown(req))),
      h('p', { class: 'req-who small dim' }, h('a', { href: from.place }, visibleLine(from.title.slice(0, 120))), from.call ? [' · ', h('a', { href: from.call }, 'the call')] : null)),
    h('div', { class: 'req-body' }, fields.map((f) => f.el)),
    h('footer', { class: 'req-foot' }, status, h('div', { class: 'req-actions' }, send, dismiss)));
  const ready = steady(el, (still) => {
    for (const button of [send, dismiss]) button.setAttribute('aria-disabled', String(!still));
  });
  let busy = false;
  let done = false;
  const off = onSettled(req.id, (how) => busy || end(how === 'answered' ? 'ok' : 'dim', how === 'answered' ? 'Answered elsewhere: ' : 'Dismissed: '));
  const say = (text, bad = false) => {
    put(status, text);
    status.classList.toggle('bad', bad);
  };

  function press(act) {
    if (busy || done) return;
    if (ready()) act();
    else say('The page has just moved. Look once more, then press again.');
  }
  function answer() {
    const answers = fields.map((f) => f.answer());
    if (fields.length > 0 && answers.every((a) => a.length === 0)) {
      say('Pick an answer or write one; or dismiss it.');
      return;
    }
    post('', { answers });
  }
  function lock(on) {
    busy = on;
    if (on && el.contains(document.activeElement)) el.focus({ preventScroll: true }); // what is disabled loses it
    el.setAttribute('aria-busy', String(on));
    for (const field of el.querySelectorAll('input, textarea, button')) field.disabled = on;
  }
  async function post(what, body) {
    lock(true);
    say('Sending …');
    try {
      await api.post(path('questions', req.id, ...(what ? [what] : [])), body ?? {});
      end(what ? 'dim' : 'ok', what ? 'Dismissed: ' : 'Answered: ');
    } catch (err) {
      if (err?.status === 404) {
        end('dim', 'Answered elsewhere or withdrawn: ');
        return;
      }
      lock(false);
      say(visibleLine(explain(err)), true);
    }
  }
  function end(kind, words) {
    if (done) return;
    done = true;
    off();
    settle(el, kind, words, h('span', null, visibleLine(textOf(questions[0]?.header) || textOf(questions[0]?.question).slice(0, 120))));
  }
  return el;
}
