package regex

import (
	"math"
	"math/bits"
	"slices"
	"strings"
)

// What a search costs for each byte of text, roughly in ns on the machine the
// kernels were measured on. Only the relations count.
const (
	costHit     = 20   // finding the line around a hit, times the share of hits
	costVerify  = 120  // and matching it, when a hit is not yet a match
	costInexact = 0.05 // what hits that are no matches cost besides: they are always more than one thinks
	useless     = 1.2  // what matching all of the text without looking costs
)

// How much is kept for the index.
const (
	leastString = 3  // bytes of a string; the index knows nothing of shorter ones
	mostString  = 64 // bytes of a string that are of use
	mostSpread  = 16 // strings that one sequence may come to
	mostGroups  = 8
)

// mostTries is how many lists are looked at before the rest is passed over:
// a pattern may be very long.
const mostTries = 256

// finds are what every match was found to contain.
type finds struct {
	best   []Sequence // one of these, the cheapest to look for; at most MaxSequences
	at     place
	cost   float64
	groups [][]string // one of each
	tries  int        // lists looked at
}

func noFinds() finds { return finds{cost: math.Inf(1)} }

func (f *finds) clone() finds {
	c := *f
	c.groups = slices.Clone(f.groups)
	return c
}

// add takes note that every match contains one of the list.
func (f *finds) add(list []Sequence, at place) {
	if f.tries++; f.tries > mostTries && at == placeInner {
		return
	}
	if len(list) == 0 || slices.ContainsFunc(list, func(s Sequence) bool { return len(s) == 0 }) {
		return
	}
	f.consider(list, at)
	f.demand(caseFoldedTexts(list))
}

// include adds the finds of g, which may sit anywhere.
func (f *finds) include(g *finds) {
	f.tries += g.tries
	if g.cost < f.cost {
		f.best, f.cost, f.at = g.best, g.cost, placeInner
	}
	if f.tries > mostTries && f.groups != nil {
		return
	}
	for _, group := range g.groups {
		f.demand(group)
	}
}

// consider makes the list the best if it is.
func (f *finds) consider(list []Sequence, at place) {
	if len(list) > MaxSequences {
		list, at = fewer(list, MaxSequences), min(at, placePrefix)
	}
	look, hit := Cost(list)
	cost := look + hit*costHit
	if at != placeExact {
		cost += costInexact + hit*costVerify
	}
	if cost < f.cost {
		f.best, f.at, f.cost = list, at, cost
	}
}

// demand takes note that every match contains one of the group, unless another
// group says so anyway.
func (f *finds) demand(group []string) {
	if len(group) == 0 {
		return
	}
	slices.Sort(group)
	group = slices.Compact(group)
	for _, g := range f.groups {
		if implies(g, group) {
			return
		}
	}
	f.groups = slices.DeleteFunc(slices.Clone(f.groups), func(g []string) bool { return implies(group, g) })
	if f.groups = append(f.groups, group); len(f.groups) > mostGroups {
		worst := 0
		for i, g := range f.groups {
			if len(g) > len(f.groups[worst]) {
				worst = i
			}
		}
		f.groups = slices.Delete(f.groups, worst, worst+1)
	}
}

// group returns the group that says most, or nil.
func (f *finds) group() (best []string) {
	for _, g := range f.groups {
		if best == nil || len(g) < len(best) || len(g) == len(best) && len(g[0]) > len(best[0]) {
			best = g
		}
	}
	return best
}

// implies reports whether a text with one of g always has one of h. It does not
// look hard at long lists.
func implies(g, h []string) bool {
	if len(g)*len(h) > 256 {
		return slices.Equal(g, h)
	}
	for _, s := range g {
		if !slices.ContainsFunc(h, func(t string) bool { return strings.Contains(s, t) }) {
			return false
		}
	}
	return true
}

// caseFoldedTexts returns strings of which every text that contains one of the list
// contains one, once its ASCII letters are lower-cased. It returns nil if a
// sequence has too little that is certain.
func caseFoldedTexts(list []Sequence) (all []string) {
	for _, s := range list {
		spread := spread(s)
		if spread == nil || len(all)+len(spread) > mostUnion {
			return nil
		}
		all = append(all, spread...)
	}
	return all
}

// spread returns the strings that the most telling stretch of s may be, or nil.
func spread(s Sequence) []string {
	s = s[:min(len(s), mostString)]
	var folded [mostString]choice
	for k := range s {
		folded[k] = fold(&s[k])
	}
	from, to := telling(folded[:len(s)])
	if from == to {
		return nil
	}
	n := to - from
	list := [][]byte{make([]byte, 0, n)}
	for _, c := range folded[from:to] {
		heads := len(list)
		for i := range heads {
			for _, b := range c.bytes[1:c.n] {
				list = append(list, append(append(make([]byte, 0, n), list[i]...), b))
			}
			list[i] = append(list[i], c.bytes[0])
		}
	}
	out := make([]string, len(list))
	for i := range list {
		out[i] = string(list[i])
	}
	return out
}

// telling returns the stretch that is long and may be few strings, or 0, 0.
func telling(folded []choice) (from, to int) {
	most := 0
	for i := range folded {
		product := 1
		for k := i; k < len(folded) && folded[k].n > 0; k++ {
			if product *= folded[k].n; product > mostSpread {
				break
			}
			n := k + 1 - i
			if score := 4*n - 3*bits.Len(uint(product-1)); n >= leastString && score > most {
				from, to, most = i, k+1, score
			}
		}
		if to == len(folded) && most == 4*(to-from) {
			break // one string, and what starts later is shorter
		}
	}
	return from, to
}

// A choice is a few bytes, or none when there would be more.
type choice struct {
	bytes [4]byte
	n     int
}

// fold returns the bytes of the set, letters lower-cased.
func fold(s *Set) (c choice) {
	if s.Len() > 2*len(c.bytes) {
		return c
	}
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			b := byte(w<<6 | bits.TrailingZeros64(word))
			if 'A' <= b && b <= 'Z' {
				b |= 0x20
			}
			if slices.Contains(c.bytes[:c.n], b) {
				continue
			}
			if c.n == len(c.bytes) {
				return choice{}
			}
			c.bytes[c.n] = b
			c.n++
		}
	}
	return c
}
