package tool

import (
	"strings"
	"unicode"

	spelling "github.com/helve-dev/helve/internal/text"
)

// hintLine returns the line of help for an issue: where it is, what was found, and what was
// expected.
func hintLine(i Issue, v value) string {
	where := dotted(i.Path)
	if where == "" {
		where = "input"
	}
	where = cutText(where, 2*shortLimit)
	wanted := i.Expected
	if wanted == "" {
		return where + ": " + i.Message
	}
	wanted = cutText(wanted, 4*shortLimit)
	if v.kind == absent {
		return where + ": missing, wanted " + wanted
	}
	return where + ": got " + v.short() + ", wanted " + wanted
}

// advise returns which unknown keys were probably meant for missing ones. It guesses, so the result
// is used only for hints.
func advise(missing []*prop, l lookup) []string {
	var unknown []member
	for i := range l.kids {
		if !l.used[i] && len(unknown) < 50 {
			unknown = append(unknown, l.kids[i])
		}
	}
	var out []string
	for _, p := range missing {
		best, score := "", 0
		for _, u := range unknown {
			if s := likeness(u.key, p.name); s > score && p.node.takes(u.val.kind) {
				best, score = u.key, s
			}
		}
		if score == 0 && len(missing) == 1 && len(unknown) == 1 && p.node.takes(unknown[0].val.kind) {
			best, score = unknown[0].key, 1
		}
		if score > 0 {
			out = append(out, "unknown key "+shortQuote(best)+": did you mean "+shortQuote(p.name)+"?")
		}
	}
	return out
}

// likeness returns how similar one key is to another; 0 is not at all.
func likeness(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 0
	}
	wa, wb := splitKey(a), splitKey(b)
	ja, jb := strings.Join(wa, ""), strings.Join(wb, "")
	switch {
	case ja == jb:
		return 100
	case subsetOf(wa, wb) || subsetOf(wb, wa):
		return 50
	}
	short := min(len(ja), len(jb))
	most := 1 + short/5
	if slips := spelling.Slips(ja, jb, most); slips <= most && short > 2 {
		return 40 - slips
	}
	return 0
}

// subsetOf reports whether every word of a is in b.
func subsetOf(a, b []string) bool {
	have := map[string]bool{}
	for _, w := range b {
		have[w] = true
	}
	for _, w := range a {
		if !have[w] {
			return false
		}
	}
	return len(a) > 0
}

// splitKey splits a key into lower-case words: file_path, filePath, file-path and FilePath are all
// "file", "path".
func splitKey(key string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, string(word))
			word = nil
		}
	}
	upper := true
	for _, r := range key {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			end()
			upper = true
			continue
		}
		if unicode.IsUpper(r) && !upper {
			end()
		}
		upper = unicode.IsUpper(r)
		word = append(word, unicode.ToLower(r))
	}
	end()
	return out
}
