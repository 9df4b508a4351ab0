package page

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mustMarkdown converts a whole page.
func mustMarkdown(t testing.TB, html string) string {
	t.Helper()
	d, err := Parse(t.Context(), html)
	if err != nil {
		t.Fatal(err)
	}
	text, partial, err := d.Markdown(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if partial {
		t.Error("the whole page is said to be a part")
	}
	return text
}

// TestMarkdownForm has in its file what the reference makes of pages: of those
// that were recorded, and of many small ones. Elements that the reference has
// no form for, and we do, are read as others that have none. Preformatted lines
// are fenced in the file, and attributes have one line, which is not so by the
// reference.
func TestMarkdownForm(t *testing.T) {
	file, err := os.Open("testdata/markdown.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	count := 0
	plain := regexp.MustCompile(`<(/?)(?:del|s|strike|sup|sub)>`)
	for lines := bufio.NewScanner(file); lines.Scan(); count++ {
		var c struct{ Name, HTML, MD string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if got := mustMarkdown(t, plain.ReplaceAllString(c.HTML, "<${1}kbd>")); got != c.MD {
			t.Errorf("%s: %s\n%s", c.Name, c.HTML, cmp.Diff(c.MD, got))
		}
	}
	if count < 300 {
		t.Errorf("only %d cases were read", count)
	}
}

// TestMarkdownRecorded is the recorded page that shows the differences: a
// table of data is one, a summary stands on its own, and what is removed
// leaves no blank behind.
func TestMarkdownRecorded(t *testing.T) {
	html := `<!DOCTYPE html>
<html><head><title>Page Title</title><style>body { color: red }</style><meta name="x" content="y">
<link rel="stylesheet" href="a.css"><script>var a = "<p>no</p>";</script></head>
<body>
<h1>Head <em>one</em></h1>
<p>Para with <strong>bold</strong>, <em>em</em>, <code>code</code>, <a href="/rel" title="t">link</a> &amp; &lt;entity&gt; &nbsp;x.</p>
<h2>Lists</h2>
<ul><li>one</li><li>two<ul><li>nested</li></ul></li></ul>
<ol start="3"><li>three</li><li>four</li></ol>
<pre><code class="language-go">func main() {
	println("hi")
}
</code></pre>
<blockquote><p>quoted</p></blockquote>
<hr>
<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>
<img src="i.png" alt="pic"><br>after break
<noscript>enable js</noscript><iframe src="f.html">frame text</iframe>
<script>document.write("x")</script>
<p>1. not a list *star* _under_ [br] # hash</p>
<del>gone</del> <div>div text</div><span>span</span>
<details><summary>Sum</summary>Body</details>
</body></html>
`
	want := "Page Title\n\n# Head *one*\n\n" +
		"Para with **bold**, *em*, `code`, [link](/rel \"t\") & <entity> \u00a0x.\n\n" +
		"## Lists\n\n-   one\n-   two\n    -   nested\n\n3.  three\n4.  four\n\n" +
		"```go\nfunc main() {\n\tprintln(\"hi\")\n}\n```\n\n> quoted\n\n---\n\n" +
		"| A | B |\n| --- | --- |\n| 1 | 2 |\n\n" +
		"![pic](i.png)  \nafter break\n\nenable js\n\nframe text\n\n" +
		"1\\. not a list \\*star\\* \\_under\\_ \\[br\\] # hash\n\n~~gone~~\n\ndiv text\n\nspan\n\nSum\n\nBody"
	if diff := cmp.Diff(want, mustMarkdown(t, html)); diff != "" {
		t.Error(diff)
	}
}

// TestMarkdownCode is about what shows code.
func TestMarkdownCode(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{`<pre class="lang-sh"><code>x</code></pre>`, "```sh\nx\n```"},
		{`<div class="highlight highlight-source-js"><pre>a <b>b</b></pre></div>`, "```js\na b\n```"},
		{`<div class="highlight-python notranslate"><div class="highlight"><pre>x = 1
</pre></div></div>`, "```python\nx = 1\n```"},
		{`<div class="highlight-default"><div class="highlight"><pre>x</pre></div></div>`, "```\nx\n```"},
		{`<div class="language-rb highlighter-rouge"><div class="highlight"><pre class="highlight"><code>y
</code></pre></div></div>`, "```rb\ny\n```"},
		{`<div class="lang-en"><pre><code>x</code></pre></div>`, "```\nx\n```"},
		{"<pre>\n  <code>x</code>\n</pre>", "```\n  x\n```"},
		{"<pre><code>one</code>\n<code>two</code></pre>", "```\none\ntwo\n```"},
		{`<pre><code>a<br>b</code></pre>`, "```\na\nb\n```"},
		{`<pre><code><div>a</div><div>b</div></code></pre>`, "```\na\nb\n```"},
		{"<pre><code><div>a\n</div><div>b\n</div></code></pre>", "```\na\nb\n```"},
		{"<pre><code class='language-a`b'>x</code></pre>", "```\nx\n```"},
		{"<pre><code>x *y* _z_ [q]\n</code></pre>", "```\nx *y* _z_ [q]\n```"},
		{"<pre>raw\n  pre</pre>", "```\nraw\n  pre\n```"},
		{"<pre>\nraw\n</pre>", "raw"},
		{"<pre># no heading</pre>", "```\n# no heading\n```"},
		{"<pre>- no item</pre>", "```\n- no item\n```"},
		{"<pre>a_b *c*</pre>", "```\na_b *c*\n```"},
		{"<pre>    in</pre>", "```\n    in\n```"},
		{"<pre># a\n\n1. b\n```\n</pre>", "````\n# a\n\n1. b\n```\n````"},
		{"<ul><li>do:<pre>a\n  b</pre></li></ul>", "-   do:\n    \n    ```\n    a\n      b\n    ```"},
		{"<pre><a href=../>../</a>\n<a href=long-name.txt>long-n..&gt;</a>  5 May\n</pre>", "[../](../)\n[long-n..>](long-name.txt)  5 May"},
		{"<pre>see <a href=x>a</a>\n\nb\nc\nd</pre>", "```\nsee a\n\nb\nc\nd\n```"},
		{"<p><code>a <code>b</code></code></p>", "`a b`"},
		{`<p><code>a <b>b</b> <a href=x>c</a><br>d</code> <code><a href=x>e</a></code></p>`, "`a b c   d` [`e`](x)"},
		{`<pre data-language="css"><code>x</code></pre>`, "```css\nx\n```"},
		{`<pre><code data-lang="rb" class="x">x</code></pre>`, "```rb\nx\n```"},
		{`<pre class="brush: js; y">x</pre>`, "```js\nx\n```"},
		{`<pre><code class="hljs python">x</code></pre>`, "```python\nx\n```"},
		{`<div class="language-ts"><pre><code>x</code></pre></div>`, "```ts\nx\n```"},
		{"<xmp>a  <b></xmp>", "a  <b>"},
	} {
		if diff := cmp.Diff(c.want, mustMarkdown(t, c.html)); diff != "" {
			t.Errorf("%s\n%s", c.html, diff)
		}
	}
}

// TestMarkdownBesideCode is about what stands beside code and is no part of
// it: the numbers of its lines, a button.
func TestMarkdownBesideCode(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{"<div class=highlight><pre class=chroma><code class=language-go><span class=line><span class=ln>1</span>a\n</span><span class=line><span class=ln> 2</span>b\n</span></code></pre></div>",
			"```go\na\nb\n```"},
		{"<table class=lntable><tr><td class=lntd><pre><code><span class=lnt>1\n</span><span class=lnt>2\n</span></code></pre></td>\n<td class=lntd><pre><code class=language-go>a\nb</code></pre></td></tr></table>",
			"```go\na\nb\n```"},
		{"<table class=highlighttable><tr><td class=linenos><div class=linenodiv><pre><span class=normal>1</span>\n<span class=normal>2</span></pre></div></td>" +
			"<td class=code><div class=highlight><pre>a\nb\n</pre></div></td></tr></table>", "```\na\nb\n```"},
		{"<pre class=highlight><code><table class=rouge-table><tbody><tr><td class=\"rouge-gutter gl\"><pre class=lineno>1\n2\n</pre></td><td class=rouge-code><pre>a\n  b\n</pre></td></tr></tbody></table></code></pre>",
			"```\na\n  b\n```"},
		{"<pre><code class=\"hljs go\"><table class=hljs-ln><tbody><tr><td class=hljs-ln-numbers data-line-number=1><div class=hljs-ln-n data-line-number=1></div></td><td class=hljs-ln-code>a</td></tr>\n" +
			"<tr><td class=hljs-ln-numbers data-line-number=2></td><td class=hljs-ln-code>  b</td></tr></tbody></table></code></pre>", "```go\na\n  b\n```"},
		{"<table class=\"highlight js-file-line-container\">\n  <tr>\n    <td class=blob-num data-line-number=1></td>\n    <td class=blob-code>if x {</td>\n  </tr>\n" +
			"  <tr><td class=blob-num data-line-number=2>2</td><td class=blob-code>\t<b>y</b>\n</td></tr></table>", "```\nif x {\n\ty\n```"},
		{"<p><span class=ln>12</span> <span class=lineno>3</span></p>", "12 3"},
		{"<pre><code><span class=ln>x1</span> y</code></pre>", "```\nx1 y\n```"},
		{"<div><button>Copy</button><pre><code>a</code></pre></div>", "```\na\n```"},
		{"<div><div class=bar><button aria-label='Copy to clipboard'><svg><title>Copied!</title></svg></button></div><pre><code>a</code></pre></div>", "```\na\n```"},
		{"<pre><code>a</code><span class=copybtn>Copy code</span></pre>", "```\na\n```"},
		{"<div><button>Run</button><pre><code>a</code></pre></div>", "Run\n\n```\na\n```"},
		{"<div class=copyright>Copyright 2020</div><p>x</p><div><button>Copy</button></div>", "Copyright 2020\n\nx\n\nCopy"},
		{"<div class=copy><p>A long copy of words</p></div><pre><code>a</code></pre>", "A long copy of words\n\n```\na\n```"},
	} {
		if diff := cmp.Diff(c.want, mustMarkdown(t, c.html)); diff != "" {
			t.Errorf("%s\n%s", c.html, diff)
		}
	}
}

// TestMarkdownTables is about which tables are data, and how they look.
func TestMarkdownTables(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{`<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>`, "| A | B |\n| --- | --- |\n| 1 | 2 |"},
		{`<table><tr><td>A</td><td>B</td></tr><tr><td>1</td><td>2</td></tr></table>`, "| A | B |\n| --- | --- |\n| 1 | 2 |"},
		{`x<table><caption>Cap</caption><colgroup><col></colgroup><tr><th>A<th>B<tr><td>1<td>2</table>y`,
			"x\n\nCap\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\ny"},
		{`<table><tr><th>A</th><th>B</th></tr><tr><td>a|b</td><td><code>c|d</code> e<br>f</td></tr></table>`,
			"| A | B |\n| --- | --- |\n| a\\|b | `c\\|d` e f |"},
		{`<table><tr><th>A</th><th>B</th></tr><tr><td><p>p1</p><p>p2</p></td><td><div>d</div></td></tr></table>`,
			"| A | B |\n| --- | --- |\n| p1 p2 | d |"},
		{`<table><tr><th colspan=2>A</th></tr><tr><td>1</td><td>2</td></tr></table>`, "| A |  |\n| --- | --- |\n| 1 | 2 |"},
		{`<table><tr><th>A<th>B<th>C</tr><tr><td rowspan=2>1<td>2<td>3</tr><tr><td>4<td>5</tr><tr><td>6<td>7<td>8</tr></table>`,
			"| A | B | C |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5 |\n| 6 | 7 | 8 |"},
		{`<table><tr><th>A</th></tr><tr><td>1</td><td>2</td><td>3</td></tr></table>`, "| A |  |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |"},
		{`<table><tr><td></td><td></td></tr><tr></tr><tr><td>a</td><td>b</td></tr><tr><td> </td><td></td></tr><tr><td>c</td></tr></table>`,
			"| a | b |\n| --- | --- |\n| c |"},
		{`<ul><li><table><tr><th>A<th>B<tr><td>1<td>2</table></li></ul>`, "-   | A | B |\n    | --- | --- |\n    | 1 | 2 |\n    "},
		{`<table><tr><td>only</td></tr><tr><td>one</td></tr></table>`, "only\n\none"},
		{`<table><tr><td>side</td><td>by side</td></tr></table>`, "side\n\nby side"},
		{`<table role="presentation"><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>`, "a\n\nb\n\nc\n\nd"},
		{`<table><tr><td>a</td><td><ul><li>b</li></ul></td></tr><tr><td>c</td><td>d</td></tr></table>`, "| a | b |\n| --- | --- |\n| c | d |"},
		{`<table><tr><th>A<th>B<tr><td>1<td>of:<ul><li>b</li> <li><p>c</p><p>d.</p></li><li>e <ol><li>f<li>g</ol></li></ul></table>`,
			"| A | B |\n| --- | --- |\n| 1 | of: b; c d. e (1. f; 2. g) |"},
		{`<table><tr><th>A<th>B<tr><td>1<td><pre>x|y</pre> or <pre><code>z</code></pre><tr><td>2<td><blockquote>q<hr>r</blockquote></table>`,
			"| A | B |\n| --- | --- |\n| 1 | `x\\|y` or `z` |\n| 2 | q r |"},
		{`<table><tr><th>A<th>B<tr><td>1<td><dl><dt>k<dd>v<dt>l:<dd>w</dl><tr><td>2<td><form><button>Go</button></form></table>`,
			"| A | B |\n| --- | --- |\n| 1 | k: v; l: w |\n| 2 | Go |"},
		{"<table><tr><td>a<td>b<tr><td>c<td><pre>d\ne</pre></table>", "a\n\nb\n\nc\n\n```\nd\ne\n```"},
		{`<table><tr><td>a<td>b<tr><td>c<td><h3>d</h3></table>`, "a\n\nb\n\nc\n\n### d"},
		{`<table><tr><td>a<td>b<tr><td>c<td><ul><li>` + strings.Repeat("d", 501) + `</ul></table>`, "a\n\nb\n\nc\n\n-   " + strings.Repeat("d", 501)},
		{`<table><tr><td><table><tr><th>A<th>B<tr><td>1<td>2</table></td><td>x</td></tr><tr><td>y</td></tr></table>`,
			"| A | B |\n| --- | --- |\n| 1 | 2 |\n\nx\n\ny"},
		{`<table></table>x`, "x"},
	} {
		want := strings.TrimSpace(c.want)
		if diff := cmp.Diff(want, mustMarkdown(t, c.html)); diff != "" {
			t.Errorf("%s\n%s", c.html, diff)
		}
	}
}

// TestMarkdownLinks is about addresses: of links, images, films and frames.
func TestMarkdownLinks(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{`<a href="javascript:alert(1)">a</a>`, "a"},
		{`<a href=" &#1;JaVa&#10;Script:alert(1)">a</a>`, "a"},
		{`<a href="vbscript:x">a</a><a href="data:text/html,x">b</a>`, "ab"},
		{"<a href=\" /a b\n/c \">a</a>", "[a](/a%20b/c)"},
		{`<base href="https://x.org/d/e"><a href="f">a</a> <a href="/g">b</a> <a href="//h/i">c</a> <a href="mailto:j@k">d</a> <img src="l.png">`,
			"[a](https://x.org/d/f) [b](https://x.org/g) [c](https://h/i) [d](mailto:j@k) ![](https://x.org/d/l.png)"},
		{`<base href="/d/"><a href="f">a</a> <a href="%zz">b</a>`, "[a](/d/f) [b](%zz)"},
		{`<base href="javascript:x"><a href="f">a</a>`, "a"},
		{`<a href="#a"></a><a href="/b"></a>`, "[](/b)"},
		{`<a href="/z"><h3>head</h3><p>para</p></a>`, "### [head](/z)\n\npara"},
		{`<a href="/z"><img src=i><div><p>one</p><p>two</p></div></a>`, "[![](i)](/z)\n\n[one](/z)\n\ntwo"},
		{`<a href="/z"><img src=i><div><img src=j></div></a>x`, "[![](i)](/z)\n\n[![](j)](/z)\n\nx"},
		{`<a href="/z">w <img src=i><div>one</div></a>`, "[w ![](i)](/z)\n\none"},
		{`<a href="/z"><hr><ul><li><b>one</b> x</li><li>two</li></ul></a>three`, "---\n\n-   [**one** x](/z)\n-   two\n\nthree"},
		{`<img src="a.png" title='q"q'>`, `![](a.png "q\"q")`},
		{`<frameset><frame src="a"><frame src="b"></frameset>`, "[frame](a) [frame](b)"},
		{`<img src="data:image/png;base64,AAAA" alt="x">`, "![x](data:image/png)"},
		{`<img src="data:image/svg+xml,<svg/>">`, "![](data:image/svg+xml)"},
		{`<img src="data:image/gif;base64,R0" data-src="real.png" alt="x">`, "![x](real.png)"},
		{`<img data-original="real.png">`, "![](real.png)"},
		{`<img srcset="a.png 1x, b.png 2x">`, "![](a.png)"},
		{`<img src="own.png" srcset="a.png 1x" data-src="b.png">`, "![](own.png)"},
		{`<img src="data:image/gif;base64,R0" alt="x"> <noscript><img src="real.png"></noscript>y`, "![x](real.png) y"},
		{`<img src="own.png"><noscript>text</noscript>`, "![](own.png)\n\ntext"},
		{`<picture><source srcset="p.webp 1x, q.webp 2x"><img alt="x"></picture>`, "![x](p.webp)"},
		{`<picture><source srcset="p.webp"><img src="i.png" alt="x"></picture>`, "![x](i.png)"},
		{`<img src="javascript:x" alt="x">a`, "a"},
		{`<video src="v.mp4"></video>`, "[video](v.mp4)"},
		{`<video><source src="v(1).mp4">No <a href="/d">film</a>.</video>`, `[video](v\(1\).mp4)`},
		{`a<audio src="a.mp3"></audio>b`, "a\n\n[audio](a.mp3)\n\nb"},
		{`<iframe src="f.html"></iframe>`, "[frame](f.html)"},
		{`<iframe src="f.html">inner</iframe>`, "inner"},
		{`x<iframe src="f.html" width="0" height="0"></iframe><iframe src="g" style="display: none"></iframe><iframe src="about:blank"></iframe>`, "x"},
	} {
		if diff := cmp.Diff(c.want, mustMarkdown(t, c.html)); diff != "" {
			t.Errorf("%s\n%s", c.html, diff)
		}
	}
}

// TestMarkdownOther has the other places where the form is ours: where the
// reference would write what is no Markdown, or glue words together.
func TestMarkdownOther(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{`<title>T</title>text`, "T\n\ntext"},
		{`<p>a <svg><title>icon</title></svg> b</p>`, "a icon b"},
		{`<p>a <script>x</script> b</p>`, "a b"},
		{`<h2><div>in</div></h2>`, "## in"},
		{`<h1>a<br>b</h1>`, "# a b"},
		{`<select><option>a</option><option>b</option></select>`, "a\nb"},
		{`<button>a</button><button>b</button><textarea>c</textarea>`, "a b c"},
		{`<details><summary>S</summary>D</details>`, "S\n\nD"},
		{`<ul><li><input type=checkbox checked> done</li><li><input type=checkbox>open</li></ul>`, "-   [x] done\n-   [ ] open"},
		{`<ol start="-3"><li>a</li></ol>`, "1.  a"},
		{`<ol start="x"><li>a</li></ol>`, "1.  a"},
		{`<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>`, "-   a\n    -   b\n-   c"},
		{`<ul>text <li>a</li> more</ul>`, "text\n\n-   a\n\nmore"},
		{`<p><b>a<strong>b</strong></b> <i>c<em>d</em></i></p>`, "**ab** *cd*"},
		{`<b><p>a</p></b>`, "a"},
		{`<b><div><b>a</b></div></b>`, "**a**"},
		{`<b><img src=z> x</b>`, "**![](z) x**"},
		{`a<p><br>b<br></p><br><br><p>c<br><br><br><br>d</p>`, "a\n\nb\n\nc  \n  \nd"},
		{`<p>a<i>- b</i><!-- -->1. c</p>`, "a*- b*1. c"},
		{`<p>a<br>- b</p>`, "a  \n\\- b"},
		{"<pre>a *b* <b>c</b> <a href=d>e</a><br>f\n\n<i>\n</i>g</pre>", "```\na *b* c e\nf\n\n\ng\n```"},
		{"<p><del>49</del> <s> 39 </s>29 <strike></strike><del> </del><ins>new</ins></p>", "~~49~~ ~~39~~ 29 new"},
		{"<del><p>a</p></del><p><s>b<del>c</del></s> <code>d<del>e</del></code></p>", "a\n\n~~bc~~ `de`"},
		{"<p>a&#27;[31m b\u0085c\u009b</p><pre>d\x01e</pre>", "a\\[31m bc\n\nde"},
		{``, ""},
		{`  `, ""},
	} {
		if diff := cmp.Diff(c.want, mustMarkdown(t, c.html)); diff != "" {
			t.Errorf("%s\n%s", c.html, diff)
		}
	}
}

func TestMarkdownMainPart(t *testing.T) {
	text := strings.Repeat("<p>Some words of an article about a thing that is of interest to many.</p>", 20)
	html := `<html><head><title>The *title*</title></head><body><nav><a href="/1">one</a><a href="/2">two</a></nav>` +
		`<main>` + text + `</main></body></html>`
	d, err := Parse(t.Context(), html)
	if err != nil {
		t.Fatal(err)
	}
	got, partial, err := d.Markdown(t.Context(), false)
	if err != nil || !partial {
		t.Fatalf("partial %v, error %v", partial, err)
	}
	if !strings.HasPrefix(got, "The \\*title\\*\n\nSome words") || strings.Contains(got, "[one]") {
		t.Errorf("got %.200q", got)
	}
	whole, partial, err := d.Markdown(t.Context(), true)
	if err != nil || partial || !strings.Contains(whole, "[one](/1)") {
		t.Errorf("partial %v, error %v, %.200q", partial, err, whole)
	}
}

func TestMarkdownCancelled(t *testing.T) {
	d, err := Parse(t.Context(), strings.Repeat("<p>a</p>", 10000))
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, _, err := d.Markdown(ctx, true); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}
