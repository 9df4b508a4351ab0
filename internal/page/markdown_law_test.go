package page

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"
)

// A planter builds a tree node by node.
type planter struct {
	doc  *Doc
	open []int32
	last map[int32]int32 // child of a node
}

func newPlanter() *planter {
	return &planter{&Doc{nodes: []node{{parent: nobody, first: nobody, next: nobody}}}, []int32{0}, map[int32]int32{}}
}

func (p *planter) add(n node) int32 {
	up := p.open[len(p.open)-1]
	n.parent, n.first, n.next = up, nobody, nobody
	at := int32(len(p.doc.nodes))
	p.doc.nodes = append(p.doc.nodes, n)
	if last, there := p.last[up]; there {
		p.doc.nodes[last].next = at
	} else {
		p.doc.nodes[up].first = at
	}
	p.last[up] = at
	return at
}

// anyTree draws trees that no parser would build: everything within
// everything.
func anyTree() *rapid.Generator[*Doc] {
	tags := []string{"a", "a", "b", "i", "em", "strong", "code", "code", "span", "p", "div", "ul", "ol", "li", "li", "blockquote",
		"h1", "h6", "pre", "table", "tbody", "tr", "tr", "td", "td", "th", "caption", "br", "hr", "img", "video", "audio", "source",
		"iframe", "noscript", "picture", "select", "option", "title", "svg", "dl", "dt", "dd", "custom-tag", "wbr", "details", "summary",
		"sup", "sub", "del", "s", "math", "semantics", "annotation"}
	texts := []string{"a", "b2", " ", "\n", "  c  ", "- d", "1. e", "# f", "`", "``g", "*", "|h", "\u00a0", "\u00a0i ", "\\", "[j]", "é ",
		"\n\n\n", "k\nl", "~~~", "\x1b[", "\u0085", "m\r\nn", "\ufeff", "0"}
	values := []string{"", "x", "javascript:y", "/z (1)", "data:image/png;base64,AA", "3", "2", "q \"r\"\n\n s", "language-go", "highlight", "0"}
	names := []string{"href", "src", "title", "alt", "class", "start", "colspan", "rowspan", "data-src", "srcset", "width"}
	return rapid.Custom(func(t *rapid.T) *Doc {
		p := newPlanter()
		if rapid.Bool().Draw(t, "with a base") {
			p.doc.base = "https://h.example/d/"
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch k := rapid.IntRange(0, 9).Draw(t, "step"); {
			case k < 4 && len(p.open) < 250:
				name := rapid.SampledFrom(tags).Draw(t, "tag")
				n := node{name: name, tag: atom.Lookup([]byte(name))}
				for range rapid.IntRange(0, 2).Draw(t, "attributes") {
					n.attrs = append(n.attrs, attr{rapid.SampledFrom(names).Draw(t, "name"), rapid.SampledFrom(values).Draw(t, "value")})
				}
				if at := p.add(n); traitsOf(n.tag)&void == 0 {
					p.open = append(p.open, at)
				}
			case k < 7:
				p.add(node{text: rapid.SampledFrom(texts).Draw(t, "text")})
			case len(p.open) > 1:
				p.open = p.open[:len(p.open)-1]
			}
		}
		return p.doc
	})
}

func TestMarkdownLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyTree().Draw(t, "tree")
		text, err := d.markdown(newStopCheck(t.Context()), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := markdownFault(d, text); err != nil {
			t.Errorf("%v in %q", err, text)
		}
		again, err := d.markdown(newStopCheck(t.Context()), 0)
		if err != nil || again != text {
			t.Errorf("a second time: %q, %v", again, err)
		}
	})
}

// markdownFault says which law the Markdown of a page breaks.
func markdownFault(d *Doc, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("invalid UTF-8")
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		return fmt.Errorf("a control character at %d", i)
	}
	if text != strings.TrimRightFunc(text, isBlank) {
		return fmt.Errorf("blanks at the end")
	}
	raw := false
	for i := range d.nodes {
		raw = raw || isRaw(d.nodes[i].tag)
	}
	if !raw && strings.Contains(text, "\n\n\n") {
		return fmt.Errorf("two empty lines")
	}
	return lostText(d, text)
}

// lostText says which letter or digit of the page is missing.
func lostText(d *Doc, text string) error {
	rest := text
	var walk func(at int32) error
	walk = func(at int32) error {
		n := &d.nodes[at]
		if n.name != "" && d.skips(n) {
			return nil
		}
		if n.tag == atom.Video || n.tag == atom.Audio {
			if _, link, found := strings.Cut(rest, "["+n.name+"]("); found && newMarkdownWriter(d, newStopCheck(context.Background())).recording(at, n) != "" {
				rest = link // in place of what is said to those who can not play it
				return nil
			}
		}
		for _, r := range n.text {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				continue
			}
			i := strings.IndexRune(rest, r)
			if i < 0 {
				return fmt.Errorf("%q of %q is missing", r, n.text)
			}
			rest = rest[i+utf8.RuneLen(r):]
		}
		for c := n.first; c != nobody; c = d.nodes[c].next {
			if err := walk(c); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(0)
}

// TestMarkdownGrowth has pages written to make a converter slow. What is
// written for four times the page must be about four times as much, and the
// text not much longer than the page.
func TestMarkdownGrowth(t *testing.T) {
	nest := func(open, fill, end string) func(int) string {
		return func(n int) string {
			return strings.Repeat(open, 250) + strings.Repeat(fill, n) + strings.Repeat(end, 250)
		}
	}
	repeat := func(s string) func(int) string {
		return func(n int) string { return strings.Repeat(s, n) }
	}
	cells := func(head, row string) func(int) string {
		return func(n int) string {
			return "<table><tr>" + strings.Repeat(head, n/10) + strings.Repeat(row, n) + "</table>"
		}
	}
	// long has an attribute as long as all that is in its element.
	long := func(before, fill, end, child string) func(int) string {
		return func(n int) string { return before + strings.Repeat(fill, n) + end + strings.Repeat(child, n) }
	}
	for name, build := range map[string]func(int) string{
		"images of a picture": repeat("<picture><img src=#>"),
		"one picture":         func(n int) string { return "<picture>" + strings.Repeat("<img src=#>", n) },
		"code in a box":       long("<div class='highlight ", "x ", "'>", "<pre>a</pre>"),
		"code in two boxes":   long("<div class='highlight ", "x ", "'><div class=highlight>", "<pre><code>a</code></pre>"),
		"start of a list":     long("<ol start='", " ", "1'>", "<li>x"),
		"images of a link":    long("<a href='", "x", "'>", "<div><img src=a></div>"),
		"titles of a link":    long("<a href=y title='", "x", "'><p></p>", "<div><img src=a></div>"),
		"formulas of formulas": func(n int) string {
			return "<math>" + strings.Repeat("<annotation encoding=application/x-tex>", 250) + strings.Repeat("x", 10*n)
		},
		"quotes":       nest("<blockquote>", "<br>", ""),
		"quoted words": nest("<blockquote>", "a <p>", ""),
		"lists":        nest("<ul><li>", "a<br>", ""),
		"many lists":   repeat("<ul><li>a<ol><li>"),
		"spans":        nest("<span> ", "a ", " </span>"),
		"bold":         nest("<b> ", "a<br> ", ""),
		"code":         nest("<code>`", "a`` ", "</code>"),
		"raw":          nest("<pre><b> ", " \n", "</b>"),
		"raw blanks":   func(n int) string { return "<pre>" + strings.Repeat("<i>", 240) + strings.Repeat(" ", n*4) + "a" },
		"links":        nest("<a href=x><span>", "a ", ""),
		"tables":       nest("<table><tr><td>", "a<p>", ""),
		"many tables":  repeat("<table><tr><td>a<td>b<tr><td>c<td>d</table>"),
		"wide cells":   cells("<td>a", "<tr><td colspan=999>b"),
		"high cells":   cells("<td rowspan=9999>a", "<tr><td>b"),
		"wide head":    cells("<td>a", "<tr><td>b"),
		"images":       repeat(`<img src="data:image/png;base64,AA" srcset="b 1x, c 2x">`),
		"twins":        repeat(`<img><noscript><img src=a></noscript>`),
		"removed":      repeat("<b>a</b> <script></script> <!-- -->"),
		"base": func(n int) string {
			return "<base href=/" + strings.Repeat("b/", 250) + ">" + strings.Repeat("<a href=c>d</a>", n)
		},
		"backticks":        repeat("<code>`</code>"),
		"headings":         nest("<h1><div>", "a<br>", ""),
		"links on blocks":  nest("<a href=x><div>", "a<p>", ""),
		"bare lists":       nest("<ul><li>a</li>", "<li>b", ""),
		"nested emphasis":  nest("<b><i>", "x", ""),
		"blank paragraphs": repeat("<p> <b> </b>"),
		"raised":           nest("a<sup>", "2<sub>i</sub>", "</sup>"),
		"struck":           nest("<del>a<s>", "b ", ""),
		"numbers":          nest("<pre><span class=ln>", "1 ", "x"),
		"code tables":      repeat("<table><tr><td data-line-number=1><td>a<tr><td><td>b</table>"),
		"lists in cells":   repeat("<table><tr><td>a<td><ul><li>b<ol><li>c</ol></ul><tr><td>d</table>"),
		"formulas":         nest("<math><msup><mi>a</mi><mrow>", "<mfrac><mi>1</mi><mi>2</mi></mfrac>", ""),
		"buttons":          repeat("<div><button class=copy>Copy</button><pre>a</pre></div>"),
		"pre in pre":       nest("<pre>", "a ", ""),
	} {
		small, large := build(2000), build(8000)
		a, _ := effort(t, small)
		b, text := effort(t, large)
		if ratio := float64(len(large)) / float64(len(small)); float64(b) > 1.3*ratio*float64(a)+64<<10 {
			t.Errorf("%s: %d bytes for %d, %d for %d", name, a, len(small), b, len(large))
		}
		if b > 30*len(large)+2<<20 {
			t.Errorf("%s: %d bytes are written for %d", name, b, len(large))
		}
		if text > 10*len(large)+2<<20 {
			t.Errorf("%s: %d bytes of text for %d", name, text, len(large))
		}
	}
}

// effort counts what is written to convert a page: the pieces, what is in
// them, and the text.
func effort(t *testing.T, html string) (written, text int) {
	t.Helper()
	d, err := Parse(t.Context(), html)
	if err != nil {
		t.Fatal(err)
	}
	w := newMarkdownWriter(d, newStopCheck(t.Context()))
	out, err := w.page(0)
	if err != nil {
		t.Fatal(err)
	}
	return w.made + len(out), len(out)
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		"<p>a <b> b </b>", "<ul><li><p>a<ol start=3><li>b</ol>c</ul>", "<pre><code class=language-x>a\n```\n", "<table><tr><th colspan=2>a<tr><td rowspan=3>b<td>c|d</table>",
		"<a href='java\nscript:x' title='\"'>y<img src=data:,z data-src=w></a>", "<blockquote>a<blockquote><pre>b\n\nc", "<base href=//h/><a href=x>y", "\x1b<b>\x00</b>",
		"2<sup>32</sup>x<sub> i</sub><del>c</del>", "<pre># a<sup>2</sup>\nb<table><tr><td data-line-number=1>1<td>c", "<math><semantics><mfrac><mi>a<mi>b</mfrac><annotation encoding=application/x-tex>c",
		"<table><tr><td>a<td><ul><li>b<ul><li>c<dl><dt>d<dd>e</table>", "<div><button>Copy</button><pre><span class=ln>1</span>x", "<a href=x><img src=y><div>z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, html string) {
		d, err := Parse(t.Context(), html)
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := d.Markdown(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := markdownFault(d, text); utf8.ValidString(html) && err != nil {
			t.Errorf("%v in %q", err, text)
		}
		if _, _, err := d.Markdown(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkMarkdown converts a megabyte of manual.
func BenchmarkMarkdown(b *testing.B) {
	var page strings.Builder
	page.WriteString("<html><head><title>Manual</title></head><body><main>")
	for i := 0; page.Len() < 1<<20; i++ {
		fmt.Fprintf(&page, `<h2 id="s%d">Section %[1]d</h2>
<p>The <code>call_%[1]d</code> of a <a href="/ref/%[1]d" title="Reference">reference</a> is <em>not</em> what it <strong>seems</strong>
to be: see <a href="#s%[1]d">here</a>, and mind the underscores_of_names.</p>
<ul><li>First point</li><li>Second point with <b>weight</b><ul><li>Nested</li></ul></li></ul>
<div class="highlight"><pre><code class="language-go">func f%[1]d() int {
	return %[1]d
}
</code></pre></div>
<table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody><tr><td>a</td><td>%[1]d</td></tr><tr><td>b</td><td><code>x|y</code></td></tr></tbody></table>
<blockquote><p>Remember this.</p></blockquote>
`, i)
	}
	page.WriteString("</main></body></html>")
	d, err := Parse(b.Context(), page.String())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(page.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.Markdown(b.Context(), true); err != nil {
			b.Fatal(err)
		}
	}
}
