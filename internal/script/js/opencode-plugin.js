// What tool and plugin files import to describe themselves. Types that are imported as values are undefined.
"use strict";
const zod = require("zod");

// tool gives its argument back: it is there for the types.
function tool(definition) {
  return definition;
}
tool.schema = zod;

// define is the older way: a tool with an id of its own, given as it is or as a function that makes it.
function define(id, made) {
  return { id, init: async (context) => (typeof made === "function" ? made(context) : made) };
}

module.exports = { tool, Tool: { define } };
