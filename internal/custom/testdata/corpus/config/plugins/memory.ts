import { type Plugin, tool } from "@opencode-ai/plugin"
import { mkdir, readFile, writeFile, appendFile, readdir } from "fs/promises"
import { existsSync } from "fs"
import path from "path"

const FILE = "memory.md"

export const MemoryPlugin: Plugin = async (ctx) => {
  const dir = path.join(ctx.worktree, ".shop", "memory")
  await mkdir(dir, { recursive: true })
  const file = path.join(dir, FILE)
  const read = async () => (existsSync(file) ? await readFile(file, "utf8") : "")

  return {
    tool: {
      remember: tool({
        description: "Remember a fact",
        args: {
          fact: tool.schema.string().describe("What to remember"),
          scope: tool.schema.enum(["project", "global"]).default("project"),
        },
        async execute({ fact, scope }, context) {
          await appendFile(file, `- ${fact}\n`)
          context.metadata({ title: "Remembered" })
          const { data } = await ctx.client.session.get({ path: { id: context.sessionID } })
          return `remembered in ${scope} for ${data?.title}`
        },
      }),
      recall: tool({
        description: "Recall facts",
        args: { about: tool.schema.string().optional() },
        async execute({ about }) {
          const lines = (await read()).split("\n").filter(Boolean)
          const found = about ? lines.filter((l) => l.toLowerCase().includes(about.toLowerCase())) : lines
          return found.length ? found.join("\n") : "nothing"
        },
      }),
      forget: tool({
        description: "Forget all",
        args: {},
        async execute() {
          await writeFile(file, "")
          return `${(await readdir(dir)).length} file emptied`
        },
      }),
    },
    "experimental.chat.system.transform": async (_input, output) => {
      const facts = await read()
      if (facts.trim()) output.system.push(`<memory>\n${facts}</memory>`)
    },
    "experimental.session.compacting": async (input, output) => {
      output.context.push(`Session ${input.sessionID} knows:\n${await read()}`)
    },
    "chat.message": async (input, output) => {
      const text = output.parts.filter((p: any) => p.type === "text").map((p: any) => p.text).join(" ")
      const m = /remember that (.+)/i.exec(text)
      if (!m) return
      await appendFile(file, `- ${m[1]} (${input.agent ?? "?"}, ${input.model?.modelID ?? "?"})\n`)
      output.parts.push({ id: "prt_1", sessionID: input.sessionID, messageID: output.message.id, type: "text", text: "(noted)", synthetic: true } as any)
    },
  }
}

export default MemoryPlugin
