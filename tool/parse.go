package tool

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits for the arguments of a call. Honest calls stay far below; the limits keep hostile ones
// from using up memory or the stack.
const (
	maxText   = 128 << 20
	maxDepth  = 1000
	maxValues = 1_000_000
)

const byteOrderMark = "\ufeff"

// A syntaxError says what is wrong with a text and where.
type syntaxError struct {
	at   int // bytes before the fault
	why  string
	ends bool // the text stops before it is complete
}

// A doubled key occurs twice in an object.
type doubled struct {
	path []any // ends in the key
	at   int
}

// A parser parses one JSON value strictly: encoding/json accepts everything that it accepts. It
// records duplicate keys, because readers disagree about which of the two counts.
type parser struct {
	s      string
	i      int
	depth  int
	values int
	commas bool // accept a comma before a closing bracket
	gone   int  // how many such commas were accepted
	twice  *doubled
}

// parse parses the whole of p.s.
func (p *parser) parse() (value, *syntaxError) {
	if len(p.s) > maxText {
		return value{}, &syntaxError{why: fmt.Sprintf("the text has %d bytes, and at most %d are taken", len(p.s), maxText)}
	}
	if strings.HasPrefix(p.s, byteOrderMark) {
		return value{}, &syntaxError{why: "the text starts with a byte order mark"}
	}
	v, err := p.value()
	if err != nil {
		return value{}, err
	}
	if p.skipSpace(); p.i < len(p.s) {
		return value{}, p.unexpected("the value is complete before it; send one object and nothing else")
	}
	return v, nil
}

func (p *parser) skipSpace() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// unexpected returns the error for the current character.
func (p *parser) unexpected(why string) *syntaxError {
	r, n := utf8.DecodeRuneInString(p.s[p.i:])
	what := strconv.QuoteRune(r)
	if r == utf8.RuneError && n == 1 {
		what = fmt.Sprintf("byte 0x%02x", p.s[p.i])
	} else if !unicode.IsPrint(r) {
		what = fmt.Sprintf("%U", r)
	}
	return &syntaxError{at: p.i, why: "unexpected " + what + ": " + why}
}

func (p *parser) truncated(in string) *syntaxError {
	return &syntaxError{at: len(p.s), why: "the text ends inside " + in, ends: true}
}

func (p *parser) value() (value, *syntaxError) {
	p.skipSpace()
	if p.i == len(p.s) {
		return value{}, &syntaxError{at: p.i, why: "the text ends where a value is wanted", ends: true}
	}
	if p.values++; p.values > maxValues {
		return value{}, &syntaxError{at: p.i, why: fmt.Sprintf("the text holds more than %d values", maxValues)}
	}
	switch c := p.s[p.i]; {
	case c == '{':
		return p.nested(p.parseObject)
	case c == '[':
		return p.nested(p.parseArray)
	case c == '"':
		s, err := p.str()
		return value{kind: text, text: s}, err
	case c == '-' || '0' <= c && c <= '9':
		return p.parseNumber()
	default:
		return p.parseWord()
	}
}

func (p *parser) nested(read func() (value, *syntaxError)) (value, *syntaxError) {
	if p.depth++; p.depth > maxDepth {
		return value{}, &syntaxError{at: p.i, why: fmt.Sprintf("the text is nested more than %d deep", maxDepth)}
	}
	p.i++
	v, err := read()
	p.depth--
	return v, err
}

func (p *parser) parseWord() (value, *syntaxError) {
	rest := p.s[p.i:]
	for _, w := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(rest, w) {
			p.i += len(w)
			if w == "null" {
				return value{kind: null, text: w}, nil
			}
			return value{kind: boolean, text: w}, nil
		}
		if strings.HasPrefix(w, rest) {
			return value{}, p.truncated("the word " + w)
		}
	}
	switch rest[0] {
	case '\'':
		return value{}, p.unexpected("a string stands in double quotes")
	case '/':
		return value{}, p.unexpected("JSON has no comments")
	case ',', '}', ']', ':':
		return value{}, p.unexpected("a value is missing before it")
	}
	return value{}, p.unexpected("a value starts with one of { [ \" - 0-9 or is true, false or null")
}

func (p *parser) parseArray() (value, *syntaxError) {
	v := value{kind: array}
	for {
		p.skipSpace()
		if p.i == len(p.s) {
			return v, p.truncated("an array")
		}
		if p.s[p.i] == ']' && (len(v.kids) == 0 || p.commas) {
			if len(v.kids) > 0 {
				p.gone++
			}
			p.i++
			return v, nil
		}
		if p.s[p.i] == ']' {
			return v, p.unexpected("a comma must be followed by another item; leave the last comma out")
		}
		before := p.twice
		kid, err := p.value()
		if err != nil {
			return v, err
		}
		p.under(before, len(v.kids))
		v.kids = append(v.kids, member{val: kid})
		if done, err := p.next(']', "an array"); done || err != nil {
			return v, err
		}
	}
}

func (p *parser) parseObject() (value, *syntaxError) {
	v := value{kind: object}
	var seen keySet
	for {
		p.skipSpace()
		if p.i == len(p.s) {
			return v, p.truncated("an object")
		}
		if c := p.s[p.i]; c == '}' && (len(v.kids) == 0 || p.commas) {
			if len(v.kids) > 0 {
				p.gone++
			}
			p.i++
			return v, nil
		}
		at := p.i
		key, err := p.key(len(v.kids) > 0)
		if err != nil {
			return v, err
		}
		before := p.twice
		kid, err := p.value()
		if err != nil {
			return v, err
		}
		p.under(before, key)
		if v.kids == nil {
			v.kids = make([]member, 0, 4)
		}
		if seen.contains(v.kids, key) && p.twice == nil {
			p.twice = &doubled{path: []any{key}, at: at}
		}
		v.kids = append(v.kids, member{key, kid})
		if done, err := p.next('}', "an object"); done || err != nil {
			return v, err
		}
	}
}

// A keySet holds the keys of one object. A few keys are compared one by one.
type keySet map[string]bool

// contains reports whether kids has key, which is about to be added to it.
func (s *keySet) contains(kids []member, key string) bool {
	if len(kids) < 16 {
		return find(kids, key) >= 0
	}
	if *s == nil {
		*s = make(keySet, 32)
		for i := range kids {
			(*s)[kids[i].key] = true
		}
	}
	if (*s)[key] {
		return true
	}
	(*s)[key] = true
	return false
}

// key reads a key and the colon after it.
func (p *parser) key(another bool) (string, *syntaxError) {
	switch c := p.s[p.i]; {
	case c == '"':
	case c == '}' && another:
		return "", p.unexpected("a comma must be followed by another key; leave the last comma out")
	case c == '\'':
		return "", p.unexpected("a key stands in double quotes")
	default:
		return "", p.unexpected("a key in double quotes is wanted")
	}
	key, err := p.str()
	if err != nil {
		return "", err
	}
	if p.skipSpace(); p.i == len(p.s) {
		return "", p.truncated("an object")
	}
	if p.s[p.i] != ':' {
		return "", p.unexpected("a colon is wanted after the key " + shortQuote(key))
	}
	p.i++
	if p.skipSpace(); p.i == len(p.s) {
		return "", p.truncated("an object")
	}
	return key, nil
}

// next reads what follows a member: a comma, or the end.
func (p *parser) next(end byte, in string) (done bool, err *syntaxError) {
	if p.skipSpace(); p.i == len(p.s) {
		return false, p.truncated(in)
	}
	switch p.s[p.i] {
	case ',':
		p.i++
		return false, nil
	case end:
		p.i++
		return true, nil
	}
	return false, p.unexpected("a comma or " + strconv.QuoteRune(rune(end)) + " is wanted")
}

// under prepends step to the path of a duplicate key found since before.
func (p *parser) under(before *doubled, step any) {
	if before == nil && p.twice != nil {
		p.twice.path = append([]any{step}, p.twice.path...)
	}
}

func (p *parser) parseNumber() (value, *syntaxError) {
	from := p.i
	if p.s[p.i] == '-' {
		p.i++
	}
	whole := p.i
	if !p.digits() {
		return value{}, p.wantDigit()
	}
	if p.s[whole] == '0' && p.i > whole+1 {
		p.i = whole
		return value{}, p.unexpected("a number does not start with a zero that means nothing")
	}
	exp, err := p.fraction()
	if err != nil {
		return value{}, err
	}
	s := p.s[from:p.i]
	if exp || len(s) > 300 {
		// No reader could hold the number.
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return value{}, &syntaxError{at: from, why: "the number " + cutText(s, shortLimit) + " is too large"}
		}
	}
	return value{kind: number, text: s}, nil
}

// fraction parses what may follow the integer part of a number, and reports whether there was an
// exponent.
func (p *parser) fraction() (exp bool, err *syntaxError) {
	if p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		if !p.digits() {
			return false, p.wantDigit()
		}
	}
	if p.i == len(p.s) || p.s[p.i] != 'e' && p.s[p.i] != 'E' {
		return false, nil
	}
	p.i++
	if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
		p.i++
	}
	if !p.digits() {
		return true, p.wantDigit()
	}
	return true, nil
}

func (p *parser) digits() bool {
	from := p.i
	for p.i < len(p.s) && '0' <= p.s[p.i] && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i > from
}

func (p *parser) wantDigit() *syntaxError {
	if p.i == len(p.s) {
		return p.truncated("a number")
	}
	return p.unexpected("a digit is wanted")
}

// str parses a string and returns it decoded.
func (p *parser) str() (string, *syntaxError) {
	p.i++
	from := p.i
	plain := true
	for ; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; {
		case c == '"':
			s := p.s[from:p.i]
			p.i++
			if plain && utf8.ValidString(s) {
				return s, nil
			}
			return unescape(s), nil
		case c == '\\':
			plain = false
			if err := p.escape(); err != nil {
				return "", err
			}
		case c < 0x20:
			return "", p.unexpected("inside a string it is written as an escape, such as \\n")
		}
	}
	return "", p.truncated("a string")
}

// escape checks one escape and stops at its last character.
func (p *parser) escape() *syntaxError {
	p.i++
	if p.i == len(p.s) {
		return p.truncated("a string")
	}
	switch p.s[p.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			p.i++
			if p.i == len(p.s) {
				return p.truncated("a string")
			}
			if !isHex(p.s[p.i]) {
				return p.unexpected("\\u is followed by four hexadecimal digits")
			}
		}
		return nil
	}
	return p.unexpected("after a backslash comes one of \" \\ / b f n r t u; write \\\\ for a backslash")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// unescape decodes the inside of a string whose escapes were checked. Invalid UTF-8 and half
// surrogate pairs become U+FFFD.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			plain := s[i:]
			if n := strings.IndexByte(plain, '\\'); n >= 0 {
				plain = plain[:n]
			}
			i += len(plain)
			out = appendValid(out, plain)
			continue
		}
		c := s[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hexRune(s[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(unicode.ReplacementChar)
				if strings.HasPrefix(s[i:], "\\u") {
					low = hexRune(s[i+2:])
				}
				if r = utf16.DecodeRune(r, low); r != unicode.ReplacementChar {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// appendValid appends s with each invalid UTF-8 byte replaced.
func appendValid(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(dst, s...)
	}
	for _, r := range s {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func hexRune(s string) rune {
	n, _ := strconv.ParseUint(s[:4], 16, 32) // the digits have been checked
	return rune(n)
}

// halfPair returns the position of the first escape in a checked text that is half a surrogate
// pair.
func halfPair(s string) (at int, ok bool) {
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\\')
		if n < 0 {
			return 0, false
		}
		i += n
		if s[i+1] != 'u' {
			i += 2
			continue
		}
		if r := hexRune(s[i+2:]); utf16.IsSurrogate(r) {
			if !strings.HasPrefix(s[i+6:], "\\u") || utf16.DecodeRune(r, hexRune(s[i+8:])) == unicode.ReplacementChar {
				return i, true
			}
			i += 6
		}
		i += 6
	}
}
