import { tool, type ToolContext } from "@opencode-ai/plugin"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import prompt from "~prompts/review.md" with { type: "text" }
import rules from "../prompts/rules.txt"
import { run } from "@lib/exec"
import { Level, Names, Size } from "@lib/types"
import type { Finding, Severity } from "@lib/types"
import pkg from "../package.json"

const here = path.dirname(fileURLToPath(import.meta.url))

function about(ctx: ToolContext): string[] {
  const { sessionID, messageID, agent, directory, worktree, abort } = ctx
  return [sessionID, messageID, agent, directory === worktree ? "same" : "other", String(abort.aborted), typeof ctx.ask, typeof ctx.metadata]
}

export default tool({
  description: "Where does this tool live, and whom does it work for?",
  args: { ask: tool.schema.boolean().optional() },
  async execute(args, ctx) {
    if (args.ask) {
      await ctx.ask({ permission: "deploy", patterns: ["shop-*"], always: ["shop-*"], metadata: { why: "to show" } })
      ctx.metadata({ title: "asked" })
      ctx.metadata({ metadata: { step: 2, list: ["a"] } })
    }
    const finding: Finding = { file: "x", line: 1, severity: "low" satisfies Severity }
    const rel = (p: string) => path.relative(ctx.worktree, p).split(path.sep).join("/")
    const ran = await run("python3", [path.join(ctx.directory, "scripts", "count.py"), "a b", "c"], { input: prompt, cwd: ctx.directory })
    const failed = await run("no-such-program-here", []).catch((e) => `${e.code} ${e.syscall} ${e.message}`)
    return [
      ...about(ctx),
      rel(here), rel(import.meta.dir), rel(import.meta.path), import.meta.file, rel(import.meta.dirname), import.meta.main, rel(__dirname), path.basename(__filename),
      rel(fileURLToPath(new URL("../prompts/rules.txt", import.meta.url))),
      pathToFileURL(path.join(here, "a b.txt")).href.endsWith("/a%20b.txt"),
      prompt.replace("{{files}}", "all").split("\n")[2],
      rules.trim().split("\n").length,
      Names.of(Level.Warn), Size.Large, Object.values(Level).join("+"), finding.severity, pkg.name, Object.keys(pkg.dependencies).length,
      ran.stdout.trim(), ran.code, failed,
    ].join("\n")
  },
})
