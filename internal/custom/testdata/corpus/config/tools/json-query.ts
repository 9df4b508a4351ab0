import { tool } from "@opencode-ai/plugin"
import path from "path"

/** Follows a path such as a.b[0].c. */
function dig(value: any, where: string): unknown {
  return where
    .replace(/\[(\d+)\]/g, ".$1")
    .split(".")
    .filter(Boolean)
    .reduce((v, key) => v?.[key], value)
}

export default tool({
  description: "Read a value out of a JSON file",
  args: {
    file: tool.schema.string().describe("The file"),
    path: tool.schema.string().default("").describe("Where in it, like a.b[0]"),
  },
  async execute(args, ctx) {
    const file = Bun.file(path.join(ctx.directory, args.file))
    if (!(await file.exists())) return `Error: ${args.file} does not exist`
    try {
      const found = dig(await file.json(), args.path ?? "")
      return found === undefined ? `nothing at ${args.path}` : JSON.stringify(found, null, 2)
    } catch (e) {
      return `Error: ${args.file} is not JSON (${(e as Error).name})`
    }
  },
})

export const merge = tool({
  description: "Merge an object into a JSON file",
  args: {
    file: tool.schema.string(),
    changes: tool.schema.record(tool.schema.string(), tool.schema.any()),
  },
  async execute({ file, changes }, ctx) {
    const target = path.resolve(ctx.directory, file)
    const f = Bun.file(target)
    const old = (await f.exists()) ? await f.json() : {}
    const merged = { ...old, ...changes }
    const bytes = await Bun.write(target, JSON.stringify(merged, null, 2) + "\n")
    return `${bytes} bytes, ${Bun.file(target).size}, ${f.type}, keys ${Object.keys(merged).toString()}`
  },
})

export const sort = tool({
  description: "Sort a list of people",
  args: { by: tool.schema.union([tool.schema.literal("name"), tool.schema.literal("age")]) },
  async execute({ by }, ctx) {
    const people: Array<{ name: string; age: number; tags?: string[] }> = JSON.parse(await Bun.file(`${ctx.directory}/data/people.json`).text())
    const sorted = people.toSorted((a, b) => (by === "age" ? a.age - b.age : 0) || a.name.localeCompare(b.name))
    const tags = new Set(people.flatMap((p) => p.tags ?? []))
    return `${sorted.map((p) => `${p.name} (${p.age})`).join(", ")}; last ${sorted.at(-1)?.name}; tags ${[...tags].sort().join("/")}; base ${["b", "A", "a", "ä"].sort((x, y) => x.localeCompare(y, undefined, { sensitivity: "base" })).join("")}`
  },
})
