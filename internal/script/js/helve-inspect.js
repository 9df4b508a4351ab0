// Values as text, in the form Node prints them.
"use strict";

const custom = Symbol.for("nodejs.util.inspect.custom");
const usual = {
  showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100, maxStringLength: 10000,
  breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false,
};

const styles = {
  special: "cyan", number: "yellow", bigint: "yellow", boolean: "yellow", undefined: "grey", null: "bold", string: "green",
  symbol: "green", date: "magenta", regexp: "red", module: "underline",
};
// colors are those of terminals; the order is that in which errors name them.
const colors = {
  reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], blink: [5, 25], inverse: [7, 27], hidden: [8, 28],
  strikethrough: [9, 29], doubleunderline: [21, 24],
};
const hues = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
hues.forEach((name, i) => { colors[name] = [30 + i, 39]; });
hues.forEach((name, i) => { colors[`bg${name[0].toUpperCase()}${name.slice(1)}`] = [40 + i, 49]; });
Object.assign(colors, { framed: [51, 54], overlined: [53, 55], gray: [90, 39] });
hues.slice(1).forEach((name, i) => { colors[`${name}Bright`] = [91 + i, 39]; });
colors.bgGray = [100, 49];
hues.slice(1).forEach((name, i) => { colors[`bg${name[0].toUpperCase()}${name.slice(1)}Bright`] = [101 + i, 49]; });
for (const [alias, name] of [["grey", "gray"], ["blackBright", "gray"], ["bgGrey", "bgGray"], ["bgBlackBright", "bgGray"], ["faint", "dim"],
  ["crossedout", "strikethrough"], ["strikeThrough", "strikethrough"], ["crossedOut", "strikethrough"], ["conceal", "hidden"],
  ["swapColors", "inverse"], ["swapcolors", "inverse"], ["doubleUnderline", "doubleunderline"]]) colors[alias] = colors[name];

function paint(c, text, kind) {
  if (!c.colors || !styles[kind]) return text;
  const [on, off] = colors[styles[kind]];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

function inspect(value, options, ...old) {
  const c = { ...usual, seen: [], indent: 0, deepest: 0, circular: undefined };
  if (typeof options === "boolean") Object.assign(c, { showHidden: options, depth: old[0] === undefined ? 2 : old[0], colors: old[1] ?? false });
  else if (options) for (const key of Object.keys(options)) if (key in usual || key === "stylize") c[key] = options[key];
  c.depth ??= Infinity;
  c.maxArrayLength ??= Infinity;
  c.maxStringLength ??= Infinity;
  c.compact = c.compact === true ? 3 : c.compact === false ? 0 : c.compact;
  c.stylize = (text, kind) => paint(c, text, kind);
  return show(c, value, 0);
}
Object.assign(inspect, { custom, defaultOptions: { ...usual }, styles, colors });

const escapes = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };

function quote(text) {
  const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes("`") && !text.includes("${") ? "`" : "'";
  const inner = text.replace(/[\x00-\x1f\x7f-\x9f\\']|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, (ch) => {
    if (ch === "'") return mark === "'" ? "\\'" : ch;
    const code = ch.charCodeAt(0);
    return escapes[ch] ?? (code > 255 ? `\\u${code.toString(16).toUpperCase()}` : `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`);
  });
  return mark + inner + mark;
}

function number(n, c) {
  const text = Object.is(n, -0) ? "-0" : String(n);
  return c.numericSeparator && Number.isInteger(n) ? text.replace(/\B(?=(\d{3})+$)/g, "_") : text;
}

function primitive(c, v, depth) {
  switch (typeof v) {
    case "string": {
      let text = v, more = "";
      if (text.length > c.maxStringLength) {
        const left = text.length - c.maxStringLength;
        text = text.slice(0, c.maxStringLength);
        more = `... ${left} more character${left > 1 ? "s" : ""}`;
      }
      if (c.compact !== 0 && depth > 0 && text.length > 16 && text.length > c.breakLength - c.indent - 4 && text.includes("\n")) {
        return text.split(/(?<=\n)/).map((line) => c.stylize(quote(line), "string")).join(` +\n${" ".repeat(c.indent + 2)}`) + more;
      }
      return c.stylize(quote(text), "string") + more;
    }
    case "number": return c.stylize(number(v, c), "number");
    case "bigint": return c.stylize(`${v}n`, "bigint");
    case "boolean": return c.stylize(String(v), "boolean");
    case "undefined": return c.stylize("undefined", "undefined");
    case "symbol": return c.stylize(String(v), "symbol");
  }
  return c.stylize("null", "null");
}

function show(c, v, depth, typed) {
  if (v === null || typeof v !== "object" && typeof v !== "function") return primitive(c, v, depth);
  if (c.customInspect) {
    const own = v[custom];
    if (typeof own === "function" && own !== inspect && !(v.constructor && v.constructor.prototype === v)) {
      const left = c.depth - depth;
      const { seen, indent, deepest, circular, ...options } = c;
      const told = own.call(v, left, { ...options, depth: left }, inspect);
      if (told !== v) return typeof told === "object" && told !== null ? show(c, told, depth) : String(told).replaceAll("\n", `\n${" ".repeat(c.indent)}`);
    }
  }
  if (c.seen.includes(v)) {
    c.circular ??= new Map();
    if (!c.circular.has(v)) c.circular.set(v, c.circular.size + 1);
    return c.stylize(`[Circular *${c.circular.get(v)}]`, "special");
  }
  return whole(c, v, depth, typed);
}

// nameOf is the name of the class of an object; null where its prototype chain has none.
function nameOf(v) {
  for (let at = v, i = 0; at !== null && i < 1000; i++) {
    const d = Object.getOwnPropertyDescriptor(at, "constructor");
    if (d && typeof d.value === "function" && d.value.name !== "") return d.value.name;
    at = Object.getPrototypeOf(at);
  }
  return null;
}

// prefix is what stands before the braces.
function prefix(name, tag, fallback, size = "") {
  if (name === null && fallback === "Object" && tag !== "") return `[${tag}: null prototype] `;
  if (name === null) return tag !== "" && tag !== fallback ? `[${fallback}${size}: null prototype] [${tag}] ` : `[${fallback}${size}: null prototype] `;
  return tag !== "" && tag !== name ? `${name}${size} [${tag}] ` : `${name}${size} `;
}

const tagOf = (v) => {
  const tag = v[Symbol.toStringTag];
  return typeof tag === "string" ? tag : "";
};

// keysOf are the properties to be shown.
function keysOf(c, v, skipIndexes) {
  let names = c.showHidden ? Object.getOwnPropertyNames(v) : Object.keys(v);
  if (skipIndexes) names = names.filter((name) => !/^(?:0|[1-9]\d{0,9})$/.test(name));
  const symbols = Object.getOwnPropertySymbols(v).filter((s) => c.showHidden || Object.prototype.propertyIsEnumerable.call(v, s));
  return [...names, ...symbols];
}

const is = (Type) => (v) => v instanceof Type;
// shapes are the kinds of objects with a form of their own, the first that fits.
const shapes = [
  [Array.isArray, arrayShape],
  [is(Set), (c, v, name, tag) => ({ open: `${prefix(name, tag, "Set", `(${v.size})`)}{`, close: "}", keys: keysOf(c, v), body: (d) => [...v].map((one) => nested(c, one, d)) })],
  [is(Map), (c, v, name, tag) => ({ open: `${prefix(name, tag, "Map", `(${v.size})`)}{`, close: "}", keys: keysOf(c, v), body: (d) => [...v].map(([k, one]) => `${nested(c, k, d)} => ${nested(c, one, d)}`) })],
  [(v) => ArrayBuffer.isView(v) && !(v instanceof DataView), typedShape],
  [(v) => typeof v === "function", functionShape],
  [(v) => Object.prototype.toString.call(v) === "[object Arguments]", (c, v) => ({ open: "[Arguments] {", keys: keysOf(c, v) })],
  [is(RegExp), (c, v) => ({ base: c.stylize(RegExp.prototype.toString.call(v), "regexp"), keys: keysOf(c, v) })],
  [is(Date), (c, v) => ({ base: c.stylize(isNaN(v) ? "Invalid Date" : Date.prototype.toISOString.call(v), "date"), keys: keysOf(c, v) })],
  [(v) => v instanceof Error, errorShape],
  [(v) => v instanceof ArrayBuffer || v instanceof SharedArrayBuffer, bufferShape],
  [is(Promise), (c, v, name, tag) => ({ open: `${prefix(name, tag, "Promise")}{`, close: "}", keys: keysOf(c, v), body: () => [c.stylize("<pending>", "special")] })],
  [is(WeakSet), (c, v, name, tag) => ({ open: `${prefix(name, tag, "WeakSet")}{`, close: "}", keys: keysOf(c, v), body: () => [c.stylize("<items unknown>", "special")] })],
  [is(WeakMap), (c, v, name, tag) => ({ open: `${prefix(name, tag, "WeakMap")}{`, close: "}", keys: keysOf(c, v), body: () => [c.stylize("<items unknown>", "special")] })],
  [(v) => tagOf(v) === "Map Iterator", (c, v) => iteratorShape(c, v)],
  [(v) => tagOf(v) === "Set Iterator", (c, v) => iteratorShape(c, v)],
  [(v) => v instanceof Number || v instanceof String || v instanceof Boolean || v instanceof BigInt || v instanceof Symbol, boxedShape],
];

function arrayShape(c, v, name, tag) {
  const plain = name === "Array" && tag === "";
  return { open: plain ? "[" : `${prefix(name, tag, "Array", `(${v.length})`)}[`, close: "]", list: v, keys: keysOf(c, v, true).filter((k) => k !== "length"), body: (depth) => items(c, v, depth) };
}

function items(c, v, depth) {
  const out = [];
  let shown = 0;
  for (let i = 0; i < v.length && shown < c.maxArrayLength; shown++) {
    if (!Object.hasOwn(v, i)) {
      let end = i;
      while (end < v.length && !Object.hasOwn(v, end)) end++;
      out.push(c.stylize(`<${end - i} empty item${end - i > 1 ? "s" : ""}>`, "undefined"));
      i = end;
    } else {
      out.push(nested(c, v[i], depth));
      i++;
    }
    if (shown + 1 >= c.maxArrayLength && i < v.length) out.push(more(v.length - i));
  }
  if (c.maxArrayLength === 0 && v.length > 0) out.push(more(v.length));
  if (c.showHidden) out.push(`[length]: ${c.stylize(String(v.length), "number")}`);
  return out;
}
const more = (n) => `... ${n} more item${n > 1 ? "s" : ""}`;

function typedShape(c, v, name) {
  return {
    open: `${prefix(name, tagOf(v), name ?? "Uint8Array", `(${v.length})`)}[`, close: "]", list: v, keys: keysOf(c, v, true),
    body() {
      const out = Array.from(v.slice(0, c.maxArrayLength), (n) => primitive(c, n));
      if (v.length > out.length) out.push(more(v.length - out.length));
      return out;
    },
  };
}

function bufferShape(c, v, name, tag) {
  const bytes = new Uint8Array(v);
  const kind = v instanceof ArrayBuffer ? "ArrayBuffer" : "SharedArrayBuffer";
  return {
    open: `${prefix(name, tag, kind)}{`, close: "}", keys: keysOf(c, v),
    body() {
      const hex = Array.from(bytes.subarray(0, Math.min(50, c.maxArrayLength)), (b) => b.toString(16).padStart(2, "0")).join(" ");
      const left = bytes.length - 50;
      return [`[${c.stylize("Uint8Contents", "special")}]: <${hex}${left > 0 ? ` ... ${left} more byte${left > 1 ? "s" : ""}` : ""}>`, `[byteLength]: ${c.stylize(String(bytes.length), "number")}`];
    },
  };
}

function functionShape(c, v, name, tag) {
  const text = Function.prototype.toString.call(v);
  let base;
  if (/^class\b/.test(text)) {
    const parent = Object.getPrototypeOf(v);
    base = `[class ${v.name || "(anonymous)"}${typeof parent === "function" && parent.name ? ` extends ${parent.name}` : parent === null ? " extends null" : ""}]`;
  } else {
    const kind = { AsyncFunction: "AsyncFunction", GeneratorFunction: "GeneratorFunction", AsyncGeneratorFunction: "AsyncGeneratorFunction" }[tag] ?? "Function";
    base = `[${kind}${name === null ? " (null prototype)" : ""}${v.name === "" ? " (anonymous)" : `: ${v.name}`}]`;
  }
  return { base: c.stylize(base, "special"), keys: keysOf(c, v).filter((k) => !c.showHidden || !["length", "name", "prototype"].includes(k)) };
}

function boxedShape(c, v, name) {
  const inner = v.valueOf();
  const type = { number: "Number", string: "String", boolean: "Boolean", bigint: "BigInt", symbol: "Symbol" }[typeof inner];
  const label = name === type ? type : `${type} (${name ?? "null prototype"})`;
  return { base: c.stylize(`[${label}: ${primitive({ ...c, colors: false, stylize: (text) => text }, inner, 0)}]`, typeof inner), keys: keysOf(c, v, typeof inner === "string") };
}

function iteratorShape(c, v) {
  const tag = tagOf(v);
  return { open: `[${tag}] {`, close: "}", keys: keysOf(c, v), body: () => [c.stylize("<items unknown>", "special")] };
}

// headOf is the first line of an error; the engine's stack has only the lines after it.
function headOf(error) {
  const name = String(error.name ?? "Error"), message = String(error.message ?? "");
  return message === "" ? name : name === "" ? message : `${name}: ${message}`;
}

function errorShape(c, v, name) {
  const head = headOf(v);
  const stack = typeof v.stack === "string" ? v.stack.replace(/\n$/, "") : "";
  let base = stack === "" ? (typeof v.stack === "string" ? head : `[${head}]`) : stack.startsWith(head) || !/^ {4}at /.test(stack) ? stack : `${head}\n${stack}`;
  const own = v.name !== undefined && Object.hasOwn(v, "name") ? "" : name;
  if (own && own !== v.name && base.startsWith(v.name) && !base.startsWith(own)) base = `${own} [${v.name}]${base.slice(v.name.length)}`;
  if (c.indent > 0) base = base.replaceAll("\n", `\n${" ".repeat(c.indent)}`);
  const keys = keysOf(c, v).filter((key) => !["stack", "message"].includes(key) && !(key === "name" && base.includes(String(v.name))));
  for (const key of ["cause", "errors"]) if (Object.hasOwn(v, key) && !keys.includes(key)) keys.push(key);
  return { base, keys };
}

function nested(c, v, depth) {
  c.indent += 2;
  const text = show(c, v, depth + 1, true);
  c.indent -= 2;
  return text;
}

function property(c, v, key, depth, array) {
  const d = Object.getOwnPropertyDescriptor(v, key) ?? { value: v[key], enumerable: true };
  let text;
  if (d.get !== undefined) text = c.stylize(d.set !== undefined ? "[Getter/Setter]" : "[Getter]", "special");
  else if (d.set !== undefined) text = c.stylize("[Setter]", "special");
  else {
    c.indent += 2;
    text = show(c, d.value, depth + 1);
    c.indent -= 2;
  }
  if (array === 2) return text;
  let name;
  if (typeof key === "symbol") name = c.stylize(String(key), "symbol");
  else if (/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key)) name = c.stylize(key, "name");
  else name = c.stylize(quote(key), "string");
  if (!d.enumerable) name = `[${typeof key === "symbol" ? String(key) : key}]`;
  return `${name}: ${text}`;
}

// lead is what stands before the braces of an object that is nothing special.
function lead(c, name, tag, above) {
  if (name === "Object" && tag === "") return "";
  return name === null && above !== null ? `Object <${show(c, above, c.depth + 1)}> ` : prefix(name, tag, "Object");
}

function whole(c, v, depth) {
  const name = nameOf(v), above = Object.getPrototypeOf(v);
  const tag = name !== null && Object.hasOwn(v, Symbol.toStringTag) ? "" : tagOf(v); // one's own is shown below
  const fit = shapes.find(([test]) => { try { return test(v); } catch { return false; } });
  const shape = fit ? fit[1](c, v, name, tag) : { open: `${lead(c, name, tag, above)}{`, close: "}", keys: keysOf(c, v) };
  const { base, keys, body, list } = shape;
  const open = shape.open ?? "{", close = shape.close ?? "}";
  if (keys.length === 0 && base !== undefined) return base;
  if (keys.length === 0 && body === undefined) return `${open}${close}`;
  if (keys.length === 0 && !c.showHidden && (list?.length === 0 || v instanceof Map && v.size === 0 || v instanceof Set && v.size === 0)) return `${open}${close}`;
  if (depth > c.depth) {
    const said = list && Array.isArray(list) ? "Array" : name === null ? "Object: null prototype" : name || "Object";
    return c.stylize(`[${said}]`, "special");
  }
  c.seen.push(v);
  c.deepest = depth;
  const out = body ? body(depth) : [];
  for (const key of keys) out.push(property(c, v, key, depth));
  c.seen.pop();
  if (c.sorted && !list) out.sort(typeof c.sorted === "function" ? c.sorted : undefined);
  let start = open;
  if (c.circular?.has(v)) {
    const mark = c.stylize(`<ref *${c.circular.get(v)}>`, "special");
    if (base === undefined) start = `${mark} ${open}`;
    else return join(c, out, `${mark} ${base}`, [open, close], depth, list);
  }
  if (out.length === 0 && base === undefined) return `${start}${close}`;
  return join(c, out, base ?? "", [start, close], depth, list);
}

// join puts the parts of an object on one line if they fit, else on one line each.
function join(c, parts, base, [open, close], depth, list) {
  const lead = base === "" ? "" : `${base} `;
  let out = parts;
  if (c.compact >= 1) {
    if (list && out.length > 6) out = columns(c, out, list);
    if (c.deepest - depth < c.compact && out.length === parts.length) {
      const start = out.length + c.indent + open.length + base.length + 10;
      const size = out.reduce((sum, part) => sum + plain(part).length, out.length + start);
      if (size <= c.breakLength && !base.includes("\n") && !out.some((part) => part.includes("\n"))) return `${lead}${open} ${out.join(", ")} ${close}`;
    }
  }
  const line = `\n${" ".repeat(c.indent)}`;
  return `${lead}${open}${line}  ${out.join(`,${line}  `)}${line}${close}`;
}

const plain = (text) => (text.includes("\x1b") ? text.replace(/\x1b\[\d+m/g, "") : text);

// columns puts the items of a long list side by side.
function columns(c, out, list) {
  const last = /^\.\.\. \d+ more item/.test(out.at(-1)) ? out.at(-1) : undefined;
  const cells = last === undefined ? out : out.slice(0, -1);
  const widths = cells.map((cell) => plain(cell).length);
  const widest = Math.max(...widths) + 2;
  const total = widths.reduce((sum, width) => sum + width + 2, 0);
  if (widest * 3 + c.indent >= c.breakLength || total / widest <= 5 && widest > 8) return out;
  const bias = Math.max(widest - 3 - Math.sqrt(widest - total / out.length), 1);
  const count = Math.min(Math.round(Math.sqrt(2.5 * bias * cells.length) / bias), Math.floor((c.breakLength - c.indent) / widest), c.compact * 4, 15);
  if (count <= 1) return out;
  const room = [];
  for (let i = 0; i < count; i++) {
    let most = 0;
    for (let j = i; j < cells.length; j += count) most = Math.max(most, widths[j]);
    room.push(most + 2);
  }
  const toRight = Array.prototype.every.call(list, (one) => typeof one === "number" || typeof one === "bigint");
  const rows = [];
  for (let i = 0; i < cells.length; i += count) {
    const end = Math.min(i + count, cells.length);
    let row = "";
    for (let j = i; j < end; j++) {
      const hidden = cells[j].length - widths[j];
      const final = j === end - 1;
      const cell = final ? cells[j] : `${cells[j]}, `;
      if (toRight) row += cell.padStart(room[j - i] + hidden - (final ? 2 : 0));
      else row += final ? cell : cell.padEnd(room[j - i] + hidden);
    }
    rows.push(row);
  }
  if (last !== undefined) rows.push(last);
  return rows;
}

// ---- format ----

function argument(letter, v, options) {
  switch (letter) {
    case "s":
      if (typeof v === "bigint") return `${v}n`;
      if (typeof v === "number") return number(v, usual);
      if (typeof v === "object" && v !== null) {
        const own = typeof v.toString === "function" && v.toString !== Object.prototype.toString && v.toString !== Array.prototype.toString;
        const builtIn = v instanceof Error || v instanceof Date;
        return own && (builtIn || !/\[native code\]/.test(v.toString)) ? String(v) : inspect(v, { ...options, depth: 0, colors: false, compact: 3 });
      }
      return String(v);
    case "d":
      return typeof v === "bigint" ? `${v}n` : typeof v === "symbol" || typeof v === "object" && v !== null ? number(Number(typeof v === "symbol" ? NaN : v), usual) : number(Number(v), usual);
    case "i":
      return typeof v === "bigint" ? `${v}n` : typeof v === "symbol" ? "NaN" : number(parseInt(v, 10), usual);
    case "f":
      return typeof v === "symbol" ? "NaN" : number(parseFloat(v), usual);
    case "j":
      try {
        return String(JSON.stringify(v));
      } catch (error) {
        if (/circular/i.test(error.message)) return "[Circular]";
        throw error;
      }
    case "o":
      return inspect(v, { ...options, showHidden: true, showProxy: true, depth: 4 });
    case "O":
      return inspect(v, options);
  }
  return ""; // %c
}

function formatWithOptions(options, ...args) {
  if (args.length === 1 && typeof args[0] === "string") return args[0];
  let text = "", used = 0;
  if (typeof args[0] === "string") {
    used = 1;
    text = args[0].replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === "%%") return "%";
      return used < args.length ? argument(mark[1], args[used++], options) : mark;
    });
    if (args.length === 1) text = args[0];
  }
  for (let i = used; i < args.length; i++) {
    text += (i > 0 ? " " : "") + (typeof args[i] === "string" ? args[i] : inspect(args[i], options));
  }
  return text;
}
const format = (...args) => formatWithOptions(undefined, ...args);

module.exports = { inspect, format, formatWithOptions, colors, headOf };
