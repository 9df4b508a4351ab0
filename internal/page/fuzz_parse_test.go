package page

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a page is, its tree is one, and small.
func FuzzParse(f *testing.F) {
	for _, s := range oddPieces() {
		f.Add("<p>a" + s + "b<table><tr><td>c")
	}
	for _, h := range hostilePages() {
		f.Add(h.make(100))
	}
	f.Fuzz(func(t *testing.T, src string) {
		doc, err := Parse(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		checkLinks(t, doc)
		if len(doc.nodes) > 2*strings.Count(src, "<")+2 {
			t.Fatalf("%d nodes of %d bytes", len(doc.nodes), len(src))
		}
		size := 0
		for i := range doc.nodes {
			n := &doc.nodes[i]
			size += len(n.text) + len(n.name)
			for _, a := range n.attrs {
				size += len(a.name) + len(a.value)
			}
			if utf8.ValidString(src) && !utf8.ValidString(n.text+n.name) {
				t.Fatalf("node %d is not valid: %q", i, n.text+n.name)
			}
		}
		if size > 3*len(src)+3 {
			t.Fatalf("a page of %d bytes reads as %d", len(src), size)
		}
	})
}

// All text of a page that has no markup is its text; and what is put around
// text does not make it less.
func FuzzParseText(f *testing.F) {
	for _, s := range oddPieces() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "&\r\x00") {
			return
		}
		text = strings.ReplaceAll(text, "<", "(")
		for _, src := range []string{text, "<p>" + text, "<b><div>" + text + "</b></div></i>", "<table><tr>" + text, "<head>" + text, "<svg>" + text} {
			if got := lettersOf(mustParse(t, src)); got != strings.Join(strings.Fields(text), "") {
				t.Fatalf("text of %q is %q", src, got)
			}
		}
	})
}
