package regex

import (
	"math"
	"slices"
)

// A place is where the sequences of a need sit in a match.
type place uint8

const (
	placeInner  place = iota // somewhere in it
	placePrefix              // every match begins with one
	placeExact               // a match is one, and one found anywhere is a match
)

// A need is what every matching line contains.
type need struct {
	alternatives []Sequence // at least one of them; nil when nothing is known that is worth looking for
	at           place
	index        [][]string // of each list at least one, ASCII letters lower-cased; nil when nothing is known
}

// How far the analysis goes. Beyond, it forgets something rather than grow.
const (
	mostProduct = 16   // alternatives that two parts in a row may multiply to
	mostUnion   = 64   // alternatives that parts to choose from may add up to
	mostSets    = 1024 // sets in all alternatives together
	mostLength  = 256  // sets in a row
	mostEdge    = 32   // sets in a row at the start or end of something longer
	mostRun     = 8    // sets added to an edge only because the characters are of few kinds
	mostCopies  = 64   // copies of a repeated part
)

// needs finds out what a line must contain to match n.
func needs(n *node) need {
	p := analyse(n)
	f := p.seal()
	w := need{index: f.groups}
	if f.cost < useless {
		w.alternatives, w.at = f.best, f.at
	}
	return w
}

// A literals is what is known about the texts that a piece of a pattern matches.
// Slices of sequences are shared between parts and never written to.
type literals struct {
	known bool       // exact says something
	exact []Sequence // every text is one of these
	sure  bool       // and every one of these is a match, wherever it stands

	prefix, suffix []Sequence // every text begins, ends with one of these; nil when not known

	all   Set  // no text has other bytes
	wide  bool // all is nearly everything
	least int  // no text is shorter
	found finds
}

// analyse works out what is known about n.
func analyse(n *node) literals {
	switch n.kind {
	case kindClass:
		return classPart(n.runes)
	case kindBytes:
		set := Set(*n.bytes)
		return literals{known: true, sure: true, exact: []Sequence{{set}}, all: set, wide: set.Share() > wide, least: 1, found: noFinds()}
	case kindConcat:
		return concatPart(n.subs)
	case kindEither:
		return eitherPart(n.subs)
	case kindRepeat:
		return repeatPart(n)
	}
	return emptyPart(n.kind == kindEmpty)
}

// emptyPart is the empty text. It is not sure to match where n is a look.
func emptyPart(sure bool) literals {
	return literals{known: true, sure: sure, exact: []Sequence{{}}, found: noFinds()}
}

// prefixes returns what the texts begin with.
func (p *literals) prefixes() []Sequence {
	if p.known {
		return p.exact
	}
	return p.prefix
}

// end returns what the texts end with.
func (p *literals) end() []Sequence {
	if p.known {
		return p.exact
	}
	return p.suffix
}

// open makes p one of which only the edges are known.
func (p *literals) open() {
	if p.known {
		p.prefix, p.suffix = edge(p.exact, false), edge(p.exact, true)
		p.known, p.exact = false, nil
	}
	p.sure = false
}

// seal returns all finds of p, for when nothing will be added to it.
func (p *literals) seal() finds {
	f := p.found.clone()
	if p.known {
		at := placePrefix
		if p.sure {
			at = placeExact
		}
		f.add(p.exact, at)
		return f
	}
	f.add(p.prefix, placePrefix)
	f.add(p.suffix, placeInner)
	return f
}

// then makes p what is known about a text of p with one of q behind it.
func (p *literals) then(q *literals) {
	p.found.include(&q.found)
	p.cover(q)
	p.least = min(p.least+q.least, mostLength)
	joined, ok := cross(p.end(), q.prefixes())
	switch {
	case p.known && q.known && ok:
		p.exact, p.sure = joined, p.sure && q.sure
	case p.known:
		if !ok {
			p.found.add(q.prefixes(), placeInner)
			joined = p.exact
		}
		p.prefix, p.suffix = edge(joined, false), edge(q.end(), true)
		if !q.known {
			p.suffix = p.run(p.suffix, true)
		}
		p.known, p.exact, p.sure = false, nil, false
	case q.known:
		if !ok {
			p.found.add(p.suffix, placeInner)
			joined = q.exact
		}
		p.suffix = edge(joined, true)
		p.prefix = p.run(p.prefix, false)
	default:
		if ok {
			p.found.add(joined, placeInner)
		} else {
			p.found.add(p.suffix, placeInner)
			p.found.add(q.prefix, placeInner)
		}
		p.prefix = p.run(p.prefix, false)
		p.suffix = p.run(q.suffix, true)
	}
}

// cover adds the bytes of q to those of p.
func (p *literals) cover(q *literals) {
	if all := union(p.all, q.all); all != p.all {
		p.all = all
		p.wide = p.wide || q.wide || all.Share() > wide
	}
}

// run lengthens an edge that is one sequence, or not known, by the set of all
// bytes of the text, up to the least length that it has.
func (p *literals) run(list []Sequence, end bool) []Sequence {
	if len(list) > 1 || p.wide {
		return list
	}
	var s Sequence
	if len(list) == 1 {
		s = list[0]
	}
	more := min(p.least, mostRun) - len(s)
	if more <= 0 {
		return list
	}
	sets := slices.Repeat(Sequence{p.all}, more)
	if end {
		return []Sequence{slices.Concat(sets, s)}
	}
	return []Sequence{slices.Concat(s, sets)}
}

// concatPart puts the subs behind each other. Where some have several
// alternatives it does so a second time with those blurred into one: what lies
// between them may be worth more than all their combinations.
func concatPart(subs []*node) literals {
	parts := make([]literals, 0, len(subs))
	several := false
	for _, n := range subs {
		q := analyse(n)
		several = several || q.known && len(q.exact) > 1
		if last := len(parts) - 1; last >= 0 && parts[last].appends(&q) {
			continue
		}
		if q.isOne() {
			q.exact = []Sequence{slices.Clone(q.exact[0])}
		}
		parts = append(parts, q)
	}
	p := emptyPart(true)
	for i := range parts {
		p.then(&parts[i])
	}
	if several {
		q := emptyPart(false)
		for i := range parts {
			blurred := parts[i].blur()
			q.then(&blurred)
		}
		sealed := q.seal()
		p.found.include(&sealed)
	}
	return p
}

// isOne reports whether p is one sequence.
func (p *literals) isOne() bool { return p.known && len(p.exact) == 1 }

// appends puts q behind p if both are one sequence, and p's is not shared. It then saves copying.
func (p *literals) appends(q *literals) bool {
	if !p.isOne() || !q.isOne() || len(p.exact[0])+len(q.exact[0]) > mostLength {
		return false
	}
	p.found.include(&q.found)
	p.exact[0] = append(p.exact[0], q.exact[0]...)
	p.cover(q)
	p.sure = p.sure && q.sure
	p.least = min(p.least+q.least, mostLength)
	return true
}

// blur makes one alternative of several.
func (p *literals) blur() literals {
	q := *p
	q.found = noFinds()
	if !p.known || len(p.exact) < 2 {
		return q
	}
	q.sure = false
	short, long := len(p.exact[0]), 0
	for _, s := range p.exact {
		short, long = min(short, len(s)), max(long, len(s))
	}
	q.prefix = []Sequence{blur(p.exact, short, false)}
	if short == long {
		q.exact = q.prefix
		return q
	}
	q.suffix = []Sequence{blur(p.exact, short, true)}
	q.known, q.exact = false, nil
	return q
}

func eitherPart(subs []*node) literals {
	p := literals{known: true, sure: true, least: math.MaxInt, found: noFinds()}
	parts := make([]literals, len(subs))
	var exact []Sequence
	for i, n := range subs {
		q := analyse(n)
		parts[i] = q
		p.cover(&q)
		p.least = min(p.least, q.least)
		p.known, p.sure = p.known && q.known, p.sure && q.sure
		exact = append(exact, q.exact...)
	}
	if p.known {
		if exact = merge(exact); len(exact) <= mostUnion && totalSets(exact) <= mostSets {
			p.exact = exact
			return p
		}
	}
	if p.known, p.sure = false, false; len(parts) <= mostUnion {
		p.found = eitherFinds(parts)
	}
	p.prefix, p.suffix = eitherEdge(parts, false), eitherEdge(parts, true)
	if len(p.prefix) > mostUnion {
		p.prefix = fewer(p.prefix, mostProduct)
	}
	if len(p.suffix) > mostUnion {
		p.suffix = nil
	}
	return p
}

// eitherEdge returns what the parts begin or end with, nil when that is not
// known of all.
func eitherEdge(parts []literals, end bool) (list []Sequence) {
	for i := range parts {
		q := parts[i].prefixes()
		if end {
			q = parts[i].end()
		}
		if q == nil {
			return nil
		}
		list = append(list, edge(q, end)...)
	}
	return merge(list)
}

// eitherFinds makes one find of the best ones of all parts.
func eitherFinds(parts []literals) finds {
	var best []Sequence
	var strings []string
	searchable, indexable := true, true
	for i := range parts {
		f := parts[i].seal()
		searchable = searchable && f.best != nil
		best = append(best, f.best...)
		g := f.group()
		indexable = indexable && g != nil && len(strings)+len(g) <= mostUnion
		strings = append(strings, g...)
	}
	f := noFinds()
	if searchable {
		f.consider(merge(best), placeInner)
	}
	if indexable {
		f.demand(strings)
	}
	return f
}

func repeatPart(n *node) literals {
	sub := analyse(n.subs[0])
	switch {
	case n.max == 0:
		return emptyPart(true)
	case n.min == 0 && n.max == 1 && sub.known && len(sub.exact) < mostProduct:
		sub.exact = append(slices.Clip(sub.exact), Sequence{})
		sub.least, sub.found = 0, noFinds()
		return sub
	case n.min == 0:
		return literals{all: sub.all, wide: sub.wide, found: noFinds()}
	}
	p, copies := sub, 1
	p.found = sub.found.clone()
	most := mostRun
	if sub.known {
		most = mostCopies
	}
	for copies < min(n.min, most) && (p.known || !sub.known) {
		p.then(&sub)
		copies++
	}
	if copies < n.min || n.max != n.min {
		p.open()
	}
	return p
}
