// Bun.Glob: patterns for paths, and the files that match one.
"use strict";

// expand makes one pattern of each choice in braces.
const expand = (pattern) => require("shell").$.braces(pattern);

// A part of a pattern between slashes as a regular expression; null stands for "**".
function part(text) {
  if (text === "**") return null;
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "\\" && i + 1 < text.length) out += quote(text[++i]);
    else if (c === "*") {
      while (text[i + 1] === "*") i++;
      out += "[^/]*";
    } else if (c === "?") out += "[^/]";
    else if (c === "[") {
      const end = text.indexOf("]", i + 2);
      if (end < 0) {
        out += "\\[";
        continue;
      }
      const inside = text.slice(i + 1, end).replace(/^[!^]/, "").replace(/[\\\]^]/g, "\\$&");
      out += `[${/^[!^]/.test(text[i + 1]) ? "^" : ""}${inside}]`;
      i = end;
    } else out += quote(c);
  }
  return new RegExp(`^${out}$`, "u");
}
const quote = (c) => c.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

// matches compares the parts of a path with those of a pattern, from one place in each on.
function matches(parts, names, i, j) {
  for (; i < parts.length; i++, j++) {
    if (parts[i] === null) {
      while (parts[i + 1] === null) i++;
      if (i === parts.length - 1) return j < names.length;
      for (let k = j; k <= names.length; k++) if (matches(parts, names, i + 1, k)) return true;
      return false;
    }
    if (j >= names.length || !parts[i].test(names[j])) return false;
  }
  return j === names.length;
}

// reaches tells whether something below a folder could match.
function reaches(parts, names) {
  for (let i = 0; i < names.length; i++) {
    if (i >= parts.length) return false;
    if (parts[i] === null) return true;
    if (!parts[i].test(names[i])) return false;
  }
  return parts.length > names.length;
}

class Glob {
  #patterns; #below; #not; #source;
  constructor(pattern) {
    if (typeof pattern !== "string") throw new TypeError("Glob: pattern is not a string");
    this.#source = pattern;
    const bare = pattern.replace(/^!+/, "");
    this.#not = (pattern.length - bare.length) % 2 === 1;
    const parts = (one) => one.split("/").map(part);
    this.#patterns = expand(bare).map(parts);
    this.#below = expand(bare.replace(/^(\.\/)+/, "")).map(parts);
  }
  get pattern() { return this.#source; }
  match(path) {
    const names = String(path).split("/");
    return this.#patterns.some((parts) => matches(parts, names, 0, 0)) !== this.#not;
  }
  *scanSync(options) {
    const { cwd, dot = false, absolute = false, onlyFiles = true, followSymlinks = false } = typeof options === "string" ? { cwd: options } : options ?? {};
    const path = require("path"), fs = require("fs");
    const root = path.resolve(require("process").cwd(), cwd ?? ".");
    const walk = function* (folder, names) {
      let found;
      try {
        found = fs.readdirSync(folder, { withFileTypes: true });
      } catch (error) {
        if (names.length === 0) throw error;
        return;
      }
      for (const entry of found) {
        if (!dot && entry.name.startsWith(".") && !this.#source.includes(`/.`) && !this.#source.startsWith(".")) continue;
        const here = [...names, entry.name], full = path.join(folder, entry.name);
        let folderHere = entry.isDirectory();
        if (entry.isSymbolicLink() && followSymlinks) folderHere = fs.statSync(full, { throwIfNoEntry: false })?.isDirectory() ?? false;
        if ((!folderHere || !onlyFiles) && this.#below.some((parts) => matches(parts, here, 0, 0))) yield absolute ? full : here.join("/");
        if (folderHere && this.#below.some((parts) => reaches(parts, here))) yield* walk.call(this, full, here);
      }
    };
    yield* walk.call(this, root, []);
  }
  async *scan(options) { yield* this.scanSync(options); }
}

module.exports = { Glob };
