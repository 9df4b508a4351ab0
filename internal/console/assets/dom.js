// Making elements. Nothing here reads HTML: a string always becomes a text
// node, so what a model, a file or a server says can not become markup.

const SVG = 'http://www.w3.org/2000/svg';

/** Addresses that a link may have: the web, mail, and places of this page. */
const SAFE = /^(?:https?:\/\/|mailto:|#)/i;

/** What is set as a property, because the attribute says only how it began. */
const PROPERTIES = new Set(['value', 'checked', 'disabled', 'selected', 'indeterminate', 'readOnly', 'hidden', 'open', 'multiple', 'required']);

/**
 * An element. Children are nodes, strings, numbers, arrays of these; null,
 * undefined and booleans are left out.
 * @param {string} tag
 * @param {Object|null} [props] class, id, href, aria-…, data-…, on… (functions), style: {…}
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** Like h, in the namespace of SVG. */
export function svg(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** Replaces the children of an element. */
export function put(el, ...children) {
  const made = document.createDocumentFragment();
  add(made, children);
  el.replaceChildren(made);
  return el;
}

/** Sets the text of an element where it differs; a write would redraw it. */
export function text(el, value) {
  const s = String(value ?? '');
  if (el.textContent !== s) el.textContent = s;
  return el;
}

/** Sets or takes away an attribute where that changes something. */
export function attr(el, name, value) {
  if (value === null || value === undefined || value === false) {
    if (el.hasAttribute(name)) el.removeAttribute(name);
  } else if (el.getAttribute(name) !== String(value)) {
    el.setAttribute(name, String(value));
  }
  return el;
}

function fill(el, props, children) {
  // A select takes its value only when its options are there.
  const late = props && 'value' in props ? props.value : undefined;
  for (const [name, value] of Object.entries(props || {})) {
    if (name !== 'value') set(el, name, value);
  }
  add(el, children);
  if (late !== undefined && late !== null) set(el, 'value', late);
  return el;
}

function add(el, children) {
  for (const child of children) {
    if (child === null || child === undefined || typeof child === 'boolean') continue;
    if (Array.isArray(child)) add(el, child);
    else if (child instanceof Node) el.appendChild(child);
    else el.appendChild(document.createTextNode(String(child)));
  }
}

function set(el, name, value) {
  if (value === null || value === undefined) return;
  if (name.startsWith('on')) {
    if (typeof value === 'function') el.addEventListener(name.slice(2).toLowerCase(), value);
    return; // text is never a handler
  }
  if (name === 'style') {
    for (const [key, v] of Object.entries(value)) {
      if (v !== null && v !== undefined) el.style.setProperty(key.replace(/[A-Z]/g, (c) => '-' + c.toLowerCase()), String(v));
    }
    return;
  }
  if (name === 'href' && !SAFE.test(String(value))) return;
  if (name === 'srcdoc') return;
  if (PROPERTIES.has(name) && name in el) {
    el[name] = value;
    return;
  }
  if (name === 'class') {
    if (value) el.setAttribute('class', Array.isArray(value) ? value.filter(Boolean).join(' ') : value);
    return;
  }
  // aria-… and data-… know "false"; of others it means absence.
  if (value === false && !/^(aria|data)-/.test(name)) return;
  el.setAttribute(name, value === true && !/^(aria|data)-/.test(name) ? '' : String(value));
}

/** True while the person types, so that single keys are text and no commands. */
export function typing(target) {
  return target instanceof Element && !!target.closest('input, textarea, select, [contenteditable=""], [contenteditable=true]');
}
