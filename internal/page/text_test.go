package page

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, html, want string }{
		{"inline", `<p>Hello <b>bo</b>ld<i>er</i> world</p>`, "Hello bolder world"},
		{"entities", `<p>a &amp; b &lt;c&gt;</p>`, "a & b <c>"},
		{"blocks", `<title>T</title><h1>Head</h1><p>one<p>two<div>three</div>four`, "T\nHead\none\ntwo\nthree\nfour"},
		{"blanks", "  <p> a \n\t b </p>\n\n<p> c</p>", "a b\nc"},
		{"blank between inline elements", `<b>a</b> <i>b</i><u>c</u>`, "a bc"},
		{"break", `a<br>b<br/><br>c`, "a\nb\nc"},
		{"lists", `<ul><li>a<li>b<ol><li>c</ol></ul>`, "a\nb\nc"},
		{"table", `<table><tr><th>A</th> <th>B</th></tr><tr><td>1</td><td>2</td></tr></table>`, "A\tB\n1\t2"},
		{"preformatted", "x<pre>  a\n\n\tb <i>c</i>\n</pre>y", "x\n  a\n\n\tb c\ny"},
		{"preformatted alone", "<pre>a\n\n</pre><pre>b</pre>", "a\n\nb"},
		{"line ends that are written out", "<pre>a&#13;&#10;b&#13;c</pre>", "a\nb\nc"},
		{"scripts", `<div>x<script>s()</script>tail<b>y</b>z</div><style>p{}</style>`, "xtailyz"},
		{"stand-ins", `a<noscript>no</noscript><object>ob</object><iframe>fr</iframe>b`, "ab"},
		{"nothing but stand-ins", `<noscript>Use a browser</noscript>`, "Use a browser"},
		{"hidden", `a<p hidden>b</p><p hidden=until-found>c</p><div role=tabpanel hidden>d</div>`, "a\nc\nd"},
		{"pictures", `<img alt="no" src=x>a<svg><title>t</title><desc>d</desc><defs><text>e</text></defs><text>f</text><text>g</text></svg>h`, "a t f g h"},
		{"controls", "<p>a\x1b[31mb\u0085c&#7;</p><pre>\x1b]0;x\x07</pre>", "a[31mbc\n]0;x"},
		{"options", `<select><option>a<option>b</select>`, "a\nb"},
		{"nothing", ``, ""},
		{"only blanks", "<p> </p>\n<pre>\n\n</pre>", ""},
		{"no tags", "no tags at all", "no tags at all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := textOf(t, parsed(t, c.html)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTextOfNoPage(t *testing.T) {
	if got := textOf(t, &Doc{}); got != "" {
		t.Errorf("got %q", got)
	}
	if d, partial := (&Doc{}).onlyMain(newStopCheck(t.Context())); partial || len(d.nodes) != 0 {
		t.Error("a page without nodes has a main part")
	}
}

func TestTextEndsWithItsContext(t *testing.T) {
	d := parsed(t, "<p>a")
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if text, err := d.Text(ctx); !errors.Is(err, why) || text != "" {
		t.Errorf("got %q, %v", text, err)
	}
}

// A piece of a page that was made up, with the words it shows.
type madeUp struct {
	html  strings.Builder
	words []string
}

// add makes up some elements within each other.
func (p *madeUp) add(t *rapid.T, depth int) {
	for range rapid.IntRange(1, 4).Draw(t, "parts") {
		switch tag := rapid.SampledFrom([]string{"", "", "", "div", "p", "b", "li", "td", "pre", "script", "hidden", "noscript", "img", "br"}).Draw(t, "part"); {
		case tag == "" || depth == 0:
			word := rapid.StringMatching(`[a-zé漢;,.]{1,8}`).Draw(t, "word")
			p.html.WriteString(" " + word + "\n")
			p.words = append(p.words, word)
		case tag == "script":
			p.html.WriteString("<script>unseen</script>")
		case tag == "hidden":
			p.html.WriteString("<span hidden>unseen</span>")
		case tag == "noscript":
			p.html.WriteString("<noscript><b>unseen</b></noscript>")
		case tag == "img":
			p.html.WriteString(`<img alt="unseen" src="unseen">`)
		case tag == "br":
			p.html.WriteString("<br>")
		default:
			open, end := "<"+tag+">", "</"+tag+">"
			if tag == "td" {
				open, end = "<table><tr><td>", "</td></tr></table>"
			}
			p.html.WriteString(open)
			p.add(t, depth-1)
			p.html.WriteString(end)
		}
	}
}

func TestTextHasEveryWordOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &madeUp{words: []string{"first"}}
		p.html.WriteString("first ")
		p.add(rt, 5)
		got := textOf(t, parsed(t, p.html.String()))
		if want := strings.Join(p.words, " "); flat(got) != want {
			rt.Fatalf("%s\nreads %q\nwant  %q", p.html.String(), flat(got), want)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"<p>a<pre>\n b\n</pre>", "<table><td>a<td>b<tr><td>c", "<svg><defs><text>a</svg>b", "<textarea>\na\r\nb</textarea>",
		"<noscript>a", "a<br>\x1b[0m&#27;b", "<ul><li>a<li hidden>b<li>c", "\u00a0<b> </b>\u00a0",
		"2<sup>32</sup>x<sub>i</sub>", "<mfrac>a<mi>b+c</mi></mfrac>", "<td class=linenos>1<td>2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		d := parsed(t, strings.ToValidUTF8(src, "?")) // as Decode leaves it
		text := textOf(t, d)
		if strings.TrimSpace(text) != text {
			t.Errorf("%q is not trimmed", text)
		}
		for _, r := range text {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("%q has %U", text, r)
			}
		}
		want := inkOf(seenBy(d, d.skipsText))
		if want == "" {
			want = inkOf(seenBy(d, d.skips))
		}
		if got := inkOf(text); unmarked(got) != unmarked(want) || !inTurn(want, got) {
			t.Errorf("%q has %q, not %q", src, got, want)
		}
	})
}

// seenBy joins the text of all nodes but those under what skip names, by
// another road than Text takes.
func seenBy(d *Doc, skip func(*node) bool) string {
	var out strings.Builder
	for i := range d.nodes {
		unseen := false
		for at := int32(i); at != nobody; at = d.nodes[at].parent {
			unseen = unseen || skip(&d.nodes[at])
		}
		if !unseen {
			out.WriteString(d.nodes[i].text)
		}
	}
	return out.String()
}

// unmarked is a text without the marks of what stands beside the line.
func unmarked(s string) string {
	return strings.NewReplacer("^", "", "_", "", "(", "", ")", "", "/", "").Replace(s)
}

// inkOf is a text without its blanks and control characters.
func inkOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

func BenchmarkText(b *testing.B) {
	d := parsed(b, article(5<<20))
	b.SetBytes(5 << 20)
	b.ReportAllocs()
	for b.Loop() {
		textOf(b, d)
	}
}
