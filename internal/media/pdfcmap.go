package media

import (
	"slices"
	"unicode/utf16"
)

const maxMappings = 100_000 // of one table of characters

// A code is a character of a string as a font sees it: a number, and in how
// many bytes it was written.
type code struct {
	n   int
	len int
}

// A codeRange is a range of codes of one length.
type codeRange struct{ lo, hi code }

func (r codeRange) contains(c code) bool {
	return c.len == r.lo.len && c.n >= r.lo.n && c.n <= r.hi.n
}

// A cmap tells which codes there are and what text they stand for.
type cmap struct {
	spaces []codeRange
	chars  map[code]string
	ranges [5][]mapping // by length of the code, sorted by where they begin
}

// A mapping is a range of codes whose texts follow each other.
type mapping struct {
	codeRange
	first string
	texts []string // one for each, instead of first
}

// readCmap reads a table of characters. What it does not understand it passes
// over.
func readCmap(src []byte) *cmap {
	m := &cmap{chars: map[code]string{}}
	l := &lexer{src: src}
	count := 0
	for count < maxMappings {
		v, err := l.value()
		if err != nil || v == end {
			break
		}
		l.parts = 0
		switch v {
		case operator("begincodespacerange"):
			l.tuples(2, &count, func(t []any) {
				lo, hi := codeOf(t[0]), codeOf(t[1])
				if lo.len > 0 && lo.len == hi.len && len(m.spaces) < 256 {
					m.spaces = append(m.spaces, codeRange{lo, hi})
				}
			})
		case operator("beginbfchar"):
			l.tuples(2, &count, func(t []any) {
				if c := codeOf(t[0]); c.len > 0 {
					m.chars[c] = textOf(t[1])
				}
			})
		case operator("beginbfrange"):
			l.tuples(3, &count, m.addRange)
		}
	}
	for _, r := range m.ranges {
		slices.SortStableFunc(r, func(a, b mapping) int { return a.lo.n - b.lo.n })
	}
	return m
}

// tuples reads groups of n values until an operator comes.
func (l *lexer) tuples(n int, count *int, use func([]any)) {
	for *count < maxMappings {
		group := make([]any, 0, n)
		for range n {
			v, err := l.value()
			if _, op := v.(operator); op || err != nil {
				return
			}
			group = append(group, v)
		}
		l.parts = 0
		*count++
		use(group)
	}
}

func (m *cmap) addRange(t []any) {
	r := mapping{codeRange: codeRange{codeOf(t[0]), codeOf(t[1])}}
	if r.lo.len == 0 || r.lo.len != r.hi.len || r.hi.n < r.lo.n {
		return
	}
	switch dst := t[2].(type) {
	case array:
		for _, v := range dst[:min(len(dst), r.hi.n-r.lo.n+1)] {
			r.texts = append(r.texts, textOf(v))
		}
	default:
		r.first = textOf(dst)
	}
	m.ranges[r.lo.len] = append(m.ranges[r.lo.len], r)
}

// cost is how many entries there are.
func (m *cmap) cost() int {
	if m == nil {
		return 0
	}
	n := len(m.chars)
	for _, ranges := range m.ranges {
		for _, r := range ranges {
			n += 1 + len(r.texts)
		}
	}
	return n
}

// codeOf reads a code from a string of up to four bytes.
func codeOf(v any) code {
	s, ok := v.(string)
	if !ok || len(s) > 4 {
		return code{}
	}
	c := code{len: len(s)}
	for i := range len(s) {
		c.n = c.n<<8 | int(s[i])
	}
	return c
}

// textOf reads text in UTF-16.
func textOf(v any) string {
	s, ok := v.(string)
	if !ok {
		return ""
	}
	if len(s) == 1 {
		return string(rune(s[0]))
	}
	units := make([]uint16, 0, min(len(s)/2, 64))
	for i := 0; i+1 < len(s) && len(units) < 64; i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return string(utf16.Decode(units))
}

// next returns the first code of s, by the ranges of codes there are.
func (m *cmap) next(s string) (code, bool) {
	c := code{}
	for c.len < min(4, len(s)) {
		c.n = c.n<<8 | int(s[c.len])
		c.len++
		for _, r := range m.spaces {
			if r.contains(c) {
				return c, true
			}
		}
	}
	return code{}, false
}

// text returns what a code stands for.
func (m *cmap) text(c code) (string, bool) {
	if s, ok := m.chars[c]; ok {
		return s, true
	}
	// The last range that begins at or before the code has it, or one of the
	// few before that if ranges overlap.
	ranges := m.ranges[c.len]
	i, _ := slices.BinarySearchFunc(ranges, c.n+1, func(r mapping, n int) int { return r.lo.n - n })
	for j := i - 1; j >= 0 && j >= i-4; j-- {
		if ranges[j].contains(c) {
			return ranges[j].text(c.n - ranges[j].lo.n)
		}
	}
	return "", false
}

// text returns the text of the code at off in the range.
func (r mapping) text(off int) (string, bool) {
	if r.texts != nil {
		if off < len(r.texts) {
			return r.texts[off], true
		}
		return "", false
	}
	runes := []rune(r.first)
	if len(runes) == 0 {
		return "", false
	}
	runes[len(runes)-1] += rune(off)
	return string(runes), true
}
