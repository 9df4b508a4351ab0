package bundle

import (
	"regexp"
	"slices"
	"strings"
)

// ES modules are strict code and CommonJS modules are not, but the compiler makes one script of
// both, in which nothing is strict. So the program is reordered: first CommonJS modules, then, in a
// strict function, the rest. Only whole lines move; the source map records from where.
//
// Names of the strict part that CommonJS modules use (those of ES modules they require) are
// declared before both.

// strictStart and strictEnd are put at the ends of lines, so that they move
// nothing.
const (
	strictStart = ` (function() { "use strict";`
	strictEnd   = ` })();`
)

// A moduleLines is the range of lines of a module in the program.
type moduleLines struct{ from, to int }

// arrange makes the ES modules of a program strict.
func (s *buildSession) arrange() {
	lines := strings.Split(strings.TrimSuffix(s.code, "\n"), "\n")
	head, sloppy, strict := s.divide(lines)
	order := make([]int32, 0, len(lines))
	add := func(parts ...moduleLines) {
		for _, p := range parts {
			for i := p.from; i < p.to; i++ {
				order = append(order, int32(i))
			}
		}
	}
	add(head)
	add(sloppy...)
	last := len(order) - 1
	if last < 0 || len(strict) == 0 {
		return
	}
	shared := sharedNames(lines, sloppy, strict)
	add(strict...)
	moved := make([]string, len(order))
	for i, from := range order {
		moved[i] = lines[from]
		if name := declared(moved[i]); name != "" && i > last && slices.Contains(shared, name) {
			moved[i] = "    " + strings.TrimPrefix(moved[i], "var ")
		}
	}
	if len(shared) > 0 {
		moved[last] += " var " + strings.Join(shared, ", ") + ";"
	}
	moved[last] += strictStart
	moved[len(moved)-1] += strictEnd
	s.code = strings.Join(moved, "\n") + "\n"
	s.moved = order
	s.table.reorder(order)
}

// divide finds the parts of a program: what is before the first module, the
// modules that are CommonJS, and the others.
func (s *buildSession) divide(lines []string) (head moduleLines, sloppy, strict []moduleLines) {
	var starts []int
	for i, line := range lines {
		if strings.HasPrefix(line, "// ") && (i == 0 || lines[i-1] == "") {
			starts = append(starts, i)
		}
	}
	if len(starts) == 0 {
		return moduleLines{0, len(lines)}, nil, nil
	}
	head = moduleLines{0, starts[0]}
	for i := 0; i < len(starts); i++ {
		p := moduleLines{starts[i], len(lines)}
		if i+1 < len(starts) {
			p.to = starts[i+1]
		}
		if !s.isSloppy(lines[p.from:p.to]) {
			strict = append(strict, p)
			continue
		}
		// What looks like the beginning of a module may be in a text of this one.
		for !closesWrapper(lines[p.from:p.to]) && i+1 < len(starts) {
			i++
			p.to = len(lines)
			if i+1 < len(starts) {
				p.to = starts[i+1]
			}
		}
		sloppy = append(sloppy, p)
	}
	return head, sloppy, strict
}

// isSloppy reports whether lines are of a CommonJS module. One that has ES
// imports nevertheless is wrapped as such but uses names of the strict part.
func (s *buildSession) isSloppy(lines []string) bool {
	return len(lines) > 1 && strings.HasPrefix(lines[1], "var ") && strings.HasSuffix(lines[1], " = __commonJS({") && !s.graph.strict[strings.TrimPrefix(lines[0], "// ")]
}

// closesWrapper reports whether the wrapping of a CommonJS module ends with some lines.
func closesWrapper(lines []string) bool {
	for i := len(lines) - 1; i > 0; i-- {
		if lines[i] != "" {
			return lines[i] == "});"
		}
	}
	return false
}

// declared is the name that a line of a module's beginning declares.
func declared(line string) string {
	if rest, ok := strings.CutPrefix(line, "var "); ok {
		if name, _, ok := strings.Cut(rest, " = "); ok && !strings.ContainsAny(name, " ,({") {
			return name
		}
	}
	return ""
}

// sharedNames are those the strict part declares and CommonJS modules use.
func sharedNames(lines []string, sloppy, strict []moduleLines) (names []string) {
	given := map[string]bool{}
	for _, p := range strict {
		for _, line := range lines[p.from:p.to] {
			if name := declared(line); name != "" {
				given[name] = true
			}
		}
	}
	word := regexp.MustCompile(`[\w$]*(?:init_|require_|_exports)[\w$]*`)
	for _, p := range sloppy {
		for _, line := range lines[p.from:p.to] {
			for _, name := range word.FindAllString(line, -1) {
				if given[name] {
					given[name] = false
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// reorder puts a source map in the order that the lines of its program have now.
func (t *segments) reorder(order []int32) {
	if len(order) == 0 {
		return
	}
	starts := make([]int, len(order)+1) // by old line: its first segment
	at := 0
	for line := range starts {
		for at < len(t.list) && int(t.list[at].line) < line {
			at++
		}
		starts[line] = at
	}
	list := make([]segment, 0, len(t.list))
	for now, old := range order {
		if old < 0 || int(old) >= len(order) {
			continue
		}
		for _, seg := range t.list[starts[old]:starts[old+1]] {
			seg.line = int32(now)
			list = append(list, seg)
		}
	}
	t.list = list
}
