// The first script of an engine: it takes the engine's natives out of the global object and gives modules instead. What is made
// of the other files follows it, see script.go.
(() => {
  "use strict";
  const natives = { now: __now, later: __later, drop: __drop, text: __text, bytes: __bytes };
  for (const name of ["__now", "__later", "__drop", "__text", "__bytes"]) delete globalThis[name];
  const factories = { __proto__: null };
  const loaded = { __proto__: null, "helve:natives": { exports: natives } };

  // factory finds the function of a module; one that did not come with the program is asked for and compiled now.
  function factory(name) {
    if (factories[name]) return factories[name];
    let answer;
    try {
      answer = natives.now("module.source", JSON.stringify({ name }));
    } catch (error) {
      throw Object.assign(new Error(`Cannot find module '${name}'`, { cause: error }), { code: "MODULE_NOT_FOUND" });
    }
    return new Function("module", "exports", "require", natives.text(answer[1]));
  }

  function load(asked) {
    const name = asked.startsWith("node:") ? asked.slice(5) : asked;
    const known = loaded[name];
    if (known) return known.exports;
    const module = { exports: {}, id: name };
    const make = factory(name);
    loaded[name] = module;
    try {
      make.call(module.exports, module, module.exports, load);
    } catch (error) {
      delete loaded[name];
      throw error;
    }
    return module.exports;
  }

  function define(more) {
    for (const name in more) factories[name] = more[name];
  }
  Object.defineProperty(globalThis, "__helve", { value: Object.freeze({ require: load, define }) });
})();
