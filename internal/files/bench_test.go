package files

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// source makes up n bytes that pack like program text.
func source(n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "\tif err := step%d(ctx, %d); err != nil {\n\t\treturn err\n\t}\n", rand.N(1000), rand.N(1000))
	}
	return b.String()[:n]
}

func BenchmarkChange(b *testing.B) {
	for _, sync := range []bool{false, true} {
		for _, size := range []int{10 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%dKB,sync=%v", size>>10, sync), func(b *testing.B) {
				s := NewHistory(HistoryOptions{Dir: b.TempDir(), Sync: sync})
				path := filepath.Join(newMemDisk().root, "file.go")
				text := []byte(source(size))
				b.SetBytes(int64(size))
				for i := 0; b.Loop(); i++ {
					copy(text, fmt.Sprintf("%09d", i)) // new contents each time
					after := DescribeContent(text[1:], true, 0o644)
					p, err := s.Begin(ChangeSet{By: By{Session: "s", Call: "c", Tool: "edit"}, Changes: []KeptChange{{
						Path: path, Before: DescribeContent(text, true, 0o644), After: after,
					}}}, map[string][]byte{path: text}, nil)
					ok(b, err)
					ok(b, p.Done(nil))
				}
			})
		}
	}
}

func fill(b *testing.B, n int) *History {
	b.Helper()
	s, d := NewHistory(HistoryOptions{Dir: b.TempDir()}), newMemDisk()
	for i := range n {
		d.change(b, s, ChangeSet{By: By{Session: fmt.Sprint("session_", i/100), Call: fmt.Sprint("call_", i), Tool: "edit"}, Project: d.root},
			map[string]*file{d.path(fmt.Sprint("f", i%100)): text(fmt.Sprint(i))})
	}
	return s
}

func BenchmarkList(b *testing.B) {
	s := fill(b, 10_000)
	for _, q := range []struct {
		name string
		HistoryQuery
		want int
	}{
		{"newest20", HistoryQuery{Limit: 20}, 20},
		{"oldest-call", HistoryQuery{Call: "call_0", Limit: 1}, 1},
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				if got := len(list(b, s, q.HistoryQuery)); got != q.want {
					b.Fatal(got)
				}
			}
		})
	}
}

func BenchmarkSweep(b *testing.B) {
	s := fill(b, 10_000)
	for b.Loop() {
		ok(b, s.Sweep(b.Context()))
	}
}
