import { tool } from "@opencode-ai/plugin"
import fs = require("fs")
import * as whole from "zod"
import byDefault from "zod"
import { z, ZodError, type ZodType } from "zod"
import { z as four } from "zod/v4"

// What TypeScript has beside types.
enum Priority {
  Low,
  High = 5,
  Urgent,
}
enum Channel {
  Mail = "mail",
  Chat = "chat",
}
declare const NEVER_THERE: string

namespace Text {
  export namespace Cases {
    export const upper = (s: string) => s.toUpperCase()
  }
  export let calls = 0
}

function pick(key: string): string
function pick(key: number): number
function pick(key: any) {
  Text.calls++
  return key
}

abstract class Shape {
  static #made = 0
  readonly id: number
  constructor(
    protected readonly name: string,
    private sides?: number,
  ) {
    this.id = ++Shape.#made
  }
  abstract area(): number
  get #label() {
    return `${this.name}#${this.id}`
  }
  describe(this: Shape) {
    return `${this.#label} ${this.sides ?? "round"} ${this.area().toFixed(2)}`
  }
}
class Square extends Shape {
  constructor(private side: number) {
    super("square", 4)
  }
  override area() {
    return this.side ** 2
  }
}
class Circle extends Shape {
  declare radius: number
  constructor(radius: number) {
    super("circle")
    this.radius = radius
  }
  area = () => Math.PI * this.radius ** 2
}

const limits = { mail: 3, chat: 10 } as const satisfies Record<`${Channel}`, number>
const identity = <T,>(value: T): T => value

export default tool({
  description: "TypeScript",
  args: {
    priority: z.nativeEnum(Priority).optional(),
    channel: z.enum(Channel).optional().describe("How to tell"),
  },
  async execute({ priority, channel }) {
    const checked = z.object({ a: z.string() }).safeParse({ a: 1 })
    let late: number | null = null
    late ??= Priority.Urgent
    late &&= late + 1
    let thrown = ""
    try {
      z.string().min(3, { message: "short" }).parse("a")
    } catch (e) {
      thrown = e instanceof ZodError ? `${e.name}: ${e.issues.map((i) => i.message)}` : String(e)
    }
    return JSON.stringify(
      [
        Priority[5], Priority.Urgent, Object.values(Channel), priority === undefined ? "none" : Priority[priority], channel && limits[channel],
        Text.Cases.upper(pick("x")), pick(2), Text.calls, new Square(3).describe(), new Circle(1).describe(), identity<unknown>(3), late, fs.existsSync("/"),
        [whole.z === byDefault, z === whole.z, four === z], checked.error instanceof ZodError, checked.error?.issues[0]?.message, thrown, 1_000 + 0b11 + 0o17, typeof NEVER_THERE,
      ],
      null,
      1,
    )
  },
})
