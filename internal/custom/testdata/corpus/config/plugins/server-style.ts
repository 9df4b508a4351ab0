import { tool } from "@opencode-ai/plugin"

interface Options {
  greeting?: string
}

export default {
  id: "shop.greeter",
  server: async (input: { directory: string; serverUrl: URL }, options?: Options) => {
    const greeting = options?.greeting ?? "hello"
    return {
      tool: {
        greet: tool({
          description: "Greets somebody",
          args: { name: tool.schema.string() },
          execute: async ({ name }) => ({ title: greeting, output: `${greeting}, ${name}`, metadata: { protocol: input.serverUrl.protocol } }),
        }),
      },
      event: async () => {},
    }
  },
} satisfies { id: string; server: unknown }

export const ignored = "not looked at"
