import type { Plugin } from "@opencode-ai/plugin"
import { spawnSync, execFile } from "child_process"
import { promisify } from "util"
import { extname, join } from "path"
import { readFileSync, writeFileSync } from "fs"
import match from "glob-match"

const run = promisify(execFile)
const FORMATTERS: Record<string, (file: string) => Promise<string> | string> = {
  ".json": (file) => {
    const text = readFileSync(file, "utf8")
    writeFileSync(file, JSON.stringify(JSON.parse(text), null, 2) + "\n")
    return "json"
  },
  ".md": async (file) => {
    const { stdout } = await run("sed", ["-e", "s/[ \\t]*$//", file])
    writeFileSync(file, stdout)
    return "md"
  },
  ".ts": (file) => {
    const r = spawnSync("sh", ["-c", 'grep -c . "$1"', "sh", file], { encoding: "utf8" })
    return `ts ${r.stdout.trim()}`
  },
}

export const Formatter: Plugin = async ({ $, directory, client }) => {
  const ignored = match(["**/node_modules/**", "data/broken.*"])
  return {
    "tool.execute.after": async (input, output) => {
      if (!["edit", "write"].includes(input.tool)) return
      const file = output.metadata?.filePath as string | undefined
      if (!file || ignored(file)) return
      const format = FORMATTERS[extname(file)]
      if (!format) return
      try {
        const how = await format(join(directory, file))
        output.output += `\nformatted: ${how}`
      } catch (e) {
        output.output += `\nnot formatted: ${e instanceof Error ? e.message : e}`
      }
      const diff = await $`git diff --stat -- ${file}`.cwd(directory).quiet().nothrow().text()
      if (diff) output.output += `\n${diff.trim()}`
    },
  }
}
