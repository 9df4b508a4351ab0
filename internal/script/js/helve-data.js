// Files of data that a program imports: the bundler makes each a call of one of these.
"use strict";

module.exports = {
  yaml: (text) => require("helve:yaml").parse(text),
  toml: (text) => require("helve:toml").parse(text),
  jsonc: (text) => require("helve:json5").parse(text),
  json5: (text) => require("helve:json5").parse(text),
};
