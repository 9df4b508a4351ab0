// Package diff tells what changed between two texts, line by line: as a
// unified diff for people and models, as counts, and as edits.
//
// Up to a bound on the work it finds the same shortest script of changes as
// the npm package "diff", so that a diff shown here equals one made with that
// package. Texts too different for that are matched along lines that occur
// once in both, which takes time linear in their length, but for a logarithm:
// the diff is then correct, though perhaps not the shortest.
package diff

import (
	"strings"

	"github.com/helve-dev/helve/internal/text"
)

// Count returns how many lines a line diff adds and removes. A change of only the last line's
// newline counts as one of each.
func Count(before, after string) (added, removed int) {
	for _, r := range compare(split(before), split(after)) {
		switch r.kind {
		case add:
			added += r.n
		case remove:
			removed += r.n
		}
	}
	return added, removed
}

// Edits returns the changes that turn before into after. Each replaces whole lines, and at least
// one unchanged line separates two of them.
func Edits(before, after string) []text.Edit {
	old, now := split(before), split(after)
	var edits []text.Edit
	x, y := 0, 0
	from := -1 // where the new lines of the open edit begin
	for _, r := range compare(old, now) {
		if r.kind == keep {
			x, y, from = x+r.n, y+r.n, -1
			continue
		}
		if from < 0 {
			edits = append(edits, text.Edit{Start: old.at[x]})
			from = now.at[y]
		}
		if r.kind == remove {
			x += r.n
		} else {
			y += r.n
		}
		e := &edits[len(edits)-1]
		e.End, e.New = old.at[x], after[from:now.at[y]]
	}
	return edits
}

// lines is a text with the places where its lines begin. A line includes its
// newline; at[len] is the end of the text.
type lines struct {
	s  string
	at []int
}

func split(s string) lines {
	at := make([]int, 1, strings.Count(s, "\n")+2)
	for i := 0; i < len(s); {
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			n = len(s) - i - 1
		}
		i += n + 1
		at = append(at, i)
	}
	return lines{s: s, at: at}
}

func (l lines) len() int { return len(l.at) - 1 }

func (l lines) lineAt(i int) string { return l.s[l.at[i]:l.at[i+1]] }

// What a run of a script does with its lines.
const (
	keep   = ' '
	remove = '-'
	add    = '+'
)

// A run is n consecutive lines with the same operation. A script is a list of runs, no two
// neighbours of one kind, that covers both texts in order.
type run struct {
	kind byte
	n    int
}

// push appends a run, joining it with the last where they are of one kind.
func push(script []run, kind byte, n int) []run {
	if n == 0 {
		return script
	}
	if k := len(script) - 1; k >= 0 && script[k].kind == kind {
		script[k].n += n
		return script
	}
	return append(script, run{kind: kind, n: n})
}

// compare returns the script that turns old into now.
func compare(old, now lines) []run {
	head := sameHead(old, now)
	script := push(nil, keep, head)
	c := &comparer{work: maxWork}
	a, b := c.numberLines(old, now, head)
	if exact, ok := c.exact(a, b); ok {
		return join(script, exact)
	}
	c.work = coarseWork
	c.script = script
	c.coarse(a, b, maxDepth)
	return c.script
}

func join(script, more []run) []run {
	for _, r := range more {
		script = push(script, r.kind, r.n)
	}
	return script
}

// sameHead counts the lines at the beginning that are equal.
func sameHead(old, now lines) int {
	n := min(old.len(), now.len())
	i := 0
	for i < n && old.at[i+1] == now.at[i+1] && old.lineAt(i) == now.lineAt(i) {
		i++
	}
	return i
}

// A comparer compares lines by number: equal lines have equal numbers.
type comparer struct {
	work   int // how many steps may still be made
	script []run

	ids    int     // numbers given
	counts []count // by number; all zero between uses
}

// A count says how often a line occurs in each of two ranges, and where last.
type count struct {
	a, b       int32
	posA, posB int32
}

// numberLines gives every line from the given one on its number.
func (c *comparer) numberLines(old, now lines, from int) (a, b []int32) {
	known := make(map[string]int32)
	list := func(l lines) []int32 {
		out := make([]int32, 0, l.len()-from)
		for i := from; i < l.len(); i++ {
			s := l.lineAt(i)
			id, ok := known[s]
			if !ok {
				id = int32(len(known))
				known[s] = id
			}
			out = append(out, id)
		}
		return out
	}
	a, b = list(old), list(now)
	c.ids = len(known)
	return a, b
}
