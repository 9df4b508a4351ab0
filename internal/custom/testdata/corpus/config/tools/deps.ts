import { tool } from "@opencode-ai/plugin"
import { join } from "path"

type Manifest = { name: string; version: string; dependencies?: Record<string, string>; devDependencies?: Record<string, string>; scripts?: Record<string, string> }

const load = async (dir: string): Promise<Manifest> => {
  const { default: manifest } = await import(join(dir, "package.json"), { with: { type: "json" } })
  return manifest
}

export const list = tool({
    description: "List dependencies",
    args: { dev: tool.schema.boolean().optional() },
    async execute(args, ctx) {
      const text = await Bun.file(join(ctx.directory, "package.json")).text()
      const m: Manifest = JSON.parse(text)
      const all = { ...m.dependencies, ...(args.dev ? m.devDependencies : {}) }
      const width = Math.max(...Object.keys(all).map((k) => k.length))
      return Object.entries(all)
        .map(([k, v]) => `${k.padEnd(width)}  ${v}`)
        .join("\n")
    },
  }),
  scripts = tool({
    description: "List scripts",
    args: {},
    async execute(_, ctx) {
      const { readFile } = await import("node:fs/promises")
      const path = await import("path")
      const m: Manifest = JSON.parse(await readFile(path.default.join(ctx.directory, "package.json"), "utf-8"))
      const { plural } = await import("../lib/text")
      return `${plural(Object.keys(m.scripts ?? {}).length, "script")}: ${Object.keys(m.scripts ?? {}).join(", ")}`
    },
  })

export const bump = tool({
  description: "Raise the version",
  args: {
    part: tool.schema.enum(["major", "minor", "patch"]).describe("Which part"),
    pre: tool.schema.literal("beta").optional(),
  },
  async execute({ part, pre }, ctx) {
    const file = Bun.file(join(ctx.worktree, "package.json"))
    const m = (await file.json()) as Manifest
    const [a, b, c] = m.version.split(".").map(Number) as [number, number, number]
    const next = { major: [a + 1, 0, 0], minor: [a, b + 1, 0], patch: [a, b, c + 1] }[part].join(".") + (pre ? `-${pre}.0` : "")
    const text = await file.text()
    await Bun.write(file, text.replace(`"version": "${m.version}"`, `"version": "${next}"`))
    return `${m.version} -> ${next}`
  },
})
void load
