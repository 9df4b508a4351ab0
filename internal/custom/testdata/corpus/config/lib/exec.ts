import { spawn, type SpawnOptions } from "node:child_process"

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a program and gathers what it prints. */
export function run(cmd: string, args: readonly string[], options: SpawnOptions & { input?: string } = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const { input, ...rest } = options
    const child = spawn(cmd, [...args], { stdio: ["pipe", "pipe", "pipe"], ...rest })
    let stdout = ""
    let stderr = ""
    child.stdout?.on("data", (d: Buffer) => (stdout += d.toString()))
    child.stderr?.on("data", (d: Buffer) => (stderr += d.toString()))
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, stdout, stderr }))
    if (input !== undefined) child.stdin?.write(input)
    child.stdin?.end()
  })
}
