package page

import (
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// Text returns what a page says, without any markup: a line for a block, a
// tab between the cells of a table, preformatted text as it is. Pictures have
// no text. Its only error is that of ctx.
func (d *Doc) Text(ctx context.Context) (string, error) {
	look := newStopCheck(ctx)
	text, err := d.text(look, d.skipsText)
	if text == "" && err == nil {
		return d.text(look, d.skips) // a page for those without scripts only
	}
	return text, err
}

// skipsText adds to what is never shown the elements whose inner text stands
// for something better that a browser shows.
func (d *Doc) skipsText(n *node) bool {
	switch n.tag {
	case atom.Noscript, atom.Iframe, atom.Object, atom.Embed, atom.Video, atom.Audio, atom.Canvas:
		return true
	}
	return d.skips(n)
}

// text writes the page's text but for what skip names.
func (d *Doc) text(look *stopCheck, skip func(*node) bool) (string, error) {
	if len(d.nodes) == 0 || look.ended {
		return "", look.err()
	}
	var w textWriter
	enter := true
	for at := int32(0); at != nobody; {
		n := &d.nodes[at]
		if enter {
			if look.spendStep(len(n.text)) {
				return "", look.err()
			}
			skipped := skip(n)
			if !skipped {
				w.openNode(n, d.gapAround(n))
				d.raise(&w, at)
			}
			if !skipped && n.first != nobody {
				at = n.first
				continue
			}
			enter = skipped // nothing to leave
		}
		if !enter {
			// Raised text ends here.
			if end := len(w.ups) - 1; end >= 0 && w.ups[end].node == at {
				w.out.WriteString(w.ups[end].end)
				w.ups = w.ups[:end]
			}
			around := d.gapAround(n)
			if isPreformatted(n.tag) {
				w.pre--
			}
			w.widen(around)
		}
		if enter = n.next != nobody && at != 0; enter {
			at = n.next
		} else {
			at = n.parent
		}
	}
	return strings.TrimSpace(w.out.String()), nil
}

// A gap is what stands between two words, the wider the larger.
type gap byte

const (
	glued gap = iota
	blank
	nextCell
	nextLine
)

// A textWriter puts words one after the other. Gaps are written only when a
// word follows, so there are none at the ends and never two.
type textWriter struct {
	out strings.Builder
	gap gap
	pre int // how many preformatted elements are open
	ups []raisedText
}

// A raisedText is an element that stands beside the line, and what ends it.
type raisedText struct {
	node int32
	end  string
}

// raise writes the mark of raised and lowered text, as Markdown has it.
func (d *Doc) raise(w *textWriter, at int32) {
	n := &d.nodes[at]
	place := d.placeOf(n)
	if place == onLine || w.gap != glued && place != under {
		return
	}
	text, next := d.little(n), utf8.RuneError
	if text == "" || d.nodes[n.first].text != "" && isBlankByte(d.nodes[n.first].text[0]) {
		return
	}
	if n.next != nobody && d.nodes[n.next].name == "" {
		next, _ = utf8.DecodeRuneInString(d.nodes[n.next].text)
	}
	last, _ := utf8.DecodeLastRuneInString(w.out.String())
	before, after := raisedMarks(place, last, text, next)
	if place == over || place == under {
		before, after = fractionMarks(place, text)
	}
	w.writeGap()
	w.out.WriteString(before)
	if after != "" {
		w.ups = append(w.ups, raisedText{at, after})
	}
}

func (w *textWriter) openNode(n *node, around gap) {
	if n.name == "" {
		if w.pre > 0 {
			w.raw(n.text)
		} else {
			w.writeWords(n.text)
		}
		return
	}
	if isPreformatted(n.tag) {
		w.pre++
	}
	w.widen(around)
}

func (w *textWriter) widen(g gap) { w.gap = max(w.gap, g) }

// writeGap writes the gap before a word.
func (w *textWriter) writeGap() {
	if w.out.Len() > 0 {
		switch w.gap {
		case blank:
			w.out.WriteByte(' ')
		case nextCell:
			w.out.WriteByte('\t')
		case nextLine:
			w.out.WriteByte('\n')
		}
	}
	w.gap = glued
}

// writeWords writes text with its blanks collapsed.
func (w *textWriter) writeWords(s string) {
	s = harmless(s)
	for at := 0; at < len(s); {
		if isBlankByte(s[at]) {
			w.widen(blank)
			at++
			continue
		}
		from := at
		for at < len(s) && (!isBlankByte(s[at]) || s[at] == ' ' && at+1 < len(s) && !isBlankByte(s[at+1])) {
			at++
		}
		w.writeGap()
		w.out.WriteString(s[from:at])
	}
}

func isBlankByte(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r'
}

// raw writes text as it is. Line ends that close it become the gap after it.
func (w *textWriter) raw(s string) {
	s = strings.ReplaceAll(harmless(s), "\f", "")
	body := strings.TrimRight(s, "\n")
	if body != "" {
		w.writeGap()
		w.out.WriteString(body)
	}
	for range len(s) - len(body) {
		if w.gap == nextLine && w.out.Len() > 0 {
			w.out.WriteByte('\n') // an empty line, which is the text's own
		}
		w.gap = nextLine
	}
}

// harmless takes away the control characters of a text, which may steer the
// terminal that shows it, but for tabs and line ends. A carriage return ends a
// line.
func harmless(s string) string {
	if isHarmless(s) {
		return s
	}
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && !isBlankByte(byte(r)) || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

func isHarmless(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return false
		case c == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0:
			return false
		}
	}
	return true
}

// isPreformatted tells the elements whose blanks are text.
func isPreformatted(tag atom.Atom) bool {
	switch tag {
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext, atom.Textarea:
		return true
	}
	return false
}

// gapAround is what stands before and after a node. The words of a drawing are
// apart, though not on lines of their own.
func (d *Doc) gapAround(n *node) gap {
	switch n.name {
	case "title", "text", "tspan":
		if d.insideTag(n, atom.Svg) {
			return blank
		}
	}
	return gapAround(n.tag)
}

func gapAround(tag atom.Atom) gap {
	switch tag {
	case atom.Td, atom.Th:
		return nextCell
	case atom.Button, atom.Input, atom.Label, atom.Meter, atom.Output, atom.Progress:
		return blank
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Br,
		atom.Caption, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div,
		atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer,
		atom.Form, atom.Frameset, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Head, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Iframe, atom.Legend,
		atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Noscript, atom.Object,
		atom.Ol, atom.Optgroup, atom.Option, atom.P, atom.Plaintext, atom.Pre,
		atom.Section, atom.Select, atom.Summary, atom.Table, atom.Tbody, atom.Textarea,
		atom.Tfoot, atom.Thead, atom.Title, atom.Tr, atom.Ul, atom.Xmp:
		return nextLine
	}
	return glued
}
