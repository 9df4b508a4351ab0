// A client of helve's HTTP API, tested with Node 18 and later; it uses nothing that browsers do not have.
// It needs nothing but fetch.
//
//   const helve = new Helve({ baseURL: "http://127.0.0.1:4096", token });
//   const result = await helve.do({ tool: "read", input: { filePath: "go.mod" } });

// (types)
const silence = 50_000; // ms: a stream that says nothing for so long is dead
const longest = 64 << 20; // characters of an event

/** A client of one server. */
export class Helve {
  readonly baseURL: string;
  private readonly token?: string;
  private readonly fetch: typeof fetch;

  constructor(options: HelveOptions) {
    this.baseURL = options.baseURL.replace(/\/+$/, "");
    this.token = options.token;
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  // (methods)
  /** Makes a call from beginning to end: starts it, follows it, has its requests answered. */
  async do(request: CallRequest, handlers: Handlers = {}): Promise<ToolResult> {
    const life = new AbortController();
    const unlink = follow(handlers.signal, life);
    const run = new CallRun(this, request, handlers, life);
    try {
      const types = ["call.started", "call.progress", "call.finished", "permission.asked", "question.asked"];
      for await (const event of this.events({ types, signal: life.signal })) {
        const end = await run.take(event);
        if (end) return end;
      }
      throw life.signal.reason ?? new Error("The stream of events ended.");
    } catch (error) {
      await run.cancel();
      throw run.failure ?? error;
    } finally {
      unlink();
      life.abort();
    }
  }

  /**
   * Follows what happens, over lost connections and restarts of the server.
   * Break out of the loop, or abort the signal, to end it.
   */
  async *events(query: EventsQuery = {}): AsyncGenerator<HelveEvent, void, undefined> {
    const place: Place = { last: query.after ?? "", met: false, greeted: false, told: false };
    const patience = query.patience ?? 120_000;
    let pause = 200;
    let lost = Date.now();
    for (;;) {
      let why: unknown = new Error("The connection was closed.");
      place.greeted = false;
      try {
        yield* this.connection(query, place);
      } catch (error) {
        why = error;
      }
      if (query.signal?.aborted) throw query.signal.reason;
      if (!place.met || isFinal(why)) throw why;
      if (place.greeted) {
        pause = 200;
        lost = Date.now();
      }
      if (Date.now() - lost > patience) throw why;
      query.onLost?.(why);
      await sleep(pause / 2 + (Math.random() * pause) / 2, query.signal);
      pause = Math.min(2 * pause, 10_000);
    }
  }

  /** Reads events over one connection, until it ends. */
  private async *connection(query: EventsQuery, place: Place): AsyncGenerator<HelveEvent, void, undefined> {
    const life = new AbortController();
    const unlink = follow(query.signal, life);
    const watch = new Watch(() => life.abort(new Error("The server has said nothing for too long.")));
    try {
      const res = await this.send("GET", "/v1/events", {
        query: { session: query.sessions, types: query.types?.join(",") }, signal: life.signal,
      }, { "Accept": "text/event-stream", ...(place.last ? { "Last-Event-ID": place.last } : {}) });
      if (!res.headers.get("Content-Type")?.startsWith("text/event-stream")) throw new SyntaxError("The server sends no events.");
      place.met = true;
      for await (const frame of frames(res, watch)) yield* taken(frame, place);
    } finally {
      watch.stop();
      unlink();
      life.abort();
    }
  }

  /** Sends a request and reads the JSON of its answer. */
  private async request<T>(method: string, path: string, sent: Sent): Promise<T> {
    const once = () => this.send(method, path, sent, { "Accept": "application/json" });
    const res = await (method === "GET" ? again(once, sent.signal) : once());
    const text = await res.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** Sends a request; an answer that is no success is thrown as a Problem. */
  private async send(method: string, path: string, sent: Sent, headers: Record<string, string>): Promise<Response> {
    if (this.token) headers["Authorization"] = `Bearer ${this.token}`;
    if (method !== "GET") headers["Content-Type"] = "application/json";
    const res = await this.fetch(this.baseURL + path + search(sent.query), {
      method, headers, redirect: "error", signal: sent.signal,
      body: sent.body === undefined ? undefined : JSON.stringify(sent.body),
    });
    if (res.ok) return res;
    throw new Problem(res.status, await res.json().catch(() => ({})));
  }
}

/** The life of one call. */
class CallRun {
  failure: unknown;
  private readonly helve: Helve;
  private readonly request: CallRequest;
  private readonly handlers: Handlers;
  private readonly life: AbortController;
  private started?: Called;
  private over = false;
  private readonly calls = new Set<string>(); // it, and the calls that it makes
  private readonly family = new Set<string>(); // the sessions of agents that it has started
  private readonly answered = new Set<string>();

  constructor(helve: Helve, request: CallRequest, handlers: Handlers, life: AbortController) {
    this.helve = helve;
    this.request = request;
    this.handlers = handlers;
    this.life = life;
  }

  /** Takes an event; a result is the end. */
  async take(e: HelveEvent): Promise<ToolResult | undefined> {
    if (is(e, "reload")) return this.reload();
    if (is(e, "call.started")) {
      const { id, session = "", parent = "" } = e.properties.call;
      if (this.family.has(session) || this.calls.has(key(session, parent))) this.calls.add(key(session, id));
    }
    if (is(e, "call.progress")) await this.progress(e.properties);
    if (is(e, "permission.asked")) this.permission(e.properties);
    if (is(e, "question.asked")) this.question(e.properties);
    if (is(e, "call.finished") && this.isIt(e.properties)) return this.finished(e.properties);
    return undefined;
  }

  /** Tells the server to end a call that nobody waits for any more. */
  async cancel(): Promise<void> {
    if (!this.started || this.over) return;
    await this.helve.cancelCall(this.started.session, this.started.id).catch(() => undefined); // the server may be gone
  }

  /** Starts the call when the stream stands, and looks what has become of it where events were lost. */
  private async reload(): Promise<ToolResult | undefined> {
    const signal = this.life.signal;
    if (!this.started) {
      this.started = await this.helve.call({ ...this.request, wait: false }, { signal });
      this.calls.add(key(this.started.session, this.started.id));
      return undefined;
    }
    const { id, session } = this.started;
    const record = await this.helve.getCall(session, id, { signal });
    if (record.result || record.error || record.ended) return this.finished({ ...record, session });
    await this.waiting();
    return undefined;
  }

  /** Shows a report, and notes the session of an agent that it tells of. */
  private async progress(p: EventProperties["call.progress"]): Promise<void> {
    if (this.isIt(p)) this.handlers.onProgress?.(p);
    const child = p.metadata?.sessionId;
    if (typeof child !== "string" || this.family.has(child) || !this.calls.has(key(p.session, p.id))) return;
    this.family.add(child);
    await this.waiting(); // it may have asked before we knew it
  }

  /** Looks at all that waits for an answer. */
  private async waiting(): Promise<void> {
    const all = await this.helve.listRequests({ signal: this.life.signal });
    for (const p of all.permissions) this.permission(p);
    for (const q of all.questions) this.question(q);
  }

  private permission(request: PermissionRequest): void {
    const { onPermission } = this.handlers;
    if (!onPermission) return;
    this.answer(request, async () => {
      const reply = await onPermission(request);
      return again(() => this.helve.replyPermission(request.id, reply));
    });
  }

  private question(request: QuestionRequest): void {
    const { onQuestion } = this.handlers;
    if (!onQuestion) return;
    this.answer(request, async () => {
      const answers = await onQuestion(request);
      return again(() => answers ? this.helve.answerQuestion(request.id, { answers }) : this.helve.dismissQuestion(request.id));
    });
  }

  /** Has a request answered that is of this call, once, while events go on. */
  private answer(request: PermissionRequest | QuestionRequest, by: () => Promise<void>): void {
    const mine = this.family.has(request.sessionID) || this.calls.has(key(request.sessionID, request.tool?.callID ?? ""));
    if (!mine || this.answered.has(request.id)) return;
    this.answered.add(request.id);
    by().catch((error: unknown) => {
      if (error instanceof Problem && error.code === "not-found") return; // somebody was faster
      if (this.over) return;
      this.failure ??= error;
      this.life.abort(error);
    });
  }

  private isIt(of: { id: string; session: string }): boolean {
    return of.id === this.started?.id && of.session === this.started.session;
  }

  /** The result of the call, or what it failed with. */
  private finished(end: { id: string; session: string; result?: ToolResult; error?: CallError }): ToolResult {
    this.over = true;
    if (end.result) return end.result;
    const { message, ...error } = end.error ?? { kind: "internal", code: "", message: "The call has ended without a result." };
    throw new Problem(statusOf(error.kind), { ...error, detail: message, call: end.id, session: end.session });
  }
}

/** A call as a key: its id is its own only within its session. */
function key(session: string, id: string): string {
  return JSON.stringify([session, id]);
}

/** The HTTP status of the kinds of failures of calls. */
function statusOf(kind: string): number {
  switch (kind) {
    case "unknown_tool": return 404;
    case "invalid_input": case "failed": return 422;
    case "denied": case "rejected": case "unattended": return 403;
    case "canceled": return 409;
  }
  return 500;
}

/** What a frame means to who follows. */
function* taken(frame: Frame, place: Place): Generator<HelveEvent, void, undefined> {
  const data = JSON.parse(frame.data);
  if (frame.event === "at") {
    place.last = frame.id;
    return;
  }
  if (frame.event === "hello") {
    place.greeted = true;
    if (data.resumed) return;
    // Without an id the stream begins after what the greeting counts. After an
    // id that the server does not know, the events that follow say where we are.
    place.last = place.last === "" ? `${data.instance}-${data.seq}` : "";
    place.told = true;
    yield { id: place.last, seq: data.seq, time: new Date().toISOString(), type: "reload", properties: data };
    return;
  }
  if (frame.id) place.last = frame.id;
  const event: HelveEvent = { id: frame.id, ...data };
  yield event;
  if (event.type === "events.missed" && !place.told) yield { ...event, type: "reload" };
  place.told = event.type === "events.missed";
}

/** Reads an event stream. */
async function* frames(res: Response, watch: Watch): AsyncGenerator<Frame, void, undefined> {
  const reader = res.body!.getReader();
  const decoder = new TextDecoder();
  let frame: Frame = { id: "", event: "", data: "" };
  let rest: string[] = []; // pieces of a line that has no end yet
  let size = 0; // of them and the frame
  for (;;) {
    watch.start();
    const { value, done } = await reader.read();
    watch.stop();
    if (done) return;
    const lines = decoder.decode(value, { stream: true }).split("\n");
    for (let i = 0; i < lines.length; i++) {
      rest.push(lines[i]!);
      if ((size += lines[i]!.length) > longest) throw new SyntaxError("An event is too long.");
      if (i === lines.length - 1) break;
      const line = rest.join("").replace(/\r$/, "");
      rest = [];
      if (line !== "") {
        field(frame, line);
        continue;
      }
      if (frame.data !== "") yield frame;
      frame = { id: "", event: "", data: "" };
      size = 0;
    }
  }
}

/** Adds a line to a frame. */
function field(frame: Frame, line: string): void {
  const colon = line.indexOf(":");
  const value = line.slice(colon + 1).replace(/^ /, "");
  switch (line.slice(0, colon)) {
    case "id": frame.id = value; break;
    case "event": frame.event = value; break;
    case "data": frame.data += frame.data === "" ? value : "\n" + value; break;
  }
}

/** Bites when the server falls silent. */
class Watch {
  private timer?: ReturnType<typeof setTimeout>;
  private readonly bite: () => void;

  constructor(bite: () => void) {
    this.bite = bite;
    this.start();
  }

  start(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.bite, silence);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

/** Tells whether a further try would be answered the same. */
function isFinal(error: unknown): boolean {
  if (error instanceof SyntaxError) return true; // what the server says is no JSON
  return error instanceof Problem && ![429, 502, 503, 504].includes(error.status);
}

/** Lets a signal end a controller; returns how to part them. */
function follow(signal: AbortSignal | undefined, life: AbortController): () => void {
  const end = () => life.abort(signal?.reason);
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end);
  return () => signal?.removeEventListener("abort", end);
}

/** Lets time pass, unless the signal ends it. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** Does what can be done twice until the server could be reached, three times at the most. */
async function again<T>(what: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let pause = 100; ; pause *= 2) {
    try {
      return await what();
    } catch (error) {
      if (!(error instanceof TypeError) || pause > 200 || signal?.aborted) throw error; // fetch throws one for a lost connection
      await sleep(pause, signal);
    }
  }
}

/** A name as a part of a path. */
function seg(name: string): string {
  if (name === "" || name === "." || name === "..") throw new TypeError(`${JSON.stringify(name)} is not an id`);
  return encodeURIComponent(name);
}

/** A query, without what is not set. */
function search(query: Record<string, unknown> = {}): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== "") out.append(name, String(one));
    }
  }
  const text = String(out);
  return text === "" ? "" : `?${text}`;
}
