import { Database } from "bun:sqlite"
import { tool } from "@opencode-ai/plugin"
import { mkdirSync } from "fs"
import { dirname, join } from "path"

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    body TEXT,
    weight REAL DEFAULT 1.5
  );
  CREATE UNIQUE INDEX IF NOT EXISTS notes_topic ON notes(topic);
`

let db: Database | null = null
function open(directory: string): Database {
  if (db) return db
  const file = join(directory, ".shop", "notes.db")
  mkdirSync(dirname(file), { recursive: true })
  db = new Database(file, { create: true })
  db.exec("PRAGMA journal_mode = DELETE;")
  db.exec(SCHEMA)
  return db
}

interface Note {
  id: number
  topic: string
  body: string | null
  weight: number
}

export const add = tool({
  description: "Keep a note",
  args: { topic: tool.schema.string(), body: tool.schema.string().optional() },
  async execute({ topic, body }, ctx) {
    const notes = open(ctx.directory)
    try {
      const { lastInsertRowid, changes } = notes.prepare("INSERT INTO notes (topic, body) VALUES (?, ?)").run(topic, body ?? null)
      return `note ${lastInsertRowid} (${changes} change)`
    } catch (e: any) {
      return `not kept: ${e.name} ${e.code} ${e.message}`
    }
  },
})

export const find = tool({
  description: "Find notes",
  args: { like: tool.schema.string() },
  async execute({ like }, ctx) {
    const q = open(ctx.directory).query<Note, { $like: string }>("SELECT * FROM notes WHERE topic LIKE $like OR body LIKE $like ORDER BY id")
    const rows = q.all({ $like: `%${like}%` })
    const count = open(ctx.directory).query("SELECT count(*) AS n, max(weight) AS w FROM notes").get() as { n: number; w: number }
    return `${rows.map((r) => JSON.stringify(r)).join("\n") || "none"}\nof ${count.n}, ${count.w}, ${JSON.stringify(q.values({ $like: "%a%" }))}`
  },
})

export const bulk = tool({
  description: "Keep many notes or none",
  args: { topics: tool.schema.array(tool.schema.string()) },
  async execute({ topics }, ctx) {
    const notes = open(ctx.directory)
    const insert = notes.prepare("INSERT INTO notes (topic) VALUES ($topic)")
    const all = notes.transaction((list: string[]) => {
      for (const topic of list) insert.run({ $topic: topic })
      return list.length
    })
    let said: string
    try {
      said = `${all(topics)} kept`
    } catch (e) {
      said = `none kept: ${(e as Error).message}`
    }
    const { n } = notes.query("SELECT count(*) n FROM notes").get() as any
    return `${said}, ${n} in all`
  },
})

export const sql = tool({
  description: "Run a query",
  args: { query: tool.schema.string() },
  async execute({ query }, ctx) {
    if (!/^\s*select/i.test(query)) throw new Error("Only SELECT is allowed")
    const rows = open(ctx.directory).query(query).all()
    return JSON.stringify(rows)
  },
})
