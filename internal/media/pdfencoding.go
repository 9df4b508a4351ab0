package media

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// encodingTable fills in what each byte of a simple font stands for.
func (d *Document) encodingTable(table *[256]string, v dict) {
	enc := d.get(v["Encoding"])
	base, _ := enc.(name)
	details, _ := enc.(dict)
	if details != nil {
		base = d.name(details["BaseEncoding"])
	}
	if base == "" && d.name(v["Subtype"]) == "TrueType" {
		base = "WinAnsiEncoding"
	}
	*table = d.baseTable(base)
	if base == "" {
		d.builtIn(table, v)
	}
	n := 0
	for _, x := range d.arrayOf(details["Differences"]) {
		switch x := d.get(x).(type) {
		case int:
			n = x
		case name:
			if n >= 0 && n < 256 {
				table[n] = d.glyph(x)
			}
			n++
		}
	}
}

// builtIn fills in what a font program says of itself, as those of TeX do for
// mathematics: lines such as "dup 15 /bullet put".
func (d *Document) builtIn(table *[256]string, v dict) {
	const most = 64 << 10 // the part in plain text comes first and is short
	s, ok := d.get(d.dict(v["FontDescriptor"])["FontFile"]).(*stream)
	if !ok {
		return
	}
	src := d.decode(s, most)
	if at := bytes.Index(src, []byte("/Encoding")); at >= 0 {
		src = src[at:]
	}
	if at := bytes.Index(src, []byte("eexec")); at >= 0 {
		src = src[:at]
	}
	l := &lexer{src: src}
	var last [2]any
	for v, err := l.value(); err == nil && v != end; v, err = l.value() {
		if n, ok := last[0].(int); ok && v == operator("put") && n >= 0 && n < 256 {
			if glyph, ok := last[1].(name); ok {
				table[n] = d.glyph(glyph)
			}
		}
		last[0], last[1] = last[1], v
	}
}

// standardHigh are the characters of Adobe's standard encoding from 0xa1 on; a
// space where there is none.
const standardHigh = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß"

// baseTable returns one of the encodings that need no description.
func (d *Document) baseTable(base name) (table [256]string) {
	switch base {
	case "WinAnsiEncoding", "MacRomanEncoding":
		i := 0
		for _, r := range libraryText("/"+string(base), allBytes()) {
			if r != utf8.RuneError && i < len(table) && i >= ' ' {
				table[i] = string(r)
			}
			i++
		}
		return table
	}
	for c := ' '; c <= '~'; c++ {
		table[c] = string(c)
	}
	table['\''], table['`'] = "’", "‘"
	i := 0xa1
	for _, r := range standardHigh {
		if r != ' ' {
			table[i] = string(r)
		}
		i++
	}
	return table
}

func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

// glyph returns the character that a glyph's name stands for, or "".
func (d *Document) glyph(n name) string {
	if s, ok := d.glyphs[n]; ok {
		return s
	}
	const most = 20_000
	if len(d.glyphs) > most {
		clear(d.glyphs)
	}
	s := glyphText(string(n))
	d.glyphs[n] = s
	return s
}

// glyphText reads a glyph's name: parts joined by _, each a known name or a
// number in hex, with a variant after a point.
func glyphText(n string) string {
	n, _, _ = strings.Cut(n, ".")
	if len(n) == 1 {
		return n
	}
	if len(n) > 64 {
		return ""
	}
	var out strings.Builder
	for part := range strings.SplitSeq(n, "_") {
		switch hex, ok := strings.CutPrefix(part, "uni"); {
		case ok && len(hex) >= 4 && len(hex)%4 == 0 && isHex(hex):
			for ; hex != ""; hex = hex[4:] {
				v, _ := strconv.ParseUint(hex[:4], 16, 32)
				out.WriteRune(rune(v))
			}
		case len(part) >= 5 && len(part) <= 7 && part[0] == 'u' && isHex(part[1:]):
			v, _ := strconv.ParseUint(part[1:], 16, 32)
			out.WriteRune(rune(v))
		default:
			out.WriteString(libraryGlyph(part))
		}
	}
	return out.String()
}

func isHex(s string) bool {
	for i := range len(s) {
		if unhex(s[i]) < 0 {
			return false
		}
	}
	return true
}

// libraryGlyph looks a glyph's name up in the library's table.
func libraryGlyph(n string) string {
	for i := range len(n) {
		if c := n[i]; !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return ""
		}
	}
	if n == "" {
		return ""
	}
	s := libraryText("<</Differences[1/"+n+"]>>", "\x01")
	if s == "\x01" { // not known
		return ""
	}
	return s
}

// libraryText lets the library decode s in the encoding enc. The library has
// the tables but keeps them to itself; so it is handed a document of our own
// making that holds nothing but that encoding. Files never reach it.
func libraryText(enc, s string) string {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%")
	b.WriteString(strings.Repeat("-", 100)) // it wants to see a hundred bytes
	b.WriteString("\n")
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 0\ntrailer\n<</Size 0/F<</Encoding %s>>>>\nstartxref\n%d\n%%%%EOF\n", enc, at)
	r, err := pdf.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return ""
	}
	f := pdf.Font{V: r.Trailer().Key("F")}
	return f.Encoder().Decode(s)
}
