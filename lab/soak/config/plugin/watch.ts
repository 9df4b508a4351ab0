export const Watch = async ({ client }) => {
  let seen = 0
  return {
    "tool.execute.before": async (input, output) => { seen++; if (output.args?.text === "refused") throw new Error("it says no") },
    "tool.execute.after": async (input, output) => { output.metadata = { ...output.metadata, seen } },
    event: async ({ event }) => { if (event.type === "todo.updated") await client.app.log({ body: { service: "watch", level: "info", message: "todo" } }) },
  }
}
