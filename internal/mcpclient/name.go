package mcpclient

import "strings"

// ToolName returns the name of a server's tool for models: both names, with _ for every character
// that such a name may not have, joined by another. Different tools may get the same name; callers
// must refuse the second.
func ToolName(server, tool string) string { return ToolPrefix(server) + cleanName(tool) }

// ToolPrefix returns what the names of all tools of a server begin with.
func ToolPrefix(server string) string { return cleanName(server) + "_" }

// cleanName replaces every character but letters, digits, _ and -.
func cleanName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}
