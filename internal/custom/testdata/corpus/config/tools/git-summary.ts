import { tool } from "@opencode-ai/plugin"
import { $ } from "bun"

/** What happened in the repository lately. */
export default tool({
  description: "Summarise the state of the git repository: branch, changed files, last commits",
  args: {
    commits: tool.schema.number().int().positive().max(50).optional().describe("How many commits to show"),
    author: tool.schema.string().optional().describe("Only commits of this author"),
  },
  async execute(args, context) {
    const dir = context.worktree
    const branch = (await $`git rev-parse --abbrev-ref HEAD`.cwd(dir).quiet().text()).trim()
    const status = await $`git status --porcelain`.cwd(dir).quiet().nothrow().text()
    const limit = args.commits ?? 5
    const filter = args.author ? [`--author=${args.author}`] : []
    const log = await $`git log ${filter} -n ${limit} --pretty=format:"%h %an %s"`.cwd(dir).quiet().nothrow()
    if (log.exitCode !== 0) {
      return `git log failed (${log.exitCode}): ${log.stderr.toString().trim()}`
    }
    const stat = await $`git diff --stat HEAD | tail -n 1`.cwd(dir).quiet().text()
    const changed = status
      .split("\n")
      .filter(Boolean)
      .map((line) => ({ state: line.slice(0, 2).trim(), file: line.slice(3) }))
    const untracked = changed.filter((c) => c.state === "??").length
    const lines = [
      `Branch: ${branch}`,
      `Changed: ${changed.length - untracked}, untracked: ${untracked}`,
      ...changed.map((c) => `  ${c.state.padEnd(2)} ${c.file}`),
      "",
      "Commits:",
      ...log.stdout
        .toString()
        .split("\n")
        .map((l) => `  ${l}`),
      stat.trim(),
    ]
    return lines.join("\n")
  },
})

export const branches = tool({
  description: "List branches",
  args: {},
  async execute(_args, ctx) {
    const out = await $`git branch --list --format='%(refname:short) %(objectname:short)'`.cwd(ctx.directory).text()
    const names = []
    for await (const line of $`git tag`.cwd(ctx.directory).lines()) if (line) names.push(line)
    return `${out.trim()}\ntags: ${names.join(", ")}`
  },
})
