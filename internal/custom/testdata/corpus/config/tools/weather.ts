import { tool } from "@opencode-ai/plugin"

// Arguments as a whole schema rather than its fields.
const Input = tool.schema.object({
  city: tool.schema.string().describe("Where"),
  unit: tool.schema.enum(["C", "F"]).optional(),
})

const table: Record<string, number> = { berlin: 12.34, oslo: -3, quito: 21 }

export default {
  description: "The weather of a city, made up",
  args: Input,
  async execute(args: { city: string; unit?: "C" | "F" }) {
    const c = table[args.city.toLowerCase()]
    if (c === undefined) return { title: "Unknown", output: `No weather for ${args.city}`, metadata: { known: Object.keys(table) } }
    const t = args.unit === "F" ? (c * 9) / 5 + 32 : c
    return {
      title: `Weather in ${args.city}`,
      output: `${new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 }).format(t)}°${args.unit ?? "C"}`,
      metadata: { exact: t },
    }
  },
}

// Plain JSON Schema instead of zod.
export const plain = {
  description: "Schema by hand",
  args: {
    name: { type: "string", description: "A name" },
    times: { type: "number" },
  },
  execute: async ({ name, times }: any) => Array.from({ length: times }, (_, i) => `${i}:${name}`).join(" "),
}

export const bare = {
  description: "No args at all",
  async execute() {
    return { anything: [1, "two", null], nested: { ok: true } }
  },
}

export const nothing = tool({ description: "Gives nothing back", args: {}, async execute() {} } as any)
export const count = tool({ description: "A number", args: {}, execute: async () => 42 as any })
export const list = tool({ description: "A list", args: {}, execute: async () => ["a", { b: 1 }] as any })
export const sync = tool({ description: "Not async", args: {}, execute: (() => "at once") as any })
export const empty = tool({ description: "Only an output", args: {}, execute: async () => ({ output: "" }) as any })
export const notATool = { name: "x", description: "nothing to execute" }
export const helper = (x: number) => x * 2
export const VERSION = "1.0"
