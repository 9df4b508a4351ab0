// The ways a file may export tools.
import { tool } from "@opencode-ai/plugin"
export * from "../lib/more"
export * as all from "../lib/more"
export type { Finding } from "../lib/types"

const first = tool({ description: "Exported by another name", args: {}, execute: async () => "first" })
export { first as renamed }

class Greeter {
  description = "An object of a class"
  args = { name: tool.schema.string() }
  private greeting = "Hello"
  async execute({ name }: { name: string }) {
    return `${this.greeting}, ${name}`
  }
}
export const greeter = new Greeter()

export const frozen = Object.freeze(
  tool({
    description: "Can not be changed",
    args: {},
    execute: async () => ({ title: "frozen", output: "ice", attachments: [{ type: "file", mime: "text/plain", url: "data:text/plain,ice" }] }),
  }),
)

export const context = tool({
  description: "What the context has",
  args: {},
  async execute(_args, { sessionID, messageID, ...rest }) {
    return `${sessionID} ${messageID} ${Object.keys(rest).filter((k) => k !== "callID").sort().join(",")}`
  },
})

export default class Static {
  static description = "a class is no object"
  static args = {}
  static async execute() {
    return "never"
  }
}
