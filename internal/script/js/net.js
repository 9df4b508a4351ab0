// There are no sockets in an engine; who asks for one is told so.
"use strict";

function missing(name) {
  return function () {
    throw Object.assign(new Error(`net.${name} is not available in the embedded engine: it has no sockets, only fetch and the clients of http and https`), { code: "ERR_METHOD_NOT_IMPLEMENTED" });
  };
}

const v4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;

// isIPv6 counts groups: eight, or fewer around one "::"; the last two may be written as version 4.
function isIPv6(text) {
  let rest = String(text).replace(/%[0-9a-zA-Z.-]+$/, "");
  const tail = /(^|:)(\d+\.\d+\.\d+\.\d+)$/.exec(rest);
  if (tail) {
    if (!v4.test(tail[2])) return false;
    rest = `${rest.slice(0, -tail[2].length)}0:0`;
  }
  const halves = rest.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}
const isIPv4 = (text) => v4.test(String(text));
const isIP = (text) => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0);

module.exports = { isIP, isIPv4, isIPv6 };
for (const name of ["connect", "createConnection", "createServer", "Socket", "Server"]) module.exports[name] = missing(name);
