import { tool } from "@opencode-ai/plugin"

// Numbers, dates and texts as people read them.
const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" })
const compact = Intl.NumberFormat("en", { notation: "compact" })
const day = new Intl.DateTimeFormat("en-US", { year: "numeric", month: "long", day: "2-digit", timeZone: "UTC" })

export default tool({
  description: "Format values",
  args: { numbers: tool.schema.array(tool.schema.number()), date: tool.schema.string() },
  async execute({ numbers, date }) {
    const d = new Date(date)
    const rows = numbers.map((n) => [n.toLocaleString(), n.toLocaleString("en-US", { maximumFractionDigits: 1 }), money.format(n), compact.format(n), (n / 100).toLocaleString(undefined, { style: "percent", minimumFractionDigits: 1 }), n.toFixed(2), n.toExponential(2), n.toString(36)].join(" | "))
    return [
      ...rows,
      day.format(d),
      d.toLocaleDateString("en-US"), d.toLocaleDateString(undefined, { month: "short", day: "numeric" }), d.toLocaleTimeString("en-US", { hour: "2-digit", minute: "2-digit", hour12: false, timeZone: "UTC" }),
      d.toLocaleDateString("en-GB"), d.toISOString(), d.toJSON(), d.toDateString(), d.getTimezoneOffset(),
      d.toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short", timeZone: "America/New_York" }),
      new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-1, "day"),
      new Intl.PluralRules("en").select(1), new Intl.ListFormat("en", { type: "conjunction" }).format(["a", "b", "c"]),
      ["item 10", "item 9", "Item 1", "äpfel", "zebra"].sort(new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare).join(","),
      ["b", "a", "C", "B", "_x", "1", "é", "e", "f"].sort((a, b) => a.localeCompare(b)).join(""),
      Intl.DateTimeFormat().resolvedOptions().timeZone,
      "ß".toLocaleUpperCase(), "İ".toLocaleLowerCase("en").length, "straße".normalize("NFD").length, "abc".padStart(5, "*"), "x".repeat(3), "a-b-c".replaceAll("-", "+"),
      "héllo wörld".replace(/\p{L}+/gu, (w) => w[0]!.toUpperCase() + w.slice(1)), "2024-03-01".replace(/(?<y>\d+)-(?<m>\d+)-(?<d>\d+)/, "$<d>.$<m>.$<y>"), "price: 5€, 7€".match(/\d+(?=€)/g)?.join("+"), "a1b2".split(/(?<=\d)/).join("/"),
      [..."👍🏽é"].length, "👍".codePointAt(0)?.toString(16), "abc".at(-1), encodeURIComponent("a b&ü"), decodeURIComponent("%C3%BC"), escape("ü"), "tEST".charAt(0).toUpperCase(),
      structuredClone({ a: new Date(0), m: new Map([[1, { x: 1 }]]) }).m.get(1)?.x, [3, 1, 2].toSorted().join(), Object.entries(Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even"))).join(";"),
      [1, [2, [3, [4]]]].flat(Infinity).join(), Array.from({ length: 3 }, (_, i) => i ** 2).findLast((x) => x < 4), Number("0x1f"), parseInt("12px", 10), Math.max(...[1, 5, 3]), 0.1 + 0.2, (25).toString(2), 1e21, -0, 123456789012345680000, 5e-7,
      BigInt(2) ** 64n, 10n.toLocaleString(), Number.MAX_SAFE_INTEGER.toLocaleString(), new Error("x", { cause: "y" }).cause, typeof structuredClone, new Set([1, 2]).union(new Set([3])).size,
    ].join("\n")
  },
})
