import { tool } from "@opencode-ai/plugin"

export const double = tool({
  description: "Doubles a number",
  args: { n: tool.schema.coerce.number() },
  execute: async ({ n }) => `${typeof n} ${Number(n) * 2}`,
})
export const UNIT = "pieces"
