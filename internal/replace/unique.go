package replace

import (
	"hash/maphash"
	"math/bits"
	"strings"
)

// What may be read to see whether candidates are unique, in bytes: a constant
// and a multiple of the content. Past it a candidate counts as not unique.
const (
	maxScan    = 64 << 20
	scanFactor = 16
)

// occurrences returns the places of text in content from left to right, none
// overlapping another.
func occurrences(content, text string) []Span {
	if text == "" {
		return []Span{{}}
	}
	var out []Span
	for at := 0; ; {
		i := strings.Index(content[at:], text)
		if i < 0 {
			return out
		}
		out = append(out, Span{at + i, at + i + len(text)})
		at += i + len(text)
	}
}

// allPlaces is occurrences, with the last place also where it overlaps another:
// two places are two, even if not both can be replaced.
func allPlaces(content, text string) []Span {
	out := occurrences(content, text)
	if len(out) == 0 {
		return nil
	}
	if last := strings.LastIndex(content, text); last > out[len(out)-1].Start {
		out = append(out, Span{last, last + len(text)})
	}
	return out
}

// elsewhere reports whether the text of s is also at another place.
func (f *search) elsewhere(s Span) bool {
	text := f.content[s.Start:s.End]
	if text == "" {
		return f.content != ""
	}
	if f.scans < 0 {
		return true
	}
	after := strings.Index(f.content[s.Start+1:], text)
	if after >= 0 {
		f.scans -= after + len(text)
		return true
	}
	before := strings.Index(f.content[:s.End-1], text)
	f.scans -= len(f.content)
	return before >= 0
}

// A fingerprint stands for a text: texts with the same one are taken for
// equal. Its base is drawn anew for every search, so none can be forged.
type fingerprint struct {
	size int
	hash uint64
}

// A prefix knows the hash of the content up to the start of every line, from
// which follows the hash of any run of lines.
type prefix struct {
	seed maphash.Seed
	base uint64
	upTo []uint64
}

func (f *search) fingerprint(s Span) fingerprint {
	if f.raw == nil {
		f.raw = newPrefix(f.indexLines().c)
	}
	size, t := s.End-s.Start, f.indexLines().c
	i, j := t.lineOf(s.Start), t.lineOf(s.End)
	if int(t.start[i]) != s.Start || int(t.start[j+1])-1 != s.End {
		return fingerprint{size, maphash.String(f.raw.seed, f.content[s.Start:s.End])}
	}
	shifted := mulmod(f.raw.upTo[i], power(f.raw.base, size+1))
	return fingerprint{size, (f.raw.upTo[j+1] + prime - shifted) % prime}
}

func newPrefix(t *table) *prefix {
	p := &prefix{seed: maphash.MakeSeed(), upTo: make([]uint64, t.len()+1)}
	p.base = maphash.String(p.seed, "base")%(prime-512) + 256
	h := uint64(0)
	for i := range t.len() {
		line := t.lineAt(i)
		for j := range len(line) {
			h = mulmod(h, p.base) + uint64(line[j]) + 1
		}
		h = (mulmod(h, p.base) + '\n' + 1) % prime
		p.upTo[i+1] = h
	}
	return p
}

const prime = 1<<61 - 1

// mulmod multiplies modulo the prime. The factors may be a little above it.
func mulmod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	sum := hi<<3 | lo>>61
	sum += lo & prime
	if sum >= prime {
		sum -= prime
	}
	return sum
}

func power(base uint64, n int) uint64 {
	out := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out = mulmod(out, base)
		}
		base = mulmod(base, base)
	}
	return out
}
