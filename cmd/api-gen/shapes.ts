// What the TypeScript client has beside the types of the document.

/** What may be said with every request. */
export interface RequestOptions {
  signal?: AbortSignal;
}

/** What is wrong with one part of what was sent. */
export interface ProblemIssue {
  path: (string | number)[];
  code: string;
  message: string;
  expected?: string;
  received?: string;
}

/** The server's no, and the end of a call that failed. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** unknown_tool, invalid_input, denied, rejected, unattended, failed, canceled or internal. */
  readonly kind?: string;
  /** What exactly, for programs. */
  readonly code?: string;
  /** What to do next. */
  readonly hint?: string;
  readonly issues: ProblemIssue[];
  readonly call?: string;
  readonly session?: string;

  constructor(status: number, body: Record<string, any> = {}) {
    const detail = String(body.detail ?? body.title ?? `The server answered with status ${status}.`);
    super(body.kind ? `${body.kind}: ${detail}` : detail);
    this.name = "Problem";
    this.status = status;
    this.title = String(body.title ?? "");
    this.detail = detail;
    this.kind = body.kind;
    this.code = body.code;
    this.hint = body.hint;
    this.issues = body.issues ?? [];
    this.call = body.call;
    this.session = body.session;
  }
}

/** Something that happened at the server. */
export interface HelveEvent<Type extends string = string, Properties = any> {
  /** To go on from, as `after`. */
  id: string;
  /** The server counts events from 1. */
  seq: number;
  time: string;
  /**
   * Such as "call.finished". "reload" says: what you know may be out of date, load
   * it anew. It is the first one, and comes again where events were lost.
   */
  type: Type;
  properties: Properties;
}

/** A permission request as it is asked. */
export type PermissionAsked = Omit<PermissionRequest, "expires">;

/** Questions as they are asked. */
export type QuestionAsked = Omit<QuestionRequest, "expires">;

/** The properties of the events that most programs look at. */
export interface EventProperties {
  "reload": { instance?: string; seq?: number };
  "events.missed": { count?: number };
  "call.started": { call: { id: string; session: string; tool: string; parent?: string; agent?: string; input: unknown } };
  "call.running": { id: string; session: string; tool: string; input: unknown };
  "call.progress": { id: string; session: string; tool: string; title?: string; metadata?: Record<string, any> };
  "call.finished": {
    id: string; session: string; tool: string; state: "completed" | "error";
    result?: ToolResult;
    error?: CallError;
  };
  "permission.asked": PermissionAsked;
  "permission.replied": { sessionID: string; requestID: string; reply: string };
  "question.asked": QuestionAsked;
  "todo.updated": { sessionID: string; todos: ToolTodo[] };
  "file.edited": { sessionID: string; file: string };
  "job.updated": Job;
  "message.part.delta": { sessionID: string; messageID: string; partID: string; field: string; delta: string };
  "session.idle": { sessionID: string };
  "session.error": { sessionID?: string; error: { name: string; data: { message: string } } };
}

/** Tells whether an event is of a type, so that its properties are known. */
export function is<T extends keyof EventProperties>(e: HelveEvent, type: T): e is HelveEvent<T, EventProperties[T]> {
  return e.type === type;
}

/** Which events to follow, and how patiently. */
export interface EventsQuery extends RequestOptions {
  /** Those of these sessions; all when left out. */
  sessions?: string[];
  types?: string[];
  /** The id of the last event that is known; from now on when left out. */
  after?: string;
  /** How long a lost server is tried for, in milliseconds; two minutes when left out. */
  patience?: number;
  /** Is told why a connection was lost. */
  onLost?: (error: unknown) => void;
}

/** Who takes part in a call that `do` makes. All are optional. */
export interface Handlers extends RequestOptions {
  /** Answers what the call wants to be allowed; left out, somebody else has to. */
  onPermission?: (request: PermissionAsked) => PermissionReply | Promise<PermissionReply>;
  /** Answers questions, a list of labels or own words each; null dismisses them. */
  onQuestion?: (request: QuestionAsked) => string[][] | null | Promise<string[][] | null>;
  /** Sees what the tool reports; metadata.output is what a command has printed so far. */
  onProgress?: (progress: EventProperties["call.progress"]) => void;
}

/** How to reach the server. */
export interface HelveOptions {
  baseURL: string;
  token?: string;
  /** Instead of the global fetch. */
  fetch?: typeof fetch;
}

interface Sent extends RequestOptions {
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Where a follower of events stands. */
interface Place {
  last: string;
  met: boolean;
  greeted: boolean;
  told: boolean;
}

interface Frame {
  id: string;
  event: string;
  data: string;
}
