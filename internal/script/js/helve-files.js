// Modules that are files: what a program asks for by a name that was not known when it was bundled. There are JSON and CommonJS;
// what is written in ES modules or TypeScript has to be bundled.
"use strict";
const { coded } = require("helve:check");

const loaded = new Map(); // by path

const isPath = (name) => /^(?:\/|[A-Za-z]:[\\/]|file:)/.test(name);

// placeOf is the path that a name means.
function placeOf(name) {
  const text = String(name).replace(/[?#][^/]*$/, ""); // what is after a question mark is there to load a file anew
  return text.startsWith("file:") ? require("url").fileURLToPath(text) : text;
}

function fileAt(path) {
  const fs = require("fs");
  const { join } = require("path");
  const isFile = (at) => fs.statSync(at, { throwIfNoEntry: false })?.isFile();
  return [path, `${path}.js`, `${path}.cjs`, `${path}.json`, mainOf(path), join(path, "index.js")].find((at) => at !== undefined && isFile(at));
}

// mainOf is the file that stands for a package.
function mainOf(folder) {
  const fs = require("fs");
  const { join } = require("path");
  try {
    const { main } = JSON.parse(fs.readFileSync(join(folder, "package.json"), "utf8"));
    return main === undefined ? undefined : [join(folder, main), join(folder, `${main}.js`), join(folder, main, "index.js")].find((at) => fs.statSync(at, { throwIfNoEntry: false })?.isFile());
  } catch {
    return undefined; // it is no package
  }
}

// resolve finds the file of a name as it stands in another file.
function resolve(name, from) {
  const path = require("path");
  const missing = () => coded(Error, "MODULE_NOT_FOUND", `Cannot find module '${name}'${from === undefined ? "" : ` from '${from}'`}`);
  if (isPath(name) || /^\.{1,2}(\/|$)/.test(name)) {
    const found = fileAt(path.resolve(from === undefined ? "/" : path.dirname(from), placeOf(name)));
    if (found === undefined) throw missing();
    return found;
  }
  for (let at = from === undefined ? undefined : path.dirname(from); at !== undefined; at = path.dirname(at) === at ? undefined : path.dirname(at)) {
    const found = fileAt(path.join(at, "node_modules", name));
    if (found !== undefined) return found;
  }
  throw missing();
}

// load runs a file, once, and gives what it exports.
function load(name, from) {
  const path = resolve(name, from);
  const known = loaded.get(path);
  if (known) return known.exports;
  const text = require("fs").readFileSync(path, "utf8");
  const module = { exports: {}, id: path, filename: path };
  if (path.endsWith(".json")) {
    module.exports = JSON.parse(text);
  } else {
    if (!/\.c?js$/.test(path) || /^\s*(?:import\b\s*[\w{*"']|export\b)/m.test(text)) {
      throw coded(Error, "ERR_UNSUPPORTED_MODULE", `${path} can not be loaded by a name that is made while the program runs: only JSON and CommonJS files can. Write its name into the import, so that it is bundled.`);
    }
    loaded.set(path, module);
    try {
      new Function("module", "exports", "require", "__filename", "__dirname", text.replace(/^#!.*/, "")).call(
        module.exports, module, module.exports, requireOf(path), path, require("path").dirname(path));
    } catch (error) {
      loaded.delete(path);
      throw error;
    }
  }
  loaded.set(path, module);
  return module.exports;
}

// requireOf is the require of a file: it knows the built-in modules, and files.
function requireOf(from) {
  const { isBuiltin } = require("module");
  return (name) => (isBuiltin(name) || name === "zod" ? require(name) : load(name, from));
}

module.exports = { isPath, load, resolve, requireOf };
