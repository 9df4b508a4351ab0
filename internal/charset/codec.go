package charset

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// standard is an encoding whose encoder takes, of several codes of two bytes
// for a character, the one that other programs write. The library's encoders
// do not always: they were made for readers of pages from the net.
type standard struct {
	encoding.Encoding
	id   kind
	code func(code string) string // the better code for one, empty if it is good
}

// NewEncoder returns the library's encoder with the codes put right.
func (s standard) NewEncoder() *encoding.Encoder {
	return &encoding.Encoder{Transformer: &standardEncoder{s.Encoding.NewEncoder().Transformer, s}}
}

type standardEncoder struct {
	transform.Transformer
	standard standard
}

// Transform implements [transform.Transformer].
func (e *standardEncoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = e.Transformer.Transform(dst, src, atEOF)
	for i := 0; i < nDst; {
		size := charSize(dst[i:nDst], e.standard.id)
		if size == 2 && i+1 < nDst && dst[i] >= 0xc6 {
			copy(dst[i:i+2], e.standard.code(string(dst[i:i+2])))
		}
		i += size
	}
	return nDst, nSrc, err
}

// sjisStandard moves the characters that stand in two rows of extensions from
// the first (0xED, 0xEE) to the last (0xFA to 0xFC), as Windows does.
func sjisStandard(code string) string {
	const row = 188 // codes a first byte has
	if code[0] != 0xed && code[0] != 0xee {
		return ""
	}
	n := int(code[0]-0xed)*row + int(code[1]) - 0x40
	if code[1] > 0x7f {
		n--
	}
	switch {
	case n < 360: // kanji
		n += 28
	case n >= 362 && n < 372: // small Roman numerals
		n -= 362
	case n >= 373: // three signs
		n -= 352
	default:
		return ""
	}
	hi, lo := 0xfa+n/row, 0x40+n%row
	if lo >= 0x7f {
		lo++
	}
	return string([]byte{byte(hi), byte(lo)})
}

// big5Standard gives the codes of Big5 itself to the characters the library
// writes with codes of Hong Kong.
func big5Standard(code string) string {
	const better = "\xc6\xde\xa1\xb2" + "\xfe\xaa\xa2\x60" + "\xf9\xfa\xa2\x7e" + "\xf9\xfb\xa2\xa1" + "\xf9\xfc\xa2\xa2" +
		"\xf9\xfd\xa2\xa3" + "\xfa\xc5\xa2\xcd" + "\xfa\xbd\xa5\x5d" + "\xfc\xf1\xa7\xfb" + "\xfa\x5f\xad\xc5" +
		"\xfa\xd5\xad\xeb" + "\xfa\x66\xb0\xb0" + "\xfb\xb8\xb4\x40" + "\xfc\xe2\xb4\xb8" + "\xfd\xbb\xb4\xe4" +
		"\xfd\xb8\xb4\xfc" + "\xfd\xf1\xb5\x4e" + "\xfe\x6f\xb7\xec" + "\xfc\xb9\xbc\xb5" + "\xfb\xf3\xc9\xdb" +
		"\xfd\xb7\xcb\x58" + "\xfe\xdd\xcf\xf1" + "\xfc\x4f\xd8\xf4"
	for rest := better; rest != ""; rest = rest[4:] {
		if strings.HasPrefix(rest, code) {
			return rest[2:4]
		}
	}
	return ""
}
