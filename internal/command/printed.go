package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// printed adds what a statement prints to an origin. What it does not know may
// be anything.
func (c *collector) printed(o *origin, s *syntax.Stmt) {
	o.open = o.open || complains(s)
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if piped(cmd) {
			o.open = o.open || cmd.Op == syntax.PipeAll || complains(cmd.Y)
			c.printedBy(o, cmd.Y, cmd.X)
			return
		}
		c.printed(o, cmd.X)
		c.printed(o, cmd.Y)
	case *syntax.Block:
		c.allPrinted(o, cmd.Stmts)
	case *syntax.Subshell:
		c.allPrinted(o, cmd.Stmts)
	case *syntax.ArithmCmd, *syntax.TestClause, *syntax.LetClause:
	default:
		c.printedBy(o, s, nil)
	}
}

// complains reports whether errors are among what a statement prints.
func complains(s *syntax.Stmt) bool {
	return slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Op == syntax.DplOut })
}

func (c *collector) allPrinted(o *origin, all []*syntax.Stmt) {
	for _, s := range all {
		c.printed(o, s)
	}
}

// printedBy adds what a simple command prints, which may get its input from
// another statement.
func (c *collector) printedBy(o *origin, s, from *syntax.Stmt) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		o.open = true
		return
	}
	if len(call.Args) == 0 {
		o.open = o.open || len(call.Assigns) == 0
		return
	}
	p := printer{c: c, o: o, args: call.Args[1:], stmt: s, from: from}
	for _, w := range call.Args {
		p.words = append(p.words, c.parseWord(w))
	}
	name := p.words[0].Value
	o.name("()" + name) // it may be a function
	if !p.words[0].Literal || !p.echoes(name) && !p.counts(name) && !p.filters(name) {
		o.open = true
	}
}

// A printer is a simple command whose output is looked at.
type printer struct {
	c     *collector
	o     *origin
	words []Word
	args  []*syntax.Word
	stmt  *syntax.Stmt
	from  *syntax.Stmt // what it gets its input from
}

// echoes reads commands that print what they are given.
func (p printer) echoes(name string) bool {
	switch name {
	case ":", "true", "false", "test", "[", "sleep", "exit", "return":
		return true
	case "echo", "expr", "basename", "dirname", "seq", "wc":
		p.addArguments()
		return true
	case "printf":
		p.addArguments()
		return true
	case "du":
		p.addArguments()
		return p.option("s")
	case "grep", "egrep":
		return p.grepNumbers()
	}
	return false
}

// grepNumbers reads grep -c, and grep -o with a pattern of digits.
func (p printer) grepNumbers() bool {
	s := grammar{short: "cohsEiwxvm:", anywhere: true}.scan(p.words)
	rest := s.operands(p.words)
	if len(s.strange) > 0 || len(rest) == 0 || len(rest) > 2 || rest[len(rest)-1].Split { // of one file it prints no name
		return false
	}
	if _, ok := s.get("c"); ok {
		return true
	}
	_, ok := s.get("o")
	p.o.add(matched(rest[0].Shape, origin{open: true}))
	return ok
}

// addArguments adds the arguments.
func (p printer) addArguments() {
	if rest := (grammar{short: "v:"}).scan(p.words).operands(p.words); p.words[0].Value == "printf" && len(rest) > 0 && numeric(rest[0]) {
		return
	}
	prints := slices.Contains([]string{"echo", "printf", "expr"}, p.words[0].Value)
	for i, w := range p.args {
		word := p.words[i+1]
		if word.Literal && strings.HasPrefix(word.Value, "-") && !prints && !strings.ContainsAny(word.Value, "$`") {
			continue // an option, and no name
		}
		p.o.add(p.c.fileNamesOrigin(w))
		p.o.open = p.o.open || strings.Contains(strings.ReplaceAll(word.Shape, "\\n", ""), "\\")
	}
}

// option reports whether one of the words has an option of one letter.
func (p printer) option(letter string) bool {
	for _, w := range p.words[1:] {
		if w.Literal && len(w.Value) > 1 && w.Value[0] == '-' && w.Value[1] != '-' && strings.Contains(w.Value, letter) {
			return true
		}
	}
	return false
}

// numeric reports whether a format of printf prints numbers only.
func numeric(format Word) bool {
	rest := strings.ReplaceAll(format.Shape, "\\n", "")
	for {
		before, after, ok := strings.Cut(rest, "%")
		if strings.Trim(before, "0123456789.,:+-/ ") != "" {
			return false
		}
		if !ok {
			return true
		}
		after = strings.TrimLeft(after, "0123456789.+- ")
		if after == "" || strings.IndexByte("diuofe%", after[0]) < 0 {
			return false
		}
		rest = after[1:]
	}
}

// counts reads commands that print numbers, whatever they are given.
func (p printer) counts(name string) bool {
	switch name {
	case "nproc", "pidof":
		return true
	case "getconf", "tput", "ulimit": // a word, perhaps
		p.o.spelt = true
		return true
	case "id":
		p.identity()
		return true
	case "date":
		p.date()
		return true
	case "pgrep":
		return !p.option("a") && !p.option("l")
	case "git":
		return p.hasWord("rev-list") && p.hasWord("--count")
	case "stat":
		return p.sizes()
	}
	return false
}

// identity reads id, which may print a name.
func (p printer) identity() {
	p.o.spelt = p.o.spelt || p.option("n") || !p.option("u") && !p.option("g")
}

// sizes reads the format of stat.
func (p printer) sizes() bool {
	s := grammar{short: "c:L", long: "format: dereference", anywhere: true}.scan(p.words)
	f, ok := s.get("c", "format")
	rest := f.value.Shape
	for _, letter := range "sYXZWabBdhiugo" {
		rest = strings.ReplaceAll(rest, "%"+string(letter), "")
	}
	return ok && len(s.strange) == 0 && strings.Trim(rest, "0123456789 ") == ""
}

// date reads the format of date.
func (p printer) date() {
	for i, w := range p.words[1:] {
		switch {
		case strings.HasPrefix(w.Shape, "+") && strings.Trim(w.Shape, "+%sNYmdHMSjuwyVGgCeIkl_-. ") == "":
			return
		case strings.HasPrefix(w.Shape, "+") || strings.HasPrefix(w.Shape, Unknown):
			p.o.add(p.c.origin(p.args[i]))
		}
	}
	p.o.spelt = true // the names of days
}

func (p printer) hasWord(s string) bool {
	for _, w := range p.words[1:] {
		if w.Literal && w.Value == s {
			return true
		}
	}
	return false
}

// filters reads commands that print parts of their input.
func (p printer) filters(name string) bool {
	var g grammar
	switch name {
	case "tr":
		return p.deletes()
	case "awk":
		return len(p.words) == 2 && strings.ReplaceAll(p.words[1].Value, " ", "") == "{print$1}" && p.words[1].Literal && p.behindCount()
	case "head", "tail":
		g = grammar{short: "n:c:qvz", long: "lines: bytes: quiet"}
	case "cut":
		g = grammar{short: "d:f:c:b:s", long: "delimiter: fields: characters: bytes:"}
	case "sort", "uniq":
		g = grammar{short: "nruzcdhk:t:V"}
	case "cat", "xargs", "bc":
		g = grammar{short: "lq"}
	default:
		return false
	}
	s := g.scan(p.words)
	if len(s.operands(p.words)) > 0 {
		return false
	}
	p.addArguments()
	p.input()
	return true
}

// deletes reads tr -d.
func (p printer) deletes() bool {
	if len(p.words) != 3 || !p.words[2].Literal {
		return false
	}
	switch p.words[1].Value {
	case "-d":
		p.input()
		return true
	case "-dc", "-cd": // with no $ nor ` among what stays
		set := strings.NewReplacer("[:digit:]", "", "\\n", "").Replace(p.words[2].Value)
		return strings.Trim(set, "0123456789.-[]") == ""
	}
	return false
}

// behindCount reports whether the input comes from wc, whose first column is a
// number.
func (p printer) behindCount() bool {
	s := p.from
	for s != nil {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		s = b.Y
	}
	if s == nil || len(p.stmt.Redirs) > 0 {
		return false
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	p.o.name("()wc")
	return ok && len(call.Args) > 0 && call.Args[0].Lit() == "wc"
}

// input adds what the command reads.
func (p printer) input() {
	for _, r := range p.stmt.Redirs {
		if !fromZero(r) {
			continue
		}
		switch {
		case r.Op == syntax.WordHdoc:
			p.o.add(p.c.origin(r.Word))
			return
		case (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) && r.Hdoc != nil:
			p.o.add(p.c.origin(r.Hdoc))
			return
		case r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut || r.Op == syntax.DplIn:
			p.o.open = true
			return
		}
	}
	if p.from == nil {
		p.o.open = true
		return
	}
	p.c.printed(p.o, p.from)
}
