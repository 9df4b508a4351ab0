package regex

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goSource is about size bytes of Go's own source.
func goSource(tb testing.TB, size int) []byte {
	tb.Helper()
	var text []byte
	err := filepath.WalkDir(filepath.Join(build.Default.GOROOT, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		data, err := os.ReadFile(path)
		text = append(text, data...)
		if len(text) > size {
			return fs.SkipAll
		}
		return err
	})
	if err != nil || len(text) < size/2 {
		tb.Skip("no source of Go: ", err)
	}
	return text
}

func benchPatterns() []string {
	return []string{
		`zzqqxxnomatch`, `ServeHTTP`, `if err != nil \{`, `func \w+\(`, `TODO|FIXME`, `(?i)deprecated`, `(?i)todo|fixme|xxx|hack`, `[A-Z]{3,}_\d+`,
		`\d{4}-\d{2}-\d{2}`, `[a-z]+\d+[a-z]+\d+[a-z]+\d+`, `^import \(`, `\berr\b.*nil`, `\w+Error\(`, `naïve|façade|é`, `context\.(Background|TODO)\(\)`, `\}$`,
	}
}

func countLines(m *Matcher, text []byte) (n int) {
	for from := 0; ; n++ {
		_, end, ok := m.Next(text, from)
		if !ok {
			return n
		}
		from = end + 1
	}
}

func BenchmarkLines(b *testing.B) {
	text := goSource(b, 16<<20)
	for _, pattern := range benchPatterns() {
		b.Run(strings.ReplaceAll(pattern, "/", "|"), func(b *testing.B) {
			m := mustCompile(b, pattern, Options{}).Matcher(nil)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				b.ReportMetric(float64(countLines(m, text)), "lines")
			}
		})
	}
}

// BenchmarkAutomaton is BenchmarkLines without the sieve.
func BenchmarkAutomaton(b *testing.B) {
	text := goSource(b, 16<<20)
	for _, pattern := range benchPatterns() {
		b.Run(pattern, func(b *testing.B) {
			m := unsieved(mustCompile(b, pattern, Options{})).Matcher(nil)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				countLines(m, text)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, pattern := range benchPatterns() {
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(pattern, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkShort is a small file with a new Matcher.
func BenchmarkShort(b *testing.B) {
	text := goSource(b, 64<<10)[:8<<10]
	for _, pattern := range benchPatterns() {
		b.Run(pattern, func(b *testing.B) {
			re := mustCompile(b, pattern, Options{})
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				countLines(re.Matcher(nil), text)
			}
		})
	}
}
