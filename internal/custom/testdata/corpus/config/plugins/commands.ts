import { type Plugin } from "@opencode-ai/plugin"
import review from "../prompts/review.md" with { type: "text" }
import { walk } from "../lib/walk"
import path from "path"

const commands: Record<string, (args: string, root: string) => string | Promise<string>> = {
  review: (args, root) => review.replace("{{files}}", args || [...walk(path.join(root, "src"))].map((f) => path.relative(root, f)).join(", ")),
  time: () => new Date(0).toISOString(),
  sum: (args) => String(args.split(/\s+/).map(Number).reduce((a, b) => a + b, 0)),
}

const plugin: Plugin = async ({ worktree, client }) => {
  return {
    "command.execute.before": async (input, output) => {
      const run = commands[input.command]
      if (!run) return
      const text = await run(input.arguments, worktree)
      output.parts.length = 0
      output.parts.push({ type: "text", text } as any)
    },
    "tool.definition": async (input: any, output: any) => {
      if (input.toolID === "bash") output.description += "\nPrefer pnpm."
      if (input.toolID === "read") output.parameters = { ...output.parameters, properties: { ...output.parameters.properties, why: { type: "string" } } }
    },
    "chat.params": async (input, output) => {
      if (input.agent === "plan") output.temperature = 0.1
      output.options = { ...output.options, seed: 7 }
    },
    "chat.headers": async (_input: any, output: any) => {
      output.headers["x-shop"] = "yes"
    },
    "experimental.chat.messages.transform": async (_input, output: any) => {
      output.messages = output.messages.filter((m: any) => m.parts.length > 0)
    },
  }
}
export default plugin
