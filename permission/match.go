package permission

import (
	"runtime"
	"strings"
	"unicode/utf8"
)

// Match reports whether pattern matches the whole of text.
//
// In a pattern * matches any run of characters, including none, slashes and line breaks, and ?
// matches exactly one character. A pattern that ends in " *" also matches without that tail, so
// that "ls *" covers a bare "ls". Everything else is literal. A backslash equals a slash; on
// Windows, upper case equals lower case.
//
// Match takes time linear in the text for each star of the pattern, whatever the two contain.
func Match(text, pattern string) bool {
	return matchFold(text, pattern, runtime.GOOS == "windows")
}

// matchFold is Match with the platform's case rule as a parameter, so that both rules can be tested
// on every platform.
func matchFold(text, pattern string, fold bool) bool {
	if pattern == "*" {
		return true
	}
	text, pattern = normalise(text, fold), normalise(pattern, fold)
	if head, ok := strings.CutSuffix(pattern, " *"); ok && glob(text, head) {
		return true
	}
	return glob(text, pattern)
}

func normalise(s string, fold bool) string {
	if strings.IndexByte(s, '\\') >= 0 {
		s = strings.ReplaceAll(s, `\`, "/")
	}
	if fold {
		s = strings.ToLower(s)
	}
	return s
}

// glob matches piece by piece: on a mismatch it backtracks only to the newest star. That is enough,
// because a later star can match whatever an earlier one could.
func glob(text, pattern string) bool { return globOf(text, pattern, nothing) }

// nothing stands for no character.
const nothing rune = -1

// globOf is glob, except that ? does not match the character wild, which stands for any text.
func globOf(text, pattern string, wild rune) bool {
	t, p := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		if p < len(pattern) {
			switch c := pattern[p]; {
			case c == '*':
				star, mark = p, t
				p++
				continue
			case c == '?' && rune(text[t]) != wild:
				_, n := utf8.DecodeRuneInString(text[t:])
				t += n
				p++
				continue
			case c == text[t]:
				t++
				p++
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(text[mark:])
		mark += n
		t, p = mark, star+1
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// contains reports whether the wide pattern certainly matches everything that the narrow one does.
// If it cannot tell, it returns false.
func contains(wide, narrow string) bool {
	wide, narrow = normalise(wide, runtime.GOOS == "windows"), normalise(narrow, runtime.GOOS == "windows")
	if head, ok := strings.CutSuffix(narrow, " *"); ok && !matchesText(wide, head) {
		return false // the narrow one also matches without its tail
	}
	return matchesText(wide, narrow)
}

// matchesText matches a pattern against another pattern as text: only a star matches a star.
func matchesText(wide, narrow string) bool {
	if head, ok := strings.CutSuffix(wide, " *"); ok && globOf(narrow, head, '*') {
		return true
	}
	return globOf(narrow, wide, '*')
}
