// Bun's side: bun bun.js table.js folder url
const { perform } = require("./run.js");
const [file, dir, url] = process.argv.slice(2);
process.chdir(dir);
globalThis.console = { ...console, log() {} };
perform(require(file), dir, url, [[dir, "<dir>"], [url, "<url>"]]).then((out) => {
  require("fs").writeFileSync(process.env.OUT, JSON.stringify(out, null, 1) + "\n");
  process.exit(0);
});
