import type { Plugin } from "@opencode-ai/plugin"

const PATTERNS: Record<string, RegExp> = {
  "API key": /\bsk-[a-z]+-[0-9a-f]{16}\b/g,
  "URL with a password": /\b\w+:\/\/[^\s:@/]+:[^\s:@/]+@\S+/g,
  "private key": /-----BEGIN (?:RSA )?PRIVATE KEY-----[\s\S]+?-----END (?:RSA )?PRIVATE KEY-----/g,
}

const redact = (text: string, found: Set<string>): string =>
  Object.entries(PATTERNS).reduce(
    (t, [name, re]) =>
      t.replace(re, (m) => {
        found.add(name)
        return `[${name} ${m.slice(0, 3)}…]`
      }),
    text,
  )

function deep(value: unknown, found: Set<string>): unknown {
  if (typeof value === "string") return redact(value, found)
  if (Array.isArray(value)) return value.map((v) => deep(v, found))
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, deep(v, found)]))
  return value
}

export const SecretGuard: Plugin = async ({ client }) => ({
  "tool.execute.after": async (input, output) => {
    const found = new Set<string>()
    output.output = redact(output.output ?? "", found)
    output.metadata = deep(output.metadata, found)
    if (found.size === 0) return
    await client.app.log({ body: { service: "secret-guard", level: "warn", message: `${input.tool}: ${[...found].join(", ")}` } })
    await client.tui.showToast({ body: { message: `Redacted ${found.size}`, variant: "warning" } })
  },
  "experimental.text.complete": async (_input, output) => {
    output.text = redact(output.text, new Set())
  },
  "permission.ask": async (input: any, output) => {
    if (input.type === "bash" && /\b(printenv|env)\b/.test(String(input.pattern))) output.status = "deny"
    else if (input.type === "read") output.status = "allow"
  },
})
