// What "always" would keep: the rules, each to be changed or taken out, with
// what it means in plain words.

import { h, put } from './dom.js';
import { hasHidden, visibleLine, visibleLineNode } from './visible.js';

/** A pattern as it may be shown: between quotes where its ends could not be seen. */
export function shownPattern(pattern) {
  const line = visibleLine(pattern);
  const quoted = line === '' || /^[ "]|[ "]$/.test(line);
  return h('code', { class: 'pattern' }, quoted ? '"' : '', visibleLineNode(pattern), quoted ? '"' : '');
}

/** How many rules one answer can keep; the server takes no more. */
export const mostKept = 64;

/** * and ? over the whole of a text, in linear time for each star. */
function glob(text, pattern) {
  let t = 0;
  let p = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** Whether a rule covers a text, as the runtime matches them. */
export function covers(rule, text) {
  if (rule.exact) return rule.pattern === text;
  const pattern = Array.from(rule.pattern.replaceAll('\\', '/'));
  const chars = Array.from(text.replaceAll('\\', '/'));
  if (rule.pattern.endsWith(' *') && glob(chars, pattern.slice(0, -2))) return true;
  return glob(chars, pattern);
}

const isAll = (rule) => !rule.exact && /^[*?]*\*[*?]*$/.test(rule.pattern);

/** What a rule covers, in words. */
export function meaning(rule) {
  const { pattern, exact } = rule;
  const code = (text) => shownPattern(text);
  if (pattern === '') return ['nothing: the pattern is empty'];
  if (exact) return ['only exactly ', code(pattern)];
  if (isAll(rule)) return ['everything that is asked for under ', code(rule.permission)];
  const wild = pattern.match(/[*?]/g) || [];
  if (wild.length === 0) return ['only ', code(pattern)];
  if (wild.length === 1 && pattern.endsWith(' *')) return [code(pattern.slice(0, -2)), ' alone, or with anything after it'];
  if (wild.length === 1 && pattern.endsWith('*')) return ['everything that begins with ', code(pattern.slice(0, -1))];
  if (wild.length === 1 && pattern.startsWith('*')) return ['everything that ends with ', code(pattern.slice(1))];
  return ['what looks like ', code(pattern), ': * is any text, also none, also with slashes; ? is one character'];
}

const scopes = [
  ['session', 'This session', 'until it ends'],
  ['project', 'This project', 'kept'],
  ['user', 'Everywhere', 'kept, in every project'],
];

/** One rule as fields. The text of a field is taken only if it was changed: it may not hold every character. */
function ruleRow(offer, index, changed) {
  const rule = { permission: String(offer.permission ?? ''), pattern: String(offer.pattern ?? ''), exact: Boolean(offer.exact), removed: false };
  const offered = { pattern: rule.pattern, exact: rule.exact };
  const words = h('p', { class: 'rule-words', 'aria-live': 'polite' });
  const field = h('textarea', { class: 'code', rows: Math.min(4, rule.pattern.split('\n').length), 'aria-label': `Pattern of rule ${index + 1}`, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', value: rule.pattern });
  const shown = field.value;
  const exact = h('input', { type: 'checkbox', checked: rule.exact });
  const remove = h('button', { type: 'button', class: 'quiet', 'aria-label': `Leave out rule ${index + 1}` }, 'Leave out');
  const el = h('li', { class: 'rule' },
    h('div', { class: 'rule-fields' }, h('span', { class: 'badge accent' }, visibleLine(rule.permission)), field, h('label', { class: 'row nowrap' }, exact, 'Exactly this text'), remove), words);
  const draw = () => {
    rule.pattern = field.value === shown ? offered.pattern : field.value;
    rule.exact = exact.checked;
    const wider = !rule.exact && (rule.pattern !== offered.pattern || offered.exact) && covers(rule, offered.pattern);
    put(words, 'Allows ', meaning(rule), '.',
      isAll(rule) ? h('strong', { class: 'warn' }, ' That is all of it, without being asked again.') : wider ? h('span', { class: 'warn' }, ' That is wider than what was offered.') : null,
      hasHidden(rule.pattern) ? h('span', { class: 'badge warn' }, 'hidden characters') : null);
    el.classList.toggle('all', isAll(rule));
    changed();
  };
  field.addEventListener('input', draw);
  exact.addEventListener('change', draw);
  remove.addEventListener('click', () => {
    rule.removed = true;
    el.remove();
    changed();
  });
  return { el, rule, draw };
}

/**
 * The panel of "always". It shows every rule that is kept; whoever offers it
 * sees to it that there are no more than mostKept.
 * @param {Object} req the request
 * @param {() => void} onChange called when what would be kept changes
 * @returns {{el: HTMLElement, reply(): Object, ready(): boolean}}
 */
export function alwaysPanel(req, onChange) {
  const offers = Array.isArray(req.store) ? req.store.filter((s) => s && typeof s === 'object') : [];
  const name = 'scope-' + req.id;
  const radios = scopes.map(([value, label, note], i) => h('label', { class: 'choice' }, h('input', { type: 'radio', name, value, checked: i === 0 }), h('span', null, label, ' ', h('span', { class: 'dim' }, note))));
  const note = h('p', { class: 'small', role: 'status' });
  let ready = false;
  const rows = offers.map((offer, i) => ruleRow(offer, i, changed));
  const kept = () => rows.filter((r) => !r.rule.removed && r.rule.pattern !== '');
  function changed() {
    const asked = (Array.isArray(req.asked) ? req.asked : []).map((d) => String(d?.pattern ?? ''));
    const bare = asked.filter((pattern) => !kept().some((r) => covers(r.rule, pattern)));
    put(note, kept().length === 0 ? 'No rule is left: allow it once, or go back.' : bare.length > 0 ? ['Not covered, and asked about the next time: ', shownPattern(bare[0].slice(0, 200)), bare.length > 1 ? ` and ${bare.length - 1} more` : ''] : '');
    if (ready) onChange();
  }
  for (const row of rows) row.draw();
  ready = true;
  const el = h('div', { class: 'req-panel' },
    h('fieldset', { class: 'scopes' }, h('legend', null, 'Allow it from now on in'), radios),
    h('p', { class: 'label' }, 'The rules that are kept'), h('ul', { class: 'plain' }, rows.map((r) => r.el)), note);
  return {
    el,
    ready: () => kept().length > 0,
    reply() {
      const scope = radios.map((r) => r.querySelector('input')).find((r) => r.checked)?.value || 'session';
      // Always exactly what is shown here, never what the server would keep by itself.
      return { reply: 'always', scope, store: kept().map(({ rule }) => ({ permission: rule.permission, pattern: rule.pattern, exact: rule.exact })) };
    },
  };
}
