// How the server and all it works with stand: jobs, MCP and language servers,
// agents, models, configuration, and a link for another device.

import { api, path } from './api.js';
import { code, copyButton, empty, failure, gather, loading, section, table, time } from './bits.js';
import { h, put, text } from './dom.js';
import { events } from './events.js';
import { ago, bytes, count, duration, plural } from './format.js';
import { jobsPart } from './jobs.js';
import { state } from './state.js';
import { visible, visibleLine } from './visible.js';

const MODELS = 100; // shown without a filter

/** A part that is loaded by itself: one that fails leaves the others alone. */
function part(title, load, draw) {
  const slot = h('div', { class: 'stack' }, loading('Loading …'));
  let turn = 0;
  async function again() {
    const mine = ++turn;
    try {
      const got = await load();
      if (mine === turn) put(slot, draw(got, again));
    } catch (err) {
      if (mine === turn) put(slot, failure(err, again));
    }
  }
  return { el: section(title, slot), again, cleanup: () => (turn = -1) };
}

// --- MCP

const MCP_WORDS = {
  __proto__: null,
  connected: ['ok', 'connected'], connecting: ['info', 'connecting'], disabled: ['', 'switched off'], idle: ['', 'idle: not needed yet'],
  failed: ['bad', 'failed'], needs_auth: ['warn', 'needs a login'], needs_client_registration: ['warn', 'needs registration'],
};

function mcpTable(servers, again, ctx) {
  if (!servers?.length) return empty('No MCP server is configured.', 'Add one under "mcp" in the config, or with helve mcp add.');
  return h('ul', { class: 'plain stack' }, servers.map((s) => mcpCard(s, again, ctx)));
}

function mcpCard(s, again, ctx) {
  const [cls, word] = MCP_WORDS[s.status] || ['', s.status];
  const on = s.status === 'connected' || s.status === 'connecting';
  const button = h('button', { type: 'button', onclick: go }, on ? 'Disconnect' : 'Connect');
  async function go() {
    button.disabled = true;
    text(button, on ? 'Disconnecting …' : 'Connecting …');
    try {
      await api.post(path('mcp', s.name, on ? 'disconnect' : 'connect'));
    } catch (err) {
      ctx.toast(err.message, 'bad');
    }
    again();
  }
  const facts = [s.kind, s.transport, s.program, s.pid && `process ${s.pid}`, s.status === 'connected' && plural(s.tools || 0, 'tool'), s.restarts && plural(s.restarts, 'restart')].filter(Boolean);
  return h('li', { class: 'card tight server' },
    h('div', { class: 'row wrap' }, h('b', { class: 'mono' }, visibleLine(s.name)), h('span', { class: ['badge', cls] }, visibleLine(word)),
      h('span', { class: 'dim' }, visibleLine(facts.join(' · ')), s.since && [' · since ', time(s.since, ago)]), h('span', { class: 'push' }, button)),
    s.error && h('p', { class: 'bad' }, visibleLine(s.error)), s.detail && h('pre', { class: 'dim small' }, visible(s.detail)),
    s.status === 'needs_auth' && h('p', { class: 'dim' }, 'Log in where the server runs: ', code(`helve mcp auth ${s.name}`)),
    s.off?.length > 0 && h('details', null, h('summary', null, plural(s.off.length, 'tool') + ' not offered'),
      h('ul', { class: 'plain' }, s.off.slice(0, 200).map((o) => h('li', null, code(o.tool), ' ', h('span', { class: 'dim' }, visibleLine(o.reason)))))),
    s.instructions && h('details', null, h('summary', null, 'How it wants to be used'), h('pre', { class: 'small' }, visible(s.instructions.slice(0, 20_000)))));
}

// --- LSP

const LSP_CLASS = { __proto__: null, connected: 'ok', starting: 'info', error: 'warn', broken: 'bad' };

function lspTables({ servers, found }) {
  const missing = (found || []).filter((f) => f.missing);
  const able = (found || []).filter((f) => !f.missing && !(servers || []).some((s) => s.id === f.id));
  if (!servers?.length && !found?.length) return empty('Language servers are switched off.', 'Set "lsp": true in the config to have diagnostics after edits.');
  return [
    servers?.length > 0 ? table(['Server', 'State', 'Folder', 'Files', 'Memory'], servers.map((s) => [
      code(s.id),
      [h('span', { class: ['badge', LSP_CLASS[s.status]] }, visibleLine(s.status)), s.error && h('div', { class: 'bad small' }, visibleLine(s.error))],
      code(s.root), s.files || '', s.memory ? bytes(s.memory) : ''])) : h('p', { class: 'dim' }, 'None runs yet: one starts with the first file of its kind.'),
    able.length > 0 && h('p', { class: 'dim' }, 'Found here, started when needed: ', able.map((f, i) => [i > 0 && ', ', code(f.id)]), '.'),
    missing.length > 0 && h('details', null, h('summary', null, `${missing.length} not on this machine, and what to install`),
      table(['Server', 'Files', 'What is missing'], missing.map((f) => [code(f.id), h('span', { class: 'dim' }, visibleLine((f.extensions || []).slice(0, 8).join(' '))), visibleLine(f.missing)]))),
  ];
}

// --- the rest

function agentTable(agents) {
  return table(['Agent', 'Mode', 'What for', 'Model'], agents.map((a) => [
    [h('b', { class: 'mono' }, visibleLine(a.name)), a.hidden && [' ', h('span', { class: 'badge' }, 'hidden')]], visibleLine(a.mode || ''), visibleLine(a.description || ''),
    visibleLine(typeof a.model === 'string' ? a.model : [a.model?.providerID, a.model?.modelID].filter(Boolean).join('/'))]));
}

function modelTable(models) {
  if (!models.length) return empty('No model is configured.', 'Tools can be called all the same. See helve models for how to add one.');
  const rows = h('div');
  const filter = h('input', { type: 'search', placeholder: 'Filter models', 'aria-label': 'Filter models', oninput: draw });
  function draw() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = models.filter((m) => words.every((w) => `${m.provider} ${m.model} ${m.name}`.toLowerCase().includes(w)));
    put(rows, table(['Model', 'Name', 'Context', 'Output', 'Price in, out'], hits.slice(0, MODELS).map((m) => [
      [code(`${m.provider}/${m.model}`), m.default && [' ', h('span', { class: 'badge accent' }, 'default')]], visibleLine(m.name || ''),
      m.context ? count(m.context) : '', m.output ? count(m.output) : '',
      m.price ? h('span', { class: 'num nowrap', title: 'US dollars for a million tokens' }, `$${m.price.input}, $${m.price.output}`) : ''])),
      hits.length > MODELS && h('p', { class: 'dim' }, `… and ${hits.length - MODELS} more: filter to see them.`));
  }
  draw();
  return [models.length > 12 && filter, rows];
}

function serverFacts() {
  const i = state.info || {};
  const row = (name, value) => value && [h('dt', null, name), h('dd', null, value)];
  const started = typeof i.started === 'number' ? i.started : Date.parse(i.started);
  return h('dl', { class: 'kv card' }, row('Version', visibleLine(i.version || '')), row('Folder', code(i.directory || '')), i.worktree !== i.directory && row('Worktree', code(i.worktree || '')),
    row('Started', started && [time(started), h('span', { class: 'dim' }, ` (${duration(Date.now() - started)} ago)`)]), row('Instance', code(i.instance || '')), row('Address', code(location.origin)));
}

/** A link that opens the console on another device. It is shown once. */
function linkPart() {
  const slot = h('div', { 'aria-live': 'polite', class: 'stack' });
  const make = h('button', { type: 'button', onclick: go }, 'Make a one-time link');
  let timer = 0;
  async function go() {
    make.disabled = true;
    try {
      show(await api.post('/links'));
    } catch (err) {
      put(slot, failure(err));
    }
    make.disabled = false;
  }
  function show({ url: made, expires }) {
    // The server knows the address that it listens on; we know one that leads there.
    const url = location.origin + location.pathname + new URL(made).hash;
    const until = typeof expires === 'number' ? expires : Date.parse(expires);
    const box = h('input', { type: 'text', class: 'code link-box', readOnly: true, value: url, 'aria-label': 'The link', onfocus: () => box.select() });
    const left = h('span', { class: 'dim num' });
    const draw = () => {
      if (!box.isConnected) return clearInterval(timer);
      const ms = until - Date.now();
      if (ms > 0) return text(left, `Good for ${duration(ms)} and one use.`);
      clearInterval(timer);
      put(slot, h('p', { class: 'dim' }, 'The link has expired.'));
    };
    const hide = h('button', { type: 'button', class: 'quiet', onclick: () => put(slot) }, 'Hide');
    put(slot, h('div', { class: 'row wrap' }, box, copyButton(() => url, { from: () => box }), hide), h('p', null, left, ' Who opens it may do all that you may do here: send it to nobody.'));
    clearInterval(timer);
    timer = setInterval(draw, 1000);
    draw();
  }
  const here = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);
  const el = section('Another device', h('p', { class: 'dim' }, here ? 'This server listens on this machine alone, so only a browser on this machine can open the link. For another device, start helve serve with an address that it can reach (--addr).' : 'The link opens this console where the address of the server can be reached.'), h('div', null, make), slot);
  return { el, cleanup: () => { clearInterval(timer); put(slot); } };
}

/** The configuration, which may be long: made when it is looked at. */
function configPart() {
  const slot = h('div', { class: 'stack' });
  const fold = h('details', { ontoggle: () => fold.open && load() }, h('summary', null, 'The configuration in force, secrets left out'), slot);
  async function load() {
    put(slot, loading('Loading …'));
    try {
      const all = JSON.stringify(await api.get('/config'), null, 2);
      put(slot, h('pre', { class: 'code-block', tabindex: 0, 'aria-label': 'Configuration' }, visible(all)));
    } catch (err) {
      put(slot, failure(err, load));
    }
  }
  return section('Configuration', fold);
}

export const page = {
  title: 'Status',
  mount(root, params, ctx) {
    const jobs = jobsPart(ctx);
    const mcp = part('MCP servers', () => api.get('/mcp'), (got, again) => mcpTable(got.servers, again, ctx));
    const lsp = part('Language servers', () => api.get('/lsp'), (got) => lspTables(got || {}));
    const agents = part('Agents', () => api.get('/agents'), (got) => agentTable(got.agents || []));
    const models = part('Models', () => api.get('/models'), (got) => modelTable(got.models || []));
    const link = linkPart();
    const facts = h('div', null, serverFacts());
    put(root, h('div', { class: 'page-head' }, h('h1', null, 'Status')),
      h('div', { class: 'stack parts' }, section('Jobs', jobs.el), mcp.el, lsp.el, section('Server', facts), link.el, agents.el, models.el, configPart()));
    const laterMCP = gather(mcp.again, 300);
    const laterLSP = gather(lsp.again, 500);
    const off = events.on(({ type }) => {
      if (type.startsWith('mcp.') || type === 'reload') laterMCP();
      if (type === 'lsp.updated' || type === 'reload') laterLSP();
      if (type === 'tools.changed' || type === 'reload') agents.again();
    });
    const offState = state.on(() => put(facts, serverFacts()));
    for (const p of [mcp, lsp, agents, models]) p.again();
    return () => {
      off();
      offState();
      laterMCP.stop();
      laterLSP.stop();
      for (const p of [mcp, lsp, agents, models, jobs, link]) p.cleanup();
    };
  },
};
