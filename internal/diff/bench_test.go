package diff

import (
	"fmt"
	"strings"
	"testing"
)

func numbered(size int, format string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func BenchmarkUnified(b *testing.B) {
	for _, mb := range []int{1, 10} {
		before := numbered(mb<<20, "%09d some text that fills a line of a hundred characters or nearly so, as they are in most files\n")
		n := strings.Count(before, "\n") / 2
		one := strings.Replace(before, fmt.Sprintf("%09d some", n), "changed", 1)
		some := strings.ReplaceAll(before, "7 some", "7 other")
		braces := strings.ReplaceAll(before, "7 some", "\n}\n")
		for _, c := range []struct{ name, before, after string }{
			{"one line", before, one},
			{"every tenth", before, some},
			{"all", before, strings.ReplaceAll(before, "some", "other")},
			{"all but braces", braces, strings.ReplaceAll(strings.ReplaceAll(braces, "some", "other"), "\n0", "\n")},
			{"few kinds", kinds(mb<<20, 7), kinds(mb<<20, 11)},
			{"blank lines", strings.Repeat("\n", mb<<20), strings.Repeat("\n", mb<<19) + "x\n" + strings.Repeat("\n", mb<<19)},
		} {
			b.Run(fmt.Sprintf("%dMB/%s", mb, c.name), func(b *testing.B) {
				b.SetBytes(int64(len(c.before)))
				b.ReportAllocs()
				for b.Loop() {
					Unified("f", c.before, c.after)
				}
			})
		}
	}
}

// kinds is a text of few different lines in no order.
func kinds(size, seed int) string {
	var b strings.Builder
	for i := seed; b.Len() < size; i = (i*1103515245 + 12345) & 0x7fffffff {
		fmt.Fprintf(&b, "this is one of a few kinds of lines of about a hundred characters each, and of kind number %d\n", i>>16%50)
	}
	return b.String()
}
