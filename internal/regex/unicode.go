package regex

import (
	"slices"
	"strings"
	"unicode"
)

// The characters of \w, \s and \d and the folds of letters come from tables
// made ahead of time (unicode_tables.go), properties from Go's own. Both are
// of the Unicode version of the Go release, which may be older than that of
// ripgrep: characters added to Unicode since are then no letters yet.

// perl returns the class of \d, \s or \w, or of what a capital asks for.
func (p *parser) perl(c rune) set {
	if !p.hasFlag(flagUnicode) {
		name := map[rune]string{'d': "digit", 's': "space", 'w': "word"}[c|0x20]
		s, _ := asciiClass(name)
		if c < 'a' {
			s = s.negate(maxByte)
		}
		return s
	}
	kept := &p.perls[strings.IndexRune("dswDSW", c)]
	if *kept != nil {
		return *kept
	}
	var s set
	switch c | 0x20 {
	case 'd':
		s = decodeTable(digitTable, digitRanges)
	case 's':
		s = decodeTable(spaceTable, spaceRanges)
	default:
		s = decodeTable(wordTable, wordRanges)
	}
	if c < 'a' {
		s = s.negate(maxRune)
	}
	*kept = slices.Clip(s)
	return *kept
}

// cacheClass remembers a class, so that it need not be made twice.
func (p *parser) cacheClass(key string, s set) set {
	if p.sets == nil {
		p.sets = map[string]set{}
	}
	s = slices.Clip(s)
	p.sets[key] = s
	return s
}

// alphabetic reports whether a character has the property Alphabetic.
func alphabetic(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic)
}

// property reads \p and \P with what follows.
func (p *parser) property(at int) (atom, *SyntaxError) {
	a := atom{kind: atomSet, patternRange: patternRange{pos: at}}
	negated := p.ch == 'P'
	short := func() *SyntaxError {
		return p.syntaxError(p.pos, p.pos, "incomplete escape sequence, reached end of pattern prematurely")
	}
	if !p.bumpSpace() {
		return a, short()
	}
	var name strings.Builder
	if p.ch == '{' {
		for p.bumpSpace() && p.ch != '}' {
			name.WriteRune(p.ch)
		}
		if p.ch == eof {
			return a, short()
		}
		p.bump()
	} else {
		if p.ch == '\\' {
			return a, p.syntaxError(p.pos, p.pos+p.width, "invalid Unicode character class")
		}
		name.WriteRune(p.ch)
		p.bumpSpace()
	}
	a.end = p.pos
	if !p.hasFlag(flagUnicode) {
		p.doubt(a.pos, a.end, "Unicode not allowed here")
		return a, nil
	}
	a.set = p.propertySet(name.String(), negated, a.patternRange)
	return a, nil
}

// propertySet returns the characters of a property.
func (p *parser) propertySet(text string, negated bool, where patternRange) set {
	key := text
	if negated {
		key = "^" + key
	}
	if p.hasFlag(flagFold) {
		key = "i" + key
	}
	key = "p" + key
	if s, ok := p.sets[key]; ok {
		return s
	}
	if p.late != nil {
		return nil // one error is enough
	}
	p.kept += propertyCost
	name, value, pair := strings.Cut(text, "!=")
	if pair {
		negated = !negated
	} else if name, value, pair = strings.Cut(text, ":"); !pair {
		name, value, pair = strings.Cut(text, "=")
	}
	var s set
	var reason string
	if pair {
		s, reason = propertyValue(normalizeClassName(name), normalizeClassName(value))
	} else {
		s, reason = binaryProperty(normalizeClassName(name))
	}
	if reason != "" {
		p.doubt(where.pos, where.end, reason)
		return nil
	}
	return p.cacheClass(key, p.foldNegate(s, negated))
}

// normalizeClassName returns a name without what does not count in it: case, spaces,
// underscores, hyphens and a leading "is".
func normalizeClassName(s string) string {
	was := s
	if len(s) >= 2 && strings.EqualFold(s[:2], "is") {
		s = s[2:]
	}
	s = strings.Map(func(r rune) rune {
		if r == ' ' || r == '_' || r == '-' || r > unicode.MaxASCII {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	if s == "c" && len(was) > 1 {
		return "isc"
	}
	return s
}

const (
	noProperty = "Unicode property not found"
	noValue    = "Unicode property value not found"
)

// propertyValue returns the characters of a property that has values.
func propertyValue(name, value string) (s set, reason string) {
	switch name {
	case "gc", "generalcategory":
		s = category(value)
	case "sc", "script":
		s = scriptSet(value)
	case "scx", "scriptextensions":
		s = more("scx=" + scriptName(value))
	default:
		return nil, noProperty
	}
	if s == nil {
		return nil, noValue
	}
	return s, ""
}

// binaryProperty returns the characters of a property that is there or not,
// or of a category or a script by its mere name.
func binaryProperty(name string) (set, string) {
	if name != "cf" && name != "sc" && name != "lc" {
		if s := boolean(name); s != nil {
			return s, ""
		}
	}
	if s := category(name); s != nil {
		return s, ""
	}
	if s := scriptSet(name); s != nil {
		return s, ""
	}
	if name == "cs" || name == "surrogate" {
		return nil, noValue // as ripgrep: known, but no characters
	}
	return nil, noProperty
}

// category returns the characters of a general category.
func category(name string) set {
	switch name {
	case "any":
		return set(nil).negate(maxRune)
	case "ascii":
		return set{{0, unicode.MaxASCII}}
	case "assigned":
		return tables(unicode.Categories["Cn"]).negate(maxRune)
	}
	for long, short := range unicode.CategoryAliases {
		if normalizeClassName(long) == name {
			name = strings.ToLower(short)
			break
		}
	}
	for short, t := range unicode.Categories {
		if strings.ToLower(short) == name && short != "Cs" {
			return tables(t)
		}
	}
	return nil
}

// scriptSet returns the characters of a script.
func scriptSet(name string) set {
	name = scriptName(name)
	for long, t := range unicode.Scripts {
		if normalizeClassName(long) == name {
			return tables(t)
		}
	}
	return nil
}

// scriptName returns the long name of a script.
func scriptName(name string) string { return longName(scriptCodes, name) }

// tables returns the union of Go's tables.
func tables(ts ...*unicode.RangeTable) set {
	out := set{}
	for _, t := range ts {
		for _, r := range t.R16 {
			out = strided(out, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			out = strided(out, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return normalizeRanges(out)
}

// strided appends every step'th character from lo to hi.
func strided(out set, lo, hi, step rune) set {
	if step == 1 {
		return addRange(out, lo, hi)
	}
	for c := lo; c <= hi; c += step {
		out = addRange(out, c, c)
	}
	return out
}
