package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve/internal/page"
)

//go:embed turndown.js
var turndownScript string

// pages measures making large pages into Markdown beside turndown.
func pages(ctx context.Context, b *bench) {
	w := b.world(allowed)
	script := filepath.Join(w.Root, "turndown.js")
	b.must(os.WriteFile(script, []byte(turndownScript), 0o644))
	modules := filepath.Join(b.peers["turndown"], "node_modules")
	var pkg struct{ Version string }
	text, err := os.ReadFile(filepath.Join(modules, "turndown", "package.json"))
	b.must(errors.Join(err, json.Unmarshal(text, &pkg)))
	const warm = 2
	rounds := warm + b.size(9, 1)
	for _, kind := range [][3]string{{"web.docs", "docs", ""}, {"web.wiki", "sites", "wiki"}, {"web.tables", "tables", ""}} {
		id, html := kind[0], b.largePage(kind[1], kind[2], 1<<20)
		file := filepath.Join(w.Project, id)
		b.must(os.WriteFile(file, []byte(html), 0o644))
		v, err := run(ctx, w, program{argv: []string{"node", script, modules, file, fmt.Sprint(rounds)}})
		b.must(err)
		var ours, theirs []float64
		b.must(json.Unmarshal([]byte(v.out), &theirs))
		for range rounds {
			began := time.Now()
			_, err := markdown(ctx, []byte(html))
			b.must(err)
			ours = append(ours, millis(time.Since(began)))
		}
		b.beside(id, "ms", median(ours[warm:]), "turndown "+pkg.Version, median(theirs[warm:]), "")
	}
}

// markdown is the way of a page through helve.
func markdown(ctx context.Context, body []byte) (string, error) {
	text, _ := page.Decode(body, "utf-8")
	doc, err := page.Parse(ctx, text)
	if err != nil {
		return "", err
	}
	text, _, err = doc.Markdown(ctx, true)
	return text, err
}

// largePage repeats the bodies of pages that helve is tested with until they are
// of a size.
func (b *bench) largePage(archive, match string, size int) string {
	pages, err := txtar.ParseFile(filepath.Join("internal", "page", "testdata", "pages", archive+".txtar"))
	b.must(err)
	var unit, out strings.Builder
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
		b.must(fmt.Errorf("%s.txtar has no page %s", archive, match))
	}
	out.WriteString("<!doctype html><html><head><title>Large</title></head><body>\n")
	for out.Len() < size {
		out.WriteString(unit.String())
	}
	return out.String() + "</body></html>\n"
}
