package script

import (
	"bytes"
	"unicode/utf8"
)

// Text and bytes are turned into each other here and not in JavaScript, where a megabyte would take
// a good part of a second.

// hostText is __text(bytes, encoding).
func (v *VM) hostText(args []value) value {
	b, ok := v.engine.toBytes(args[0])
	if !ok {
		return exception()
	}
	latin, ok := v.latin(args[1])
	switch {
	case !ok:
		return exception()
	case latin:
		return v.engine.newString(fromLatin(b))
	}
	return v.engine.newString(toValid(b))
}

// bytes is __bytes(text, encoding).
func (v *VM) bytes(args []value) value {
	b, ok := v.engine.toText(args[0])
	if !ok {
		return exception()
	}
	latin, ok := v.latin(args[1])
	switch {
	case !ok:
		return exception()
	case latin:
		return v.engine.buffer(toLatin(b))
	}
	return v.engine.buffer(b)
}

// latin reads the encoding; if ok is false an exception is pending.
func (v *VM) latin(encoding value) (latin, ok bool) {
	if tagOf(encoding) == tagOf(undefined()) {
		return false, true
	}
	name, ok := v.engine.toText(encoding)
	switch {
	case !ok:
		return false, false
	case string(name) == "utf8":
		return false, true
	case string(name) == "latin1":
		return true, true
	}
	v.engine.throw(v.engine.newString(refusal(&Failure{Name: "TypeError", Message: "the encodings are utf8 and latin1"})))
	return false, false
}

func fromLatin(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		out = utf8.AppendRune(out, rune(c))
	}
	return out
}

// toLatin keeps the lower half of each unit of UTF-16, as Node does.
func toLatin(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r > 0xffff {
			r -= 0x10000
			out = append(out, byte(0xd800+r>>10), byte(r))
			continue
		}
		out = append(out, byte(r))
	}
	return out
}

// toValid replaces each invalid stretch of bytes by U+FFFD, as browsers do: the beginning of an
// incomplete character is one stretch.
func toValid(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = broken(b)
		}
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return out
}

// broken is how many bytes at the beginning could have become a character.
func broken(b []byte) int {
	low, high, more := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		more = 1
	case c >= 0xe0 && c <= 0xef:
		more = 2
	case c >= 0xf0 && c <= 0xf4:
		more = 3
	}
	switch b[0] {
	case 0xe0:
		low = 0xa0
	case 0xed:
		high = 0x9f
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}
	n := 1
	for ; more > 0 && n < len(b) && low <= b[n] && b[n] <= high; more-- {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}

// wellFormed replaces what the engine writes for half a character: three bytes that are no UTF-8,
// and U+FFFD has three too.
func wellFormed(b []byte) []byte {
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], 0xed)
		if j < 0 {
			return b
		}
		i += j
		if i+2 < len(b) && b[i+1] >= 0xa0 {
			copy(b[i:], "\uFFFD")
			i += 2
		}
		i++
	}
}
