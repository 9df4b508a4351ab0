import type { Plugin } from "@opencode-ai/plugin"
import { readFile } from "fs/promises"

export const A: Plugin = async () => ({
  "tool.execute.before": async (_i, o) => {
    o.args.a = true
  },
})

export const B: Plugin = async ({ directory }) => {
  const settings = JSON.parse(await readFile(`${directory}/settings.json`, "utf8"))
  return { "tool.execute.before": async (_i, o) => void (o.args.b = settings) }
}

export const C: Plugin = async () => ({
  "tool.execute.before": async (_i, o) => {
    o.args.c = true
  },
})
