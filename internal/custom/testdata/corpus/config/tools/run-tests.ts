import { tool } from "@opencode-ai/plugin"
import path from "path"
import { existsSync } from "fs"

const z = tool.schema

type Summary = { passed: number; failed: number; failures: string[] }

function parse(output: string): Summary {
  const failures = [...output.matchAll(/^FAIL\s+(.+)$/gm)].map((m) => m[1])
  const m = /(?<passed>\d+) passed, (?<failed>\d+) failed/.exec(output)
  return { passed: Number(m?.groups?.passed ?? 0), failed: Number(m?.groups?.failed ?? 0), failures }
}

export default tool({
  description: `Run the project's tests.
Gives a summary and the failures.`,
  args: {
    suite: z.enum(["all", "broken", "unit"]).default("all").describe("Which tests"),
    verbose: z.boolean().optional(),
    timeout: z.number().min(1).default(30).describe("Seconds"),
  },
  async execute({ suite, verbose, timeout }, { directory, metadata }) {
    const script = path.join(directory, "scripts", "test.sh")
    if (!existsSync(script)) throw new Error(`No test script at ${script}`)
    metadata({ title: `Testing ${suite ?? "(unset)"}`, metadata: { suite } })
    const proc = Bun.spawn(["sh", script, suite ?? "all"], {
      cwd: directory,
      stdout: "pipe",
      stderr: "pipe",
      env: { ...process.env, CI: "1" },
    })
    const timer = setTimeout(() => proc.kill(), (timeout ?? 30) * 1000)
    const [stdout, stderr, code] = await Promise.all([
      new Response(proc.stdout).text(),
      new Response(proc.stderr).text(),
      proc.exited,
    ])
    clearTimeout(timer)
    const summary = parse(stdout + stderr)
    return {
      title: code === 0 ? "Tests pass" : `Tests fail (${code})`,
      output: [
        `${summary.passed} passed, ${summary.failed} failed`,
        ...summary.failures.map((f) => `- ${f}`),
        verbose ? stdout : "",
      ]
        .filter(Boolean)
        .join("\n"),
      metadata: { ...summary, code, killed: proc.killed, signal: proc.signalCode },
    }
  },
})
