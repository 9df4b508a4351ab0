import { tool } from "@opencode-ai/plugin"

// The name of this file is the name of the tool. It is written as OpenCode's
// tools are, and needs neither Bun nor Node: helve runs it.
export default tool({
  description: "Lists the lines of a file that say TODO. Use it before you say that a file is finished.",
  args: {
    path: tool.schema.string().describe("the file, from the project's folder"),
    limit: tool.schema.number().int().min(1).max(100).optional().describe("how many to show; 20 if not given"),
  },
  async execute(args, context) {
    const file = Bun.file(`${context.directory}/${args.path}`)
    // What a script throws is what the model reads.
    if (!(await file.exists())) throw new Error(`There is no file ${args.path}. Look for it with glob first.`)
    // Reading asks for the permission "read", as the built-in tools do.
    const found = (await file.text())
      .split("\n")
      .map((line, i) => ({ line: line.trim(), number: i + 1 }))
      .filter((l) => l.line.includes("TODO"))
    const shown = found.slice(0, args.limit ?? 20)
    return {
      title: `${args.path}: ${found.length}`,
      output: shown.map((l) => `${args.path}:${l.number}: ${l.line}`).join("\n") || "Nothing is left to do.",
      metadata: { found: found.length },
    }
  },
})
