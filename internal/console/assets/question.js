// The card of questions that an agent asks: answers to pick from, or words of
// one's own.

import { h, put } from './dom.js';
import { api, explain, path } from './api.js';
import { hiddenWithin, rightToLeftWithin, visibleLine, visibleLineNode, visibleNode } from './visible.js';
import { asker, countdown, onSettled, settle, shifted, steady } from './waiting.js';

const maxQuestions = 50; // shown at first; the others when they are asked for
const maxOptions = 100; // of a question, likewise
const mostAnswers = 256; // that the server takes at once

const textOf = (v) => (typeof v === 'string' ? v : '');

/** What is made of many things, some at first and then more on asking. All of them count all the same. */
function grown(things, step, name, make) {
  const made = things.map(make);
  const more = h('button', { type: 'button', class: 'more', onclick: show });
  let at = Math.min(step, made.length);
  function label() {
    const left = made.length - at;
    more.hidden = left === 0;
    put(more, `… and ${left.toLocaleString('en')} more ${name}${left === 1 ? '' : 's'}: show ${left > step ? 'the next ' + step : 'them'}`);
  }
  function show() {
    more.before(...made.slice(at, at + step));
    at = Math.min(made.length, at + step);
    label();
    shifted();
  }
  label();
  return [made.slice(0, at), more];
}

/** One question: its options as radios or boxes, and a field. */
function questionField(q, index, req) {
  const multiple = q?.multiple === true;
  const type = multiple ? 'checkbox' : 'radio';
  const name = `q-${req.id}-${index}`;
  const options = Array.isArray(q?.options) ? q.options : [];
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
    grown(options, maxOptions, 'option', (o, i) => h('label', { class: 'choice' }, inputs[i], h('span', null, visibleLineNode(textOf(o?.label)), textOf(o?.description) ? h('span', { class: 'dim choice-about' }, visibleLineNode(o.description)) : null))),
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
  const questions = Array.isArray(req.questions) ? req.questions : [];
  const fields = questions.map((q, i) => questionField(q, i, req));
  const titleID = 'req-' + req.id;
  const status = h('p', { class: 'req-status', role: 'status' });
  const hidden = hiddenWithin(questions);
  const send = h('button', { type: 'button', class: 'primary', 'data-reply': 'answer', onclick: () => press(answer) }, questions.length === 1 ? 'Send the answer' : 'Send the answers');
  const dismiss = h('button', { type: 'button', 'data-reply': 'dismiss', onclick: () => press(() => post('dismiss')) }, 'Dismiss');
  const el = h('article', { class: 'card attention request', tabindex: '0', 'aria-labelledby': titleID, 'data-request': req.id },
    h('header', { class: 'req-head' },
      h('div', { class: 'row wrap' }, h('h3', { id: titleID }, questions.length === 1 ? 'A question' : `${questions.length} questions`),
        hidden ? h('span', { class: 'badge bad' }, 'contains hidden characters') : null,
        rightToLeftWithin(questions) ? h('span', { class: 'badge warn', title: 'They are shown in the order in which they are stored, from left to right' }, 'right-to-left letters') : null, h('span', { class: 'push' }, countdown(req))),
      h('p', { class: 'req-who small dim' }, asker(req))),
    h('div', { class: 'req-body', tabindex: '0', role: 'group', 'aria-label': 'What is asked' }, grown(fields, maxQuestions, 'question', (f) => f.el)),
    h('footer', { class: 'req-foot' }, status, h('div', { class: 'req-actions' }, send, dismiss)));
  const ready = steady(el, (still) => {
    for (const button of [send, dismiss]) button.setAttribute('aria-disabled', String(!still));
  });
  let busy = false;
  let done = false;
  const elsewhere = (how) => busy || end(how === 'answered' ? 'ok' : 'dim', { __proto__: null, expired: 'Time ran out: ', dismissed: 'Dismissed: ' }[how] || 'Answered elsewhere: ');
  const off = onSettled(req.id, elsewhere);
  el.addEventListener('gone', () => elsewhere('gone'));
  const say = (text, bad = false) => {
    put(status, text);
    status.classList.toggle('bad', bad);
  };

  function press(act) {
    if (busy || done) return;
    if (ready()) act();
    else say(ready.seen() ? 'The page has just moved. Look once more, then press again.' : 'The question was not in view. Bring it into view, then press again.');
  }
  function answer() {
    if (fields.length > mostAnswers) {
      say(`More than ${mostAnswers} questions can not be answered at once. Dismiss them, and the agent can ask again in parts.`, true);
      return;
    }
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
        lock(false); // what was typed was not sent
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
