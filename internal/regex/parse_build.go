package regex

import (
	"slices"
	"unicode/utf8"
)

// sizeLimit is how many states the automaton of a pattern may need.
const sizeLimit = 2_000_000

// classNode makes a node of a class. Byte classes that hold no more than
// ASCII are classes of characters too.
func (p *parser) classNode(s set) *node {
	if p.hasFlag(flagUnicode) || len(s) == 0 || s[len(s)-1].hi < utf8.RuneSelf {
		n := p.newNode(kindClass)
		n.runes = s
		return n
	}
	n := p.newNode(kindBytes)
	n.bytes = &byteSet{}
	for _, r := range s {
		n.bytes.add(byte(r.lo), byte(r.hi))
	}
	return n
}

// concat makes one node of several that follow each other.
func concat(items []*node) *node {
	flat := items[:0:0]
	if !slices.ContainsFunc(items, func(n *node) bool { return n.kind == kindConcat || n.kind == kindEmpty }) {
		flat = items
	} else {
		for _, n := range items {
			switch n.kind {
			case kindEmpty:
			case kindConcat:
				flat = append(flat, n.subs...)
			default:
				flat = append(flat, n)
			}
		}
	}
	switch len(flat) {
	case 0:
		return &node{kind: kindEmpty}
	case 1:
		return flat[0]
	}
	return &node{kind: kindConcat, subs: flat}
}

// either makes one node of alternatives. Single characters become a class.
func either(items []*node) *node {
	flat := items[:0:0]
	runes, bytes, empty := true, true, true
	for _, n := range items {
		if n.kind == kindEither {
			flat = append(flat, n.subs...)
		} else {
			flat = append(flat, n)
		}
		runes = runes && n.kind == kindClass
		bytes = bytes && n.kind == kindBytes
		empty = empty && n.kind == kindEmpty
	}
	switch {
	case empty:
		return flat[0]
	case runes:
		var all set
		for _, n := range flat {
			all = append(all, n.runes...)
		}
		return &node{kind: kindClass, runes: normalizeRanges(all)}
	case bytes:
		all := *flat[0].bytes
		for _, n := range flat[1:] {
			for i := range all {
				all[i] |= n.bytes[i]
			}
		}
		return &node{kind: kindBytes, bytes: &all}
	}
	return &node{kind: kindEither, subs: flat}
}

// repeat makes a repetition. A node that matches only the empty text occurs once or not at all.
func repeat(n *node, low, high int, lazy bool) *node {
	if high != 0 && noRoom(n) {
		low, high = min(low, 1), 1
	}
	switch {
	case high == 0 || n.kind == kindEmpty:
		return &node{kind: kindEmpty}
	case low == 1 && high == 1:
		return n
	}
	return &node{kind: kindRepeat, subs: []*node{n}, min: low, max: high, lazy: lazy}
}

// noRoom reports whether a node can match nothing but the empty text.
func noRoom(n *node) bool {
	switch n.kind {
	case kindEmpty, kindLook:
		return true
	case kindConcat, kindEither, kindRepeat:
		for _, s := range n.subs {
			if !noRoom(s) {
				return false
			}
		}
		return true
	}
	return false
}

// checkTree checks the whole tree and takes \n out of it.
func (p *parser) checkTree(n *node) (*node, *SyntaxError) {
	if !p.cutNewline(n) {
		return nil, p.syntaxError(p.newline.pos, p.newline.end, `the literal "\n" is not allowed in a regex`)
	}
	if treeSize(n) >= sizeLimit {
		where := patternRange{0, len(p.src)}
		if p.big.end > 0 {
			where = p.big
		}
		return nil, p.tooBig(where)
	}
	return n, nil
}

func (p *parser) tooBig(where patternRange) *SyntaxError {
	return p.syntaxError(where.pos, where.end, "compiled regex exceeds size limit of 104857600")
}

// cutNewline takes \n out of all classes. It returns false if nothing is
// left of one of them.
func (p *parser) cutNewline(n *node) bool {
	switch n.kind {
	case kindClass:
		return p.cutClass(n)
	case kindBytes:
		n.bytes[0] &^= 1 << '\n'
	}
	for _, s := range n.subs {
		if !p.cutNewline(s) {
			return false
		}
	}
	return true
}

// shared is from how many ranges on it pays to share them.
const shared = 16

// cutClass takes \n out of a class. Classes that share their ranges go on
// sharing them.
func (p *parser) cutClass(n *node) bool {
	if len(n.runes) == 0 || n.runes[0].lo > '\n' {
		return true
	}
	key := &n.runes[0]
	s, ok := p.cuts[key]
	if !ok {
		s = set(n.runes).withoutNewline()
	}
	if !ok && len(s) >= shared {
		if p.cuts == nil {
			p.cuts = map[*runeRange]set{}
		}
		p.cuts[key] = s
	}
	n.runes = s
	return len(s) > 0
}

// treeSize returns about how many states the automaton of a tree has: one for each byte in a
// different context. It stops counting at sizeLimit.
func treeSize(n *node) int {
	total := 0
	switch n.kind {
	case kindClass:
		return classSize(n.runes)
	case kindRepeat:
		times := n.max
		if times < 0 {
			times = n.min + 1
		}
		one := treeSize(n.subs[0]) + 1
		if times > sizeLimit/one {
			return sizeLimit
		}
		return max(1, times) * one
	case kindConcat, kindEither:
		for _, s := range n.subs {
			total = min(sizeLimit, total+treeSize(s))
		}
		return total
	}
	return 1
}

// classSize returns about how many states it takes to read one character of
// a set as UTF-8: ranges that share their leading bytes share states. Many
// ranges are not looked at one by one; none of the great classes needs more
// states than it has ranges.
func classSize(s set) int {
	if len(s) > 64 {
		return len(s)
	}
	total := 1
	last := rune(0)
	for _, r := range s {
		if r.hi < utf8.RuneSelf {
			continue
		}
		lo := max(r.lo, utf8.RuneSelf)
		for shift := 6; shift <= 18 && r.hi>>shift > 0; shift += 6 {
			if lo>>shift != last>>shift {
				total++
			}
			if r.hi>>shift != lo>>shift {
				total++
			}
		}
		last = r.hi
	}
	return total
}
