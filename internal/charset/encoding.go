package charset

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Why bytes are not, or can not be handled as, text.
var (
	ErrBinary   = errors.New("binary data, not text")
	ErrUnknown  = errors.New("the encoding of the text can not be told safely")
	ErrInvalid  = errors.New("bytes that are not valid in the encoding")
	ErrStateful = errors.New("text in this encoding can be read, but not edited in place")
)

// An Encoding says how characters are written as bytes. The zero value is
// UTF-8. Encodings can be compared.
type Encoding struct{ id kind }

type kind uint8

const (
	utf8Kind kind = iota
	utf16le
	utf16be
	utf32le
	utf32be
	gbk
	gb18030
	big5
	shiftJIS
	eucJP
	eucKR
	latin1
	latin2
	latin9
	cyrillic5
	greek7
	win874
	win1250
	win1251
	win1252
	win1253
	win1254
	win1255
	win1256
	win1257
	win1258
	koi8r
	koi8u
	ibm866
	macRoman
	iso2022jp
	hz
	kinds
)

// String returns the encoding's usual name, as [Named] takes it.
func (e Encoding) String() string {
	return [kinds]string{
		utf8Kind: "utf-8", utf16le: "utf-16le", utf16be: "utf-16be", utf32le: "utf-32le", utf32be: "utf-32be",
		gbk: "gbk", gb18030: "gb18030", big5: "big5", shiftJIS: "shift_jis", eucJP: "euc-jp", eucKR: "euc-kr",
		latin1: "iso-8859-1", latin2: "iso-8859-2", latin9: "iso-8859-15", cyrillic5: "iso-8859-5", greek7: "iso-8859-7",
		win874: "windows-874", win1250: "windows-1250", win1251: "windows-1251", win1252: "windows-1252",
		win1253: "windows-1253", win1254: "windows-1254", win1255: "windows-1255", win1256: "windows-1256",
		win1257: "windows-1257", win1258: "windows-1258", koi8r: "koi8-r", koi8u: "koi8-u", ibm866: "ibm866",
		macRoman: "macintosh", iso2022jp: "iso-2022-jp", hz: "hz-gb-2312",
	}[e.id]
}

// codec returns what converts to and from the encoding.
func (e Encoding) codec() encoding.Encoding {
	return [kinds]encoding.Encoding{
		utf8Kind: unicode.UTF8,
		utf16le:  unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		utf16be:  unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		utf32le:  utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
		utf32be:  utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
		gbk:      simplifiedchinese.GBK, gb18030: simplifiedchinese.GB18030,
		big5:     standard{traditionalchinese.Big5, big5, big5Standard},
		shiftJIS: standard{japanese.ShiftJIS, shiftJIS, sjisStandard},
		eucJP:    japanese.EUCJP, eucKR: korean.EUCKR,
		latin1: charmap.ISO8859_1, latin2: charmap.ISO8859_2, latin9: charmap.ISO8859_15,
		cyrillic5: charmap.ISO8859_5, greek7: charmap.ISO8859_7, win874: charmap.Windows874,
		win1250: charmap.Windows1250, win1251: charmap.Windows1251, win1252: charmap.Windows1252,
		win1253: charmap.Windows1253, win1254: charmap.Windows1254, win1255: charmap.Windows1255,
		win1256: charmap.Windows1256, win1257: charmap.Windows1257, win1258: charmap.Windows1258,
		koi8r: charmap.KOI8R, koi8u: charmap.KOI8U, ibm866: charmap.CodePage866, macRoman: charmap.Macintosh,
		iso2022jp: japanese.ISO2022JP, hz: simplifiedchinese.HZGB2312,
	}[e.id]
}

// Named returns the encoding of a name, whatever its case, with "_" for "-" or
// neither. The names of code pages and some other usual names are known too.
func Named(name string) (Encoding, bool) {
	want := normalizeName(name)
	for id := range kinds {
		if normalizeName(Encoding{id}.String()) == want {
			return Encoding{id}, true
		}
	}
	aliases := [...]struct {
		id    kind
		names string
	}{
		{utf8Kind, "utf8bom cp65001 unicode11utf8 ascii usascii"}, {utf16le, "utf16 ucs2 ucs2le"}, {utf16be, "ucs2be"},
		{utf32le, "utf32 ucs4le"}, {utf32be, "ucs4be"}, {gbk, "gb2312 cp936 ms936 euccn windows936"},
		{gb18030, "cp54936"}, {big5, "cp950 ms950 big5hkscs"}, {shiftJIS, "sjis cp932 ms932 windows31j mskanji"},
		{eucJP, "ujis"}, {eucKR, "cp949 ms949 uhc ksc56011987 ksc5601"}, {latin1, "latin1 l1 88591"},
		{latin2, "latin2"}, {latin9, "latin9"}, {cyrillic5, "cyrillic"}, {greek7, "greek"}, {win874, "tis620 cp874 iso885911"},
		{win1250, "cp1250"}, {win1251, "cp1251"}, {win1252, "cp1252 ansi"}, {win1253, "cp1253"}, {win1254, "cp1254 latin5"},
		{win1255, "cp1255"}, {win1256, "cp1256"}, {win1257, "cp1257"}, {win1258, "cp1258"}, {koi8r, "koi8"},
		{ibm866, "cp866 866"}, {macRoman, "macroman"}, {iso2022jp, "jis"}, {hz, "hz"},
	}
	for _, a := range aliases {
		for n := range strings.FieldsSeq(a.names) {
			if n == want {
				return Encoding{a.id}, true
			}
		}
	}
	return Encoding{}, false
}

// normalizeName is a name without what people write in different ways.
func normalizeName(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', ' ', '.', ':':
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// stateful reports whether the meaning of a byte depends on all before it.
func (e Encoding) stateful() bool { return e.id == iso2022jp || e.id == hz }

// universal reports whether the encoding holds every character.
func (e Encoding) universal() bool { return e.id <= utf32be || e.id == gb18030 }

// unit is how many bytes an ASCII character takes.
func (e Encoding) unit() int {
	switch e.id {
	case utf16le, utf16be:
		return 2
	case utf32le, utf32be:
		return 4
	}
	return 1
}

// ascii returns the ASCII character a unit of the encoding is, or 0xff.
func (e Encoding) ascii(unit []byte) byte {
	at := 0
	if e.id == utf16be || e.id == utf32be {
		at = len(unit) - 1
	}
	for i, b := range unit {
		if i != at && b != 0 {
			return 0xff
		}
	}
	return unit[at]
}

// bom is the byte order mark of the encoding, empty if it has none.
func (e Encoding) bom() string {
	return [kinds]string{
		utf8Kind: "\xef\xbb\xbf", utf16le: "\xff\xfe", utf16be: "\xfe\xff",
		utf32le: "\xff\xfe\x00\x00", utf32be: "\x00\x00\xfe\xff", gb18030: "\x84\x31\x95\x33",
	}[e.id]
}

// Unencodable says that an encoding has no bytes for a character.
type Unencodable struct {
	Char     rune // utf8.RuneError if the text itself is not valid UTF-8
	Encoding Encoding
}

// Error names the character, also by its number, as it may be one that can not
// be seen.
func (u *Unencodable) Error() string {
	return fmt.Sprintf("the character %q (U+%04X) can not be written in %s", u.Char, u.Char, u.Encoding)
}

// encode returns s in the encoding, or an error if what is read back would not
// be s.
func (e Encoding) encode(s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, &Unencodable{utf8.RuneError, e}
	}
	if e.id == utf8Kind {
		return []byte(s), nil
	}
	if b, ok := e.exact(s); ok {
		return b, nil
	}
	seen := map[rune]bool{}
	for _, r := range s {
		if seen[r] {
			continue
		}
		seen[r] = true
		if _, ok := e.exact(string(r)); !ok {
			return nil, &Unencodable{r, e}
		}
	}
	return nil, fmt.Errorf("writing text in %s: %w", e, ErrInvalid)
}

// exact encodes s and reports whether decoding gives s again: some encoders
// take a similar character when there is none.
func (e Encoding) exact(s string) ([]byte, bool) {
	if !e.universal() && strings.ContainsRune(s, utf8.RuneError) {
		return nil, false
	}
	c := e.codec()
	b, err := c.NewEncoder().Bytes([]byte(s))
	if err != nil {
		return nil, false
	}
	back, err := c.NewDecoder().Bytes(b)
	return b, err == nil && string(back) == s
}
