package page

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html/atom"
)

// Markdown returns a page as Markdown: its main part where there surely is
// one, unless the whole page is asked for. partial says that something was
// left out. Its only error is that of ctx.
func (d *Doc) Markdown(ctx context.Context, whole bool) (text string, partial bool, err error) {
	page, look := d, newStopCheck(ctx)
	if !whole {
		page, partial = d.onlyMain(look)
	}
	if text, err = page.markdown(look, 0); err != nil {
		return "", false, err
	}
	if title := escape(harmless(page.title), true); partial && title != "" && !strings.HasPrefix(text, "# "+title) {
		text = strings.TrimSuffix(title+"\n\n"+text, "\n\n")
	}
	return text, partial, nil
}

// markdown writes a node and what is in it.
func (d *Doc) markdown(look *stopCheck, root int32) (string, error) {
	if len(d.nodes) == 0 || look.ended {
		return "", look.err()
	}
	return newMarkdownWriter(d, look).page(root)
}

// A markdownWriter writes a page as Markdown. Every element becomes a chain of pieces
// made of those of its children; the text is put together once, at the end.
type markdownWriter struct {
	chains
	doc          *Doc
	shapes       []shape
	texts        []int32 // the texts that are shown, in order
	base         *url.URL
	spare        int             // by how much links may still grow when they are made complete
	twins        map[int32]int32 // images that stand for others which are loaded late
	code         int             // how many elements of code are open
	raw          int             // how many preformatted elements are
	bold, italic int             // how many marks are open
	struck       int
	headings     int               // and headings
	inCell       bool              // in a table
	waiting      int32             // a link that has to be put on the words that come
	boxes        map[int32]codeBox // what the elements around code say of it
	pictures     map[int32]string  // where pictures are from
}

func newMarkdownWriter(d *Doc, look *stopCheck) *markdownWriter {
	w := &markdownWriter{doc: d, base: baseOf(d.base), waiting: nobody, boxes: map[int32]codeBox{}, pictures: map[int32]string{}}
	w.stopCheck, w.free = look, noChain()
	return w
}

// page writes a node and what is in it as a page of its own.
func (w *markdownWriter) page(root int32) (string, error) {
	w.shape(root)
	w.spare = 1 << 20
	for _, at := range w.texts {
		w.spare += len(w.shapes[at].text)
	}
	var c chain
	if w.doc.nodes[root].name == "" {
		c = w.writeChildren(root)
	} else {
		c = w.element(root)
	}
	text := strings.TrimLeft(w.print(c), "\t\n")
	if w.ended {
		return "", w.err()
	}
	return strings.TrimRightFunc(text, isBlank), nil
}

// writeChildren writes the children of a node.
func (w *markdownWriter) writeChildren(at int32) chain {
	if w.waiting != nobody {
		return w.writePendingLink(at)
	}
	out, apart := noChain(), false
	for c := w.doc.nodes[at].first; c != nobody && !w.spendStep(0); c = w.doc.nodes[c].next {
		if w.shapes[c].gone {
			continue
		}
		n, next := &w.doc.nodes[c], w.child(c)
		was := apart
		apart = w.isApart(n)
		switch {
		case w.raw > 0 && !w.isBlock(n):
			out = w.add(out, next)
			continue
		case w.raw+w.code > 0:
		case (was || apart) && !w.endsOpen(out) && !w.startsOpen(next):
			out = w.add(out, w.chainOf(" "))
		default:
			next = w.oneBlank(out, next)
		}
		out = w.join(out, next)
	}
	return w.join(out, noChain()) // not more than two line ends at its end
}

// child writes a node that is shown.
func (w *markdownWriter) child(at int32) chain {
	me := &w.shapes[at]
	switch {
	case w.doc.nodes[at].name != "":
		return w.element(at)
	case w.code+w.raw > 0:
		return w.chainOf(me.text)
	}
	return w.chainOf(escape(me.text, me.fresh && !w.inCell))
}

// isApart tells the inline elements that a browser shows as boxes, or in
// places, of their own.
func (w *markdownWriter) isApart(n *node) bool {
	switch n.tag {
	case atom.Button, atom.Select, atom.Textarea, atom.Meter, atom.Progress, atom.Label, atom.Iframe, atom.Frame, atom.Video:
		return true
	case atom.Input:
		return n.says("type", "checkbox")
	}
	switch n.name {
	case "text", "tspan", "title", "g":
		return n.parent != nobody && isDrawing(&w.doc.nodes[n.parent])
	}
	return false
}

// element writes an element. Blanks at the edges of an inline one are put
// outside of it, for marks do not work next to them.
func (w *markdownWriter) element(at int32) chain {
	n, me := &w.doc.nodes[at], &w.shapes[at]
	isBlock := w.isBlock(n)
	if isBlock {
		if me.blank {
			return w.chainOf("\n\n")
		}
		return w.writeBlock(at, n)
	}
	before, after := w.flanks(at, n)
	out := noChain()
	if !me.blank {
		out = w.inlineElement(at, n, before != "" || after != "")
	}
	return w.around(before, out, after)
}

// writeBlock writes an element that stands on lines of its own.
func (w *markdownWriter) writeBlock(at int32, n *node) chain {
	switch n.tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return w.heading(at, n)
	case atom.Hr:
		if w.inCell {
			return w.chainOf("\n\n")
		}
		return w.chainOf("\n\n---\n\n")
	case atom.Blockquote:
		return w.quote(w.writeChildren(at))
	case atom.Ul, atom.Ol:
		return w.list(at, n)
	case atom.Li:
		return w.item(at, n)
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		return w.preformatted(at, n)
	case atom.Table:
		if w.code == 0 && w.isRaw(n) {
			return w.preformatted(at, n)
		}
		return w.table(at)
	case atom.Dt, atom.Dd:
		return w.term(at, n)
	case atom.Audio:
		return w.around("\n\n", w.media(at, n), "\n\n")
	}
	return w.around("\n\n", w.writeChildren(at), "\n\n")
}

// inlineElement writes an element that is a part of a line. With trim the
// blanks at its edges are already written.
func (w *markdownWriter) inlineElement(at int32, n *node, trim bool) chain {
	var c chain
	switch n.tag {
	case atom.Code:
		if w.code == 0 {
			return w.inlineCode(at, trim)
		}
		c = w.writeChildren(at)
	case atom.B, atom.Strong:
		return w.writeEmphasis(at, &w.bold, trim)
	case atom.I, atom.Em:
		return w.writeEmphasis(at, &w.italic, trim)
	case atom.Del, atom.S, atom.Strike:
		return w.writeEmphasis(at, &w.struck, trim)
	case atom.A:
		if w.shapes[at].blocky && w.code == 0 {
			// A link can not be around blocks: it is on the first words, and on an image before them.
			outer := w.waiting
			w.waiting = at
			c := w.writeChildren(at)
			w.waiting = outer
			return c
		}
		c = w.writeChildren(at)
	case atom.Video:
		c = w.media(at, n)
	default:
		if n.name == "annotation" {
			return w.formula(at)
		}
		c = w.writeChildren(at)
	}
	if trim {
		c = w.trim(c)
	}
	switch {
	case n.tag == atom.A:
		return w.writeLink(n, c)
	case w.doc.placeOf(n) != onLine:
		return w.raise(at, n, c)
	}
	return w.replaced(at, n, c)
}

// replaced writes the inline elements that stand for something else than the
// text in them.
func (w *markdownWriter) replaced(at int32, n *node, c chain) chain {
	switch n.tag {
	case atom.Br:
		if w.raw > 0 {
			return w.chainOf("\n")
		}
		return w.chainOf("  \n")
	case atom.Img:
		return w.chainOf(w.image(at, n))
	case atom.Option:
		return w.around("\n", c, "\n")
	case atom.Iframe, atom.Frame:
		return w.frame(n, c)
	case atom.Input:
		if !n.says("type", "checkbox") {
			return c
		}
		if _, checked := n.find("checked"); checked {
			return w.chainOf("[x]")
		}
		return w.chainOf("[ ]")
	}
	return c
}

// writeEmphasis puts the marks of emphasis around a text. What is emphasised already,
// and what has blocks in it, can not have them.
func (w *markdownWriter) writeEmphasis(at int32, open *int, trim bool) chain {
	plain := *open > 0 || w.code+w.raw > 0 || w.shapes[at].blocky
	if !plain {
		*open++
	}
	c := w.writeChildren(at)
	if trim {
		c = w.trim(c)
	}
	if plain {
		return c
	}
	*open--
	if !w.hasText(c) {
		w.release(c)
		return noChain()
	}
	mark := "*"
	switch open {
	case &w.bold:
		mark = "**"
	case &w.struck:
		mark = "~~"
	}
	return w.around(mark, c, mark)
}

// flanks returns the blanks at the edges of an inline element, but for those
// next to a blank outside.
func (w *markdownWriter) flanks(at int32, n *node) (before, after string) {
	me := &w.shapes[at]
	before, all := w.leading(me)
	if !all {
		after = w.trailing(me)
	}
	if before != "" && isGap(before[0]) && w.endsBlank(me.prev) {
		before = strings.TrimLeft(before, " \t\r\n")
	}
	if after != "" && isGap(after[len(after)-1]) && w.startsBlank(w.nextShown(n.next)) {
		after = strings.TrimRight(after, " \t\r\n")
	}
	return before, after
}

// How many texts are looked at to find the blanks at an edge, and how many
// bytes of them are kept: a page may have the same ones at the edge of many
// elements.
const (
	farthest = 64
	widest   = 200
)

// leading returns the blanks that an element starts with, and whether it has
// nothing else.
func (w *markdownWriter) leading(me *shape) (blanks string, all bool) {
	for i := me.from; i < me.to && i < me.from+farthest && len(blanks) < widest; i++ {
		text := &w.shapes[w.texts[i]]
		if text.things != me.things {
			return blanks, false
		}
		blanks += strings.ToValidUTF8(text.text[:min(text.lead, widest)], "")
		if int(text.lead) < len(text.text) {
			return blanks, false
		}
	}
	return blanks, true
}

// trailing returns the blanks that an element ends with.
func (w *markdownWriter) trailing(me *shape) (blanks string) {
	for i := me.to - 1; i >= me.from && i > me.to-farthest && len(blanks) < widest; i-- {
		text := &w.shapes[w.texts[i]]
		if text.things != me.thingsTo {
			break
		}
		size := int32(len(text.text))
		blanks = strings.ToValidUTF8(text.text[max(text.tail, size-widest):], "") + blanks
		if text.tail > 0 {
			break
		}
	}
	return blanks
}

// nextShown returns the first node from here on that is shown.
func (w *markdownWriter) nextShown(at int32) int32 {
	for at != nobody && w.shapes[at].gone {
		at = w.doc.nodes[at].next
	}
	return at
}

// endsBlank tells whether the text of a node ends with a space.
func (w *markdownWriter) endsBlank(at int32) bool {
	if at == nobody {
		return false
	}
	n, me := &w.doc.nodes[at], &w.shapes[at]
	if n.name == "" {
		return strings.HasSuffix(me.text, " ")
	}
	for i := me.to - 1; i >= me.from && i > me.to-farthest && !w.isBlock(n); i-- {
		if text := w.shapes[w.texts[i]].text; text != "" {
			return strings.HasSuffix(text, " ")
		}
	}
	return false
}

// startsBlank tells whether the text of a node starts with a space.
func (w *markdownWriter) startsBlank(at int32) bool {
	if at == nobody {
		return false
	}
	n, me := &w.doc.nodes[at], &w.shapes[at]
	if n.name == "" {
		return strings.HasPrefix(me.text, " ")
	}
	for i := me.from; i < me.to && i < me.from+farthest && !w.isBlock(n); i++ {
		if text := w.shapes[w.texts[i]].text; text != "" {
			return strings.HasPrefix(text, " ")
		}
	}
	return false
}
