package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

const (
	maxAttrs = 64       // attributes of a tag that are kept
	maxValue = 64 << 10 // bytes of an attribute that are kept
)

// A kind is what a scanner has come upon.
type kind uint8

const (
	atEnd kind = iota
	atNothing
	atText
	atStart
	atStop // an end tag
	atData // a section of character data
)

// A scanner cuts a page into tags and text. It looks at no byte more than a
// few times, whatever the page holds, and what it hands out are parts of the
// page itself. It reads as browsers do: a tag or a comment that is never
// closed goes on to the end of the page.
type scanner struct {
	src string
	pos int

	text   string // of atText and atData: as written
	name   string // of a tag, in lower case
	tag    atom.Atom
	traits trait
	attrs  []attr // of a start tag, until the next one is read
	ended  bool   // the tag has a slash before its end

	words words
	known [256]known // by slot
}

// next finds the next piece.
func (s *scanner) next() kind {
	if s.pos >= len(s.src) {
		return atEnd
	}
	if s.markupAt(s.pos) {
		return s.markup()
	}
	start := s.pos
	for at := start + 1; ; {
		i := strings.IndexByte(s.src[at:], '<')
		if i < 0 {
			s.pos = len(s.src)
			break
		}
		at += i
		if s.markupAt(at) {
			s.pos = at
			break
		}
		at++
	}
	s.text = s.src[start:s.pos]
	return atText
}

// markupAt says whether a tag, a comment or the like starts at a place.
func (s *scanner) markupAt(at int) bool {
	if s.src[at] != '<' || at+1 >= len(s.src) {
		return false
	}
	switch c := s.src[at+1]; {
	case c == '/':
		return at+2 < len(s.src)
	case c == '!' || c == '?':
		return true
	default:
		return isLetter(c)
	}
}

// markup reads what starts with an angle bracket.
func (s *scanner) markup() kind {
	switch s.src[s.pos+1] {
	case '!':
		return s.declaration()
	case '?':
		return s.skipTo(s.pos+2, ">")
	case '/':
		if !isLetter(s.src[s.pos+2]) {
			return s.skipTo(s.pos+2, ">")
		}
		return s.readTag(s.pos+2, false)
	}
	return s.readTag(s.pos+1, true)
}

// declaration reads what starts with "<!": a comment, a doctype, or character
// data.
func (s *scanner) declaration() kind {
	rest := s.src[s.pos:]
	switch {
	case strings.HasPrefix(rest, "<!--"):
		s.comment(s.pos + 4)
		return atNothing
	case strings.HasPrefix(rest, "<![CDATA["):
		// Only who knows the place can tell whether this is data.
		s.text = rest[len("<![CDATA["):]
		return atData
	}
	return s.skipTo(s.pos+2, ">")
}

// comment skips a comment whose content starts at a place.
func (s *scanner) comment(at int) {
	if rest := s.src[at:]; strings.HasPrefix(rest, ">") {
		s.pos = at + 1
		return
	} else if strings.HasPrefix(rest, "->") {
		s.pos = at + 2
		return
	}
	for {
		i := strings.Index(s.src[at:], "--")
		if i < 0 {
			s.pos = len(s.src)
			return
		}
		for at += i + 2; at < len(s.src) && s.src[at] == '-'; {
			at++
		}
		if rest := s.src[at:]; strings.HasPrefix(rest, ">") {
			s.pos = at + 1
			return
		} else if strings.HasPrefix(rest, "!>") {
			s.pos = at + 2
			return
		}
	}
}

// data takes the character data that was come upon; the place is known to be
// one where it counts.
func (s *scanner) data() {
	text, _, closed := strings.Cut(s.text, "]]>")
	s.text = text
	s.pos += len("<![CDATA[") + len(text)
	if closed {
		s.pos += len("]]>")
	}
}

// skipTo goes on after a mark, or at the end where there is none.
func (s *scanner) skipTo(from int, mark string) kind {
	i := strings.Index(s.src[from:], mark)
	if i < 0 {
		s.pos = len(s.src)
	} else {
		s.pos = from + i + len(mark)
	}
	return atNothing
}

// readTag reads a tag whose name starts at a place.
func (s *scanner) readTag(at int, start bool) kind {
	end := at
	for end < len(s.src) && !endsName(s.src[end]) {
		end++
	}
	s.know(s.src[at:end])
	s.pos = end
	s.attrs = s.attrs[:0]
	s.ended = false
	for {
		if !s.toAttr() {
			s.pos = len(s.src)
			return atEnd
		}
		if s.src[s.pos] == '>' {
			s.pos++
			break
		}
		if !s.readAttr(start) {
			s.pos = len(s.src)
			return atEnd
		}
	}
	if start {
		return atStart
	}
	return atStop
}

// maxTag is the length of the longest tag that is a known one.
const maxTag = 32

// A known tag is one that was met before.
type known struct {
	written, name string
	tag           atom.Atom
	traits        trait
}

// know finds out which tag a name means. A page has many tags, but few kinds.
func (s *scanner) know(written string) {
	k := &s.known[slotOf(written, 0)]
	if k.written != written || written == "" {
		*k = known{written: written, name: s.words.lower(written)}
		if len(k.name) <= maxTag {
			if k.tag = atom.Lookup([]byte(k.name)); k.tag != 0 {
				k.name = k.tag.String()
			}
		}
		k.traits = traitsOf(k.tag)
	}
	s.name, s.tag, s.traits = k.name, k.tag, k.traits
}

// toAttr goes to the next attribute or to the end of the tag; false where the
// page ends first.
func (s *scanner) toAttr() bool {
	for ; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '/':
			s.ended = s.pos+1 < len(s.src) && s.src[s.pos+1] == '>'
		case !blankByte(c):
			return true
		}
	}
	return false
}

// readAttr reads an attribute; false where the page ends first.
func (s *scanner) readAttr(keep bool) bool {
	start := s.pos
	for s.pos++; s.pos < len(s.src) && !endsName(s.src[s.pos]) && s.src[s.pos] != '='; {
		s.pos++
	}
	name := s.src[start:s.pos]
	s.skipBlanks()
	value, ok := "", true
	if s.pos < len(s.src) && s.src[s.pos] == '=' {
		s.pos++
		s.skipBlanks()
		value, ok = s.value()
	}
	if keep && len(s.attrs) < maxAttrs {
		s.addAttr(name, value)
	}
	return ok && s.pos < len(s.src)
}

// value reads the value of an attribute; false where the page ends first.
func (s *scanner) value() (string, bool) {
	if s.pos >= len(s.src) {
		return "", false
	}
	start := s.pos
	if quote := s.src[start]; quote == '"' || quote == '\'' {
		start++
		i := strings.IndexByte(s.src[start:], quote)
		if i < 0 {
			return "", false
		}
		s.pos = start + i + 1
		return s.src[start : start+i], true
	}
	for s.pos < len(s.src) && s.src[s.pos] != '>' && !blankByte(s.src[s.pos]) {
		s.pos++
	}
	return s.src[start:s.pos], true
}

// addAttr adds an attribute to those of the tag, if it is the first of its name.
func (s *scanner) addAttr(name, value string) {
	if len(name) > maxValue {
		return
	}
	name = s.words.lower(name)
	for i := range s.attrs {
		if s.attrs[i].name == name {
			return
		}
	}
	s.attrs = append(s.attrs, attr{name, s.words.read(headOf(value, maxValue), reading{refs: true, attr: true, null: broken})})
}

func (s *scanner) skipBlanks() {
	for s.pos < len(s.src) && blankByte(s.src[s.pos]) {
		s.pos++
	}
}

// verbatim reads the content of an element that holds no markup, and its end
// tag. Where the end tag is missing that is all the rest, as in a browser.
func (s *scanner) verbatim(name string) string {
	start := s.pos
	end := s.endOf(name)
	s.pos = end
	if end < len(s.src) {
		s.readTag(end+2, false)
	}
	return s.src[start:end]
}

// endOf returns where the end tag of a verbatim element starts. In a script
// that holds a comment which holds a script, that script's end tag is not it.
func (s *scanner) endOf(name string) int {
	commented, nested := false, false
	for at := s.pos; at < len(s.src); {
		i := strings.IndexByte(s.src[at:], '<')
		if i < 0 {
			break
		}
		if commented && strings.Contains(s.src[at:at+i], "-->") {
			commented, nested = false, false
		}
		at += i
		switch rest := s.src[at:]; {
		case name == "plaintext":
		case isTag(rest, "</", name):
			if !nested {
				return at
			}
			nested = false
		case name != "script":
		case strings.HasPrefix(rest, "<!--"):
			commented = true
		case commented && isTag(rest, "<", name):
			nested = true
		}
		at++
	}
	return len(s.src)
}

// isTag says whether a text starts with the tag of a name.
func isTag(text, open, name string) bool {
	if !strings.HasPrefix(text, open) || len(text) <= len(open)+len(name) {
		return false
	}
	text = text[len(open):]
	return endsName(text[len(name)]) && strings.EqualFold(text[:len(name)], name)
}

func endsName(c byte) bool { return c == '>' || c == '/' || blankByte(c) }

func blankByte(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
