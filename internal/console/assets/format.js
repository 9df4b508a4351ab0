// Times, sizes, tokens and cost in few characters.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const two = (n) => String(n).padStart(2, '0');

/**
 * What the colours say of a call: its state, but error where the call is an
 * answer to the model and a failure for people, or its command ended otherwise than with 0.
 */
export const outcome = (state, exit, kind) => (state === 'completed' && (kind || (Number.isFinite(exit) && exit !== 0)) ? 'error' : state);

/** The exit code of a command, from the metadata of its call: -1 where a signal ended it. */
export const exitOf = (metadata) => (metadata && metadata.exit === null && typeof metadata.signal === 'string' ? -1 : metadata?.exit);

/** 14:03:09 */
export function clock(ms) {
  const d = new Date(ms);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/** 14:03 today, 12 Mar 14:03 this year, 12 Mar 2025 before. */
export function when(ms, now = Date.now()) {
  if (!ms) return '';
  const d = new Date(ms);
  const n = new Date(now);
  const time = `${two(d.getHours())}:${two(d.getMinutes())}`;
  if (d.toDateString() === n.toDateString()) return time;
  const day = `${d.getDate()} ${d.toLocaleString('en', { month: 'short' })}`;
  return d.getFullYear() === n.getFullYear() ? `${day} ${time}` : `${day} ${d.getFullYear()}`;
}

/** The whole of a time, for titles. */
export function full(ms) {
  return ms ? new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }) : '';
}

/** now, 5 min ago, 3 h ago; then the date. */
export function ago(ms, now = Date.now()) {
  if (!ms) return '';
  const d = now - ms;
  if (d < MINUTE) return 'now';
  if (d < HOUR) return `${Math.floor(d / MINUTE)} min ago`;
  if (d < DAY / 2) return `${Math.floor(d / HOUR)} h ago`;
  return when(ms, now);
}

/** 7 ms, 1.4 s, 2 m 05 s, 3 h 20 m */
export function duration(ms) {
  if (ms === undefined || ms === null || Number.isNaN(ms)) return '';
  const v = Math.max(0, ms);
  if (v < 1000) return `${Math.round(v)} ms`;
  if (v < 9_950) return `${(v / 1000).toFixed(1)} s`;
  if (v < MINUTE - 500) return `${Math.round(v / 1000)} s`;
  const s = Math.round(v / 1000);
  if (s < 3600) return `${Math.floor(s / 60)} m ${two(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${two(Math.floor((s % 3600) / 60))} m`;
}

/** 812 B, 4.0 KiB */
export function bytes(n) {
  if (n === undefined || n === null) return '';
  if (n < 1024) return `${n} B`;
  let v = n;
  let unit = -1;
  do {
    v /= 1024;
    unit++;
  } while (v >= 1023.5 && unit < 3);
  return `${v.toFixed(v < 100 ? 1 : 0)} ${['KiB', 'MiB', 'GiB', 'TiB'][unit]}`;
}

/** 950, 4.1k, 182k, 1.2M */
export function count(n) {
  if (!n) return '0';
  if (n < 1000) return String(n);
  if (n < 9_950) return `${(n / 1000).toFixed(1)}k`;
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${(n / 1e6).toFixed(n < 9.95e6 ? 1 : 0)}M`;
}

/** What went in and came out, caches counted where they belong. */
export function tokenSums(t) {
  if (!t) return { input: 0, output: 0, cached: 0 };
  const cache = t.cache || {};
  return { input: (t.input || 0) + (cache.read || 0) + (cache.write || 0), output: (t.output || 0) + (t.reasoning || 0), cached: cache.read || 0 };
}

/** "182k in, 4.1k out"; '' where there are none. */
export function tokens(t) {
  const s = tokenSums(t);
  return s.input || s.output ? `${count(s.input)} in, ${count(s.output)} out` : '';
}

/** $0.42; small sums with more digits; '' for nothing. */
export function cost(usd) {
  if (!usd) return '';
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  return `$${usd.toFixed(usd < 100 ? 2 : 0)}`;
}

/** The name of a model as people write it. */
export function modelName(m) {
  if (!m) return '';
  const provider = m.providerID || m.provider || '';
  const model = m.modelID || m.model || '';
  return provider && model ? `${provider}/${model}` : model || provider;
}

/** 1 call, 2 calls */
export function plural(n, one, many = one + 's') {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}
