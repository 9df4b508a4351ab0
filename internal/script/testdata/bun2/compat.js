// What files written for Bun lean on: when streams open, the words of errors, rarely used members.
"use strict";
const fs = require("fs");
module.exports = async (t) => {
  const said = async (work) => { try { return await work(); } catch (e) { return `${e.name}: ${e.message}`; } };
  const path = (name) => `${t.dir}/${name}`;
  await t("a read stream fails without a reader", () => new Promise((done) => { fs.createReadStream(path("nope")).on("error", (e) => done([e.code, e.message])); }));
  await t("a read stream opens without a reader", () => new Promise((done) => { const s = fs.createReadStream(path("a.txt")); const seen = []; s.on("open", (fd) => seen.push(typeof fd)); s.on("ready", () => { seen.push("ready", s.pending); s.on("close", () => done(seen)); s.destroy(); }); }));
  await t("a write stream fails without a writer", () => new Promise((done) => { fs.createWriteStream(path("no/x")).on("error", (e) => done([e.code, e.message])); }));
  await t("a write stream opens without a writer", () => new Promise((done) => { const s = fs.createWriteStream(path("made.txt")); s.on("open", () => { const there = fs.existsSync(path("made.txt")); s.end("x", () => done([there, s.bytesWritten])); }); }));
  await t("a write stream fails when written to", () => new Promise((done) => { const s = fs.createWriteStream(path("no/y")); const seen = []; s.on("error", (e) => seen.push(e.code)); s.on("close", () => done(seen)); s.write("a"); s.end(); }));
  await t("a read stream is read", () => new Promise((done) => { const s = fs.createReadStream(path("a.txt"), "utf8"); let all = ""; s.on("data", (d) => { all += d; }); s.on("close", () => done(all)); }));
  await t("a stream is destroyed at once", () => new Promise((done) => { const s = fs.createReadStream(path("a.txt")); s.on("close", () => done(["closed", s.destroyed])); s.destroy(); }));
  await t("watch", () => { const w = fs.watch(t.dir, () => {}); return new Promise((done) => { w.on("close", () => done("closed")); w.close(); }); });
  await t("watch nothing", () => said(() => fs.watch(path("nope"))).then((s) => s.slice(0, 22)));

  const errors = {
    "not defined": () => nowhere, "cyclic": () => { const a = {}; a.a = a; JSON.stringify(a); }, "big": () => JSON.stringify({ a: 1n }), "date": () => new Date(NaN).toISOString(),
    "class": () => new RegExp("["), "group": () => new RegExp("("), "closing": () => new RegExp(")"), "nothing to repeat": () => new RegExp("*"), "nothing to repeat either": () => new RegExp("a**"), "flags": () => new RegExp("a", "zz"), "flags twice": () => new RegExp("a", "gg"),
    "backslash": () => new RegExp("\\"), "range": () => new RegExp("[b-a]"), "quantifier": () => new RegExp("a{2,1}"), "name": () => new RegExp("(?<a"), "property": () => new RegExp("\\p{X}", "u"), "same name": () => new RegExp("(?<a>.)(?<a>.)"), "brace": () => new RegExp("{", "u"), "unknown group": () => new RegExp("\\k<x>", "u"), "kind of group": () => new RegExp("(?"),
    "repeat": () => "x".repeat(-1), "repeat infinity": () => "x".repeat(Infinity), "array": () => new Array(-1), "array length": () => { [].length = -1; }, "toFixed": () => (1).toFixed(200), "toPrecision": () => (1).toPrecision(200), "toString": () => (1).toString(99), "toExponential": () => (1).toExponential(200),
    "decode": () => decodeURIComponent("%"), "decode url": () => decodeURI("%"), "encode": () => encodeURIComponent("\ud800"), "bigint": () => BigInt("x"), "bigint of a fraction": () => BigInt(1.5), "bigint of nothing": () => BigInt(undefined),
    "reduce": () => [].reduce((a) => a), "normalize": () => "x".normalize("x"), "code point": () => String.fromCodePoint(-1), "matchAll": () => "a".matchAll(/a/), "replaceAll": () => "a".replaceAll(/a/, ""), "symbol": () => Symbol() + "",
    "null property": () => null.x, "calls nothing": () => { const o = {}; o.f(); }, "array of": () => Array.from({ length: -1 }).length, "defineProperty": () => Object.defineProperty(1, "x", {}), "setPrototypeOf": () => Object.setPrototypeOf({}, 1), "frozen": () => { Object.freeze({ a: 1 }).a = 2; }, "frozen list": () => { Object.freeze([]).push(1); }, "getter only": () => { ({ get x() { return 1; } }).x = 2; }, "no extension": () => { Object.preventExtensions({}).y = 1; },
    "constant": () => { eval("const c = 1; c = 2;"); }, "class without new": () => { class A {} A(); }, "this before super": () => { class A extends Object { constructor() { this.x = 1; } } new A(); }, "structure": () => structuredClone(() => {}), "weak": () => new WeakMap().set(1, 1), "instanceof": () => 1 instanceof 1, "in": () => "a" in "b",
    "eval": () => new Function("a b"), "parse int": () => new Intl.NumberFormat("xx-invalid-locale-123456789"),
  };
  for (const name of Object.keys(errors)) await t(`error: ${name}`, () => said(errors[name]));
  await t("an error is what it was", () => { try { JSON.stringify(((a) => (a.a = a))({})); } catch (e) { return [e instanceof TypeError, e.stack.split("\n")[0].length > 0, String(e)]; } });
  await t("a regular expression works", () => [new RegExp("a").source, RegExp("a", "g").flags, new RegExp(/b/g) + "", RegExp(/c/i) + "", /x/ instanceof RegExp, /x/.constructor === RegExp, RegExp.name, RegExp.length, class extends RegExp {}.name, new (class R extends RegExp {})("q") + "", RegExp.prototype.constructor === RegExp, Array.name, Array.length, [].constructor === Array, new Array(3).length, Array(1, 2), JSON.stringify({ a: [1] }, null, 1), JSON.stringify.length, BigInt(5), BigInt.name, decodeURIComponent("%20"), decodeURI.name, "a".repeat(2)]);

  await t("date texts", () => [new Date(0).toString(), new Date(0).toTimeString(), String(new Date(1e12)), `${new Date(NaN)}`, new Date(NaN).toTimeString(), new Date(0).toDateString(), new Date(0) + 1]);
  await t("peek", async () => { const p = Promise.resolve(5); await p; return [Bun.peek(3), Bun.peek.status(3), typeof Bun.peek, typeof Bun.peek.status]; });
  await t("TOML", () => [Bun.TOML.parse('a = 1\n[b]\nc = "x" # d\n'), Bun.TOML.parse(""), Bun.TOML.parse('[a]\nb.c = [1, "x", {y = true}]\n[[l]]\nn = 0x1F\n[[l]]\nn = 1e3'), Bun.TOML.parse("s = '''\nraw \\n'''\n'k e y' = 2")]);
  await t("TOML errors", () => ["a = ", "a", "[a", "a = 1\na = 2", "= 1", 'a = "x'].map((s) => { try { return Bun.TOML.parse(s); } catch (e) { return e.name; } }));
  await t("cwd", () => [typeof Bun.cwd, typeof Bun.color, typeof Bun.password, typeof require("crypto").scryptSync, typeof require("crypto").createCipheriv]);
  await t("empty file as JSON", async () => { await Bun.write(path("empty.json"), ""); return said(() => Bun.file(path("empty.json")).json()); });
  await t("bad file as JSON", async () => { await Bun.write(path("bad.json"), "{a"); return said(() => Bun.file(path("bad.json")).json()); });
  await t("a folder as a file", () => Bun.file(t.dir).text());
  await t("a folder as JSON", () => said(() => Bun.file(t.dir).json()));
  await t("a folder as bytes", () => said(() => Bun.file(t.dir).arrayBuffer()));
  await t("fetch of nothing", () => fetch(""));
  await t("fetch of a path", () => fetch("/x"));
  await t("fetch of no scheme", () => said(() => fetch("example")));
  await t("request of a path", () => new Request("rel"));
  await t("request of nothing", () => said(() => new Request("")));
  await t("headers sent", async () => { const h = await (await fetch(t.url + "/echo")).json().catch((e) => e.message); return h; });
  await t("cookies come last", () => { const h = new Headers({ "x-b": "1", "set-cookie": "a=1", "x-a": "2", z: "3" }); h.append("set-cookie", "b=2"); return [[...h], [...h.keys()], Object.keys(h.toJSON())]; });
  await t("kill of nobody", () => { try { process.kill(99999999, 0); } catch (e) { return [e.name, e.message, e.code, e.syscall, e.errno]; } });
  await t("spawn of a text", () => Bun.spawn("echo hi"));
  await t("spawnSync of a text", () => said(() => Bun.spawnSync("echo hi")));
  await t("spawn of nothing", () => said(() => Bun.spawn()));
  await t("YAML errors", () => Promise.all(["a: [1", "a: b: c", "{a", "a: 'x", "- a\nb", "a: *x", "a: \"x", "[1, 2", "a: @x"].map((s) => said(() => { Bun.YAML.parse(s); return "parsed"; }))));
};
