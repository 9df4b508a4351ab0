package command

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// optionsOf returns the options of a command that run a program, for words that are not known,
// including commands with readers of their own.
func optionsOf(name string) (flags, bool) {
	switch name {
	case "git":
		return flags{runs: "--ext-diff --upload-pack --exec --output -c"}, true
	case "find", "gfind", "bfs":
		return flags{runs: "-exec -execdir -ok -okdir -delete", lone: true, goes: true}, true
	case "fd", "fdfind":
		return flags{runs: "-x -X --exec --exec-batch"}, true
	case "sed", "gsed", "ssed":
		return flags{runs: "-e -f --expression --file"}, true
	case "sqlite3":
		return flags{runs: "-cmd -init", any: true}, true
	}
	return flagsOf(name)
}

// computed adds an uncertainty if a word of a command may turn out to be an option that runs a
// program. A variable is assumed not to be one; the unquoted output of a command may be, unless the
// command prints names or numbers.
func (c *collector) computed(unit int, cmd *syntax.CallExpr) {
	u := c.r.units[unit]
	if u.Kind != Command || len(u.Words) < 2 || !u.Words[0].Literal || !slices.ContainsFunc(u.Words, func(w Word) bool { return strings.HasPrefix(w.Shape, Unknown) }) {
		return
	}
	f, ok := optionsOf(programName(u.Words[0].Value))
	if !ok {
		return
	}
	c.r.parameters = append(c.r.parameters, unit)
	calm := harmlessGit(u.Words)
	for i, w := range u.Words[1:] {
		if w.Shape == "--" && !f.goes && f.endsOptions(u.Words[:i+1]) {
			return
		}
		if (open(w) || !calm && mayBeOneOption(u.Words[:i+2], f)) && c.suspicious(cmd.Args[i+1].Parts, f) {
			c.addUncertainty(unit, Uncertainty{Why: "an option may be computed that runs a program"})
			return
		}
	}
}

// mayBeOneOption reports whether the last of some words may be one of some options, and
// is one word.
func mayBeOneOption(words []Word, f flags) bool {
	w, before := words[len(words)-1], words[:len(words)-1]
	return !w.Split && strings.HasPrefix(w.Shape, Unknown) && !f.value(before)
}

// open reports whether a word may be anything.
func open(w Word) bool { return w.Split && strings.HasPrefix(w.Shape, Unknown) }

// harmlessGit reports whether a git command has no option that runs a program or writes a file: git
// commit -m "$(…)" only contains a message.
func harmlessGit(words []Word) bool {
	if programName(words[0].Value) != "git" {
		return false
	}
	_, rest := gitCommand(words)
	return len(rest) > 0 && !strings.HasPrefix(rest[0].Shape, Unknown) &&
		!slices.Contains(strings.Fields("fetch pull push clone ls-remote archive grep difftool rebase fetch-pack send-pack log diff show whatchanged format-patch diff-tree"), rest[0].Shape)
}

// suspicious reports whether the known beginning of a word may belong to one of some options.
func (c *collector) suspicious(parts []syntax.WordPart, f flags) bool {
	if len(parts) == 0 {
		return false
	}
	switch p := parts[0].(type) {
	case *syntax.DblQuoted:
		if len(p.Parts) == 0 {
			return c.suspicious(parts[1:], f)
		}
		return c.suspicious(p.Parts, f)
	case *syntax.SglQuoted:
		return p.Value == "" && c.suspicious(parts[1:], f)
	case *syntax.CmdSubst:
		return len(p.Stmts) != 1 || !c.listing(p.Stmts[0], f)
	case *syntax.ParamExp:
		return c.r.suspects[simpleName(p)] || c.puts(p, f)
	}
	return false
}

// puts reports whether an expansion puts one of some options in the place of
// what a variable holds.
func (c *collector) puts(p *syntax.ParamExp, f flags) bool {
	var w *syntax.Word
	switch {
	case p.Exp != nil:
		w = p.Exp.Word
	case p.Repl != nil:
		w = p.Repl.With
	}
	if w == nil {
		return false
	}
	word, guess := readWord(c.src, w, c.r.known)
	if p.Repl != nil && !p.Repl.All && strings.HasPrefix(word.Shape, "-") {
		return true
	}
	return f.inText(word.Shape) || f.inText(guess) || c.suspicious(w.Parts, f)
}

// suspect notes a variable that is given what a command prints, unless these
// are names or numbers.
func (c *collector) suspect(name string, w *syntax.Word) {
	if w == nil || len(w.Parts) == 0 {
		return
	}
	parts := w.Parts
	if q, ok := parts[0].(*syntax.DblQuoted); ok && len(q.Parts) > 0 {
		parts = q.Parts
	}
	sub, ok := parts[0].(*syntax.CmdSubst)
	if !ok || len(sub.Stmts) == 1 && c.listing(sub.Stmts[0], flags{}) {
		return
	}
	if c.r.suspects == nil {
		c.r.suspects = map[string]bool{}
	}
	c.r.suspects[name] = true
}

// maxHanded is how many words of a list are put in for it.
const maxHanded = 32

// hand notes the words of a list: of an array, or those that set leaves as
// parameters, whose name is @.
func (c *collector) hand(name string, words []Word) {
	if c.r.handed == nil {
		c.r.handed = map[string][]Word{}
	}
	words = append(slices.Clip(c.r.handed[name]), words...)
	c.r.handed[name] = words[:min(len(words), maxHanded+1)]
}

// handed reads code that gets some words as its parameters, behind its name.
func (c *collector) handed(words []Word, read func()) {
	c.giveRaw("@", words)
	if len(words) < 2 {
		read()
		return
	}
	before := c.r.handed["@"]
	delete(c.r.handed, "@")
	c.hand("@", words[1:])
	read()
	c.r.handed["@"] = before
}

// handArray notes the elements of an array.
func (c *collector) handArray(name string, array *syntax.ArrayExpr) {
	words := make([]Word, 0, len(array.Elems))
	for _, e := range array.Elems {
		if e.Value != nil {
			words = append(words, c.parseWord(e.Value))
		}
	}
	c.hand(name, words)
}

// handParameters notes what set leaves as parameters.
func (c *collector) handParameters(words []Word) {
	i := 1
	for i < len(words) && isOption(words[i].Shape) && words[i].Shape != "--" {
		i++
	}
	if i < len(words) && words[i].Shape == "--" {
		i++
	}
	c.hand("@", words[i:])
}

// handedTo are the words that a word stands for which is a list, if that is
// known; or one of them.
func (c *collector) handedTo(w *syntax.Word) []Word {
	if len(c.r.handed) == 0 || len(w.Parts) != 1 {
		return nil
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil {
		return nil
	}
	name := p.Param.Value
	if index, ok := p.Index.(*syntax.Word); ok && (index.Lit() == "@" || index.Lit() == "*") {
		return c.r.handed[name]
	}
	if name == "*" {
		name = "@"
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= len(c.r.handed["@"]) {
		return c.r.handed["@"][n-1 : n]
	}
	return c.r.handed[name]
}

// parameter reports whether a word is what a function or a script was handed.
func parameter(w Word) bool {
	name := strings.Trim(w.Raw, `"${}`)
	return strings.HasPrefix(strings.TrimPrefix(w.Raw, `"`), "$") && (name == "@" || name == "*" || name != "" && strings.Trim(name, "0123456789") == "")
}

// value notes a text that a variable is given, if there may be an option in it.
func (r *reading) value(text string) {
	if strings.Contains(text, "-") {
		r.values = append(r.values, text)
	}
}

// reads notes what a command of the shell puts into a variable.
func (c *collector) reads(name string, words []Word, in input) {
	switch name {
	case "read", "mapfile", "readarray":
		c.r.value(in.text)
		c.r.sets(words[1:]...)
		for _, name := range append(slices.Clip(words[1:]), literalWord("REPLY"), literalWord("MAPFILE")) {
			c.give(bareName(name.Shape), source{input: true})
		}
	case "printf":
		if to, ok := printfName(words); ok {
			c.r.value(strings.Join(wordValues(words[min(3, len(words)):]), " "))
			c.r.sets(to)
			c.giveRaw(bareName(to.Shape), []Word{{Raw: "$(printf " + rawText(words[min(3, len(words)):]) + ")"}})
		}
	case "set":
		c.handParameters(words)
		c.giveRaw("@", words[1:])
	case "getopts":
		c.giveRaw("@", words[min(3, len(words)):])
		c.giveRaw("OPTARG", []Word{{Raw: "$@"}})
	}
}

// sets notes the names of variables that commands or references set.
func (r *reading) sets(names ...Word) {
	if r.set == nil {
		r.set = map[string]bool{}
	}
	for _, w := range names {
		if strings.Contains(w.Shape, Unknown) {
			r.set[Unknown] = true // it may be any
		}
		r.set[w.Shape] = true
	}
}

// varies reports whether a word is a variable that is not known to have one
// value.
func (r *reading) varies(w Word) bool {
	raw := strings.Trim(w.Raw, `"`)
	if !strings.HasPrefix(w.Shape, Unknown) || !strings.HasPrefix(raw, "$") || strings.HasPrefix(raw, "$(") {
		return false
	}
	name := strings.Trim(raw, "${}")
	value, ok := r.known[name]
	return !ok || value == Unknown || r.set[name] || r.set[Unknown]
}

// cutsOut reports whether a word begins with a variable of which bash takes a
// part, or writes it in other letters.
func cutsOut(w Word) bool {
	raw, ok := strings.CutPrefix(strings.Trim(w.Raw, `"`), "${")
	return ok && strings.HasPrefix(w.Shape, Unknown) && strings.ContainsAny(raw, "#%:/^,@")
}

// markParameters runs when everything has been read. It adds uncertainties to commands that receive
// what the line assigns to a variable or passes to a function.
func (r *reading) markParameters() {
	type found struct{ given, called, within bool }
	programs := map[string]found{}
	for _, i := range r.parameters {
		u := &r.units[i]
		name := programName(u.Words[0].Value)
		p, ok := programs[name]
		if !ok {
			f, _ := optionsOf(name)
			p = found{slices.ContainsFunc(r.values, f.inText), r.calledWith(f), slices.ContainsFunc(r.values, f.occursIn)}
			programs[name] = p
		}
		if p.given && slices.ContainsFunc(u.Words, r.varies) {
			u.Uncertainties = append(u.Uncertainties, Uncertainty{Why: "an option that a variable is given runs a program"})
		}
		if p.within && slices.ContainsFunc(u.Words, cutsOut) {
			u.Uncertainties = append(u.Uncertainties, Uncertainty{Why: "a part of what a variable is given runs a program as an option"})
		}
		if p.called && slices.ContainsFunc(u.Words, parameter) {
			u.Uncertainties = append(u.Uncertainties, Uncertainty{Why: "an option that a function is handed runs a program"})
		}
	}
}

// calledWith reports whether a function of the line is called with one of some
// options.
func (r *reading) calledWith(f flags) bool {
	if len(r.functions) == 0 {
		return false
	}
	functions := make(map[string]bool, len(r.functions))
	for _, name := range r.functions {
		functions[name] = true
	}
	for _, u := range r.units {
		if len(u.Words) < 2 || !functions[u.Words[0].Value] {
			continue
		}
		if slices.ContainsFunc(u.Words[1:], func(w Word) bool { return f.match(w.Shape, false) != "" }) {
			return true
		}
	}
	return false
}
