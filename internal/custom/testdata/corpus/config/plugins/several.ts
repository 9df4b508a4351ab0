// Several plugins in one file; one of them gives nothing.
export async function Counter() {
  let n = 0
  return {
    "tool.execute.before": async (_i: unknown, o: any) => {
      o.args.count = ++n
    },
  }
}

export const Stamper = async () => ({
  "tool.execute.before": async (i: any, o: any) => {
    o.args.stamp = `${i.tool}-${o.args.count}`
    if (i.tool === "bad") throw new TypeError("bad is not allowed")
  },
  "tool.execute.after": async (_i: any, o: any) => {
    o.output += " (stamped)"
    throw new Error("after all")
  },
})

export const Silent = async () => {}
