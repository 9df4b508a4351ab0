package regex

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// naive is what Next has to find.
func naive(alts []Sequence, text []byte, from int) int {
	for p := from; p < len(text); p++ {
		for _, s := range alts {
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

// seq writes a sequence: a letter is a set of one, [..] one of several and
// ranges, ~x the letter x in both cases.
func seq(s string) (q Sequence) {
	for i := 0; i < len(s); i++ {
		var set Set
		switch s[i] {
		case '[':
			for i++; s[i] != ']'; i++ {
				if s[i+1] == '-' {
					set.Add(s[i], s[i+2])
					i += 2
				} else {
					set.Add(s[i], s[i])
				}
			}
		case '~':
			i++
			set.Add(s[i], s[i])
			set.Add(s[i]^0x20, s[i]^0x20)
		default:
			set.Add(s[i], s[i])
		}
		q = append(q, set)
	}
	return q
}

func seqs(list ...string) (out []Sequence) {
	for _, s := range list {
		out = append(out, seq(s))
	}
	return out
}

func TestWays(t *testing.T) {
	if !vectors() {
		t.Skip("no vector instructions here")
	}
	tests := []struct {
		alts           []Sequence
		vector, simple way
	}{
		{seqs("x"), wayByte, wayByte},
		{seqs("ServeHTTP"), wayPair, wayRare},
		{seqs("seit"), wayPair, wayLiteral},
		{seqs("~d~e~p"), wayPair, wayTable},
		{seqs("TODO", "FIXME"), wayTeddy, wayTable},
		{seqs("[A-Z][A-Z][A-Z]_[0-9]"), wayTeddy, wayRare},
		{seqs("[0-9][0-9]"), wayTeddy, wayTable},
	}
	for _, tt := range tests {
		if f := NewFinder(tt.alts, false); f == nil || f.way != tt.vector {
			t.Errorf("%v: %v", tt, f)
		}
		if f := NewFinder(tt.alts, true); f == nil || f.way != tt.simple {
			t.Errorf("portable %v: %v", tt, f)
		}
	}
}

func TestNoFinder(t *testing.T) {
	for _, alts := range [][]Sequence{nil, {{}}, seqs("abc", ""), seqs(" "), seqs("[a-z]"), seqs("[a-z ][a-z ]"), make([]Sequence, MaxSequences+1)} {
		if NewFinder(alts, false) != nil {
			t.Errorf("%v: a finder", alts)
		}
	}
}

func TestScanNext(t *testing.T) {
	text := []byte(strings.Repeat("the quick brown fox jumps over the lazy DOG 1984-02-03 and ", 9))
	for _, alts := range [][]Sequence{
		seqs("x"), seqs("fox"), seqs("~d~o~g"), seqs("dog", "quick", "lazy D"), seqs("[0-9][0-9]-[0-9]"),
		seqs("no such"), seqs("zq", "qz"), seqs("and "), seqs("zz"),
	} {
		for n := range 150 {
			for _, from := range []int{0, 1, n / 2, n - 1, n, n + 1} {
				from = max(from, 0)
				want := naive(alts, text[:n], from)
				for _, portable := range []bool{false, true} {
					f := NewFinder(alts, portable)
					if got := f.Next(text[:n], from); got != want {
						t.Fatalf("%v in %q from %d, portable %v: %d, want %d", alts, text[:n], from, portable, got, want)
					}
				}
			}
		}
	}
}

// decode makes sequences of bytes: how many, then for each its length and its
// sets, each a kind and one or two bytes.
func decode(data []byte) (alts []Sequence) {
	next := func() byte {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return b
	}
	for range next()%MaxSequences + 1 {
		var s Sequence
		for range next()%9 + 1 {
			var set Set
			kind, b := next(), next()
			switch kind % 6 {
			case 0:
				set.Add(b, max(b, next()))
			case 1:
				set.Add(b, b)
				set.Add(b^0x20, b^0x20)
			case 2:
				set.Add(b, b)
				set.Add(next(), b)
			default:
				set.Add(b, b)
			}
			s = append(s, set)
		}
		alts = append(alts, s)
	}
	return alts
}

func check(t *testing.T, alts []Sequence, text []byte) {
	t.Helper()
	for _, portable := range []bool{false, true} {
		f := NewFinder(alts, portable)
		if f == nil {
			continue
		}
		for from := 0; from <= len(text); {
			want := naive(alts, text, from)
			if got := f.Next(text, from); got != want {
				t.Fatalf("way %d, %v in %q from %d: %d, want %d", f.way, alts, text, from, got, want)
			}
			if want < 0 {
				break
			}
			from = want + 1
		}
	}
}

func FuzzFinder(f *testing.F) {
	f.Fuzz(func(t *testing.T, shape, text []byte) {
		if len(text) > 4096 {
			return
		}
		check(t, decode(shape), text)
	})
}

// TestScanRandom plants sequences into text of few letters, so that there are many
// near and true hits.
func TestScanRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		shape := make([]byte, 60)
		for i := range shape {
			shape[i] = byte(r.Uint32())
			if r.IntN(2) == 0 {
				shape[i] = "qzXQj\xc3\xa9"[r.IntN(7)]
			}
		}
		shape[0] = byte(r.IntN(4) * r.IntN(5))
		alts := decode(shape)
		text := make([]byte, r.IntN(300))
		for i := range text {
			text[i] = "qzXQjJxZ\xc3\xa9\x83 ab"[r.IntN(14)]
		}
		for range r.IntN(6) {
			s := alts[r.IntN(len(alts))]
			if at := r.IntN(len(text) + 1); at+len(s) <= len(text) {
				for i := range s {
					for b := range 256 {
						if s[i].Has(byte(b)) && r.IntN(3) > 0 {
							text[at+i] = byte(b)
						}
					}
				}
			}
		}
		check(t, alts, text)
	}
}

func TestCost(t *testing.T) {
	for _, alts := range [][]Sequence{nil, seqs(""), seqs("a", ""), seqs("[a-z]")} {
		if look, hit := Cost(alts); look != 1 || hit != 1 {
			t.Errorf("%v costs %v and hits %v", alts, look, hit)
		}
	}
	last := 0.0
	for _, alts := range [][]Sequence{seqs("zqx"), seqs("the"), seqs("zqx", "xqz"), seqs("the", "here"), seqs("[a-f][a-f][a-f]")} {
		look, hit := Cost(alts)
		if look < last || hit > 0.1 {
			t.Errorf("%v costs %v and hits %v", alts, look, hit)
		}
		last = look
	}
}

func TestFrequencies(t *testing.T) {
	total := 0
	for b := range 256 {
		total += int(frequencies[2*b])<<8 | int(frequencies[2*b+1])
	}
	if len(frequencies) != 512 || total < 1<<spaceShift-500 || total > 1<<spaceShift+1500 {
		t.Errorf("%d bytes of table, sum %d", len(frequencies), total)
	}
}
