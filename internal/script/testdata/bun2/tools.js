module.exports = async (t) => {
  const crypto = require("crypto");
  const zlib = require("zlib");
  for (const alg of ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-256", "SHA256", "sha3-256", "ripemd160"]) {
    await t(`hash ${alg}`, () => crypto.createHash(alg).update("hello").digest("hex"));
  }
  await t("hash base64", () => crypto.createHash("sha256").update("a").update(Buffer.from("b")).digest("base64"));
  await t("hash base64url", () => crypto.createHash("sha256").update("a").digest("base64url"));
  await t("hash latin1", () => crypto.createHash("md5").update("é", "latin1").digest("hex"));
  await t("hash of hex", () => crypto.createHash("md5").update("00ff", "hex").digest("hex"));
  await t("hash buffer", () => { const d = crypto.createHash("md5").update("x").digest(); return [Buffer.isBuffer(d), d.length]; });
  await t("hash unknown", () => crypto.createHash("nope"));
  await t("hash twice", () => { const h = crypto.createHash("md5"); h.digest(); try { h.digest(); } catch (e) { return [e.name, e.code, e.message]; } });
  await t("hash update after", () => { const h = crypto.createHash("md5"); h.digest(); try { h.update("x"); } catch (e) { return [e.name, e.code, e.message]; } });
  await t("hash bad data", () => { try { crypto.createHash("md5").update(5); } catch (e) { return [e.name, e.code]; } });
  await t("hash copy", () => { const h = crypto.createHash("md5").update("a"); const c = h.copy(); return [h.update("b").digest("hex"), c.update("c").digest("hex")]; });
  await t("crypto.hash", () => crypto.hash("sha1", "x"));
  await t("hmac", () => [crypto.createHmac("sha256", "key").update("msg").digest("hex"), crypto.createHmac("sha1", Buffer.from("k")).update("m").digest("base64")]);
  await t("hashes", () => { const all = crypto.getHashes(); return ["md5", "sha1", "sha256", "sha512"].map((h) => all.includes(h)); });
  await t("random", () => { const r = crypto.randomBytes(16); return [Buffer.isBuffer(r), r.length, crypto.randomBytes(8).toString("hex").length]; });
  await t("random callback", () => new Promise((done) => crypto.randomBytes(4, (e, b) => done([e, b.length]))));
  await t("uuid", () => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()));
  await t("int", () => { const n = crypto.randomInt(5, 8), m = crypto.randomInt(3); return [n >= 5 && n < 8, m >= 0 && m < 3]; });
  await t("int bad", () => { try { crypto.randomInt(5, 5); } catch (e) { return [e.name, e.code]; } });
  await t("equal", () => [crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("a")), crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("b"))]);
  await t("equal lengths", () => { try { crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("ab")); } catch (e) { return [e.name, e.code, e.message]; } });
  await t("getRandomValues", () => { const a = new Uint8Array(8); return [crypto.getRandomValues(a) === a, globalThis.crypto.getRandomValues(new Uint32Array(2)).length]; });
  await t("subtle", async () => Buffer.from(await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode("x"))).toString("hex"));
  await t("subtle object", async () => Buffer.from(await crypto.subtle.digest({ name: "SHA-1" }, new Uint8Array(0))).toString("hex"));
  await t("subtle hmac", async () => { const k = await crypto.subtle.importKey("raw", Buffer.from("key"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]); return Buffer.from(await crypto.subtle.sign("HMAC", k, Buffer.from("msg"))).toString("hex"); });
  await t("webcrypto", () => typeof crypto.webcrypto.subtle.digest);
  await t("Bun.CryptoHasher", () => [new Bun.CryptoHasher("sha256").update("hello").digest("hex"), Bun.SHA1.hash("x", "hex"), new Bun.CryptoHasher("sha256", "key").update("msg").digest("hex")]);
  await t("pbkdf2", () => crypto.pbkdf2Sync("p", "s", 10, 16, "sha256").toString("hex"));

  await t("gzip", () => zlib.gunzipSync(zlib.gzipSync("hello")).toString());
  await t("deflate", () => zlib.inflateSync(zlib.deflateSync(Buffer.from("hello"))).toString());
  await t("deflate raw", () => zlib.inflateRawSync(zlib.deflateRawSync("hello", { level: 9 })).toString());
  await t("unzip", () => [zlib.unzipSync(zlib.gzipSync("g")).toString(), zlib.unzipSync(zlib.deflateSync("d")).toString()]);
  await t("gunzip of nonsense", () => { try { zlib.gunzipSync("nonsense"); } catch (e) { return [e.name, e.code, e.errno, e.message]; } });
  await t("inflate of nonsense", () => { try { zlib.inflateSync("nonsense"); } catch (e) { return [e.name, e.code, e.errno, e.message]; } });
  await t("gunzip cut short", () => { try { zlib.gunzipSync(zlib.gzipSync("hello hello hello").subarray(0, 20)); } catch (e) { return [e.name, e.code, e.errno, e.message]; } });
  await t("gzip callback", () => new Promise((done) => zlib.gzip("x", (e, b) => zlib.gunzip(b, (e2, c) => done([e, e2, c.toString()])))));
  await t("gzip promise", async () => { const { promisify } = require("util"); return (await promisify(zlib.gunzip)(await promisify(zlib.gzip)("p"))).toString(); });
  await t("crc32", () => [zlib.crc32("hello"), zlib.crc32("lo", zlib.crc32("hel"))]);
  await t("Bun.gzipSync", () => new TextDecoder().decode(Bun.gunzipSync(Bun.gzipSync(Buffer.from("b")))));

  await t("Bun.file", async () => { const f = Bun.file("a.txt"); return [f.name, f.size, f.type, await f.exists(), await f.text(), await f.bytes(), (await f.arrayBuffer()).byteLength, await new Response(f.stream()).text(), await f.slice(0, 4).text()]; });
  await t("Bun.file missing", async () => { const f = Bun.file("no.json"); return [f.size, f.type, await f.exists(), await f.text().catch((e) => [e.name, e.code, e.errno, e.syscall, e.path, e.message])]; });
  await t("Bun.file url", () => Bun.file(new URL("file://" + t.dir + "/a.txt")).text());
  await t("Bun.write", async () => [await Bun.write("w.json", '{"a":"é"}'), await Bun.file("w.json").json(), await Bun.file("w.json").text()]);
  await t("Bun.write kinds", async () => { const out = []; for (const [n, v] of Object.entries({ b: Buffer.from("buf"), l: new Blob(["blob"]), r: new Response("resp"), f: Bun.file("a.txt"), a: new Uint8Array([65]).buffer })) { await Bun.write(`k-${n}`, v); out.push(await Bun.file(`k-${n}`).text()); } return out; });
  await t("Bun.write to file", async () => { await Bun.write(Bun.file("v.txt"), "x"); return Bun.file("v.txt").text(); });
  await t("Bun.write deep", async () => { await Bun.write("new/deep/v.txt", "x"); return Bun.file("new/deep/v.txt").text(); });
  await t("Bun.file write", async () => { const n = await Bun.file("m.txt").write("abc"); return [n, await Bun.file("m.txt").text()]; });
  await t("Bun.file delete", async () => { await Bun.write("d.txt", "x"); await Bun.file("d.txt").delete(); return Bun.file("d.txt").exists(); });
  await t("Bun.file delete missing", () => Bun.file("nono.txt").delete().catch((e) => [e.code, e.syscall]));
  await t("Bun.file bad json", async () => { await Bun.write("bad.json", "{x"); return Bun.file("bad.json").json().catch((e) => e.name); });
  await t("Bun.file stat", async () => (await Bun.file("a.txt").stat()).size);
  await t("Bun.file types", () => ["a.json", "a.txt", "a.html", "a.ts", "a.js", "a.md", "a.png", "a", "a.css", "a.yaml"].map((n) => Bun.file(n).type));
  await t("Bun.file writer", async () => { const w = Bun.file("wr.txt").writer(); w.write("a"); w.write("b"); await w.end(); return Bun.file("wr.txt").text(); });
  await t("Bun.Glob match", () => [["*.ts", "a.ts"], ["*.ts", "d/a.ts"], ["**/*.ts", "d/e/a.ts"], ["**/*.ts", "a.ts"], ["{a,b}.md", "b.md"], ["a?c", "abc"], ["[a-c]x", "bx"], ["[!a-c]x", "bx"], ["!a", "b"], ["d/**", "d/e/f"], ["*", ".hid"], ["**", "a/b"], ["a/*/c", "a/b/c"], ["\\*", "*"], ["*.{ts,tsx}", "x.tsx"], ["a/**/b", "a/b"]].map(([g, s]) => new Bun.Glob(g).match(s)));
  await t("Bun.Glob scan", async () => { await Bun.write("g/x.ts", ""); await Bun.write("g/h/y.ts", ""); await Bun.write("g/.z.ts", ""); const out = []; for await (const f of new Bun.Glob("**/*.ts").scan({ cwd: "g" })) out.push(f); const dots = [...new Bun.Glob("**/*.ts").scanSync({ cwd: "g", dot: true })]; const abs = [...new Bun.Glob("*.ts").scanSync({ cwd: t.dir + "/g", absolute: true })]; return [out.sort(), dots.sort(), abs]; });
  await t("Bun.Glob scan text", () => [...new Bun.Glob("h/*").scanSync("g")]);
  await t("Bun.Glob folders", () => [...new Bun.Glob("*").scanSync({ cwd: "g", onlyFiles: false })].sort());
  await t("Bun.sleep", async () => { const a = Date.now(); await Bun.sleep(20); Bun.sleepSync(10); return Date.now() - a >= 28; });
  await t("uuidv7", () => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(Bun.randomUUIDv7()));
  await t("escapeHTML", () => Bun.escapeHTML(`<a href="x">'&'</a>`));
  await t("stringWidth", () => ["abc", "日本", "é", "\u001b[31mred\u001b[0m", "😀", "", "a\u0301"].map((s) => Bun.stringWidth(s)));
  await t("stripANSI", () => Bun.stripANSI("\u001b[31mred\u001b[0m"));
  await t("urls", () => [Bun.fileURLToPath("file:///a/b%20c"), Bun.pathToFileURL("/a b").href]);
  await t("nanoseconds", () => typeof Bun.nanoseconds());
  await t("semver", () => [["1.2.3", "^1.0.0"], ["2.0.0", "^1.0.0"], ["1.2.3", "~1.2.0"], ["1.3.0", "~1.2.0"], ["1.0.0", ">=1.0.0 <2"], ["1.2.3", "1.x"], ["1.2.3", "*"], ["0.2.5", "^0.2.3"], ["0.3.0", "^0.2.3"], ["1.2.3", "1.2.3 || 2"], ["1.0.0-a", "^1.0.0"], ["1.5.0", "1.2 - 1.6"]].map(([v, r]) => Bun.semver.satisfies(v, r)));
  await t("semver order", () => [Bun.semver.order("1.0.0", "2.0.0"), Bun.semver.order("1.0.0", "1.0.0"), Bun.semver.order("1.10.0", "1.9.0"), Bun.semver.order("1.0.0-a", "1.0.0"), ["1.10.0", "1.2.0"].sort(Bun.semver.order)]);
  await t("env", () => [Bun.env === process.env, Bun.env.PATH === process.env.PATH]);
  await t("members", () => [typeof Bun.version, typeof Bun.revision, Array.isArray(Bun.argv), typeof Bun.main, typeof Bun.inspect, typeof Bun.serve]);
  await t("yaml", () => Bun.YAML.parse(`
# remark
name: tool
on: true
n: 42
f: 1.5
neg: -3
none: null
tilde: ~
empty:
quoted: "a: b\\n"
single: 'it''s'
list:
  - one
  - two: 2
    three: 3
  - [a, "b", 3]
map: {x: 1, y: [1, 2]}
block: |
  line 1
    line 2
fold: >
  a
  b

  c
strip: |-
  x
same:
- p
- q
date: 2024-01-02
url: http://x/y#z
hash: a # remark
anchor: &a {k: v}
ref: *a
`));
  await t("yaml scalars", () => ["5", "x", "true", "null", "", "- a\n- b", "[1,2]", "0x10", "1e3", ".inf", "'q'", "~"].map((s) => Bun.YAML.parse(s)));
  await t("yaml bad", () => { try { Bun.YAML.parse("a: [1"); } catch (e) { return e.name; } });
  await t("yaml documents", () => Bun.YAML.parse("a: 1\n---\nb: 2\n"));
  await t("yaml stringify", () => Bun.YAML.stringify({ a: 1, b: [1, "x"], c: { d: null, e: "" } }));

  const { Database } = require("bun:sqlite");
  await t("sqlite", () => {
    const db = new Database(":memory:");
    db.run("create table t (id integer primary key, name text, n real, b blob)");
    const r = db.run("insert into t (name, n) values (?, ?)", ["a", 1.5]);
    const ins = db.prepare("insert into t (name, b) values ($name, $b)");
    const r2 = ins.run({ $name: "b", $b: new Uint8Array([1, 2]) });
    const q = db.query("select * from t order by id");
    return [r, r2, q.all(), q.get(), q.values(), db.query("select name from t where id = ?").get(2), db.query("select name from t where id = ?").get(9), q.columnNames, q.paramsCount, db.query("select count(*) as c from t").get().c];
  });
  await t("sqlite strict", () => { const db = new Database(":memory:", { strict: true }); return db.query("select $a as a, :b as b").get({ a: 1, b: "x" }); });
  await t("sqlite error", () => { const db = new Database(":memory:"); try { db.query("select * from nope"); } catch (e) { return [e.name, e.message, e.code, e.errno]; } });
  await t("sqlite syntax", () => { const db = new Database(":memory:"); try { db.run("creat table"); } catch (e) { return [e.name, e.message, e.code, e.errno]; } });
  await t("sqlite constraint", () => { const db = new Database(":memory:"); db.run("create table t (a unique)"); db.run("insert into t values (1)"); try { db.run("insert into t values (1)"); } catch (e) { return [e.name, e.message, e.code, e.errno]; } });
  await t("sqlite transaction", () => { const db = new Database(":memory:"); db.exec("create table t (a); insert into t values (0)"); const add = db.transaction((n) => { db.run("insert into t values (?)", [n]); if (n > 1) throw new Error("no"); return n; }); const out = [add(1)]; try { add(2); } catch (e) { out.push(e.message); } return [out, db.query("select a from t").values()]; });
  await t("sqlite missing file", () => { try { new Database("no/such/x.db", { readonly: true }); } catch (e) { return [e.name, e.code]; } });
  await t("sqlite file", () => { const db = new Database("x.db", { create: true }); db.exec("create table t (a)"); db.run("insert into t values (?)", [7]); db.close(); const again = new Database("x.db", { readonly: true }); const got = again.query("select a from t").get(); try { again.run("insert into t values (1)"); } catch (e) { return [got, e.name, e.code]; } finally { again.close(); } });
  await t("sqlite numbers", () => { const db = new Database(":memory:"); return [db.query("select 9007199254740993 as a, 1e10 as b, null as c, ? as d, ? as e").get(true, 5n)]; });
  await t("sqlite iterate", () => { const db = new Database(":memory:"); return [...db.query("select 1 as a union select 2").iterate()]; });
  await t("sqlite as", () => { class Row { get twice() { return this.a * 2; } } const db = new Database(":memory:"); return db.query("select 4 as a").as(Row).get().twice; });

  const { Readable, Writable, Transform, PassThrough, pipeline } = require("stream");
  const { once } = require("events");
  await t("Readable.from", async () => { const out = []; for await (const x of Readable.from(["a", "b"])) out.push(x); return out; });
  await t("Readable read", async () => { const r = new Readable({ read() {} }); r.push("a"); r.push(Buffer.from("b")); r.push(null); let s = ""; r.on("data", (d) => { s += d; }); await once(r, "end"); return s; });
  await t("Writable", async () => { const got = []; const w = new Writable({ write(c, e, f) { got.push(c.toString()); f(); }, final(f) { got.push("final"); f(); } }); w.write("a"); w.end("b"); await once(w, "finish"); return got; });
  await t("pipe", async () => { const got = []; const w = new Writable({ write(c, e, f) { got.push(String(c)); f(); } }); Readable.from(["x", "y"]).pipe(w); await once(w, "finish"); return got; });
  await t("Transform", async () => { const up = new Transform({ transform(c, e, f) { f(null, String(c).toUpperCase()); } }); Readable.from(["x", "y"]).pipe(up); let s = ""; for await (const c of up) s += c; return s; });
  await t("pipeline", () => new Promise((done) => { const got = []; pipeline(Readable.from(["p"]), new PassThrough(), new Writable({ write(c, e, f) { got.push(String(c)); f(); } }), (e) => done([e ?? null, got])); }));
  await t("stream/promises", async () => { const got = []; await require("stream/promises").pipeline(Readable.from(["p"]), new Writable({ write(c, e, f) { got.push(String(c)); f(); } })); return got; });
  await t("Readable destroy", async () => { const r = new Readable({ read() {} }); const p = once(r, "error"); r.destroy(new Error("gone")); return (await p)[0].message; });
  await t("Readable toWeb", async () => new Response(Readable.toWeb(Readable.from([Buffer.from("w")]))).text());
  await t("readline", async () => { const rl = require("readline").createInterface({ input: Readable.from(["a\nb", "c\r\nd"]) }); const out = []; for await (const l of rl) out.push(l); return out; });
  await t("readline events", () => new Promise((done) => { const out = []; const rl = require("readline").createInterface({ input: Readable.from(["1\n2\n"]), crlfDelay: Infinity }); rl.on("line", (l) => out.push(l)); rl.on("close", () => done(out)); }));
};
