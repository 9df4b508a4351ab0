package regex

import (
	"cmp"
	"slices"
)

// wide is the share of all bytes from which on a set says too little to be
// added to an edge by itself.
const wide = 0.35

func union(a, b Set) Set {
	for i := range a {
		a[i] |= b[i]
	}
	return a
}

// totalSets counts the sets of all sequences.
func totalSets(list []Sequence) (n int) {
	for _, s := range list {
		n += len(s)
	}
	return n
}

// cross returns each of a with each of b behind it; not ok when these would be
// too many or too long. What is not known (nil) is as good as the empty text,
// unless both are.
func cross(a, b []Sequence) (list []Sequence, ok bool) {
	if a == nil || b == nil {
		return append(a, b...), true
	}
	n := len(a) * len(b)
	if n > mostProduct && len(a) > 1 && len(b) > 1 || n > mostUnion {
		return nil, false
	}
	if totalSets(a)*len(b)+totalSets(b)*len(a) > mostSets {
		return nil, false
	}
	list = make([]Sequence, 0, n)
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > mostLength {
				return nil, false
			}
			switch {
			case len(x) == 0:
				list = append(list, y)
			case len(y) == 0:
				list = append(list, x)
			default:
				list = append(list, slices.Concat(x, y))
			}
		}
	}
	return merge(list), true
}

// edge cuts the sequences to what is kept of the start or end of a longer text.
func edge(list []Sequence, end bool) []Sequence {
	if !slices.ContainsFunc(list, func(s Sequence) bool { return len(s) > mostEdge }) {
		return list
	}
	out := make([]Sequence, len(list))
	for i, s := range list {
		switch {
		case len(s) <= mostEdge:
			out[i] = s
		case end:
			out[i] = s[len(s)-mostEdge:]
		default:
			out[i] = slices.Clip(s[:mostEdge])
		}
	}
	return merge(out)
}

// blur returns the one sequence of length n that all of the list begin, or
// end, with.
func blur(list []Sequence, n int, end bool) Sequence {
	out := make(Sequence, n)
	for _, s := range list {
		if end {
			s = s[len(s)-n:]
		}
		for k := range out {
			out[k] = union(out[k], s[k])
		}
	}
	return out
}

// merge makes one sequence of two wherever that stands for the same texts:
// they differ in one set only, or not at all.
func merge(list []Sequence) []Sequence {
	if len(list) < 2 || len(list) > 2*mostUnion {
		return list
	}
	out := make([]Sequence, 0, len(list))
next:
	for _, s := range list {
		for again := true; again; {
			again = false
			for i, t := range out {
				at, ok := differ(s, t)
				if !ok {
					continue
				}
				if at < 0 {
					continue next
				}
				s = slices.Clone(s)
				s[at] = union(s[at], t[at])
				out = slices.Delete(out, i, i+1)
				again = true
				break
			}
		}
		out = append(out, s)
	}
	return out
}

// differ returns the only place at which s and t differ, or -1; not ok when
// there are more.
func differ(s, t Sequence) (at int, ok bool) {
	if len(s) != len(t) {
		return 0, false
	}
	at = -1
	for k := range s {
		if s[k] != t[k] {
			if at >= 0 {
				return 0, false
			}
			at = k
		}
	}
	return at, true
}

// fewer blurs neighbours of the sorted list until at most n are left.
func fewer(list []Sequence, n int) []Sequence {
	if len(list) <= n {
		return list
	}
	list = slices.Clone(list)
	slices.SortFunc(list, compare)
	out := make([]Sequence, 0, n)
	for i := range n {
		group := list[i*len(list)/n : (i+1)*len(list)/n]
		short := mostEdge
		for _, s := range group {
			short = min(short, len(s))
		}
		heads := make([]Sequence, len(group))
		for k, s := range group {
			heads[k] = s[:short]
		}
		out = append(out, blur(heads, short, false))
	}
	return out
}

// compare orders sequences such that those with the same first bytes are
// neighbours.
func compare(s, t Sequence) int {
	for k := range min(len(s), len(t)) {
		for w := range s[k] {
			if c := cmp.Compare(s[k][w], t[k][w]); c != 0 {
				return c
			}
		}
	}
	return cmp.Compare(len(s), len(t))
}
