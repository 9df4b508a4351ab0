// What there is of the module system: the modules that are built in.
"use strict";
const { wrongValue } = require("helve:check");

const builtinModules = [
  "assert", "assert/strict", "async_hooks", "buffer", "bun", "bun:sqlite", "child_process", "console", "constants", "crypto", "diagnostics_channel", "events", "fs", "fs/promises", "http", "https", "module", "net", "os", "path",
  "path/posix", "path/win32", "perf_hooks", "process", "querystring", "readline", "readline/promises", "stream", "stream/consumers", "stream/promises", "stream/web", "string_decoder", "timers",
  "timers/promises", "tty", "url", "util", "util/types", "zlib",
];
const isBuiltin = (name) => builtinModules.includes(String(name).replace(/^node:/, ""));

// createRequire gives a require that knows built-in modules, JSON and CommonJS.
function createRequire(from) {
  if (typeof from !== "string" && typeof from?.href !== "string") {
    throw wrongValue("filename", from, "must be a file URL object, file URL string, or absolute path string");
  }
  const files = require("helve:files");
  const file = String(from.href ?? from).startsWith("file:") ? require("url").fileURLToPath(from) : from;
  const made = files.requireOf(file);
  made.resolve = (name) => (isBuiltin(name) ? name : files.resolve(name, file));
  made.resolve.paths = () => [];
  made.cache = {};
  made.main = undefined;
  made.extensions = {};
  return made;
}

module.exports = Object.assign(function Module() {}, { createRequire, builtinModules, isBuiltin, findPackageJSON: () => undefined, _extensions: {}, _cache: {} });
module.exports.Module = module.exports;
