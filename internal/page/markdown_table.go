package page

import (
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// table writes a table of data as rows between bars. Where a table is there
// for the layout, or has in its cells what does not fit on a line, its cells
// follow each other as paragraphs.
func (w *markdownWriter) table(at int32) chain {
	g := grid{markdownWriter: w}
	if w.code > 0 || w.shapes[at].layout || !g.read(at) || !g.isData(&w.doc.nodes[at]) {
		return w.around("\n\n", w.writeChildren(at), "\n\n")
	}
	out := noChain()
	for _, caption := range g.captions {
		out = w.join(out, w.element(caption))
	}
	return w.join(out, w.chainOf("\n\n"+g.write()+"\n\n"))
}

// A grid is a table laid out.
type grid struct {
	*markdownWriter
	captions []int32
	cells    []int32 // of all rows; nobody for a place without a cell of its own
	rows     []gridRow
	number   int   // how many rows there were, those without a cell counted
	taken    []int // for each column the row until which a cell from above reaches
	width    int   // of the widest row
	real     int   // how many cells are the page's own
	heads    int   // how many of them are headings
}

// A gridRow is where in the cells a row ends, and whether it has headings.
type gridRow struct {
	end  int
	head bool
}

// read lays a table out. It reports false where the table holds anything but
// rows of cells, and where the page asks for far more places than it fills.
func (g *grid) read(table int32) bool {
	for at := g.nextShown(g.doc.nodes[table].first); at != nobody && !g.spendStep(0); at = g.nextShown(g.doc.nodes[at].next) {
		switch n := &g.doc.nodes[at]; n.tag {
		case atom.Caption:
			if g.real > 0 {
				return false // it would change places with the rows
			}
			g.captions = append(g.captions, at)
		case atom.Colgroup, atom.Col:
		case atom.Thead, atom.Tbody, atom.Tfoot:
			g.taken = g.taken[:0]
			for row := g.nextShown(n.first); row != nobody && !g.spendStep(0); row = g.nextShown(g.doc.nodes[row].next) {
				if !g.row(row) {
					return false
				}
			}
			g.taken = g.taken[:0]
		default:
			if !g.row(at) {
				return false
			}
		}
	}
	return !g.ended
}

// row adds a row. Empty places at its end are left to whoever reads it.
func (g *grid) row(at int32) bool {
	n := &g.doc.nodes[at]
	if n.tag != atom.Tr {
		return g.nothing(at)
	}
	start, heads := len(g.cells), g.heads
	for at := g.nextShown(n.first); at != nobody && !g.spendStep(0); at = g.nextShown(g.doc.nodes[at].next) {
		cell := &g.doc.nodes[at]
		if cell.tag != atom.Td && cell.tag != atom.Th {
			if !g.nothing(at) {
				return false
			}
			continue
		}
		for c := len(g.cells) - start; c < len(g.taken) && g.taken[c] > g.number; c++ {
			g.cells = append(g.cells, nobody)
		}
		g.addCell(at, cell, start)
		if len(g.cells) > 5*g.real+64 {
			return false
		}
	}
	g.width = max(g.width, len(g.cells)-start)
	g.number++
	if len(g.cells) > start {
		g.rows = append(g.rows, gridRow{len(g.cells), g.heads > heads})
	}
	return true
}

// addCell adds a cell to the row that began at start.
func (g *grid) addCell(at int32, n *node, start int) {
	g.real++
	if n.tag == atom.Th {
		g.heads++
	}
	column := len(g.cells) - start
	wide, high := span(n, "colspan", 64), span(n, "rowspan", 1<<16)
	for i := range wide {
		if i > 0 {
			at = nobody
		}
		g.cells = append(g.cells, at)
		for high > 1 && len(g.taken) <= column+i {
			g.taken = append(g.taken, 0)
		}
		if high > 1 {
			g.taken[column+i] = g.number + high
		}
	}
}

// span reads how many columns or rows a cell reaches over.
func span(n *node, name string, most int) int {
	s := strings.TrimSpace(n.attr(name))
	if s == "" || len(s) > 6 {
		return 1
	}
	size, err := strconv.Atoi(s)
	if err != nil || size < 1 {
		return 1
	}
	return min(size, most)
}

// nothing tells whether a node shows nothing.
func (g *grid) nothing(at int32) bool {
	me := &g.shapes[at]
	if g.doc.nodes[at].name == "" {
		return strings.TrimLeftFunc(me.text, isBlank) == ""
	}
	return me.blank
}

// isData tells a table of data from one that puts things side by side.
func (g *grid) isData(n *node) bool {
	if n.says("role", "presentation") || n.says("role", "none") {
		return false
	}
	return g.width >= 2 && (len(g.rows) >= 2 || g.heads > 0)
}

// write writes the table. Its first row is its head, for there must be one;
// rows that only keep others apart are left out.
func (g *grid) write() string {
	var out strings.Builder
	start := 0
	for _, row := range g.rows {
		if g.spendStep(0) {
			break
		}
		texts := g.rowTexts(g.cells[start:row.end])
		start = row.end
		first := out.Len() == 0
		if strings.Join(texts, "") == "" && !row.head {
			continue
		}
		if first {
			texts = append(texts, make([]string, g.width-len(texts))...)
		} else {
			out.WriteByte('\n')
		}
		out.WriteByte('|')
		for _, s := range texts {
			out.WriteString(" " + s + " |")
		}
		if first {
			out.WriteString("\n|" + strings.Repeat(" --- |", g.width))
		}
	}
	return out.String()
}

// rowTexts writes the cells of a row, each on one line, and keeps their bars from
// ending a cell.
func (g *grid) rowTexts(cells []int32) []string {
	texts := make([]string, len(cells))
	g.inCell = true
	for i, at := range cells {
		if at != nobody && !g.ended {
			texts[i] = strings.ReplaceAll(oneLine(g.spend(g.trim(g.writeChildren(at)))), "|", `\|`)
		}
	}
	g.inCell = false
	return texts
}

// isLayout tells the elements that are the parts of a page, not of a cell.
func isLayout(tag atom.Atom) bool {
	switch tag {
	case atom.Article, atom.Aside, atom.Footer, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Header, atom.Main, atom.Nav, atom.Plaintext, atom.Section, atom.Table:
		return true
	}
	return false
}

// isBulky tells the elements that are put on one line in a cell, if they are
// short.
func isBulky(tag atom.Atom) bool {
	switch tag {
	case atom.Blockquote, atom.Details, atom.Dir, atom.Dl, atom.Fieldset, atom.Figure, atom.Form, atom.Listing,
		atom.Menu, atom.Ol, atom.Pre, atom.Ul, atom.Xmp:
		return true
	}
	return false
}

// inLine puts a part of a cell on a line of its own, which will be joined with
// the others, and ends it so that it stays apart.
func (w *markdownWriter) inLine(before string, c chain, end string) chain {
	c = w.trim(c)
	if c.empty() {
		return c
	}
	switch text := w.pieceAt(c.tail).text; text[len(text)-1] {
	case '.', ',', ';', ':', '!', '?':
		end = ""
	}
	return w.around("\n"+before, c, end+"\n")
}
