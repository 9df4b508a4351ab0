package mcpserve

import "strings"

// maxShown bounds the text of a result for an unknown client, in bytes. Claude Code shows its model
// 50,000 characters, and of more the first two thousand; OpenCode shows 51,200 bytes and 2,000
// lines.
const maxShown = 48_000

// besides is space for what accompanies the text of a result: the exit code of a program, and what
// to do about an error.
const besides = 500

// shows returns how many bytes of a result a client shows its model. Clients cut what is longer,
// and most keep only the beginning, or both ends: so the line that says where the whole is kept
// comes first.
func shows(client string) int {
	for _, c := range []struct {
		prefix string
		bytes  int
	}{
		{"codex", 39_000},      // 10,000 tokens, counted as four bytes each; keeps both ends
		{"gemini-cli", 39_000}, // 40,000 characters; keeps both ends
		{"qwen", 24_000},       // 25,000 characters and 1,000 lines; keeps both ends
	} {
		if strings.HasPrefix(strings.ToLower(client), c.prefix) {
			return c.bytes - besides
		}
	}
	return maxShown - besides
}
