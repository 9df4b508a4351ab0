package process

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is shown of a text keeps to the limits, begins as it does, ends as it
// does, and says how much is missing.
func TestShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := ExecutorOptions{Lines: rapid.IntRange(4, 20).Draw(t, "lines"), Bytes: rapid.IntRange(16, 200).Draw(t, "bytes")}
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "bc", "é", "🌍", "\n", "\n\n", "a long word "})).Draw(t, "text"), "")
		out := Output{Head: text, Bytes: int64(len(text)), Lines: int64(strings.Count(text, "\n"))}
		if text != "" && !strings.HasSuffix(text, "\n") {
			out.Lines++
		}
		got, cut := o.shownOutput(out)
		if !cut {
			if got != text || len(text) > o.Bytes || strings.Count(text, "\n") >= o.Lines {
				t.Fatalf("%q is shown as %q", text, got)
			}
			return
		}
		head, rest, ok := strings.Cut(got, "\n\n...")
		_, tail, ok2 := strings.Cut(rest, " truncated...\n\n")
		if !ok || !ok2 || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head)+len(tail) > o.Bytes {
			t.Fatalf("%q is shown as %q", text, got)
		}
	})
}

func TestShownOfMuch(t *testing.T) {
	o := ExecutorOptions{Lines: 8, Bytes: 1000}
	var b strings.Builder
	for i := 1; i <= 20; i++ {
		fmt.Fprintln(&b, i)
	}
	got, _ := o.shownOutput(Output{Head: b.String(), Bytes: int64(b.Len()), Lines: 20})
	if want := "1\n2\n\n...12 lines truncated...\n\n15\n16\n17\n18\n19\n20\n"; got != want {
		t.Errorf("%q", got)
	}
}
