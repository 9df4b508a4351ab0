package replace

import (
	"fmt"
	"strings"
	"testing"
)

// program returns about size bytes that look like source code.
func program(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "// step%d does part %d of the work.\nfunc step%d(in []int) (out int, err error) {\n\tfor _, v := range in {\n\t\tif v > %d {\n\t\t\treturn 0, fmt.Errorf(\"value %%d is too large\", v)\n\t\t}\n\t\tout += v * %d\n\t}\n\treturn out, nil\n}\n\n", i, i, i, i*3, i*7)
	}
	return b.String()
}

// A hostile case is one on which a careless search takes for ever.
type hostile struct{ name, content, old string }

// hostiles makes the cases, smaller by a factor.
func hostiles(by int) []hostile {
	long := strings.Repeat("a", 200)
	lines := func(s string, n int) string { return strings.Repeat(s, n/by) }
	var few, deep, stairs strings.Builder
	for i := range 2000 / by {
		few.WriteString(strings.Repeat(" ", i%500) + "x\n")
		deep.WriteString("start\n" + strings.Repeat("a ", 50) + "\n")
		stairs.WriteString("y" + strings.Repeat(" ", i) + "foo\n")
	}
	return []hostile{
		{"almost every line", lines(long+"\n", 50000), long + "b"},
		{"almost every line, blanks", lines(long+"\n", 50000), long[:100] + " " + long[100:] + "b"},
		{"many blocks", lines("start\n"+strings.Repeat("x", 1000)+"\nend\n", 300), "start\n" + strings.Repeat("y", 1000) + "\nend"},
		{"large quote", "a file of just thirty bytes..\n", lines("some line to be quoted\n", 220000)},
		{"large quote of one line", "a file of just thirty bytes..\n", lines("word ", 1000000)},
		{"large quote of line feeds", "a\n\nb", lines("\n", 5000000)},
		{"equal lines", lines("same\n", 100000), lines("same\n", 1000) + "other"},
		{"equal lines, blanks", lines("same\n", 100000), lines(" same\n", 1000) + "other"},
		{"equal lines, all quoted", lines("same line\n", 100000), lines("same  line\n", 1000)},
		{"equal lines, trimmed", lines("same line\n", 100000), lines("same line \n", 1000)},
		{"equal words", lines("same ", 400000), lines("same  ", 2000) + "other"},
		{"equal words, all quoted", lines("same ", 400000), lines("same  ", 2000)},
		{"blank lines", lines("\n", 2000000), " \n\t\n \n"},
		{"blank lines and an x", lines("\n", 1000000) + "x" + lines("\n", 1000000), lines(" \n", 500) + "x" + lines("\n ", 500)},
		{"indentations", few.String() + few.String(), "x "},
		{"stairs", stairs.String() + stairs.String(), "foo  "},
		{"one end for many starts", deep.String() + "end\n", "start\n" + lines(strings.Repeat("b ", 50)+"\n", 1000) + "end"},
		{"backslashes", lines(`\n\t\\\"`+"\n", 100000), lines("\n\t", 300) + `\`},
		{"trailing backslashes", lines("a\\\n", 200000), lines("a\n", 2000) + "b"},
		{"punctuation", "{\n" + lines("a(b);\n", 100000) + "}\n", "{\n" + lines("a[b]\n", 1000) + "}"},
		{"quoted blocks", lines("{\na(b);\n\n}\n", 50000), "{\na[b]\n\n}"},
		{"long lines", "s\n" + lines("x", 2<<20) + "\ne\ns\n" + lines("y", 2<<20) + "\ne\n", "s\n" + lines("z", 2<<20) + "\ne"},
	}
}

// Every case must come to an end. What each costs in full is told by
// BenchmarkHostile.
func TestHostile(t *testing.T) {
	for _, h := range hostiles(10) {
		for _, opt := range []Options{{}, {Profile: Seed}, {All: true}} {
			m, err := Find(h.content, h.old, opt)
			if err == nil && len(m.Spans) == 0 {
				t.Errorf("%s: %+v", h.name, m)
			}
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, h := range hostiles(1) {
		for _, p := range []Profile{Safe, Seed} {
			b.Run(h.name+"/"+string(p), func(b *testing.B) {
				for b.Loop() {
					Find(h.content, h.old, Options{Profile: p})
				}
			})
		}
	}
}

func BenchmarkFind(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"150KB", 150 << 10}, {"1MB", 1 << 20}, {"10MB", 10 << 20}} {
		content := program(size.bytes)
		lines := strings.SplitAfter(content, "\n")
		const height = 11 // of a function with what is around it
		from := len(lines) * 3 / 4 / height * height
		block := strings.Join(lines[from:from+height-1], "")
		for _, c := range []struct{ name, old string }{
			{"exact", block},
			{"fuzzy", strings.ReplaceAll(block, "\t", "    ")},
			{"quoted", strings.ReplaceAll(block, "\"", "'")},
			{"miss", strings.ReplaceAll(block, "value", "number")},
			{"far miss", "def other_thing(self):\n    \"\"\"Says something.\"\"\"\n    return self._thing.fetch(\"x\", timeout=30)\n"},
		} {
			for _, p := range []Profile{Safe, Seed} {
				b.Run(fmt.Sprintf("%s/%s/%s", c.name, size.name, p), func(b *testing.B) {
					b.SetBytes(int64(len(content)))
					b.ReportAllocs()
					for b.Loop() {
						Find(content, c.old, Options{Profile: p})
					}
				})
			}
		}
	}
}
