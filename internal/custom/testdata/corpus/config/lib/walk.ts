import * as fs from "fs"
import * as path from "path"

const SKIP = new Set([".git", "node_modules", ".opencode"])

export function* walk(dir: string): Generator<string> {
  const entries = fs.readdirSync(dir, { withFileTypes: true }).sort((a, b) => a.name.localeCompare(b.name))
  for (const entry of entries) {
    if (SKIP.has(entry.name)) continue
    const full = path.join(dir, entry.name)
    if (entry.isDirectory()) yield* walk(full)
    else if (entry.isFile()) yield full
  }
}

export let visits = 0
export function visit(): number {
  return ++visits
}
