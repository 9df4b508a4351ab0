// Prints how many ms turndown takes for a file, as often as is said, as JSON.
"use strict";
const fs = require("fs");
const Turndown = require(require("path").join(process.argv[2], "turndown"));
const html = fs.readFileSync(process.argv[3], "utf8");
const times = [];
for (let round = 0; round < Number(process.argv[4]); round++) {
  const began = performance.now();
  const service = new Turndown({ headingStyle: "atx", hr: "---", bulletListMarker: "-", codeBlockStyle: "fenced", emDelimiter: "*" });
  service.remove(["script", "style", "meta", "link"]);
  service.turndown(html);
  times.push(performance.now() - began);
}
console.log(JSON.stringify(times));
