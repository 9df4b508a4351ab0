// The rules in force: which there are, which one decides and why, and what
// people have approved on top.

import { api, path } from './api.js';
import { actionBadge, agentPicker, code, empty, failure, gather, loading, section, table, time } from './bits.js';
import { h, put, text } from './dom.js';
import { events } from './events.js';
import { plural } from './format.js';
import { state } from './state.js';
import { visibleLine } from './visible.js';

const UNITS = 100; // of a command, shown at first
const STRICT = { __proto__: null, deny: 2, ask: 1, allow: 0 };
const ENDS = { __proto__: null, allow: 'Allowed', ask: 'Asked about', deny: 'Denied' };

const sourceOf = (from) => (from?.file ? from.file + (from.line ? ':' + from.line : '') : '');
const ruleText = (r) => h('span', null, code(r.permission), ' ', code(r.pattern), ' → ', visibleLine(r.action));

/** Why a decision is as it is, in words. */
function because(d, brief) {
  const { approval: a, rule } = d;
  if (a) return ['You approved it ', time(a.created), ` (${visibleLine(a.scope)}): `, code(a.permission), ' ', code(a.pattern), '.'];
  if (d.opaque && d.action === 'ask') return ['It is not known what it does: ', visibleLine(d.opaque), '.'];
  if (!rule && d.action === 'deny') return ['No rule can allow it.'];
  if (!rule && d.guarded) return [d.address ? 'It is on this machine or in a private network' : 'It changes what runs or is allowed later', ', so only a rule that names it allows it.'];
  if (!rule) return ['No rule matches, so it is asked about.'];
  if (brief) return [d.ceiling ? 'limit ' : 'rule ', ruleText(rule), d.source && [', ', visibleLine(d.source)], d.feared && ', which denies what it may be'];
  const why = d.ceiling ? 'A limit decides, which no rule can loosen: ' : 'The last rule that matches decides: ';
  return [why, ruleText(rule), d.source ? [', from ', code(d.source)] : null, '.',
    d.changed ? ' The tool is not the one that was approved.' : null, d.feared ? ' What it does is not known, and a rule denies what it may be.' : null];
}

// --- explain

/** What would happen, asked of the server. onDecided gets the answer. */
function explainer(agentOf, onDecided) {
  const permission = h('input', { type: 'text', class: 'code', list: 'permissions', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', required: true });
  const pattern = h('input', { type: 'text', class: 'code', placeholder: 'git status && git push', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
  const names = h('datalist', { id: 'permissions' });
  const answer = h('div', { class: 'explain-answer', 'aria-live': 'polite' });
  const go = h('button', { type: 'submit', class: 'primary' }, 'Explain');
  const form = h('form', { class: 'explain-form', onsubmit: ask },
    h('label', { class: 'field' }, 'Permission', permission), h('label', { class: 'field explain-what' }, 'Command, file, address or other pattern', pattern), go, names);
  let turn = 0;
  async function ask(e) {
    e?.preventDefault();
    const missing = [permission, pattern].find((box) => !box.value.trim());
    if (missing) return missing.focus();
    const mine = ++turn;
    go.disabled = true;
    try {
      const x = await api.post('/explain', { permission: permission.value.trim(), pattern: pattern.value, agent: agentOf() });
      if (mine !== turn) return;
      put(answer, explained(x));
      onDecided(x);
    } catch (err) {
      if (mine === turn) put(answer, failure(err));
    } finally {
      if (mine === turn) go.disabled = false;
    }
  }
  return {
    el: section('What would happen', h('div', { class: 'card stack' }, form, answer)),
    /** The same question again, where one was asked: the rules have changed. */
    again: () => answer.firstChild && ask(),
    names: (all) => put(names, all.map((n) => h('option', { value: n }))),
    /** What is asked about most often, where nothing is written yet. */
    usual(name) {
      if (name && !permission.value) permission.value = name;
    },
    fill(p, what) {
      permission.value = p;
      pattern.value = what;
      pattern.focus();
    },
  };
}

function explained(x) {
  const units = x.units || [];
  const many = units.length > 1 || (units.length === 1 && units[0].pattern !== x.pattern);
  return h('div', { class: ['explained', x.action] },
    h('p', { class: 'explained-end' }, actionBadge(x.action), h('b', null, ENDS[x.action] || x.action), ' ', code(x.permission), ' ', code(x.pattern), h('span', { class: 'dim' }, ` for agent ${visibleLine(x.agent)}`)),
    x.policyError ? h('p', null, 'Because the rules are broken: ', visibleLine(x.policyError)) : h('p', null, because(x)),
    x.opaque && h('p', { class: 'note warn' }, 'It has to be asked about at least: ', visibleLine(x.opaque)),
    x.note && h('p', { class: 'dim' }, visibleLine(x.note)),
    many && h('h3', null, `${plural(units.length, 'thing')} that a call would ask for; the strictest answer counts`),
    many && unitList(units));
}

function unitList(units) {
  const sorted = units.length > UNITS ? [...units].sort((a, b) => STRICT[b.action] - STRICT[a.action]) : units;
  const list = h('ol', { class: 'plain units' }, sorted.slice(0, UNITS).map(unit));
  if (units.length <= UNITS) return list;
  const rest = h('button', { type: 'button', onclick: () => { list.append(...sorted.slice(UNITS).map(unit)); rest.remove(); } }, `Show ${units.length - UNITS} more`);
  return h('div', { class: 'stack' }, list, rest);
}

const unit = (d) => h('li', null, actionBadge(d.action), h('div', { class: 'grow' },
  h('div', null, h('span', { class: 'dim' }, visibleLine(d.permission)), ' ', code(d.pattern)),
  h('div', { class: 'dim small' }, because(d, true))));

// --- tables

function ruleTable(rules, first = 1) {
  const rows = rules.map((r, i) => {
    const row = h('tr', null, h('td', { class: 'num dim' }, first + i), h('td', null, actionBadge(r.action)), h('td', null, code(r.permission)), h('td', null, code(r.pattern)),
      h('td', { class: 'dim' }, h('span', { class: 'decides badge accent', hidden: true }, 'decides'), ' ', visibleLine(sourceOf(r.from)) || 'unnamed'));
    return { rule: r, row };
  });
  const el = h('div', { class: 'table-wrap' }, h('table', { class: 'rules' },
    h('thead', null, h('tr', null, h('th', { class: 'num', scope: 'col' }, '#'), ['Action', 'Permission', 'Pattern', 'Where it stands'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', null, rows.map((r) => r.row))));
  return { el, rows };
}

/** Marks the rule that decided: the last that is the same, from the same place. */
function mark(tables, x) {
  for (const { rows } of tables) {
    for (const { row } of rows) {
      row.classList.remove('deciding');
      row.querySelector('.decides').hidden = true;
    }
  }
  const want = x?.rule;
  if (!want || x.approval) return;
  const same = ({ rule: r }) => r.permission === want.permission && r.pattern === want.pattern && r.action === want.action && (!x.source || !sourceOf(r.from) || sourceOf(r.from) === x.source);
  const hit = tables.filter((t) => t.limit === !!x.ceiling).map((t) => t.rows.findLast(same)).find(Boolean);
  if (!hit) return;
  hit.row.classList.add('deciding');
  hit.row.querySelector('.decides').hidden = false;
}

const SCOPES = { __proto__: null, session: 'this session', project: 'this project', user: 'everywhere' };

function approvalTable(approvals, revoke) {
  if (!approvals.length) return empty('Nothing is approved. “Always” in a request adds an approval here.');
  return table(['Permission', 'Pattern', 'Scope', 'Since', ''], approvals.map((a) => [
    code(a.permission),
    [code(a.pattern), ' ', a.exact && h('span', { class: 'badge', title: 'Just this text: a * in it is a star.' }, 'exact')],
    [SCOPES[a.scope] || visibleLine(a.scope || ''), a.session && [' ', h('a', { href: '#/sessions/' + encodeURIComponent(a.session) }, visibleLine(state.sessions.get(a.session)?.title || a.session))]],
    h('span', { class: 'dim' }, time(a.created)),
    a.id && h('button', { type: 'button', class: 'danger', 'aria-label': `Revoke ${visibleLine(a.permission)} ${visibleLine(a.pattern)}`, onclick: () => revoke(a) }, 'Revoke')]), 'approvals');
}

export const page = {
  title: 'Rules',
  mount(root, params, ctx) {
    let agent = params.query.agent || '';
    let tables = [];
    let last = null;
    let turn = 0;
    let known = []; // permissions that rules name
    let offered = []; // tools, with the permission that each asks for
    const picker = h('span', { class: 'row' });
    const banner = h('div', { role: 'alert' });
    const body = h('div', { class: 'stack parts' }, loading('Loading the rules …'));
    const filter = h('input', { type: 'search', placeholder: 'Filter rules', 'aria-label': 'Filter rules', 'data-filter': '', oninput: sift });
    const box = explainer(() => agent || undefined, (x) => {
      last = x;
      mark(tables, x);
    });
    put(root, h('div', { class: 'page-head' }, h('h1', null, 'Rules'), picker), banner, h('div', { class: 'stack parts' }, box.el, body));
    if (params.query.permission) box.fill(params.query.permission, params.query.pattern || '');

    async function load() {
      const mine = ++turn;
      try {
        const got = await api.get('/rules', { agent });
        if (mine !== turn) return;
        draw(got);
        mark(tables, last);
      } catch (err) {
        if (mine === turn) put(body, failure(err, load));
      }
    }
    function draw(got) {
      const rules = got.rules || [];
      const limits = (got.ceilings || []).filter((c) => c?.length);
      put(banner, got.policyError && h('div', { class: 'note bad' }, h('b', null, 'The rules are broken, so everything is denied. '), visibleLine(got.policyError)));
      const main = { ...ruleTable(rules), limit: false };
      const ceilings = limits.map((c) => ({ ...ruleTable(c), limit: true }));
      tables = [main, ...ceilings];
      put(body,
        section('Approvals', approvalTable(got.approvals || [], revoke)),
        ceilings.length > 0 && section('Limits',
          h('p', { class: 'dim' }, 'Of each limit the last match counts, and the strictest of limits and rules wins: a limit can take away, and never gives.'),
          ceilings.map((c) => c.el)),
        section('Rules in force',
          h('div', { class: 'row wrap' }, h('p', { class: 'dim rules-about' }, `${plural(rules.length, 'rule')} for agent `, h('b', null, visibleLine(got.agent || agent)),
            ', in order. The last one that matches decides, however narrow the others are; where none matches, a person is asked.'), filter),
          rules.length ? main.el : empty('There are no rules: everything is asked about.')));
      known = rules.map((r) => r.permission);
      suggest();
      sift();
    }
    function suggest() {
      box.names([...new Set([...known, ...offered.map((t) => t.permission)])].filter((n) => n && !n.includes('*')).map(visibleLine).sort());
    }
    async function loadTools() {
      try {
        offered = (await api.get('/tools')).tools || [];
        suggest();
        box.usual(offered.find((t) => t.schema?.properties?.command?.type === 'string')?.permission); // a tool that takes a command
      } catch {
        // then the names are the person's to know
      }
    }
    function sift() {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const { rule, row } of tables[0]?.rows || []) {
        const all = `${rule.permission} ${rule.pattern} ${rule.action} ${sourceOf(rule.from)}`.toLowerCase();
        row.hidden = !words.every((w) => all.includes(w));
      }
    }
    async function revoke(a) {
      const sure = await ctx.confirm(`Revoke the approval of ${visibleLine(a.permission)} ${visibleLine(a.pattern)}? It will be asked about again.`, { yes: 'Revoke', danger: true });
      if (!sure) return;
      try {
        await api.del(path('approvals', a.id));
        ctx.toast('Revoked.', 'ok');
      } catch (err) {
        if (err.status !== 404) return ctx.toast(err.message, 'bad');
      }
      await load();
      box.again();
    }
    async function loadAgents() {
      try {
        const all = (await api.get('/agents')).agents || [];
        const select = agentPicker(all, agent || state.info?.defaultAgent, (name) => {
          agent = name;
          load().then(box.again);
        });
        put(picker, h('label', { class: 'row' }, h('span', { class: 'dim' }, 'Agent'), select));
      } catch {
        text(picker, '');
      }
    }
    const later = gather(load, 300);
    const off = events.on((e) => {
      if (e.type === 'permission.replied' || e.type === 'reload') later();
    });
    load();
    loadAgents();
    loadTools();
    return () => {
      turn = -1;
      off();
      later.stop();
    };
  },
};
