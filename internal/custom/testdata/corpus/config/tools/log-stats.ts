import { tool } from "@opencode-ai/plugin"
import { createReadStream, createWriteStream, readFileSync, appendFileSync, mkdtempSync, rmSync } from "fs"
import { createInterface } from "readline"
import { EventEmitter, once } from "events"
import { setTimeout as sleep } from "timers/promises"
import { format, inspect } from "util"
import os from "os"
import path from "path"

interface Line {
  time: Date
  level: string
  text: string
  fields: Record<string, string>
}

const RE = /^(?<time>\S+) (?<level>[A-Z]+) (?<rest>.*)$/

class LogReader extends EventEmitter {
  #count = 0
  static #instances = 0
  static {
    LogReader.#instances = 0
  }
  constructor(private file: string) {
    super()
    LogReader.#instances++
  }
  static get instances() {
    return LogReader.#instances
  }
  get count() {
    return this.#count
  }
  async *lines(): AsyncGenerator<Line> {
    const rl = createInterface({ input: createReadStream(this.file), crlfDelay: Infinity })
    for await (const raw of rl) {
      const g = RE.exec(raw)?.groups
      if (!g) continue
      this.#count++
      this.emit("line", raw)
      const fields = Object.fromEntries([...g.rest!.matchAll(/(\w+)=(\S+)/g)].map((m) => [m[1], m[2]]))
      yield { time: new Date(g.time!), level: g.level!, text: g.rest!.replace(/\s*\w+=\S+/g, ""), fields }
    }
    this.emit("end", this.#count)
  }
}

export default tool({
  description: "Statistics of a log file",
  args: { file: tool.schema.string().default("logs/app.log"), level: tool.schema.string().optional() },
  async execute(args, { directory }) {
    const reader = new LogReader(path.join(directory, args.file ?? "logs/app.log"))
    let seen = 0
    reader.on("line", () => seen++)
    const ended = once(reader, "end")
    const byLevel = new Map<string, number>()
    const errors: Line[] = []
    let first: Date | undefined, last: Date | undefined
    for await (const line of reader.lines()) {
      first ??= line.time
      last = line.time
      byLevel.set(line.level, (byLevel.get(line.level) ?? 0) + 1)
      if (line.level === (args.level ?? "ERROR")) errors.push(line)
    }
    const [total] = await ended
    return [
      `${total} lines (${seen}, ${reader.count}, ${LogReader.instances}) in ${(+last! - +first!) / 1000}s`,
      [...byLevel].map(([k, v]) => `${k}=${v}`).join(" "),
      ...errors.map((e) => format("%s %s %j %d", e.time.toISOString(), e.text, e.fields, Object.keys(e.fields).length)),
      inspect(errors[0]?.fields ?? null),
      inspect({ a: 1, b: ["x", { deep: { deeper: { deepest: 1 } } }], m: new Map([["k", new Set([1])]]), d: new Date(0), f() {}, s: Symbol("s") }, { depth: 2 }),
      first!.toLocaleDateString("en-US", { timeZone: "UTC", weekday: "short", month: "short", day: "numeric", year: "numeric" }),
      first!.toLocaleTimeString("en-US", { timeZone: "UTC" }),
      last!.toLocaleString("en-US", { timeZone: "UTC" }),
      last!.toUTCString(),
    ].join("\n")
  },
})

export const rotate = tool({
  description: "Copy a log elsewhere and mark it",
  args: {},
  async execute(_a, { directory }) {
    const dir = mkdtempSync(path.join(os.tmpdir(), "rotate-"))
    try {
      const copy = path.join(dir, "copy.log")
      const out = createWriteStream(copy)
      createReadStream(path.join(directory, "logs/app.log")).pipe(out)
      await once(out, "finish")
      appendFileSync(copy, "2024-03-02T00:00:00Z INFO rotated\n")
      await sleep(5)
      const started = Date.now()
      await Bun.sleep(5)
      const text = readFileSync(copy, "utf8")
      return `${text.split("\n").length - 1} lines, ${path.basename(dir).startsWith("rotate-")}, ${Date.now() - started >= 4}`
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  },
})
