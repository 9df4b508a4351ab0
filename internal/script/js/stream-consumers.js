// Reading whole streams, of either kind.
"use strict";
const { toBytes, join, decode } = require("stream/web");

async function bytes(stream) {
  const all = [];
  for await (const chunk of stream) all.push(toBytes(chunk));
  return join(all);
}

module.exports = {
  arrayBuffer: async (stream) => (await bytes(stream)).buffer,
  blob: async (stream) => new (require("blob").Blob)([await bytes(stream)]),
  buffer: async (stream) => require("buffer").Buffer.from((await bytes(stream)).buffer),
  bytes,
  json: async (stream) => JSON.parse(decode(await bytes(stream))),
  text: async (stream) => decode(await bytes(stream)),
};
