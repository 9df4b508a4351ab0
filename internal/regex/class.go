package regex

import "slices"

const (
	maxRune = 0x10FFFF
	lowSurr = 0xD800 // surrogates are no characters
	topSurr = 0xDFFF
	maxByte = 0xFF
)

// A set is characters as sorted ranges that neither overlap nor touch. In
// the byte mode of (?-u) the "characters" are the bytes 0 to 255.
type set []runeRange

// normalizeRanges sorts ranges and joins those that overlap or touch. It writes into
// the slice it is given.
func normalizeRanges(r []runeRange) set {
	sorted := true
	for i := 1; i < len(r); i++ {
		if r[i].lo <= r[i-1].hi+1 {
			sorted = false
			break
		}
	}
	if sorted {
		return r
	}
	slices.SortFunc(r, func(a, b runeRange) int { return int(a.lo) - int(b.lo) })
	out := r[:1]
	for _, x := range r[1:] {
		if last := &out[len(out)-1]; x.lo <= last.hi+1 {
			last.hi = max(last.hi, x.hi)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// addRange appends a range without the surrogates in it.
func addRange(r []runeRange, lo, hi rune) []runeRange {
	if hi < lowSurr || lo > topSurr {
		return append(r, runeRange{lo, hi})
	}
	if lo < lowSurr {
		r = append(r, runeRange{lo, lowSurr - 1})
	}
	if hi > topSurr {
		r = append(r, runeRange{topSurr + 1, hi})
	}
	return r
}

// negate returns what is not in the set, up to and including top.
func (s set) negate(top rune) set {
	out := make(set, 0, len(s)+2)
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = addRange(out, next, r.lo-1)
		}
		next = r.hi + 1
	}
	if next <= top {
		out = addRange(out, next, top)
	}
	return out
}

// and returns what is in both sets.
func (s set) and(t set) set {
	var out set
	for i, j := 0, 0; i < len(s) && j < len(t); {
		if lo, hi := max(s[i].lo, t[j].lo), min(s[i].hi, t[j].hi); lo <= hi {
			out = append(out, runeRange{lo, hi})
		}
		if s[i].hi < t[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// minus returns what is in s and not in t.
func (s set) minus(t set) set { return s.and(t.negate(maxRune)) }

// or returns what is in either set.
func (s set) or(t set) set { return normalizeRanges(slices.Concat(s, t)) }

// contains reports whether the character is in the set.
func (s set) contains(r rune) bool {
	_, ok := slices.BinarySearchFunc(s, r, func(x runeRange, r rune) int {
		if x.hi < r {
			return -1
		} else if x.lo > r {
			return 1
		}
		return 0
	})
	return ok
}

// withoutNewline returns the set without \n; the set itself is not changed.
func (s set) withoutNewline() set {
	for i, r := range s {
		if r.lo > '\n' {
			break
		}
		if r.hi < '\n' {
			continue
		}
		out := append(make(set, 0, len(s)+1), s[:i]...)
		if r.lo < '\n' {
			out = append(out, runeRange{r.lo, '\n' - 1})
		}
		if r.hi > '\n' {
			out = append(out, runeRange{'\n' + 1, r.hi})
		}
		return append(out, s[i+1:]...)
	}
	return s
}

// foldASCII returns the set with both cases of the ASCII letters in it.
func (s set) foldASCII() set {
	out := slices.Clone(s)
	for _, r := range s {
		if lo, hi := max(r.lo, 'a'), min(r.hi, 'z'); lo <= hi {
			out = append(out, runeRange{lo - 32, hi - 32})
		}
		if lo, hi := max(r.lo, 'A'), min(r.hi, 'Z'); lo <= hi {
			out = append(out, runeRange{lo + 32, hi + 32})
		}
	}
	return normalizeRanges(out)
}

// asciiClass returns the ASCII characters of a [:name:].
func asciiClass(name string) (s set, ok bool) {
	pairs := asciiPairs(name)
	for i := 0; i < len(pairs); i += 2 {
		s = append(s, runeRange{rune(pairs[i]), rune(pairs[i+1])})
	}
	return s, len(s) > 0
}

// asciiPairs returns the ranges of a [:name:], first and last each.
func asciiPairs(name string) string {
	switch name {
	case "alnum":
		return "09AZaz"
	case "alpha":
		return "AZaz"
	case "ascii":
		return "\x00\x7F"
	case "blank":
		return "\t\t  "
	case "cntrl":
		return "\x00\x1F\x7F\x7F"
	case "digit":
		return "09"
	case "graph":
		return "!~"
	case "lower":
		return "az"
	case "print":
		return " ~"
	case "punct":
		return "!/:@[`{~"
	case "space":
		return "\t\r  "
	case "upper":
		return "AZ"
	case "word":
		return "09AZ__az"
	case "xdigit":
		return "09AFaf"
	}
	return ""
}
