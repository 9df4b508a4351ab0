import { tool } from "@opencode-ai/plugin"
const z = tool.schema
// zod in many ways
const Base = z.object({ a: z.string().nonempty(), b: z.number().finite().safe().optional() })
const Deep: any = z.lazy(() => z.object({ name: z.string(), kids: z.array(Deep).optional() }))
export default tool({ 
  description: "Arguments of all kinds",
  args: {
    base: Base.strict(),
    loose: z.looseObject({ q: z.string() }).optional(),
    pass: Base.passthrough().optional(),
    strip: Base.strip().optional(),
    part: Base.partial().optional(),
    req: Base.partial().required().optional(),
    deepPartial: Base.omit({ a: true }).optional(),
    rec: z.record(z.enum(["x", "y"]), z.number()).optional(),
    recs: z.record(z.string(), z.array(z.string())).optional(),
    map: z.array(z.tuple([z.string(), z.number()]).rest(z.boolean())).optional(),
    ip: z.ipv4().optional(),
    em: z.email().optional(),
    u: z.url().optional(),
    dt: z.iso.datetime().optional(),
    b64: z.base64().optional(),
    cuid: z.string().cuid().optional(),
    ulid: z.string().ulid().optional(),
    emoji: z.string().emoji().optional(),
    nn: z.number().nonnegative().optional(),
    np: z.number().nonpositive().optional(),
    neg: z.number().negative().optional(),
    step: z.number().step(5).optional(),
    i32: z.int32().optional(),
    fl: z.float64().optional(),
    sb: z.stringbool().optional(),
    nullish: z.string().nullish(),
    nul: z.string().nullable(),
    un: z.union([z.string(), z.number(), z.null()]),
    du: z.discriminatedUnion("k", [z.object({ k: z.literal("a") }), z.object({ k: z.literal(["b", "c"]), v: z.string() })]),
    lit: z.literal([1, "two", true, null]),
    en: z.enum(["a", "b"]).exclude(["b"]),
    en2: z.enum(["a", "b"]).extract(["a"]),
    def: z.object({ q: z.number().default(3) }).default({ q: 3 }),
    pre: z.string().prefault("x"),
    fn: z.string().default(() => "made"),
    re: z.string().regex(/^[a-z]+$/i, "letters only"),
    st: z.string().startsWith("a").endsWith("z").includes("m"),
    up: z.string().uppercase().optional(),
    trim: z.string().trim().toLowerCase().optional(),
    len: z.array(z.string()).length(2).optional(),
    minmax: z.array(z.number()).min(1).max(3).optional(),
    set: z.string().array().optional(),
    oroo: z.string().or(z.number()).and(z.any()).optional(),
    pipe: z.string().pipe(z.coerce.number()).optional(),
    tr: z.string().transform(Number).optional(),
    deep: Deep.optional(),
    des: z.string().describe("one").optional().describe("two"),
    meta: z.number().meta({ description: "m", example: 5, deprecated: true }),
    unk: z.unknown(),
    nev: z.never().optional(),
    bool: z.boolean().default(true),
    co: z.coerce.boolean().optional(),
    cd: z.string().date().optional(),
    ct: z.string().time().optional(),
    dur: z.string().duration().optional(),
    jwt: z.string().jwt().optional(),
    json: z.json().optional(),
    cat: z.string().catch("c"),
    ro: z.array(z.string()).readonly(),
    br: z.string().brand("X"),
    ref: z.string().superRefine((v, c) => { if (v === "bad") c.addIssue({ code: "custom", message: "bad!" }) }),
    chk: z.number().refine((n) => n % 2 === 0, "even").optional(),
  },
  async execute(args) {
    return JSON.stringify(args)
  },
})

export const vals = tool({
  description: "Check a value by all kinds",
  args: { x: z.any() },
  async execute({ x }) {
    const tries: Record<string, any> = {
      strict: Base.strict(),
      ref: z.string().superRefine((v, c) => { if (v === "bad") c.addIssue({ code: "custom", message: "bad!", path: ["p"] }) }),
      un: z.union([z.string(), z.number()]),
      du: z.discriminatedUnion("k", [z.object({ k: z.literal("a") }), z.object({ k: z.literal("b") })]),
      en: z.enum(["a", "b"]),
      lit: z.literal(5),
      arr: z.array(z.number()).max(1),
      date: z.date(),
      co: z.coerce.date(),
      rec: z.record(z.string(), z.number()),
      tup: z.tuple([z.string()]),
      em: z.string().email("not mail"),
      custom: z.custom((v) => v === 1, "one"),
      inst: z.instanceof(Map),
      nan: z.nan(),
      big: z.bigint(),
      int: z.number().int(),
      def: z.object({ a: z.number().default(1), b: z.string().transform((s) => s + "!").optional() }),
      asy: z.string().refine(async (v) => v.length > 1, "async"),
    }
    const out: Record<string, unknown> = {}
    for (const [k, s] of Object.entries(tries)) {
      const r = await s.safeParseAsync(x)
      out[k] = r.success ? ["ok", typeof r.data === "bigint" ? "big" : r.data] : r.error.issues
    }
    return JSON.stringify(out)
  },
})
