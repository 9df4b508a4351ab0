import { tool } from "@opencode-ai/plugin"
import { spawn, exec } from "child_process"

async function* chunks(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  while (true) {
    const { done, value } = await reader.read()
    if (done) break
    yield decoder.decode(value, { stream: true })
  }
}

export default tool({
  description: "Start programs in many ways",
  args: {},
  async execute(_, ctx) {
    const out: unknown[] = []
    const child = spawn("sh", ["-c", "sleep 0.05; echo done"], { detached: true, stdio: ["ignore", "pipe", "inherit"], cwd: ctx.directory, shell: false })
    child.unref()
    for await (const c of child.stdout) out.push(String(c))
    await new Promise<void>((done) =>
      exec("echo $COLOUR; exit 2", { env: { ...process.env, COLOUR: "blue" } }, (error, stdout, stderr) => {
        out.push(error?.code, error?.message, stdout, stderr)
        done()
      }),
    )

    const cat = Bun.spawn({ cmd: ["cat"], stdin: "pipe", stdout: "pipe" })
    cat.stdin.write("in ")
    cat.stdin.write("put")
    cat.stdin.end()
    out.push(await cat.stdout.text(), await cat.exited)

    const blob = Bun.spawn(["cat"], { stdin: new Blob(["blob"]), stdout: "pipe" })
    out.push(await new Response(blob.stdout).text())

    const failed = Bun.spawnSync(["sh", "-c", "echo o; echo e >&2; exit 4"])
    out.push(failed.exitCode, failed.success, failed.stdout.toString(), failed.stderr.toString())
    const there = Bun.spawnSync({ cmd: ["pwd"], cwd: ctx.directory, stdout: "pipe", stderr: "pipe" })
    out.push(there.stdout.toString().trim() === ctx.directory)

    let text = ""
    for await (const part of chunks(Bun.spawn(["sh", "-c", "for i in 1 2 3; do echo line$i; done"], { stdout: "pipe" }).stdout)) text += part
    out.push(text)

    const late = Bun.spawn(["sleep", "9"], { timeout: 50 })
    out.push(await late.exited, late.signalCode)
    const stopper = new AbortController()
    const stopped = Bun.spawn(["sleep", "9"], { signal: stopper.signal })
    setTimeout(() => stopper.abort(), 30)
    out.push(await stopped.exited)

    const file = Bun.file(`${ctx.directory}/said.txt`)
    await Bun.spawn(["echo", "to a file"], { stdout: file }).exited
    out.push(await file.text(), await Bun.readableStreamToText(Bun.spawn(["echo", "read"]).stdout))
    try {
      Bun.spawnSync(["no-such-program-here"])
    } catch (e: any) {
      out.push(e.code, e.message)
    }
    return JSON.stringify(out, null, 1)
  },
})
