// The card of a permission request. What decides comes first, then all of the
// text, nothing hidden in it; the buttons stay in view whatever the text is.
// Nothing is pressed by accident: no button has the focus by itself, and a
// card that has just come or moved takes no answer.

import { h, put, typing } from './dom.js';
import { api, explain, path } from './api.js';
import { hiddenWithin, visibleLine, visibleLineNode, visibleNode } from './visible.js';
import { diffs, isObject, isText } from './pieces.js';
import { alwaysPanel, shownPattern } from './always.js';
import { countdown, onSettled, origin, settle, shifted, steady } from './waiting.js';

export { questionCard } from './question.js';

const maxWhole = 256 << 10; // characters of a text, before somebody asks for the rest
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

/** What has to be answered for: the deciding parts, or all of it. */
function deciding(req) {
  const asked = (Array.isArray(req.asked) ? req.asked : []).filter(isObject);
  const patterns = (Array.isArray(req.patterns) ? req.patterns : []).map(String);
  const units = asked.length > 0 ? asked.map((d) => [String(d.pattern ?? ''), reasons(d)]) : patterns.map((p) => [p, null]);
  const rest = patterns.filter((p) => !units.some(([pattern]) => pattern === p)).length;
  return h('section', { class: 'asked' }, h('h4', { class: 'label' }, units.length > 1 ? 'These have to be answered for' : 'This has to be answered for'),
    units.length === 0 ? h('p', null, 'The tool names nothing in particular.') : null,
    h('ul', { class: 'plain' }, units.slice(0, 200).map(([pattern, why]) => h('li', null, shownPattern(pattern), why))),
    units.length > 200 ? h('p', { class: 'warn' }, `… and ${units.length - 200} more.`) : null,
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

/** What a detail is called. A command that wants a file is no command that is asked about. */
function detailName(key, permission) {
  if (key === 'command') return permission === 'bash' ? 'The whole command' : 'For the command';
  if (key === 'workdir') return 'In the folder';
  return key;
}

function detail(key, value, permission) {
  const name = h('h4', { class: 'label' }, visibleLine(detailName(key, permission)));
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1) ?? ''; // nothing folded away: it is decided about
  const line = text.length <= 200 && !text.includes('\n') && key !== 'command';
  return h('section', null, name, line ? h('p', { class: 'mono' }, visibleLineNode(text)) : wholeText(text));
}

/** What the tool says about its request: the command first, then differences, then all else. */
function details(req) {
  const meta = isObject(req.metadata) ? req.metadata : {};
  const used = new Set();
  const out = [];
  if (isText(meta.command)) {
    out.push(detail('command', meta.command, req.permission));
    used.add('command');
  }
  const shown = diffs(meta);
  if (shown) {
    out.push(h('section', null, h('h4', { class: 'label' }, 'What would change'), shown));
    for (const key of ['diff', 'patch', 'files', 'filediff']) used.add(key);
    for (const key of ['filepath', 'filePath']) if (isText(meta.diff) && isText(meta[key]) && meta.diff.includes(`\n+++ ${meta[key]}\n`)) used.add(key); // it stands there
  }
  for (const key of Object.keys(meta).filter((k) => !used.has(k)).sort().slice(0, 100)) out.push(detail(key, meta[key], req.permission));
  return out;
}

function changedTool(req) {
  if (!isText(req.changed)) return null;
  return h('section', { class: 'note warn' }, h('p', null, h('strong', null, 'The tool is not what it was when it was first used:')), wholeText(req.changed));
}

function head(req, titleID) {
  const from = origin(req);
  return h('header', { class: 'req-head' },
    h('div', { class: 'row wrap' }, h('h3', { id: titleID }, 'Permission needed: ', h('code', null, visibleLineNode(String(req.permission ?? '').slice(0, 100)))),
      hiddenWithin([req.patterns, req.asked, req.metadata, req.changed]) ? h('span', { class: 'badge bad' }, 'contains hidden characters') : null,
      h('span', { class: 'push' }, countdown(req))),
    h('p', { class: 'req-who small dim' }, from.agent ? ['agent ', visibleLine(from.agent), ' · '] : null,
      h('a', { href: from.place }, visibleLine(from.title.slice(0, 120))), from.call ? [' · ', h('a', { href: from.call }, 'the call')] : null));
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
  return [h('code', null, visibleLine(String(req.permission ?? ''))), ' ', h('span', { class: 'mono' }, visibleLine(String(first).slice(0, 160)))];
}

const ends = {
  once: ['ok', 'Allowed once: '],
  always: ['ok', 'Allowed from now on: '],
  reject: ['bad', 'Rejected: '],
  withdrawn: ['dim', 'Withdrawn: '],
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
    this.ask();
  }

  /** A button that does something only when the card has stood still. */
  button(text, cls, act, more) {
    return h('button', { type: 'button', class: cls, ...more, onclick: () => this.press(act) }, text);
  }

  /** Shows whether the buttons take an answer. They stay where the focus can be. */
  arm(ready) {
    for (const button of this.actions.children) button.setAttribute('aria-disabled', String(!ready));
  }

  press(act) {
    if (this.busy || this.done) return;
    if (!this.steady()) {
      this.say('The page has just moved. Look once more, then press again.');
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
    const offers = Array.isArray(this.req.store) && this.req.store.length > 0;
    this.panel.hidden = true;
    put(this.panel);
    put(this.actions,
      this.button('Allow once', '', () => this.send({ reply: 'once' }), { 'aria-keyshortcuts': 'o', 'data-reply': 'once' }),
      this.button('Always…', '', () => this.keep(), { 'aria-keyshortcuts': 'a', 'data-reply': 'always', disabled: !offers, title: offers ? null : 'There is no rule that could be kept for this' }),
      this.button('Reject…', 'danger', () => this.refuse(), { 'aria-keyshortcuts': 'r', 'data-reply': 'reject' }));
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
    this.open(h('div', { class: 'req-panel' }, h('label', { class: 'field' }, 'What should be done instead?', field)),
      this.button('Reject', 'danger', send, { 'data-reply': 'reject-send' }), this.button('Back', 'quiet', () => this.back('reject')));
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
        this.end('dim', 'Answered elsewhere or withdrawn: ');
        return;
      }
      this.lock(false);
      this.say(visibleLine(explain(err)), true);
    }
  }

  elsewhere(reply) {
    if (this.busy) return; // our own answer comes back
    const [kind, words] = ends[reply] || ends.withdrawn;
    this.end(kind, reply === 'withdrawn' ? words : 'Elsewhere, ' + words[0].toLowerCase() + words.slice(1));
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
