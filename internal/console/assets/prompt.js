// The box that gives an agent something to do: text, files, which agent, which
// model; and while it works, the way to stop it.

import { api, explain, path } from './api.js';
import { attr, h, put, text } from './dom.js';
import { bytes, modelName } from './format.js';
import { icon } from './icons.js';
import { state } from './state.js';
import { visibleLine } from './visible.js';

const MOST = 10 << 20; // bytes of all files together: a request may have 16 MiB, and base64 takes a third more
const MAX_FILES = 8;
const drafts = new Map(); // what was typed and not sent, by session
let choices = null;

/** Agents a person may talk to, and models; asked for once, again after a failure. */
function loadChoices() {
  if (!choices) {
    choices = Promise.all([api.get('/agents'), api.get('/models')]).then(([agents, models]) => ({
      agents: (agents.agents || []).filter((a) => !a.hidden && a.mode !== 'subagent'),
      models: models.models || [],
    }));
    choices.catch(() => (choices = null));
  }
  return choices;
}

function readFile(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ type: 'file', mime: file.type || 'text/plain', url: reader.result, filename: file.name });
    reader.onerror = () => reject(new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
}

/**
 * @param {Object} o
 * @param {Object} o.ctx of the page
 * @param {string} [o.session] the session to go on with; without one a new one is made
 * @param {(session: string) => void} [o.sent]
 */
export function promptBox({ ctx, session = '', sent }) {
  let busy = false;
  let sending = false;
  let touched = false; // the person has chosen the agent or the model
  let files = [];

  const area = h('textarea', {
    rows: 1, class: 'prompt-text', 'aria-label': session ? 'Your next prompt' : 'Prompt for a new session',
    placeholder: session ? 'Say what comes next …' : 'What is to be done? Starts a new session …', value: drafts.get(session) || '',
  });
  const agent = h('select', { 'aria-label': 'Agent' }, h('option', { value: '' }, 'Agent'));
  const model = h('select', { 'aria-label': 'Model' }, h('option', { value: '' }, 'Model of the agent'));
  const picker = h('input', { type: 'file', multiple: true, hidden: true, 'aria-label': 'Files to attach' });
  const attach = h('button', { type: 'button', class: 'quiet icon', 'aria-label': 'Attach files', title: 'Attach files', onclick: () => picker.click() }, icon('clip'));
  const chips = h('ul', { class: 'plain row wrap prompt-files', hidden: true });
  const send = h('button', { type: 'submit', class: 'primary', 'aria-label': 'Send', title: 'Send (Enter)' }, icon('send'), h('span', { class: 'prompt-word' }, 'Send'));
  const stop = h('button', { type: 'button', class: 'danger', 'aria-label': 'Stop', title: 'Stop the agent', hidden: true, onclick: cancel }, icon('stop'), h('span', { class: 'prompt-word' }, 'Stop'));
  const resume = h('button', { type: 'button', class: 'resume', hidden: true, title: 'The last turn broke off: let the agent go on', onclick: () => turn('resume') }, 'Resume');
  const compact = h('button', { type: 'button', class: 'quiet', 'aria-label': 'Compact', hidden: true, title: 'Compact: sum up what was said, to make room', onclick: () => turn('compact') }, icon('compact'), h('span', { class: 'prompt-word' }, 'Compact'));
  const el = h('form', { class: 'prompt', onsubmit: submit }, area, chips,
    h('div', { class: 'row prompt-bar' }, attach, picker, agent, model, h('span', { class: 'grow' }), compact, resume, stop, send));

  function draw() {
    send.disabled = sending || busy || (!area.value.trim() && !files.length);
    send.hidden = busy;
    stop.hidden = !busy;
    chips.hidden = !files.length;
    put(chips, files.map((f, i) => h('li', { class: 'badge' }, visibleLine(f.filename), ' ', bytes(f.size),
      h('button', { type: 'button', class: 'quiet icon chip-x', 'aria-label': `Remove ${visibleLine(f.filename)}`, onclick: () => { files.splice(i, 1); draw(); } }, icon('close', 12)))));
  }

  /** As high as its text, up to a third of the window, where the style can not see to it. */
  function grow() {
    if (CSS.supports('field-sizing', 'content') || !area.clientHeight) return;
    area.style.setProperty('height', 'auto');
    area.style.setProperty('height', `${Math.min(area.scrollHeight + 2, innerHeight / 3)}px`);
  }

  async function submit(e) {
    if (e) e.preventDefault();
    if (send.disabled) return;
    sending = true;
    draw();
    const body = { text: area.value };
    if (session) body.session = session;
    if (agent.value) body.agent = agent.value;
    if (model.value) {
      const cut = model.value.indexOf('/');
      body.model = { providerID: model.value.slice(0, cut), modelID: model.value.slice(cut + 1) };
    }
    if (files.length) body.files = files.map(({ size, ...f }) => f);
    try {
      const answer = await api.post('/prompts', body);
      area.value = '';
      files = [];
      drafts.delete(session);
      grow();
      if (sent) sent(answer.session);
    } catch (err) {
      ctx.toast(err.code === 'busy' ? 'An agent works on this session already. Wait for it, or stop it.' : explain(err), 'bad');
    }
    sending = false;
    draw();
  }

  async function cancel() {
    stop.disabled = true;
    try {
      await api.post(path('sessions', session, 'cancel'));
    } catch (err) {
      ctx.toast(err.status === 404 ? 'No agent works on this session here. Where another helve does, stop it there.' : explain(err), 'bad');
    }
    stop.disabled = false;
  }

  async function turn(what) {
    try {
      await api.post(path('sessions', session, what), {});
    } catch (err) {
      ctx.toast(explain(err), 'bad');
    }
  }

  async function take(list) {
    for (const file of list) {
      const sum = files.reduce((n, f) => n + f.size, file.size);
      if (sum > MOST) ctx.toast(`${file.name}: more than ${bytes(MOST)} altogether can not be attached. Put it into the folder and name it instead.`, 'warn');
      else if (files.length >= MAX_FILES) return ctx.toast(`${MAX_FILES} files are the most.`, 'warn');
      else {
        try {
          files.push({ ...(await readFile(file)), size: file.size });
        } catch (err) {
          ctx.toast(explain(err), 'bad');
        }
      }
    }
    draw();
  }

  area.addEventListener('input', () => {
    drafts.set(session, area.value);
    grow();
    draw();
  });
  area.addEventListener('keydown', (e) => {
    // Enter sends, but not where it is the only way to a new line, nor while a word is composed.
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing && !matchMedia('(pointer: coarse)').matches) {
      e.preventDefault();
      submit();
    } else if (e.key === 'Escape') area.blur();
  });
  area.addEventListener('paste', (e) => {
    const pasted = [...e.clipboardData.files];
    if (!pasted.length) return;
    e.preventDefault();
    take(pasted);
  });
  el.addEventListener('dragover', (e) => e.dataTransfer.types.includes('Files') && e.preventDefault());
  el.addEventListener('drop', (e) => {
    if (!e.dataTransfer.files.length) return;
    e.preventDefault();
    take([...e.dataTransfer.files]);
  });
  picker.addEventListener('change', () => {
    take([...picker.files]);
    picker.value = '';
  });
  agent.addEventListener('change', () => (touched = true));
  model.addEventListener('change', () => (touched = true));

  let wanted = { agent: '', model: '' };
  function choose() {
    if (touched) return;
    if (!wanted.agent && state.info) wanted.agent = state.info.defaultAgent || '';
    if (wanted.agent && [...agent.options].some((x) => x.value === wanted.agent)) agent.value = wanted.agent;
    if (wanted.model && [...model.options].some((x) => x.value === wanted.model)) model.value = wanted.model;
  }
  loadChoices().then(({ agents, models }) => {
    put(agent, agents.map((a) => h('option', { value: a.name, title: visibleLine(a.description || '') }, visibleLine(a.name))));
    const groups = new Map();
    for (const m of models) groups.set(m.provider, [...(groups.get(m.provider) || []), m]);
    const standard = models.find((m) => m.default);
    put(model, h('option', { value: '' }, standard ? `Default (${visibleLine(standard.name || standard.model)})` : 'Model of the agent'),
      [...groups].map(([provider, of]) => h('optgroup', { label: visibleLine(provider) }, of.map((m) => h('option', { value: modelName(m) }, visibleLine(m.name || m.model))))));
    choose();
  }).catch((err) => text(agent.options[0], 'Agents: ' + explain(err)));

  draw();
  queueMicrotask(grow);
  return {
    el,
    /** What the page knows of the session: its status, who worked on it, whether it broke off. */
    update({ status, agent: name, model: ref, broken, talked }) {
      busy = !!status && status.type !== 'idle';
      wanted = { agent: name || '', model: modelName(ref) };
      choose();
      resume.hidden = busy || !broken;
      compact.hidden = busy || !talked;
      attr(el, 'data-busy', busy ? 'true' : null);
      draw();
    },
    focus: () => area.focus(),
  };
}
