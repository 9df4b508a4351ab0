package page

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

// A mainCase is a page, lines its main part must have and lines it must not.
type mainCase struct {
	name          string
	html          string
	must, mustNot []string
	whole         bool // it has no certain main part
}

func mainCases(t testing.TB) []mainCase {
	t.Helper()
	files, err := filepath.Glob("testdata/main/*.txtar")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	var cases []mainCase
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := mainCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar")}
		for _, part := range archive.Files {
			lines := strings.Split(strings.TrimSpace(string(part.Data)), "\n")
			switch part.Name {
			case "page.html":
				c.html = string(part.Data)
			case "must.txt":
				c.must = lines
			case "mustnot.txt":
				c.mustNot = lines
			case "whole":
				c.whole = true
			default:
				t.Fatalf("%s: a part %q", file, part.Name)
			}
		}
		if c.html == "" || len(c.must) == 0 || c.whole != (len(c.mustNot) == 0) {
			t.Fatalf("%s lacks a part", file)
		}
		cases = append(cases, c)
	}
	return cases
}

func TestMainPartOfPages(t *testing.T) {
	kept, out := 0, 0
	for _, c := range mainCases(t) {
		t.Run(c.name, func(t *testing.T) {
			d := parsed(t, c.html)
			part, partial := d.onlyMain(newStopCheck(t.Context()))
			if partial == c.whole {
				t.Errorf("partial = %v", partial)
			}
			checkLinks(t, part)
			text := flat(textOf(t, part))
			for _, want := range c.must {
				if !strings.Contains(text, flat(want)) {
					t.Errorf("lost: %s", want)
				}
				kept++
			}
			for _, not := range c.mustNot {
				if strings.Contains(text, flat(not)) {
					t.Errorf("not left out: %s", not)
				}
				out++
				if !strings.Contains(flat(textOf(t, d)), flat(not)) && !strings.Contains(c.html, not) {
					t.Errorf("not on the page: %s", not)
				}
			}
			if t.Failed() {
				t.Logf("the part:\n%s", textOf(t, part))
			}
		})
	}
	t.Logf("%d lines to keep, %d to leave out", kept, out)
}

// flat makes all blanks alike.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

func parsed(t testing.TB, src string) *Doc {
	t.Helper()
	d, err := Parse(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func textOf(t testing.TB, d *Doc) string {
	t.Helper()
	text, err := d.Text(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func FuzzMainPart(f *testing.F) {
	for _, c := range mainCases(f) {
		f.Add(c.html)
	}
	f.Add("<main>a<main>b")
	f.Add("<article><article hidden>")
	f.Add("<div role=main><nav><a href=x>y")
	f.Fuzz(func(t *testing.T, src string) {
		d := parsed(t, src)
		root, sure := d.measure(newStopCheck(t.Context())).mainPart()
		if sure != (root != 0) || root < 0 || int(root) >= len(d.nodes) || sure && d.nodes[root].name == "" {
			t.Fatalf("mainPart = %d, %v", root, sure)
		}
		part, partial := d.onlyMain(newStopCheck(t.Context()))
		if partial && !sure || partial != (part != d) {
			t.Fatalf("onlyMain says %v", partial)
		}
		checkLinks(t, part)
		if !inTurn(said(part), said(d)) {
			t.Fatal("the main part has what is not on the page")
		}
	})
}

// said joins the text of all nodes.
func said(d *Doc) string {
	var out strings.Builder
	for i := range d.nodes {
		out.WriteString(d.nodes[i].text)
	}
	return out.String()
}

// inTurn tells whether the bytes of a text are all in another one, in the
// same order.
func inTurn(part, whole string) bool {
	at := 0
	for i := 0; i < len(whole) && at < len(part); i++ {
		if whole[i] == part[at] {
			at++
		}
	}
	return at == len(part)
}

func BenchmarkMainPart(b *testing.B) {
	pages := map[string]string{"article": article(5 << 20), "names": again(`<div class="a-b c_d e f-g-h" id="i">x</div>`)(5 << 20)}
	for name, src := range pages {
		b.Run(name, func(b *testing.B) {
			d := parsed(b, src)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				d.onlyMain(newStopCheck(b.Context()))
			}
		})
	}
}

func TestOnlyMain(t *testing.T) {
	long := strings.Repeat("Some words of a sentence, and then some more. ", 8)
	frame := `<header><a href="/">Site</a></header><nav><a href="/x">Elsewhere</a></nav>`
	for _, c := range []struct {
		name, html string
		want       string // "" for the whole page
	}{
		{"the page's own word", frame + `<main><p>short</p></main>`, "short"},
		{"a role", frame + `<div role="MAIN">short</div>`, "short"},
		{"all that there is", `<main><p>short</p></main>`, ""},
		{"navigation within", `<main><nav><a href=x>Elsewhere</a></nav><p>` + long + `</p></main>`, long},
		{"less than the rest", `<main>Loading</main><p>` + long, ""},
		{"nothing in it", `<main></main><p>` + long, ""},
		{"two of them", frame + `<div><main>one</main><main>two</main></div>`, "one\ntwo"},
		{"two far apart", frame + `<main>one</main><main>two</main>`, ""},
		{"comments outside", frame + `<main>` + long + `</main><div id="comments"><p>` + long + `</p></div><footer>Site</footer>`, long + "\n" + long},
		{"a form for comments", frame + `<main>` + long + `</main><div class="comment-form"><p>Your address will not be shown to anybody else.</p></div>`, long},
		{"an article", frame + `<article>` + long + `</article>`, long},
		{"articles side by side", frame + `<div><article>` + long + long + `</article><article>` + long[:90] + `</article></div>`, long + long + "\n" + long[:90]},
		{"code outside of an article", frame + `<article>` + long + `</article><pre>x</pre>`, ""},
		{"a usual name", frame + `<div class="x entry-content">` + long + `</div>`, long},
		{"most of the text", frame + `<div><p>` + long + `</p><p>` + long + `</p></div>`, long + "\n" + long},
		{"a layout table", frame + `<table><tr><td><p>` + long + `</p></td></tr></table>`, ""},
		{"a heading before", `<header><nav><a href="/x">Elsewhere</a></nav><h1>Title</h1></header><main>` + long + `</main>`, "Title\n" + long},
		{"a heading of its own", `<h1>Site</h1><main><h1>Title</h1>` + long + `</main>`, "Title\n" + long},
		{"a smaller heading before", frame + `<div><h2>Title</h2><article>` + long + `</article></div>`, "Title\n" + long},
		{"hidden", frame + `<main>` + long + `<p hidden>unseen</p></main>`, long},
		{"marks of headings", frame + `<main><h2>Part<a class="anchor" href="#p">#</a></h2>` + long + `</main>`, "Part\n" + long},
		{"a link that is no mark", frame + `<main><h2>Part<a href="#p">1</a></h2>` + long + `</main>`, "Part1\n" + long},
		{"code in navigation", frame + `<main>` + long + `<nav><a href=x>see</a><pre>code</pre></nav></main>`, long + "\nsee\ncode"},
		{"a table of links", frame + `<main>` + long + `<div class="related"><table><tr><td><a href=x>see</a></table></div></main>`, long + "\nsee"},
		{"an aside with words", frame + `<main>` + long + `<aside>Mind <a href=x>this</a></aside></main>`, long + "\nMind this"},
		{"who said it", frame + `<main>` + long + `<div class="comment"><footer><a href=u>Joan</a></footer>Yes!</div></main>`, long + "\nJoan\nYes!"},
		{"headings beside an article", frame + `<main><h2>News</h2><h3>Title</h3><article>` + long + `</article></main>`, "News\nTitle\n" + long},
		{"a sentence beside an article", frame + `<main><p>` + long[:60] + `</p><article>` + strings.Repeat(long, 3) + `</article></main>`, long[:60] + "\n" + strings.Repeat(long, 3)},
		{"nothing but comments", frame + `<div><div>On the walls of a town.</div></div><div class="comments">` + long + `</div>`, ""},
		{"comments among other things", frame + `<main>` + long + `</main><div><p>` + long[:80] + `</p><div class="comments">` + long[:92] + `</div></div>`, long + "\n" + long[:92]},
		{"all in the footer", frame + `<main>Loading</main><footer>` + long + `</footer>`, ""},
		{"a byline after the heading", frame + `<div><h1>Title</h1><div class="entry-meta">By Joan, <time>May 5</time></div><div class="entry-content">` + long + `</div></div>`,
			"Title\nBy Joan, May 5\n" + long},
		{"a byline without a name", frame + `<h1>Title</h1><p>By <a rel="author" href=j>Joan</a> on May 5</p><main>` + long + `</main>`, "Title\nBy Joan on May 5\n" + long},
		{"a byline beside", frame + `<div><p class="byline">By Joan</p><div class="entry-content"><h1>Title</h1>` + long + `</div><footer class="post-meta">May 5</footer></div>`,
			"By Joan\nTitle\n" + long + "\nMay 5"},
		{"a long byline", frame + `<div><h1>Title</h1><div class="byline">` + long + `</div><div class="entry-content">` + strings.Repeat(long, 9) + `</div></div>`,
			"Title\n" + strings.Repeat(long, 9)},
		{"a date in the navigation", frame + `<h1>Title</h1><nav><a href=x>Latest <time>May 6</time></a></nav><main>` + long + `</main>`, "Title\n" + long},
		{"words apart", frame + `<main>` + long + `one<nav><a href=x>see</a></nav>two</main>`, long + "one\ntwo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := parsed(t, c.html)
			part, partial := d.onlyMain(newStopCheck(t.Context()))
			if partial != (c.want != "") {
				t.Errorf("partial = %v", partial)
			}
			if got := textOf(t, part); partial && strings.ReplaceAll(got, " \n", "\n") != strings.TrimSpace(strings.ReplaceAll(c.want, " \n", "\n")) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// Whatever elements of a main part are called, its code is kept, and so is
// all that is not in one that leads elsewhere.
func TestMainPartKeepsItsText(t *testing.T) {
	names := []string{"", "", "x", "toc", "related", "share-bar", "sidebar", "content", "comment", "cookie-banner", "entry-content", "has-nav", "header"}
	rapid.Check(t, func(rt *rapid.T) {
		var page strings.Builder
		var kept []string
		word := 0
		var add func(depth int, loose bool)
		add = func(depth int, loose bool) {
			for range rapid.IntRange(1, 4).Draw(rt, "parts") {
				word++
				w := fmt.Sprintf("word%d.", word)
				tag := rapid.SampledFrom([]string{"p", "p", "a", "pre", "table", "div", "section", "article", "aside", "footer", "nav", "main"}).Draw(rt, "tag")
				name := rapid.SampledFrom(names).Draw(rt, "name")
				switch {
				case tag == "a":
					fmt.Fprintf(&page, "<a href=x>%s</a> ", strings.Repeat("link", word%5+1))
				case tag == "table":
					fmt.Fprintf(&page, "<table><tr><td>%s</table>", w)
				case tag == "pre":
					fmt.Fprintf(&page, "<pre>%s</pre>", w)
				case tag == "p" || depth == 0:
					fmt.Fprintf(&page, "<p>%s</p>", w)
				default:
					fmt.Fprintf(&page, "<%s class=%q>", tag, name)
					add(depth-1, loose || tag == "aside" || tag == "footer" || tag == "nav" || name != "" && name != "x")
					fmt.Fprintf(&page, "</%s>", tag)
					continue
				}
				if tag == "pre" || !loose && tag != "a" {
					kept = append(kept, w)
				}
			}
		}
		page.WriteString("<nav><a href=y>Elsewhere</a></nav><main>")
		add(5, false)
		page.WriteString("</main>")
		part, _ := parsed(t, page.String()).onlyMain(newStopCheck(t.Context()))
		text := textOf(t, part)
		for _, w := range kept {
			if !strings.Contains(text, w) {
				rt.Fatalf("%s is lost of %s", w, page.String())
			}
		}
	})
}
