package replace

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// alikeEnough is how alike a block must be in the safe profile.
const alikeEnough = 0.65

// quotedBlocks is the safe form of the two strategies that go by the first and
// the last line. It yields the blocks in which those are equal but for the
// blanks around them and every other line that is not blank was quoted, in
// order and one to one: with the same words and operators. Blank lines between
// may be more or fewer.
//
// With context false the block must be alike and of about the size quoted;
// else it must have as many lines as quoted, half of them equal.
func (f *search) quotedBlocks(context bool) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if strings.Count(f.old, "\n") < 2 || !f.anchorsThere() {
			return
		}
		q := f.quote()
		for a := range allMatches(q.keys, q.pattern) {
			b, ok := q.matchedLines(f, a)
			if !ok {
				continue
			}
			f.steps -= len(q.quoted)
			if context {
				ok = b.last-b.first+1 == len(f.indexLines().oid) && f.halfEqual(b)
			} else {
				ok = f.alikeQuoted(q, a)
			}
			if f.steps < 0 || ok && !yield(f.indexLines().c.span(b.first, b.last)) {
				return
			}
		}
	}
}

// anchorsThere reports whether the content has the first and the last line.
func (f *search) anchorsThere() bool {
	p := f.indexLines()
	first, last := false, false
	for _, id := range p.cid {
		first = first || id == p.oid[0]
		last = last || id == p.oid[len(p.oid)-1]
	}
	return first && last
}

// A quote is the lines of both texts that are not blank, with keys that are
// equal where their words are.
type quote struct {
	keys    []int32 // of the content
	lines   []int32 // where they are in the content
	pattern []int32 // keys of the quoted text
	quoted  []int   // where they are in the quoted text
}

func (f *search) quote() *quote {
	if f.quotes != nil {
		return f.quotes
	}
	p, q := f.indexLines(), &quote{}
	f.quotes = q
	known := map[string]int32{}
	var buf []byte
	for j := range p.oid {
		line := trim(p.o.lineAt(j))
		if line == "" {
			continue
		}
		buf = appendKey(buf[:0], line)
		key, ok := known[string(buf)]
		if !ok {
			key = int32(len(known))
			known[string(buf)] = key
		}
		q.pattern, q.quoted = append(q.pattern, key), append(q.quoted, j)
	}
	for i := range p.cid {
		line := trim(p.c.lineAt(i))
		if line == "" {
			continue
		}
		buf = appendKey(buf[:0], line)
		key, ok := known[string(buf)]
		if !ok {
			key = -1
		}
		q.keys, q.lines = append(q.keys, key), append(q.lines, int32(i))
	}
	return q
}

// matchedLines returns the lines that the match at a stands for, with as many blank
// lines before and after as were quoted, and whether it fits: the anchors
// equal, and the size about as quoted.
func (q *quote) matchedLines(f *search, a int) (block, bool) {
	p := f.indexLines()
	n, end := len(p.oid), a+len(q.quoted)-1
	b := block{
		first: int(q.lines[a]) - q.quoted[0],
		last:  int(q.lines[end]) + n - 1 - q.quoted[len(q.quoted)-1],
	}
	low, high := 0, p.c.len()-1 // the blank lines around
	if a > 0 {
		low = int(q.lines[a-1]) + 1
	}
	if end+1 < len(q.lines) {
		high = int(q.lines[end+1]) - 1
	}
	if b.first < low || b.last > high || p.cid[b.first] != p.oid[0] || p.cid[b.last] != p.oid[n-1] {
		return b, false
	}
	size := b.last - b.first + 1
	return b, max(size-n, n-size) <= max(1, n/4)
}

// alikeQuoted compares the lines the match at a pairs, but for the anchors.
func (f *search) alikeQuoted(q *quote, a int) bool {
	p := f.indexLines()
	sum, n := 0.0, 0
	for k, j := range q.quoted {
		i := int(q.lines[a+k])
		if j == 0 || j == len(p.oid)-1 {
			continue
		}
		n++
		if p.cid[i] == p.oid[j] {
			sum++
			continue
		}
		s, ok := f.lineSimilarity(trim(p.c.lineAt(i)), trim(p.o.lineAt(j)))
		if !ok {
			return false
		}
		sum += s
	}
	return n == 0 || sum/float64(n) >= alikeEnough
}

// appendKey appends what must be equal in two lines for one to stand for the
// other: the words and the operators. Blanks, quotes and soft punctuation may
// differ, but not in a line that has nothing else.
func appendKey(dst []byte, line string) []byte {
	words := hasWord(line)
	afterWord, gap := false, false
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		dots := ellipsis(line[i:])
		switch {
		case dots > 0:
			dst, size, afterWord = append(dst, "…"...), dots, false
		case strings.HasPrefix(line[i:], ".."):
			dst, size, afterWord = append(dst, ".."...), 2, false
		case isWord(r):
			if afterWord && gap {
				dst = append(dst, ' ')
			}
			dst = append(dst, line[i:i+size]...)
			afterWord, gap = true, false
		case isSpace(r) || words && soft(r):
			gap = true
		default:
			dst, afterWord = append(dst, sameSign(line[i:i+size], r)...), false
		}
		i += size
	}
	return dst
}

// ellipsis returns the length of the dots s begins with, if they say that
// something is left out.
func ellipsis(s string) int {
	const sign = "…"
	if strings.HasPrefix(s, sign) {
		return len(sign)
	}
	n := 0
	for n < len(s) && s[n] == '.' {
		n++
	}
	if n < 3 {
		return 0
	}
	return n
}

// soft reports whether a sign may be there or not.
func soft(r rune) bool {
	return strings.ContainsRune(",;:.()[]{}", r) || isQuote(r)
}

func isQuote(r rune) bool {
	switch r {
	case '\'', '"', '`', '´', '«', '»', '‹', '›', '′', '″':
		return true
	}
	return r >= '‘' && r <= '‟'
}

// sameSign folds the signs that are often exchanged for one another.
func sameSign(sign string, r rune) string {
	switch {
	case isQuote(r):
		return `"`
	case r >= '‐' && r <= '―' || r == '−':
		return "-"
	}
	return sign
}
