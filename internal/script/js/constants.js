// The numbers of the system, under one roof.
"use strict";
const os = require("os");
module.exports = Object.assign({}, os.constants.errno, os.constants.priority, os.constants.signals, require("fs").constants);
