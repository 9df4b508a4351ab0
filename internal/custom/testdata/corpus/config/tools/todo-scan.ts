import { tool } from "@opencode-ai/plugin"
import * as fs from "node:fs"
import * as path from "node:path"
import { walk, visit } from "../lib/walk"
import text, { plural } from "../lib/text"
import defaults from "../lib/defaults.json"

interface Hit {
  file: string
  line: number
  kind: string
  owner?: string
  text: string
}

const PATTERN = new RegExp(`\\b(${defaults.patterns.join("|")})\\b(?:\\((\\w+)\\))?:?\\s*(.*)$`)

function scan(root: string, file: string): Hit[] {
  const hits: Hit[] = []
  fs.readFileSync(file, "utf-8")
    .split(/\r?\n/)
    .forEach((line, i) => {
      const m = line.match(PATTERN)
      if (!m) return
      hits.push({ file: path.relative(root, file), line: i + 1, kind: m[1]!, owner: m[2], text: m[3]!.replace(/\s*-->$/, "") })
    })
  return hits
}

export default tool({
  description: "Find TODO, FIXME and HACK remarks",
  args: {
    dir: tool.schema.string().optional().describe("Directory to look in, relative to the project"),
    kind: tool.schema.enum(["TODO", "FIXME", "HACK"]).optional(),
    json: tool.schema.boolean().optional().describe("Answer with JSON"),
  },
  async execute(args, context) {
    const root = path.resolve(context.directory, args.dir ?? ".")
    if (!fs.existsSync(root)) return `Directory not found: ${args.dir}`
    const hits: Hit[] = []
    for (const file of walk(root)) {
      if (![".ts", ".js", ".md"].includes(path.extname(file))) continue
      hits.push(...scan(context.directory, file))
    }
    const wanted = args.kind ? hits.filter((h) => h.kind === args.kind) : hits
    if (args.json) return JSON.stringify({ visit: visit(), hits: wanted }, null, 2)
    const byFile = wanted.reduce<Record<string, Hit[]>>((all, hit) => {
      ;(all[hit.file] ??= []).push(hit)
      return all
    }, {})
    const body = Object.entries(byFile)
      .map(([file, list]) => `${file}\n${text.indent(list.map((h) => `${h.line}: ${h.kind}${h.owner ? ` @${h.owner}` : ""} ${h.text}`).join("\n"))}`)
      .join("\n")
    return `${text.heading("Remarks")}\n${plural(wanted.length, "remark")} in ${plural(Object.keys(byFile).length, "file")} (visit ${visit()})\n${body}`
  },
})
