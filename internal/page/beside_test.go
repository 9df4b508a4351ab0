package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve/internal/page"
)

// BenchmarkBeside makes large pages into Markdown, beside turndown on its own
// DOM in one process of node, from the folder of npm that HELVE_TURNDOWN names.
func BenchmarkBeside(b *testing.B) {
	for _, kind := range [][3]string{{"docs", "docs", ""}, {"wiki", "sites", "wiki"}, {"tables", "tables", ""}} {
		html := largePage(b, kind[1], kind[2], 1<<20)
		b.Run(kind[0]+"/helve", func(b *testing.B) {
			for b.Loop() {
				text, _ := page.Decode([]byte(html), "utf-8")
				doc, err := page.Parse(b.Context(), text)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := doc.Markdown(b.Context(), true); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(kind[0]+"/turndown", func(b *testing.B) {
			dir := os.Getenv("HELVE_TURNDOWN")
			if dir == "" {
				b.Skip("HELVE_TURNDOWN names no folder: .ci/npm turndown turndown@7.2.0")
			}
			file := filepath.Join(b.TempDir(), "page.html")
			if err := os.WriteFile(file, []byte(html), 0o644); err != nil {
				b.Fatal(err)
			}
			const warm = 2
			out, err := exec.Command("node", filepath.Join("testdata", "turndown.js"), filepath.Join(dir, "node_modules"), file, fmt.Sprint(warm+b.N)).Output()
			var times []float64 // ms
			if err == nil {
				err = json.Unmarshal(out, &times)
			}
			if err != nil {
				b.Fatal(err)
			}
			sum := 0.0
			for _, ms := range times[warm:] {
				sum += ms
			}
			b.ReportMetric(sum/float64(b.N)*1e6, "ns/op")
		})
	}
}

// largePage repeats the bodies of pages of an archive until they are of a size.
func largePage(b *testing.B, archive, match string, size int) string {
	b.Helper()
	pages, err := txtar.ParseFile(filepath.Join("testdata", "pages", archive+".txtar"))
	if err != nil {
		b.Fatal(err)
	}
	var unit strings.Builder
	for _, f := range pages.Files {
		body := string(f.Data)
		if _, after, ok := strings.Cut(body, "<body"); ok {
			_, body, _ = strings.Cut(after, ">")
			body, _, _ = strings.Cut(body, "</body>")
		}
		if strings.HasSuffix(f.Name, ".html") && strings.Contains(f.Name, match) {
			unit.WriteString(body + "\n")
		}
	}
	if unit.Len() == 0 {
		b.Fatalf("%s.txtar has no page %s", archive, match)
	}
	return "<!doctype html><html><head><title>Large</title></head><body>\n" + strings.Repeat(unit.String(), 1+size/unit.Len()) + "</body></html>\n"
}
