import { tool } from "@opencode-ai/plugin"
import { promisify } from "util"
import { execFile, exec as execCb } from "child_process"
import { readFile, writeFile, copyFile, rename, access, constants, rm } from "node:fs/promises"
import path from "node:path"

const execFileAsync = promisify(execFile)
const exec = promisify(execCb)

type Entry = { hash: string; type: string; scope?: string; subject: string }
const LINE = /^(?<hash>\w+) (?<type>\w+)(?:\((?<scope>[^)]+)\))?!?: (?<subject>.+)$/

class ChangelogWriter {
  static readonly titles: Record<string, string> = { feat: "Features", fix: "Fixes" }
  private readonly entries: Entry[] = []
  skipped = 0

  add(line: string): this {
    const groups = LINE.exec(line)?.groups
    if (!groups) {
      this.skipped++
      return this
    }
    this.entries.push({ hash: groups.hash!, type: groups.type!, scope: groups.scope, subject: groups.subject! })
    return this
  }

  get size() {
    return this.entries.length
  }

  render(version: string): string {
    const out = [`## ${version}`, ""]
    for (const type of new Set(this.entries.map((e) => e.type))) {
      out.push(`### ${ChangelogWriter.titles[type] ?? type}`, "")
      for (const e of this.entries.filter((x) => x.type === type)) out.push(`- ${e.scope ? `**${e.scope}**: ` : ""}${e.subject} (${e.hash})`)
      out.push("")
    }
    return out.join("\n")
  }
}

async function exists(file: string) {
  return access(file, constants.R_OK).then(() => true, () => false)
}

export default tool({
  description: "Write the changelog of the next version",
  args: {
    version: tool.schema.string().describe("Like 1.5.0"),
    since: tool.schema.string().optional(),
    dryRun: tool.schema.boolean().default(true),
  },
  async execute({ version, since, dryRun }, { directory }) {
    const range = since ? `${since}..HEAD` : "HEAD"
    let stdout: string
    try {
      ;({ stdout } = await execFileAsync("git", ["log", range, "--pretty=%h %s"], { cwd: directory }))
    } catch (err: any) {
      return `git said no: code ${err.code}, ${err.stderr.split("\n")[0]}`
    }
    const writer = stdout.trim().split("\n").reduce((w, l) => w.add(l), new ChangelogWriter())
    const text = writer.render(version)
    if (dryRun) return `${text}(${writer.size} entries, ${writer.skipped} skipped)`
    const file = path.join(directory, "CHANGELOG.md")
    await copyFile(file, file + ".bak")
    const old = await readFile(file, "utf8")
    await writeFile(file + ".tmp", old.replace("# Changelog\n\n", `# Changelog\n\n${text}\n`))
    await rename(file + ".tmp", file)
    const kept = await exists(file + ".bak")
    await rm(file + ".bak")
    const { stdout: words } = await exec("wc -l < CHANGELOG.md", { cwd: directory })
    return `wrote ${path.basename(file)}, backup ${kept} ${await exists(file + ".bak")}, ${Number(words)} lines`
  },
})
