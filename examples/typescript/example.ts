// Runs a command through a helve server: starts the call, shows what it prints
// while it prints it, answers what it asks, and prints the result.
//
//   HELVE_URL=http://127.0.0.1:4096 HELVE_TOKEN=… node dist/example.js 'make test' [--allow]

import { Helve, Problem } from "./helve.ts";

// All that is used of Node, so that its types are not needed.
declare const process: {
  argv: string[];
  env: Record<string, string | undefined>;
  exitCode?: number;
  stdout: { write(text: string): void };
};

const args = process.argv.slice(2);
const allow = args.includes("--allow");
const command = args.find((a) => !a.startsWith("--")) ?? "echo hello";

const helve = new Helve({
  baseURL: process.env["HELVE_URL"] ?? "http://127.0.0.1:4096",
  token: process.env["HELVE_TOKEN"],
});

let shown = "";

try {
  const info = await helve.getInfo();
  console.log(`helve ${info.version} in ${info.directory}`);
  const result = await helve.do({ tool: "bash", input: { command, description: "Run the command of the example" } }, {
    onPermission: (request) => {
      console.log(`asked: ${request.permission} ${request.patterns.join(", ")}: ${allow ? "allowed once" : "rejected"}`);
      return allow ? { reply: "once" } : { reply: "reject", message: "Run the example with --allow to allow it." };
    },
    onProgress: (progress) => {
      const output = String(progress.metadata?.["output"] ?? "");
      process.stdout.write(output.startsWith(shown) ? output.slice(shown.length) : output);
      shown = output;
    },
  });
  console.log(`done: ${result.title}, exit ${result.metadata["exit"]}`);
} catch (error) {
  process.exitCode = 1;
  if (error instanceof Problem) console.log(`failed: ${error.message}${error.hint ? `\n${error.hint}` : ""}`);
  else console.log(`failed: ${error}. Does a server run at ${helve.baseURL}?`);
}
