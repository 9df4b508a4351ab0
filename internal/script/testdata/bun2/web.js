module.exports = async (t) => {
  const bytes = (s) => new TextEncoder().encode(s);
  const read = async (stream) => { const out = []; const r = stream.getReader(); for (;;) { const { value, done } = await r.read(); if (done) return out; out.push(value); } };
  // streams
  await t("stream start", () => read(new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close(); } })));
  await t("stream pull", async () => { let n = 0; return read(new ReadableStream({ pull(c) { if (++n > 3) c.close(); else c.enqueue(n); } })); });
  await t("stream pull async", async () => { let n = 0; return read(new ReadableStream({ async pull(c) { await null; if (++n > 3) c.close(); else c.enqueue(n); } })); });
  await t("stream error", () => read(new ReadableStream({ start(c) { c.enqueue(1); c.error(new RangeError("bad")); } })));
  await t("stream throws in pull", () => read(new ReadableStream({ pull() { throw new Error("pull failed"); } })));
  await t("stream for await", async () => { const out = []; for await (const x of new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close(); } })) out.push(x); return out; });
  await t("stream for await break cancels", async () => { let why = "no"; const s = new ReadableStream({ pull(c) { c.enqueue(1); }, cancel() { why = "yes"; } }); for await (const x of s) break; return [why, s.locked]; });
  await t("stream cancel", async () => { let why; const s = new ReadableStream({ cancel(r) { why = r; } }); await s.cancel("reason"); return [why, await read(s)]; });
  await t("stream locked", () => { const s = new ReadableStream(); s.getReader(); try { s.getReader(); } catch (e) { return [s.locked, e.name]; } });
  await t("stream release", async () => { const s = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close(); } }); const r = s.getReader(); const a = await r.read(); r.releaseLock(); return [a.value, s.locked, await read(s)]; });
  await t("stream tee", async () => { const [a, b] = new ReadableStream({ start(c) { c.enqueue("x"); c.enqueue("y"); c.close(); } }).tee(); return [await read(a), await read(b)]; });
  await t("stream closed", async () => { const r = new ReadableStream({ start(c) { c.close(); } }).getReader(); await r.closed; return "closed"; });
  await t("stream desiredSize", () => { let sizes = []; new ReadableStream({ start(c) { sizes.push(c.desiredSize); c.enqueue(1); sizes.push(c.desiredSize); } }, { highWaterMark: 3 }); return sizes; });
  await t("stream enqueue after close", () => { let c; new ReadableStream({ start(x) { c = x; } }); c.close(); try { c.enqueue(1); } catch (e) { return e.name; } });
  await t("ReadableStream.from", () => read(ReadableStream.from(["a", "b"])));
  await t("transform", async () => { const up = new TransformStream({ transform(x, c) { c.enqueue(x.toUpperCase()); }, flush(c) { c.enqueue("!"); } }); return read(new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close(); } }).pipeThrough(up)); });
  await t("pipeTo", async () => { const got = []; await ReadableStream.from([1, 2, 3]).pipeTo(new WritableStream({ write(x) { got.push(x); }, close() { got.push("end"); } })); return got; });
  await t("writer", async () => { const got = []; const w = new WritableStream({ write(x) { got.push(x); }, close() { got.push("c"); } }).getWriter(); await w.write(1); await w.write(2); await w.close(); return got; });
  await t("writer abort", async () => { let why; const w = new WritableStream({ abort(r) { why = r; } }).getWriter(); await w.abort("x"); return why; });
  await t("TextDecoderStream", async () => read(new ReadableStream({ start(c) { c.enqueue(bytes("é").slice(0, 1)); c.enqueue(bytes("é").slice(1)); c.close(); } }).pipeThrough(new TextDecoderStream())));
  await t("TextEncoderStream", async () => read(ReadableStream.from(["ab"]).pipeThrough(new TextEncoderStream())));
  await t("stream text and json", async () => [await new Response("x").body.text(), await new Response('{"a":1}').body.json(), await new Response("b").body.bytes()]);

  // headers
  await t("headers", () => { const h = new Headers({ "Content-Type": "a/b", X: " 1 " }); h.append("x", "2"); h.set("Y", "3"); h.delete("content-type"); return [[...h], h.get("X"), h.get("none"), h.has("y"), [...h.keys()], [...h.values()]]; });
  await t("headers from pairs", () => [...new Headers([["b", "1"], ["A", "2"]])]);
  await t("headers from headers", () => [...new Headers(new Headers({ a: "1" }))]);
  await t("headers forEach", () => { const out = []; new Headers({ a: "1" }).forEach((v, k) => out.push([k, v])); return out; });
  await t("headers set-cookie", () => { const h = new Headers(); h.append("set-cookie", "a=1"); h.append("set-cookie", "b=2"); return [h.getSetCookie(), h.get("set-cookie"), [...h]]; });
  await t("headers toJSON", () => JSON.stringify(new Headers({ B: "2", A: "1" })));
  await t("headers bad name", () => { try { new Headers({ "a b": "1" }); return "fine"; } catch (e) { return e.name; } });

  // response
  await t("response text", async () => { const r = new Response("héllo"); return [r.status, r.ok, r.statusText, r.type, r.url, r.redirected, r.bodyUsed, await r.text(), r.bodyUsed, r.headers.get("content-type")]; });
  await t("response json", () => new Response('{"a":1}').json());
  await t("response bad json", () => new Response("{x").json().catch((e) => e.name));
  await t("response twice", async () => { const r = new Response("x"); await r.text(); return r.text(); });
  await t("response bytes", async () => [await new Response("x").bytes(), await new Response("x").arrayBuffer(), (await new Response("x").blob()).size]);
  await t("response of stream", () => new Response(new ReadableStream({ start(c) { c.enqueue(bytes("a")); c.enqueue(bytes("b")); c.close(); } })).text());
  await t("response of stream of text", () => new Response(new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close(); } })).text());
  await t("response of bytes", () => new Response(bytes("x")).text());
  await t("response of blob", async () => { const r = new Response(new Blob(["x"], { type: "a/b" })); return [r.headers.get("content-type"), await r.text()]; });
  await t("response of params", async () => { const r = new Response(new URLSearchParams({ a: "1 2" })); return [r.headers.get("content-type"), await r.text()]; });
  await t("response of nothing", async () => { const r = new Response(); return [r.body, await r.text()]; });
  await t("response init", () => { const r = new Response("x", { status: 404, statusText: "No", headers: { a: "b" } }); return [r.status, r.ok, r.statusText, r.headers.get("a")]; });
  await t("Response.json", async () => { const r = Response.json({ a: 1 }, { status: 201 }); return [r.status, r.headers.get("content-type"), await r.text()]; });
  await t("Response.error", () => { const r = Response.error(); return [r.type, r.status]; });
  await t("Response.redirect", () => { const r = Response.redirect("http://a/", 301); return [r.status, r.headers.get("location")]; });
  await t("response clone", async () => { const r = new Response("x"); const c = r.clone(); return [await r.text(), await c.text()]; });
  await t("response status range", () => { try { new Response("", { status: 42 }); return "fine"; } catch (e) { return e.name; } });
  await t("response of undefined stream", () => new Response(undefined).text());
  await t("response of number", () => new Response(5).text());

  // request
  await t("request", async () => { const r = new Request("http://a/b?c", { method: "post", body: "x", headers: { q: "1" } }); return [r.url, r.method, r.headers.get("q"), r.headers.get("content-type"), await r.text(), r.redirect]; });
  await t("request of request", async () => { const r = new Request(new Request("http://a/", { headers: { a: "1" } }), { method: "PUT", body: "z" }); return [r.url, r.method, r.headers.get("a"), await r.text()]; });
  await t("request bad url", () => { try { new Request("nope"); } catch (e) { return [e.name]; } });

  // blob, file, form
  await t("blob", async () => { const b = new Blob(["ab", bytes("cd"), new Blob(["ef"])], { type: "Text/Plain" }); return [b.size, b.type, await b.text(), await b.slice(1, 4).text(), await b.slice(-2).text(), b.slice(0, 1, "x/y").type, (await b.arrayBuffer()).byteLength, await b.bytes()]; });
  await t("blob json", () => new Blob(['{"a":1}']).json());
  await t("blob stream", async () => new Response(new Blob(["xyz"]).stream()).text());
  await t("file", async () => { const f = new File(["x"], "n.txt", { type: "a/b", lastModified: 5 }); return [f.name, f.type, f.size, f.lastModified, await f.text(), f instanceof Blob]; });
  await t("form", () => { const f = new FormData(); f.append("a", "1"); f.append("a", "2"); f.set("b", "3"); return [f.get("a"), f.getAll("a"), f.has("b"), f.has("z"), f.get("z"), [...f], [...f.keys()]]; });
  await t("form body", async () => { const f = new FormData(); f.append("a", "1"); f.append("f", new File(["data"], "n.txt", { type: "text/plain" })); const r = new Response(f); const type = r.headers.get("content-type"); const text = await r.text(); const boundary = /boundary="?([^";]+)/.exec(type)[1]; return [type.replace(boundary, "B"), text.replaceAll(boundary, "B")]; });
  await t("form parse", async () => { const f = new FormData(); f.append("a", "1"); f.append("f", new File(["data"], "n.txt", { type: "text/plain" })); const g = await new Response(f).formData(); return [g.get("a"), g.get("f").name, await g.get("f").text()]; });
  await t("form parse urlencoded", async () => { const g = await new Response("a=1+2&b=%20", { headers: { "content-type": "application/x-www-form-urlencoded" } }).formData(); return [...g]; });

  // abort, events
  await t("abort", () => { const c = new AbortController(); let n = 0; c.signal.addEventListener("abort", () => n++); c.signal.onabort = () => n++; const before = c.signal.aborted; c.abort(); c.abort(); return [before, c.signal.aborted, n, c.signal.reason.name, c.signal.reason.message, c.signal.reason.code]; });
  await t("abort reason", () => { const c = new AbortController(); c.abort("why"); try { c.signal.throwIfAborted(); } catch (e) { return e; } });
  await t("AbortSignal.abort", () => { const s = AbortSignal.abort(); return [s.aborted, s.reason.name, s.reason instanceof DOMException]; });
  await t("AbortSignal.timeout", async () => { const s = AbortSignal.timeout(20); await new Promise((f) => s.addEventListener("abort", f)); return [s.aborted, s.reason.name, s.reason.message, s.reason.code]; });
  await t("AbortSignal.any", () => { const a = new AbortController(), b = new AbortController(); const s = AbortSignal.any([a.signal, b.signal]); b.abort("b"); a.abort("a"); return [s.aborted, s.reason]; });
  await t("AbortSignal.any of aborted", () => AbortSignal.any([AbortSignal.abort("x")]).reason);
  await t("new AbortSignal", () => { try { new AbortSignal(); return "fine"; } catch (e) { return e.name; } });
  await t("event target", () => { const e = new EventTarget(); const out = []; const f = (ev) => out.push(ev.type, ev.target === e, ev.detail); e.addEventListener("x", f); e.addEventListener("x", f); e.addEventListener("x", { handleEvent(ev) { out.push("object"); } }, { once: true }); e.dispatchEvent(new CustomEvent("x", { detail: 5 })); e.dispatchEvent(new Event("x")); e.removeEventListener("x", f); e.dispatchEvent(new Event("x")); return out; });
  await t("event prevented", () => { const e = new EventTarget(); e.addEventListener("x", (ev) => ev.preventDefault()); return [e.dispatchEvent(new Event("x", { cancelable: true })), e.dispatchEvent(new Event("x"))]; });
  await t("event stopped", () => { const e = new EventTarget(); const out = []; e.addEventListener("x", (ev) => { out.push(1); ev.stopImmediatePropagation(); }); e.addEventListener("x", () => out.push(2)); e.dispatchEvent(new Event("x")); return out; });
  await t("event listener with signal", () => { const e = new EventTarget(), c = new AbortController(); let n = 0; e.addEventListener("x", () => n++, { signal: c.signal }); e.dispatchEvent(new Event("x")); c.abort(); e.dispatchEvent(new Event("x")); return n; });
  await t("DOMException", () => { const e = new DOMException("m", "AbortError"); return [e.name, e.message, e.code, e instanceof Error, String(e), new DOMException().name, DOMException.ABORT_ERR]; });

  // fetch
  const u = t.url;
  await t("fetch", async () => { const r = await fetch(u + "/hello"); return [r.status, r.ok, r.statusText, r.url, r.redirected, r.type, r.headers.get("content-type"), r.headers.get("x-a"), await r.text(), r.bodyUsed]; });
  await t("fetch json", async () => (await fetch(u + "/json")).json());
  await t("fetch 404", async () => { const r = await fetch(u + "/missing"); return [r.status, r.ok, r.statusText, await r.text()]; });
  await t("fetch url object", async () => (await fetch(new URL(u + "/hello"))).text());
  await t("fetch request", async () => (await fetch(new Request(u + "/echo", { method: "POST", body: "b", headers: { "x-q": "1" } }))).json());
  await t("fetch post text", async () => (await fetch(u + "/echo", { method: "POST", body: "text" })).json());
  await t("fetch post json", async () => (await fetch(u + "/echo", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ a: 1 }) })).json());
  await t("fetch post params", async () => (await fetch(u + "/echo", { method: "post", body: new URLSearchParams({ a: "b c" }) })).json());
  await t("fetch post bytes", async () => (await fetch(u + "/echo", { method: "PUT", body: bytes("raw") })).json());
  await t("fetch post stream", async () => (await fetch(u + "/echo", { method: "POST", body: new Response("st").body })).json());
  await t("fetch get with body", () => fetch(u + "/echo", { body: "x" }));
  await t("fetch redirect", async () => { const r = await fetch(u + "/to/hello"); return [r.status, r.url, r.redirected, await r.text()]; });
  await t("fetch redirect manual", async () => { const r = await fetch(u + "/to/hello", { redirect: "manual" }); return [r.status, r.headers.get("location"), r.redirected]; });
  await t("fetch redirect error", () => fetch(u + "/to/hello", { redirect: "error" }));
  await t("fetch redirect loop", () => fetch(u + "/loop"));
  await t("fetch post redirect 302", async () => (await fetch(u + "/to/echo", { method: "POST", body: "x" })).json());
  await t("fetch post redirect 307", async () => (await fetch(u + "/to307/echo", { method: "POST", body: "x" })).json());
  await t("fetch refused", () => fetch("http://127.0.0.1:1/"));
  await t("fetch no host", () => fetch("http://nosuchhost.invalid/").catch((e) => [e.name]));
  await t("fetch bad url", () => fetch("nope"));
  await t("fetch bad scheme", () => fetch("ftp://x/"));
  await t("fetch empty", () => fetch(""));
  await t("fetch data", async () => { const r = await fetch("data:text/plain,a%20b"); return [r.status, r.headers.get("content-type"), await r.text()]; });
  await t("fetch data base64", async () => (await fetch("data:text/plain;base64,aGk=")).text());
  await t("fetch file", async () => (await fetch("file://" + t.dir + "/a.txt")).text());
  await t("fetch aborted before", () => fetch(u + "/hello", { signal: AbortSignal.abort() }));
  await t("fetch aborted", () => { const c = new AbortController(); setTimeout(() => c.abort(), 30); return fetch(u + "/slow", { signal: c.signal }); });
  await t("fetch aborted with reason", () => { const c = new AbortController(); setTimeout(() => c.abort(new Error("mine")), 30); return fetch(u + "/slow", { signal: c.signal }); });
  await t("fetch timeout", () => fetch(u + "/slow", { signal: AbortSignal.timeout(30) }));
  await t("fetch body stream", async () => { let s = ""; for await (const c of (await fetch(u + "/hello")).body) s += new TextDecoder().decode(c); return s; });
  await t("fetch body aborted", async () => { const c = new AbortController(); const r = await fetch(u + "/drip", { signal: c.signal }); const reader = r.body.getReader(); const first = await reader.read(); c.abort(); return [first.value, await reader.read().catch((e) => e.name)]; });
  await t("fetch gzip", async () => (await fetch(u + "/gzip")).text());
  await t("fetch head", async () => { const r = await fetch(u + "/hello", { method: "HEAD" }); return [r.status, await r.text()]; });
  await t("fetch method", async () => (await (await fetch(u + "/echo", { method: "patch", body: "x" })).json()).method);
  await t("fetch auth", async () => (await (await fetch(u.replace("http://", "http://us:pa@") + "/echo")).json()).authorization);

  // http
  const http = require("http");
  await t("http.get", () => new Promise((done, fail) => { http.get(u + "/hello", (res) => { let s = ""; res.on("data", (d) => { s += d; }); res.on("end", () => done([res.statusCode, res.statusMessage, res.headers["content-type"], s])); }).on("error", fail); }));
  await t("http.request", () => new Promise((done, fail) => { const q = http.request(u + "/echo", { method: "POST", headers: { "x-q": "2" } }, (res) => { res.setEncoding("utf8"); let s = ""; res.on("data", (d) => { s += d; }); res.on("end", () => done(JSON.parse(s))); }); q.on("error", fail); q.write("a"); q.end("b"); }));
  await t("http.request options", () => new Promise((done, fail) => { const at = new URL(u); const q = http.request({ hostname: at.hostname, port: at.port, path: "/echo?x=1", method: "GET" }, async (res) => { let s = ""; for await (const d of res) s += d; done(JSON.parse(s).method); }); q.on("error", fail); q.end(); }));
  await t("http redirect", () => new Promise((done, fail) => { http.get(u + "/to/hello", (res) => { res.resume(); done([res.statusCode, res.headers.location]); }).on("error", fail); }));
  await t("http refused", () => new Promise((done) => { http.get("http://127.0.0.1:1/").on("error", (e) => done([e.code, e.message])); }));
};
