package page

import (
	"golang.org/x/net/html/atom"
)

// stop takes an end tag.
func (b *builder) stop() {
	tag := b.scan.tag
	alone := tag == atom.P || tag == atom.Br
	switch {
	case alone && b.inForeign():
		b.leaveForeign()
	case !alone && b.open.last().foreign && b.stopForeign():
		return
	}
	traits := b.scan.traits
	if b.full() {
		b.spillBreak(traits)
	}
	switch {
	case b.lost > 0 && len(b.open.list) == maxDepth:
		b.lost-- // the end of one that has been closed already
	case alone:
		b.stopAlone(tag)
	case traits&inline != 0:
		b.closeInline(tag)
	case traits&special != 0:
		b.stopSpecial(tag, traits)
	case tag == atom.Svg, tag == atom.Math, b.scan.name == "foreignobject":
		// Browsers let what is open in a drawing keep it open. The rest of
		// the page would be a part of the drawing then.
		b.closeTo(b.open.findForeign(b.scan.name, true))
	case traits&void == 0:
		b.closeTo(b.open.findNamed(b.scan.name))
	}
}

// stopSpecial takes the end tag of an element that rules name.
func (b *builder) stopSpecial(tag atom.Atom, traits trait) {
	limit := fence
	switch {
	case tag == atom.Body, tag == atom.Html:
		return // the page goes on until it ends
	case traits&heading != 0:
		b.closeTo(b.open.findHeading())
		return
	case traits&tabular != 0, tag == atom.Select:
		limit = walls
	case tag == atom.Li:
		limit |= list
	case tag == atom.Template:
		limit = 0
	}
	b.closeTo(b.open.find(tag, limit))
}

// stopAlone takes the end tags that make an element where none is open.
func (b *builder) stopAlone(tag atom.Atom) {
	if tag == atom.P {
		if at := b.open.find(tag, fence|button); at != 0 {
			b.closeTo(at)
			return
		}
	}
	if b.inHead() {
		b.leaveHead()
	}
	if !b.full() {
		b.scan.attrs = b.scan.attrs[:0]
		b.element()
	}
}

// breaksOut says whether a tag that is read inside a drawing or a formula
// shows that it has ended.
func (b *builder) breaksOut(traits trait) bool {
	if b.scan.tag == atom.Font {
		for _, a := range b.scan.attrs {
			if a.name == "color" || a.name == "face" || a.name == "size" {
				return true
			}
		}
	}
	return traits&breakout != 0
}

// leaveForeign closes foreign elements up to one that holds HTML.
func (b *builder) leaveForeign() {
	at := len(b.open.list)
	for b.open.list[at-1].foreign && b.open.list[at-1].traits&fence == 0 {
		at--
	}
	b.closeTo(at)
}

// startForeign opens an element of a drawing or a formula, or its first.
func (b *builder) startForeign() {
	switch {
	case b.full():
	case b.scan.ended:
		b.element()
	case welcomes(b.scan.name, b.scan.attrs):
		b.push(open{foreign: true, traits: fence})
	default:
		b.push(open{foreign: true})
	}
}

// stopForeign closes a foreign element. It says whether there was one: if not,
// the end tag may be that of HTML around it.
func (b *builder) stopForeign() bool {
	at := b.open.findForeign(b.scan.name, false)
	if at == 0 {
		return false
	}
	b.closeTo(at)
	return true
}
