import { execSync, spawnSync, execFileSync } from "child_process"

export default {
  description: "Run the linter",
  args: {},
  async execute(args, context) {
    try {
      const out = execSync("sh scripts/lint.sh", { cwd: context.directory, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
      return `clean: ${out}`
    } catch (error) {
      const warnings = error.stdout.toString().trim().split("\n")
      return `exit ${error.status}, ${warnings.length} warnings\n${error.message.split("\n")[0]}\n${warnings.join("\n")}`
    }
  },
}

export const versions = {
  description: "Versions of programs",
  args: {},
  async execute() {
    const found = []
    for (const name of ["sh", "no-such-program-here"]) {
      const r = spawnSync(name, ["-c", "echo $0 runs; exit 4"], { encoding: "utf8" })
      found.push(`${name}: status ${r.status} ${r.error ? r.error.code + " " + r.error.message : r.stdout.trim()}`)
    }
    try {
      execFileSync("sh", ["-c", "echo oops >&2; exit 9"], { stdio: "pipe" })
    } catch (e) {
      found.push(`${e.status} ${e.stderr} ${e.message.trim()}`)
    }
    try {
      execSync("no-such-program-here --version", { stdio: "pipe" })
    } catch (e) {
      found.push(`${e.status} ${/not found/.test(e.stderr.toString())}`)
    }
    return found.join("\n")
  },
}
