"use strict";
const { Interface: Plain } = require("readline");

class Interface extends Plain {
  question(text) { return new Promise((done) => { super.question(text, done); }); }
}

module.exports = { Interface, createInterface: (options, output) => new Interface(options, output) };
