// Follows events until the session of its name has ended a call, and prints what
// came: the test cuts its connection meanwhile.

import { Helve, Problem, is } from "../../examples/typescript/helve.ts";

declare const process: { env: Record<string, string> };

const helve = new Helve({ baseURL: process.env["HELVE_URL"]!, token: process.env["HELVE_TOKEN"] });
const kinds: string[] = [];
let before = 0;

for await (const event of helve.events({ onLost: () => kinds.push("lost") })) {
  kinds.push(event.type);
  if (is(event, "reload")) {
    console.log("ready");
    continue;
  }
  if (before !== 0 && event.seq !== before + 1) console.log(`after ${before} comes ${event.seq}`);
  before = event.seq;
  if (is(event, "call.finished") && event.properties.session === "ses_end") break;
}
console.log(kinds.join(" "));

// An aborted loop ends with the reason.
const life = new AbortController();
try {
  for await (const _ of helve.events({ signal: life.signal })) life.abort(new Error("enough"));
} catch (error) {
  console.log(`ended: ${(error as Error).message}`);
}

// A call that is aborted is cancelled.
const stop = new AbortController();
try {
  await helve.do({ tool: "bash", session: "ses_stop", id: "call_stop", input: { command: "echo begun; sleep 60", description: "Wait" } }, {
    signal: stop.signal,
    onPermission: () => ({ reply: "once" }),
    onProgress: (p) => { if (String(p.metadata?.["output"]).includes("begun")) stop.abort(new Error("no more")); },
  });
} catch (error) {
  console.log(`call: ${(error as Error).message}`);
}

// What an agent asks that a call has started is asked for the call.
const found = await helve.do({ tool: "task", input: { description: "look", prompt: "find out", subagent_type: "general" } }, {
  onPermission: async (request) => {
    console.log(`asked: ${request.permission}`);
    return { reply: "once" };
  },
});
console.log(`found: ${found.output.includes("it is found")}`);

// A refusal says what it is.
try {
  await helve.getSession("ses_none");
} catch (error) {
  if (error instanceof Problem) console.log(`problem: ${error.status} ${error.code}`);
}
console.log(`calls: ${(await helve.listCalls({ limit: 1, tool: "read" })).calls.length}`);
