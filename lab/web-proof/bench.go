package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/helve-dev/helve/internal/page"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/lab/internal/proof"
)

const (
	benchBytes = 1 << 20
	endBytes   = 5 << 20
	rounds     = 9
	warmUps    = 2
)

// bench times the conversion of large pages by both, and the way of a page
// from a server on this machine to Markdown. Its figures, in ms: web.docs,
// web.wiki and web.tables beside turndown, and web.whole, of which
// web.whole.converting is part.
func bench(ctx context.Context, s *settings) error {
	pages, err := samples(s.pages)
	if err != nil {
		return err
	}
	turndown, err := install(ctx, s.dir)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "web-proof-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	kinds := []struct{ name, match, id string }{{"docs page", "docs/", "web.docs"}, {"wiki page", "sites/wiki", "web.wiki"}, {"tables", "tables/", "web.tables"}}
	large := map[string]string{}
	var files []string
	for _, k := range kinds {
		file := filepath.Join(work, k.name)
		large[k.name] = grow(pages, k.match, benchBytes)
		if err := os.WriteFile(file, []byte(large[k.name]), 0o600); err != nil {
			return fmt.Errorf("writing a page: %w", err)
		}
		files = append(files, file)
	}
	theirs, err := turndown.bench(ctx, files)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "1 MB of\tturndown\thelve\ttimes faster\t")
	for _, k := range kinds {
		ours, err := median(func() error { _, err := convert(ctx, []byte(large[k.name])); return err })
		if err != nil {
			return err
		}
		s.sheet.Add(proof.Figure{ID: k.id, Unit: "ms", Value: proof.Millis(ours), Peer: "turndown " + turndownVersion, PeerValue: proof.Millis(theirs[k.name])})
		fmt.Fprintf(table, "%s\t%s\t%s\t%.1f\t\n", k.name, round(theirs[k.name]), round(ours), float64(theirs[k.name])/float64(ours))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return endToEnd(ctx, s, grow(pages, "docs/", endBytes-(64<<10)))
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// grow repeats the bodies of some pages until they are of a size.
func grow(pages []sample, match string, size int) string {
	var unit strings.Builder
	for _, p := range pages {
		if !strings.HasPrefix(p.name, match) {
			continue
		}
		body := p.html
		if _, after, ok := strings.Cut(body, "<body"); ok {
			_, body, _ = strings.Cut(after, ">")
			body, _, _ = strings.Cut(body, "</body>")
		}
		unit.WriteString(body + "\n")
	}
	var out strings.Builder
	out.WriteString("<!doctype html><html><head><title>Large</title></head><body>\n")
	for out.Len() < size {
		out.WriteString(unit.String())
	}
	out.WriteString("</body></html>\n")
	return out.String()
}

// convert is the way of a page through helve.
func convert(ctx context.Context, body []byte) (string, error) {
	text, _ := page.Decode(body, "utf-8")
	doc, err := page.Parse(ctx, text)
	if err != nil {
		return "", err
	}
	markdown, _, err := doc.Markdown(ctx, true)
	return markdown, err
}

func median(do func() error) (time.Duration, error) {
	var times []time.Duration
	for i := range warmUps + rounds {
		began := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		if i >= warmUps {
			times = append(times, time.Since(began))
		}
	}
	return proof.Median(times), nil
}

// bench times turndown over files, in one process.
func (f *foreign) bench(ctx context.Context, files []string) (map[string]time.Duration, error) {
	out, err := f.run(ctx, nil, append([]string{"bench"}, files...)...)
	if err != nil {
		return nil, err
	}
	all := map[string]time.Duration{}
	for line := range bytes.Lines(out) {
		var m struct {
			Name   string
			Median time.Duration
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("reading turndown's times: %w", err)
		}
		all[m.Name] = m.Median
	}
	return all, nil
}

// endToEnd fetches a page from a server on this machine and converts it.
func endToEnd(ctx context.Context, s *settings, html string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(html))
	})}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()

	address, err := web.Read("http://" + listener.Addr().String() + "/page")
	if err != nil {
		return err
	}
	client := web.New(web.Options{UserAgent: "helve/web-proof"})
	allow := func(context.Context, web.Hop) error { return nil } // the machine is where the server is
	var runs []journey
	for i := range warmUps + rounds {
		j, err := travel(ctx, client, web.Get{Address: address, Judge: allow}, len(html))
		if err != nil {
			return err
		}
		if i >= warmUps {
			runs = append(runs, j)
		}
	}
	slices.SortFunc(runs, func(a, b journey) int { return cmp.Compare(a.total, b.total) })
	middle := runs[len(runs)/2]
	s.sheet.Add(proof.Figure{ID: "web.whole", Unit: "ms", Value: proof.Millis(middle.total), Note: fmt.Sprintf("A page of %.1f MB.", float64(len(html))/(1<<20))})
	s.sheet.Add(proof.Figure{ID: "web.whole.converting", Unit: "ms", Value: proof.Millis(middle.converting)})
	_, err = fmt.Fprintf(s.out, "a page of %.1f MB, end to end from this machine: %s, of which converting %s (%.0f %%)\n",
		float64(len(html))/(1<<20), round(middle.total), round(middle.converting), 100*float64(middle.converting)/float64(middle.total))
	return err
}

// A journey is how long a page took from the server to Markdown.
type journey struct{ total, converting time.Duration }

func travel(ctx context.Context, client *web.Client, get web.Get, size int) (journey, error) {
	began := time.Now()
	got, err := client.Get(ctx, get)
	if err != nil {
		return journey{}, err
	}
	if got.Cut || len(got.Body) != size {
		return journey{}, fmt.Errorf("fetching: %d of %d bytes came", len(got.Body), size)
	}
	came := time.Now()
	_, err = convert(ctx, got.Body)
	return journey{time.Since(began), time.Since(came)}, err
}
