package text

import (
	"fmt"
	"unicode/utf8"
)

// Cut returns the longest beginning of s that has at most n bytes and ends
// between two characters, and whether anything was left out. Bytes that are
// not UTF-8 count as characters of one byte.
func Cut(s string, n int) (string, bool) {
	n = max(n, 0)
	if len(s) <= n {
		return s, false
	}
	return s[:cutBack(s, n)], true
}

// CutUTF16 returns the longest beginning of s that has at most n UTF-16 code
// units, and whether anything was left out. A character that needs two units
// is kept or left out whole; a byte that is not UTF-8 counts as one unit.
func CutUTF16(s string, n int) (string, bool) {
	if len(s) <= max(n, 0) {
		return s, false // a unit never takes less than a byte
	}
	units := 0
	for i, r := range s {
		units++
		if r > 0xffff {
			units++
		}
		if units > n {
			return s[:i], true
		}
	}
	return s, false
}

// cutBack returns the largest offset <= i that does not lie inside a character
// of s.
func cutBack[T string | []byte](s T, i int) int {
	if start, end := around(s, i); start < i && i < end {
		return start
	}
	return i
}

// cutOn returns the smallest offset >= i that does not lie inside a character
// of s.
func cutOn[T string | []byte](s T, i int) int {
	if start, end := around(s, i); start < i && i < end {
		return end
	}
	return i
}

// around finds the character that begins before i and may reach past it. It
// looks at no more than three bytes on either side of i.
func around[T string | []byte](s T, i int) (start, end int) {
	for start = i - 1; start >= 0 && start > i-utf8.UTFMax; start-- {
		if !utf8.RuneStart(s[start]) {
			continue
		}
		var window [utf8.UTFMax]byte
		n := copy(window[:], s[start:])
		r, size := utf8.DecodeRune(window[:n])
		if r == utf8.RuneError && size <= 1 {
			return i, i
		}
		return start, start + size
	}
	return i, i
}

// Count is a number with the word for what is counted.
func Count[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
