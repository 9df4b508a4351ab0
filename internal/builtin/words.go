package builtin

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestWord limits the bytes of a word that count.
const longestWord = 40

// eachWord calls give for the words of s in order, in lower case and without endings: the pieces
// between punctuation, and within these the parts of camelCase and runs of digits. A short piece of
// letters and digits, such as s3 or k8s, is one word; a longer one counts as a whole and by its
// parts.
func eachWord(s string, give func(string)) {
	start := -1
	for i, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			// An apostrophe ends a word, and the s after it is no word.
			if !(i-start == 1 && s[start] == 's' && start > 0 && s[start-1] == '\'') {
				eachPart(s[start:i], give)
			}
			start = -1
		}
	}
	if start >= 0 {
		eachPart(s[start:], give)
	}
}

// eachPart divides a piece without signs.
func eachPart(s string, give func(string)) {
	cuts, humps := joints(s)
	if len(cuts) > 0 && !humps { // letters and digits
		give(stem(fold(s)))
		if len(s) <= 4 {
			return
		}
	}
	from := 0
	for _, at := range append(cuts, len(s)) {
		if at > from {
			give(stem(fold(s[from:at])))
			from = at
		}
	}
}

// joints returns where the parts of a piece meet, and whether any of these is between letters.
func joints(s string) (cuts []int, humps bool) {
	prev, before := kindNone, kindNone
	last := 0
	for i, r := range s {
		k := runeKind(r)
		switch {
		case prev == kindNone:
		case (k == kindDigit) != (prev == kindDigit):
			cuts = append(cuts, i)
		case k == kindUpper && prev == kindLower:
			cuts, humps = append(cuts, i), true
		case k == kindLower && prev == kindUpper && before == kindUpper:
			cuts, humps = append(cuts, last), true // the last capital of HTTPServer begins a word
		}
		before, prev, last = prev, k, i
	}
	return cuts, humps
}

type kind int

const (
	kindNone kind = iota
	kindLower
	kindUpper
	kindDigit
)

func runeKind(r rune) kind {
	switch {
	case unicode.IsDigit(r):
		return kindDigit
	case unicode.IsUpper(r):
		return kindUpper
	}
	return kindLower
}

func fold(s string) string {
	if len(s) > longestWord {
		n := longestWord
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.ToLower(s)
}

// stem removes English endings of nouns and verbs. The result need not be a word, only equal for
// all forms of one.
func stem(w string) string {
	if len(w) < 3 || w[0] >= 0x80 {
		return w
	}
	w = singular(w)
	switch {
	case strings.HasSuffix(w, "ing") && len(w) > 5 && vowels(w[:len(w)-3]):
		w = undouble(w[:len(w)-3])
	case strings.HasSuffix(w, "ed") && len(w) > 4 && vowels(w[:len(w)-2]):
		w = undouble(w[:len(w)-2])
	}
	if len(w) > 4 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	return w
}

// singular takes the s of a plural off.
func singular(w string) string {
	switch end := strings.HasSuffix; {
	case !end(w, "s") || end(w, "ss") || end(w, "us") || end(w, "is"):
		return w
	case end(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case end(w, "sses"), end(w, "xes"), end(w, "ches"), end(w, "shes"):
		return w[:len(w)-2]
	}
	return w[:len(w)-1]
}

func vowels(s string) bool { return strings.ContainsAny(s, "aeiouy") }

// undouble undoes the doubling of a consonant, as in "planned".
func undouble(s string) string {
	n := len(s)
	if n > 3 && s[n-1] == s[n-2] && !strings.ContainsRune("aeiouls", rune(s[n-1])) {
		return s[:n-1]
	}
	return s
}
