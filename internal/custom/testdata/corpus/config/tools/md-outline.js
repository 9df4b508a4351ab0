#!/usr/bin/env node
// CommonJS, as older files are.
const fs = require("fs")
const path = require("node:path")
const { tool } = require("@opencode-ai/plugin")
const z = tool.schema
const { stateFile, LIMIT } = require("../lib/legacy")

function outline(text) {
  let inCode = false
  const heads = []
  text.split("\n").forEach((line, i) => {
    if (line.startsWith("```")) inCode = !inCode
    const m = !inCode && line.match(/^(#{1,6})\s+(.*)$/)
    if (m) heads.push({ depth: m[1].length, title: m[2], line: i + 1 })
  })
  return heads
}

const frontMatter = (text) => {
  const m = /^---\n([\s\S]*?)\n---\n/.exec(text)
  if (!m) return {}
  return m[1].split("\n").reduce((all, l) => {
    const [k, ...v] = l.split(":")
    return Object.assign(all, { [k.trim()]: v.join(":").trim() })
  }, {})
}

module.exports = {
  description: "Outline of a Markdown file",
  args: { file: z.string(), depth: z.coerce.number().min(1).max(6).optional() },
  async execute({ file, depth = LIMIT }, { directory }) {
    const text = fs.readFileSync(path.join(directory, file), "utf8")
    const heads = outline(text).filter((h) => h.depth <= depth)
    const links = Array.from(text.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g), (m) => m[2])
    const broken = links.filter((l) => !fs.existsSync(path.resolve(directory, path.dirname(file), l)))
    return [JSON.stringify(frontMatter(text)), ...heads.map((h) => `${"  ".repeat(h.depth - 1)}${h.title} (${h.line})`), `broken: ${broken.join(", ") || "none"}`, path.basename(stateFile("x"))].join("\n")
  },
}
