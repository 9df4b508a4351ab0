import type { Plugin, Hooks } from "@opencode-ai/plugin"
import path from "node:path"
import { existsSync } from "node:fs"

const RULES: Array<[RegExp, string | ((m: string) => string)]> = [
  [/\bnpm (install|run|test)\b/g, "pnpm $1"],
  [/\bgrep -r\b/g, "rg"],
  [/\$\(date\)/g, () => "2024"],
]

class Rewriter {
  count = 0
  apply(command: string): string {
    let out = command
    for (const [re, to] of RULES) out = out.replace(re, to as string)
    if (out !== command) this.count++
    return out
  }
}

export const CommandRewriter: Plugin = async ({ directory, client }) => {
  const rewriter = new Rewriter()
  const hooks: Hooks = {
    async "tool.execute.before"(input, output) {
      if (input.tool === "bash") {
        output.args.command = rewriter.apply(output.args.command)
        output.args.timeout ??= 60_000
        delete output.args.background
        return
      }
      if (["edit", "write"].includes(input.tool)) {
        const file = output.args.filePath as string
        if (!path.isAbsolute(file)) output.args.filePath = path.join(directory, file)
        if (!existsSync(output.args.filePath)) {
          await client.app.log({ body: { service: "rewriter", level: "warn", message: `new file ${path.basename(file)}`, extra: { tool: input.tool } } })
        }
      }
    },
    async "tool.execute.after"(input, output) {
      if (input.tool !== "bash") return
      output.title = `[${rewriter.count}] ${output.title}`
      output.output = output.output.replace(/\x1b\[[0-9;]*m/g, "").trimEnd()
      output.metadata = { ...output.metadata, rewritten: rewriter.count, call: input.callID }
    },
  }
  return hooks
}
