package files

import "strings"

// gitConfigValues calls f for each setting of a git config file: the section without its subsection
// and the key, both in lower case, and the value. A file that git would refuse is read as far as
// possible.
func gitConfigValues(text string, f func(section, key, value string)) {
	section := ""
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", "")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			header, rest, ok := cutHeader(line[1:])
			if !ok {
				continue
			}
			section, line = header, strings.TrimSpace(rest)
		}
		key, value, _ := strings.Cut(line, "=")
		if key = strings.ToLower(strings.TrimSpace(key)); key != "" && key[0] != '#' && key[0] != ';' {
			f(section, key, gitValue(strings.TrimSpace(value)))
		}
	}
}

// cutHeader parses a section header after its bracket. A quoted subsection may contain a bracket.
func cutHeader(line string) (section, rest string, ok bool) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ']' && !quoted:
			name := strings.ToLower(line[:i])
			if at := strings.IndexAny(name, " \t.\""); at >= 0 {
				name = name[:at]
			}
			return name, line[i+1:], true
		}
	}
	return "", "", false
}

// gitValue returns a value without its quotes and comment.
func gitValue(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}
