import { tool } from "@opencode-ai/plugin"
import http, { type IncomingMessage } from "http"
import https from "https"

// From before there was fetch.
function get(url: string): Promise<{ status?: number; type?: string; body: string }> {
  const lib = url.startsWith("https") ? https : http
  return new Promise((resolve, reject) => {
    lib
      .get(url, { headers: { accept: "*/*" } }, (res: IncomingMessage) => {
        let body = ""
        res.setEncoding("utf8")
        res.on("data", (chunk) => (body += chunk))
        res.on("end", () => resolve({ status: res.statusCode, type: res.headers["content-type"], body }))
      })
      .on("error", reject)
  })
}

function post(url: string, data: unknown): Promise<string> {
  const { hostname, port, pathname } = new URL(url)
  const body = JSON.stringify(data)
  return new Promise((resolve, reject) => {
    const req = http.request(
      { hostname, port, path: pathname, method: "POST", headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }, timeout: 3000 },
      (res) => {
        const parts: Buffer[] = []
        res.on("data", (c) => parts.push(c))
        res.on("end", () => resolve(Buffer.concat(parts).toString()))
      },
    )
    req.on("error", reject)
    req.on("timeout", () => req.destroy(new Error("timeout")))
    req.write(body)
    req.end()
  })
}

export default tool({
  description: "Ask a server",
  args: { base: tool.schema.string().url() },
  async execute({ base }) {
    const lines = [JSON.stringify(await get(`${base}/ok`)), JSON.stringify(await get(`${base}/missing`)), await post(`${base}/echo`, { ü: 1 })]
    lines.push(await get("http://127.0.0.1:1/").then(() => "?", (e) => `${e.code}`))
    return lines.join("\n")
  },
})
