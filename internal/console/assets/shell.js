// What stands around every page: navigation, state of the connection, toasts,
// dialogs, keys that work everywhere.

import { attr, h, put, text, typing } from './dom.js';
import { events } from './events.js';
import { icon } from './icons.js';
import { state } from './state.js';

/** The places, in the order of the navigation; key is the second of "g …". */
export const PLACES = [
  { name: 'sessions', title: 'Sessions', key: 's' },
  { name: 'requests', title: 'Requests', key: 'r' },
  { name: 'tools', title: 'Tools', key: 't' },
  { name: 'rules', title: 'Rules', key: 'u' },
  { name: 'changes', title: 'Changes', key: 'c' },
  { name: 'status', title: 'Status', key: 'x' },
];

const WORDS = { __proto__: null, live: 'Live', connecting: 'Connecting …', lost: 'Not connected, trying …' };

// --- frame

/** Builds the frame and returns where pages go. */
export function frame(app) {
  const main = h('main', { class: 'main', id: 'main', tabindex: -1 });
  const count = h('span', { class: 'badge count', hidden: true });
  const links = PLACES.map((p) => h('li', null,
    h('a', { class: 'place', href: '#/' + p.name, 'data-place': p.name }, icon(p.name), h('span', null, p.title), p.name === 'requests' && count)));
  const folder = h('small', { class: 'ellipsis' });
  const link = h('div', { class: 'link-state', role: 'status' });
  const waits = h('div', { class: 'sr', role: 'status' });
  put(app,
    h('a', { class: 'skip', href: '#main', onclick: (e) => { e.preventDefault(); main.focus(); } }, 'Skip to the page'),
    h('nav', { class: 'nav', 'aria-label': 'Main' },
      h('div', { class: 'brand' }, 'helve', folder),
      h('ul', { class: 'plain' }, links),
      h('div', { class: 'foot' }, link, h('div', { class: 'row nav-buttons' }, themeButton(),
        h('button', { class: 'quiet icon help-button', type: 'button', 'aria-label': 'Keyboard help', title: 'Keyboard (?)', onclick: () => help() }, icon('help'))))),
    main, waits);
  document.body.append(toasts);
  events.onStatus((s) => {
    attr(link, 'data-status', s);
    text(link, WORDS[s]);
  });
  let last = 0;
  const draw = () => {
    const n = state.waiting();
    count.hidden = n === 0;
    text(count, n);
    attr(count, 'aria-label', `${n} waiting`);
    if (n > last) text(waits, n === 1 ? 'One request waits for you.' : `${n} requests wait for you.`);
    last = n;
    if (state.info) {
      text(folder, shortDir(state.info.directory));
      attr(folder, 'title', state.info.directory);
    }
    retitle();
  };
  state.on(draw);
  draw();
  return main;
}

let pageTitle = '';
/** The title of the tab: what waits, where we are. */
export function retitle(title) {
  if (title !== undefined) pageTitle = title;
  const n = state.waiting();
  const next = `${n ? `(${n}) ` : ''}${pageTitle ? pageTitle + ' · ' : ''}helve`;
  if (document.title !== next) document.title = next;
}

/** Marks where we are. */
export function markPlace(name) {
  for (const a of document.querySelectorAll('.nav a.place')) attr(a, 'aria-current', a.dataset.place === name ? 'page' : null);
}

/** The last two names of a path. */
export function shortDir(dir) {
  const parts = (dir || '').split(/[\\/]/).filter(Boolean);
  return parts.length > 2 ? '…/' + parts.slice(-2).join('/') : dir || '';
}

// --- theme

function themeButton() {
  const root = document.documentElement;
  const names = { '': ['half', 'Theme: system'], light: ['sun', 'Theme: light'], dark: ['moon', 'Theme: dark'] };
  const button = h('button', { class: 'quiet icon', type: 'button' });
  const draw = () => {
    const [name, label] = names[root.dataset.theme || ''];
    put(button, icon(name), h('span', { class: 'phone-word' }, 'Theme'));
    attr(button, 'aria-label', label);
    attr(button, 'title', label);
  };
  button.addEventListener('click', () => {
    const next = { '': 'light', light: 'dark', dark: '' }[root.dataset.theme || ''];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    try {
      localStorage.setItem('helve.theme', next);
    } catch {
      // holds for this page then
    }
    draw();
  });
  draw();
  return button;
}

// --- toasts

const toasts = h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });

/** Says something for a while; what went wrong stays longer. kind: ok, warn, bad or none. */
export function toast(message, kind) {
  const close = h('button', { class: 'quiet icon', type: 'button', 'aria-label': 'Dismiss' }, icon('close', 14));
  const el = h('div', { class: ['toast', kind], role: kind === 'bad' ? 'alert' : null }, h('span', { class: 'grow' }, message), close);
  const end = () => el.remove();
  close.addEventListener('click', end);
  let timer = setTimeout(end, kind === 'bad' ? 12_000 : 5_000);
  el.addEventListener('mouseenter', () => clearTimeout(timer));
  el.addEventListener('mouseleave', () => (timer = setTimeout(end, 3_000)));
  toasts.append(el);
  while (toasts.children.length > 4) toasts.firstChild.remove();
  return end;
}

// --- dialogs

/** Asks yes or no; Escape is no. */
export function confirm(message, { yes = 'Go on', no = 'Cancel', danger = false } = {}) {
  return new Promise((resolve) => {
    const answer = (value) => () => dialog.close(value);
    const dialog = h('dialog', { 'aria-label': 'Please confirm' },
      h('p', null, message),
      h('div', { class: 'actions' },
        h('button', { type: 'button', onclick: answer('') }, no),
        h('button', { type: 'button', class: danger ? 'danger' : 'primary', onclick: answer('yes') }, yes)));
    show(dialog, () => resolve(dialog.returnValue === 'yes'));
    dialog.querySelector('.actions button').focus();
  });
}

function show(dialog, closed) {
  const before = document.activeElement;
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (before && before.isConnected) before.focus();
    closed();
  });
  dialog.addEventListener('click', (e) => e.target === dialog && dialog.close(''));
  document.body.append(dialog);
  dialog.showModal();
}

/** Closes what is open over a page that is left; a question is then answered with no. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close('');
}

const KEYS = [
  ['Everywhere', [['?', 'this help'], ...PLACES.map((p) => ['g ' + p.key, p.title.toLowerCase()]), ['/', 'to the filter of the page']]],
  ['Lists', [['j k', 'down, up'], ['Enter', 'open'], ['← →', 'fold, unfold'], ['Home End', 'first, last']]],
  ['Session', [['[ ]', 'tab before, next tab'], ['i', 'to the prompt'], ['Esc', 'close the call'], ['+ − 0', 'zoom the calls']]],
  ['Request', [['j k', 'next card, card before'], ['o', 'on a card in focus: allow once'], ['a', 'on a card in focus: allow always'], ['r', 'on a card in focus: reject, with a word why']]],
];

function help() {
  if (document.querySelector('dialog[open]')) return;
  const dialog = h('dialog', { 'aria-labelledby': 'help-title', class: 'help' },
    h('h2', { id: 'help-title' }, 'Keyboard'),
    h('div', { class: 'help-groups' }, KEYS.map(([name, keys]) => h('section', null, h('h3', { class: 'dim' }, name),
      h('dl', { class: 'kv' }, keys.map(([k, does]) => [h('dt', null, k.split(' ').map((c) => [h('kbd', null, c), ' '])), h('dd', null, does)]))))),
    h('div', { class: 'actions' }, h('button', { type: 'button', class: 'primary', onclick: () => dialog.close('') }, 'Close')));
  show(dialog, () => {});
}

// --- keys

/** The keys that work on every page. go(hash) goes somewhere. */
export function globalKeys(go) {
  let armed = 0; // until when a letter after g counts
  addEventListener('keydown', (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector('dialog[open]')) return;
    if (armed && Date.now() < armed) {
      armed = 0;
      const place = PLACES.find((p) => p.key === e.key);
      if (place) {
        e.preventDefault();
        go('#/' + place.name);
      }
      return;
    }
    armed = 0;
    if (e.key === 'g') armed = Date.now() + 1500;
    else if (e.key === '?') help();
    else if (e.key === '/') {
      const box = document.querySelector('#main [data-filter]');
      if (box) {
        e.preventDefault();
        box.focus();
        box.select();
      }
    }
  });
}
