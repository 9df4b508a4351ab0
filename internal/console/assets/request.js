// The card of a permission request. What decides comes first, then all of the
// text, nothing hidden in it; the buttons stay in view whatever the text is.
// Nothing is pressed by accident: no button has the focus by itself, and a
// card that has just come or moved takes no answer.

import { h, put, text, typing } from './dom.js';
import { api, explain, path } from './api.js';
import { state } from './state.js';
import { hiddenWithin, rightToLeftWithin, visibleLine, visibleLineNode, visibleNode } from './visible.js';
import { diffs, isObject, isText } from './pieces.js';
import { alwaysPanel, mostKept, shownPattern } from './always.js';
import { asker, countdown, onSettled, settle, shifted, steady, toolName } from './waiting.js';

export { questionCard } from './question.js';

const maxWhole = 256 << 10; // characters of a text, before somebody asks for the rest
const maxUnits = 200; // things to answer for, before somebody asks for more
const chord = 1500; // ms in which a letter after g is a place and no answer

// --- what is asked

/** Why a thing has to be answered for. */
function reasons(d) {
  const out = [];
  const warn = (...words) => out.push(h('li', { class: 'warn' }, words));
  if (isText(d.opaque)) warn('It is not known what it does: ', visibleLine(d.opaque), '.');
  if (d.feared === true) warn('A rule denies what it may be.');
  if (d.guarded === true) warn(d.address === true ? 'It is on this machine or in a private network.' : 'It changes what runs or is allowed later.', ' Only a rule that names it can allow it.');
  if (d.changed === true) warn('The tool is not the one that was approved.');
  if (isObject(d.rule)) {
    out.push(h('li', null, d.ceiling === true ? 'Asked by a limit: ' : 'Asked by the rule ', h('code', null, visibleLine(String(d.rule.permission))), ' ', shownPattern(String(d.rule.pattern)),
      isText(d.source) ? [', in ', visibleLineNode(d.source)] : null));
  } else if (out.length === 0) {
    out.push(h('li', null, 'No rule speaks about it.'));
  }
  return h('ul', { class: 'plain why' }, out);
}

/** How strictly a thing is asked about: what is least known or most guarded counts most. */
const strictness = (d) => (d.feared === true ? 16 : 0) + (isText(d.opaque) ? 8 : 0) + (d.guarded === true ? 4 : 0) + (d.changed === true ? 2 : 0) + (d.ceiling === true ? 1 : 0);

/** A list that grows by a button until all of it is there. */
function growing(items, make) {
  const list = h('ul', { class: 'plain' });
  const more = h('button', { type: 'button', class: 'more', onclick: () => (grow(), shifted()) });
  let at = 0;
  function grow() {
    list.append(...items.slice(at, at + maxUnits).map(make));
    at = Math.min(items.length, at + maxUnits);
    more.hidden = at === items.length;
    put(more, `… and ${(items.length - at).toLocaleString('en')} more: show ${items.length - at > maxUnits ? 'the next ' + maxUnits : 'them'}`);
  }
  grow();
  return [list, more];
}

/** The permissions that have to be answered for, each once. */
function needed(req) {
  const names = (Array.isArray(req.asked) ? req.asked : []).filter(isObject).map((d) => String(d.permission ?? req.permission ?? ''));
  return names.length > 0 ? [...new Set(names)] : [String(req.permission ?? '')];
}

/** What has to be answered for: the deciding parts, the strictest first, or all of it. */
function deciding(req) {
  const asked = (Array.isArray(req.asked) ? req.asked : []).filter(isObject).sort((a, b) => strictness(b) - strictness(a));
  const whole = [...(Array.isArray(req.parts) ? req.parts : []), req].filter(isObject);
  const patterns = whole.flatMap((r) => (Array.isArray(r.patterns) ? r.patterns : []).map((p) => [String(r.permission ?? ''), String(p)]));
  const units = asked.length > 0 ? asked.map((d) => [String(d.pattern ?? ''), d]) : patterns.map(([, p]) => [p, null]);
  const named = new Set(units.map(([pattern]) => pattern));
  const rest = patterns.filter(([, p]) => !named.has(p)).length;
  const many = needed(req).length > 1;
  return h('section', { class: 'asked' }, h('h4', { class: 'label' }, units.length > 1 ? 'These have to be answered for' : 'This has to be answered for'),
    units.length === 0 ? h('p', null, 'The tool names nothing in particular.') : null,
    growing(units, ([pattern, d]) => h('li', null, many && d ? [h('code', null, visibleLine(String(d.permission ?? ''))), ' '] : null, shownPattern(pattern), d && reasons(d))),
    rest > 0 ? h('p', { class: 'small dim' }, rest === 1 ? 'One other part is allowed already.' : `${rest} other parts are allowed already.`) : null);
}

// --- all of it

/** A text, all of it; the rest of a very long one on asking, and said so. */
function wholeText(text) {
  const box = h('pre', { class: 'req-text' }, visibleNode(text.slice(0, maxWhole)));
  if (text.length <= maxWhole) return box;
  const more = h('button', { type: 'button', class: 'more', onclick: () => more.replaceWith(h('pre', { class: 'req-text' }, visibleNode(text.slice(maxWhole)))) },
    `It goes on: show the other ${(text.length - maxWhole).toLocaleString('en')} characters`);
  return [box, more];
}

/** Whether what is asked about is a part of the command; a file that a command wants is none, though it may be named there. */
function partOf(command, patterns) {
  return (Array.isArray(patterns) ? patterns : []).some((p) => isText(p) && !/^(?:[\\/~]|[A-Za-z]:)/.test(p) && command.includes(p));
}

/** What a detail is called. */
function detailName(key, value, req) {
  if (key === 'command' && isText(value)) return partOf(value, req.patterns) ? 'The whole command' : 'For the command';
  if (key === 'workdir') return 'In the folder';
  return key;
}

function detail(key, value, req) {
  const name = h('h4', { class: 'label' }, visibleLine(detailName(key, value, req)));
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1) ?? ''; // nothing folded away: it is decided about
  const line = text.length <= 200 && !text.includes('\n') && key !== 'command';
  return h('section', null, name, line ? h('p', { class: 'mono' }, visibleLineNode(text)) : wholeText(text));
}

/** What the tool says about its request: the command first, then differences, then all else. */
function details(req) {
  const meta = Object.assign({}, ...[...(Array.isArray(req.parts) ? req.parts : []), req].map((r) => (isObject(r?.metadata) ? r.metadata : {})));
  const used = new Set();
  const out = [];
  if (isText(meta.command)) {
    out.push(detail('command', meta.command, req));
    used.add('command');
  }
  const shown = diffs(meta);
  if (shown) {
    out.push(h('section', null, h('h4', { class: 'label' }, 'What would change'), shown));
    for (const key of ['diff', 'patch', 'files', 'filediff']) used.add(key);
    for (const key of ['filepath', 'filePath']) if (isText(meta.diff) && isText(meta[key]) && meta.diff.includes(`\n+++ ${meta[key]}\n`)) used.add(key); // it stands there
  }
  const keys = Object.keys(meta).filter((k) => !used.has(k)).sort();
  for (const key of keys.slice(0, 100)) out.push(detail(key, meta[key], req));
  if (keys.length > 100) out.push(detail(`${keys.length - 100} more`, Object.fromEntries(keys.slice(100).map((k) => [k, meta[k]])), req));
  return out;
}

function changedTool(req) {
  if (!isText(req.changed)) return null;
  return h('section', { class: 'note warn' }, h('p', null, h('strong', null, 'The tool is not what it was when it was first used:')), wholeText(req.changed));
}

function head(req, titleID) {
  return h('header', { class: 'req-head' },
    h('div', { class: 'row wrap' }, h('h3', { id: titleID }, 'Permission needed: ', h('code', null, visibleLineNode(needed(req).join(', ').slice(0, 200)))),
      hiddenWithin([req.patterns, req.parts, req.asked, req.metadata, req.changed]) ? h('span', { class: 'badge bad' }, 'contains hidden characters') : null,
      rightToLeftWithin([req.patterns, req.parts, req.asked, req.metadata, req.changed]) ? h('span', { class: 'badge warn', title: 'They are shown in the order in which they are stored, from left to right' }, 'right-to-left letters') : null,
      h('span', { class: 'push' }, countdown(req))),
    h('p', { class: 'req-who small dim' }, toolName(req), asker(req)));
}

function body(req) {
  const make = () => [deciding(req), changedTool(req), details(req)];
  const el = h('div', { class: 'req-body', tabindex: '0', role: 'group', 'aria-label': 'What is asked for' });
  try {
    return put(el, make());
  } catch (err) { // what can not be shown is not to be allowed unseen
    console.error(err);
    return put(el, h('p', { class: 'note bad' }, 'This request could not be shown whole. Look at it with the helve command before you allow it.'), wholeText(JSON.stringify(req, null, 1)));
  }
}

/** In short what it was about, for the line that stays. */
function inShort(req) {
  const first = req.asked?.[0]?.pattern ?? req.patterns?.[0] ?? '';
  return [h('code', null, visibleLine(needed(req)[0])), ' ', h('span', { class: 'mono' }, visibleLineNode(String(first).slice(0, 160)))];
}

const ends = {
  __proto__: null,
  once: ['ok', 'Allowed once: '],
  always: ['ok', 'Allowed from now on: '],
  reject: ['bad', 'Rejected: '],
  withdrawn: ['dim', 'Withdrawn: '],
  expired: ['dim', 'Time ran out: '],
  along: ['bad', 'Rejected with another of this session: '],
  gone: ['dim', 'Answered elsewhere: '],
};

/** Keeps the letter of a shortcut out of the field that it opens, for keyboards that send it apart. */
function swallow() {
  const stop = (e) => e.preventDefault();
  const off = () => {
    removeEventListener('keypress', stop, true);
    removeEventListener('keyup', off, true);
  };
  addEventListener('keypress', stop, true);
  addEventListener('keyup', off, true);
}

// --- the card

/** One card, and what it is about to do: ask, keep, or refuse. */
class Card {
  constructor(req, ctx) {
    this.req = req;
    this.ctx = ctx;
    this.busy = false;
    this.done = false;
    this.lastG = -Infinity;
    this.panel = h('div', { class: 'req-open', hidden: true });
    this.actions = h('div', { class: 'req-actions' });
    this.status = h('p', { class: 'req-status', role: 'status' });
    const titleID = 'req-' + req.id;
    this.el = h('article', { class: 'card attention request', tabindex: '0', 'aria-labelledby': titleID, 'data-request': req.id, onkeydown: (e) => this.key(e) },
      head(req, titleID), body(req), this.panel, h('footer', { class: 'req-foot' }, this.status, this.actions));
    this.steady = steady(this.el, (ready) => this.arm(ready));
    this.off = onSettled(req.id, (reply) => this.elsewhere(reply));
    this.el.addEventListener('gone', () => this.elsewhere('gone'));
    this.ask();
  }

  /** A button that does something only when the card has stood still. */
  button(text, cls, act, more) {
    return h('button', { type: 'button', class: cls, ...more, onclick: () => this.press(act) }, text);
  }

  /** Shows whether the buttons take an answer. They stay where the focus can be. */
  arm(ready) {
    for (const button of this.actions.querySelectorAll('button')) button.setAttribute('aria-disabled', String(!ready));
  }

  press(act) {
    if (this.busy || this.done) return;
    if (!this.steady()) {
      this.say(this.steady.seen() ? 'The page has just moved. Look once more, then press again.' : 'What is asked for was not in view. Bring it into view, then press again.');
      return;
    }
    this.say('');
    act();
  }

  say(text, bad = false) {
    put(this.status, text);
    this.status.classList.toggle('bad', bad);
  }

  ask() {
    const offered = Array.isArray(this.req.store) ? this.req.store.length : 0;
    const offers = offered > 0 && offered <= mostKept;
    this.panel.hidden = true;
    put(this.panel);
    put(this.actions,
      this.button('Allow once', '', () => this.send({ reply: 'once' }), { 'aria-keyshortcuts': 'o', 'data-reply': 'once' }),
      this.button('Always…', '', () => this.keep(), { 'aria-keyshortcuts': 'a', 'data-reply': 'always', disabled: !offers, title: offers ? null : offered > 0 ? 'There are too many rules to keep at once' : 'There is no rule that could be kept for this' }),
      this.button('Reject…', 'danger', () => this.refuse(), { 'aria-keyshortcuts': 'r', 'data-reply': 'reject' }),
      offered > mostKept && h('p', { class: 'small dim req-note' }, `Always is not offered: its ${offered.toLocaleString('en')} rules are too many to keep at once.`));
    shifted();
  }

  back(reply) {
    this.ask();
    this.actions.querySelector(`[data-reply=${reply}]`)?.focus({ preventScroll: true });
  }

  open(content, ...buttons) {
    put(this.panel, content);
    this.panel.hidden = false;
    put(this.actions, buttons);
    shifted();
  }

  keep() {
    const panel = alwaysPanel(this.req, () => {
      allow.disabled = !panel.ready();
    });
    const allow = this.button('Allow from now on', '', () => this.send(panel.reply()), { 'data-reply': 'always-send', disabled: !panel.ready() });
    this.open(panel.el, allow, this.button('Back', 'quiet', () => this.back('always')));
    panel.el.querySelector('input[type=radio]')?.focus({ preventScroll: true });
  }

  refuse() {
    const field = h('textarea', { rows: 2, maxlength: 4000, placeholder: 'The model is told. You may leave it empty.' });
    const send = () => this.send(field.value.trim() === '' ? { reply: 'reject' } : { reply: 'reject', message: field.value.trim() });
    field.addEventListener('keydown', (e) => {
      if (e.key !== 'Enter' || !(e.ctrlKey || e.metaKey)) return;
      e.preventDefault();
      this.press(send);
    });
    const note = h('p', { class: 'small warn', id: 'others-' + this.req.id });
    const others = () => {
      if (!note.isConnected) return off();
      const n = state.permissions.filter((r) => r.sessionID === this.req.sessionID && r.id !== this.req.id).length;
      text(note, n === 0 ? '' : `Also rejects ${n === 1 ? 'the other request that waits' : `${n} others that wait`} in this session.`);
      return undefined;
    };
    const off = state.on(others);
    this.open(h('div', { class: 'req-panel' }, h('label', { class: 'field' }, 'What should be done instead?', field), note),
      this.button('Reject', 'danger', send, { 'data-reply': 'reject-send', 'aria-describedby': note.id }), this.button('Back', 'quiet', () => this.back('reject')));
    others();
    field.focus({ preventScroll: true });
  }

  key(e) {
    if (e.key === 'g') this.lastG = e.timeStamp;
    if (e.defaultPrevented || e.repeat || e.ctrlKey || e.metaKey || e.altKey || this.busy || this.done) return;
    if (e.key === 'Escape' && !this.panel.hidden) {
      e.preventDefault();
      this.ask();
      this.el.focus({ preventScroll: true });
      return;
    }
    if (typing(e.target) || !this.panel.hidden || e.timeStamp - this.lastG < chord) return;
    const button = this.actions.querySelector(`[aria-keyshortcuts="${CSS.escape(e.key)}"]`);
    if (!button || button.disabled) return;
    e.preventDefault();
    swallow();
    button.click();
  }

  lock(on) {
    this.busy = on;
    if (on && this.el.contains(document.activeElement)) this.el.focus({ preventScroll: true }); // what is disabled loses it
    this.el.setAttribute('aria-busy', String(on));
    for (const field of this.el.querySelectorAll('.req-foot button, .req-open input, .req-open textarea, .req-open button')) {
      if (on && !field.disabled) field.dataset.locked = '';
      if ('locked' in field.dataset) field.disabled = on;
      if (!on) delete field.dataset.locked;
    }
  }

  async send(reply) {
    this.lock(true);
    this.say('Sending …');
    try {
      await api.post(path('permissions', this.req.id), reply);
      this.end(...ends[reply.reply]);
    } catch (err) {
      if (this.done) return;
      if (err?.status === 404) {
        this.lock(false); // what was typed was not sent
        this.end('dim', 'Answered elsewhere or withdrawn: ');
        return;
      }
      this.lock(false);
      this.say(visibleLine(explain(err)), true);
    }
  }

  elsewhere(reply) {
    if (this.busy) return; // our own answer comes back
    const [kind, words] = ends[reply] || ends.gone;
    const here = !['once', 'always', 'reject'].includes(reply);
    this.end(kind, here ? words : 'Answered elsewhere, ' + words[0].toLowerCase() + words.slice(1));
  }

  end(kind, words) {
    if (this.done) return;
    this.done = true;
    this.off();
    settle(this.el, kind, words, inShort(this.req));
  }
}

/**
 * The card of a permission request. It sends its own answer, once.
 * @param {Object} req as GET /v1/requests gives it
 * @param {Object} [ctx] of the page
 * @returns {HTMLElement}
 */
export function permissionCard(req, ctx) {
  return new Card(isObject(req) ? req : {}, ctx).el;
}
