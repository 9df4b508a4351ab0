import { tool } from "@opencode-ai/plugin"
import { $ } from "bun"
import { tmpdir } from "os"
import { join } from "path"

$.nothrow()

export const pipeline = tool({
  description: "Count files by ending",
  args: { dir: tool.schema.string().default("src") },
  async execute({ dir }, { directory }) {
    const out = await $`find ${dir ?? "src"} -type f | sed 's/.*\.//' | sort | uniq -c | sort -rn`.cwd(directory).text()
    return out.split("\n").map((l) => l.trim()).filter(Boolean).join("\n")
  },
})

export const quoting = tool({
  description: "Words that shells trip over",
  args: { words: tool.schema.array(tool.schema.string()) },
  async execute({ words }, { directory }) {
    const first = words[0] ?? ""
    const parts = [
      await $`printf '<%s>' ${words}`.text(),
      await $`printf '<%s>' "${first} in quotes"`.text(),
      await $`printf '<%s>' 'single ${first}'`.text(),
      await $`printf '<%s>' pre${first}post`.text(),
      await $`printf '<%s>' --name=${first}`.text(),
      await $`printf '<%s>' ${{ raw: "a b 'c d'" }}`.text(),
      await $`printf '<%s>' ${42} ${true}`.text(),
      await $`echo ${first} > ${join(directory, "out.txt")}`.text(),
      await $`cat < ${join(directory, "out.txt")}`.text(),
      await $`printf '<%s>' ${$.escape(first)}`.text(),
    ]
    return parts.join("\n")
  },
})

export const chains = tool({
  description: "And, or, redirects",
  args: {},
  async execute(_args, { directory }) {
    const sh = $.cwd?.(directory) ?? $
    const a = await $`false || echo fallback`.quiet()
    const b = await $`true && echo yes && false`.quiet()
    const c = await $`sh -c "echo both; echo err >&2" 2>&1`.cwd(directory).quiet()
    const d = await $`sh -c "echo both; echo err >&2" 2> /dev/null`.cwd(directory).quiet()
    const e = await $`cd src && ls | sort`.cwd(directory).quiet().text()
    const f = await $`FOO=bar sh -c 'echo $FOO'`.text()
    const g = await $`echo $SHOP_REGION $NOT_SET end`.text()
    const h = await $`echo $(echo inner) "$(echo quoted  words)"`.text()
    const i = await $`ls docs/adr/*.md`.cwd(directory).text()
    const j = await $`echo hi >> log.txt; echo ho >> log.txt; cat log.txt`.cwd(directory).text()
    const k = await $`no-such-program-here --flag`.quiet()
    const l = await $`grep -c nothing README.md`.cwd(directory).quiet()
    const m = await $`echo '{"a":[1]}'`.json()
    const n = await $`echo env is $LOCAL`.env({ ...process.env, LOCAL: "set" }).text()
    const o = await $`cat < ${new Response("from a response")}`.text()
    const p = await $`cat`.quiet().text().catch((err) => String(err))
    return [
      a.exitCode, a.stdout.toString(), b.exitCode, b.text(), c.stdout.toString(), d.stdout.toString(), d.stderr.length, e, f, g, h, i, j,
      k.exitCode, k.stderr.toString(), l.exitCode, l.stdout.toString(), JSON.stringify(m), n, o, p, typeof sh,
    ].join("|")
  },
})

export const failing = tool({
  description: "A command that fails",
  args: { throws: tool.schema.boolean() },
  async execute({ throws }) {
    try {
      const r = await $`sh -c "echo partly; echo broken >&2; exit 7"`.throws(throws).quiet()
      return `code ${r.exitCode} out ${r.stdout} err ${r.stderr}`
    } catch (e) {
      if (e instanceof $.ShellError || (e as any).name === "ShellError") {
        const err = e as any
        return `${err.name}: ${err.message}; ${err.exitCode}; ${err.stdout.toString().trim()}; ${err.stderr.toString().trim()}; ${e instanceof Error}`
      }
      throw e
    }
  },
})

export const scratch = tool({
  description: "Work in a folder of one's own",
  args: {},
  async execute() {
    const dir = join(tmpdir(), "shop-scratch")
    await $`mkdir -p ${dir}/a/b`.quiet()
    await $`touch ${dir}/a/one.txt ${dir}/a/b/two.txt`.quiet()
    const listed = await $`ls ${dir}/a | sort`.text()
    await $`mv ${dir}/a/one.txt ${dir}/a/b/`.quiet()
    const moved = await $`ls ${dir}/a/b | sort`.text()
    const blob = await $`printf bytes`.arrayBuffer()
    await $`rm -rf ${dir}`.quiet()
    const gone = await $`test -d ${dir}`.quiet()
    const where = await $`pwd`.cwd("/").text()
    return `${listed.split("\n").join(" ")}; ${moved.split("\n").join(" ")}; ${blob.byteLength}; ${gone.exitCode}; ${where.trim()}`
  },
})
