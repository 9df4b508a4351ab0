import { tool } from "@opencode-ai/plugin"
import { readFile } from "node:fs/promises"
import path from "node:path"

// Things are done while the file is loaded.
const rules = (await readFile(path.join(import.meta.dir, "..", "prompts", "rules.txt"), "utf8")).trim().split("\n")
console.log("loaded", rules.length, "rules")
process.stderr.write("to the log\n")
process.on("exit", () => {})
process.once("SIGINT", () => process.exit(130))
process.on("unhandledRejection", (e) => console.error(e))
if (import.meta.main) process.exit(1)

declare global {
  var shopLoads: number | undefined
}
globalThis.shopLoads = (globalThis.shopLoads ?? 0) + 1

const cache = new Map<string, Promise<string>>()
const cached = (key: string, make: () => Promise<string>) => {
  let found = cache.get(key)
  if (!found) cache.set(key, (found = make()))
  return found
}
const timer = setInterval(() => {}, 60_000)
timer.unref?.()

export const rule = tool({
  description: `Check a command against ${rules.length} rules`,
  args: { command: tool.schema.string() },
  async execute({ command }) {
    const broken = rules.filter((r) => command.includes(r.replace(/^no /, "").replace(/es$/, "")))
    return broken.length ? `broken: ${broken.join(", ")}` : `fine (loads ${globalThis.shopLoads})`
  },
})

export const slow = tool({
  description: "Made once",
  args: { key: tool.schema.string() },
  async execute({ key }) {
    let made = 0
    const make = async () => {
      made++
      await new Promise((r) => setTimeout(r, 5))
      return key.split("").reverse().join("")
    }
    const [a, b] = await Promise.all([cached(key, make), cached(key, make)])
    return `${a === b} ${a} made ${made} of ${cache.size}`
  },
})
