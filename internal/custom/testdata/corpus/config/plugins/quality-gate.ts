import type { Plugin } from "@opencode-ai/plugin"
import { z } from "zod"
import { EventEmitter } from "node:events"

const Config = z.object({ limits: z.object({ lines: z.number().default(3) }).default({ lines: 3 }), deny: z.array(z.string()).default(["rm -rf", "git push --force"]) })

abstract class Rule {
  abstract readonly name: string
  abstract check(args: Record<string, any>): string | null
}
class Deny extends Rule {
  readonly name = "deny"
  constructor(private words: string[]) {
    super()
  }
  check(args: Record<string, any>) {
    const hit = this.words.find((w) => args.command?.includes(w))
    return hit ? `"${hit}" is not allowed` : null
  }
}
class Length extends Rule {
  readonly name = "length"
  constructor(public limit: number) {
    super()
  }
  check({ content }: Record<string, any>) {
    const lines = content?.split("\n").length ?? 0
    return lines > this.limit ? `${lines} lines, at most ${this.limit}` : null
  }
}

class GateError extends Error {
  constructor(
    readonly rule: string,
    message: string,
  ) {
    super(`[${rule}] ${message}`)
    this.name = "GateError"
    Object.setPrototypeOf(this, GateError.prototype)
  }
}

export const QualityGate: Plugin = async ({ client }) => {
  const config = Config.parse({})
  const bus = new EventEmitter()
  const rules: Rule[] = [new Deny(config.deny), new Length(config.limits.lines)]
  const stats = { checked: 0, blocked: 0 }
  bus.on("blocked", (rule: string) => {
    stats.blocked++
    void client.app.log({ body: { service: "gate", level: "error", message: rule, extra: { ...stats } } })
  })
  return {
    "tool.execute.before": async ({ tool }, { args }) => {
      stats.checked++
      for (const rule of rules) {
        const problem = rule.check(args)
        if (!problem) continue
        bus.emit("blocked", rule.name)
        throw new GateError(rule.name, `${tool}: ${problem} (${stats.blocked} of ${stats.checked})`)
      }
    },
  }
}
