// A call's arguments and its result, by the shape of what is there. Tools of
// any origin are shown alike, so no tool's name stands here. Whatever comes is
// shown or said to be left out; nothing makes it fail.

import { h } from './dom.js';
import { exitOf, outcome, plural } from './format.js';
import { codeBlock, languageOf } from './colour.js';
import { codeNode, codeText, hasHidden, visibleLine, visibleLineNode, visibleNode } from './visible.js';
import { renderChange, renderDiff } from './diff.js';
import { compare } from './difftext.js';
import { textBox } from './output.js';
import { folded, valueTree } from './values.js';
import * as pieces from './pieces.js';

const { isObject, isText } = pieces;

const maxInner = 100; // calls in a call
const innerDepth = 3;
const longArgument = 160; // characters on a line
const foldFrom = 24; // lines of an argument

/** A part that fails is said to, and keeps none of the others from being shown. */
function guarded(make) {
  try {
    return make();
  } catch (err) {
    console.error(err);
    return h('p', { class: 'note warn' }, 'A part of this could not be shown.');
  }
}

// --- results

/** What the metadata holds that is shown in its own way, by its keys. */
function shapes(meta, question, hasInner) {
  const out = [];
  const used = new Set();
  const add = (node, ...keys) => {
    if (!node || (Array.isArray(node) && node.length === 0)) return;
    out.push(node);
    for (const key of keys) used.add(key);
  };
  const parts = [
    () => add(pieces.repairs(meta.repairs), 'repairs'),
    () => add(pieces.todoList(meta.todos), 'todos'),
    () => add(pieces.diffs(meta), 'diff', 'patch', 'files', 'filediff', 'filepath', 'filePath'),
    () => add(pieces.diagnostics(meta.diagnostics), 'diagnostics'),
    () => add(pieces.steps(meta.summary), 'summary'),
    () => {
      const made = pieces.steps(meta.details);
      const keys = ['details', 'tools', 'totalCalls', 'successful', 'failed'];
      if (made && hasInner) for (const key of keys) used.add(key); // the calls themselves say more
      else add(made, ...keys);
    },
    () => add(pieces.answers(meta.answers, question), 'answers'),
    () => add(isText(meta.sessionId) ? h('p', null, h('a', { href: '#/sessions/' + encodeURIComponent(meta.sessionId) }, 'Its own session')) : null, 'sessionId'),
    () => add(pieces.whole(meta), 'outputPath'),
  ];
  for (const part of parts) {
    const failed = guarded(part);
    if (failed) out.push(failed);
  }
  return { nodes: out, used };
}

/** Keys whose badge says all of it. */
const badgeKeys = { exit: 'number', signal: 'string', job: 'string', wall: 'string', timedOut: 'boolean', matches: 'number', count: 'number', pages: 'number', encoding: 'string', cached: 'boolean', truncated: 'boolean' };

/** Whether a value of the metadata is shown elsewhere. */
function told(key, value, { used, output, title }) {
  if (used.has(key) || (Object.hasOwn(badgeKeys, key) && typeof value === badgeKeys[key])) return true;
  if (key === 'description' && value === title) return true;
  if (key === 'diagnostics' && isObject(value) && Object.keys(value).length === 0) return true;
  if ((key === 'output' || key === 'preview') && typeof value === 'string') return value === '' || output !== '';
  return false;
}

function rest(meta, about) {
  const left = Object.entries(meta).filter(([key, value]) => !told(key, value, about));
  if (left.length === 0) return null;
  return folded(['More ', h('span', { class: 'dim' }, left.slice(0, 6).map(([key]) => visibleLine(key.slice(0, 30))).join(', ') + (left.length > 6 ? ' …' : ''))],
    () => valueTree(Object.fromEntries(left)));
}

/** The calls that this one made. */
function inner(calls, depth) {
  const known = Array.isArray(calls) ? calls.filter(isObject) : [];
  if (known.length === 0) return null;
  const one = (c) => {
    const failed = isText(c.error) || c.status === 'error';
    const name = [isText(c.tool) ? c.tool : 'call', isText(c.title) ? c.title : ''].filter(Boolean).join(' · ').slice(0, 300);
    return folded([h('span', { class: 'dot', 'data-state': failed ? 'error' : outcome('completed', exitOf(c.metadata)), 'aria-hidden': 'true' }), ' ', visibleLineNode(name), failed ? h('span', { class: 'badge bad' }, 'failed') : null],
      () => (depth >= innerDepth ? valueTree(c) : [renderInput(c.input), render({ result: c, error: failed ? c.error : null }, depth + 1)]));
  };
  return h('div', { class: 'inner' }, h('p', { class: 'small dim' }, plural(known.length, 'call') + ' inside'), known.slice(0, maxInner).map((c) => guarded(() => one(c))),
    known.length > maxInner ? h('p', { class: 'dim' }, `… and ${plural(known.length - maxInner, 'more call')}`) : null);
}

/** The output, folded where something else says it better. */
function outputOf(output, folds) {
  if (output === '') return null;
  if (!folds) return textBox(output);
  return folded(['Output for the model ', h('span', { class: 'dim' }, plural(output.length, 'character'))], () => textBox(output));
}

function render({ result, error, state, title, metadata, input }, depth) {
  const res = isObject(result) ? result : {};
  const meta = isObject(res.metadata) ? res.metadata : isObject(metadata) ? metadata : {};
  const live = !isText(res.output) && isText(meta.output) ? meta.output : '';
  const output = isText(res.output) ? res.output : live;
  const { nodes, used } = shapes(meta, isObject(input) ? input.questions : null, Array.isArray(res.inner) && res.inner.length > 0);
  const own = used.has('diff') || used.has('todos') || used.has('answers');
  const about = { used, output, title: isText(res.title) ? res.title : title };
  const body = [
    error ? guarded(() => pieces.problem(error)) : null,
    guarded(() => pieces.badges(meta)),
    nodes,
    guarded(() => pieces.attachments(res.attachments)),
    error && isText(error.message) && error.message === output ? null : guarded(() => outputOf(output, own)),
    guarded(() => inner(res.inner, depth)),
    guarded(() => rest(meta, about)),
  ].flat(2).filter(Boolean);
  if (body.length === 0) body.push(h('p', { class: 'dim' }, state === 'running' || state === 'pending' ? 'Nothing yet.' : 'It gave nothing back.'));
  return h('div', { class: 'result' }, body);
}

/**
 * Shows a call's result, or how far it has come.
 * @param {{tool?: string, input?: *, result?: Object, error?: *, state?: string, title?: string, metadata?: Object}} call
 * @returns {HTMLElement}
 */
export function renderResult(call) {
  return guarded(() => {
    const given = isObject(call) ? call : {};
    return render({ ...given, input: parsed(given.input) }, 0);
  });
}

// --- arguments

/** Arguments come as an object or as the text of one. */
function parsed(input) {
  if (typeof input !== 'string') return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** Pairs of names under which tools take an old and a new text. */
const pairs = [['oldString', 'newString'], ['old_string', 'new_string'], ['old_str', 'new_str'], ['before', 'after'], ['search', 'replace']];

function changePair(object) {
  return pairs.find(([a, b]) => typeof object[a] === 'string' && typeof object[b] === 'string');
}

const nameOf = (object) => [object.filePath, object.file_path, object.path, object.file, object.filename].find(isText) || '';

/** Lists of changes: [{oldString, newString}]. */
function changes(value, name) {
  if (!Array.isArray(value) || value.length === 0 || !value.every((v) => isObject(v) && changePair(v))) return null;
  const all = value.slice(0, 50).map((v) => {
    const [a, b] = changePair(v);
    return compare(v[a], v[b], nameOf(v) || name);
  });
  return [renderDiff(all), value.length > 50 ? h('p', { class: 'dim' }, `… and ${plural(value.length - 50, 'more change')}`) : null];
}

/** A long text: coloured where the name beside it says what it is. */
function longText(text, language) {
  const plain = text.length > 100_000 || hasHidden(text);
  if (plain || !language) return text.length > 20_000 ? textBox(text, { label: 'Text', open: 400 }) : h('pre', { class: 'code-block' }, visibleNode(text));
  return h('pre', { class: 'code-block', tabindex: '0' }, codeBlock(codeText(text).text, language));
}

function argument(key, value, all) {
  const list = changes(value, nameOf(all));
  if (list) return list;
  const todos = Array.isArray(value) && value.length > 0 ? pieces.todoList(value) : null;
  if (todos) return todos;
  if (typeof value !== 'string' || value === '') return valueTree(value);
  if (value.length <= longArgument && !value.includes('\n')) return h('code', { class: 'pattern' }, codeNode(value));
  const language = /command|script/i.test(key) ? 'sh' : /patch|diff/i.test(key) ? 'diff' : languageOf(nameOf(all));
  const lines = value.split('\n').length;
  return lines <= foldFrom && value.length <= 4000 ? longText(value, language) : folded(`${plural(lines, 'line')}, ${plural(value.length, 'character')}`, () => longText(value, language));
}

function fields(input) {
  const pair = changePair(input);
  const keys = Object.keys(input).filter((key) => !pair || !pair.includes(key));
  const rows = keys.slice(0, 100).flatMap((key) => [h('dt', null, visibleLineNode(key.slice(0, 100))), h('dd', null, guarded(() => argument(key, input[key], input)))]);
  return h('div', { class: 'arguments' },
    rows.length > 0 ? h('dl', { class: 'kv' }, rows) : null,
    keys.length > 100 ? folded(`${plural(keys.length - 100, 'more argument')}`, () => valueTree(Object.fromEntries(keys.slice(100).map((k) => [k, input[k]])))) : null,
    pair ? renderChange(input[pair[0]], input[pair[1]], nameOf(input)) : null);
}

/**
 * Shows a call's arguments.
 * @param {*} input an object, or the text that a model wrote
 * @returns {HTMLElement}
 */
export function renderInput(input) {
  return guarded(() => {
    const value = parsed(input);
    if (value === undefined || value === null || value === '' || (isObject(value) && Object.keys(value).length === 0)) return h('p', { class: 'dim' }, 'No arguments.');
    if (isObject(value)) return fields(value);
    return h('div', { class: 'arguments' }, typeof value === 'string' ? longText(value, '') : valueTree(value));
  });
}

/**
 * The arguments of a call that has ended: folded where its result shows what
 * they came to, so that a change is not shown twice.
 */
export function renderGiven(input, metadata) {
  const shown = isObject(metadata) && (typeof metadata.diff === 'string' || Array.isArray(metadata.files) || Array.isArray(metadata.results));
  return shown ? folded('Arguments', () => renderInput(input)) : renderInput(input);
}
