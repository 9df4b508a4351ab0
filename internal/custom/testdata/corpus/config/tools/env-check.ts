import { tool } from "@opencode-ai/plugin"
import fs from "node:fs"
import path from "node:path"
import os from "node:os"
import process from "node:process"

function parseEnv(text: string): Map<string, string> {
  const map = new Map<string, string>()
  for (const raw of text.split("\n")) {
    const line = raw.trim()
    if (!line || line.startsWith("#")) continue
    const at = line.indexOf("=")
    if (at < 0) continue
    map.set(line.slice(0, at), line.slice(at + 1).replace(/^(['"])(.*)\1$/, "$2"))
  }
  return map
}

const mask = (v: string) => (v.length <= 4 ? "*".repeat(v.length) : v.slice(0, 2) + "…" + v.slice(-2))

export default tool({
  description: "Compare .env with .env.example and show the surroundings",
  args: { reveal: tool.schema.boolean().optional().default(false) },
  async execute(args, { directory }) {
    const have = parseEnv(fs.readFileSync(path.join(directory, ".env"), "utf8"))
    const want = parseEnv(fs.readFileSync(path.join(directory, ".env.example")).toString())
    const missing = [...want.keys()].filter((k) => !have.has(k))
    const extra = [...have.keys()].filter((k) => !want.has(k))
    const empty = Array.from(have).filter(([, v]) => v === "").map(([k]) => k)
    const { SHOP_REGION: region = "none", SHOP_LEVEL: level = "none", SHOP_NONE: none = "none" } = process.env
    return [
      `missing: ${missing.join(", ") || "-"}`,
      `extra: ${extra.join(", ") || "-"}`,
      `empty: ${empty}`,
      ...[...have].map(([k, v]) => `${k}=${args.reveal ? v : mask(v)}`),
      `region ${region}, level "${level}", none ${none}`,
      `cwd is the project: ${process.cwd() === directory}`,
      `home is ${os.homedir() === process.env.HOME ? "HOME" : "elsewhere"}, ${os.EOL === "\n"} ${process.platform === os.platform()}`,
      `argv ${process.argv.length >= 1} pid ${process.pid > 0} uid ${typeof process.getuid?.()} ${typeof os.hostname()} ${os.cpus().length > 0}`,
      `versions ${typeof process.versions.bun} ${process.version.startsWith("v")} ${process.uptime() >= 0} ${process.memoryUsage().heapUsed > 0}`,
    ].join("\n")
  },
})

export const set = tool({
  description: "Set a variable for this process",
  args: { name: tool.schema.string().regex(/^[A-Z_]+$/), value: tool.schema.string().nullable() },
  async execute({ name, value }) {
    const before = process.env[name]
    if (value === null) delete process.env[name]
    else process.env[name] = value
    const seen = await Bun.$`sh -c ${`echo "$${name}"`}`.quiet().text()
    return `${before} -> ${process.env[name]} (${name in process.env}); programs see ${JSON.stringify(seen)}; Bun.env ${Bun.env[name]}`
  },
})
