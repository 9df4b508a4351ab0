package page

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html/atom"
)

// sketch writes a whole tree down: elements as tags, texts as they are.
func sketch(doc *Doc, id int32) string {
	n := &doc.nodes[id]
	if id != 0 && n.name == "" {
		return n.text
	}
	var b strings.Builder
	if id != 0 {
		b.WriteString("<" + n.name)
		for _, a := range n.attrs {
			fmt.Fprintf(&b, " %s=%q", a.name, a.value)
		}
		b.WriteString(">")
	}
	for c := n.first; c != nobody; c = doc.nodes[c].next {
		b.WriteString(sketch(doc, c))
	}
	if id != 0 && traitsOf(n.tag)&void == 0 {
		b.WriteString("</" + n.name + ">")
	}
	return b.String()
}

func TestTree(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"nothing", "", ""},
		{"text", "a b", "a b"},
		{"paragraphs", "<p>a<p>b<div>c</div>", "<p>a</p><p>b</p><div>c</div>"},
		{"end of no paragraph", "a</p>b", "a<p></p>b"},
		{"end of no line break", "a</br>b", "a<br>b"},
		{"void", "<br/>a<br></br><img src=x>b</img>", "<br>a<br><br><img src=\"x\">b"},
		{"slash is no end", "<div/>a", "<div>a</div>"},
		{"slash in XML", "<?xml version='1.0'?><div/>a<script src='x'/>b", "<div></div>a<script src=\"x\"></script>b"},
		{"slash in a value", "<a href=x/>a</a>", "<a href=\"x/\">a</a>"},
		{"stray ends", "a</div></b></x>b", "ab"},
		{"items", "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>"},
		{"item end in a list", "<li>a<ul></li>b", "<li>a<ul>b</ul></li>"},
		{"items with blocks", "<ul><li><div>a<li>b</ul>", "<ul><li><div>a</div></li><li>b</li></ul>"},
		{"terms", "<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"},
		{"headings", "<h1>a<h2>b</h1>c", "<h1>a</h1><h2>b</h2>c"},
		{"options", "<select><option>a<option>b<optgroup>c<option>d<optgroup>e</select>f",
			"<select><option>a</option><option>b</option><optgroup>c<option>d</option></optgroup><optgroup>e</optgroup></select>f"},
		{"buttons", "<button>a<button>b<p>c<p>d", "<button>a</button><button>b<p>c</p><p>d</p></button>"},
		{"paragraph around a button", "<p>a<button><div>b</div></button>c", "<p>a<button><div>b</div></button>c</p>"},
		{"table", "<table><tr><td>a<td>b<tr><th>c</table>d", "<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>d"},
		{"table parts", "<table><caption>x<thead><tr><td>a<tbody><tr><td>b<tfoot><tr><td>c</table>",
			"<table><caption>x</caption><thead><tr><td>a</td></tr></thead><tbody><tr><td>b</td></tr></tbody><tfoot><tr><td>c</td></tr></tfoot></table>"},
		{"columns", "<table><colgroup><col><col><tr><td>a</table>", "<table><colgroup><col><col></colgroup><tr><td>a</td></tr></table>"},
		{"open blocks in cells", "<table><tr><td><div><b>a<td>b</table>", "<table><tr><td><div><b>a</b></div></td><td>b</td></tr></table>"},
		{"table in a cell", "<table><tr><td>a<table><tr><td>b</table>c<td>d</table>",
			"<table><tr><td>a<table><tr><td>b</td></tr></table>c</td><td>d</td></tr></table>"},
		{"table in a row", "<table><tr><table><tr><td>a</table>", "<table><tr></tr></table><table><tr><td>a</td></tr></table>"},
		{"ends do not leave a cell", "<div><table><tr><td></div>a</table>b</div>", "<div><table><tr><td>a</td></tr></table>b</div>"},
		{"text between cells stays", "<table>a<tr>b<td>c</table>", "<table>a<tr>b<td>c</td></tr></table>"},
		{"cells without a table", "<tr><td>a<td>b<tr><td>c", "<tr><td>a</td><td>b</td></tr><tr><td>c</td></tr>"},
		{"links do not nest", "<a href=1>a<a href=2>b</a>c", "<a href=\"1\">a</a><a href=\"2\">b</a>c"},
		{"formatting ends with its block", "<p><b>a</p>b", "<p><b>a</b></p>b"},
		{"formatting closed in a block", "<b>a<p>b</b>c</p>d", "<b>a<p>bc</p></b>d"},
		{"links closed in a block", "<a href=x><div>a</a>b</div>c", "<a href=\"x\"><div>ab</div></a>c"},
		{"formatting out of turn", "<b>a<i>b</b>c</i>d", "<b>a<i>b</i></b>cd"},
		{"ruby", "<ruby>a<rp>(<rt>b<rp>)</ruby>c", "<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>c"},
		{"whole page", "<!doctype html><html lang=en><head><meta charset=utf-8></head><body class=x>a</body></html>b",
			"<html lang=\"en\"><head><meta charset=\"utf-8\"></head><body class=\"x\">ab</body></html>"},
		{"head that is not closed", "<head><title>t</title> <p>a", "<head><title>t</title></head><p>a</p>"},
		{"text in the head", "<head>a", "<head></head>a"},
		{"noscript in the head", "<head><noscript><meta x><img src=y></noscript>a", "<head><noscript><meta x=\"\"></noscript></head><img src=\"y\">a"},
		{"second head and body", "<body>a<head><body>b<html>c", "<body>abc</body>"},
		{"noscript", "<noscript><p>a &amp; <b>b</b></noscript>", "<noscript><p>a & <b>b</b></p></noscript>"},
		{"iframe", "<iframe src=x><b>a</b></iframe>b", "<iframe src=\"x\"><b>a</b></iframe>b"},
		{"script", "<script>a < b</script>c", "<script>a < b</script>c"},
		{"script end in capitals", "<SCRIPT>a</ScRiPt x='>'>b", "<script>a</script>b"},
		{"script that looks closed", "<script>'</scripty>'</script>b", "<script>'</scripty>'</script>b"},
		{"script in a comment in a script", "<script><!--<script>a</script>b--></script>c", "<script><!--<script>a</script>b--></script>c"},
		{"closed comment in a script", "<script><!-- x --><script>a</script>b", "<script><!-- x --><script>a</script>b"},
		{"script that never ends", "a<script>b<p>c", "a<script>b<p>c</script>"},
		{"title", "<title>a <b> &amp; c</title>d", "<title>a <b> & c</title>d"},
		{"text area", "<textarea>\n\na &lt;</textarea>", "<textarea>\na <</textarea>"},
		{"pre", "<pre>\r\n\r\na</pre>", "<pre>\na</pre>"},
		{"plaintext", "a<plaintext>b</plaintext><p>", "a<plaintext>b</plaintext><p></plaintext>"},
		{"xmp", "<p>a<xmp><b>&amp;</xmp>", "<p>a</p><xmp><b>&amp;</xmp>"},
		{"template", "<template><td>a</template>b", "<template><td>a</td></template>b"},
		{"image", "<image src=x>", "<img src=\"x\">"},
		{"unknown", "<x-a>b<x-c>d</x-a>e", "<x-a>b<x-c>d</x-c></x-a>e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, sketch(mustParse(t, c.src), 0)); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", c.src, diff)
			}
		})
	}
}

func TestMarkup(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"comments", "a<!-- x -->b<!-->c<!--->d<!-- - -- > --!>e<!---->f<!-- --->g", "abcdefg"},
		{"open comment", "a<!-- b", "a"},
		{"bogus comments", "a<!x>b<?y>c</ z>d</>e<!", "abcde"},
		{"character data", "a<![CDATA[b>c]]>d", "ac]]>d"},
		{"character data in a drawing", "<svg><![CDATA[a>b&amp;]]>c</svg>", "<svg>a>b&amp;c</svg>"},
		{"character data in XML", "<?xml?><p><![CDATA[a>b]]>c</p>", "<p>a>bc</p>"},
		{"no tags", "a < b <3 c<", "a < b <3 c<"},
		{"open end", "a</", "a</"},
		{"open tag", "a<b c", "a"},
		{"open quote", "a<b c='d>e", "a"},
		{"odd name", "<a<b>c", "<a<b>c</a<b>"},
		{"capitals", "<P Class=A>a</P>", "<p class=\"A\">a</p>"},
		{"attributes", "<p a b=1 c='2' d=\"3\" e = 4 f=''>", `<p a="" b="1" c="2" d="3" e="4" f=""></p>`},
		{"attributes side by side", "<p a='1'b=\"2\"c/d>", `<p a="1" b="2" c="" d=""></p>`},
		{"same attribute twice", "<p a=1 A=2>", `<p a="1"></p>`},
		{"odd attributes", "<p =a b =c \"d\" e=>", `<p =a="" b="c" "d"="" e=""></p>`},
		{"angle bracket in a value", "<p a='>' b=<>", `<p a=">" b="<"></p>`},
		{"references", "&lt;&amp;&nbsp;&eacute;&NotEqualTilde;&semi;&copy", "<&\u00a0é≂̸;©"},
		{"numbers", "&#65;&#x41;&#X41&#65a&#128;&#0;&#xD800;&#1114112;&#99999999999999999999;&#;&#x;", "AAAAa€\uFFFD\uFFFD\uFFFD\uFFFD&#;&#x;"},
		{"old references", "&notit;&ampx&amp", "¬it;&x&"},
		{"no references", "& &; &x; &1 &" + strings.Repeat("a", 99), "& &; &x; &1 &" + strings.Repeat("a", 99)},
		{"references in values", `<a b="?a=1&copy=2&amp;c&notit;&not &lt">`, `<a b="?a=1&copy=2&c&notit;¬ <"></a>`},
		{"line ends", "a\r\nb\rc\n<p t='\r\n'>", "a\nb\nc\n<p t=\"\\n\"></p>"},
		{"NUL", "a\x00b<p\x00 c\x00='\x00'><script>\x00</script>", "ab<p\uFFFD c\uFFFD=\"\uFFFD\"><script>\uFFFD</script></p\uFFFD>"},
		{"drawing", "<svg viewBox=x><path d=1 /><g><title>a<b>b</title></g></svg>c", `<svg viewbox="x"><path d="1"></path><g><title>a<b>b</b></title></g></svg>c`},
		{"drawing that is not closed", "<svg><g><p>a", "<svg><g></g></svg><p>a</p>"},
		{"drawing closed around a block", "<svg><foreignObject><div>a</svg>b", "<svg><foreignobject><div>a</div></foreignobject></svg>b"},
		{"style in a drawing", "<svg><style>a<g>b</style></svg>", "<svg><style>a<g>b</g></style></svg>"},
		{"end that breaks out", "<svg>a</p>b", "<svg>a</svg><p></p>b"},
		{"font breaks out", "<svg><font>a<font color=x>b", "<svg><font>a</font></svg><font color=\"x\">b</font>"},
		{"formula", "<math><mi>a<b>c</b></mi><annotation-xml encoding=text/html><p>d</annotation-xml></math>e",
			"<math><mi>a<b>c</b></mi><annotation-xml encoding=\"text/html\"><p>d</p></annotation-xml></math>e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, sketch(mustParse(t, c.src), 0)); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", c.src, diff)
			}
		})
	}
}

func TestTitleAndBase(t *testing.T) {
	for _, c := range []struct{ src, title, base string }{
		{"<p>a", "", ""},
		{"<head><title>\n a &amp;\tb </title><base href=' /x/ '><base href=/y/>", "a & b", "/x/"},
		{"<svg><title>no</title></svg><title>yes</title><title>late</title>", "yes", ""},
		{"<title> </title><base target=x><base href=y><title>b</title>", "b", "y"},
	} {
		doc := mustParse(t, c.src)
		if doc.title != c.title || doc.base != c.base {
			t.Errorf("%q: title %q, base %q; want %q, %q", c.src, doc.title, doc.base, c.title, c.base)
		}
	}
}

// Elements that are too deep become siblings, and no text is lost.
func TestDepth(t *testing.T) {
	const more = maxDepth + 50
	doc := mustParse(t, "a"+strings.Repeat("<div>b", more)+"<i>c</i>"+strings.Repeat("</div>d", more)+"e")
	checkLinks(t, doc)
	want := "a" + strings.Repeat("b", more) + "c" + strings.Repeat("d", more) + "e"
	if got := lettersOf(doc); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	last := doc.nodes[len(doc.nodes)-1]
	if last.text != "de" || last.parent != 0 {
		t.Errorf("the last text is %q in node %d, want it in the root: all ends were there", last.text, last.parent)
	}
}

// Beyond the largest tree text goes on, with a line for each block.
func TestTooManyNodes(t *testing.T) {
	doc := mustParse(t, strings.Repeat("<b>x", maxNodes/2+10)+"<p>tail &amp;<script>code</script><textarea>area</textarea>"+"<td>cell</table>end")
	checkLinks(t, doc)
	if len(doc.nodes) != maxNodes+1 {
		t.Fatalf("%d nodes, want %d", len(doc.nodes), maxNodes+1)
	}
	last := doc.nodes[maxNodes].text
	if want := "\ntail &\narea\ncell\nend"; !strings.HasSuffix(last, "x"+want) {
		t.Errorf("the rest ends with %q, want %q", last[max(0, len(last)-40):], want)
	}
	if n := strings.Count(lettersOf(doc), "x"); n != maxNodes/2+10 {
		t.Errorf("%d of %d letters are left", n, maxNodes/2+10)
	}
}

func TestBoundsOfAttributes(t *testing.T) {
	var many strings.Builder
	for i := range maxAttrs + 10 {
		fmt.Fprintf(&many, " a%d=%d", i, i)
	}
	long := strings.Repeat("é", maxValue)
	doc := mustParse(t, "<p"+many.String()+">x</p><a href='"+long+"' "+long+"=1 id=y>z</a>")
	p, a := doc.nodes[1], doc.nodes[3]
	if len(p.attrs) != maxAttrs || p.attrs[maxAttrs-1].value != "63" {
		t.Errorf("%d attributes are kept, want the first %d", len(p.attrs), maxAttrs)
	}
	if a.attr("href") != long[:maxValue] || a.attr("id") != "y" || len(a.attrs) != 2 {
		t.Errorf("a long value has %d bytes, want %d; %d attributes", len(a.attr("href")), maxValue, len(a.attrs))
	}
}

func TestKnownTags(t *testing.T) {
	doc := mustParse(t, "<P><x-y><tabLE>")
	for i, want := range []atom.Atom{0, atom.P, 0, atom.Table} {
		if got := doc.nodes[i].tag; got != want {
			t.Errorf("node %d is %v, want %v", i, got, want)
		}
	}
}

func TestParseEndsWithItsContext(t *testing.T) {
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if doc, err := Parse(ctx, "<p>a"); doc != nil || !errors.Is(err, reason) {
		t.Errorf("Parse returned %v, %v; want the reason", doc, err)
	}
}
