import { tool } from "@opencode-ai/plugin"

// The name of this file is the name of the tool. Change what stands here, then
// run: helve tools test __NAME__
export default tool({
  description: "Says a text several times. An example: tell the model here what your tool does and when to use it.",
  args: {
    text: tool.schema.string().describe("what to say"),
    times: tool.schema.number().int().min(1).max(10).optional().describe("how often; once if not given"),
  },
  async execute(args, context) {
    if (args.text === "") throw new Error("There is nothing to say. Give a text.")
    const times = args.times ?? 1
    const lines: string[] = []
    for (let i = 1; i <= times; i++) {
      context.metadata({ title: `${i} of ${times}` })
      lines.push(args.text)
    }
    return { title: `said ${times} times`, output: lines.join("\n"), metadata: { times } }
  },
})
