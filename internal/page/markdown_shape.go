package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// A shape is what the writer of Markdown has to know of a node beforehand.
type shape struct {
	text     string // of text: as it is shown, blanks collapsed
	from, to int32  // of an element: which texts are in it; until it ends, how much there was to see before it
	things   int32  // how many images and such were before it
	thingsTo int32  // and how many before its end
	lead     int32  // of text: how many bytes of blanks it starts with
	tail     int32  // of text: where the blanks begin that it ends with; 0 if it is nothing else
	place    int32  // how many elements its parent has before it, counted from where a list starts
	kids     int32  // how many elements it has, counted so
	prev     int32  // the node before it that is shown
	last     int32  // the last of them
	gone     bool   // it is not shown
	blank    bool   // there is nothing to see in it
	fresh    bool   // of text: a line starts with it
	blocky   bool   // of an element: there are blocks in it
	layout   bool   // of a table: it has more than lines in its cells
	listing  bool   // of preformatted text: its lines are links
}

// shaping goes over a page once, as a browser does that lays out lines: blanks
// at the edges of blocks and after other blanks vanish.
type shaping struct {
	*markdownWriter
	held   int32 // the text before, whose last blank may still vanish
	keep   bool  // a blank stays although no text is before it, for an image is
	pre    int   // how many preformatted elements are open
	start  int   // which text is the first in the outermost of them
	links  int   // how many links were in it
	bulky  int32 // the last element that may be too much for a cell
	weight int32
	last   int32   // the node shown before, within the same element
	tables []int32 // those that are open
	fresh  bool    // nothing is on the line yet
	first  bool    // nor above it, in the block
	things int32   // how many images and such there were
	breaks []int32 // the line breaks since there was something
}

// shape fills in the shapes of the nodes of a tree.
func (w *markdownWriter) shape(root int32) {
	w.shapes = make([]shape, len(w.doc.nodes))
	s := shaping{markdownWriter: w, held: nobody, last: nobody, fresh: true, first: true}
	w.shapes[root].prev = nobody
	at, down := root, true
	for {
		n := &w.doc.nodes[at]
		if down {
			if w.spendStep(len(n.text)) {
				return
			}
			if s.openNode(at, n) && n.first != nobody {
				at, s.last = n.first, nobody
				continue
			}
		}
		if n.name != "" || at == root {
			s.closeNode(at, n)
		}
		if at == root {
			break
		}
		if !w.shapes[at].gone {
			s.last = at
		}
		if down = n.next != nobody; down {
			at = n.next
		} else {
			at = n.parent
		}
	}
	s.endLine()
}

// openNode starts a node and tells whether to look into it.
func (s *shaping) openNode(at int32, n *node) bool {
	me := &s.shapes[at]
	me.prev, me.last = s.last, nobody
	me.things, me.thingsTo = s.things, s.things
	if n.name == "" && at != 0 {
		s.addText(at, n, me)
		return false
	}
	if me.gone || s.doc.skips(n) {
		me.gone = true
		return false
	}
	if n.parent != nobody {
		up := &s.shapes[n.parent]
		me.place = up.kids
		up.kids++
		up.last = at
	}
	if n.tag == atom.Ol {
		me.kids = s.startOf(n) - 1
	}
	s.edge(n)
	s.open(at, n)
	me.to = s.weight
	if isVoid(n.tag) || isMeaningful(n.tag) {
		s.weight++ // so that it is not found blank
	}
	me.from = int32(len(s.texts))
	return true
}

// open keeps account of the elements that change what is within them.
func (s *shaping) open(at int32, n *node) {
	if len(s.tables) > 0 {
		switch {
		case isLayout(n.tag):
			s.noData()
		case isBulky(n.tag):
			s.bulky = at
		}
	}
	if s.isThing(at, n) {
		s.things++
		s.something()
	}
	switch {
	case n.tag == atom.Table:
		s.tables = append(s.tables, at)
	case s.pre > 0 && (n.tag == atom.Br || s.isBlock(n)):
		s.newLine(at, n.tag == atom.Br)
	case n.tag == atom.Br:
		s.breaks = append(s.breaks, at)
	}
	if n.tag == atom.A && n.attr("href") != "" {
		s.links++
	}
	if s.isRaw(n) {
		if s.pre++; s.pre == 1 {
			s.start, s.links = len(s.texts), 0
		}
	}
}

// noData says that the innermost table can not be written as one.
func (s *shaping) noData() {
	s.shapes[s.tables[len(s.tables)-1]].layout = true
}

// closeNode ends an element.
func (s *shaping) closeNode(at int32, n *node) {
	me := &s.shapes[at]
	if me.gone {
		return
	}
	me.blank = me.to == s.weight
	me.to, me.thingsTo = int32(len(s.texts)), s.things
	if n.parent != nobody && (me.blocky || !me.blank && s.isBlock(n)) {
		s.shapes[n.parent].blocky = true
	}
	switch n.tag {
	case atom.Table:
		s.tables = s.tables[:len(s.tables)-1]
	case atom.Td, atom.Th:
		if len(s.tables) > 0 && s.bulky > at && s.textSize(me, mostInCell) > mostInCell {
			s.noData()
		}
	case atom.Sup, atom.Sub:
		if s.pre > 0 {
			s.raiseRaw(at, n)
		}
	}
	if s.isRaw(n) {
		if s.pre--; s.pre == 0 {
			lines := s.codeLines(me)
			me.listing = 2*s.links >= max(lines, 1)
			if lines > 1 && len(s.tables) > 0 {
				s.noData()
			}
		}
	}
	s.edge(n)
}

// mostInCell is how long a list or another block in a cell may be.
const mostInCell = 500

// textSize counts the bytes of text in an element, up to a number and a bit.
func (w *markdownWriter) textSize(me *shape, most int) (bytes int) {
	for i := me.from; i < me.to && i <= me.from+int32(most) && bytes <= most; i++ {
		bytes += len(w.shapes[w.texts[i]].text)
	}
	return bytes
}

// codeLines counts the lines of preformatted text, but for empty ones at its ends.
func (w *markdownWriter) codeLines(me *shape) (lines int) {
	empty := 0
	for i := me.from; i < me.to && !w.ended; i++ {
		text := &w.shapes[w.texts[i]]
		w.spendStep(len(text.text))
		before := text.text[:text.lead]
		if text.tail > 0 {
			if lines == 0 {
				lines, empty, before = 1, 0, ""
			}
			lines += empty + strings.Count(before, "\n") + strings.Count(text.text[text.lead:text.tail], "\n")
			empty, before = 0, text.text[text.tail:]
		}
		empty += strings.Count(before, "\n")
	}
	return lines
}

// edge is met at the start and at the end of an element.
func (s *shaping) edge(n *node) {
	switch {
	case s.pre > 0 && !s.isRaw(n):
	case n.name == "":
	case s.isBlock(n):
		s.endLine()
		s.dropBreaks(0)
		s.first = true
	case n.tag == atom.Br || n.tag == atom.Option:
		s.endLine()
	case isVoid(n.tag):
		s.held, s.keep = nobody, true
	case s.held != nobody:
		s.keep = false
	}
}

// endLine takes the blank off the end of the text before.
func (s *shaping) endLine() {
	if s.held != nobody {
		held := &s.shapes[s.held]
		held.text = strings.TrimSuffix(held.text, " ")
		held.lead = min(held.lead, int32(len(held.text)))
		held.tail = min(held.tail, int32(len(held.text)))
	}
	s.held, s.keep, s.fresh = nobody, false, true
}

// isThing tells images and the like that are shown.
func (s *shaping) isThing(at int32, n *node) bool {
	switch n.tag {
	case atom.Img:
		s.twin(at, n)
		return n.attr("src") != "" || s.twins[at] != 0 || lateSource(n) != ""
	case atom.Input:
		return n.says("type", "checkbox")
	case atom.Iframe, atom.Video, atom.Frame:
		return true
	}
	return false
}

// something is there to be seen on the line. Line breaks before it at the
// start of a block make no sense, nor do more than two.
func (s *shaping) something() {
	if s.first {
		s.dropBreaks(0)
	} else {
		s.dropBreaks(2)
	}
	s.first, s.fresh = false, false
}

// dropBreaks forgets the line breaks since there was something, and has none
// of them shown but the first ones.
func (s *shaping) dropBreaks(keep int) {
	for _, at := range s.breaks[min(keep, len(s.breaks)):] {
		s.shapes[at].gone = true
	}
	s.breaks = s.breaks[:0]
}

// addText takes a text in.
func (s *shaping) addText(at int32, n *node, me *shape) {
	switch {
	case s.pre > 0 && s.betweenCells(n) || s.doc.isPadding(n):
	case s.pre > 0:
		me.text = harmless(n.text)
	default:
		me.text = harmless(collapse(n.text))
		if !s.keep && strings.HasPrefix(me.text, " ") &&
			(s.held == nobody || strings.HasSuffix(s.shapes[s.held].text, " ")) {
			me.text = me.text[1:]
		}
		if me.text != "" {
			s.held = at
		}
	}
	if me.text == "" {
		me.gone = true
		return
	}
	s.texts = append(s.texts, at)
	me.fresh = s.fresh
	if s.measure(me) {
		s.weight++
		s.something()
	}
}

// measure looks for the blanks at the ends of a text, and tells whether there
// is anything else in it.
func (s *shaping) measure(me *shape) bool {
	rest := strings.TrimLeftFunc(me.text, isBlank)
	me.lead = int32(len(me.text) - len(rest))
	if rest != "" {
		me.tail = me.lead + int32(len(strings.TrimRightFunc(rest, isBlank)))
	}
	return rest != ""
}

// newLine has a line end count as text where code is broken into lines by
// elements. A block needs one only where none is before it.
func (s *shaping) newLine(at int32, always bool) {
	if !always {
		if len(s.texts) == s.start || strings.HasSuffix(s.shapes[s.texts[len(s.texts)-1]].text, "\n") {
			return
		}
	}
	me := &s.shapes[at]
	me.text, me.lead, me.tail = "\n", 1, 0
	s.texts = append(s.texts, at)
}

// isBlock tells the elements that stand on lines of their own.
func (w *markdownWriter) isBlock(n *node) bool {
	switch n.tag {
	case atom.Title: // of the page; an image's is a part of its line
		return n.parent == nobody || !isDrawing(&w.doc.nodes[n.parent])
	case atom.Address, atom.Article, atom.Aside, atom.Audio, atom.Blockquote, atom.Body, atom.Canvas,
		atom.Caption, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Frameset,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr,
		atom.Html, atom.Isindex, atom.Legend, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav,
		atom.Noframes, atom.Noscript, atom.Ol, atom.Output, atom.P, atom.Plaintext, atom.Pre, atom.Section,
		atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Xmp:
		return true
	}
	return false
}

// isVoid tells the elements that have no content but may be seen.
func isVoid(tag atom.Atom) bool {
	switch tag {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Command, atom.Embed, atom.Frame, atom.Hr, atom.Img, atom.Input,
		atom.Keygen, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// isMeaningful tells the elements that are shown even without a text.
func isMeaningful(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Th, atom.Td, atom.Iframe,
		atom.Audio, atom.Video:
		return true
	}
	return false
}

// betweenCells tells the blanks between the cells and rows of a table.
func (s *shaping) betweenCells(n *node) bool {
	switch s.doc.nodes[n.parent].tag {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tr:
		return isAllBlank(n.text)
	}
	return false
}

// isRaw tells the elements whose blanks are shown as they are: preformatted
// ones, and tables that have a line of code in every row.
func (w *markdownWriter) isRaw(n *node) bool {
	return isRaw(n.tag) || n.tag == atom.Table && w.doc.isCodeTable(n)
}

// isCodeTable tells a table whose first cell has the number of a line.
func (d *Doc) isCodeTable(n *node) bool {
	for range 4 {
		at := n.first
		for range nearby {
			if at == nobody || d.nodes[at].name != "" && d.nodes[at].tag != atom.Colgroup {
				break
			}
			at = d.nodes[at].next
		}
		if at == nobody || d.nodes[at].name == "" {
			return false
		}
		if n = &d.nodes[at]; n.tag == atom.Td {
			_, numbered := n.find("data-line-number")
			return numbered
		}
	}
	return false
}

func isRaw(tag atom.Atom) bool {
	switch tag {
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		return true
	}
	return false
}

// isDrawing tells the elements of a vector image that may have a title.
func isDrawing(n *node) bool {
	switch n.name {
	case "svg", "g", "a", "path", "use", "symbol", "text", "rect", "circle", "line", "polygon", "ellipse", "image":
		return true
	}
	return false
}
