package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An input is what a command gets on its standard input.
type input struct {
	text  string // what of it stands in the line
	exact bool   // text is all of it
	file  bool   // it is a file, or empty
	plain bool   // a command prints it that prints text of the line, or files
	none  bool   // nobody hands it anything

	wrote bool         // the line itself has written the file
	from  *syntax.Stmt // the pipe that it comes from
}

// fullyKnown reports whether the whole input is in the line.
func (in input) fullyKnown() bool { return in.exact || in.file || in.plain || in.none }

// input finds out what a statement gets on its standard input, which may come from another one.
func (c *collector) input(s, from *syntax.Stmt) input {
	in := input{none: from == nil && !c.fed}
	c.giveInput(s, from)
	if from != nil {
		in.text, in.plain = c.guessOutput(from)
	}
	for _, r := range s.Redirs {
		if !fromZero(r) {
			continue
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = c.document(r)
		case syntax.WordHdoc:
			w := c.parseWord(r.Word)
			in = input{text: w.Value, exact: w.Literal}
		case syntax.RdrIn, syntax.RdrInOut:
			w := c.parseWord(r.Word)
			in = input{file: plainFile(w), wrote: c.r.wrote(w.Value), text: c.processText(r.Word)}
		case syntax.DplIn:
			in = input{}
		}
	}
	return in
}

// isNameList reports whether an input is a list of names that has none of some
// options in it, or all of it stands in the line.
func (c *collector) isNameList(in input, f flags) bool {
	switch {
	case in.exact || in.none || in.plain && in.text != "":
		return true
	case in.file:
		return !in.wrote
	}
	return in.from != nil && c.listing(in.from, f)
}

// fromZero reports whether a redirection is one of the standard input, if it is
// one of input.
func fromZero(r *syntax.Redirect) bool {
	return r.N == nil || r.N.Value != "" && strings.Trim(r.N.Value, "0") == ""
}

// processText is what of the output of <(…) stands in the line.
func (c *collector) processText(w *syntax.Word) string {
	if w == nil || len(w.Parts) != 1 {
		return ""
	}
	p, ok := w.Parts[0].(*syntax.ProcSubst)
	if !ok || len(p.Stmts) != 1 {
		return ""
	}
	text, _ := c.guessOutput(p.Stmts[0])
	return text
}

// document reads a here-document.
func (c *collector) document(r *syntax.Redirect) input {
	in := input{exact: true}
	if r.Hdoc == nil {
		in.file = true // it is empty
		return in
	}
	delimiter := c.parseWord(r.Word)
	var text strings.Builder
	for _, p := range r.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		switch {
		case !ok:
			in.exact = false
			text.WriteString(c.src[offset(p.Pos()):min(offset(p.End()), len(c.src))])
		case delimiter.Raw != delimiter.Value:
			text.WriteString(lit.Value)
		default:
			text.WriteString(unescape(lit.Value, "$`\\\n"))
		}
	}
	in.text = text.String()
	return in
}

// guessOutput guesses what a statement prints, if it is simple. plain says that this is all, or
// that the rest is in files.
func (c *collector) guessOutput(s *syntax.Stmt) (text string, plain bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	args := make([]Word, len(call.Args)-1)
	for i, w := range call.Args[1:] {
		args[i] = c.parseWord(w)
	}
	name := baseName(c.parseWord(call.Args[0]).Value)
	switch {
	case c.defined(name):
		return "", false
	case name == "cat" || name == "tee":
		in := c.input(s, nil)
		return in.text, in.exact || in.file || name == "cat" && inFiles(args)
	}
	return printedText(name, args)
}

// printedText is output for a command that reads no input.
func printedText(name string, args []Word) (text string, plain bool) {
	all := strings.Join(wordValues(args), "\n")
	switch name {
	case "echo":
		return strings.Join(wordValues(args), " "), written(args)
	case "printf":
		return strings.NewReplacer(`\n`, "\n", "%s", " ", "%b", " ").Replace(all), written(args) && len(args) == 1 && !strings.Contains(all, "%")
	case "zcat", "xzcat", "bzcat", "gunzip":
		return "", written(args) && slices.ContainsFunc(args, plainFile) && !slices.ContainsFunc(args, stream)
	case "pg_dump", "mysqldump":
		return "", written(args) && !slices.ContainsFunc(args, stream)
	}
	return "", false
}

// written reports whether some words are known, and mean what they say.
func written(words []Word) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w Word) bool { return !w.Literal || strings.Contains(w.Value, `\`) })
}

// inFiles reports whether some words are plain files.
func inFiles(words []Word) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w Word) bool { return !plainFile(w) })
}

// feeds reports whether a statement hands its commands an input.
func feeds(s *syntax.Stmt) bool {
	return slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
			return true
		}
		return false
	})
}
