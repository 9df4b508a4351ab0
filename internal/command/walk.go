package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stmts gathers the units of statements that run one after the other.
func (c *collector) stmts(all []*syntax.Stmt) {
	for _, s := range all {
		c.stmt(s, -1)
		c.cwd.mergeFailed()
	}
}

// stmt gathers the units of one statement. lead is where the keyword time
// stands before it, or negative. Lists and pipes lean to the left and may be
// very long, so they are not descended into but unrolled.
func (c *collector) stmt(s *syntax.Stmt, lead int) {
	before := c.cwd
	background := s.Background || s.Coprocess
	var right []*syntax.BinaryCmd
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		right = append(right, b)
		s = b.X
	}
	n := len(right)
	c.element(s, flow{lead: lead, piped: n > 0 && piped(right[n-1])})
	for i := n - 1; i >= 0; i-- {
		f := flow{lead: -1, op: right[i].Op, piped: piped(right[i]) || i > 0 && piped(right[i-1])}
		if piped(right[i]) {
			f.from, f.pipe = right[i].X, right[i].X
			if b, ok := f.from.Cmd.(*syntax.BinaryCmd); ok {
				f.from = b.Y
			}
		}
		c.element(right[i].Y, f)
	}
	if background {
		c.cwd = before
	}
}

func piped(b *syntax.BinaryCmd) bool { return b.Op == syntax.Pipe || b.Op == syntax.PipeAll }

// A flow is what stands around an element of a list or pipe.
type flow struct {
	lead  int                   // where the keyword time stands, or negative
	op    syntax.BinCmdOperator // what stands before it
	piped bool                  // it is one of several in a pipe
	from  *syntax.Stmt          // what it gets its input from
	pipe  *syntax.Stmt          // from, with all that stands before it in the pipe
}

// element gathers the units of one element of a list or pipe.
func (c *collector) element(s *syntax.Stmt, f flow) {
	before := c.cwd
	if f.op == syntax.OrStmt {
		c.cwd.mergeFailed() // it runs where something before has failed
	}
	if _, ok := s.Cmd.(*syntax.BinaryCmd); ok {
		c.stmt(s, f.lead)
	} else {
		c.readCommand(s, f)
	}
	switch {
	case f.piped || s.Background:
		c.cwd = before
	case f.op == syntax.OrStmt && leaves(s):
		c.cwd = before
		c.cwd.failed, c.cwd.failedLost = nil, false
	case f.op == syntax.OrStmt:
		c.cwd.mergeFailed()
		c.cwd = before.or(c.cwd)
	}
}

// leaves reports whether nothing comes after a statement.
func leaves(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch call.Args[0].Lit() {
	case "exit", "return":
		return true
	}
	return false
}

// readCommand gathers the units of a command.
func (c *collector) readCommand(s *syntax.Stmt, f flow) {
	if cmd, ok := s.Cmd.(*syntax.CallExpr); ok {
		c.simple(s, cmd, f)
		return
	}
	fed := c.fed
	defer func() { c.fed = fed }()
	c.fed = c.fed || f.from != nil || feeds(s)
	c.r.value(c.input(s, f.from).text)
	switch cmd := s.Cmd.(type) {
	case nil:
	case *syntax.DeclClause:
		c.clause(s, cmd, Unit{Kind: Declaration, Words: c.declared(cmd)})
		return
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			c.stmt(cmd.Stmt, offset(cmd.Time))
		}
	case *syntax.FuncDecl:
		if cmd.Name != nil {
			c.r.functions = append(c.r.functions, cmd.Name.Value)
		}
		if cmd.Body != nil {
			c.fed = true // who knows where it is called
			c.inSubshell(func() { c.stmt(cmd.Body, -1) })
		}
	case *syntax.CoprocClause:
		c.coproc(cmd)
	default:
		c.compound(cmd)
	}
	c.redirections(s)
}

// coproc gathers the units of a coprocess. Of a simple command the parser reads
// neither variables in front nor every name: it takes the first word of coproc
// sh <<< x for the name of the coprocess. So that is read again.
func (c *collector) coproc(cmd *syntax.CoprocClause) {
	c.fed = true
	c.inSubshell(func() {
		var more []Uncertainty
		if cmd.Name != nil {
			more = varUncertainties(literalWord("coproc"), c.parseWord(cmd.Name))
		}
		if _, ok := cmd.Stmt.Cmd.(*syntax.CallExpr); ok || cmd.Stmt.Cmd == nil {
			why := c.reread(c.src[offset(cmd.Coproc)+len("coproc") : min(offset(cmd.Stmt.End()), len(c.src))])
			if len(why) == 0 {
				return
			}
			more = append(more, why...)
		}
		c.readLooseFrom(cmd.Coproc, cmd.Stmt, more)
	})
}

// reread reads a part of the text once more, which the parser has read in a way
// that is not bash's.
func (c *collector) reread(text string) []Uncertainty {
	n := *c
	n.level++
	if n.level > maxLevel || c.r.budget < len(text) {
		return []Uncertainty{{Why: "code inside code, too much to be read"}}
	}
	c.r.budget -= len(text)
	why := n.read(text)
	c.cwd = n.cwd
	if why != "" {
		return []Uncertainty{{Why: "code that can not be read: " + why}}
	}
	return nil
}

// compound gathers the units of a command that holds others.
func (c *collector) compound(cmd syntax.Command) {
	switch cmd := cmd.(type) {
	case *syntax.Block:
		c.stmts(cmd.Stmts)
	case *syntax.Subshell:
		c.inSubshell(func() { c.stmts(cmd.Stmts) })
	case *syntax.IfClause:
		c.branches(cmd)
	case *syntax.WhileClause:
		c.inLoop(func() {
			c.stmts(cmd.Cond)
			c.stmts(cmd.Do)
		})
	case *syntax.ForClause:
		c.head(cmd)
		c.inLoop(func() { c.stmts(cmd.Do) })
	case *syntax.CaseClause:
		c.cases(cmd)
	default: // [[ ]], (( )) and what else there may be
		c.readLoose(cmd, nil)
	}
}

// inSubshell gathers units that run in a shell of their own.
func (c *collector) inSubshell(gather func()) {
	before := c.cwd
	c.cwd.mergeFailed()
	gather()
	c.cwd = before
}

// inLoop gathers units that may run several times, or not at all.
func (c *collector) inLoop(gather func()) {
	before, first := c.cwd, len(c.r.units)
	gather()
	if c.cwd.equal(before) {
		return
	}
	c.cwd = workDirs{lost: true}
	for i := first; i < len(c.r.units); i++ {
		c.r.units[i].Dir = Dir{}
	}
}

func (c *collector) branches(cmd *syntax.IfClause) {
	var ends []workDirs
	for cmd != nil {
		c.stmts(cmd.Cond)
		start := c.cwd
		c.stmts(cmd.Then)
		ends = append(ends, c.cwd)
		if len(cmd.Cond) > 0 {
			c.cwd = start
		}
		cmd = cmd.Else
	}
	for _, p := range ends {
		c.cwd = c.cwd.or(p)
	}
}

func (c *collector) cases(cmd *syntax.CaseClause) {
	c.readLoose(cmd.Word, nil)
	start := c.cwd
	end := start
	for _, item := range cmd.Items {
		for _, w := range item.Patterns {
			c.readLoose(w, nil)
		}
		c.cwd = start.or(end) // a branch may fall through into the next
		c.stmts(item.Stmts)
		end = end.or(c.cwd)
	}
	c.cwd = end
}

// head reads what stands between for and do.
func (c *collector) head(cmd *syntax.ForClause) {
	var all []Uncertainty
	if it, ok := cmd.Loop.(*syntax.WordIter); ok && it.Name != nil {
		all = varUncertainties(literalWord("for"), literalWord(it.Name.Value))
		c.markUnknown(it.Name.Value)
		c.giveWords(it.Name.Value, it.Items)
		if !it.InPos.IsValid() {
			c.giveRaw(it.Name.Value, []Word{{Raw: "$@"}})
		}
		for _, w := range it.Items {
			c.r.value(c.parseWord(w).Value)
		}
	}
	c.readLooseFrom(cmd.ForPos, cmd.Loop, all)
}

// simple gathers the units of a simple command.
func (c *collector) simple(s *syntax.Stmt, cmd *syntax.CallExpr, f flow) {
	cmd.Args = splitBlanks(cmd.Args)
	u, guesses := c.call(cmd)
	u.Redirects = c.redirects(s)
	if n := len(cmd.Args); n > 1 && strings.Contains(c.src, "_") {
		c.give("_", source{word: cmd.Args[n-1]})
	}
	start, end := c.span(cmd, s.Redirs)
	u.Text = c.src[start:end]
	if f.lead >= 0 && len(u.Words) > 0 {
		timed := u
		timed.Assigns = nil
		timed.Words = append(c.fields(f.lead, f.lead+len("time")), u.Words...)
		timed.Text = c.src[f.lead:end]
		unit := c.add(timed, nil)
		if len(u.Words) > 1 && u.Words[0].Raw == "--" { // it ends the options of time, which the parser does not know
			c.addUncertainty(unit, c.reread(c.src[offset(cmd.Args[1].Pos()):end])...)
		}
	}
	unit := c.add(u, guesses)
	for _, a := range cmd.Assigns {
		c.addUncertainty(unit, c.assigned(a, len(u.Words) > 0)...)
	}
	before := c.cwd
	in := c.input(s, f.from)
	if f.from != nil && !feeds(s) {
		in.from = f.pipe
	}
	c.writes(s, f.from)
	fed := c.fed
	c.carriedCode(unit, in)
	c.fed = c.fed || !in.none
	after := c.cwd
	c.cwd = before
	c.spread(unit, cmd, guesses, in)
	c.computed(unit, cmd)
	c.cwd = before
	c.expands(unit, cmd)
	c.weighCall(unit, cmd, u.Words)
	c.withinRedirects(unit, s)
	c.cwd = after
	if len(u.Words) != 1 || u.Words[0].Value != "exec" { // that hands it to all that follow
		c.fed = fed
	}
}

// clause adds a unit for a command the parser has a node of its own for.
func (c *collector) clause(s *syntax.Stmt, cmd syntax.Command, u Unit) {
	start, end := c.span(cmd, s.Redirs)
	u.Text, u.Redirects = c.src[start:end], c.redirects(s)
	unit := c.add(u, nil)
	if d, ok := cmd.(*syntax.DeclClause); ok {
		for _, a := range d.Args {
			c.addUncertainty(unit, c.assigned(a, false)...)
			if a.Value != nil && slices.ContainsFunc(u.Words, reference) {
				c.r.sets(c.parseWord(a.Value))
			}
		}
	}
	c.substitutions(unit, cmd)
	c.withinRedirects(unit, s)
}

// redirections adds a unit for redirections that belong to no simple command.
func (c *collector) redirections(s *syntax.Stmt) {
	if len(s.Redirs) == 0 {
		return
	}
	c.writes(s, nil)
	start, end := c.span(nil, s.Redirs)
	unit := c.add(Unit{Kind: Redirection, Text: c.src[start:end], Redirects: c.redirects(s)}, nil)
	c.withinRedirects(unit, s)
}

func (c *collector) withinRedirects(unit int, s *syntax.Stmt) {
	for _, r := range s.Redirs {
		c.substitutions(unit, r)
		c.twice(unit, r)
		if name := c.descriptor(unit, r); name != "" {
			c.r.counts = c.r.counts || strings.Contains(name, "[")
			c.addUncertainty(unit, varUncertainties(literalWord("{"), literalWord(name))...)
		}
	}
}

// twice reads the target of >&. Where that is no number bash expands it, and
// then does so once more with what has come out: quotes keep nothing from it.
func (c *collector) twice(unit int, r *syntax.Redirect) {
	if r.Op != syntax.DplOut || r.N != nil && strings.TrimLeft(r.N.Value, "0") != "1" {
		return
	}
	switch w := c.parseWord(r.Word); {
	case !w.Literal:
		c.addUncertainty(unit, Uncertainty{Why: "a file whose name is expanded twice"})
	case strings.ContainsAny(w.Value, "$`<>(~\"'\\*?[{"):
		c.addUncertainty(unit, Uncertainty{Why: "a file whose name is expanded twice"})
		again := *c
		again.inside = c.r.units[unit].Text
		again.pieces(w.Value)
	}
}

// descriptor returns the variable that a redirection sets: of {name}>. The
// parser takes one whose index has quotes for a word of the command.
func (c *collector) descriptor(unit int, r *syntax.Redirect) string {
	if r.N != nil {
		if strings.HasPrefix(r.N.Value, "{") {
			return strings.Trim(r.N.Value, "{}")
		}
		return "" // a number
	}
	before := c.src[:min(offset(r.OpPos), len(c.src))]
	if !strings.HasSuffix(before, "]}") {
		return ""
	}
	for _, w := range c.r.units[unit].Words {
		if strings.HasPrefix(w.Raw, "{") && strings.HasSuffix(before, w.Raw) {
			return strings.Trim(w.Raw, "{}")
		}
	}
	return ""
}

func (c *collector) parseWord(w *syntax.Word) Word {
	word, _ := readWord(c.src, w, nil)
	return word
}

// splitBlanks are the words that bash makes of some in which IFS stands: blanks.
// In a list in braces these are spread first.
func splitBlanks(args []*syntax.Word) (out []*syntax.Word) {
	for i, w := range args {
		from := 0
		for at, p := range w.Parts {
			if v, ok := p.(*syntax.ParamExp); !ok || simpleName(v) != "IFS" || bracesAround(w) {
				continue
			}
			if out == nil {
				out = slices.Clone(args[:i])
			}
			if at > from {
				out = append(out, &syntax.Word{Parts: w.Parts[from:at]})
			}
			from = at + 1
		}
		switch {
		case from == 0 && out != nil:
			out = append(out, w)
		case from > 0 && from < len(w.Parts):
			out = append(out, &syntax.Word{Parts: w.Parts[from:]})
		}
	}
	if out == nil {
		return args
	}
	return out
}

// bracesAround reports whether a word holds a list in braces.
func bracesAround(w *syntax.Word) bool {
	split := *w
	return syntax.SplitBraces(&split)
}

func (c *collector) call(cmd *syntax.CallExpr) (u Unit, guesses []string) {
	for _, a := range cmd.Assigns {
		as := Assign{Raw: c.src[offset(a.Pos()):offset(a.End())]}
		if a.Name != nil {
			as.Name = a.Name.Value
		}
		u.Assigns = append(u.Assigns, as)
	}
	u.Words = slices.Grow(u.Words, len(cmd.Args))
	for i, w := range cmd.Args {
		word, guess := readWord(c.src, w, c.r.known)
		u.Words = append(u.Words, word)
		if guess != "" {
			if guesses == nil {
				guesses = make([]string, len(cmd.Args))
			}
			guesses[i] = guess
		}
	}
	switch {
	case len(u.Words) == 0:
		u.Kind = Assignment
	case u.Words[0].Raw == "[":
		u.Kind = Test
	}
	return u, guesses
}

// declared gives the words of a declaration.
func (c *collector) declared(cmd *syntax.DeclClause) []Word {
	words := []Word{literalWord(cmd.Variant.Value)}
	for _, a := range cmd.Args {
		raw := c.src[offset(a.Pos()):offset(a.End())]
		w := Word{Raw: raw, Value: raw}
		switch {
		case a.Index != nil || a.Array != nil:
			if a.Name != nil {
				w.Shape = a.Name.Value + "=" + Unknown
			}
		case a.Value == nil:
			w.Literal, w.Shape = true, raw
		default:
			v := c.parseWord(a.Value)
			head := raw[:len(raw)-len(v.Raw)]
			w.Value, w.Shape = head+v.Value, head+v.Shape
			w.Literal, w.Split = v.Literal, v.Split && head == ""
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
		w := literalWord(f)
		if strings.ContainsAny(f, "$`'\"\\") {
			w.Literal, w.Shape = false, Unknown
		}
		words = append(words, w)
	}
	return words
}

func (c *collector) redirects(s *syntax.Stmt) []Redirect {
	var all []Redirect
	for _, r := range s.Redirs {
		re := Redirect{Op: r.Op.String(), Target: c.parseWord(r.Word)}
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
