package media

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A notebook may be hundreds of megabytes of which a few kilobytes are shown.
// So its JSON is not decoded but looked through: values are parts of the file,
// and a string is decoded piece by piece into whatever keeps the part of it
// that is wanted. What is passed over is not checked in detail.

var errJSON = errors.New("it is not well-formed JSON")

// jsonSkip returns the value at the beginning of b, and what follows it. It
// needs no stack, however deep the value is.
func jsonSkip(b []byte) (value, rest []byte, err error) {
	b = jsonSpace(b)
	if len(b) == 0 {
		return nil, nil, errJSON
	}
	if c := b[0]; c != '{' && c != '[' && c != '"' {
		const longest = 400 // of a number
		n := bytes.IndexAny(b[:min(len(b), longest)], " \t\r\n,:{}[]\"")
		if n < 0 {
			n = min(len(b), longest)
		}
		if n == 0 {
			return nil, nil, errJSON
		}
		return b[:n], b[n:], nil
	}
	depth, pos := 0, 0
	for pos < len(b) {
		switch b[pos] {
		case '"':
			n := jsonStringEnd(b[pos:])
			if n < 0 {
				return nil, nil, errJSON
			}
			pos += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		pos++
		if depth == 0 {
			return b[:pos], b[pos:], nil
		}
	}
	return nil, nil, errJSON
}

func jsonSpace(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// jsonStringEnd returns how long the string is that b begins with, both quotes
// included, or -1.
func jsonStringEnd(b []byte) int {
	pos := 1
	for {
		n := bytes.IndexByte(b[pos:], '"')
		if n < 0 {
			return -1
		}
		at := pos + n
		slashes := 0
		for at-slashes > 1 && b[at-slashes-1] == '\\' {
			slashes++
		}
		pos = at + 1
		if slashes%2 == 0 {
			return pos
		}
	}
}

// jsonObject calls use with each key and value of an object.
func jsonObject(b []byte, use func(key string, value []byte)) error {
	return jsonItems(b, '{', func(b []byte) ([]byte, error) {
		raw, rest, err := jsonSkip(b)
		if err != nil || raw[0] != '"' {
			return nil, errJSON
		}
		rest = jsonSpace(rest)
		if len(rest) == 0 || rest[0] != ':' {
			return nil, errJSON
		}
		value, rest, err := jsonSkip(rest[1:])
		if err != nil {
			return nil, err
		}
		const longKey = 256
		use(jsonText(raw, longKey), value)
		return rest, nil
	})
}

// jsonArray calls use with each value of an array.
func jsonArray(b []byte, use func(value []byte)) error {
	return jsonItems(b, '[', func(b []byte) ([]byte, error) {
		value, rest, err := jsonSkip(b)
		if err == nil {
			use(value)
		}
		return rest, err
	})
}

// jsonItems walks over what stands between brackets and commas.
func jsonItems(b []byte, open byte, item func([]byte) ([]byte, error)) error {
	b = jsonSpace(b)
	if len(b) == 0 || b[0] != open {
		return errJSON
	}
	b = jsonSpace(b[1:])
	if len(b) > 0 && b[0] == open+2 { // ] after [, } after {
		return nil
	}
	for {
		rest, err := item(b)
		if err != nil {
			return err
		}
		rest = jsonSpace(rest)
		switch {
		case len(rest) == 0:
			return errJSON
		case rest[0] == open+2:
			return nil
		case rest[0] != ',':
			return errJSON
		}
		b = rest[1:]
	}
}

// jsonText decodes a string of at most so many bytes; of a longer one, or of
// another value, it is "".
func jsonText(raw []byte, most int) string {
	if len(raw) < 2 || raw[0] != '"' || len(raw) > 6*most+2 {
		return ""
	}
	var out []byte
	jsonPieces(raw, func(p []byte) { out = append(out, p...) })
	if len(out) > most {
		return ""
	}
	return string(bytes.ToValidUTF8(out, []byte("\ufffd")))
}

// jsonPieces decodes a string and hands it on in pieces.
func jsonPieces(raw []byte, use func([]byte)) {
	if len(raw) < 2 || raw[0] != '"' {
		return
	}
	b := raw[1 : len(raw)-1]
	var small [utf8.UTFMax]byte
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\\')
		if n < 0 || n == len(b)-1 {
			use(b)
			return
		}
		if n > 0 {
			use(b[:n])
		}
		r, used := jsonEscape(b[n:])
		use(utf8.AppendRune(small[:0], r))
		b = b[n+used:]
	}
}

// jsonEscape reads an escape of at least two bytes.
func jsonEscape(b []byte) (r rune, used int) {
	switch b[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		r, ok := jsonUnit(b)
		if !ok {
			return utf8.RuneError, 2
		}
		if utf16.IsSurrogate(r) {
			low, _ := jsonUnit(b[6:])
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 12
			}
			return utf8.RuneError, 6
		}
		return r, 6
	}
	return rune(b[1]), 2
}

// jsonUnit reads \uXXXX.
func jsonUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' || !isHex(string(b[2:6])) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}
