import { tool } from "@opencode-ai/plugin"
import { readFileSync } from "fs"
import { resolve } from "path"
import slug, { words } from "@acme/slug"
import { FlagSet, version } from "flagset"
import match from "glob-match"
import { addDays, format, differenceInDays, formatDate, en } from "days"
import addDaysAgain from "days/addDays"

const { YAML, Glob, semver } = Bun

export default tool({
  description: "Read the settings",
  args: { key: tool.schema.string().optional() },
  async execute({ key }, { directory }) {
    const settings = YAML.parse(readFileSync(resolve(directory, "data/config.yaml"), "utf8")) as Record<string, unknown>
    if (key) return key in settings ? JSON.stringify(settings[key]) : `unknown key ${key}, try ${Object.keys(settings).join(", ")}`
    return YAML.stringify(settings, null, 2)
  },
})

export const glob = tool({
  description: "Find files by pattern",
  args: { pattern: tool.schema.string(), ignore: tool.schema.array(tool.schema.string()).default([]) },
  async execute({ pattern, ignore }, { directory }) {
    const found: string[] = []
    for await (const file of new Glob(pattern).scan({ cwd: directory })) found.push(file)
    const sync = [...new Glob(pattern).scanSync({ cwd: directory, onlyFiles: true })].length
    const skip = ignore?.length ? match(ignore) : () => false
    return `${found.filter((f) => !skip(f)).sort().join("\n")}\n${found.length} ${sync} ${new Glob("*.ts").match("a.ts")} ${match.isMatch("src/a.ts", "src/*.{ts,js}")}`
  },
})

export const release = tool({
  description: "Plan releases",
  args: { version: tool.schema.string(), range: tool.schema.string(), day: tool.schema.string() },
  async execute({ version: v, range, day }) {
    const start = new Date(`${day}T12:00:00Z`)
    const flags = new FlagSet().add("beta", "alpha")
    return [
      semver.satisfies(v, range),
      ["1.10.0", "1.9.3", "1.9.3-rc.1"].sort(semver.order).join(" < "),
      format(addDays(start, 14), "EEEE, d MMMM yyyy 'at' HH:mm"),
      formatDate(addDaysAgain(start, -1), "yyyy-MM-dd", { locale: en }),
      differenceInDays("2024-03-01T00:00:00Z", "2024-02-01T00:00:00Z"),
      slug("Größe & Maß: Émile's Café!"),
      words("one two  three").length,
      flags.list().join(","),
      version,
    ].join("\n")
  },
})

export const which = tool({
  description: "Where programs are",
  args: { names: tool.schema.array(tool.schema.string()) },
  async execute({ names }) {
    return names.map((n) => `${n}: ${Bun.which(n) ? "here" : "missing"}`).join("\n") + ` ${typeof Bun.version} ${Bun.nanoseconds() > 0}`
  },
})
