package page

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"
)

// A failer is a test, or a check of a law in it.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func mustParse(t failer, src string) *Doc {
	t.Helper()
	doc, err := Parse(context.Background(), src)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return doc
}

// lettersOf returns all that is text and not code, in order, without blanks.
func lettersOf(doc *Doc) string {
	var all strings.Builder
	for i := range doc.nodes {
		n := &doc.nodes[i]
		if i == 0 || n.name != "" {
			continue
		}
		if p := doc.nodes[n.parent].tag; p != atom.Script && p != atom.Style {
			all.WriteString(n.text)
		}
	}
	return strings.Join(strings.Fields(all.String()), "")
}

// browserTree reads a page by the rules of the standard.
func browserTree(t failer, src string) *html.Node {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(src), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatalf("html.Parse: %v", err)
	}
	return root
}

// browserLetters is lettersOf for a tree of the standard.
func browserLetters(root *html.Node) string {
	var all strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.DataAtom != atom.Script && n.Parent.DataAtom != atom.Style {
			all.WriteString(n.Data)
		}
	}
	return strings.Join(strings.Fields(all.String()), "")
}

// outline writes a tree down: elements that the standard adds where they are
// not written are left out, and so are blanks.
func outline(doc *Doc) string {
	var b strings.Builder
	var walk func(id int32)
	walk = func(id int32) {
		n := &doc.nodes[id]
		if n.name == "" && id != 0 {
			b.WriteString(strings.Join(strings.Fields(n.text), " "))
			return
		}
		shown := !added(n.name) && id != 0
		if shown {
			b.WriteString("<" + n.name)
			for _, a := range n.attrs {
				fmt.Fprintf(&b, " %s=%q", a.name, a.value)
			}
			b.WriteString(">")
		}
		for c := n.first; c != nobody; c = doc.nodes[c].next {
			walk(c)
		}
		if shown {
			b.WriteString("</" + n.name + ">")
		}
	}
	walk(0)
	return b.String()
}

func added(name string) bool {
	return name == "html" || name == "head" || name == "body" || name == "tbody" || name == "colgroup"
}

// browserOutline is outline for a tree of the standard.
func browserOutline(root *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			b.WriteString(strings.Join(strings.Fields(n.Data), " "))
			return
		case html.CommentNode, html.DoctypeNode:
			return
		}
		shown := n.Type == html.ElementNode && !added(n.Data)
		if shown {
			b.WriteString("<" + strings.ToLower(n.Data))
			for _, a := range n.Attr {
				fmt.Fprintf(&b, " %s=%q", strings.ToLower(a.Key), a.Val)
			}
			b.WriteString(">")
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if shown {
			b.WriteString("</" + strings.ToLower(n.Data) + ">")
		}
	}
	walk(root)
	return b.String()
}

// plainTags are those whose rules move no text about.
func plainTags() []string {
	return []string{
		"p", "div", "span", "ul", "ol", "li", "dl", "dt", "dd", "h1", "h2", "blockquote", "section",
		"pre", "button", "form", "label", "center", "article", "nav", "x-thing", "ruby", "rt", "rp",
		"object", "figure", "figcaption", "details", "summary", "noscript", "address", "fieldset", "legend", "main",
	}
}

// movingTags are those that make a browser move text: out of a table, or out
// of formatting that was closed out of turn.
func movingTags() []string {
	return []string{
		"table", "tr", "td", "th", "tbody", "thead", "tfoot", "caption", "table", "tr", "td", "select", "option", "optgroup", "template",
		"b", "i", "em", "strong", "a", "code", "font", "small", "u", "nobr",
	}
}

// soup draws pieces of a page in any order: tags, end tags, words.
func soup(tags []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for i := range rapid.IntRange(1, 40).Draw(t, "pieces") {
			tag := rapid.SampledFrom(tags).Draw(t, "tag")
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0, 1, 2:
				fmt.Fprintf(&b, "<%s>", tag)
			case 3, 4:
				fmt.Fprintf(&b, "</%s>", tag)
			case 5:
				b.WriteString(rapid.SampledFrom(oddPieces()).Draw(t, "odd"))
			default:
				fmt.Fprintf(&b, " w%d ", i)
			}
		}
		return b.String()
	})
}

func oddPieces() []string {
	return []string{
		"<br>", "</br>", "<br/>", "<hr>", "<img src=x alt='a b'>", "</p>", "<input value=\"1\">", "<!-- c -->", "<!-->", "<!--->", "<!-- x --!>",
		"<!-- a -- b -->", "<!doctype html>", "</>", "</ x>", "<?pi?>", " < ", " <3 ", "<div", "<i class='", "&amp; ", "&lt;b&gt; ", "&notit; ", "&copy ",
		"&#65; ", "&#x41 ", "&#128; ", "&#0; ", "&nosuch; ", "& ", "&", "\r\n", "\r", "\x00", "<script>var a = '<p>';</script>", "<style>p{}</style>",
		"<title>t</title>", "<textarea>\n<b>x</b> </textarea>", "<iframe><b>y</b></iframe>", "<P CLASS=A>", "<q cite='?a=1&copy=2&amp;b'>", "<q CITE=x/>",
		"<div/>", "<x-y/>", "<![CDATA[ d > e ]]>", "<svg><path/><text> s </text></svg>", "<svg><title> st </title></svg>", "<math><mi> x </mi></math>",
		"<svg><![CDATA[ f > g ]]></svg>", "<script><!--<script>a</script>--></script>", "<xmp><b></xmp>", "<q b b=1 c='&lt;'>", "<p =x>", "<p / a>", "</p a='>'>",
		"<head>", "<body>", "<html>", "</body>", "</html>", "<meta charset=utf-8>", "<base href=/b>", "<option>", "<wbr>", "<image>",
	}
}

// The text of a page is what a browser finds, in its order.
func TestTextAsBrowser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := soup(plainTags()).Draw(t, "src")
		doc := mustParse(t, src)
		if diff := cmp.Diff(browserLetters(browserTree(t, src)), lettersOf(doc)); diff != "" {
			t.Fatalf("text of %q (-browser +ours):\n%s\n%s", src, diff, outline(doc))
		}
	})
}

// Text that stands between the cells of a table is shown before the table by
// browsers, and what follows formatting that was closed out of turn may be
// moved too; here all stays where it is. So the order may differ, and no more.
func TestMovedTextAsBrowser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := soup(append(plainTags(), movingTags()...)).Draw(t, "src")
		doc := mustParse(t, src)
		want, got := []byte(browserLetters(browserTree(t, src))), []byte(lettersOf(doc))
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("text of %q (-browser +ours):\n%s\n%s", src, diff, outline(doc))
		}
	})
}

// Where a page is as it should be, but for end tags that may be left out, the
// whole tree is that of a browser.
func TestTreeAsBrowser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := "<!doctype html><body>" + tidy(t, 4, flow)
		doc := mustParse(t, src)
		if diff := cmp.Diff(browserOutline(browserTree(t, src)), outline(doc)); diff != "" {
			t.Fatalf("tree of %q (-browser +ours):\n%s", src, diff)
		}
	})
}

// flow and phrase are what may stand in an element.
const (
	flow = iota
	phrase
	link // as phrase, and in a link
)

// tidy draws a well-formed part of a page. Each word is its own.
func tidy(t *rapid.T, depth, what int) string {
	var b strings.Builder
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		if depth == 0 || rapid.Bool().Draw(t, "word") {
			b.WriteString(" " + rapid.StringMatching(`[a-z]{1,4}(&amp;|&eacute;)?`).Draw(t, "text") + " ")
			continue
		}
		if what == flow {
			b.WriteString(tidyBlock(t, depth))
		} else {
			b.WriteString(tidyInline(t, depth, what))
		}
	}
	return b.String()
}

func tidyBlock(t *rapid.T, depth int) string {
	in := func(what int) string { return tidy(t, depth-1, what) }
	end := func(tag string) string { // an end tag that may be left out
		if rapid.Bool().Draw(t, "end") {
			return "</" + tag + ">"
		}
		return ""
	}
	switch rapid.IntRange(0, 8).Draw(t, "block") {
	case 0:
		return "<div class=x>" + in(flow) + "</div>"
	case 1:
		return "<p>" + in(phrase) + end("p") + "<hr>"
	case 2:
		return "<ul><li>" + in(flow) + end("li") + "<li>" + in(flow) + end("li") + "</ul>"
	case 3:
		return "<dl><dt>" + in(phrase) + end("dt") + "<dd>" + in(flow) + end("dd") + "</dl>"
	case 4:
		return "<table><tr><td>" + in(flow) + end("td") + "<td>" + in(flow) + end("td") + end("tr") + "<tr><th>" + in(flow) + end("th") + end("tr") + "</table>"
	case 5:
		return "<h2 id='&lt;'>" + in(phrase) + "</h2>"
	case 6:
		return "<blockquote>" + in(flow) + "</blockquote>"
	case 7:
		return "<select><option>a" + end("option") + "<option>b" + end("option") + "</select>"
	}
	return tidyInline(t, depth, phrase)
}

func tidyInline(t *rapid.T, depth, what int) string {
	in := func() string { return tidy(t, depth-1, what) }
	switch rapid.IntRange(0, 6).Draw(t, "inline") {
	case 0:
		return "<em>" + in() + "</em>"
	case 1:
		return "<code>" + in() + "</code>"
	case 2:
		return "<img src='a' alt=\"b\">"
	case 3:
		return "<br/>"
	case 4:
		return "<svg viewbox=x><g><path d=1 /><title>" + in() + "</title></g></svg>"
	case 5:
		if what != link {
			return "<a href=y>" + tidy(t, depth-1, link) + "</a>"
		}
	}
	return "<span>" + in() + "</span>"
}
