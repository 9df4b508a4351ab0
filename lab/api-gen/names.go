package main

import (
	"strings"
	"unicode"
)

// goName is a name in Go: list-sessions becomes ListSessions, sessionID
// SessionID and url URL.
func goName(s string) string {
	var b strings.Builder
	for _, word := range wordsOf(s) {
		if short := initialism(word); short != "" {
			b.WriteString(short)
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// tsName is a name in TypeScript: list-sessions becomes listSessions.
func tsName(s string) string {
	name := goName(s)
	i := 0
	for i < len(name) && unicode.IsUpper(rune(name[i])) {
		i++
	}
	if i > 1 && i < len(name) {
		i-- // the last capital begins the next word
	}
	return strings.ToLower(name[:i]) + name[i:]
}

// wordsOf cuts a name at what is no letter or digit.
func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// initialism is how Go writes a word that stands for several.
func initialism(word string) string {
	switch lower := strings.ToLower(word); lower {
	case "id", "url", "mcp", "lsp", "api", "json", "html", "sse", "uri":
		return strings.ToUpper(lower)
	case "ids":
		return "IDs"
	case "openapi":
		return "OpenAPI"
	}
	return ""
}
