import { tool } from "@opencode-ai/plugin"

export default tool({
  description: "Counts the lines of a file",
  args: { path: tool.schema.string().describe("the file") },
  async execute(args, context) {
    const text = await Bun.file(context.directory + "/" + args.path).text()
    const said = await Bun.$`echo counted`.text()
    return text.split("\n").length + " lines, " + said.trim()
  },
})
