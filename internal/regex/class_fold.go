package regex

import (
	"unicode"
	"unicode/utf8"
)

// cases returns a character, with its other cases if they are asked for.
func (p *parser) cases(r rune) set {
	if !p.hasFlag(flagFold) || !p.hasFlag(flagUnicode) && r >= utf8.RuneSelf {
		return p.singleton(r)
	}
	if !p.hasFlag(flagUnicode) {
		return p.singleton(r).foldASCII()
	}
	s := p.singleton(r)
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		s = append(s, runeRange{f, f})
	}
	return normalizeRanges(s)
}

// singleton returns the set of one character.
func (p *parser) singleton(r rune) set {
	if len(p.ranges) == 0 {
		p.ranges = make([]runeRange, 32)
	}
	s := p.ranges[:1:1]
	p.ranges = p.ranges[1:]
	s[0] = runeRange{r, r}
	return s
}

// fold returns a set with all cases of its letters.
func (p *parser) fold(s set) set {
	if len(s) == 0 || !p.hasFlag(flagUnicode) {
		return s.foldASCII()
	}
	if s[len(s)-1].hi < utf8.RuneSelf {
		f := s.foldASCII()
		if f.contains('k') {
			f = append(f, runeRange{'\u212A', '\u212A'}) // the sign of Kelvin
		}
		if f.contains('s') {
			f = append(f, runeRange{'ſ', 'ſ'})
		}
		return normalizeRanges(f)
	}
	p.kept += foldCost
	return foldTable(s)
}

// What a lookup counts against the size limit, in ranges: a pattern may not
// ask for endless work either.
const (
	foldCost     = 32
	propertyCost = 256
)

// foldTable folds by the table of all folds: runs of characters, each with
// the distance to another case of it. Both the set and the runs are sorted
// by their first characters.
func foldTable(s set) set {
	out := append(make(set, 0, 2*len(s)), s...)
	lo, i := rune(0), 0
	for at := 0; at < len(foldRuns); {
		var v [4]rune // from the last run's first to this one's, length, step, distance
		for k := range v {
			n, w := varint(foldRuns[at:])
			v[k] = n
			at += w
		}
		lo += v[0]
		hi, step, far := lo+v[1], v[2], v[3]>>1^-(v[3]&1)
		for i < len(s) && s[i].hi < lo {
			i++
		}
		for j := i; j < len(s) && s[j].lo <= hi; j++ {
			from, to := max(lo, s[j].lo), min(hi, s[j].hi)
			from += (step - (from-lo)%step) % step
			if step == 1 {
				out = append(out, runeRange{from + far, to + far})
				continue
			}
			for c := from; c <= to; c += step {
				out = append(out, runeRange{c + far, c + far})
			}
		}
	}
	return normalizeRanges(out)
}

// varint reads a number of a table: seven bits a byte, the lowest first.
func varint(s string) (n rune, width int) {
	for shift := 0; ; shift += 7 {
		b := s[width]
		width++
		n |= rune(b&0x7F) << shift
		if b < 0x80 {
			return n, width
		}
	}
}

// decodeTable returns the set of a table: the gap to each range and its length.
func decodeTable(table string, ranges int) set {
	out := make(set, ranges)
	next := rune(0)
	at := 0
	for i := range out {
		gap := rune(table[at])
		if at++; gap >= 0x80 {
			n, w := varint(table[at-1:])
			gap, at = n, at-1+w
		}
		more := rune(table[at])
		if at++; more >= 0x80 {
			n, w := varint(table[at-1:])
			more, at = n, at-1+w
		}
		next += gap
		out[i] = runeRange{next, next + more}
		next += more + 1
	}
	return out
}
