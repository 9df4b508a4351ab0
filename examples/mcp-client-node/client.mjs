// An MCP client, written with the protocol's official SDK for Node. It starts a
// server, lists its tools, and makes a call that goes well and one that is refused.
//
//   node client.mjs helve mcp

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [command, ...args] = process.argv.slice(2);
if (!command) {
  console.error("usage: node client.mjs COMMAND [ARGUMENT …], such as: node client.mjs helve mcp");
  process.exit(64);
}

// A client that says it can be asked is asked what the rules say to ask about.
// One that can not gets an error instead, which names the rule to add.
const client = new Client({ name: "mcp-client-node", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  console.log("asked:", request.params.message.split("\n")[0]);
  return { action: "decline" };
});

// The server is a process that speaks on its standard input and output. The SDK
// gives it few variables of its own accord; these are all of ours.
await client.connect(new StdioClientTransport({ command, args, env: { ...process.env }, stderr: "inherit" }));
try {
  const { tools } = await client.listTools();
  console.log("tools:", tools.map((t) => t.name).join(" "));
  await call("glob", { pattern: "*.md" });
  await call("read", { filePath: ".env" });
} finally {
  await client.close();
}

// A call that fails is an answer like any other, marked as an error: the model is
// to make the best of it.
async function call(name, input) {
  const result = await client.callTool({ name, arguments: input });
  console.log(name, result.isError ? "failed" : "completed");
  for (const part of result.content) {
    if (part.type === "text") console.log("  " + part.text.trimEnd().replaceAll("\n", "\n  "));
  }
}
