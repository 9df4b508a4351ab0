import { tool } from "@opencode-ai/plugin"
import { z } from "zod"
import path from "path"
import { readFileSync, readdirSync } from "fs"

type Tree = { [key: string]: string | Tree }

function* flatten(tree: Tree, prefix: string[] = []): IterableIterator<[string, string]> {
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === "string") yield [[...prefix, key].join("."), value]
    else yield* flatten(value, [...prefix, key])
  }
}

const schema = z
  .object({
    base: z.string().default("en"),
    only: z.array(z.enum(["missing", "extra"])).nonempty().optional(),
    limits: z.object({ max: z.number().int().nonnegative().lte(100) }).strict().optional(),
    mode: z.union([z.literal("short"), z.literal("long")]).or(z.literal("none")).optional().describe("How much to say"),
    extra: z.object({ note: z.string() }).passthrough().nullish(),
    tuple: z.tuple([z.string(), z.number()]).optional(),
    when: z.string().datetime().optional(),
    who: z.string().email().optional(),
    map: z.record(z.string(), z.number()).optional(),
    kind: z.discriminatedUnion("t", [z.object({ t: z.literal("a"), x: z.number() }), z.object({ t: z.literal("b"), y: z.string() })]).optional(),
    big: z.number().gt(0).lt(10).multipleOf(0.5).optional(),
    text: z.string().min(1).max(9).startsWith("a").trim().toLowerCase().optional(),
    checked: z.string().refine((s) => s !== "no", { message: "not no" }).optional(),
    any: z.any().optional(),
    unknown: z.unknown().optional(),
    url: z.string().url().optional(),
    uuid: z.string().uuid().optional(),
    flag: z.boolean().default(false).describe("A flag"),
    n: z.null().optional(),
    made: z.string().transform((s) => s.length).optional(),
    piped: z.preprocess((v) => Number(v), z.number()).optional(),
    set: z.enum({ A: "a", B: "b" } as const).optional(),
    partial: z.object({ p: z.string(), q: z.string() }).partial().optional(),
    picked: z.object({ p: z.string(), q: z.string() }).pick({ p: true }).extend({ r: z.number() }).optional(),
    read: z.string().readonly().optional(),
    caught: z.number().catch(5).optional(),
    date: z.iso.date().optional(),
    int: z.int().optional(),
    branded: z.string().brand<"X">().optional(),
    merged: z.object({ a: z.string() }).merge(z.object({ b: z.string() })).optional(),
    and: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })).optional(),
    meta: z.string().meta({ title: "A title", examples: ["x"] }).optional(),
    keys: z.object({ a: z.string(), b: z.string() }).keyof().optional(),
  })
  .describe("What to compare")

export default tool({
  description: "Compare translations",
  args: schema.shape,
  async execute(args, { directory }) {
    const dir = path.join(directory, "locales")
    const load = (name: string) => new Map(flatten(JSON.parse(readFileSync(path.join(dir, `${name}.json`), "utf8"))))
    const base = load(args.base ?? "en")
    const out: string[] = []
    for (const file of readdirSync(dir).sort()) {
      const name = path.parse(file).name
      if (name === (args.base ?? "en")) continue
      const other = load(name)
      const missing = [...base.keys()].filter((k) => !other.has(k))
      const extra = [...other.keys()].filter((k) => !base.has(k))
      out.push(`${name}: ${new Intl.NumberFormat("en-US", { style: "percent" }).format(1 - missing.length / base.size)} ${JSON.stringify({ missing, extra })}`)
    }
    out.push(JSON.stringify(args))
    return out.join("\n")
  },
})

export const check = tool({
  description: "Parse a value by hand",
  args: { value: z.unknown() },
  async execute({ value }) {
    const parsed = z.object({ name: z.string().min(2, "too short"), age: z.coerce.number().int().optional(), tags: z.array(z.string()).default([]) }).safeParse(value)
    if (parsed.success) return `ok ${JSON.stringify(parsed.data)}`
    return parsed.error.issues.map((i) => `${i.path.join(".") || "(root)"}: ${i.message} [${i.code}]`).join("\n") + "\n" + JSON.stringify(z.flattenError(parsed.error)) + "\n" + z.prettifyError(parsed.error) + "\n" + parsed.error.message
  },
})
