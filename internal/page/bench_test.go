package page

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// article makes a page of a size as pages are: navigation, text, lists, tables.
func article(size int) string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>An article &amp; more</title>\n" +
		"<script>window.x = function (a, b) { return a < b && b > 1 };</script>\n</head>\n<body class=\"page\">\n<nav><ul>")
	for i := range 30 {
		fmt.Fprintf(&b, "<li class=\"item item-%d\"><a href=\"/section/%d\">Section %d</a></li>\n", i, i, i)
	}
	b.WriteString("</ul></nav>\n<main>\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "<h2 id=\"part-%d\">Part %d</h2>\n<p class=\"lead\">The <em>quick</em> brown fox &mdash; or <a href=\"https://example.com/fox?id=%d&amp;lang=en\" "+
			"title=\"A fox\">the fox</a> &mdash; jumps over the lazy dog, and then it sits down in the grass to think about what it has <strong>really</strong> done.</p>\n", i, i, i)
		fmt.Fprintf(&b, "<ul>\n  <li>first of <code>%d</code></li>\n  <li>second, which is a bit longer than the first one was</li>\n</ul>\n", i)
		fmt.Fprintf(&b, "<pre><code class=\"language-go\">func main() {\n\tfmt.Println(%d &lt; 3)\n}\n</code></pre>\n<!-- a remark -->\n", i)
		fmt.Fprintf(&b, "<table class=\"data\"><tr><th>name</th><th>value</th></tr>\n<tr><td>n</td><td>%d</td></tr></table>\n<p><img src=\"/img/%d.png\" alt=\"image %d\"/></p>\n", i, i, i)
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.String()
}

func benchParse(b *testing.B, src string) {
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	nodes := 0
	for b.Loop() {
		doc, err := Parse(context.Background(), src)
		if err != nil {
			b.Fatal(err)
		}
		nodes = len(doc.nodes)
	}
	b.ReportMetric(float64(nodes), "nodes")
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{10 << 10, 1 << 20, 5 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) { benchParse(b, article(size)) })
	}
}

func BenchmarkParseHostile(b *testing.B) {
	for _, h := range hostilePages() {
		for _, size := range []int{2500 << 10, 10 << 20} {
			b.Run(fmt.Sprintf("%s/%dKB", h.name, size>>10), func(b *testing.B) { benchParse(b, h.make(size)) })
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"utf-8", "windows-1251", "gb18030", "shift_jis", "utf-16le"} {
		text := strings.Repeat("<p class=\"x\">plain text and ж, then more of it</p>\n", 20_000)
		body, err := scriptOf(name).encoding.NewEncoder().Bytes([]byte(text))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if got, _ := Decode(body, name); len(got) != len(text) {
					b.Fatalf("%d bytes, want %d", len(got), len(text))
				}
			}
		})
	}
}
