// How the file tools fail, since agents read the messages.
import { tool } from "@opencode-ai/plugin"
import fs, { promises as fsp } from "fs"
import { exists } from "fs/promises"
import { join } from "path"

const attempt = async (label: string, work: () => unknown) => {
  try {
    const value = await work()
    return `${label}: ${typeof value === "string" ? value : JSON.stringify(value)}`
  } catch (e: any) {
    return `${label}: ${e.name} ${e.code} ${e.errno} ${e.syscall} ${e.message}`
  }
}

export default tool({
  description: "Try things with files that fail",
  args: {},
  async execute(_, { directory: d }) {
    const at = (...p: string[]) => join(d, ...p)
    const lines = [
      await attempt("read", () => fs.readFileSync(at("none.txt"))),
      await attempt("read later", () => fsp.readFile(at("none.txt"))),
      await attempt("read a folder", () => fs.readFileSync(at("src"), "utf8")),
      await attempt("write below a file", () => fsp.writeFile(at("README.md", "x"), "x")),
      await attempt("write in no folder", () => fs.writeFileSync(at("no", "x"), "x")),
      await attempt("mkdir", () => fs.mkdirSync(at("src"))),
      await attempt("mkdir deep", () => fsp.mkdir(at("no", "deep"))),
      await attempt("rmdir", () => fs.rmdirSync(at("src"))),
      await attempt("unlink", () => fsp.unlink(at("none"))),
      await attempt("rm", () => fs.rmSync(at("none"))),
      await attempt("rm folder", () => fs.rmSync(at("src"))),
      await attempt("rm force", () => fs.rmSync(at("none"), { force: true })),
      await attempt("rename", () => fs.renameSync(at("none"), at("other"))),
      await attempt("copy", () => fsp.copyFile(at("none"), at("other"))),
      await attempt("copy excl", () => fs.copyFileSync(at("README.md"), at("package.json"), fs.constants.COPYFILE_EXCL)),
      await attempt("stat", () => fs.statSync(at("none"))),
      await attempt("stat quiet", () => String(fs.statSync(at("none"), { throwIfNoEntry: false }))),
      await attempt("readdir", () => fs.readdirSync(at("README.md"))),
      await attempt("access", () => fs.accessSync(at("none"))),
      await attempt("realpath", () => fs.realpathSync(at("none"))),
      await attempt("open", () => fsp.open(at("none"), "r")),
      await attempt("write new only", () => fsp.writeFile(at("README.md"), "x", { flag: "wx" })),
      await attempt("exists", async () => [await exists(at("src")), await fsp.exists?.(at("none")), fs.existsSync("")]),
      await attempt("bun file", () => Bun.file(at("none")).text()),
      await attempt("callback", () => new Promise((ok, no) => fs.readFile(at("none"), (err, data) => (err ? no(err) : ok(data))))),
      await attempt("bad argument", () => fs.readFileSync(undefined as any)),
      await attempt("bad data", () => fs.writeFileSync(at("x"), { a: 1 } as any)),
    ]
    return lines.join("\n")
  },
})

export const uncaught = tool({
  description: "Read a file that is not there",
  args: { how: tool.schema.enum(["sync", "async", "shell", "json", "type", "text", "object", "custom", "undefined", "aggregate", "fetch", "spawn"]) },
  async execute({ how }, { directory }) {
    switch (how) {
      case "sync":
        return fs.readFileSync(join(directory, "none.txt"), "utf8")
      case "async":
        return await fsp.readFile(join(directory, "none.txt"), "utf8")
      case "shell":
        return await Bun.$`sh -c "echo out; echo err >&2; exit 5"`.quiet().text()
      case "json":
        return JSON.parse("not json")
      case "type":
        return (null as any).length
      case "text":
        throw "just text"
      case "object":
        throw { message: "from an object", code: 7 }
      case "custom": {
        class QuotaError extends Error {
          override name = "QuotaError"
          constructor(readonly limit: number) {
            super(`over the limit of ${limit}`)
          }
        }
        throw new QuotaError(3)
      }
      case "undefined":
        throw undefined
      case "aggregate":
        return await Promise.any([Promise.reject(new Error("a")), Promise.reject(new Error("b"))])
      case "fetch":
        return await (await fetch("http://127.0.0.1:1/")).text()
      case "spawn":
        return String(Bun.spawn(["no-such-program-here"]).pid)
    }
  },
})
