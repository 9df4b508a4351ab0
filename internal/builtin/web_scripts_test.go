package builtin_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/tooltest"
)

// pixels is a small image.
func pixels(t testing.TB, width, height int) string {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// internet gives every script a network: some sites, and a search engine.
func internet(t *testing.T) func(*tooltest.Env) error {
	article := "<nav><a href=/>Home</a></nav><main><h1>Guide</h1><p>" + strings.Repeat("Words of the guide. ", 30) + "</p></main>"
	sites := map[string]http.HandlerFunc{
		"docs.example/guide":        page("text/html; charset=utf-8", "<title>Docs</title>"+article),
		"docs.example/short":        page("text/html", "<h1>Hello</h1><p>world <b>wide</b></p>"),
		"docs.example/data.json":    page("application/json", `{"b": 1,  "a": [2]}`),
		"docs.example/escape.txt":   page("text/plain", "a\x1b[2Jb\r\nc\x00\u202ed"),
		"docs.example/latin":        page("text/html; charset=iso-8859-1", "<p>caf\xe9"),
		"docs.example/picture":      page("IMAGE/PNG", pixels(t, 3, 2)),
		"docs.example/large":        page("image/png", pixels(t, 4000, 10)),
		"docs.example/broken":       page("image/png", "not an image"),
		"docs.example/drawing.svg":  page("image/svg+xml", "<svg><text>hi</text></svg>"),
		"docs.example/paper.pdf":    page("application/pdf", onePage("words on paper")),
		"docs.example/scan.pdf":     page("application/pdf", onePage("")),
		"docs.example/program":      page("application/octet-stream", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		"docs.example/notes":        page("application/octet-stream", "only text"),
		"docs.example/untyped":      page("", "<!doctype html><p>x <i>y</i>"),
		"docs.example/script":       page("text/html", "<body><div id=app></div><script>draw()</script>"),
		"docs.example/app":          page("text/html", "<title>App</title><noscript>You need to enable JavaScript</noscript><script>draw()</script>"),
		"docs.example/latest":       page("text/html", `<meta http-equiv="refresh" content="0; url=/short">`),
		"docs.example/empty":        page("text/html", ""),
		"docs.example/gone":         statusPage(http.StatusNotFound, "<h1>Not here</h1><script>x()</script>"),
		"docs.example/busy":         busy,
		"old.example/guide":         http.RedirectHandler("http://docs.example/short", http.StatusMovedPermanently).ServeHTTP,
		"docs.example/moved":        http.RedirectHandler("/short", http.StatusFound).ServeHTTP,
		"docs.example/inside":       http.RedirectHandler("http://localhost:3000/app", http.StatusFound).ServeHTTP,
		"localhost:3000/app":        page("text/plain", "my server"),
		"localhost:3000/other":      http.RedirectHandler("http://localhost:3001/app", http.StatusFound).ServeHTTP,
		"localhost:3001/app":        page("text/plain", "another server"),
		"intranet.example/":         page("text/plain", "the intranet"),
		"search.example/mcp":        answerSearch,
		"docs.example/large.txt":    page("text/plain", strings.Repeat("é", 3<<20)),
		"docs.example/large.pdf":    page("application/pdf", onePage("")+strings.Repeat("%", 6<<20)),
		"docs.example/unfinished":   unfinished,
		"xn--xample-2of.com/":       page("text/plain", "a look-alike"),
		"docs.example/charset.json": page("application/json; charset=utf-16", "\xff\xfe{\x00}\x00"),
	}
	w := newWire(t, func(w http.ResponseWriter, r *http.Request) {
		if answer := sites[r.Host+r.URL.Path]; answer != nil {
			answer(w, r)
			return
		}
		http.NotFound(w, r)
	})
	for _, name := range []string{"docs.example", "old.example", "search.example", "xn--xample-2of.com"} {
		w.names[name] = [][]string{{publicIP}}
	}
	w.names["intranet.example"] = [][]string{{"10.1.2.3"}}
	w.names["meta.example"] = [][]string{{"169.254.169.254"}}
	exa, err := web.NewSearchEngine(web.SearchOptions{Provider: "exa", Endpoint: "http://search.example", Client: w.client(nil)})
	if err != nil {
		t.Fatal(err)
	}
	return func(e *tooltest.Env) error {
		e.Tools = append(e.Tools, webTools(builtin.Web{Client: w.client(nil), Cache: &web.Cache{}, Search: exa, Exa: exa})...)
		return nil
	}
}

func statusPage(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// busy asks to come back.
func busy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "30")
	http.Error(w, "too many of you", http.StatusTooManyRequests)
}

// unfinished promises more than it sends.
func unfinished(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", "100")
	fmt.Fprint(w, "the beginning")
}

// answerSearch is a search engine that knows one thing.
func answerSearch(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body)
	said := ""
	switch asked := body.String(); {
	case strings.Contains(asked, "broken"):
		http.Error(w, "the engine is broken", http.StatusBadGateway)
		return
	case strings.Contains(asked, "get_code_context_exa") && strings.Contains(asked, "helve"):
		said = "call helve like this"
	case strings.Contains(asked, "web_search_exa") && strings.Contains(asked, "helve"):
		said = "Title: helve"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":%q}]}}\n\n", said)
}

// onePage is a PDF with a page that says something, or nothing.
func onePage(words string) string {
	content := "BT /F 12 Tf 72 700 Td (" + words + ") Tj ET"
	if words == "" {
		content = ""
	}
	var out strings.Builder
	out.WriteString("%PDF-1.4\n")
	var at []int
	for i, object := range []string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"} {
		at = append(at, out.Len())
		fmt.Fprintf(&out, "%d 0 obj%sendobj\n", i+1, object)
	}
	start := out.Len()
	out.WriteString("xref\n0 6\n0000000000 65535 f \n")
	for _, offset := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", start)
	return out.String()
}
