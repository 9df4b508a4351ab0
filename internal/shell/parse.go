package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Kind says what a [Unit] is.
type Kind int

// The kinds of units.
const (
	Command     Kind = iota // a simple command
	Declaration             // export, declare, local, readonly, typeset, nameref
	Assignment              // variables set for the shell itself: A=1
	Redirection             // redirections without a command of their own: > f, or of a group
	Test                    // [ … ], which OpenCode does not judge
	Piece                   // a part of a text that could not be parsed
)

// A Unit is one simple command of a command line. Text and the Raw of its
// words are parts of the command line as it was written.
type Unit struct {
	Kind Kind

	// Text is the whole of it, with assignments and redirections. With a
	// here-document it reaches to the end of that, over whatever else stands
	// on the line, so that an approval of the text is one of the document too.
	Text string

	Assigns   []Assign
	Words     []Word // the command and its arguments; of a declaration also name=value
	Redirects []Redirect
}

// An Assign is a variable that is set in front of a command, or on its own.
type Assign struct {
	Name string
	Raw  string // all of it, as written
}

// A Redirect is a redirection of input or output.
type Redirect struct {
	Op     string // >, >>, <, <<, <<<, &>, …
	FD     string // the number or {name} in front; often empty
	Target Word   // the file, descriptor, string or delimiter
}

// A Line is a command line that has been read.
type Line struct {
	Units []Unit // in the order they are written

	// Functions are the names the text defines as functions. A unit of such a
	// name runs no program of that name.
	Functions []string

	// Opaque says why the text, or a part of it, could not be read. It is
	// empty when all of it was. Otherwise bash may run more than Units say:
	// they then hold what could be read, and the text roughly split.
	Opaque string
}

// Parse reads a command line in bash's grammar. It finds every simple command:
// in lists, pipes, groups, loops, functions, and in substitutions wherever
// these stand.
//
// It takes at most linear time, and texts that are too long or nested too
// deeply are opaque.
func Parse(command string) (line Line) {
	defer func() {
		if r := recover(); r != nil { // a fault of ours or of the parser must not allow anything
			line = Line{Units: pieces(command), Opaque: fmt.Sprintf("not understood: %v", r)}
		}
	}()
	return parse(command)
}

func parse(command string) Line {
	if len(command) > maxSize {
		return Line{Units: pieces(command), Opaque: fmt.Sprintf("longer than %d bytes", maxSize)}
	}
	var stmts []*syntax.Stmt
	var failed error
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(&shallowReader{command}) {
		if failed == nil {
			failed = err // no break: the parser goes on after one
		}
		if failed == nil {
			stmts = append(stmts, s)
		}
	}
	c := collector{src: command}
	var line Line
	switch {
	case errors.Is(failed, errTooDeep):
		return Line{Units: pieces(command), Opaque: errTooDeep.Error()}
	case failed != nil:
		line.Opaque = "syntax error: " + failed.Error()
	case strings.IndexByte(command, 0) >= 0:
		line.Opaque = "it holds a NUL"
	case strings.IndexByte(command, '\r') >= 0:
		// to the parser a carriage return is part of the line's end, to bash it
		// is a character like others
		line.Opaque = "it holds a carriage return"
	}
	for _, s := range stmts {
		c.stmt(s, -1)
	}
	line.Units, line.Functions = c.units, c.functions
	if line.Opaque != "" {
		line.Units = append(line.Units, pieces(command)...)
	}
	return line
}

// A collector gathers the units of a syntax tree.
type collector struct {
	src       string
	units     []Unit
	functions []string
}

// stmt gathers the units of one statement. lead is where the keyword time
// stands before it, or negative. Lists and pipes lean to the left and may be
// very long, so they are not descended into but unrolled.
func (c *collector) stmt(s *syntax.Stmt, lead int) {
	var right []*syntax.Stmt
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		right = append(right, b.Y)
		s = b.X
	}
	c.command(s, lead)
	for i := len(right) - 1; i >= 0; i-- {
		c.stmt(right[i], -1)
	}
}

func (c *collector) command(s *syntax.Stmt, lead int) {
	switch cmd := s.Cmd.(type) {
	case nil:
		c.redirections(s)
	case *syntax.CallExpr:
		u := c.call(cmd)
		u.Redirects = c.redirects(s)
		start, end := c.span(cmd, s.Redirs)
		u.Text = c.src[start:end]
		if lead >= 0 && len(u.Words) > 0 {
			timed := u
			timed.Assigns = nil
			timed.Words = append(c.fields(lead, lead+len("time")), u.Words...)
			timed.Text = c.src[lead:end]
			c.units = append(c.units, timed)
		}
		c.units = append(c.units, u)
		c.inside(cmd)
		c.insideRedirects(s)
	case *syntax.DeclClause:
		c.clause(s, cmd, Declaration, c.declared(cmd))
	case *syntax.LetClause:
		start, end := offset(cmd.Pos()), offset(cmd.End())
		c.clause(s, cmd, Command, c.fields(start, end))
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			c.stmt(cmd.Stmt, offset(cmd.Time))
		}
		c.redirections(s)
	case *syntax.FuncDecl:
		if cmd.Name != nil {
			c.functions = append(c.functions, cmd.Name.Value)
		}
		c.inside(cmd)
		c.redirections(s)
	default:
		c.inside(cmd)
		c.redirections(s)
	}
}

// clause adds a unit for a command the parser has a node of its own for.
func (c *collector) clause(s *syntax.Stmt, cmd syntax.Command, kind Kind, words []Word) {
	start, end := c.span(cmd, s.Redirs)
	c.units = append(c.units, Unit{Kind: kind, Text: c.src[start:end], Words: words, Redirects: c.redirects(s)})
	c.inside(cmd)
	c.insideRedirects(s)
}

// inside gathers the units of the statements below a node.
func (c *collector) inside(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			c.stmt(s, -1)
			return false
		}
		return true
	})
}

func (c *collector) insideRedirects(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		c.inside(r)
	}
}

// redirections adds a unit for redirections that belong to no simple command.
func (c *collector) redirections(s *syntax.Stmt) {
	if len(s.Redirs) == 0 {
		return
	}
	start, end := c.span(nil, s.Redirs)
	c.units = append(c.units, Unit{Kind: Redirection, Text: c.src[start:end], Redirects: c.redirects(s)})
	c.insideRedirects(s)
}

func (c *collector) call(cmd *syntax.CallExpr) Unit {
	var u Unit
	for _, a := range cmd.Assigns {
		as := Assign{Raw: c.src[offset(a.Pos()):offset(a.End())]}
		if a.Name != nil {
			as.Name = a.Name.Value
		}
		u.Assigns = append(u.Assigns, as)
	}
	for _, w := range cmd.Args {
		u.Words = append(u.Words, readWord(c.src, w))
	}
	switch {
	case len(u.Words) == 0:
		u.Kind = Assignment
	case u.Words[0].Raw == "[":
		u.Kind = Test
	}
	return u
}

// declared gives the words of a declaration.
func (c *collector) declared(cmd *syntax.DeclClause) []Word {
	words := []Word{{Raw: cmd.Variant.Value, Value: cmd.Variant.Value, Literal: true}}
	for _, a := range cmd.Args {
		raw := c.src[offset(a.Pos()):offset(a.End())]
		w := Word{Raw: raw, Value: raw}
		if a.Index == nil && a.Array == nil {
			w.Literal = true
			if a.Value != nil {
				v := readWord(c.src, a.Value)
				w.Value = raw[:len(raw)-len(v.Raw)] + v.Value
				w.Literal = v.Literal
			}
		}
		words = append(words, w)
	}
	return words
}

// fields gives the words of a part of the text that the parser did not read as
// words.
func (c *collector) fields(start, end int) []Word {
	var words []Word
	for f := range strings.FieldsSeq(c.src[start:end]) {
		words = append(words, Word{Raw: f, Value: f, Literal: !strings.ContainsAny(f, "$`'\"\\")})
	}
	return words
}

func (c *collector) redirects(s *syntax.Stmt) []Redirect {
	var all []Redirect
	for _, r := range s.Redirs {
		re := Redirect{Op: r.Op.String(), Target: readWord(c.src, r.Word)}
		if r.N != nil {
			re.FD = r.N.Value
		}
		all = append(all, re)
	}
	return all
}

// span says where a command with its redirections begins and ends.
func (c *collector) span(cmd syntax.Command, redirs []*syntax.Redirect) (start, end int) {
	start, end = len(c.src), 0
	if cmd != nil {
		start, end = offset(cmd.Pos()), offset(cmd.End())
	}
	for _, r := range redirs {
		start = min(start, offset(r.Pos()))
		end = max(end, offset(r.Word.End()))
		if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
			end = max(end, c.docEnd(r))
		}
	}
	return start, min(end, len(c.src))
}

// docEnd says where the line with a here-document's delimiter ends.
func (c *collector) docEnd(r *syntax.Redirect) int {
	if r.Hdoc == nil || len(r.Hdoc.Parts) == 0 {
		return 0
	}
	end := offset(r.Hdoc.End())
	if i := strings.IndexByte(c.src[end:], '\n'); i >= 0 {
		return end + i
	}
	return len(c.src)
}

func offset(p syntax.Pos) int { return int(p.Offset()) }
