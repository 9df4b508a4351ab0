import { tool } from "@opencode-ai/plugin"
import * as fs from "fs/promises"
import * as path from "path"
import * as crypto from "crypto"

const z = tool.schema

const Status = { open: "open", done: "done", dropped: "dropped" } as const
type Status = (typeof Status)[keyof typeof Status]

interface Task {
  id: string
  title: string
  status: Status
  tags: string[]
  created: string
}

class TaskStore implements AsyncIterable<Task> {
  private cache?: Map<string, Task>
  constructor(private readonly file: string) {}

  private async load(): Promise<Map<string, Task>> {
    if (this.cache) return this.cache
    try {
      const raw = await fs.readFile(this.file, "utf-8")
      this.cache = new Map(Object.entries(JSON.parse(raw) as Record<string, Task>))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
      this.cache = new Map()
    }
    return this.cache
  }

  async save(task: Task) {
    const all = await this.load()
    all.set(task.id, task)
    await fs.mkdir(path.dirname(this.file), { recursive: true })
    const temp = `${this.file}.${process.pid}.tmp`
    await fs.writeFile(temp, JSON.stringify(Object.fromEntries(all), null, 2), { encoding: "utf-8", mode: 0o600 })
    await fs.rename(temp, this.file)
  }

  async get(id: string) {
    return (await this.load()).get(id) ?? null
  }

  async *[Symbol.asyncIterator]() {
    for (const task of (await this.load()).values()) yield task
  }
}

const stores: Record<string, TaskStore> = {}
const store = (dir: string) => (stores[dir] ??= new TaskStore(path.join(dir, ".shop", "tasks.json")))
const idOf = (title: string) => crypto.createHash("sha1").update(title).digest("hex").substring(0, 6)

export const create = tool({
  description: "Create a task",
  args: {
    title: z.string().min(3).max(80).describe("What to do"),
    tags: z.array(z.string()).optional(),
    priority: z.number().int().min(1).max(5).optional().default(3),
  },
  async execute(args, ctx) {
    const task: Task = { id: idOf(args.title), title: args.title, status: Status.open, tags: args.tags ?? [], created: new Date().toISOString() }
    await store(ctx.worktree).save(task)
    return `created ${task.id} ${JSON.stringify(args)}`
  },
})

export const list = tool({
  description: "List tasks",
  args: { status: z.nativeEnum(Status).optional(), tag: z.string().optional() },
  async execute({ status, tag }, ctx) {
    const rows: string[] = []
    for await (const t of store(ctx.worktree)) {
      if (status && t.status !== status) continue
      if (tag && !t.tags.includes(tag)) continue
      rows.push(`- [${t.status === "done" ? "x" : " "}] ${t.title} (${t.id})${t.tags.length ? ` #${t.tags.join(" #")}` : ""}`)
    }
    return rows.length ? rows.join("\n") : "No tasks."
  },
})

export const finish = tool({
  description: "Finish a task",
  args: { id: z.string().length(6) },
  async execute({ id }, ctx) {
    const s = store(ctx.worktree)
    const task = await s.get(id)
    if (!task) throw new Error(`Task not found: ${id}`)
    await s.save({ ...task, status: "done" })
    const mode = (await fs.stat(path.join(ctx.worktree, ".shop", "tasks.json"))).mode & 0o777
    return `done ${task.title} ${mode.toString(8)}`
  },
})
