import { tool } from "@opencode-ai/plugin"
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from "crypto"
import { readFileSync, createReadStream, statSync } from "fs"
import { join } from "path"
import { pipeline } from "stream/promises"
import zlib, { gzipSync, gunzipSync } from "zlib"
import { promisify } from "util"

const gunzip = promisify(zlib.gunzip)

export default tool({
  description: "Hash a file",
  args: {
    file: tool.schema.string(),
    algorithm: tool.schema.enum(["md5", "sha1", "sha256", "sha512"]).optional(),
    encoding: tool.schema.enum(["hex", "base64"]).optional(),
  },
  async execute({ file, algorithm = "sha256", encoding = "hex" }, { directory }) {
    const full = join(directory, file)
    const whole = createHash(algorithm).update(readFileSync(full)).digest(encoding)
    const streamed = createHash(algorithm)
    await pipeline(createReadStream(full, { highWaterMark: 16 }), streamed)
    const same = streamed.digest(encoding) === whole
    return `${algorithm}:${whole} ${statSync(full).size} bytes${same ? "" : " DIFFERENT"}`
  },
})

export const sign = tool({
  description: "Sign and verify a text",
  args: { text: tool.schema.string(), key: tool.schema.string() },
  async execute({ text, key }) {
    const mac = (s: string) => createHmac("sha256", key).update(s, "utf8").digest()
    const a = mac(text)
    const web = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
    return [
      a.toString("base64url"),
      timingSafeEqual(a, mac(text)),
      timingSafeEqual(a, mac(text + "!")),
      Buffer.from(web).toString("hex").slice(0, 16),
      Bun.hash(text).toString(),
      new Bun.CryptoHasher("sha1").update(text).digest("hex"),
      randomBytes(8).toString("hex").length,
      /^[0-9a-f-]{36}$/.test(randomUUID()),
      crypto.randomUUID().length,
      Bun.randomUUIDv7().length,
    ].join("\n")
  },
})

export const pack = tool({
  description: "Pack a text and unpack it again",
  args: { text: tool.schema.string() },
  async execute({ text }) {
    const packed = gzipSync(text)
    const back = (await gunzip(packed)).toString()
    const deflated = zlib.inflateSync(zlib.deflateSync(Buffer.from(text))).toString("utf8")
    let broken = ""
    try {
      gunzipSync(Buffer.from("not packed"))
    } catch (e: any) {
      broken = `${e.code}: ${e.message}`
    }
    return `${packed[0]} ${packed[1]} ${back === text} ${deflated === text} ${broken}`
  },
})

export const bytes = tool({
  description: "Look at bytes",
  args: { text: tool.schema.string() },
  async execute({ text }) {
    const b = Buffer.from(text, "utf8")
    const view = new DataView(new Uint8Array([1, 2, 3, 4]).buffer)
    const enc = new TextEncoder()
    return [
      b.length, b.toString("hex"), b.toString("base64"), Buffer.from(b.toString("base64"), "base64").equals(b), b.subarray(0, 3).toString("latin1"),
      Buffer.concat([b, Buffer.from([0x21])]).toString(), Buffer.byteLength(text), b.readUInt16BE(0), b.indexOf("b"), b.includes("zz"),
      view.getUint32(0), view.getUint16(1, true), enc.encode(text).byteLength, new TextDecoder("utf-8", { fatal: false }).decode(new Uint8Array([0xff, 0x41])),
      atob(btoa("abc")), Buffer.alloc(3, "ab").toString(), JSON.stringify(Buffer.from("hi")), Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.isBuffer(b.slice(1)),
      [...b.entries()].slice(0, 2).join(";"), b.toString("ascii", 0, 2), Buffer.from("ff0", "hex").length, Buffer.from([256, -1, 1.7]).toJSON().data.join(),
    ].join("\n")
  },
})
