// What there is of the module system: the modules that are built in.
"use strict";
const { wrongValue, coded } = require("helve:check");

const builtinModules = [
  "assert", "buffer", "bun", "bun:sqlite", "child_process", "console", "crypto", "events", "fs", "fs/promises", "module", "os", "path",
  "path/posix", "path/win32", "perf_hooks", "process", "querystring", "stream", "stream/promises", "stream/web", "string_decoder", "timers",
  "timers/promises", "url", "util", "util/types", "zlib",
];
const isBuiltin = (name) => builtinModules.includes(String(name).replace(/^node:/, ""));

// createRequire gives a require that knows built-in modules and JSON files.
function createRequire(from) {
  if (typeof from !== "string" && typeof from?.href !== "string") {
    throw wrongValue("filename", from, "must be a file URL object, file URL string, or absolute path string");
  }
  const path = require("path");
  const file = String(from.href ?? from).startsWith("file:") ? require("url").fileURLToPath(from) : from;
  const locate = (name) => (/^\.{1,2}(\/|$)/.test(name) ? path.resolve(path.dirname(file), name) : name);
  const made = function (name) {
    if (isBuiltin(name) || name === "zod") return require(name);
    const at = locate(name);
    if (path.isAbsolute(at) && at.endsWith(".json")) return JSON.parse(require("fs").readFileSync(at, "utf8"));
    throw coded(Error, "MODULE_NOT_FOUND", `Cannot find module '${name}' from '${file}'`);
  };
  made.resolve = (name) => {
    if (isBuiltin(name)) return name;
    const at = locate(name);
    if (path.isAbsolute(at) && require("fs").existsSync(at)) return at;
    throw coded(Error, "MODULE_NOT_FOUND", `Cannot find module '${name}' from '${file}'`);
  };
  made.resolve.paths = () => [];
  made.cache = {};
  made.main = undefined;
  made.extensions = {};
  return made;
}

module.exports = Object.assign(function Module() {}, { createRequire, builtinModules, isBuiltin, findPackageJSON: () => undefined, _extensions: {}, _cache: {} });
module.exports.Module = module.exports;
