package command

import (
	"path"
	"slices"
	"strings"
)

// carriedCode reads what a unit runs besides itself: code that it is given, or another command. It
// also tracks its working directory.
func (c *collector) carriedCode(unit int, in input) {
	u := c.r.units[unit]
	if u.Kind != Command || len(u.Words) == 0 {
		return
	}
	if !u.Words[0].Literal {
		if mayRun(u.Words[0]) {
			c.addUncertainty(unit, Uncertainty{Why: "a command whose name is computed"})
		}
		return
	}
	c.trackDir(u.Words)
	name := programName(u.Words[0].Value)
	c.reads(name, u.Words, in)
	switch {
	case posixShell(name) || otherShell(name):
		c.shell(unit, in)
	case c.builtinCode(unit, name, in), c.programCode(unit, name, in):
	default:
		c.payloads(unit, name, in)
	}
}

// mayRun reports whether a command whose name is not known may be one that runs
// another, or sets what another runs; or any at all.
func mayRun(w Word) bool {
	head, _, _ := strings.Cut(baseName(w.Shape), Unknown)
	if head == "" {
		return true
	}
	const runners = "sh bash dash ash ksh mksh zsh rbash fish csh tcsh eval source trap alias mapfile readarray complete env command builtin exec " +
		"nohup setsid nice ionice timeout time stdbuf sudo doas su runuser pkexec chroot unshare nsenter strace ltrace busybox toybox xargs parallel " +
		"chrt taskset find fd watch flock script split at batch capsh choom ld-linux ld-musl logsave newgrp run-parts sg start-stop-daemon " +
		"declare typeset export readonly local read printf test let unset getopts wait hash enable compgen bind fc"
	for name := range strings.FieldsSeq(runners) {
		if !w.Glob && strings.HasPrefix(name, head) {
			return true
		}
		if ok, err := path.Match(baseName(w.Value), name); w.Glob && (ok || err != nil) {
			return true
		}
	}
	return false
}

// when says when code inside the line is run.
type when int

const (
	child when = iota // now, in a shell of its own
	here              // now, in the shell that reads the line
	later             // at some time
)

// codeWord reads a word that is code.
func (c *collector) codeWord(unit int, w Word, at when) {
	if !w.Literal {
		c.addUncertainty(unit, Uncertainty{Why: "code that is computed"})
	}
	c.nested(unit, w.Value, at)
}

// codeWithArgs reads code that gets further words at run time, or something substituted for hole.
func (c *collector) codeWithArgs(unit int, w Word, hole string) {
	first := len(c.r.units)
	c.codeWord(unit, w, later)
	filledIn := false
	last := -1
	for i := first; i < len(c.r.units); i++ {
		u := &c.r.units[i]
		words := fillHole(u.Words, hole)
		if !slices.Equal(words, u.Words) {
			filledIn = true
			u.Words = words
			u.Spellings = spell(*u, nil)
			if strings.HasPrefix(words[0].Shape, Unknown) {
				c.addUncertainty(i, Uncertainty{Why: "a command whose name is computed"})
			}
		}
		if u.Kind == Command && len(u.Words) > 0 && u.Inside == c.r.units[unit].Text {
			last = i
		}
	}
	if last >= 0 && !filledIn {
		u := &c.r.units[last]
		u.Words = append(slices.Clip(u.Words), Word{Shape: Unknown, Split: true})
		u.Spellings = spell(*u, nil)
	}
}

// codes reads words that are put together to code.
func (c *collector) codes(unit int, words []Word, at when) {
	c.codeWord(unit, joinWords(words), at)
}

// joinWords makes one word of several.
func joinWords(words []Word) Word {
	all := Word{Value: strings.Join(wordValues(words), " "), Literal: true}
	shapes := make([]string, len(words))
	for i, w := range words {
		all.Literal = all.Literal && w.Literal
		shapes[i] = w.Shape
	}
	all.Raw, all.Shape = all.Value, strings.Join(shapes, " ")
	return all
}

// nested reads code that stands inside the line.
func (c *collector) nested(unit int, text string, at when) {
	if strings.Trim(text, " \t\n") == "" {
		return
	}
	if c.level >= maxLevel || c.r.budget < len(text) {
		c.addUncertainty(unit, Uncertainty{Why: "code inside code, too much to be read"})
		return
	}
	c.r.budget -= len(text)
	n := &collector{inside: c.r.units[unit].Text, level: c.level + 1, cwd: c.cwd, fed: at != here || c.fed, r: c.r}
	first := len(c.r.units)
	if why := n.read(text); why != "" {
		c.addUncertainty(unit, Uncertainty{Why: "code that can not be read: " + why})
	}
	switch at {
	case here:
		c.cwd = n.cwd
	case later:
		c.r.later = append(c.r.later, unitRange{first, len(c.r.units)})
	}
}

// stdin reads the input of a shell as code.
func (c *collector) stdin(unit int, in input) {
	if in.file {
		return
	}
	if !in.exact {
		c.addUncertainty(unit, Uncertainty{Why: "code from its input"})
	}
	c.nested(unit, in.text, child)
}

// plainFile reports whether a word names a file: no stream of the process, and
// nothing that might be an option.
func plainFile(w Word) bool {
	if _, ok := homePath(w); ok {
		return true
	}
	switch {
	case !w.Literal && (!w.Glob || strings.HasPrefix(w.Shape, Unknown)):
		return false
	case w.Value == "" || w.Value[0] == '-':
		return false
	}
	file := w.Value
	for strings.Contains(file, "//") {
		file = strings.ReplaceAll(file, "//", "/")
	}
	return !strings.HasPrefix(file, "/dev/") && !strings.HasPrefix(file, "/proc/")
}

// stream reports whether a word names the input of the process.
func stream(w Word) bool {
	return slices.Contains([]string{"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"}, w.Value)
}
