"use strict";
const { client, Agent } = require("http");

function createServer() {
  throw Object.assign(new Error("https.createServer is not available in the embedded engine: it has no servers"), { code: "ERR_METHOD_NOT_IMPLEMENTED" });
}

module.exports = { ...client("https:"), Agent, createServer, globalAgent: new Agent() };
