package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// raise writes raised and lowered text: 2^32 is not 232. What links to a note
// is a link, which needs no mark.
func (w *markdownWriter) raise(at int32, n *node, c chain) chain {
	if c.empty() || w.raw > 0 || w.isNote(at, n) {
		return c
	}
	before, after := w.raised(at, n)
	if before == "_" && w.code == 0 && !isWord(w.runeBefore(at)) {
		before = `\_`
	}
	return w.around(before, c, after)
}

// mostRaised is how long raised text in preformatted text may be.
const mostRaised = 256

// raiseRaw is raise for preformatted text, which is text only.
func (s *shaping) raiseRaw(at int32, n *node) {
	me := &s.shapes[at]
	if s.textSize(me, mostRaised) > mostRaised {
		return // it would be copied for each of those it stands in
	}
	before, after := s.raised(at, n)
	if before == "" {
		return
	}
	first, last := &s.shapes[s.texts[me.from]], &s.shapes[s.texts[me.to-1]]
	first.text = before + first.text
	first.tail += int32(len(before))
	last.text = last.text[:last.tail] + after + last.text[last.tail:]
	last.tail += int32(len(after))
}

// isNote tells a raised link, and a link that is all raised.
func (w *markdownWriter) isNote(at int32, n *node) bool {
	me, up := &w.shapes[at], n.parent
	if up != nobody && w.doc.nodes[up].tag == atom.A && w.shapes[up].from == me.from && w.shapes[up].to == me.to {
		return true
	}
	for range shallow {
		at = w.nextShown(n.first)
		if at == nobody {
			break
		}
		if n = &w.doc.nodes[at]; n.tag == atom.A {
			return n.attr("href") != ""
		}
	}
	return false
}

// raised returns the marks of raised or lowered text. It has none where
// nothing is right before it.
func (w *markdownWriter) raised(at int32, n *node) (before, after string) {
	me := &w.shapes[at]
	if me.blocky || me.from == me.to || w.shapes[w.texts[me.from]].lead > 0 || w.shapes[w.texts[me.to-1]].tail == 0 {
		return "", ""
	}
	place := w.doc.placeOf(n)
	if place == over || place == under {
		return fractionMarks(place, w.start(me))
	}
	return raisedMarks(place, w.runeBefore(at), w.start(me), w.runeAfter(at))
}

// A place is where a text stands beside the line.
type place byte

const (
	onLine place = iota
	above
	below
	over  // a fraction's line
	under // that
)

// placeOf tells where a text stands: by its tag, or in a formula.
func (d *Doc) placeOf(n *node) place {
	switch n.tag {
	case atom.Sup:
		return above
	case atom.Sub:
		return below
	}
	if n.parent == nobody || n.name == "" || !inFormula(n.tag) {
		return onLine
	}
	up := &d.nodes[n.parent]
	switch up.name {
	case "msup", "msub", "mfrac":
	default:
		return onLine
	}
	first := up.first
	for range nearby {
		if d.nodes[first].name == "" && d.nodes[first].next != nobody {
			first = d.nodes[first].next
		}
	}
	isFirst := &d.nodes[first] == n
	switch {
	case up.name == "mfrac" && isFirst:
		return over
	case up.name == "mfrac":
		return under
	case isFirst:
		return onLine
	case up.name == "msup":
		return above
	}
	return below
}

// fractionMarks returns the marks around what stands over or under the line
// of a fraction.
func fractionMarks(place place, text string) (before, after string) {
	if strings.ContainsFunc(text, isNoWord) {
		before, after = "(", ")"
	}
	if place == under {
		before = "/" + before
	}
	return before, after
}

// raisedMarks returns the marks of raised or lowered text between two others.
func raisedMarks(place place, last rune, text string, next rune) (before, after string) {
	switch {
	case last == utf8.RuneError || unicode.IsSpace(last) || isFraction(last):
		return "", ""
	case place == above && unicode.IsDigit(last) && isOrdinal(text):
		return "", ""
	case strings.HasPrefix(text, "[") || !strings.ContainsFunc(text, isWord):
		return "", "" // a note, or a sign as that of a trade mark
	}
	before = "^"
	if place == below {
		before = "_"
	}
	one := utf8.RuneCountInString(text) == 1 && !unicode.IsDigit(next)
	if strings.ContainsFunc(strings.TrimLeft(text, "-+−"), isNoWord) || isWord(next) && !one {
		return before + "(", ")"
	}
	return before, ""
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func isNoWord(r rune) bool { return !isWord(r) }

func isFraction(r rune) bool { return r == '/' || r == '⁄' }

// isOrdinal tells the ends of numbers that are counted by.
func isOrdinal(text string) bool {
	switch strings.ToLower(text) {
	case "st", "nd", "rd", "th", "er", "re", "ème", "eme":
		return true
	}
	return false
}

// start returns what an element starts with: all of it, or enough to know
// that it is long.
func (w *markdownWriter) start(me *shape) string {
	var out strings.Builder
	for i := me.from; i < me.to && i < me.from+farthest && out.Len() < 64; i++ {
		out.WriteString(headOf(w.shapes[w.texts[i]].text, 64))
	}
	return strings.TrimRightFunc(out.String(), isBlank)
}

// runeBefore returns the character right before an element on its line.
func (w *markdownWriter) runeBefore(at int32) rune {
	me := &w.shapes[at]
	if me.from == 0 || w.shapes[w.texts[me.from]].fresh {
		return utf8.RuneError
	}
	text := &w.shapes[w.texts[me.from-1]]
	if text.thingsTo != me.things {
		return utf8.RuneError
	}
	last, _ := utf8.DecodeLastRuneInString(text.text)
	return last
}

// runeAfter returns the character right after an element on its line.
func (w *markdownWriter) runeAfter(at int32) rune {
	me := &w.shapes[at]
	if int(me.to) >= len(w.texts) {
		return utf8.RuneError
	}
	text := &w.shapes[w.texts[me.to]]
	if text.fresh || text.things != me.thingsTo {
		return utf8.RuneError
	}
	next, _ := utf8.DecodeRuneInString(text.text)
	return next
}

// formula writes a formula in TeX, as it is.
func (w *markdownWriter) formula(at int32) chain {
	w.code++
	c := w.trim(w.writeChildren(at))
	w.code--
	if w.code+w.raw > 0 {
		return c
	}
	text := oneLine(w.spend(c))
	if text == "" {
		return noChain()
	}
	return w.chainOf("$", text, "$")
}
