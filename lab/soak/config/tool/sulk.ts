import { tmpdir } from "node:os"
import { tool } from "@opencode-ai/plugin"

export default tool({
  description: "Does what it should not",
  args: { how: tool.schema.string() },
  async execute(args, context) {
    if (args.how === "throw") throw new Error("no")
    const place = tmpdir() // it is made when somebody asks, and left by who is killed
    if (args.how === "wait") await new Promise((done, stop) => {
      const t = setTimeout(done, 1500)
      context.abort.addEventListener("abort", () => { clearTimeout(t); stop(new Error("aborted")) })
    })
    if (args.how === "eat") { const all = []; for (;;) all.push(new Array(1e6).fill(1.5)) }
    if (args.how === "loop") for (;;) {}
    return "done at " + place.length
  },
})
