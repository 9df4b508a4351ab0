package web

import (
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

// maxBrief is how much of a server's text an error repeats, in characters.
const maxBrief = 1000

// A secret is a text that must not be shown, in all the ways it may be encoded.
type secret struct {
	keys   [][]rune
	starts string // what one of them can begin with
}

// secret returns the key, and what looks like one in the endpoint's query.
func (o SearchOptions) secret() secret {
	keys := []string{o.Key}
	if u, err := url.Parse(strings.TrimSpace(o.Endpoint)); err == nil {
		for name, values := range u.Query() {
			if secretName(name) {
				keys = append(keys, values...)
			}
		}
	}
	var k secret
	for _, key := range keys {
		if key == "" {
			continue
		}
		k.keys = append(k.keys, []rune(key))
		k.starts += string(k.keys[len(k.keys)-1][:1])
	}
	if k.keys != nil {
		k.starts += `%&\+` // see written
	}
	return k
}

// secretName reports whether a parameter of that name holds a secret.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"key", "token", "secret", "auth", "pass", "sig"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// masked hides the values of secret parameters in the addresses an error
// names, for a long address may end in the middle of one.
func masked(s string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, '=')
		if i < 0 {
			return out.String() + s
		}
		out.WriteString(s[:i+1])
		name := s[strings.LastIndexAny(s[:i], "?&; \n\"")+1 : i]
		s = s[i+1:]
		if secretName(name) {
			out.WriteString("[redacted]")
			s = strings.TrimLeftFunc(s, func(r rune) bool { return !strings.ContainsRune("&; \n\"…", r) })
		}
	}
}

// hide returns s without the secret.
func (k secret) hide(s string) string {
	if k.keys == nil {
		return s
	}
	var out strings.Builder
	kept := 0 // up to where s is in out
	for at := 0; ; {
		i := strings.IndexAny(s[at:], k.starts)
		if i < 0 {
			break
		}
		at += i
		n := 0
		for _, key := range k.keys {
			n = max(n, span(key, s[at:]))
		}
		if n == 0 {
			at++
			continue
		}
		out.WriteString(s[kept:at])
		out.WriteString("[redacted]")
		at += n
		kept = at
	}
	return out.String() + s[kept:]
}

// span returns how much of the beginning of s is the key, 0 for nothing. Every character may be
// encoded differently.
func span(key []rune, s string) int {
	same := 0 // characters that stand as they are, which most do
	for same < len(key) && same < len(s) && rune(s[same]) == key[same] && s[same] < utf8.RuneSelf && !strings.ContainsRune(`%&\`, key[same]) {
		same++
	}
	ends, next := append(make([]int, 0, 4), same), make([]int, 0, 4) // where the part so far may end
	for _, r := range key[same:] {
		next = next[:0]
		for _, at := range ends {
			for _, n := range written(r, s[at:]) {
				if n > 0 && !slices.Contains(next, at+n) {
					next = append(next, at+n)
				}
			}
		}
		if len(next) == 0 {
			return 0
		}
		ends, next = next, ends
	}
	return slices.Max(ends)
}

// written returns how much of the beginning of s encodes a character: literally, or as URLs, JSON
// and scripts, and HTML encode it. 0 means that it does not.
func written(r rune, s string) [4]int {
	var n [4]int
	if s == "" {
		return n
	}
	if got, size := utf8.DecodeRuneInString(s); got == r {
		n[0] = size
	}
	switch s[0] {
	case '+':
		if r == ' ' {
			n[1] = 1
		}
	case '%':
		n[1] = percented(r, s)
	case '\\':
		n[2] = escaped(r, s)
	case '&':
		n[3] = referred(r, s)
	}
	return n
}

// percented is written for %2f, each byte of the character by itself.
func percented(r rune, s string) int {
	plain := string(r)
	for i := range len(plain) {
		if len(s) < 3*i+3 || s[3*i] != '%' || hex(s[3*i+1:3*i+3]) != rune(plain[i]) {
			return 0
		}
	}
	return 3 * len(plain)
}

// escaped is written for \/, \x2f and \u002f.
func escaped(r rune, s string) int {
	if len(s) < 2 {
		return 0
	}
	switch digits := s[2:]; s[1] {
	case 'x':
		if len(digits) >= 2 && hex(digits[:2]) == r {
			return 4
		}
	case 'u':
		if len(digits) < 4 {
			return 0
		}
		first := hex(digits[:4])
		if first == r {
			return 6
		}
		if digits = digits[4:]; strings.HasPrefix(digits, `\u`) && len(digits) >= 6 && utf16.DecodeRune(first, hex(digits[2:6])) == r {
			return 12
		}
	}
	if rune(s[1]) == r && strings.ContainsRune(`/"\'`, r) {
		return 2
	}
	return 0
}

// hex parses hexadecimal digits; -1 if they are not.
func hex(digits string) rune {
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

// referred is written for &#47;, &#x2F; and &sol;.
func referred(r rune, s string) int {
	const longest = 40
	n := 1
	for n < min(len(s), longest) && (s[n] == '#' || s[n] >= '0' && s[n] <= '9' || s[n] >= 'A' && s[n] <= 'Z' || s[n] >= 'a' && s[n] <= 'z') {
		n++
	}
	if n < len(s) && s[n] == ';' {
		n++
	}
	if n < 3 {
		return 0
	}
	rest, ok := strings.CutPrefix(html.UnescapeString(s[:n]), string(r))
	if !ok || !strings.HasSuffix(s[:n], rest) { // some are known without a semicolon, whatever follows
		return 0
	}
	return n - len(rest)
}

// errorText prepares a server's text for an error: sanitized, without the secret, and shortened.
func (k secret) errorText(s string) string {
	const enough = 64 << 10 // a page may be far longer than what is shown of it
	s, _ = text.Cut(s, enough)
	s, more := cutText(k.hide(strings.TrimSpace(cleanText(s))), maxBrief)
	if more {
		s += "…"
	}
	return s
}
