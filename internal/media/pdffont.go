package media

import (
	"slices"
	"strings"
)

const (
	maxFonts  = 500_000 // entries in all tables of fonts that are kept
	maxWidths = 100_000 // of one font
)

// A font turns the codes of a string into text and tells how wide they are.
type font struct {
	unicode *cmap // nil if the font has none
	codes   *cmap // how long codes are, if the font says so itself
	utf16   bool  // codes are text in UTF-16
	wide    bool  // codes have two bytes
	table   [256]string

	simple  [256]float64 // widths of codes of one byte, in sizes of the font
	widths  []widthRange // of others, sorted
	missing float64      // the width of codes that have none
}

// A widthRange is a range of codes of one width.
type widthRange struct {
	lo, hi int
	width  float64
}

// font returns the font that v is or refers to.
func (d *Document) font(v any) *font {
	r, ok := v.(ref)
	if !ok {
		return d.readFont(d.dict(v))
	}
	if f, ok := d.fonts[r.num]; ok {
		return f
	}
	f := d.readFont(d.dict(v))
	if d.fontCost += f.cost(); d.fontCost > maxFonts {
		clear(d.fonts)
		d.fontCost = f.cost()
	}
	if d.src.err == nil {
		d.fonts[r.num] = f
	}
	return f
}

// cost is how much there is to a font, in entries.
func (f *font) cost() int {
	const least = 256
	return least + len(f.widths) + f.unicode.cost() + f.codes.cost()
}

func (d *Document) readFont(v dict) *font {
	f := &font{}
	if s, ok := d.get(v["ToUnicode"]).(*stream); ok {
		f.unicode = readCmap(d.decode(s, maxStream))
	}
	if d.name(v["Subtype"]) == "Type0" {
		d.readComposite(f, v)
		return f
	}
	d.encodingTable(&f.table, v)
	d.simpleWidths(f, v)
	return f
}

// simpleWidths fills in the widths of a simple font, by a guess for those
// fonts that a reader has to know by itself.
func (d *Document) simpleWidths(f *font, v dict) {
	widths := d.arrayOf(v["Widths"])
	if len(widths) == 0 {
		base := strings.ToLower(string(d.name(v["BaseFont"])))
		fixed := strings.Contains(base, "courier") || strings.Contains(base, "mono")
		for i := range f.simple {
			f.simple[i] = 0.6
			if !fixed {
				f.simple[i] = guessWidth(f.text(code{i, 1}))
			}
		}
		return
	}
	unit := 0.001
	if d.name(v["Subtype"]) == "Type3" {
		if m := d.arrayOf(v["FontMatrix"]); len(m) == 6 && d.float(m[0]) != 0 {
			unit = d.float(m[0])
		}
	}
	missing := d.float(d.dict(v["FontDescriptor"])["MissingWidth"])
	first := d.int(v["FirstChar"])
	for i := range f.simple {
		w := missing
		if at := i - first; at >= 0 && at < len(widths) {
			w = d.float(widths[at])
		}
		f.simple[i] = w * unit
	}
}

// readComposite reads a font whose codes may have several bytes.
func (d *Document) readComposite(f *font, v dict) {
	f.wide = true
	switch enc := d.get(v["Encoding"]).(type) {
	case name:
		s := string(enc)
		f.utf16 = strings.HasPrefix(s, "Uni") && (strings.Contains(s, "UCS2") || strings.Contains(s, "UTF16"))
		if !f.utf16 && !strings.HasPrefix(s, "Identity") {
			f.codes = f.unicode
		}
	case *stream:
		f.codes = readCmap(d.decode(enc, maxStream))
	}
	if f.codes != nil && len(f.codes.spaces) == 0 {
		f.codes = nil
	}
	f.missing = 1000
	kids := d.arrayOf(v["DescendantFonts"])
	if len(kids) == 0 {
		return
	}
	kid := d.dict(kids[0])
	if dw := d.get(kid["DW"]); dw != nil {
		f.missing = d.float(dw)
	}
	d.readWidths(f, d.arrayOf(kid["W"]))
	slices.SortStableFunc(f.widths, func(a, b widthRange) int { return a.lo - b.lo })
}

// readWidths reads "first [w w …]" and "first last w".
func (d *Document) readWidths(f *font, w array) {
	for len(w) >= 2 && len(f.widths) < maxWidths {
		first := d.int(w[0])
		if list := d.arrayOf(w[1]); list != nil {
			for i, v := range list[:min(len(list), maxWidths)] {
				f.widths = append(f.widths, widthRange{first + i, first + i, d.float(v)})
			}
			w = w[2:]
			continue
		}
		if len(w) < 3 {
			return
		}
		f.widths = append(f.widths, widthRange{first, d.int(w[1]), d.float(w[2])})
		w = w[3:]
	}
}

// next returns the first code of s, which is not empty.
func (f *font) next(s string) code {
	if !f.wide {
		return code{int(s[0]), 1}
	}
	if f.codes != nil {
		if c, ok := f.codes.next(s); ok {
			return c
		}
	}
	if len(s) < 2 {
		return code{int(s[0]), 1}
	}
	return code{int(s[0])<<8 | int(s[1]), 2}
}

// text returns what a code stands for; "" if nobody knows.
func (f *font) text(c code) string {
	if f.unicode != nil {
		if s, ok := f.unicode.text(c); ok {
			return s
		}
		if c.len == 1 && f.wide {
			c.len = 2
			s, _ := f.unicode.text(c)
			return s
		}
	}
	switch {
	case f.utf16:
		return string(rune(c.n))
	case !f.wide:
		return f.table[c.n&0xff]
	}
	return ""
}

// width returns how wide a code is, in sizes of the font.
func (f *font) width(c code) float64 {
	if !f.wide {
		return f.simple[c.n&0xff]
	}
	i, _ := slices.BinarySearchFunc(f.widths, c.n+1, func(s widthRange, n int) int { return s.lo - n })
	if i > 0 && c.n <= f.widths[i-1].hi {
		return f.widths[i-1].width / 1000
	}
	return f.missing / 1000
}

// guessWidth returns about how wide a character is.
func guessWidth(s string) float64 {
	switch {
	case s == "" || strings.ContainsAny(s, " .,:;!|'ijltfIJ/\\()[]-"):
		return 0.28
	case strings.ContainsAny(s, "mwMW@%—"):
		return 0.83
	case s >= "A" && s <= "Z":
		return 0.68
	}
	return 0.53
}
