// The tools that an agent is offered, each with a form to call it by hand.
// Nothing runs but by the button: a link fills in, and no more.

import { api } from './api.js';
import { agentPicker, copyButton, empty, failure, gather, hashOf, loading } from './bits.js';
import { asCurl, asHelve } from './command.js';
import { h, put, text } from './dom.js';
import { events } from './events.js';
import { schemaForm } from './form.js';
import { ago } from './format.js';
import { markdown } from './markdown.js';
import { scrolling } from './pieces.js';
import { runner } from './runcall.js';
import { isObject, readJSON } from './schema.js';
import { state } from './state.js';
import { visibleLine } from './visible.js';

const SESSIONS = 50; // of the newest, to choose from
const drafts = new Map(); // what was filled in, by tool, while the page lives
let lastSession = ''; // of the last call made here

const FLAGS = [
  ['readOnly', '', 'reads only', 'It changes nothing.'],
  ['destructive', 'bad', 'destructive', 'What it changes may not come back.'],
  ['external', 'info', 'external', 'It comes from outside: an MCP server or a script.'],
];

const badges = (tool) => FLAGS.filter(([flag]) => tool[flag]).map(([, cls, word, title]) => h('span', { class: ['badge', cls], title }, word));

/** The way back to the list, where there is room for one of both only. */
const back = () => h('a', { class: 'tools-back', href: '#/tools' }, '← All tools');

/** The first sentence of a description. */
const brief = (description) => visibleLine(String(description || '').split(/(?<=[.!?])\s|\n/, 1)[0].slice(0, 160));

/** The list with its filter. */
function toolList(onAgent) {
  const filter = h('input', { type: 'search', placeholder: 'Filter tools', 'aria-label': 'Filter tools', 'data-filter': '', oninput: draw });
  const list = h('ul', { class: 'plain tool-list' });
  const agents = h('span');
  const count = h('p', { class: 'sr', role: 'status' });
  const el = h('aside', { class: 'tools-side', 'aria-label': 'Tools' }, h('div', { class: 'tools-filter' }, filter, agents), list, count);
  let tools = [];
  let current = '';
  function draw() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = tools.filter((t) => words.every((w) => `${t.name} ${t.description} ${t.permission}`.toLowerCase().includes(w)));
    put(list, found.map(item), !found.length && h('li', { class: 'dim tools-none' }, tools.length ? 'No tool has these words.' : 'This agent is offered no tools.'));
    text(count, words.length ? `${found.length} of ${tools.length} tools` : '');
  }
  function item(t) {
    return h('li', null, h('a', { class: 'tool-item', href: '#/tools/' + encodeURIComponent(t.name), 'aria-current': t.name === current ? 'true' : null },
      h('span', { class: 'tool-name' }, visibleLine(t.name)), h('span', { class: 'tool-line' }, badges(t), h('span', { class: 'dim ellipsis' }, brief(t.description)))));
  }
  list.addEventListener('keydown', (e) => {
    const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[e.key];
    if (!by || e.ctrlKey || e.metaKey || e.altKey) return;
    const links = [...list.querySelectorAll('a')];
    const next = links[links.indexOf(document.activeElement) + by];
    if (next) e.preventDefault(), next.focus();
  });
  return {
    el,
    set(all, name) {
      tools = all;
      current = name;
      draw();
      list.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
    },
    agents(all, chosen) {
      const box = agentPicker(all, chosen, onAgent);
      box.setAttribute('aria-label', 'As this agent');
      put(agents, box);
    },
  };
}

/** The sessions to call in: a new one at first, and then that one, since calls build on each other. */
function sessionPicker(chosen) {
  const box = h('select');
  const known = [...state.sessions.values()].sort((a, b) => (b.time?.updated || 0) - (a.time?.updated || 0)).slice(0, SESSIONS);
  put(box, h('option', { value: '' }, 'New session'), known.map((s) => h('option', { value: s.id }, `${visibleLine(s.title || s.id).slice(0, 60)} · ${ago(s.time?.updated)}`)));
  choose(box, chosen);
  return box;
}

function choose(box, id) {
  if (id && ![...box.options].some((o) => o.value === id)) box.options[0].after(h('option', { value: id }, id === lastSession ? 'Session of the last call' : visibleLine(id)));
  box.value = id || '';
}

/** The text for a shell, in two dialects. */
function commands(request) {
  const kinds = [['curl', 'curl', () => asCurl(request(), location.origin, state.info?.tokenFile)], ['helve', 'helve call', () => asHelve(request())]];
  let kind = kinds[0];
  const pre = h('pre', { class: 'code-block', tabindex: 0, 'aria-label': 'The call as a command' });
  const hint = h('p', { class: 'hint dim' });
  const tabs = kinds.map((k) => h('button', { type: 'button', onclick: () => { kind = k; draw(); } }, k[1]));
  const el = h('details', { class: 'as-command', ontoggle: draw }, h('summary', null, 'As a command'),
    h('div', { class: 'row wrap' }, h('div', { class: 'segments', role: 'group', 'aria-label': 'Kind of command' }, tabs), copyButton(() => kind[2](), { from: () => pre })), pre, hint);
  function draw() {
    if (!el.open) return;
    tabs.forEach((t, i) => t.setAttribute('aria-pressed', String(kinds[i] === kind)));
    text(pre, kind[2]());
    text(hint, kind[0] === 'curl' ? 'The token is read from its file when this is run: the one that helve serve named when it started. Here it is never shown.' : 'Run it in the folder of this project.');
  }
  return { el, draw };
}

/** What a link fills in. */
function fromLink(query) {
  if (!query.input) return {};
  const { value, fault } = readJSON(query.input);
  if (fault || !isObject(value)) return { note: h('p', { class: 'note warn' }, 'The address carries arguments that can not be read. ', fault || 'They are to be an object.') };
  return { value, note: h('p', { class: 'note info' }, 'Filled in by the link you followed. Nothing has been run: look before you run it.') };
}

/** One tool: what it says about itself, its form, and what comes of a call. */
function detail(tool, agent, query, ctx) {
  const linked = fromLink(query);
  const form = schemaForm(tool.schema, linked.value || drafts.get(tool.name));
  const session = sessionPicker(query.session || lastSession);
  const request = () => ({ tool: tool.name, input: form.value(), session: session.value, agent });
  const shell = commands(request);
  const redraw = gather(shell.draw, 200);
  const runs = runner(ctx, {
    onState: (busy) => {
      run.disabled = busy;
      text(run, busy ? 'Running …' : 'Run');
    },
    onIssues: (issues) => form.show(issues),
    onSession: (id) => {
      lastSession = id;
      choose(session, id);
      redraw();
    },
  });
  const run = h('button', { type: 'button', class: 'primary run-button', onclick: go }, 'Run');
  const link = copyButton(() => location.origin + location.pathname + hashOf('tools/' + encodeURIComponent(tool.name), { input: JSON.stringify(form.value()) }), { label: 'Copy link' });
  function go() {
    if (runs.busy() || form.errors().length) return;
    drafts.set(tool.name, form.value());
    linked.note?.remove();
    runs.start(request());
  }
  form.el.addEventListener('input', () => {
    drafts.set(tool.name, form.value());
    redraw();
  });
  session.addEventListener('change', redraw);
  const el = h('div', { class: 'tool-detail', onkeydown: (e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) e.preventDefault(), e.repeat || go(); } },
    back(),
    h('div', { class: 'tool-head' }, h('h2', { class: 'mono', tabindex: -1 }, visibleLine(tool.name)), badges(tool),
      h('span', { class: 'dim' }, 'permission ', h('code', null, visibleLine(tool.permission || tool.name)))),
    scrolling(h('div', { class: 'tool-about', role: 'group', 'aria-label': 'About this tool' }, markdown(String(tool.description || '')))),
    linked.note,
    h('div', { class: 'card' }, form.el,
      h('div', { class: 'run-bar' }, h('label', { class: 'run-session' }, h('span', { class: 'dim' }, 'in'), session), run, h('span', { class: 'dim small keys' }, 'Ctrl+Enter'), h('span', { class: 'push' }, link))),
    runs.el, shell.el);
  return {
    el, name: tool.name, busy: runs.busy,
    cleanup() {
      redraw.stop();
      runs.cleanup();
    },
  };
}

export const page = {
  title: 'Tools',
  mount(root, params, ctx) {
    let now = params;
    let agent = params.query.agent || '';
    let tools = null;
    let shown = null; // the detail
    const side = toolList((name) => {
      agent = name === state.info?.defaultAgent ? '' : name;
      load();
    });
    const main = h('div', { class: 'tools-main' }, loading('Loading the tools …'));
    const grid = h('div', { class: 'tools' }, side.el, main);
    put(root, h('div', { class: 'page-head' }, h('h1', null, 'Tools')), grid);

    function clear() {
      shown?.cleanup();
      shown = null;
    }
    function draw() {
      ctx.title?.(now.name ? `${now.name} · Tools` : 'Tools');
      grid.classList.toggle('chosen', !!now.name);
      side.set(tools, now.name);
      clear();
      const tool = tools.find((t) => t.name === now.name);
      if (tool) put(main, (shown = detail(tool, agent, now.query, ctx)).el);
      else if (now.name) put(main, back(), empty(`This agent is offered no tool named “${visibleLine(now.name)}”.`, 'Choose another agent, or see under Status whether its server is connected.'));
      else put(main, empty('Choose a tool to see what it takes and to call it.'));
    }
    let turn = 0;
    async function load() {
      const mine = ++turn;
      try {
        const got = await api.get('/tools', { agent });
        if (mine !== turn) return;
        tools = got.tools || [];
        draw();
      } catch (err) {
        if (mine === turn) put(main, failure(err, load));
      }
    }
    async function loadAgents() {
      try {
        side.agents((await api.get('/agents')).agents || [], agent || state.info?.defaultAgent);
      } catch {
        // the default one it is
      }
    }
    // Tools come and go; a form that somebody fills in, or a call that runs, stays as it is.
    const later = gather(async () => {
      try {
        tools = (await api.get('/tools', { agent })).tools || [];
        side.set(tools, now.name);
        if (!shown && now.name) draw();
      } catch {
        // the list we have stands
      }
    }, 500);
    const off = events.on((e) => {
      if (e.type === 'tools.changed' || e.type === 'mcp.tools.changed' || e.type === 'reload') later();
    });
    load();
    loadAgents();
    const cleanup = () => {
      turn = -1;
      off();
      later.stop();
      clear();
    };
    cleanup.update = (next) => {
      now = next;
      if (tools) draw();
      if (now.name) main.querySelector('h2')?.focus({ preventScroll: true });
      root.parentNode.scrollTop = 0;
      return true;
    };
    return cleanup;
  },
};
