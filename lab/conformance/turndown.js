// Runs turndown: answers every line of pages on stdin with a line.
"use strict";
const fs = require("fs");
const path = require("path");
const at = (name) => path.join(process.argv[2], "node_modules", name);
const Turndown = require(at("turndown"));
const domino = require(at("@mixmark-io/domino"));

function service() {
  const s = new Turndown({
    headingStyle: "atx",
    hr: "---",
    bulletListMarker: "-",
    codeBlockStyle: "fenced",
    emDelimiter: "*",
  });
  s.remove(["script", "style", "meta", "link"]);
  return s;
}

// cells lists what the cells of the innermost tables say.
function cells(html) {
  const all = [];
  const doc = domino.createDocument(html);
  for (const cell of doc.querySelectorAll("td, th")) {
    if (!cell.querySelector("table, script, style")) all.push(cell.textContent);
  }
  return all;
}

function convert() {
  const out = [];
  for (const line of fs.readFileSync(0, "utf8").split("\n")) {
    if (line === "") continue;
    const page = JSON.parse(line);
    let made;
    try {
      made = { markdown: service().turndown(page.html), cells: cells(page.html) };
    } catch (e) {
      made = { error: String(e).slice(0, 200) };
    }
    out.push(JSON.stringify({ name: page.name, ...made }));
  }
  fs.writeSync(1, out.join("\n") + "\n");
}

convert();
