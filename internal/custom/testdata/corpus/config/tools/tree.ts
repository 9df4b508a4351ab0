import { tool } from "@opencode-ai/plugin"
import { readdir, stat, lstat, symlink, readlink, realpath, chmod, cp, mkdtemp, rm, mkdir, unlink, appendFile, utimes } from "fs/promises"
import { readdirSync, statSync, Dirent, openSync, writeSync, closeSync, fsyncSync, readSync } from "fs"
import { join, relative, sep, basename, extname, parse, normalize, posix } from "path"
import { tmpdir } from "os"

const human = (n: number) => {
  const units = ["B", "KB", "MB"]
  let i = 0
  while (n >= 1024 && i < units.length - 1) {
    n /= 1024
    i++
  }
  return `${n.toFixed(i ? 1 : 0)} ${units[i]}`
}

async function draw(dir: string, depth: number, prefix = ""): Promise<string[]> {
  if (depth < 0) return []
  const entries: Dirent[] = (await readdir(dir, { withFileTypes: true })).filter((e) => !e.name.startsWith("."))
  entries.sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1))
  const lines: string[] = []
  for (const [i, e] of entries.entries()) {
    const last = i === entries.length - 1
    const full = join(dir, e.name)
    const size = e.isFile() ? ` (${human((await stat(full)).size)})` : e.isSymbolicLink() ? " ->" : ""
    lines.push(`${prefix}${last ? "└── " : "├── "}${e.name}${size}`)
    if (e.isDirectory()) lines.push(...(await draw(full, depth - 1, prefix + (last ? "    " : "│   "))))
  }
  return lines
}

export default tool({
  description: "Draw the tree of the project",
  args: { depth: tool.schema.number().optional() },
  async execute({ depth }, { directory }) {
    const lines = await draw(directory, depth ?? 1)
    const all = readdirSync(join(directory, "src"), { recursive: true }) as string[]
    return `${basename(directory)}\n${lines.join("\n")}\n${all.map(String).map((f) => f.split(sep).join("/")).sort().join(" ")}\n${human(123456)} ${human(5 * 1024 ** 2)}`
  },
})

export const links = tool({
  description: "Work with links and copies",
  args: {},
  async execute(_, { directory }) {
    const work = await mkdtemp(join(tmpdir(), "tree-"))
    try {
      await cp(join(directory, "src"), join(work, "copy"), { recursive: true })
      await symlink("copy", join(work, "link"))
      await chmod(join(work, "copy", "cart.ts"), 0o755)
      await utimes(join(work, "copy", "cart.ts"), new Date(1e12), new Date(1e12))
      const s = await stat(join(work, "link", "cart.ts"))
      const l = await lstat(join(work, "link"))
      await mkdir(join(work, "a", "b"), { recursive: true })
      await appendFile(join(work, "a", "log"), "one\n")
      await appendFile(join(work, "a", "log"), "two\n")
      const fd = openSync(join(work, "fd"), "w+")
      writeSync(fd, "hello fd")
      fsyncSync(fd)
      const buf = Buffer.alloc(5)
      const n = readSync(fd, buf, 0, 5, 0)
      closeSync(fd)
      const made = readdirSync(work).sort()
      await unlink(join(work, "link"))
      return [
        (s.mode & 0o777).toString(8), s.isFile(), s.mtime.toISOString(), s.mtimeMs, l.isSymbolicLink(), statSync(join(work, "a", "log")).size, n, buf.toString(),
        made.join(","), relative(work, await realpath(join(work, "copy", "..", "copy"))), await readlink(join(work, "nope")).catch((e) => e.code),
      ].join("\n")
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  },
})

export const paths = tool({
  description: "Take paths apart",
  args: { path: tool.schema.string() },
  async execute({ path }) {
    return JSON.stringify([parse(path), normalize(path), extname(path), basename(path, extname(path)), posix.join(path, "..", "x"), posix.resolve("/a", path), posix.isAbsolute(path), relative("/a/b", "/a/c/d")])
  },
})
