package regex

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// An atomKind is the kind of an atom.
type atomKind uint8

const (
	atomRune atomKind = iota // a character
	atomByte                 // \xNN: a character, or a byte in byte mode
	atomSet                  // a class
	atomLook                 // a place
)

// An atom is a character or an escape, outside or inside of brackets.
type atom struct {
	patternRange
	kind atomKind
	r    rune
	set  set
	look look
}

// verbatim reads a character that stands for itself.
func (p *parser) verbatim() atom {
	a := atom{patternRange: patternRange{p.pos, p.pos + p.width}, r: p.ch}
	p.bump()
	return a
}

// backslash reads an escape outside of brackets.
func (p *parser) backslash() *SyntaxError {
	a, err := p.escape()
	if err != nil {
		return err
	}
	switch a.kind {
	case atomSet:
		p.push(p.classNode(a.set), 0)
	case atomLook:
		p.pushLook(a.look)
	default:
		p.addLiteral(a)
	}
	return nil
}

// escape reads an escape, anywhere.
func (p *parser) escape() (atom, *SyntaxError) {
	at := p.pos
	if !p.bump() {
		return atom{}, p.syntaxError(at, p.pos, "incomplete escape sequence, reached end of pattern prematurely")
	}
	a := atom{patternRange: patternRange{at, p.pos + p.width}}
	c := p.ch
	switch c {
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return a, p.syntaxError(at, a.end, "backreferences are not supported")
	case 'x', 'u', 'U':
		return p.hex(at)
	case 'p', 'P':
		return p.property(at)
	}
	p.bump()
	if strings.ContainsRune("dswDSW", c) {
		a.kind, a.set = atomSet, p.perl(c)
		return a, nil
	}
	if l, ok := lookOf(c); ok {
		a.kind, a.look = atomLook, l
		if c == 'b' && p.ch == '{' {
			if err := p.wordPlace(&a); err != nil {
				return a, err
			}
		}
		if !p.hasFlag(flagUnicode) {
			if a.look >= lookWord && a.look <= lookWordEndHalf {
				a.look += lookASCIIWord - lookWord
			}
		}
		return a, nil
	}
	if a.r = escaped(c); a.r == eof {
		return a, p.syntaxError(at, a.end, "unrecognized escape sequence")
	}
	return a, nil
}

// escaped returns the character that an escaped one stands for, or eof.
func escaped(c rune) rune {
	switch c {
	case 'a':
		return '\a'
	case 'f':
		return '\f'
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 'v':
		return '\v'
	}
	if c >= utf8.RuneSelf || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
		return eof
	}
	return c // punctuation, spaces and control characters
}

// lookOf returns the place that an escaped character stands for.
func lookOf(c rune) (look, bool) {
	switch c {
	case 'A':
		return lookTextStart, true
	case 'z':
		return lookTextEnd, true
	case 'b':
		return lookWord, true
	case 'B':
		return lookNotWord, true
	case '<':
		return lookWordStart, true
	case '>':
		return lookWordEnd, true
	}
	return 0, false
}

// wordPlace reads the brace after a \b, unless it is a count.
func (p *parser) wordPlace(a *atom) *SyntaxError {
	brace := p.pos
	if !p.bumpSpace() {
		return p.syntaxError(a.pos, p.pos, `found either the beginning of a special word boundary or a bounded repetition on a \b with an opening brace, but no closing brace`)
	}
	part := func() bool { return p.ch == '-' || p.ch|0x20 >= 'a' && p.ch|0x20 <= 'z' }
	inner := p.pos
	if !part() {
		p.seek(brace)
		return nil
	}
	var name strings.Builder
	for part() {
		name.WriteRune(p.ch)
		p.bumpSpace()
	}
	if p.ch != '}' {
		return p.syntaxError(brace, p.pos, "special word boundary assertion is either unclosed or contains an invalid character")
	}
	switch name.String() {
	case "start":
		a.look = lookWordStart
	case "end":
		a.look = lookWordEnd
	case "start-half":
		a.look = lookWordStartHalf
	case "end-half":
		a.look = lookWordEndHalf
	default:
		return p.syntaxError(inner, p.pos, "unrecognized special word boundary assertion, valid choices are: start, end, start-half or end-half")
	}
	p.bump()
	a.end = p.pos
	return nil
}

// hex reads the digits of \x, \u or \U.
func (p *parser) hex(at int) (atom, *SyntaxError) {
	a := atom{patternRange: patternRange{pos: at}}
	want := map[rune]int{'x': 2, 'u': 4, 'U': 8}[p.ch]
	if p.bumpSpace(); p.ch == '{' {
		return p.hexBrace(a)
	}
	if want == 2 {
		a.kind = atomByte
	}
	start := p.pos
	var digits [8]byte
	for i := range want {
		if i > 0 {
			p.bumpSpace()
		}
		if p.ch == eof {
			return a, p.syntaxError(p.pos, p.pos, "incomplete escape sequence, reached end of pattern prematurely")
		}
		if !isHex(p.ch) {
			return a, p.syntaxError(p.pos, p.pos+p.width, "invalid hexadecimal digit")
		}
		digits[i] = byte(p.ch)
	}
	p.bumpSpace()
	a.end = p.pos
	return a, p.scalar(&a, string(digits[:want]), patternRange{start, p.pos})
}

// hexBrace reads the digits in braces.
func (p *parser) hexBrace(a atom) (atom, *SyntaxError) {
	brace := p.pos
	var digits strings.Builder
	for p.bumpSpace() && p.ch != '}' {
		if !isHex(p.ch) {
			return a, p.syntaxError(p.pos, p.pos+p.width, "invalid hexadecimal digit")
		}
		digits.WriteRune(p.ch)
	}
	if p.ch == eof {
		return a, p.syntaxError(brace, p.pos, "incomplete escape sequence, reached end of pattern prematurely")
	}
	end := p.pos
	p.bumpSpace()
	a.end = p.pos
	if digits.Len() == 0 {
		return a, p.syntaxError(brace, p.pos, "hexadecimal literal empty")
	}
	return a, p.scalar(&a, digits.String(), patternRange{brace + 1, end})
}

// scalar sets the character of a number.
func (p *parser) scalar(a *atom, digits string, where patternRange) *SyntaxError {
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || n > maxRune || n >= lowSurr && n <= topSurr {
		return p.syntaxError(where.pos, where.end, "hexadecimal literal is not a Unicode scalar value")
	}
	a.r = rune(n)
	return nil
}

func isHex(c rune) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// addLiteral adds a character, in both cases if asked.
func (p *parser) addLiteral(a atom) {
	if a.r == '\n' && p.newline.end == 0 {
		p.newline = a.patternRange
		if p.src[a.pos] == '\n' {
			p.newline.end = a.pos // a caret at the end of the line
		}
	}
	if p.hasFlag(flagUnicode) || a.kind != atomByte || a.r < utf8.RuneSelf {
		n := p.newNode(kindClass)
		n.runes = p.cases(a.r)
		p.push(n, 0)
		return
	}
	n := &node{kind: kindBytes, bytes: &byteSet{}}
	n.bytes.add(byte(a.r), byte(a.r))
	p.push(n, 0)
}

// dot is any character but the end of a line. \n is never taken, so (?s)
// matters only to \r.
func (p *parser) dot() *node {
	s := set{{0, '\n' - 1}, {'\n' + 1, lowSurr - 1}, {topSurr + 1, maxRune}}
	if !p.hasFlag(flagUnicode) {
		s = set{{0, '\n' - 1}, {'\n' + 1, maxByte}}
	}
	if p.hasFlag(flagCRLF) && !p.hasFlag(flagDotAll) {
		s = s.minus(set{{'\r', '\r'}})
	}
	return p.classNode(s)
}

// anchor adds ^ or $.
func (p *parser) anchor() {
	l := lookLineStart
	if p.ch == '$' {
		l = lookLineEnd
	}
	at := p.pos
	p.bump()
	switch {
	case !p.hasFlag(flagLines):
		l += lookTextStart - lookLineStart
	case p.hasFlag(flagCRLF):
		p.doubt(at, p.pos, "the flag R does not go with ^ and $ here")
	}
	p.pushLook(l)
}

// pushLook adds a place.
func (p *parser) pushLook(l look) {
	n := p.newNode(kindLook)
	n.look = l
	p.push(n, 0)
}
