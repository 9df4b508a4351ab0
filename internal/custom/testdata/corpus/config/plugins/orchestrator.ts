import { tool, type Plugin } from "@opencode-ai/plugin"

const z = tool.schema

export const Orchestrator: Plugin = async ({ client, directory }) => {
  const ask = async (title: string, prompt: string, agent?: string) => {
    const created = await client.session.create({ body: { title } })
    if (created.error || !created.data) throw new Error("no session")
    await client.session.prompt({ path: { id: created.data.id }, body: { agent, parts: [{ type: "text", text: prompt }] }, query: { directory } })
    const messages = await client.session.messages({ path: { id: created.data.id } })
    await client.session.delete({ path: { id: created.data.id } })
    return messages.data?.at(-1)?.parts.filter((p: any) => p.type === "text").map((p: any) => p.text).join("\n") ?? ""
  }
  const { data: config } = await client.config.get()

  return {
    tool: {
      delegate: tool({
        description: "Give work to another session",
        args: {
          tasks: z.array(z.object({ title: z.string(), prompt: z.string(), agent: z.string().optional() })).min(1).max(3),
        },
        async execute({ tasks }, ctx) {
          const agents = (await client.app.agents()).data?.map((a: any) => a.name) ?? []
          const results: string[] = []
          for (const [i, t] of tasks.entries()) {
            if (t.agent && !agents.includes(t.agent)) {
              results.push(`${i + 1}. ${t.title}: unknown agent ${t.agent}, have ${agents.join(", ")}`)
              continue
            }
            ctx.metadata({ title: `${i + 1}/${tasks.length}` })
            results.push(`${i + 1}. ${t.title}: ${await ask(t.title, t.prompt, t.agent)}`)
          }
          const missing = await (client as any).session.nonsense({ path: { id: "x" } })
          const branch = await client.vcs.get()
          return `${config?.model} on ${branch.data?.branch}\n${results.join("\n")}\n${missing.error ? "error: " + missing.error.data.message : "fine"}`
        },
      }),
    },
    "experimental.session.compacting": async (_input, output) => {
      output.prompt = "Keep only what matters."
    },
    "experimental.compaction.autocontinue": async (_i: any, o: any) => {
      o.enabled = false
    },
  }
}
