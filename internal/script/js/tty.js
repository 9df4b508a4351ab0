// Terminals: there is none behind an engine.
"use strict";
class ReadStream {}
class WriteStream {}
module.exports = { isatty: () => false, ReadStream, WriteStream };
