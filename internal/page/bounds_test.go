package page

import (
	"strings"
	"testing"

	"golang.org/x/net/html/atom"
)

// A page may ask for more nodes and attributes than are kept. Its text stays.
func TestBounds(t *testing.T) {
	const size = 5 << 20
	for name, src := range map[string]string{
		"breaks":     again("<br>x")(size),
		"items":      after("<ol>", "<li>x")(size),
		"attributes": again("<b a c d e f g h i j k l m n o p q r s t>x")(size),
		"small tags": again("<b a href=y>x</b>")(size),
	} {
		d := mustParse(t, src)
		if n := cap(d.nodes); len(d.nodes) > maxNodes+1 || n > maxNodes+maxNodes/4+16 {
			t.Errorf("%s: %d nodes, and room for %d", name, len(d.nodes), n)
		}
		kept, links := 0, 0
		for i := range d.nodes {
			kept += len(d.nodes[i].attrs)
			if d.nodes[i].attr("href") != "" {
				links++
			}
		}
		if kept > maxPlain+maxNodes+maxAttrs {
			t.Errorf("%s: %d attributes", name, kept)
		}
		if name == "small tags" && links < maxNodes/2-1 {
			t.Errorf("only %d links are left", links)
		}
		text, err := d.Text(t.Context())
		if err != nil || strings.Count(text, "x") != strings.Count(src, "x") {
			t.Errorf("%s: %d of %d letters, %v", name, strings.Count(text, "x"), strings.Count(src, "x"), err)
		}
	}
}

// A page as large as they come is read as it is meant, to its end.
func TestLargePage(t *testing.T) {
	const entry = `<section id="entry"><h3><a class="anchor" href="#entry">entry</a></h3><p>The <code>call</code> of a <a href="/reference/of/something">reference</a> ` +
		`takes <em>two</em> parameters, and returns what is said of it in the chapter on values, unless there is none.</p>` +
		`<div class="highlight"><pre><code class="language-go"><span class="k">return</span> <span class="m">1</span></code></pre></div></section>`
	src := "<main>" + again(entry)(5<<20) + "<h2>The last part</h2><p>With <a href=/end>an end</a>.</p></main>"
	d := mustParse(t, src)
	if len(d.nodes) < 150_000 || len(d.nodes) >= maxNodes {
		t.Fatalf("%d nodes", len(d.nodes))
	}
	for _, whole := range []bool{false, true} {
		text, _, err := d.Markdown(t.Context(), whole)
		if err != nil || !strings.HasSuffix(text, "## The last part\n\nWith [an end](/end).") {
			t.Errorf("whole %v: ends with %q, %v", whole, text[max(0, len(text)-80):], err)
		}
	}
}

// What is looked at for the sake of others is not looked at to its end.
func TestLittleIsLookedAt(t *testing.T) {
	blanks := strings.Repeat(" ", 2*mostNames)
	n := &node{name: "annotation", tag: atom.Annotation, attrs: []attr{{"encoding", blanks + "application/x-tex"}}}
	if isTeX(n) {
		t.Error("an attribute is read to its end")
	}
	if n.attrs[0].value = " Application/X-TeX"; !isTeX(n) {
		t.Error("an attribute is not read")
	}
	d := mustParse(t, "<b>"+blanks+"word</b><i> word </i>")
	if got := d.little(&d.nodes[1]); got != "" {
		t.Errorf("a text is read to %q", got)
	}
	if got := d.little(&d.nodes[3]); got != "word" {
		t.Errorf("a text is read as %q", got)
	}
	n = &node{attrs: []attr{{"class", strings.Repeat("x ", mostNames) + "highlight language-go"}}}
	if showsCode(n) || languageOf(n) != "" {
		t.Error("all classes are read")
	}
}

// Raised text is copied into what it stands in, so it has to be short.
func TestLongRaisedText(t *testing.T) {
	for size, want := range map[int]string{1: "a^x", mostRaised + 1: "a" + strings.Repeat("x", mostRaised+1)} {
		if got := mustMarkdown(t, "<pre>a<sup>"+strings.Repeat("x", size)+"</sup></pre>"); got != want {
			t.Errorf("%d: %q", size, got)
		}
	}
}

// No line of code ends the fence around it.
func TestFenceHolds(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{"<pre><code>safe\n ```\n# Injected\n</code></pre>", "````\nsafe\n ```\n# Injected\n````"},
		{"<pre><code>safe\n   `````\nx</code></pre>", "``````\nsafe\n   `````\nx\n``````"},
		{"<pre><code>safe\n    ```\nx</code></pre>", "```\nsafe\n    ```\nx\n```"},
		{"<pre><code>safe\n\t```\nx</code></pre>", "```\nsafe\n\t```\nx\n```"},
		{"<pre><code>safe\n~~~\nx</code></pre>", "```\nsafe\n~~~\nx\n```"},
		{"<pre><code>  ```\nx</code></pre>", "````\n  ```\nx\n````"},
		{"<ul><li><pre><code>safe\n  ```\n# Injected</code></pre></ul>", "-   ````\n    safe\n      ```\n    # Injected\n    ````"},
		{"<blockquote><pre><code>safe\r ```\rx</code></pre></blockquote>", "> ````\n> safe\n>  ```\n> x\n> ````"},
	} {
		if got := mustMarkdown(t, c.html); got != c.want {
			t.Errorf("%q: %q", c.html, got)
		}
	}
}

// What an attribute says stays on its line and within its marks.
func TestAttributesStayInside(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{"<img src=i alt='a\n# Injected\n\n```\nb'>", "![a # Injected \\`\\`\\` b](i)"},
		{"<img src=i alt='  a\r\n\tb\f '>", "![a b](i)"},
		{"<img src=i alt='a](x) [b'>", `![a\](x) \[b](i)`},
		{`<img src=i alt='a\'>`, `![a\\](i)`},
		{"<img src=i alt='a_b *c*'>", "![a_b *c*](i)"},
		{"<img src=i alt=a title='b\"\n\n> c'>", `![a](i "b\" > c")`},
		{`<a href=x title='a\'>y</a>`, `[y](x "a\\")`},
		{`<a href=x title='a\" b'>y</a>`, `[y](x "a\\\" b")`},
		{"<a href=x title=' \n '>y</a>", "[y](x)"},
		{"<ul><li><img src=i alt='a\n- b'></ul>", "-   ![a - b](i)"},
		{"<a href=x><img src=i alt='a\nb'></a>", "[![a b](i)](x)"},
	} {
		if got := mustMarkdown(t, c.html); got != c.want {
			t.Errorf("%q: %q", c.html, got)
		}
	}
}

// What browsers never show is not shown, unless it is all there is.
func TestNeverShown(t *testing.T) {
	for _, c := range []struct{ html, markdown, text string }{
		{"a<noembed>no</noembed>", "a", "a"},
		{"a<noframes>no</noframes>", "a", "a"},
		{"<frameset><frame src=x><noframes>yes</noframes></frameset>", "[frame](x)\n\nyes", "yes"},
		{"<frameset><frame src=x></frameset><noframes>yes</noframes>", "[frame](x)\n\nyes", "yes"},
		{"a<datalist><option>no</datalist>", "a", "a"},
		{"a <video src=x>no</video> b", "a [video](x) b", "a b"},
		{"a <video><source src=x>no <b>no</b></video> b", "a [video](x) b", "a b"},
		{"a <video src=javascript:x>yes</video> b", "a yes b", "a b"},
		{"<audio src=x>no</audio>", "[audio](x)", "no"},
		{"<audio>yes</audio>", "yes", "yes"},
		{"a<canvas>chart</canvas>", "a\n\nchart", "a"},
		{"a<object data=x>film</object>", "afilm", "a"},
	} {
		if got := mustMarkdown(t, c.html); got != c.markdown {
			t.Errorf("%q: %q, want %q", c.html, got, c.markdown)
		}
		text, err := mustParse(t, c.html).Text(t.Context())
		if err != nil || text != c.text {
			t.Errorf("%q: the text is %q, want %q", c.html, text, c.text)
		}
	}
}
