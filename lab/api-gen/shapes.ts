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
  onPermission?: (request: PermissionRequest) => PermissionReply | Promise<PermissionReply>;
  /** Answers questions, a list of labels or own words each; null dismisses them. */
  onQuestion?: (request: QuestionRequest) => string[][] | null | Promise<string[][] | null>;
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
