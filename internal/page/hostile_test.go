package page

import (
	"fmt"
	"strings"
)

// A hostile page is made to cost more than its size.
type hostile struct {
	name string
	make func(size int) string
}

// again repeats a piece up to a size.
func again(piece string) func(int) string {
	return func(size int) string { return strings.Repeat(piece, max(size/len(piece), 1)) }
}

// after puts something small in front of a piece that is repeated.
func after(head, piece string) func(int) string {
	return func(size int) string { return head + again(piece)(size) }
}

// halves makes one half of a page by one maker, the other by another.
func halves(first, second func(int) string) func(int) string {
	return func(size int) string { return first(size/2) + second(size/2) }
}

// attributes makes one tag with attributes that are all different.
func attributes(size int) string {
	var b strings.Builder
	b.WriteString("<a")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, " x%x", i)
	}
	b.WriteString(">")
	return b.String()
}

func hostilePages() []hostile {
	deep := strings.Repeat("<div>", maxDepth)
	spans := strings.Repeat("<span>", maxDepth-10)
	longName := "<x" + strings.Repeat("y", 500) + ">"
	return []hostile{
		{"div", again("<div>")},
		{"div and back", halves(again("<div>"), again("</div>"))},
		{"p b", again("<p><b>")},
		{"tags in a tag", again("<a ")},
		{"stray ends", again("</x>")},
		{"stray ends, deep", after(strings.Repeat("<i>", maxDepth), "</b>")},
		{"stray block ends, deep", after(strings.Repeat("<i>", maxDepth), "</h1>")},
		{"stray ends of long names", after(strings.Repeat(longName, maxDepth), "</"+longName[1:len(longName)-2]+"z>")},
		{"paragraph ends", again("</p>")},
		{"attributes", attributes},
		{"attributes, then tags", halves(attributes, again("<a b>"))},
		{"same attribute", after("<a", " href=x")},
		{"many small tags", again("<b a b c d e f g>")},
		{"tables", again("<table><tr><td>")},
		{"tables in tables", again("<table>")},
		{"rows", after("<table>", "<tr>")},
		{"cells", after("<table><tr>", "<td>x")},
		{"selects", again("<select><option>")},
		{"options", after("<select>", "<option>")},
		{"items", after(deep, "<li>")},
		{"items in spans", again("<li><span>")},
		{"definitions", again("<dt><b><dd><i>")},
		{"headings", again("<h1>")},
		{"buttons", again("<button><p>")},
		{"links in links", again("<a href=x><div>")},
		{"formatting out of turn", again("<b><i><u></b></i></u>")},
		{"formatting and blocks", again("<b><div></b>")},
		{"open comments", again("<!-- x ")},
		{"dashes", after("<!--", "-")},
		{"comment ends", after("<!--", "--!")},
		{"empty comments", again("a<!>")},
		{"data", again("<![CDATA[")},
		{"data in a drawing", after("<svg>", "<![CDATA[]]>")},
		{"declarations", again("<!x ")},
		{"instructions", again("<?")},
		{"angle brackets", again("<")},
		{"ends of nothing", again("</")},
		{"references", again("&amp;")},
		{"unknown references", again("&aaaa;")},
		{"old references", again("&notx")},
		{"long reference", after("&", "a")},
		{"long number", after("&#", "9")},
		{"drawings", again("<svg><g>")},
		{"drawing ends", after(strings.Repeat("<svg>", maxDepth), "</g>")},
		{"drawings and text", again("<svg><p>")},
		{"drawing titles", again("<svg><title><b>")},
		{"scripts in comments in scripts", after("<script>", "<!--<script></script>")},
		{"script ends", after("<script>", "</scrip")},
		{"titles", again("<title>x</title>")},
		{"open titles", again("<title>")},
		{"text areas", again("<textarea></textarea>")},
		{"templates", again("<template>")},
		{"quotes", again("<a b='\"")},
		{"capitals", again("<B>X</B>")},
		{"carriage returns", again("\r")},
		{"NULs", again("\x00")},
		{"text", again("lorem ipsum ")},
		{"paragraph behind a button, deep", after("<p><button>"+spans, "<div></div>")},
		{"terms, deep", after(spans, "<dd></dd>")},
		{"tables, deep", after(spans, "<table></table>")},
		{"cells, deep", after("<table><tr><td>"+spans+"<object>", "</td>")},
		{"formatting behind a block, deep", after("<b><object>"+spans, "</b>")},
		{"same slots, deep", after("<object>"+strings.Repeat("<xabcy>", maxDepth-10)+"<xbbcy>", "</xcbcy>")},
		{"ruby", again("<ruby><rt>")},
		{"head parts", again("<meta><noscript>")},
		{"bodies", again("<html><head><body>")},
		{"xml", after("<?xml?>", "<a/>")},
	}
}
