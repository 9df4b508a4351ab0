package page

import (
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// quote puts the mark of a quote before every line.
func (w *markdownWriter) quote(c chain) chain {
	if w.inCell {
		return w.around("\n\n", c, "\n\n")
	}
	c, _ = w.cutHead(c)
	c, _ = w.cutTail(c)
	return w.around("\n\n> ", w.indent(c, "> "), "\n\n")
}

// list writes a list. One that ends an item of another list stands right
// under the item's text, and so does one that should have been in the item
// before it.
func (w *markdownWriter) list(at int32, n *node) chain {
	out, loose := noChain(), noChain()
	flush := func() {
		if !loose.empty() {
			out, loose = w.join(out, w.around("\n\n", loose, "\n\n")), noChain()
		}
	}
	for c := n.first; c != nobody && !w.spendStep(0); c = w.doc.nodes[c].next {
		child := &w.doc.nodes[c]
		switch {
		case w.shapes[c].gone:
		case child.tag == atom.Li:
			flush()
			out = w.join(out, w.element(c))
		case (child.tag == atom.Ul || child.tag == atom.Ol) && !w.shapes[c].blank && !out.empty():
			flush()
			inner, _ := w.cutHead(w.element(c))
			inner, _ = w.cutTail(inner)
			out = w.join(out, w.around("\n    ", w.indent(inner, "    "), "\n"))
		default:
			loose = w.join(loose, w.child(c))
		}
	}
	flush()
	if w.inCell {
		// In a cell it is on the line of the cell, and in parentheses if it is part of another list.
		items := out
		if up := n.parent; up != nobody && w.doc.nodes[up].tag == atom.Li {
			if items = w.trim(items); !items.empty() {
				items = w.around("(", items, ")")
			}
		}
		return w.around("\n\n", items, "\n\n")
	}
	if up := n.parent; up != nobody && w.doc.nodes[up].tag == atom.Li && w.shapes[up].last == at {
		return w.around("\n", out, "")
	}
	return w.around("\n\n", out, "\n\n")
}

// item writes an item of a list, its lines indented under its mark.
func (w *markdownWriter) item(at int32, n *node) chain {
	if w.inCell {
		// In a cell it has no line of its own.
		c := w.writeChildren(at)
		before, end := "", ""
		if mark := w.itemMarker(at, n); mark[0] != '-' {
			before = strings.TrimRight(mark, " ") + " "
		}
		if w.nextShown(n.next) != nobody {
			end = ";"
		}
		return w.inLine(before, c, end)
	}
	c, _ := w.cutHead(w.writeChildren(at))
	c, lines := w.cutTail(c)
	if lines > 0 {
		c = w.around("", c, "\n")
	}
	c = w.around(w.itemMarker(at, n), w.indent(c, "    "), "")
	if w.nextShown(n.next) != nobody {
		c = w.around("", c, "\n")
	}
	return c
}

// term writes a term or what is said about it.
func (w *markdownWriter) term(at int32, n *node) chain {
	c := w.writeChildren(at)
	if !w.inCell {
		return w.around("\n\n", c, "\n\n")
	}
	end := ""
	if w.nextShown(n.next) != nobody {
		end = ";"
		if n.tag == atom.Dt {
			end = ":"
		}
	}
	return w.inLine("", c, end)
}

// itemMarker returns what stands before an item: a dash or its number.
func (w *markdownWriter) itemMarker(at int32, n *node) string {
	if n.parent == nobody || w.doc.nodes[n.parent].tag != atom.Ol {
		return "-   "
	}
	return strconv.Itoa(1+int(w.shapes[at].place)) + ".  "
}

// startOf returns the number of the first item of a list.
func (w *markdownWriter) startOf(n *node) int32 {
	start := n.attr("start")
	w.made += len(start)
	if s := strings.TrimSpace(start); s != "" && len(s) < 10 {
		if first, err := strconv.Atoi(s); err == nil && first >= 0 {
			return int32(first)
		}
	}
	return 1
}

// heading writes a heading, which has one line.
func (w *markdownWriter) heading(at int32, n *node) chain {
	if w.headings > 0 {
		return w.around("\n\n", w.writeChildren(at), "\n\n")
	}
	w.headings++
	text := oneLine(w.spend(w.writeChildren(at)))
	w.headings--
	return w.chainOf("\n\n"+"######"[:n.name[1]-'0']+" ", text, "\n\n")
}

// oneLine makes one line of a text.
func oneLine(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	var out strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.Trim(line, " \t"); line == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(line)
	}
	return out.String()
}
