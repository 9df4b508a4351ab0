import type { Plugin } from "@opencode-ai/plugin"

// A constant beside the plugin makes the whole file unusable.
export const LIMIT = 5

export const Limited: Plugin = async () => ({
  "tool.execute.before": async () => {
    throw new Error("never reached")
  },
})
