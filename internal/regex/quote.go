package regex

import "strings"

// Quote returns a pattern that matches a text as it stands.
func Quote(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if strings.IndexByte(`\.+*?()|[]{}^$#&-~`, text[i]) >= 0 {
			out.WriteByte('\\')
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
