package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substitutions collects the units of the substitutions below a node, and the uncertainties of its
// expansions.
func (c *collector) substitutions(unit int, n syntax.Node) {
	c.expands(unit, n)
	c.weigh(unit, n, "")
}

// expands adds the uncertainties about what is expanded in a part of the text.
func (c *collector) expands(unit int, n syntax.Node) {
	e := expansions{c: c}
	e.walk(n)
	c.addUncertainty(unit, e.uncertainties...)
}

// readLoose reads a part of the text that belongs to no command: the head of a loop, or a test. It
// becomes a unit only if it has an uncertainty.
func (c *collector) readLoose(n syntax.Node, more []Uncertainty) { c.readLooseFrom(n.Pos(), n, more) }

// readLooseFrom is readLoose for a part that begins before its node.
func (c *collector) readLooseFrom(start syntax.Pos, n syntax.Node, more []Uncertainty) {
	e := expansions{c: c, uncertainties: more}
	e.walk(n)
	u := Unit{Kind: Test, Text: c.src[offset(start):min(offset(n.End()), len(c.src))]}
	if len(e.uncertainties) == 0 {
		c.weigh(-1, n, u.Text)
		return
	}
	unit := c.add(u, nil)
	c.addUncertainty(unit, e.uncertainties...)
	c.weigh(unit, n, "")
}

// expansions walks over the expansions of a node.
type expansions struct {
	c             *collector
	uncertainties []Uncertainty
	stack         []around
}

// An around is what is around a node.
type around struct {
	computes bool // bash takes what is in it for a number
	inner    bool // what looks like single quotes may be none to bash
	quoted   bool // nothing in it is a process substitution
}

func (e *expansions) walk(n syntax.Node) {
	if n == nil {
		return
	}
	syntax.Walk(n, e.visit)
}

func (e *expansions) visit(n syntax.Node) bool {
	if n == nil {
		e.stack = e.stack[:len(e.stack)-1]
		return true
	}
	if e.gatherCode(n) {
		return false
	}
	var in around
	if len(e.stack) > 0 {
		in = e.stack[len(e.stack)-1]
	}
	e.setContext(n, &in)
	switch n := n.(type) {
	case *syntax.ExtGlob:
		e.glob(n)
		return false
	case *syntax.SglQuoted:
		e.singleQuoted(n, in)
	case *syntax.Lit:
		e.checkNumber(n.Value, in.computes)
		e.c.r.hide(n.Value)
		e.literalText(n, in.quoted)
	case *syntax.BinaryTest:
		e.compare(n)
	case *syntax.UnaryTest:
		e.isSet(n)
	case *syntax.Assign:
		e.index(n.Index)
	case *syntax.ArrayElem:
		e.index(n.Index)
	}
	e.stack = append(e.stack, in)
	return true
}

// gatherCode gathers the units of a node that is code.
func (e *expansions) gatherCode(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CmdSubst:
		e.c.inSubshell(func() { e.c.stmts(n.Stmts) })
	case *syntax.ProcSubst:
		e.c.inSubshell(func() { e.c.stmts(n.Stmts) })
	case *syntax.Stmt: // none other is known, but none must be missed
		e.c.inSubshell(func() { e.c.stmt(n, -1) })
	default:
		return false
	}
	return true
}

// setContext says what is around the parts of a node.
func (e *expansions) setContext(n syntax.Node, in *around) {
	switch n := n.(type) {
	case *syntax.ParamExp:
		e.param(n)
		if n.Exp != nil && n.Exp.Word != nil {
			e.c.r.value(e.c.parseWord(n.Exp.Word).Value)
		}
		in.inner, in.quoted = true, in.quoted && isDefault(n)
	case *syntax.DblQuoted:
		in.quoted = true
	case *syntax.Redirect:
		in.quoted = n.Hdoc != nil
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.CStyleLoop, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm:
		in.computes, in.inner = true, true
		e.c.r.counts = true
	case *syntax.CallExpr:
		if isLet(n) {
			in.computes, in.inner = true, true
			e.c.r.counts = true
		}
	}
}

// isDefault reports whether an expansion has a word that replaces its value. Quotes around the
// expansion apply only to such a word, and not to patterns or a message.
func isDefault(p *syntax.ParamExp) bool {
	if p.Exp == nil {
		return false
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
		syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return true
	}
	return false
}

// singleQuoted reads what stands in single quotes.
func (e *expansions) singleQuoted(q *syntax.SglQuoted, in around) {
	for _, s := range readings(q) {
		e.checkNumber(s, in.computes)
		e.inQuotes(s, in)
		e.c.r.hide(s)
	}
}

// readings are what single quotes may stand for: of $'…' it depends on what is
// around them.
func readings(q *syntax.SglQuoted) []string {
	if q.Dollar {
		if s := ansiC(q.Value); s != q.Value {
			return []string{q.Value, s}
		}
	}
	return []string{q.Value}
}

// inQuotes reads what stands in single quotes inside an expansion. Where that
// stands in double quotes, bash does not take them for quotes.
func (e *expansions) inQuotes(s string, in around) {
	if in.inner && (strings.ContainsAny(s, "$`") || !in.computes && holdsCode(s)) {
		e.add("quotes that may not be any")
		e.c.pieces(s)
	}
}

// literalText reads text that the parser takes as it is. Inside ${ } and in the
// groups of a regular expression it does not look for process substitutions.
func (e *expansions) literalText(l *syntax.Lit, quoted bool) {
	from, to := min(offset(l.Pos()), len(e.c.src)), min(offset(l.End()), len(e.c.src))
	if strings.HasPrefix(e.c.src[to:], "(") {
		to++
	}
	if !quoted && (holdsCode(e.c.src[from:to]) || holdsCode(l.Value)) {
		e.add("code inside an expansion")
		e.overlooked(from, to)
	}
}

// holdsCode reports whether bash may run something of a text that stands
// outside of quotes.
func holdsCode(s string) bool {
	s = strings.ReplaceAll(s, "\\\n", "")
	for i := 0; i < len(s); i++ {
		next := s[i+1 : min(i+2, len(s))]
		switch s[i] {
		case '\\':
			i++
		case '`':
			return true
		case '<', '>':
			if next == "(" {
				return true
			}
		case '$':
			if next == "(" || next == "{" || next == "[" {
				return true
			}
		}
	}
	return false
}

// overlooked collects the units of a part of the text in which the parser has missed substitutions,
// which may extend beyond its end.
func (e *expansions) overlooked(from, to int) {
	n := *e.c
	n.level++
	for at := from; at < to; {
		next := strings.IndexAny(e.c.src[at:to], "<>$`")
		if next < 0 {
			return
		}
		at += next
		n.src = e.c.src[at:]
		var part syntax.WordPart
		if n.level <= maxLevel && e.c.r.budget >= len(n.src) {
			e.c.r.budget -= len(n.src)
			part = firstPart(n.src)
		}
		if part == nil {
			e.c.pieces(e.c.src[from:to])
			return
		}
		inner := expansions{c: &n}
		inner.walk(part)
		e.uncertainties = append(e.uncertainties, inner.uncertainties...)
		at += max(offset(part.End()), 1)
	}
}

// firstPart parses the first part of the first word of a text.
func firstPart(text string) syntax.WordPart {
	for w, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).WordsSeq(&shallowReader{text}) {
		if err == nil && w != nil {
			return w.Parts[0]
		}
		break
	}
	return nil
}

// glob reads a pattern such as @(a|b), which the parser does not look into.
func (e *expansions) glob(g *syntax.ExtGlob) {
	if g.Pattern == nil {
		return
	}
	s := strings.ReplaceAll(g.Pattern.Value, "\\\n", "")
	e.c.r.hide(s)
	e.c.r.counts = e.c.r.counts || strings.Contains(s, "${") && strings.Contains(s, "[") // perhaps an index
	for _, mark := range []string{"$(", "`", "<(", ">(", "$[", "@P", "$\\", "$\""} {
		if strings.Contains(s, mark) {
			e.add("a pattern that holds code")
			e.c.pieces(s)
			e.overlooked(min(offset(g.Pattern.Pos()), len(e.c.src)), min(offset(g.Pattern.End()), len(e.c.src)))
			return
		}
	}
}

func (e *expansions) add(why string) {
	e.uncertainties = append(e.uncertainties, Uncertainty{Why: why})
}

// checkNumber reads text that bash may evaluate as a number. It then runs substitutions inside
// brackets.
func (e *expansions) checkNumber(s string, computes bool) {
	if computes && hidesCode(s) {
		e.add("a number that may hold code")
	}
}

// hidesCode reports whether bash would run some of a text if it took the text for the name of a
// variable, or for a number.
func hidesCode(s string) bool {
	_, sub, ok := strings.Cut(s, "[")
	return ok && strings.ContainsAny(sub, "$`")
}

func (e *expansions) param(p *syntax.ParamExp) {
	e.index(p.Index)
	if p.Slice != nil {
		e.index(p.Slice.Offset)
		e.index(p.Slice.Length)
	}
	if p.Excl && p.Names == 0 && !keys(p) {
		e.add("a variable whose name is computed")
	}
	if p.Exp == nil || p.Param == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.OtherParamOps:
		if p.Exp.Word == nil || strings.ContainsAny(p.Exp.Word.Lit(), "P") || p.Exp.Word.Lit() == "" {
			e.add("code in the value of a variable")
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		e.c.markUnknown(p.Param.Value)
		if p.Exp.Word != nil {
			e.c.give(p.Param.Value, source{word: p.Exp.Word})
		}
		e.uncertainties = append(e.uncertainties, varUncertainties(literalWord("="), literalWord(p.Param.Value))...)
	}
}

// keys reports whether an expansion gives the keys of an array: ${!a[@]}.
func keys(p *syntax.ParamExp) bool {
	w, ok := p.Index.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*") && p.Exp == nil
}

// index reads an index, or another number in an expansion.
func (e *expansions) index(x syntax.ArithmExpr) {
	w, ok := x.(*syntax.Word)
	if !ok || w.Lit() == "@" || w.Lit() == "*" {
		return
	}
	e.c.r.counts = true
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.CmdSubst:
			e.add("an index that is computed")
		case *syntax.SglQuoted:
			if strings.ContainsAny(strings.Join(readings(p), ""), "$`") {
				e.add("an index that may hold code")
			}
		case *syntax.Lit:
			e.checkNumber(p.Value, true)
		}
	}
}

// compare reads a comparison of numbers in [[ ]].
func (e *expansions) compare(b *syntax.BinaryTest) {
	switch b.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		e.c.r.counts = true
		for _, x := range []syntax.TestExpr{b.X, b.Y} {
			if w, ok := x.(*syntax.Word); ok {
				e.checkNumber(e.c.parseWord(w).Shape, true)
			}
		}
	}
}

// isSet reads [[ -v name ]].
func (e *expansions) isSet(u *syntax.UnaryTest) {
	w, ok := u.X.(*syntax.Word)
	if ok && (u.Op == syntax.TsVarSet || u.Op == syntax.TsRefVar) {
		e.uncertainties = append(e.uncertainties, nameUncertainties(e.c.parseWord(w))...)
	}
}
