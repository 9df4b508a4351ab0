import { tool } from "@opencode-ai/plugin/tool"
import { readFile } from "fs/promises"
import { join, isAbsolute } from "path"
import { parse as parseSync, CsvError } from "mini-csv/sync"
import { parse, Parser } from "mini-csv"

type Row = Record<string, string | number>

const median = (list: number[]) => {
  const sorted = [...list].sort((a, b) => a - b)
  const mid = sorted.length >> 1
  return sorted.length % 2 ? sorted[mid]! : (sorted[mid - 1]! + sorted[mid]!) / 2
}

async function load(directory: string, file: string): Promise<string> {
  const full = isAbsolute(file) ? file : join(directory, file)
  try {
    return await readFile(full, { encoding: "utf8" })
  } catch (err) {
    const e = err as NodeJS.ErrnoException
    if (e.code === "ENOENT") throw new Error(`No such file: ${file}`, { cause: e })
    if (e.code === "EISDIR") throw new Error(`${file} is a directory (${e.message})`)
    throw e
  }
}

export const column = tool({
  description: "Statistics of a numeric column of a CSV file",
  args: { file: tool.schema.string(), column: tool.schema.string().min(1) },
  async execute({ file, column }, ctx) {
    const rows: Row[] = parseSync(await load(ctx.directory, file), { columns: true, cast: true, skip_empty_lines: true })
    if (rows.length > 0 && !(column in rows[0]!)) {
      return `Unknown column "${column}". Columns: ${Object.keys(rows[0]!).join(", ")}`
    }
    const values = rows.map((r) => r[column]).filter((v): v is number => typeof v === "number")
    if (!values.length) return "no numbers"
    const sum = values.reduce((a, b) => a + b, 0)
    const mean = sum / values.length
    const spread = Math.sqrt(values.reduce((s, v) => s + (v - mean) ** 2, 0) / values.length)
    return [
      `rows: ${rows.length} (${rows.length - values.length} without a number)`,
      `sum: ${sum.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`,
      `mean: ${mean.toFixed(3)}  median: ${median(values)}  sd: ${spread.toPrecision(4)}`,
      `min: ${Math.min(...values)}  max: ${Math.max(...values)}`,
    ].join("\n")
  },
})

export const group = tool({
  description: "Group rows of a CSV file and sum up a column",
  args: {
    file: tool.schema.string(),
    by: tool.schema.string(),
    sum: tool.schema.string(),
  },
  async execute({ file, by, sum }, ctx) {
    const text = await load(ctx.directory, file)
    const rows = await new Promise<Row[]>((ok, fail) => parse(text, { columns: true, cast: true }, (e: Error | null, r: Row[]) => (e ? fail(e) : ok(r))))
    const groups = Object.groupBy(rows, (r) => String(r[by]))
    const table = Object.entries(groups).map(([key, list]) => ({ key, total: (list ?? []).reduce((s, r) => s + (Number(r[sum]) || 0), 0) }))
    table.sort((a, b) => b.total - a.total || a.key.localeCompare(b.key))
    return table.map(({ key, total }) => `${key.padEnd(12, ".")}${String(total).padStart(8)}`).join("\n")
  },
})

export const check = tool({
  description: "Check text for being CSV",
  args: { text: tool.schema.string() },
  async execute({ text }) {
    try {
      const rows = parseSync(text, { columns: true })
      const streamed: unknown[] = []
      const parser = new Parser({ columns: true })
      parser.write(text)
      parser.end()
      for await (const row of parser) streamed.push(row)
      return `ok: ${rows.length} ${JSON.stringify(streamed)}`
    } catch (error) {
      if (error instanceof CsvError) return `${error.code}: ${error.message} ${JSON.stringify({ ...error })}`
      throw error
    }
  },
})
