package media

import (
	"bytes"
	"errors"
	"strconv"
)

// The values of a PDF file are nil, bool, int, float64, string, name, array,
// dict, ref and *stream. An operator is a word that is none of these.
type (
	name     string
	operator string
	array    []any
	dict     map[name]any

	// A ref points to an object by its number.
	ref struct{ num, gen int }

	// A stream is bytes in the file with a dictionary in front.
	stream struct {
		dict dict
		at   int64 // where the bytes begin
		ref  ref   // its own number, of which its key is made
	}
)

// What the lexer stops at.
var (
	errShort  = errors.New("object is cut off")
	errSyntax = errors.New("object is not well formed")
	errMany   = errors.New("object has too many parts")
)

const (
	maxDepth = 100       // of values within values
	maxParts = 1_000_000 // of one object
)

// A lexer reads values from bytes. It always moves forward, so it ends.
type lexer struct {
	src   []byte
	pos   int
	parts int  // how many values were read
	refs  bool // whether "1 0 R" is a reference
}

// end is the operator that stands for the end of the bytes.
const end operator = ""

func isSpace(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' || c == 0
}

func isDelim(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// skipSpace moves to the next byte that is neither space nor comment.
func (l *lexer) skipSpace() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			n := bytes.IndexAny(l.src[l.pos:], "\r\n")
			if n < 0 {
				l.pos = len(l.src)
				return
			}
			l.pos += n
		default:
			return
		}
	}
}

// value reads the next value or operator. The brackets that close an array
// or a dictionary are operators too.
func (l *lexer) value() (any, error) { return l.nested(0) }

func (l *lexer) nested(depth int) (any, error) {
	l.skipSpace()
	if l.pos >= len(l.src) {
		return end, nil
	}
	if l.parts++; l.parts > maxParts {
		return nil, errMany
	}
	if depth > maxDepth {
		return nil, errSyntax
	}
	switch c := l.src[l.pos]; c {
	case '/':
		return l.name(), nil
	case '(':
		return l.readString()
	case '[':
		l.pos++
		return l.readArray(depth)
	case '<':
		if l.peek(1) == '<' {
			l.pos += 2
			return l.dict(depth)
		}
		return l.hex()
	case '>':
		if l.peek(1) == '>' {
			l.pos += 2
			return operator(">>"), nil
		}
		l.pos++
		return operator(">"), nil
	case ']', '{', '}', ')':
		l.pos++
		return operator(c), nil
	}
	return l.readWord(), nil
}

// peek returns the byte n places on, or 0.
func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

// readWord reads a number, a reference or an operator.
func (l *lexer) readWord() any {
	start := l.pos
	for l.pos < len(l.src) && !isSpace(l.src[l.pos]) && !isDelim(l.src[l.pos]) {
		l.pos++
	}
	w := l.src[start:l.pos]
	switch string(w) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	if w[0] > '9' {
		return operator(w)
	}
	if n, ok := integer(w); ok {
		if l.refs && n > 0 && isDigit(w[0]) {
			if gen, ok := l.generation(); ok {
				return ref{n, gen}
			}
		}
		return n
	}
	return decimal(w)
}

// integer reads a whole number of up to 18 digits.
func integer(w []byte) (n int, ok bool) {
	digits := w
	if w[0] == '+' || w[0] == '-' {
		digits = w[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if w[0] == '-' {
		n = -n
	}
	return n, true
}

// decimal reads a number with a point, or what a careless program takes for one.
// What is no number at all is an operator.
func decimal(w []byte) any {
	if bytes.IndexFunc(w, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '+' && r != '-' }) >= 0 {
		return operator(w)
	}
	if f, err := strconv.ParseFloat(string(w), 64); err == nil {
		return f
	}
	if f, err := strconv.ParseFloat(string(bytes.TrimLeft(w, "+-")), 64); err == nil {
		return -f
	}
	return operator(w)
}

// generation reads the rest of a reference, after its first number.
func (l *lexer) generation() (int, bool) {
	p := l.pos
	skip := func() {
		for p < len(l.src) && isSpace(l.src[p]) {
			p++
		}
	}
	skip()
	gen, digits := 0, 0
	for p < len(l.src) && isDigit(l.src[p]) && digits < 6 {
		gen = gen*10 + int(l.src[p]-'0')
		p++
		digits++
	}
	before := p
	skip()
	if digits == 0 || p == before || p >= len(l.src) || l.src[p] != 'R' {
		return 0, false
	}
	if p+1 < len(l.src) && !isSpace(l.src[p+1]) && !isDelim(l.src[p+1]) {
		return 0, false
	}
	l.pos = p + 1
	return gen, true
}

func (l *lexer) name() name {
	l.pos++
	start := l.pos
	escaped := false
	for l.pos < len(l.src) && !isSpace(l.src[l.pos]) && !isDelim(l.src[l.pos]) {
		escaped = escaped || l.src[l.pos] == '#'
		l.pos++
	}
	raw := l.src[start:l.pos]
	if !escaped {
		return name(raw)
	}
	var out []byte
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) && unhex(raw[i+1]) >= 0 && unhex(raw[i+2]) >= 0 {
			out = append(out, byte(unhex(raw[i+1])<<4|unhex(raw[i+2])))
			i += 2
			continue
		}
		out = append(out, raw[i])
	}
	return name(out)
}

func unhex(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (l *lexer) hex() (string, error) {
	l.pos++
	n := bytes.IndexByte(l.src[l.pos:], '>')
	if n < 0 {
		l.pos = len(l.src)
		return "", errShort
	}
	raw := l.src[l.pos : l.pos+n]
	l.pos += n + 1
	return string(dehex(raw)), nil
}

// dehex reads pairs of hex digits and passes over everything else.
func dehex(raw []byte) []byte {
	out := make([]byte, 0, (len(raw)+1)/2)
	half := -1
	for _, c := range raw {
		v := unhex(c)
		switch {
		case v < 0:
		case half < 0:
			half = v
		default:
			out = append(out, byte(half<<4|v))
			half = -1
		}
	}
	if half >= 0 {
		out = append(out, byte(half<<4))
	}
	return out
}

func (l *lexer) readString() (string, error) {
	l.pos++
	var out []byte
	depth := 1
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		l.pos++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return string(out), nil
			}
		case '\r': // any end of line is one line feed
			if l.peek(0) == '\n' {
				l.pos++
			}
			c = '\n'
		case '\\':
			var ok bool
			if c, ok = l.escape(); !ok {
				continue
			}
		}
		out = append(out, c)
	}
	return "", errShort
}

// escape reads what follows a backslash. It is not ok if that is nothing.
func (l *lexer) escape() (c byte, ok bool) {
	if l.pos >= len(l.src) {
		return 0, false
	}
	c = l.src[l.pos]
	l.pos++
	switch c {
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case '\n':
		return 0, false
	case '\r':
		if l.peek(0) == '\n' {
			l.pos++
		}
		return 0, false
	}
	if c < '0' || c > '7' {
		return c, true
	}
	v := int(c - '0')
	for i := 0; i < 2 && l.peek(0) >= '0' && l.peek(0) <= '7'; i++ {
		v = v<<3 | int(l.src[l.pos]-'0')
		l.pos++
	}
	return byte(v), true
}

func (l *lexer) readArray(depth int) (array, error) {
	out := array{}
	for {
		v, err := l.nested(depth + 1)
		if err != nil {
			return nil, err
		}
		if op, ok := v.(operator); ok {
			switch op {
			case "]":
				return out, nil
			case end:
				return nil, errShort
			case ">>", "endobj", "stream":
				return nil, errSyntax
			}
			continue
		}
		out = append(out, v)
	}
}

func (l *lexer) dict(depth int) (dict, error) {
	out := dict{}
	for {
		key, err := l.nested(depth + 1)
		if err != nil {
			return nil, err
		}
		k, ok := key.(name)
		if !ok {
			switch key {
			case operator(">>"):
				return out, nil
			case end:
				return nil, errShort
			case operator("endobj"), operator("stream"):
				return nil, errSyntax
			}
			continue // a stray value
		}
		v, err := l.nested(depth + 1)
		if err != nil {
			return nil, err
		}
		switch v {
		case operator(">>"):
			return out, nil
		case end:
			return nil, errShort
		}
		if _, ok := v.(operator); !ok {
			out[k] = v
		}
	}
}
