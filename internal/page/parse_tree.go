package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// inHead says whether the page's head is open, and nothing in it but perhaps a
// noscript.
func (b *builder) inHead() bool {
	switch b.open.last().tag {
	case atom.Head:
		return true
	case atom.Noscript:
		return b.open.list[len(b.open.list)-2].tag == atom.Head
	}
	return false
}

// leaveHead closes the head: something has come that can not stand there.
func (b *builder) leaveHead() {
	if b.open.last().tag == atom.Noscript {
		b.closeTop()
	}
	b.closeTop()
}

// start takes a start tag.
func (b *builder) start() {
	if b.scan.tag == atom.Image && !b.inForeign() {
		b.scan.know("img")
	}
	traits := b.scan.traits
	if b.inForeign() {
		if !b.breaksOut(traits) {
			b.startForeign()
			return
		}
		b.leaveForeign()
	}
	if traits&headPart == 0 && b.inHead() && b.scan.tag != atom.Head {
		b.leaveHead()
	}
	switch b.scan.tag {
	case atom.Html, atom.Head, atom.Body:
		b.startFrame(traits)
	case atom.Svg, atom.Math:
		b.startForeign()
	default:
		b.closeFor(traits)
		b.startPlain(traits)
	}
}

// startPlain opens an element as most are.
func (b *builder) startPlain(traits trait) {
	ended := b.xml && b.scan.ended
	switch {
	case traits&verbatim != 0 && !ended:
		b.startVerbatim(traits)
		return
	case b.full():
		b.spillBreak(traits)
	case traits&void != 0 || ended:
		b.element()
	default:
		b.push(open{traits: traits})
	}
	switch b.scan.tag {
	case atom.Base:
		// The first base address counts.
		if b.doc.base == "" {
			for _, a := range b.scan.attrs {
				if a.name == "href" {
					b.doc.base = strings.TrimSpace(a.value)
				}
			}
		}
	case atom.Frameset:
		b.doc.framed = true
	case atom.Pre, atom.Listing:
		b.skipNewline()
	}
}

// startFrame takes the tags that a page has once.
func (b *builder) startFrame(traits trait) {
	seen, fits := &b.seen.html, len(b.open.list) == 1
	switch b.scan.tag {
	case atom.Head:
		seen, fits = &b.seen.head, b.atFrame() && !b.seen.body
	case atom.Body:
		seen, fits = &b.seen.body, b.atFrame()
	}
	if *seen || !fits || b.full() {
		return
	}
	*seen = true
	b.push(open{traits: traits})
}

// atFrame says whether nothing is open but the page itself.
func (b *builder) atFrame() bool {
	list := b.open.list
	return len(list) == 1 || len(list) == 2 && list[1].tag == atom.Html
}

// startVerbatim takes an element whose content is not markup, as a whole.
func (b *builder) startVerbatim(traits trait) {
	tag := b.scan.tag
	full := b.full()
	if !full {
		b.push(open{traits: traits})
	}
	if tag == atom.Textarea {
		b.skipNewline()
	}
	text := b.scan.words.readVerbatim(b.scan.verbatim(tag.String()), traits&entities != 0)
	if tag == atom.Title && b.doc.title == "" {
		b.doc.title = strings.Join(strings.Fields(text), " ")
	}
	if full {
		if tag != atom.Script && tag != atom.Style {
			b.spillBreak(block)
			b.text(text)
		}
		return
	}
	if text != "" {
		if b.full() {
			b.spill.WriteString(text)
		} else {
			b.addText(text)
		}
	}
	b.closeTop()
}

// skipNewline skips the line end that some start tags may have after them.
func (b *builder) skipNewline() {
	rest := b.scan.src[b.scan.pos:]
	if strings.HasPrefix(rest, "\r\n") {
		b.scan.pos += 2
	} else if strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r") {
		b.scan.pos++
	}
}

// spillBreak stands for a block that has no node any more.
func (b *builder) spillBreak(traits trait) {
	if traits&(block|tabular) != 0 {
		b.spill.WriteByte('\n')
	}
}

// closeFor closes what the start of an element ends.
func (b *builder) closeFor(traits trait) {
	if traits&block != 0 {
		b.closeTo(b.open.find(atom.P, fence|button))
	}
	switch tag := b.scan.tag; {
	case traits&heading != 0:
		if b.open.last().traits&heading != 0 {
			b.closeTop()
		}
	case traits&tabular != 0:
		b.closeForTable(tag, traits)
	case tag == atom.Li:
		b.closeTo(b.open.find(tag, firm|fence))
	case traits&term != 0:
		b.closeTo(b.open.findAny(term, firm|fence))
	case tag == atom.A, tag == atom.Nobr:
		b.closeInline(tag)
	case tag == atom.Button, tag == atom.Select:
		b.closeTo(b.open.find(tag, fence))
	case tag == atom.Option, tag == atom.Optgroup:
		if b.open.last().tag == atom.Option {
			b.closeTop()
		}
		if tag == atom.Optgroup && b.open.last().tag == atom.Optgroup {
			b.closeTop()
		}
	case tag == atom.Rb, tag == atom.Rp, tag == atom.Rt, tag == atom.Rtc:
		switch b.open.last().tag {
		case atom.Rb, atom.Rp, atom.Rt:
			b.closeTop()
		case atom.Rtc:
			if tag == atom.Rb || tag == atom.Rtc {
				b.closeTop()
			}
		}
	}
}

// closeForTable closes the parts of a table that the start of another ends.
func (b *builder) closeForTable(tag atom.Atom, traits trait) {
	switch {
	case tag == atom.Table:
		// It ends one it stands in, but not one with a cell around it.
		if at := b.open.findAny(fence, 0); at != 0 && b.open.list[at].tag == tag {
			b.closeTo(at)
		}
	case tag == atom.Td, tag == atom.Th:
		b.closeTo(b.open.findPart(walls | row))
	case traits&row != 0:
		b.closeTo(b.open.findPart(walls | rows))
	case tag == atom.Col:
		b.closeTo(b.open.findPart(walls | cols))
	default:
		b.closeTo(b.open.findPart(walls))
	}
}

// closeInline closes formatting. Where a block was opened in it, it ends with
// that block.
func (b *builder) closeInline(tag atom.Atom) {
	at, crossed := b.open.findInline(tag)
	if crossed {
		// The element ends with the last block inside it.
		o := &b.open.list[at]
		o.done = true
		b.open.counts[o.slot]--
	} else {
		b.closeTo(at)
	}
}
