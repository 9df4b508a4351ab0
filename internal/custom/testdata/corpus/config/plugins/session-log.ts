import type { Plugin } from "@opencode-ai/plugin"
import fs from "fs"
import path from "path"
import os from "os"

type Entry = { at: string; type: string; [key: string]: unknown }

export const SessionLog: Plugin = async ({ client, worktree }) => {
  const file = path.join(os.homedir(), ".local", "share", "shop", "session.jsonl")
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  let queue: Promise<void> = Promise.resolve()
  const write = (entry: Omit<Entry, "at">) => {
    const line = JSON.stringify({ at: new Date().toISOString(), ...entry } as Entry) + "\n"
    queue = queue.then(() => fs.promises.appendFile(file, line))
    return queue
  }
  const files = new Set<string>()
  await write({ type: "start", project: path.basename(worktree) })

  return {
    async event({ event }) {
      const e = event as any
      if (e.type === "file.edited") {
        files.add(path.relative(worktree, e.properties.file))
        return
      }
      if (e.type === "message.updated") {
        const old = timers.get(e.properties.info.id)
        if (old) clearTimeout(old)
        timers.set(e.properties.info.id, setTimeout(() => timers.delete(e.properties.info.id), 5))
        return
      }
      if (e.type === "session.created") await write({ type: e.type, id: e.properties.info.id })
      if (e.type === "session.idle") {
        const { data } = await client.session.messages({ path: { id: e.properties.sessionID }, query: { limit: 10 } })
        const tokens = (data ?? []).reduce((n: number, m: any) => n + (m.info.tokens?.output ?? 0), 0)
        const cost = (data ?? []).map((m: any) => m.info.cost ?? 0).reduce((a: number, b: number) => a + b, 0)
        await write({ type: e.type, tokens, cost: `$${cost.toFixed(4)}`, files: [...files].sort(), timers: timers.size <= 1 })
        files.clear()
        const todos = await client.session.todo({ path: { id: e.properties.sessionID } })
        const open = todos.data?.filter((t: any) => t.status !== "completed") ?? []
        await client.app.log({ body: { service: "session-log", level: "info", message: `${open.length} open`, extra: { open } } })
      }
    },
    "tool.execute.after": async (input, output) => {
      await write({ type: "tool", tool: input.tool, size: output.output.length })
    },
    dispose: async () => {
      for (const t of timers.values()) clearTimeout(t)
      await write({ type: "end" })
    },
  }
}
