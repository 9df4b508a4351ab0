> globalThis.EE = require("events"); globalThis.os = require("os");
new EE() instanceof EE
EE.EventEmitter === EE
typeof EE.call({})
(() => { const e = new EE(), out = []; e.on("a", (x, y) => out.push(x + y)); e.once("a", () => out.push("once")); return [e.emit("a", 1, 2), e.emit("a", 3, 4), e.emit("b"), out, e.listenerCount("a"), e.eventNames()]; })()
(() => { const e = new EE(), out = [], f = () => out.push(1); e.on("a", f); e.on("a", f); e.off("a", f); e.emit("a"); e.removeAllListeners(); e.emit("a"); return out; })()
(() => { const e = new EE(), out = []; e.on("a", () => out.push(2)); e.prependListener("a", () => out.push(1)); e.prependOnceListener("a", () => out.push(0)); e.emit("a"); e.emit("a"); return out; })()
(() => { const e = new EE(), out = []; e.on("newListener", (n) => out.push("new " + n)); e.on("removeListener", (n) => out.push("gone " + n)); const f = () => {}; e.on("x", f); e.off("x", f); return out; })()
new EE().emit("error", new Error("boom"))
new EE().emit("error", "text")
new EE().emit("error", { a: 1 })
new EE().emit("error")
new EE().on("a", 5)
new EE().on("a")
(() => { const e = new EE(); e.setMaxListeners(3); return [e.getMaxListeners(), EE.defaultMaxListeners]; })()
new EE().setMaxListeners(-1)
(() => { const e = new EE(), f = () => {}; e.once("a", f); return [e.listeners("a")[0] === f, e.rawListeners("a")[0] === f, e.rawListeners("a")[0].listener === f]; })()
(() => { class My extends EE { constructor() { super(); this.x = 1; } } const m = new My(); let got; m.on("a", function () { got = this === m; }); m.emit("a"); return got; })()
(() => { function Old() { EE.call(this); } require("util").inherits(Old, EE); const o = new Old(); let n = 0; o.on("a", () => n++); o.emit("a"); return n; })()
await EE.once((() => { const e = new EE(); queueMicrotask(() => e.emit("go", 1, 2)); return e; })(), "go")
await EE.once((() => { const e = new EE(); queueMicrotask(() => e.emit("error", new Error("bad"))); return e; })(), "go")
await (async () => { const e = new EE(); const all = []; setTimeout(() => { e.emit("x", 1); e.emit("x", 2); }, 1); for await (const [v] of EE.on(e, "x")) { all.push(v); if (v === 2) break; } return all; })()
await new Promise((r) => setTimeout(r, 1, "later"))
await new Promise((r) => { const out = []; setTimeout(() => { out.push("t"); r(out); }, 2); queueMicrotask(() => out.push("m")); Promise.resolve().then(() => out.push("p")); out.push("s"); })
await new Promise((r) => { let n = 0; const t = setInterval(() => { if (++n === 3) { clearInterval(t); r(n); } }, 1); })
await new Promise((r) => { const t = setTimeout(() => r("not cleared"), 1); clearTimeout(t); setTimeout(() => r("cleared"), 5); })
await new Promise((r) => setImmediate((v) => r(v), "now"))
typeof setTimeout(() => {}, 0)
setTimeout(() => {}, 0).constructor.name
typeof +setTimeout(() => {}, 0)
setTimeout(() => {}, 0).unref().hasRef !== undefined
setTimeout("x")
clearTimeout(undefined)
clearTimeout(null)
clearTimeout(12345)
await require("timers/promises").setTimeout(1, "v")
await require("timers/promises").setImmediate("v")
await new Promise((r) => process.nextTick((...a) => r(a), 1, 2))
process.nextTick(5)
queueMicrotask(5)
structuredClone({ a: [1, new Date(0), new Map([[1, 2]]), new Set([3]), /x/g, new Uint8Array([1])], n: null, u: undefined })
(() => { const o = {}; o.o = o; const c = structuredClone(o); return c.o === c && c !== o; })()
structuredClone(() => {})
structuredClone(Symbol("a"))
structuredClone(Object.assign(new RangeError("x"), { extra: 1 })).name
structuredClone()
typeof performance.now()
performance.now() <= performance.now()
performance.timeOrigin > 1e12
typeof process.pid
process.platform
process.arch === os.arch()
process.argv.length >= 2
typeof process.cwd()
process.version[0]
process.versions.bun
typeof process.versions.node
process.env.NOPE_NOT_SET
"NOPE_NOT_SET" in process.env
(process.env.HELVE_T1 = 5, process.env.HELVE_T1)
(process.env.HELVE_T1 = undefined, process.env.HELVE_T1)
(delete process.env.HELVE_T1, process.env.HELVE_T1)
typeof process.env.PATH
Object.keys(process.env).includes("PATH")
({ ...process.env }).PATH === process.env.PATH
process.hrtime().length
typeof process.hrtime.bigint()
process.hrtime([0, 0]).length
typeof process.uptime()
typeof process.memoryUsage().heapUsed
typeof process.memoryUsage().rss
process.exitCode
process.title.length > 0
(() => { try { process.chdir("/nope/x"); } catch (e) { const here = process.cwd(); return [e.name, e.code, e.errno, e.syscall, e.dest, e.path === here, e.message.replace(here, "<here>")]; } })()
process.chdir(5)
(process.chdir(dir), process.cwd())
process.kill("x")
process.kill(1, "SIGNOPE")
typeof process.stdout.write
process.stdout.isTTY === true
typeof process.on
process.emitWarning !== undefined
typeof process.getuid()
Object.prototype.toString.call(process)
os.EOL
os.platform()
os.type()
os.endianness()
os.homedir() === process.env.HOME
os.tmpdir()
typeof os.hostname()
os.cpus().length > 0
typeof os.totalmem()
os.availableParallelism() > 0
os.devNull
os.constants.signals.SIGKILL
os.constants.errno.ENOENT
Object.keys(os.userInfo()).sort()
os.machine()
`${os.tmpdir}`
global === globalThis
typeof navigator.userAgent
Object.keys(globalThis).includes("console")
typeof require("module").createRequire("/x/y.js")
require("module").createRequire("/x/y.js")("path") === require("path")
require("module").createRequire("/x/y.js")("node:fs") === require("fs")
require("module").isBuiltin("fs")
require("module").builtinModules.includes("fs")
require("module").createRequire(5)
require("assert")(false)
require("assert")(0, "why")
require("assert").strictEqual(1, 1)
require("assert").strictEqual(1, 2, "msg")
require("assert").deepStrictEqual({ a: [1] }, { a: [1] })
require("assert").throws(() => { throw new TypeError("x"); }, TypeError)
require("assert").throws(() => {}, "nope")
require("assert").equal(1, "1")
require("assert").notStrictEqual(1, 1, "same")
(() => { try { require("assert").strictEqual(1, 2); } catch (e) { return [e.name, e.code, e.actual, e.expected, e.operator]; } })()
await require("assert").rejects(Promise.reject(new Error("x")), /x/)
require("assert").ok(1)
require("assert").fail("boom")
require("assert").match("abc", /b/)
typeof Error.captureStackTrace
(() => { const o = {}; Error.captureStackTrace(o); return typeof o.stack; })()
new Error("x").stack.startsWith("Error: x\n")
await Array.fromAsync([1, Promise.resolve(2)])
typeof Symbol.dispose + typeof Symbol.asyncDispose
typeof console.table
Bun.hash("hello").toString(36)
[0, 1, 3, 4, 8, 16, 17, 48, 49, 96, 97, 200].map((n) => Bun.hash("abcdefghij".repeat(20).slice(0, n)).toString())
[typeof Bun.hash("x"), Bun.hash.wyhash("x", 7n).toString(), Bun.hash(new Uint8Array([1, 2])).toString(), Bun.hash.crc32("hello")]
