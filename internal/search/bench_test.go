package search

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// corpus reads the sources of Go, or the trees that HELVE_TRIGRAM_TREES names.
// Binary files are left out.
func corpus(b *testing.B) (texts [][]byte) {
	b.Helper()
	roots := os.Getenv("HELVE_TRIGRAM_TREES")
	if roots == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			b.Skip("no go command: ", err)
		}
		roots = filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	for _, root := range filepath.SplitList(roots) {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			text, err := os.ReadFile(path)
			if err == nil && bytes.IndexByte(text[:min(len(text), 64<<10)], 0) < 0 {
				texts = append(texts, text)
			}
			return nil
		})
	}
	if len(texts) == 0 {
		b.Skipf("no texts in %s", roots)
	}
	return texts
}

func indexOf(texts [][]byte) *Index {
	x := NewIndex(128 << 20)
	for i, text := range texts {
		x.Put(uint32(i), text)
	}
	return x
}

func BenchmarkBuild(b *testing.B) {
	texts := corpus(b)
	total := 0
	for _, text := range texts {
		total += len(text)
	}
	b.SetBytes(int64(total))
	b.ResetTimer()
	var x *Index
	for b.Loop() {
		x = indexOf(texts)
	}
	b.ReportMetric(float64(len(texts)), "texts")
	b.ReportMetric(float64(x.bytes())/1e6, "MB")
}

func BenchmarkUpdate(b *testing.B) {
	texts := corpus(b)
	x := indexOf(texts)
	i := 0
	b.ResetTimer()
	for b.Loop() {
		// Another text under the id, so that most change their class.
		x.Put(uint32(i%len(texts)), texts[(i*7919+1)%len(texts)])
		i++
	}
}

func BenchmarkQuery(b *testing.B) {
	texts := corpus(b)
	x := indexOf(texts)
	n := uint32(len(texts))
	for _, q := range []struct {
		name  string
		needs [][]string
	}{
		{"nothing", [][]string{{"zzqqxxnomatch"}}},
		{"runtime_pollWait", [][]string{{"runtime_pollwait"}}},
		{"ServeHTTP", [][]string{{"servehttp"}}},
		{"TODO_FIXME", [][]string{{"todo", "fixme"}}},
		{"func", [][]string{{"func "}}},
		{"import", [][]string{{"import ("}}},
	} {
		b.Run(q.name, func(b *testing.B) {
			var c *Candidates
			for b.Loop() {
				c = x.Query(q.needs)
			}
			truth := 0
			for id, text := range texts {
				if satisfies(text, q.needs) {
					truth++
					if !c.Has(uint32(id)) {
						b.Fatalf("text %d was lost", id)
					}
				}
			}
			b.ReportMetric(float64(c.Count(n)), "candidates")
			b.ReportMetric(float64(truth), "true")
		})
	}
}
