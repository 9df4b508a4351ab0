// A worker of a few lines, as one would write it for Bun: it loads a tool file, tells what it has, and answers calls, a line of JSON each.
import { z } from "zod"
process.stdout.write("ready\n")
let tools
for await (const line of console) {
  const ask = JSON.parse(line)
  if (ask.load) {
    tools = await import(ask.load)
    const told = Object.entries(tools).map(([name, t]) => ({ name, description: t.description, schema: z.toJSONSchema(z.object(t.args), { io: "input" }) }))
    process.stdout.write(JSON.stringify(told) + "\n")
  } else if (ask.memory) {
    process.stdout.write(JSON.stringify(process.memoryUsage().rss) + "\n")
  } else {
    process.stdout.write(JSON.stringify(await tools[ask.tool].execute(ask.args, {})) + "\n")
  }
}
