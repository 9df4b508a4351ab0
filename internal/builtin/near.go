package builtin

import (
	"math/bits"
	"slices"
)

// mostCompared limits how many words are compared letter by letter with one misspelt word.
const mostCompared = 2000

// A speller finds words that differ by one or two typos: a letter too many, missing or wrong, or
// two swapped.
type speller struct {
	words   []string // of names, sorted; all of them are small letters and digits
	letters []uint64 // which letters each has
}

// newSpeller indexes the words of names, and their synonyms. Typos in texts are not worth the cost.
func newSpeller(x *lexicon) *speller {
	s := &speller{}
	for _, w := range x.words {
		named := slices.ContainsFunc(x.postings[w], func(p posting) bool { return p.named > 0 })
		if len(w) < 3 || !named && len(x.talk.same[w]) == 0 {
			continue
		}
		s.words = append(s.words, w)
		s.letters = append(s.letters, lettersOf(w))
	}
	return s
}

func lettersOf(w string) (set uint64) {
	for i := range len(w) {
		set |= 1 << (w[i] & 63)
	}
	return set
}

// near returns the words that w most likely stands for, those with the fewest typos. Each typo
// changes at most two of a word's letters, so one comparison of bit sets rules out most words.
func (s *speller) near(w string) []string {
	limit := 0
	switch n := len(w); {
	case n >= 8:
		limit = 2
	case n >= 4:
		limit = 1
	}
	set := lettersOf(w)
	var found []string
	compared := 0
	for i, word := range s.words {
		if limit == 0 || compared == mostCompared {
			break
		}
		if d := len(word) - len(w); d > limit || -d > limit || bits.OnesCount64(set^s.letters[i]) > 2*limit {
			continue
		}
		compared++
		switch d := slips(w, word, limit); {
		case d > limit:
		case d < limit:
			limit = max(d, 1)
			found = append(found[:0], word)
		default:
			found = append(found, word)
		}
	}
	return found
}

// slips counts the typos between two words of at most longestWord bytes, or returns more than
// limit. (A typo in a letter of several bytes counts more.)
func slips(a, b string, limit int) int {
	if len(a) > longestWord || len(b) > longestWord {
		return limit + 1
	}
	var rows [3][longestWord + 1]int
	for j := range len(b) {
		rows[0][j+1] = j + 1
	}
	for i := range len(a) {
		row, above, higher := &rows[(i+1)%3], &rows[i%3], &rows[(i+2)%3]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d := min(above[j]+cost, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, higher[j-1]+1)
			}
			row[j+1] = d
		}
	}
	return rows[len(a)%3][len(b)]
}
