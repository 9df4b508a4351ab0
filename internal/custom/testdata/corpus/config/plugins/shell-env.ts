import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import * as path from "node:path"
import type { Plugin } from "@opencode-ai/plugin"

function load(file: string): Record<string, string> {
  try {
    return Object.fromEntries(
      readFileSync(file, "utf8")
        .split("\n")
        .filter((l) => /^[A-Z_]+=/.test(l))
        .map((l) => {
          const i = l.indexOf("=")
          return [l.slice(0, i), l.slice(i + 1).replace(/^"|"$/g, "")]
        }),
    )
  } catch {
    return {}
  }
}

export const ShellEnv: Plugin = async ({ worktree, directory }) => ({
  "shell.env": async (input, output) => {
    Object.assign(output.env, load(path.join(worktree, ".env")), { SHOP_CWD: path.relative(worktree, input.cwd) || ".", SHOP_SESSION: input.sessionID ?? "none" })
    output.env.PATH = [path.join(directory, "bin"), "/usr/bin"].join(path.delimiter)
    delete output.env.AWS_SECRET
    output.env.AT_HOME = String(input.cwd.startsWith(homedir()))
  },
  config: async (config: any) => {
    config.command ??= {}
    config.command["shop-review"] = { template: "Review $ARGUMENTS", description: "Look at it" }
    config.permission = { ...config.permission, bash: { ...config.permission?.bash, "rm *": "deny" } }
  },
})
