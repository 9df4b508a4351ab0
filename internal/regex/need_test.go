package regex

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A needSource makes trees and texts of a stream of bytes.
type needSource struct{ data []byte }

func (s *needSource) n(limit int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % limit
}

func needRange(lo, hi rune) *node {
	return &node{kind: kindClass, runes: []runeRange{{lo, hi}}}
}

func needClass(runes ...rune) *node {
	n := &node{kind: kindClass}
	slices.Sort(runes)
	for _, r := range slices.Compact(runes) {
		n.runes = append(n.runes, runeRange{r, r})
	}
	return n
}

// leaf makes a piece of one character or none.
func (s *needSource) leaf() *node {
	switch s.n(14) {
	case 0:
		return &node{kind: kindEmpty}
	case 1:
		return &node{kind: kindLook, look: look(s.n(16))}
	case 2:
		return needClass('s', 'S', 'ſ')
	case 3:
		return needClass('k', 'K', '\u212a')
	case 4:
		return needClass('é', 'É')
	case 5:
		return needRange('0', '9')
	case 6:
		return needRange('A', 'Z')
	case 7: // nearly anything
		return &node{kind: kindClass, runes: []runeRange{{0, 9}, {11, 'w'}, {'y', 0xd7ff}, {0xe000, utf8.MaxRune}}}
	case 8:
		return needRange(rune('a'+s.n(4)), rune(0x7f+s.n(256)*33))
	case 9:
		set := &byteSet{}
		set.add(byte(0x80+s.n(64)), 0xff)
		return &node{kind: kindBytes, bytes: set}
	case 10:
		r := rune('a' + s.n(26))
		return needClass(r, r-32)
	}
	r := rune("abcdefgABC_-xyzαω世😀"[s.n(15)])
	return needRange(r, r)
}

func (s *needSource) tree(depth int) *node {
	kind := s.n(8)
	if depth == 0 {
		kind = 7
	}
	switch kind {
	case 0, 1, 2, 3:
		n := &node{kind: kindConcat}
		for range 2 + s.n(5) {
			n.subs = append(n.subs, s.tree(depth-1))
		}
		return n
	case 4:
		n := &node{kind: kindEither}
		for range 2 + s.n(4) {
			n.subs = append(n.subs, s.tree(depth-1))
		}
		return n
	case 5:
		n := &node{kind: kindRepeat, min: s.n(4), subs: []*node{s.tree(depth - 1)}}
		if n.max = n.min + s.n(3); s.n(3) == 0 {
			n.max = -1
		}
		return n
	}
	return s.leaf()
}

// text adds to out a text that n matches, but for its looks; not ok when a
// class had nothing to offer.
func (s *needSource) text(out []byte, n *node) []byte {
	switch n.kind {
	case kindClass:
		r := n.runes[s.n(len(n.runes))]
		c := r.lo + rune(s.n(256)*256+s.n(256))%(r.hi-r.lo+1)
		return utf8.AppendRune(out, c)
	case kindBytes:
		for b := s.n(256); ; b++ {
			if n.bytes.contains(byte(b)) {
				return append(out, byte(b))
			}
		}
	case kindConcat:
		for _, sub := range n.subs {
			out = s.text(out, sub)
		}
	case kindEither:
		return s.text(out, n.subs[s.n(len(n.subs))])
	case kindRepeat:
		most := n.max
		if most < 0 {
			most = n.min + 3
		}
		for range n.min + s.n(most-n.min+1) {
			out = s.text(out, n.subs[0])
		}
	}
	return out
}

// needEnds returns where matches of n that start at one of from may end. Looks
// let everything pass.
func needEnds(n *node, text []byte, from map[int]bool) map[int]bool {
	to := map[int]bool{}
	switch n.kind {
	case kindClass:
		for p := range from {
			r, size := utf8.DecodeRune(text[p:])
			if r == utf8.RuneError && size < 2 {
				continue
			}
			for _, c := range n.runes {
				if c.lo <= r && r <= c.hi {
					to[p+size] = true
				}
			}
		}
		return to
	case kindBytes:
		for p := range from {
			if p < len(text) && n.bytes.contains(text[p]) {
				to[p+1] = true
			}
		}
		return to
	case kindConcat:
		for _, sub := range n.subs {
			from = needEnds(sub, text, from)
		}
	case kindEither:
		for _, sub := range n.subs {
			for p := range needEnds(sub, text, from) {
				to[p] = true
			}
		}
		return to
	case kindRepeat:
		most := n.max
		if most < 0 {
			most = n.min + len(text) + 1
		}
		for i := 0; i <= most && len(from) > 0; i++ {
			if i >= n.min {
				for p := range from {
					to[p] = true
				}
			}
			from = needEnds(n.subs[0], text, from)
		}
		return to
	}
	return from
}

func needMatches(n *node, text []byte) bool {
	from := map[int]bool{}
	for p := range len(text) + 1 {
		from[p] = true
	}
	return len(needEnds(n, text, from)) > 0
}

func hasLook(n *node) bool {
	return n.kind == kindLook || !(n.kind == kindRepeat && n.max == 0) && slices.ContainsFunc(n.subs, hasLook)
}

// needStands returns where a sequence of the list stands first, or -1.
func needStands(list []Sequence, text []byte) int {
	for p := range text {
		for _, s := range list {
			ok := p+len(s) <= len(text)
			for i := 0; ok && i < len(s); i++ {
				ok = s[i].Has(text[p+i])
			}
			if ok {
				return p
			}
		}
	}
	return -1
}

// needFold folds as the index does.
func needFold(text []byte) string {
	out := bytes.Clone(text)
	for i, b := range out {
		if 'A' <= b && b <= 'Z' {
			out[i] |= 0x20
		}
	}
	return string(out)
}

// checkNeed holds what is claimed against a text that matches n as it stands.
func checkNeed(t *testing.T, n *node, w need, match []byte) {
	t.Helper()
	if len(w.alternatives) > MaxSequences {
		t.Fatalf("%d alternatives", len(w.alternatives))
	}
	if w.alternatives != nil {
		at := needStands(w.alternatives, match)
		if at < 0 {
			t.Fatalf("%q has none of %v", match, w.alternatives)
		}
		if at != 0 && w.at != placeInner {
			t.Fatalf("%q does not begin with one of %v", match, w.alternatives)
		}
		if w.at == placeExact && hasLook(n) {
			t.Fatal("a need with looks is called exact")
		}
	}
	folded := needFold(match)
	for _, group := range w.index {
		if len(group) == 0 || !slices.ContainsFunc(group, func(s string) bool { return strings.Contains(folded, s) }) {
			t.Fatalf("%q has none of %q", match, group)
		}
		for _, s := range group {
			if len(s) < leastString {
				t.Fatalf("%q is too short", s)
			}
		}
	}
}

func checkTree(t *testing.T, data []byte) {
	t.Helper()
	s := &needSource{data}
	n := s.tree(4)
	w := needs(n)
	for range 4 {
		match := s.text(nil, n)
		if len(match) > 1000 || bytes.IndexByte(match, '\n') >= 0 {
			continue
		}
		if len(match) < 30 && !needMatches(n, match) {
			t.Fatalf("the texts of a tree should match it: %q", match)
		}
		checkNeed(t, n, w, match)
	}
	if w.at == placeExact && w.alternatives != nil {
		text := s.data[:min(len(s.data), 60)]
		if needStands(w.alternatives, text) >= 0 != needMatches(n, text) {
			t.Fatalf("%q: %v are not exact", text, w.alternatives)
		}
	}
}

func TestNeedsOfRandomTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		checkTree(t, data)
	}
}

func FuzzNeeds(f *testing.F) {
	f.Fuzz(checkTree)
}

// TestExactIsAMatch plants the sequences of exact needs in other text.
func TestExactIsAMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	seen := 0
	for range 8000 {
		data := make([]byte, 60)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		n := (&needSource{data}).tree(3)
		w := needs(n)
		if w.at != placeExact || len(w.alternatives) == 0 {
			continue
		}
		seen++
		text := []byte("ab")
		for _, set := range w.alternatives[r.IntN(len(w.alternatives))] {
			b := byte(r.Uint32())
			for !set.Has(b) && set.Len() > 0 {
				b++
			}
			text = append(text, b)
		}
		if text = append(text, "yz"...); needStands(w.alternatives, text) >= 0 && !needMatches(n, text) {
			t.Fatalf("%q holds one of %v and is no match", text, w.alternatives)
		}
	}
	if seen < 300 {
		t.Errorf("only %d exact needs", seen)
	}
}
