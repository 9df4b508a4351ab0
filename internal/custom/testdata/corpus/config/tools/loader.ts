import { tool } from "@opencode-ai/plugin"
import { createRequire } from "module"
import tty, { isatty } from "node:tty"
import assert from "node:assert"
import { parseArgs, stripVTControlCharacters, types, isDeepStrictEqual } from "node:util"
import querystring from "querystring"
import path from "path"

const load = createRequire(import.meta.url)
let colours: { red(s: string): string }
try {
  colours = require("no-such-package-at-all")
} catch (e: any) {
  colours = { red: (s) => `${e.code === "MODULE_NOT_FOUND" ? "plain" : e.code} ${s}` }
}

export default tool({
  description: "Load things by names that are made up on the way",
  args: { name: tool.schema.string().describe("A file of the project") },
  async execute({ name }, ctx) {
    const file = path.join(ctx.directory, name)
    const imported = await import(file)
    const builtin = "path"
    const again = await import(builtin)
    const { values, positionals } = parseArgs({ args: ["--all", "-o", "x", "rest"], options: { all: { type: "boolean" }, out: { type: "string", short: "o" } }, allowPositionals: true })
    assert.deepStrictEqual(values.out, "x")
    assert.throws(() => assert.equal(1, 2))
    return [
      Object.keys(imported.default).join(), isDeepStrictEqual({ a: [1] }, { a: [1] }), again.join("a", "b"),
      load("../package.json").name, load("../lib/legacy").LIMIT, load("@acme/slug").default("A b"), load("glob-match").isMatch("a.ts", "*.ts"),
      colours.red("text"), JSON.stringify(values), positionals.join(), stripVTControlCharacters("\x1b[1mbold\x1b[0m"), types.isPromise(Promise.resolve()),
      querystring.stringify({ a: [1, 2], b: "ü" }), tty.isatty(1), isatty(0), process.stdout.isTTY, String(await import("../lib/defaults.json").then((m) => m.default.limit)),
    ].join("\n")
  },
})

export const missing = tool({
  description: "Load what is not there",
  args: {},
  async execute(_args, ctx) {
    const attempt = async (work: () => unknown) => {
      try {
        return String(await work())
      } catch (e: any) {
        return e.code
      }
    }
    return [await attempt(() => load("./nope")), await attempt(() => load.resolve("fs")), await attempt(() => path.basename(load.resolve("../package.json")))].join(" ")
  },
})
