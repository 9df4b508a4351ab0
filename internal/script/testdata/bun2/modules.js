// What packages import in passing, and what the other tables leave out.
module.exports = async (t) => {
  const fs = require("fs");
  const { once } = require("events");
  await t("tty", () => { const tty = require("tty"); return [tty.isatty(0), tty.isatty(99), typeof tty.ReadStream, typeof tty.WriteStream]; });
  await t("constants", () => { const c = require("constants"); return [c.O_RDONLY, c.O_CREAT, c.S_IFMT, c.ENOENT, c.SIGTERM, c.R_OK]; });
  await t("streams are no terminals", () => [process.stdout.isTTY === true, process.stdin.isTTY === true]);
  await t("channel", () => {
    const dc = require("diagnostics_channel"), got = [];
    const listen = (message, name) => got.push([name, message]);
    const before = dc.channel("a").hasSubscribers;
    dc.subscribe("a", listen);
    dc.channel("a").publish({ x: 1 });
    const during = dc.hasSubscribers("a");
    const gone = dc.unsubscribe("a", listen);
    dc.channel("a").publish({ x: 2 });
    return [before, during, gone, dc.hasSubscribers("a"), got, dc.channel("a") === dc.channel("a")];
  });
  await t("tracing", async () => {
    const { tracingChannel } = require("diagnostics_channel"), got = [];
    const c = tracingChannel("work");
    c.subscribe({ start: () => got.push("start"), end: () => got.push("end"), error: () => got.push("error") });
    const result = c.traceSync((n) => n * 2, {}, null, 4);
    try { c.traceSync(() => { throw new Error("no"); }); } catch (e) { got.push(e.message); }
    return [result, got];
  });
  await t("storage", async () => {
    const { AsyncLocalStorage } = require("async_hooks");
    const s = new AsyncLocalStorage(), got = [s.getStore()];
    got.push(s.run(1, () => [s.getStore(), s.run(2, () => s.getStore()), s.getStore()]));
    await s.run({ id: 3 }, async () => { await null; got.push(s.getStore()); await new Promise((done) => setTimeout(done, 1)); got.push(s.getStore()); });
    try { s.run(4, () => { throw new Error("x"); }); } catch (e) { got.push(e.message); }
    got.push(s.getStore(), s.exit(() => s.getStore()));
    return got.map((one) => one ?? "none");
  });
  await t("resource", () => { const { AsyncResource } = require("async_hooks"); const r = new AsyncResource("X"); return [r.runInAsyncScope((a, b) => a + b, null, 1, 2), AsyncResource.bind((x) => x + 1)(1)]; });
  await t("lines of a file that is not there", async () => {
    try { for await (const line of require("readline").createInterface({ input: fs.createReadStream("nope.txt") })) return line; } catch (e) { return [e.code, e.message]; }
  });
  await t("lines", async () => { fs.writeFileSync("l.txt", "a\nb\r\n\nc"); const all = []; for await (const line of require("readline").createInterface({ input: fs.createReadStream("l.txt"), crlfDelay: Infinity })) all.push(line); return all; });
  await t("a hash that was written to", async () => {
    const { createHash } = require("crypto");
    const h = createHash("sha256");
    await require("stream/promises").pipeline(fs.createReadStream("a.txt"), h);
    const piped = fs.createReadStream("a.txt").pipe(createHash("md5").setEncoding("hex"));
    let text = "";
    piped.on("data", (d) => { text += d; });
    await once(piped, "end");
    return [h.digest("hex"), text];
  });
  await t("killed", async () => {
    const p = Bun.spawn(["sh", "-c", "exit 2"]), before = p.killed;
    await p.exited;
    const q = Bun.spawn(["sleep", "9"]);
    q.kill();
    const sent = q.killed;
    await q.exited;
    return [before, p.killed, sent, q.killed];
  });
  await t("createRequire", () => {
    const { createRequire } = require("module");
    fs.mkdirSync("node_modules/pack/lib", { recursive: true });
    fs.writeFileSync("node_modules/pack/package.json", '{"name":"pack","main":"./lib"}');
    fs.writeFileSync("node_modules/pack/lib/index.js", "exports.part = require('./part'); exports.dir = require('path').basename(__dirname); exports.same = () => require('../lib/part') === exports.part;");
    fs.writeFileSync("node_modules/pack/lib/part.js", "module.exports = { n: (globalThis.packLoads = (globalThis.packLoads ?? 0) + 1) };");
    fs.writeFileSync("data.json", '{"a":1}');
    fs.writeFileSync("throws.js", "throw new RangeError('at load');");
    const r = createRequire(process.cwd() + "/x.js");
    const code = (work) => { try { return work(); } catch (e) { return [e.name, e.code, e.message.slice(0, 30)]; } };
    const pack = r("pack");
    return [pack, pack.same(), r("pack") === pack, r("./data.json"), r("./data"), r("node:path") === require("path"), r.resolve("./data.json").endsWith("/data.json"), code(() => r("./throws")), code(() => r("./none"))[1], code(() => r("nopack"))[1]];
  });
};
