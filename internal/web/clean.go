package web

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

// cleanText makes untrusted text harmless and keeps it readable: line ends become \n, unusual
// spaces plain ones, formatting marks are removed, and every other invisible character becomes the
// escape that [text.Visible] has for it. Indentation stays as it is: it may be code.
func cleanText(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if !text.HasHidden(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	shown := map[rune]string{} // what is written for a character
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
			out.WriteRune(r)
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			out.WriteByte('\n')
		case unicode.Is(unicode.Zs, r):
			out.WriteByte(' ')
		case shapes(r):
		default:
			c, known := shown[r]
			if !known {
				if c = s[i : i+utf8.RuneLen(r)]; text.HasHidden(c) {
					c = text.VisibleLine(c)
				}
				shown[r] = c
			}
			out.WriteString(c)
		}
	}
	return out.String()
}

// shapes reports whether a character only affects how letters and emoji beside it are drawn or
// where a line may break. Ordinary pages are full of them.
func shapes(r rune) bool {
	switch {
	case r == '\u00ad', r >= '\u200b' && r <= '\u200f', r == '\u2060', r == '\ufeff', r == '\ufe0e', r == '\ufe0f':
		return true
	}
	return false
}

// oneLine is clean for a place that has one line: blanks of all kinds become one
// space.
func oneLine(s string) string { return strings.Join(strings.Fields(cleanText(s)), " ") }

// cutText returns at most n characters of s, and whether there were more.
func cutText(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	seen := 0
	for i := range s {
		if seen == n {
			return s[:i], true
		}
		seen++
	}
	return s, false
}

// unmarked removes HTML from a snippet that is HTML: inline tags are dropped, and references become
// their characters. Other angle brackets stay: they may be code.
func unmarked(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var out strings.Builder
	for {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			break
		}
		out.WriteString(s[:open])
		s = s[open:]
		n, breaks := formattingTag(s)
		switch {
		case n == 0:
			out.WriteByte('<')
			n = 1
		case breaks:
			out.WriteByte('\n')
		}
		s = s[n:]
	}
	out.WriteString(s)
	return html.UnescapeString(out.String())
}

// formattingTag returns the length of the tag that s begins with, if it is one that
// only sets letters off, and whether it ends a line.
func formattingTag(s string) (n int, breaks bool) {
	const longest = 200
	end := strings.IndexByte(s[:min(len(s), longest)], '>')
	if end < 0 {
		return 0, false
	}
	name := strings.TrimPrefix(s[1:end], "/")
	if i := strings.IndexAny(name, " \t\n/"); i >= 0 {
		name = name[:i]
	}
	switch strings.ToLower(name) {
	case "b", "strong", "i", "em", "u", "mark", "span", "sub", "sup", "small", "font", "wbr", "code":
		return end + 1, false
	case "br", "p", "div":
		return end + 1, true
	}
	return 0, false
}

// pageText returns the rough text of an HTML page, for an error message, in which tags would only
// disturb.
func pageText(page string) string {
	var out strings.Builder
	for {
		open := strings.IndexByte(page, '<')
		if open < 0 {
			out.WriteString(page)
			break
		}
		out.WriteString(page[:open])
		out.WriteByte(' ')
		page = page[open:]
		end := strings.IndexByte(page, '>') + 1
		for _, silent := range []string{"script", "style"} {
			if len(page) > len(silent) && strings.EqualFold(page[1:1+len(silent)], silent) {
				end = indexFold(page, "</"+silent)
			}
		}
		if end <= 0 {
			break
		}
		page = page[end:]
	}
	return oneLine(html.UnescapeString(out.String()))
}

// indexFold is [strings.Index] for a word in lower case that may stand in any.
func indexFold(s, word string) int {
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], word[0])
		if i < 0 || len(s)-at-i < len(word) {
			return -1
		}
		if at += i; strings.EqualFold(s[at:at+len(word)], word) {
			return at
		}
	}
}
