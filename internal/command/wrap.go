package command

import (
	"slices"
	"strings"
)

// unwrapped is what a wrapper runs.
type unwrapped struct {
	payload       []Word
	uncertainties []Uncertainty
	shell         bool  // it runs a shell that reads its input
	code          *Word // env -S: words that are written as one
	dir           *Word // where the payload runs
	moved         bool  // the payload runs somewhere else
	same          bool  // the payload runs in the shell itself
	counted       bool  // as in scanned
}

// unwrap finds the payload of a wrapper.
func (w wrapper) unwrap(words []Word) unwrapped {
	s := w.scan(words)
	name := words[0].Value
	out := unwrapped{same: w.same, shell: w.shell, counted: s.counted}
	out.uncertainties = s.uncertainties(name)
	for _, o := range s.options {
		out.option(w, o)
	}
	if out.query(w, s) {
		return unwrapped{}
	}
	rest := s.operands(words)
	rest = out.assignments(w, name, rest)
	if _, given := s.get("t", "u", "r", "l", "c", "type", "user", "role", "range", "compute"); given && baseName(name) == "runcon" {
		w.args = 0 // they are the context that else comes first
	}
	for range min(w.args, len(rest)) {
		if rest[0].Split {
			out.uncertainties = append(out.uncertainties, Uncertainty{Why: "what " + name + " runs is computed"})
		}
		rest = rest[1:]
	}
	if w.moves == "*" {
		out.moved = true
	}
	if len(rest) > 0 && strings.HasPrefix(rest[0].Shape, "-") {
		out.uncertainties = append(out.uncertainties, Uncertainty{Why: name + " has an option behind its words", Flag: strings.Trim(rest[0].Shape, Unknown)})
	}
	out.payload = rest
	return out
}

// assignments reads the variables in front of the payload, and returns what
// follows them.
func (u *unwrapped) assignments(w wrapper, name string, rest []Word) []Word {
	for w.assigns && len(rest) > 0 {
		n, value, ok := assignment(rest[0])
		if !ok && w.loose {
			n, value, ok = cutWord(rest[0], "=")
		}
		if !ok && !(w.loose && rest[0].Shape == "-") {
			break
		}
		if substituted(rest[0]) {
			u.uncertainties = append(u.uncertainties, Uncertainty{Why: "what " + name + " runs is computed"})
		}
		u.uncertainties = append(u.uncertainties, sets(n)...)
		if hidesCode(value.Shape) {
			u.uncertainties = append(u.uncertainties, Uncertainty{Why: "text that bash runs where it takes it for a number"})
		}
		rest = rest[1:]
	}
	return rest
}

// query reports whether nothing is run with the options.
func (u *unwrapped) query(w wrapper, s scanned) bool {
	if w.only != "" {
		_, ok := s.get(w.only)
		return !ok
	}
	for _, o := range s.options {
		if w.query != "" && slices.Contains(strings.Fields(w.query), o.name) || o.name == "help" || o.name == "version" {
			return true
		}
	}
	return false
}

// option notes what an option changes.
func (u *unwrapped) option(w wrapper, o option) {
	switch o.name {
	case "S", "split-string":
		if strings.Contains(w.long, "split-string") && o.given {
			u.code = &o.value
		}
	case "E", "env", "setenv":
		if o.given { // strace, systemd-run
			n, _, _ := cutWord(o.value, "=")
			u.uncertainties = append(u.uncertainties, varUncertainties(literalWord("option"), Word{Shape: n, Value: n})...)
		}
	case "preload", "audit":
		u.uncertainties = append(u.uncertainties, Uncertainty{Why: "code that is loaded first", Flag: "--" + o.name})
	case "o", "output":
		if strings.IndexAny(strings.TrimLeft(o.value.Shape, " "), "|!") == 0 {
			u.uncertainties = append(u.uncertainties, Uncertainty{Why: "output that goes to a command"})
		}
	}
	if w.moves == "" || !slices.Contains(strings.Fields(w.moves), o.name) {
		return
	}
	u.moved = true
	if o.name == "C" || o.name == "chdir" || o.name == "D" {
		u.dir = &o.value
	}
}

// payloads adds the commands that a unit runs because it is a wrapper.
func (c *collector) payloads(unit int, name string, in input) {
	words := c.r.units[unit].Words
	switch name {
	case "find", "gfind", "bfs":
		c.find(unit, words)
		return
	case "fd", "fdfind":
		c.fd(unit, words)
		return
	case "xargs", "gxargs":
		c.xargs(unit, words, in)
		return
	}
	w, ok := wrapperOf(name)
	if !ok {
		return
	}
	u := w.unwrap(words)
	c.addUncertainty(unit, u.uncertainties...)
	c.counts(unit, u.counted)
	before := c.cwd
	switch {
	case u.dir != nil:
		to, known := goal([]Word{*u.dir}, 0)
		c.cwd.changeTo(to, known)
	case u.moved:
		c.cwd = workDirs{lost: true}
	}
	switch {
	case u.code != nil:
		c.splitString(unit, *u.code, u.payload)
	case len(u.payload) > 0:
		c.payload(unit, u.payload, in)
	case u.shell:
		c.stdin(unit, in)
	}
	if !u.same || u.moved {
		c.cwd = before
	}
}

// splitString adds what env -S runs: env with the words of a string.
func (c *collector) splitString(unit int, s Word, rest []Word) {
	text := "env " + s.Value + " " + rawText(rest)
	if !s.Literal {
		c.addUncertainty(unit, Uncertainty{Why: "code that is computed"})
	}
	if strings.ContainsAny(s.Value, "$\\;&|<>()`*?[{#~") {
		c.addUncertainty(unit, Uncertainty{Why: "words that env splits in its own way", Flag: "-S"})
	}
	c.nested(unit, text, child)
}

// payload adds a command that another one runs, and what that runs in turn.
func (c *collector) payload(unit int, words []Word, in input) {
	if len(words) == 0 {
		return
	}
	n := *c
	n.inside = c.r.units[unit].Text
	n.level++
	if n.level > maxLevel {
		c.addUncertainty(unit, Uncertainty{Why: "commands inside commands, too many to be read"})
		for inner := words; len(inner) > 0; {
			words = inner
			inner = crudePayload(inner)
		}
	}
	if n.level > maxLevel+1 {
		return
	}
	inner := n.add(Unit{Text: rawText(words), Words: words}, nil)
	n.carriedCode(inner, in)
	c.cwd = n.cwd
}

// crudePayload is the payload of a plain wrapper, or nil.
func crudePayload(words []Word) []Word {
	if len(words) == 0 || !words[0].Literal {
		return nil
	}
	w, ok := wrapperOf(baseName(words[0].Value))
	if !ok {
		return nil
	}
	return w.unwrap(words).payload
}

// fillHole is a command in some words of which something else is put in when it
// is run.
func fillHole(words []Word, hole string) []Word {
	if hole == "" {
		return words
	}
	out := slices.Clone(words)
	for i, w := range out {
		if strings.Contains(w.Shape, hole) {
			out[i].Shape = strings.ReplaceAll(w.Shape, hole, Unknown)
			out[i].Literal, out[i].Glob = false, false
		}
	}
	return out
}

// xargs adds what xargs runs.
func (c *collector) xargs(unit int, words []Word, in input) {
	g := grammar{
		short: "a:d:E:I:J:R:S:L:n:P:s:e::i::l::0oprtx",
		long: "arg-file: delimiter: eof:: replace:: max-lines:: max-args: max-procs: max-chars: process-slot-var: null open-tty no-run-if-empty " +
			"verbose interactive exit show-limits help version",
	}
	s := g.scan(words)
	c.strange(unit, s)
	if o, ok := s.get("process-slot-var"); ok {
		c.addUncertainty(unit, varUncertainties(words[0], o.value)...)
	}
	rest := s.operands(words)
	if len(rest) == 0 {
		return
	}
	if f, ok := optionsOf(programName(rest[0].Value)); ok && (f.inText(in.text) || !harmlessGit(rest) && !c.isNameList(in, f)) {
		c.addUncertainty(unit, Uncertainty{Why: "an option may come from its input that runs a program"})
	}
	if o, ok := s.get("I", "i", "replace"); ok {
		hole := "{}"
		if o.given && o.value.Shape != "" {
			hole = o.value.Shape
		}
		rest = fillHole(rest, hole)
	} else {
		rest = append(slices.Clip(rest), Word{Shape: Unknown, Split: true})
	}
	c.payload(unit, rest, input{file: true})
}

// strange adds the uncertainties about the options of a command that runs another, and
// about words that stand before that: one that is several moves it.
func (c *collector) strange(unit int, s scanned, before ...Word) {
	name := c.r.units[unit].Words[0].Value
	for _, w := range before {
		s.valued(w)
	}
	c.addUncertainty(unit, s.uncertainties(name)...)
	c.counts(unit, s.counted)
}

// uncertainties are the uncertainties about the options of a command.
func (s scanned) uncertainties(name string) (out []Uncertainty) {
	for _, o := range s.strange {
		out = append(out, Uncertainty{Why: name + " has an option that is not known", Flag: strings.Trim(o, Unknown)})
	}
	if s.split {
		out = append(out, Uncertainty{Why: "what " + name + " runs is computed"})
	}
	return out
}

// counts adds an uncertainty where what is taken for a number is no longer one.
func (c *collector) counts(unit int, counted bool) {
	if counted && slices.Contains(c.r.functions, "nproc") {
		c.addUncertainty(unit, Uncertainty{Why: "a number that is computed by the line itself"})
	}
}

// fd adds what fd runs.
func (c *collector) fd(unit int, words []Word) {
	for i := 1; i < len(words); i++ {
		shape := words[i].Shape
		var rest []Word
		switch {
		case shape == "--":
			return
		case shape == "--exec" || shape == "--exec-batch":
			rest = words[i+1:]
		case strings.HasPrefix(shape, "--exec=") || strings.HasPrefix(shape, "--exec-batch="):
			_, value, _ := cutWord(words[i], "=")
			rest = append([]Word{value}, words[i+1:]...)
		case len(shape) > 1 && shape[0] == '-' && shape[1] != '-' && strings.ContainsAny(shape, "xX"):
			rest = words[i+1:]
			if at := strings.IndexAny(shape, "xX"); at+1 < len(shape) {
				rest = append([]Word{glued(words[i], at+1)}, rest...)
			}
		default:
			continue
		}
		if end := slices.IndexFunc(rest, func(w Word) bool { return w.Shape == ";" }); end >= 0 {
			rest = rest[:end]
		}
		if hasHole(rest) {
			rest = fillHole(rest, "{}")
		} else {
			rest = append(slices.Clip(rest), Word{Shape: Unknown, Split: true})
		}
		c.payload(unit, rest, input{file: true})
		return
	}
}

func hasHole(words []Word) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return strings.Contains(w.Shape, "{") })
}

// rawText is the text of some words.
func rawText(words []Word) string {
	raw := make([]string, 0, len(words))
	for _, w := range words {
		if w.Raw != "" {
			raw = append(raw, w.Raw)
		}
	}
	return strings.Join(raw, " ")
}
