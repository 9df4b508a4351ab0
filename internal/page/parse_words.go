package page

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// words makes texts of what a page says: with character references, line ends
// and NUL bytes as they are meant. A text that is meant as it is written stays
// a part of the page; the others share a few blocks of memory.
type words struct {
	block strings.Builder
	size  int  // of the next block
	plain bool // nothing in the page needs a look: no reference, CR or NUL
	odd   bool // there are CRs or NULs
	known map[string]string
}

func newWords(src string) words {
	odd := strings.IndexByte(src, '\r') >= 0 || strings.IndexByte(src, 0) >= 0
	return words{
		size:  min(max(len(src)/8, 256), 64<<10),
		plain: !odd && strings.IndexByte(src, '&') < 0,
		odd:   odd,
	}
}

// maxName bounds the name of a character reference: longer ones there are not.
const maxName = 32

// A reading is how a text is meant.
type reading struct {
	refs bool   // character references count
	attr bool   // the text is an attribute's: old references count only as a whole
	null string // what a NUL byte stands for
}

const broken = "\uFFFD"

// readVerbatim reads the content of a verbatim element.
func (w *words) readVerbatim(s string, refs bool) string {
	return w.read(s, reading{refs: refs, null: broken})
}

func (w *words) read(s string, r reading) string {
	if w.plain {
		return s
	}
	at := w.nextMark(s, r)
	if at == len(s) {
		return s
	}
	start := w.reserve(len(s) + len(s)/5 + 8 + len(r.null)*strings.Count(s, "\x00"))
	for {
		w.block.WriteString(s[:at])
		if s = s[at:]; s == "" {
			return w.block.String()[start:]
		}
		n := 1
		switch s[0] {
		case 0:
			w.block.WriteString(r.null)
		case '\r':
			if !strings.HasPrefix(s, "\r\n") {
				w.block.WriteByte('\n')
			}
		default:
			n = w.reference(s, r.attr)
		}
		s = s[n:]
		at = w.nextMark(s, r)
	}
}

// nextMark returns where the next byte is that may not be meant as written.
func (w *words) nextMark(s string, r reading) int {
	if !w.odd {
		if i := strings.IndexByte(s, '&'); i >= 0 && r.refs {
			return i
		}
		return len(s)
	}
	for i := range len(s) {
		if c := s[i]; c == '&' && r.refs || c == '\r' || c == 0 {
			return i
		}
	}
	return len(s)
}

// reserve makes sure that a text of a size fits into the block, and returns where
// it starts there.
func (w *words) reserve(size int) int {
	if w.block.Cap()-w.block.Len() < size {
		w.block = strings.Builder{}
		w.block.Grow(max(size, w.size))
	}
	return w.block.Len()
}

// reference writes what the character reference at the start of a text stands
// for, or the ampersand where it is none. It returns how long it is.
func (w *words) reference(s string, attr bool) int {
	if strings.HasPrefix(s, "&#") {
		return w.numericReference(s)
	}
	n := nameEnd(s)
	meaning, ok := w.namedReference(s[:n])
	if attr && n < len(s) && s[n] == '=' && s[n-1] != ';' {
		ok = false
	}
	if ok {
		w.block.WriteString(meaning)
		return n
	}
	if attr || n == 1 {
		w.block.WriteByte('&')
		return 1
	}
	// An old reference may end without a semicolon, with more after it.
	w.block.WriteString(html.UnescapeString(s[:n]))
	return n
}

// nameEnd returns how long the named reference is that a text starts with, if
// it is one.
func nameEnd(s string) int {
	n := 1
	for n < len(s) && n <= maxName && (isLetter(s[n]) || '0' <= s[n] && s[n] <= '9') {
		n++
	}
	if n < len(s) && s[n] == ';' {
		n++
	}
	return n
}

// namedReference returns what a whole reference stands for.
func (w *words) namedReference(ref string) (string, bool) {
	switch ref {
	case "&amp;":
		return "&", true
	case "&lt;":
		return "<", true
	case "&gt;":
		return ">", true
	case "&quot;":
		return `"`, true
	case "&nbsp;":
		return "\u00a0", true
	case "&":
		return "", false
	}
	if meaning, ok := w.known[ref]; ok {
		return meaning, true
	}
	meaning := html.UnescapeString(ref)
	if strings.HasSuffix(ref, ";") && strings.HasSuffix(meaning, ";") && ref != "&semi;" {
		return "", false
	}
	if !strings.HasSuffix(ref, ";") && utf8.RuneCountInString(meaning) != 1 {
		return "", false
	}
	if w.known == nil {
		w.known = make(map[string]string)
	}
	w.known[strings.Clone(ref)] = meaning
	return meaning, true
}

// numericReference writes the character that a numeric reference stands for.
func (w *words) numericReference(s string) int {
	n, base := 2, rune(10)
	if n < len(s) && s[n]|0x20 == 'x' {
		n, base = 3, 16
	}
	first, char := n, rune(0)
	for ; n < len(s); n++ {
		digit, ok := digitOf(s[n], base)
		if !ok {
			break
		}
		char = min(char*base+digit, utf8.MaxRune+1)
	}
	if n == first {
		w.block.WriteByte('&')
		return 1
	}
	if n < len(s) && s[n] == ';' {
		n++
	}
	switch {
	case 0x80 <= char && char <= 0x9F: // meant as in windows-1252
		w.block.WriteString(html.UnescapeString("&#" + strconv.Itoa(int(char)) + ";"))
	case char == 0 || !utf8.ValidRune(char):
		w.block.WriteString(broken)
	default:
		w.block.WriteRune(char)
	}
	return n
}

func digitOf(c byte, base rune) (rune, bool) {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0'), true
	case base == 16 && 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10, true
	}
	return 0, false
}

// lower makes the ASCII letters of a name small, and its NUL bytes visible.
func (w *words) lower(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' || c == 0 {
			return w.lowered(s)
		}
	}
	return s
}

func (w *words) lowered(s string) string {
	start := w.reserve(len(s) + len(broken)*strings.Count(s, "\x00"))
	for i := range len(s) {
		switch c := s[i]; {
		case c == 0:
			w.block.WriteString(broken)
		case 'A' <= c && c <= 'Z':
			w.block.WriteByte(c | 0x20)
		default:
			w.block.WriteByte(c)
		}
	}
	return w.block.String()[start:]
}

// headOf cuts a text, between two characters.
func headOf(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}
