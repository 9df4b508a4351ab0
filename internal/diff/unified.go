package diff

import (
	"strconv"
	"strings"
)

// context is how many unchanged lines are shown around a change.
const context = 4

// Unified returns the change as a unified diff with the name on both sides, in
// the form the npm package "diff" writes: an index line, a rule, four lines of
// context, and always a start and a count. Equal texts give the header alone.
func Unified(name, before, after string) string {
	old, now := split(before), split(after)
	var w writer
	w.out.WriteString("Index: " + name + "\n" + strings.Repeat("=", 67) + "\n--- " + name + "\n+++ " + name + "\n")
	script := compare(old, now)
	for len(script) > 0 {
		script = w.hunk(old, now, script)
	}
	return w.out.String()
}

// A writer writes a unified diff.
type writer struct {
	out  strings.Builder
	x, y int // lines passed in the old and in the new text
}

// hunk writes the hunk that begins with the next change, and returns what is
// left of the script.
func (w *writer) hunk(old, now lines, script []run) []run {
	lead := 0
	if script[0].kind == keep {
		lead = min(script[0].n, context)
		w.x += script[0].n - lead
		w.y += script[0].n - lead
		script = script[1:]
	}
	end, tail := hunkEnd(script)
	if end == 0 {
		return nil // nothing but equal lines
	}
	oldN, newN := lead+tail, lead+tail
	for _, r := range script[:end] {
		if r.kind != add {
			oldN += r.n
		}
		if r.kind != remove {
			newN += r.n
		}
	}
	w.out.WriteString("@@ -")
	w.span(w.x, oldN)
	w.out.WriteString(" +")
	w.span(w.y, newN)
	w.out.WriteString(" @@\n")
	w.writeLines(keep, old, &w.x, lead)
	w.y += lead
	for _, r := range script[:end] {
		switch r.kind {
		case add:
			w.writeLines(add, now, &w.y, r.n)
		case remove:
			w.writeLines(remove, old, &w.x, r.n)
		default:
			w.writeLines(keep, old, &w.x, r.n)
			w.y += r.n
		}
	}
	rest := script[end:]
	if tail > 0 {
		x := w.x // the tail belongs to the next hunk's lead too
		w.writeLines(keep, old, &x, tail)
	}
	return rest
}

// hunkEnd returns how many runs the hunk at the beginning of the script takes
// whole, and how many lines of the run after it. It goes on over equal lines
// that two changes would both show.
func hunkEnd(script []run) (end, tail int) {
	for i, r := range script {
		if r.kind != keep {
			continue
		}
		if r.n > 2*context || i == len(script)-1 {
			return i, min(r.n, context)
		}
	}
	return len(script), 0
}

// span writes where n lines after the first at are. No lines have the number
// of the line before them.
func (w *writer) span(at, n int) {
	if n > 0 {
		at++
	}
	w.out.WriteString(strconv.Itoa(at))
	w.out.WriteByte(',')
	w.out.WriteString(strconv.Itoa(n))
}

// writeLines writes n lines of l from at on, and moves at.
func (w *writer) writeLines(kind byte, l lines, at *int, n int) {
	for end := *at + n; *at < end; *at++ {
		line := l.lineAt(*at)
		w.out.WriteByte(kind)
		w.out.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			w.out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
