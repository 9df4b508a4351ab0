package command

import (
	"strconv"
	"strings"
)

// maxBraces is how many words the braces of one are expanded to.
const maxBraces = 256

// braces expands a word such as src/{a,b}.go or f{1..3}, if it is plain text
// otherwise and the braces do not stand in one another.
func braces(raw string) ([]Word, bool) {
	if strings.ContainsAny(raw, "$`'\"\\()<>") {
		return nil, false
	}
	texts := []string{""}
	rest := raw
	for rest != "" {
		before, after, found := strings.Cut(rest, "{")
		list, after, closed := strings.Cut(after, "}")
		items := items(list)
		if strings.Contains(before, "}") || found && (!closed || items == nil || len(texts)*len(items) > maxBraces) {
			return nil, false
		}
		if !found {
			items = []string{""}
		}
		var next []string
		for _, t := range texts {
			for _, item := range items {
				next = append(next, t+before+item)
			}
		}
		texts, rest = next, after
	}
	out := make([]Word, len(texts))
	for i, t := range texts {
		glob := strings.ContainsAny(t, "*?[")
		out[i] = Word{Raw: t, Value: t, Literal: !glob, Glob: glob}
	}
	return out, raw != ""
}

// items are what stands between braces; nil where these are no list.
func items(list string) []string {
	if strings.Contains(list, "{") {
		return nil
	}
	if strings.Contains(list, ",") {
		return strings.Split(list, ",")
	}
	from, to, ok := strings.Cut(list, "..")
	if !ok {
		return nil
	}
	a, errA := strconv.Atoi(from)
	b, errB := strconv.Atoi(to)
	if errA != nil || errB != nil || from != strconv.Itoa(a) || to != strconv.Itoa(b) || b < a || b-a >= maxBraces {
		return nil
	}
	var out []string
	for i := a; i <= b; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}
