package regex

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// source returns size bytes of source text.
func source(b *testing.B, size int) []byte {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no Go source tree to read: ", err)
	}
	var text []byte
	dir := filepath.Join(strings.TrimSpace(string(root)), "src")
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := os.ReadFile(path)
		text = append(text, file...)
		if len(text) >= size {
			return fs.SkipAll
		}
		return err
	})
	if err != nil || len(text) < size {
		b.Skip("no Go source tree to read: ", err)
	}
	return text[:size]
}

// BenchmarkFinder finds all hits in 16 MB of source text.
func BenchmarkFinder(b *testing.B) {
	text := source(b, 16<<20)
	run := func(name string, next func(from int) int) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			n := 0
			for b.Loop() {
				n = 0
				for p := next(0); p >= 0; p = next(p + 1) {
					n++
				}
			}
			b.ReportMetric(float64(n), "hits")
		})
	}
	run("bytes.IndexByte", func(p int) int { return shiftIndex(bytes.IndexByte(text[p:], 0xff), p) })
	run("bytes.Index", func(p int) int { return shiftIndex(bytes.Index(text[p:], []byte("ServeHTTP")), p) })
	for _, c := range []struct {
		name string
		alts []Sequence
	}{
		{"no match", seqs("zzqqxxnomatch")},
		{"literal", seqs("ServeHTTP")},
		{"common", seqs("if err != nil {")},
		{"case", seqs("~d~e~p~r~e~c~a~t~e~d")},
		{"alternatives", seqs("TODO", "FIXME")},
		{"alternatives in any case", seqs("~t~o~d~o", "~f~i~x~m~e", "~x~x~x", "~h~a~c[~kK]")},
		{"upper", seqs("[A-Z][A-Z][A-Z]_[0-9]")},
		{"date", seqs("[0-9][0-9]-[0-9]")},
		{"brace", seqs("}")},
	} {
		f := NewFinder(c.alts, false)
		run(c.name+"/vector", func(p int) int { return f.Next(text, p) })
		g := NewFinder(c.alts, true)
		run(c.name+"/portable", func(p int) int { return g.Next(text, p) })
	}
}

func BenchmarkNew(b *testing.B) {
	one, two := seqs("ServeHTTP"), seqs("TODO", "FIXME")
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			NewFinder(one, false)
		}
	})
	b.Run("two", func(b *testing.B) {
		for b.Loop() {
			NewFinder(two, false)
		}
	})
}

// BenchmarkScanShort is the price of a call.
func BenchmarkScanShort(b *testing.B) {
	text := []byte(strings.Repeat("one line of text as it may be\n", 3))
	for _, alts := range [][]Sequence{seqs("ServeHTTP"), seqs("TODO", "FIXME")} {
		f := NewFinder(alts, false)
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				f.Next(text, 0)
			}
		})
	}
}
