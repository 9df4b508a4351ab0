package tool

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A kind is the type of a JSON value, or that of a missing value.
type kind uint8

const (
	absent kind = iota
	null
	boolean
	number
	text
	array
	object
)

// String returns the name that OpenCode's messages use.
func (k kind) String() string {
	switch k {
	case null:
		return "null"
	case boolean:
		return "boolean"
	case number:
		return "number"
	case text:
		return "string"
	case array:
		return "array"
	case object:
		return "object"
	}
	return "undefined"
}

// A value is a JSON value that keeps what decoding into Go would lose: the order of keys and the
// exact text of numbers.
type value struct {
	kind kind
	text string   // of a number or boolean as written, of a string decoded
	kids []member // of an array (without keys) or an object
}

type member struct {
	key string
	val value
}

// find returns the index of key among the members, or -1.
func find(kids []member, key string) int {
	for i := range kids {
		if kids[i].key == key {
			return i
		}
	}
	return -1
}

// appendJSON appends v in canonical form: no spaces, no unnecessary escapes, numbers unchanged.
func (v value) appendJSON(dst []byte) []byte {
	switch v.kind {
	case boolean, number:
		return append(dst, v.text...)
	case text:
		return appendQuoted(dst, v.text)
	case array:
		dst = append(dst, '[')
		for i := range v.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.kids[i].val.appendJSON(dst)
		}
		return append(dst, ']')
	case object:
		dst = append(dst, '{')
		for i := range v.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendQuoted(dst, v.kids[i].key)
			dst = append(dst, ':')
			dst = v.kids[i].val.appendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// canonicalSize returns the approximate size of the canonical form, to allocate it at once.
func (v value) canonicalSize() int {
	n := len(v.text) + 8
	for i := range v.kids {
		n += len(v.kids[i].key) + 4 + v.kids[i].val.canonicalSize()
	}
	return n
}

// appendQuoted appends s, which is valid UTF-8, as a JSON string. Unlike encoding/json it does not
// escape <, > and &, as OpenCode's texts do not.
func appendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

func quoteJSON(s string) string { return string(appendQuoted(nil, s)) }

// shortLimit is how many bytes of a value a hint shows.
const shortLimit = 80

// short renders v for a person: on one line, escaped and cut.
func (v value) short() string {
	s := string(v.appendShort(nil))
	if utf8.RuneCountInString(s) <= shortLimit {
		return s
	}
	return string([]rune(s)[:shortLimit]) + "…"
}

func (v value) appendShort(dst []byte) []byte {
	if len(dst) > 4*shortLimit {
		return dst
	}
	switch v.kind {
	case absent:
		return append(dst, "nothing"...)
	case text:
		return append(dst, shortQuote(v.text)...)
	case array:
		dst = append(dst, '[')
		for i := range v.kids[:min(len(v.kids), shortLimit)] {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.kids[i].val.appendShort(dst)
		}
		return append(dst, ']')
	case object:
		dst = append(dst, '{')
		for i := range v.kids[:min(len(v.kids), shortLimit)] {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, shortQuote(v.kids[i].key)...)
			dst = append(dst, ':')
			dst = v.kids[i].val.appendShort(dst)
		}
		return append(dst, '}')
	case number, boolean:
		return append(dst, cutText(v.text, shortLimit)...)
	}
	return v.appendJSON(dst)
}

// shortQuote quotes the start of s and escapes everything that a terminal could interpret or that
// hides text.
func shortQuote(s string) string { return strconv.Quote(cutText(s, shortLimit)) }

// cutText returns at most the first n bytes of s, without splitting a character.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// equal reports whether a and b are the same JSON value: 1 equals 1.0, and the order of keys does
// not matter.
func equal(a, b value) bool {
	if a.kind != b.kind || len(a.kids) != len(b.kids) {
		return false
	}
	switch a.kind {
	case number:
		return a.text == b.text || parseDecimal(a.text) == parseDecimal(b.text)
	case array:
		for i := range a.kids {
			if !equal(a.kids[i].val, b.kids[i].val) {
				return false
			}
		}
		return true
	case object:
		for i := range a.kids {
			j := find(b.kids, a.kids[i].key)
			if j < 0 || !equal(a.kids[i].val, b.kids[j].val) {
				return false
			}
		}
		return true
	}
	return a.text == b.text
}

// plainKey returns a key for a scalar: equal values have equal keys.
func plainKey(v value) (string, bool) {
	switch v.kind {
	case array, object:
		return "", false
	case number:
		d := parseDecimal(v.text)
		return fmt.Sprint("n", d.neg, d.point, " ", d.digits), true
	}
	return fmt.Sprint(v.kind, " ", v.text), true
}

// A decimal is a number as digits and the place of its decimal point, so that 1, 1.0 and 10e-1 are
// equal and nothing is rounded.
type decimal struct {
	neg    bool
	digits string // no zero at either end; empty for zero
	point  int    // digits before the point; may lie outside of digits
}

// parseDecimal reads a JSON number.
func parseDecimal(s string) decimal {
	var d decimal
	s, d.neg = strings.CutPrefix(s, "-")
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(s[i+1:])
		if err != nil || n > 1<<30 || n < -1<<30 {
			n = 1 << 30
			if strings.HasPrefix(s[i+1:], "-") {
				n = -n
			}
		}
		s, exp = s[:i], n
	}
	whole, frac, _ := strings.Cut(s, ".")
	d.point = len(whole) + exp
	digits := whole
	if frac != "" {
		digits = whole + frac
	}
	d.digits = strings.TrimLeft(digits, "0")
	d.point -= len(digits) - len(d.digits)
	d.digits = strings.TrimRight(d.digits, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func (d decimal) integral() bool { return len(d.digits) <= d.point }

// String returns an integral decimal as plain digits.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	s := d.digits + strings.Repeat("0", d.point-len(d.digits))
	if d.neg {
		return "-" + s
	}
	return s
}
