package text

import "strings"

// longestWord is the length in characters up to which words are compared.
const longestWord = 64

// Nearest returns the word in among that word most likely stands for: the one with the fewest typos
// (a letter too many, missing, wrong, or two swapped), ignoring case. It allows about one typo in
// three letters; words of more than 64 characters never match. Of equally similar words it returns
// the first.
func Nearest(word string, among []string) (string, bool) {
	if len(word) > 4*longestWord {
		return "", false
	}
	w := []rune(strings.ToLower(word))
	if len(w) == 0 || len(w) > longestWord {
		return "", false
	}
	limit := (len(w) + 1) / 3
	best, found := "", false
	for _, candidate := range among {
		if len(candidate) > 4*longestWord {
			continue
		}
		c := []rune(strings.ToLower(candidate))
		if d := slips(w, c, limit); d <= limit {
			best, found = candidate, true
			limit = d - 1
		}
		if limit < 0 {
			break
		}
	}
	return best, found
}

// Slips counts the typos between two words, as [Nearest] does, up to limit. If there are more, or a
// word has more than 64 characters, it returns limit+1.
func Slips(a, b string, limit int) int {
	if limit < 0 || len(a) > 4*longestWord || len(b) > 4*longestWord {
		return limit + 1
	}
	ra, rb := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if len(ra) > longestWord {
		return limit + 1
	}
	return min(slips(ra, rb, limit), limit+1)
}

// slips counts the slips between a, which is not too long, and b, or returns
// more than limit as soon as it is clear that there are more.
func slips(a, b []rune, limit int) int {
	if len(b) > longestWord || max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	var rows [3][longestWord + 1]int // the row being filled and the two before
	for j := range b {
		rows[0][j+1] = j + 1
	}
	for i := range a {
		row, above, higher := &rows[(i+1)%3], &rows[i%3], &rows[(i+2)%3]
		row[0] = i + 1
		least := row[0]
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d := min(above[j]+cost, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, higher[j-1]+1)
			}
			row[j+1] = d
			least = min(least, d)
		}
		if least > limit+1 { // a swap can reach back over one row
			return limit + 1
		}
	}
	return rows[len(a)%3][len(b)]
}
