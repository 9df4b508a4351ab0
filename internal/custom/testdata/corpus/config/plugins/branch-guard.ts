import type { Plugin } from "@opencode-ai/plugin"
import notifier from "notify-lite"

const PROTECTED = new Set(["main", "master"])

async function branchOf($: any, cwd: string): Promise<string | undefined> {
  try {
    return (await $`git symbolic-ref --short HEAD`.cwd(cwd).quiet().text()).trim()
  } catch {
    return undefined
  }
}

export const BranchGuard: Plugin = async ({ $, worktree, client }) => {
  const told: string[] = []
  notifier.on("sent", (text: string) => told.push(text))
  const notify = (message: string) =>
    new Promise<void>((resolve, reject) => notifier.notify({ title: "guard", message }, (err: Error | null) => (err ? reject(err) : resolve())))
  return {
    "tool.execute.before": async (input, output) => {
      if (input.tool !== "bash") return
      const command: string = output.args.command ?? ""
      if (!/^git\s+(push|commit)\b/.test(command)) return
      const branch = await branchOf($, worktree)
      if (branch && PROTECTED.has(branch)) {
        await notify(`no ${command.split(/\s+/)[1]} on ${branch}`)
        throw new Error(`Refusing "${command}" on protected branch ${branch}. Make a branch first. [${told.at(-1)}]`)
      }
    },
    "permission.ask": async (input: any, output) => {
      if (input.metadata?.force) output.status = "deny"
    },
  }
}
