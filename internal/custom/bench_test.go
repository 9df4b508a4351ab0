package custom

import (
	"strconv"
	"strings"
	"testing"
)

// sixTools is a file of six tools with the arguments tools usually have.
func sixTools() string {
	var b strings.Builder
	b.WriteString("-- tools/six.ts --\nimport { tool } from \"@opencode-ai/plugin\"\nconst z = tool.schema\n")
	for i := range 6 {
		b.WriteString("export const t" + strconv.Itoa(i) + ` = tool({
  description: "A tool",
  args: { path: z.string().describe("Where"), mode: z.enum(["a", "b"]).default("a"), limit: z.number().int().min(1).optional() },
  execute: async ({ path }) => path,
})
`)
	}
	return b.String()
}

// BenchmarkFirst brings six tools of a file: cold without anything kept, warm with all compiled
// before.
func BenchmarkFirst(b *testing.B) {
	for _, kept := range []bool{false, true} {
		name, dir := "cold", ""
		if kept {
			name, dir = "warm", b.TempDir()
		}
		b.Run(name, func(b *testing.B) {
			x := newBench(b, sixTools(), withCache(dir))
			x.set.Gather(b.Context())
			for b.Loop() {
				s := New(x.set.opt)
				s.opt.Register = x.register
				s.Gather(b.Context())
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCall(b *testing.B) {
	x := newBench(b, sixTools(), nil)
	x.output("six_t0", `{"path":"x"}`)
	b.ResetTimer()
	for b.Loop() {
		x.output("six_t0", `{"path":"x"}`)
	}
}

// BenchmarkNeed is what a call of a built-in tool pays: with no tool files but others, and when
// files were looked at just before or not.
func BenchmarkNeed(b *testing.B) {
	for name, look := range map[string]bool{"recent": false, "look": true} {
		b.Run(name, func(b *testing.B) {
			x := newBench(b, sixTools(), nil)
			for b.Loop() {
				if look {
					x.look()
				}
				x.set.Need(b.Context(), "read")
			}
		})
	}
}

func BenchmarkFresh(b *testing.B) {
	x := newBench(b, sixTools(), nil)
	x.set.Gather(b.Context())
	for b.Loop() {
		x.look()
		x.set.Gather(b.Context())
	}
}

func BenchmarkHook(b *testing.B) {
	x := newBench(b, "-- plugins/a.ts --\nexport const A = () => ({ 'tool.execute.before': async (i, o) => { o.args.x = 1 } })\n", nil)
	x.set.Need(b.Context(), "read")
	for b.Loop() {
		x.hook("tool.execute.before", `{"tool":"read"}`, `{"args":{}}`)
	}
}
