// The shapes that results have, one function each. A shape is known by what
// is there, never by a tool's name; a function gives null where it is not the
// shape. Everything comes from outside: any type may stand anywhere.

import { attr, h, put } from './dom.js';
import { api, explain } from './api.js';
import { bytes, plural } from './format.js';
import { visibleLine, visibleLineNode, visibleNode } from './visible.js';
import { renderDiff } from './diff.js';
import { compare, parseDiff } from './difftext.js';
import { textBox } from './output.js';
import { folded } from './values.js';

export const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
export const isText = (v) => typeof v === 'string' && v !== '';
const list = (v) => (Array.isArray(v) ? v : []);
const short = (v, n = 300) => (v.length > n ? v.slice(0, n) + '…' : v);

const maxShown = 200; // entries of a list

/** A list of nodes, bounded. */
function bounded(values, make, what) {
  const out = values.slice(0, maxShown).map(make);
  if (values.length > maxShown) out.push(h('li', { class: 'dim' }, `… and ${plural(values.length - maxShown, 'more ' + what)}`));
  return out;
}

// --- differences

/** A file's differences as data; none where there is nothing to compare. */
function fileDiffs(file) {
  const name = [file.relativePath, file.filePath, file.file, file.path].find(isText) || '';
  const text = [file.diff, file.patch].find(isText);
  const both = typeof file.before === 'string' && typeof file.after === 'string';
  const found = text ? parseDiff(text) : both ? [compare(file.before, file.after, name)] : [];
  for (const [i, f] of found.entries()) {
    f.name ||= name;
    f.status ||= isText(file.type) ? file.type : '';
    if (i === 0 && isText(file.movePath)) Object.assign(f, { before: f.name, name: file.movePath });
  }
  return found;
}

/** diff, files[].diff, filediff {before, after}. */
export function diffs(meta) {
  const files = list(meta.files).filter(isObject).flatMap(fileDiffs);
  if (files.length > 0) return renderDiff(files);
  const about = isObject(meta.filediff) ? meta.filediff : {};
  const name = [about.file, meta.filepath, meta.filePath].find(isText) || '';
  for (const text of [meta.diff, meta.patch]) if (isText(text)) return renderDiff(text, { name });
  const one = fileDiffs(about);
  return one.length > 0 ? renderDiff(one) : null;
}

// --- todos

const todoMarks = { __proto__: null, completed: '☑', in_progress: '◐', cancelled: '☒', pending: '☐' };
const todoWords = { __proto__: null, completed: 'done', in_progress: 'in progress', cancelled: 'cancelled', pending: 'to do' };

/** [{content, status, priority}] */
export function todoList(todos) {
  if (!Array.isArray(todos) || !todos.every((t) => isObject(t) && typeof t.content === 'string')) return null;
  if (todos.length === 0) return h('p', { class: 'dim' }, 'The list is empty.');
  const done = todos.filter((t) => t.status === 'completed').length;
  return h('div', { class: 'todos' }, h('p', { class: 'small dim' }, `${done} of ${todos.length} done`),
    h('ul', { class: 'plain' }, bounded(todos, (t) => {
      const status = Object.hasOwn(todoMarks, t.status) ? t.status : 'pending';
      return h('li', { class: 'todo ' + status },
        h('span', { class: 'todo-mark', role: 'img', 'aria-label': todoWords[status] }, todoMarks[status]),
        h('span', { class: 'todo-text' }, visibleLineNode(short(t.content, 1000))),
        t.priority === 'high' ? h('span', { class: 'badge warn' }, 'high') : null);
    }, 'entry')));
}

// --- how a command ended

/** exit, signal, job, wall, timedOut, matches, count …: one badge each. */
export function badges(meta) {
  const out = [];
  const add = (cls, ...text) => out.push(h('span', { class: ('badge ' + cls).trim() }, text));
  if (Number.isFinite(meta.exit)) add(meta.exit === 0 ? 'ok' : 'bad', `exit ${meta.exit}`);
  if (isText(meta.signal)) add('bad', 'signal ', visibleLine(short(meta.signal, 40)));
  if (isText(meta.job)) add('info', 'goes on as job ', visibleLine(short(meta.job, 40)));
  if (isText(meta.wall)) add('', 'wall: ', visibleLine(short(meta.wall, 60)));
  if (meta.timedOut === true) add('warn', 'time ran out');
  if (Number.isFinite(meta.matches)) add('', plural(meta.matches, 'match', 'matches'));
  if (Number.isFinite(meta.count)) add('', `${meta.count.toLocaleString('en')} found`);
  if (Number.isFinite(meta.pages)) add('', plural(meta.pages, 'page'));
  if (isText(meta.encoding)) add('', visibleLine(short(meta.encoding, 40)));
  if (meta.cached === true) add('', 'from the cache');
  if (meta.truncated === true) add('warn', 'cut');
  return out.length > 0 ? h('div', { class: 'row wrap badges' }, out) : null;
}

/** What was left out, and the file that has all of it. */
export function whole(meta) {
  if (!isText(meta.outputPath)) return null;
  const holder = h('div');
  const button = h('button', { type: 'button', onclick: load }, 'Show all of it');
  async function load() {
    button.disabled = true;
    try {
      const file = await api.get('/files/content', { path: meta.outputPath });
      if (file?.binary || typeof file?.text !== 'string') {
        put(holder, h('p', { class: 'note warn' }, `It is no text (${bytes(file?.size ?? 0)}).`));
        return;
      }
      put(holder, textBox(file.text, { label: 'All of the output' }),
        file.truncated ? h('p', { class: 'small dim' }, `The beginning of ${bytes(file.size)}. The file has the rest.`) : null);
      button.hidden = true;
    } catch (err) {
      put(holder, h('p', { class: 'note warn', role: 'alert' }, visibleLine(explain(err))));
      button.disabled = false;
    }
  }
  return h('div', { class: 'whole' }, h('p', { class: 'row wrap' }, 'The output was cut. All of it is kept in ', h('code', null, visibleLineNode(meta.outputPath)), button), holder);
}

// --- diagnostics

const severities = ['', 'error', 'warning', 'information', 'hint'];
const severityClass = ['', 'bad', 'warn', 'info', ''];

/** What is not said counts as an error. */
const severityOf = (d) => (Number.isInteger(d.severity) && severities[d.severity] ? d.severity : 1);

function diagnostic(d) {
  const severity = severityOf(d);
  const start = isObject(d.range) && isObject(d.range.start) ? d.range.start : {};
  const place = Number.isFinite(start.line) ? `${start.line + 1}:${(Number.isFinite(start.character) ? start.character : 0) + 1}` : '';
  const from = [d.source, isObject(d.code) ? d.code.value : d.code].filter((v) => isText(v) || Number.isFinite(v)).join(' ');
  return h('li', { class: 'diagnostic' }, h('span', { class: ('badge ' + severityClass[severity]).trim() }, severities[severity]),
    place ? h('span', { class: 'mono num dim' }, place) : null,
    h('span', { class: 'grow' }, visibleNode(short(isText(d.message) ? d.message : '', 2000)), from ? h('span', { class: 'dim' }, ' ', visibleLine(short(from, 80))) : null));
}

/** {file: [{range, severity, message}]} */
export function diagnostics(found) {
  if (!isObject(found)) return null;
  const files = Object.entries(found).filter(([, ds]) => Array.isArray(ds) && ds.some(isObject));
  if (files.length === 0) return null;
  const rank = (ds) => ds.filter(isObject).reduce((n, d) => Math.min(n, severityOf(d)), 9);
  files.sort((a, b) => rank(a[1]) - rank(b[1]));
  return h('div', { class: 'diagnostics' }, files.slice(0, 50).map(([file, ds], i) => {
    const known = ds.filter(isObject).sort((a, b) => severityOf(a) - severityOf(b));
    const errors = known.filter((d) => severityOf(d) === 1).length;
    return folded([h('span', { class: 'mono' }, visibleLineNode(file)), ' ', h('span', { class: errors ? 'badge bad' : 'badge' }, errors ? plural(errors, 'error') : plural(known.length, 'finding'))],
      () => h('ul', { class: 'plain' }, bounded(known, diagnostic, 'finding')), i < 3);
  }), files.length > 50 ? h('p', { class: 'dim' }, `… and ${plural(files.length - 50, 'more file')}`) : null);
}

// --- files that came with it

const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** How many bytes base64 stands for. */
function sizeOf(url) {
  const data = url.length - url.indexOf(',') - 1;
  return Math.max(0, Math.floor((data * 3) / 4));
}

function attachment(a) {
  const mime = isText(a.mime) ? a.mime : '';
  const url = isText(a.url) ? a.url : '';
  const name = isText(a.filename) ? short(a.filename, 200) : '';
  const label = [name, mime].filter(Boolean).map(visibleLine).join(', ') || 'a file';
  const head = /^data:([\w.+-]+\/[\w.+-]+);base64,/.exec(url.slice(0, 200));
  if (head && pictures.has(head[1]) && head[1] === mime) {
    const img = h('img', { src: url, alt: name ? `Image ${visibleLine(name)}` : 'Image', loading: 'lazy', decoding: 'async' });
    const figure = h('figure', { class: 'picture' }, img, h('figcaption', { class: 'small dim' }, label, ', ', bytes(sizeOf(url))));
    img.addEventListener('error', () => figure.replaceWith(h('p', { class: 'note' }, `${label} could not be shown: it is damaged.`)));
    return figure;
  }
  const what = mime === 'application/pdf' ? 'PDF' : 'File';
  return h('p', { class: 'note' }, `${what} for the model: `, label, head ? `, ${bytes(sizeOf(url))}` : '');
}

/** [{mime, url, filename}] */
export function attachments(files) {
  const known = list(files).filter(isObject);
  if (known.length === 0) return null;
  return h('div', { class: 'attachments' }, known.slice(0, 20).map(attachment),
    known.length > 20 ? h('p', { class: 'dim' }, `… and ${plural(known.length - 20, 'more file')}`) : null);
}

// --- steps, answers, notes

const stateOf = (s) => (isObject(s.state) ? s.state.status : typeof s.success === 'boolean' ? (s.success ? 'completed' : 'error') : s.status);

/** [{tool, state: {status, title, failed}}] or [{tool, success}]: what was done by others. */
export function steps(value) {
  if (!Array.isArray(value) || value.length === 0 || !value.every((s) => isObject(s) && isText(s.tool) && isText(stateOf(s)))) return null;
  return h('ol', { class: 'plain steps' }, bounded(value, (s) => {
    const status = isObject(s.state) && s.state.failed === true ? 'error' : short(stateOf(s), 30);
    const title = isObject(s.state) && isText(s.state.title) ? s.state.title : '';
    return h('li', { class: 'row' }, h('span', { class: 'dot', 'data-state': status, 'aria-hidden': 'true' }), h('span', { class: 'mono' }, visibleLineNode(short(s.tool, 100))),
      h('span', { class: 'ellipsis dim' }, visibleLine(short(title))), status === 'completed' ? h('span', { class: 'sr' }, 'completed') : h('span', { class: 'small dim' }, visibleLine(status)));
  }, 'step'));
}

/** Answers to questions: [["a"], []]. */
export function answers(value, questions) {
  if (!Array.isArray(value) || value.length === 0 || !value.every((a) => Array.isArray(a) && a.every((t) => typeof t === 'string'))) return null;
  return h('dl', { class: 'kv' }, value.slice(0, 50).flatMap((a, i) => {
    const q = isObject(list(questions)[i]) ? questions[i] : {};
    return [h('dt', null, isText(q.header) ? visibleLine(short(q.header, 60)) : `Answer ${i + 1}`),
      h('dd', null, a.length > 0 ? a.slice(0, 50).flatMap((t, k) => [k > 0 ? ', ' : '', visibleLineNode(short(t, 2000))]) : h('span', { class: 'dim' }, 'no answer'))];
  }));
}

/** What was put right in the arguments: [{path, change}]. */
export function repairs(value) {
  if (!Array.isArray(value) || value.length === 0 || !value.every((r) => isObject(r) && isText(r.change))) return null;
  return h('div', { class: 'note info' }, h('p', null, 'The arguments were put right before the call:'),
    h('ul', null, bounded(value, (r) => h('li', null, isText(r.path) ? [h('code', null, visibleLineNode(short(r.path))), ': '] : null, visibleLine(short(r.change))), 'repair')));
}

const heights = new ResizeObserver((entries) => {
  for (const { target } of entries) attr(target, 'tabindex', target.scrollHeight > target.clientHeight + 1 ? 0 : null);
});

/** A box that keys can scroll, as soon as there is something to scroll. */
export function scrolling(el) {
  heights.observe(el);
  return el;
}

/** Why something failed, in words for a person where there are any: the message may be meant for a model. */
export function why(e) {
  return [e.reason, e.kind === 'denied' && /^Decided by /.test(e.hint) ? e.hint : '', e.message, e.detail, e.title].find(isText) || '';
}

/** A failure: {kind, code, message, hint, reason, issues}, or a text. */
export function problem(error) {
  const e = isObject(error) ? error : { message: typeof error === 'string' ? error : '' };
  const kind = [e.kind, e.code === e.kind ? null : e.code].filter(isText).map((t) => visibleLine(short(t, 60)));
  const message = why(e) || 'It failed, and nothing was said about why.';
  const issues = list(e.issues).filter(isObject);
  return h('div', { class: 'note bad problem' },
    h('div', { class: 'row wrap' }, h('strong', null, 'Failed'), kind.map((k) => h('span', { class: 'badge bad' }, k))),
    message.length > 4000 ? textBox(message, { label: 'What went wrong' }) : scrolling(h('pre', { class: 'problem-text', role: 'group', 'aria-label': 'What went wrong' }, visibleNode(message))),
    issues.length > 0 ? h('ul', null, bounded(issues, (i) => h('li', null, h('code', null, visibleLineNode(short(list(i.path).join('.') || 'arguments'))), ': ', visibleLine(short(isText(i.message) ? i.message : String(i.code ?? '')))), 'issue')) : null,
    isText(e.hint) && e.hint !== message ? h('p', { class: 'hint' }, visibleNode(short(e.hint, 2000))) : null);
}
