import { z } from "zod"
import { tool } from "@opencode-ai/plugin"

const Target = z.object({ url: z.string().url(), expect: z.number().int().optional() })
type Target = z.infer<typeof Target>

async function probe(target: Target, timeout: number, signal?: AbortSignal) {
  const started = performance.now()
  try {
    const signals = [AbortSignal.timeout(timeout)]
    if (signal) signals.push(signal)
    const res = await fetch(target.url, { method: "GET", redirect: "follow", signal: AbortSignal.any(signals), headers: { "User-Agent": "shop-check/1" } })
    const body = await res.text()
    const took = Math.round(performance.now() - started)
    const good = target.expect ? res.status === target.expect : res.ok
    return { ok: good, line: `${good ? "OK  " : "FAIL"} ${res.status} ${res.statusText} ${new URL(target.url).pathname} ${body.length} bytes ${took}ms${res.redirected ? " -> " + new URL(res.url).pathname : ""}` }
  } catch (e) {
    const error = e as Error
    return { ok: false, line: `DOWN ${new URL(target.url).pathname} ${error.name}: ${error.message}` }
  }
}

export default tool({
  description: "Check that addresses answer",
  args: {
    targets: z.array(Target).nonempty().describe("What to check"),
    timeout: z.number().default(300).describe("Milliseconds"),
  },
  async execute(args, context) {
    const results = await Promise.all(args.targets.map((t) => probe(t, args.timeout ?? 300, context.abort)))
    const bad = results.filter((r) => !r.ok).length
    return results.map((r) => r.line).join("\n") + `\n${bad} of ${results.length} bad (aborted: ${context.abort.aborted})`
  },
})

export const api = tool({
  description: "Ask the items service",
  args: {
    base: z.string(),
    q: z.string().trim().optional(),
    send: z.record(z.string(), z.unknown()).optional(),
  },
  async execute({ base, q, send }) {
    const url = new URL("/items", base)
    if (q) url.searchParams.set("q", q)
    const res = await fetch(url)
    if (!res.ok) throw new Error(`HTTP ${res.status}`)
    const data = (await res.json()) as { items: Array<{ id: number; name: string }>; query: string }
    let echoed = ""
    if (send) {
      const headers = new Headers({ "Content-Type": "application/json", Authorization: `Bearer ${btoa("ann:secret")}` })
      const r = await fetch(`${base}/echo`, { method: "POST", headers, body: JSON.stringify(send) })
      echoed = JSON.stringify(await r.json())
      const form = await fetch(`${base}/echo`, { method: "PUT", body: new URLSearchParams({ a: "1 2", b: "ü" }) })
      echoed += JSON.stringify(await form.json())
    }
    return `${url.search} ${res.headers.get("x-total")} ${res.headers.get("content-type")}\n${data.items.map((i) => `#${i.id} ${i.name}`).join("\n")}\nquery=${data.query} ${echoed}`
  },
})

export const links = tool({
  description: "Links of a page",
  args: { url: z.string() },
  async execute({ url }) {
    const html = await (await fetch(url)).text()
    const title = html.match(/<title>([^<]*)<\/title>/i)?.[1]?.replaceAll("&amp;", "&")
    const found = Array.from(html.matchAll(/<a\s+href=(["'])(?<to>.*?)\1/g), (m) => new URL(m.groups!.to!, url).href)
    return `${title}\n${found.join("\n")}`
  },
})
