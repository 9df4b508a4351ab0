package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// within gathers the units of the substitutions below a node, and the doubts
// that its expansions give about a unit.
func (c *collector) within(unit int, n syntax.Node) {
	e := expansions{c: c}
	e.walk(n)
	c.doubt(unit, e.doubts...)
}

// bare reads a part of the text that belongs to no command: the head of a
// loop, or a test. It becomes a unit only if there is some doubt about it.
func (c *collector) bare(n syntax.Node, more []Doubt) { c.bareFrom(n.Pos(), n, more) }

// bareFrom is bare for a part that begins before its node.
func (c *collector) bareFrom(start syntax.Pos, n syntax.Node, more []Doubt) {
	e := expansions{c: c, doubts: more}
	e.walk(n)
	if len(e.doubts) == 0 {
		return
	}
	u := Unit{Kind: Test, Text: c.src[offset(start):min(offset(n.End()), len(c.src))]}
	unit := c.add(u, nil)
	c.doubt(unit, e.doubts...)
}

// expansions walks over the expansions of a node.
type expansions struct {
	c      *collector
	doubts []Doubt
	stack  []around
}

// An around is what is around a node.
type around struct {
	computes bool // bash takes what is in it for a number
	inner    bool // what looks like single quotes may be none to bash
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
	var in around
	if len(e.stack) > 0 {
		in = e.stack[len(e.stack)-1]
	}
	switch n := n.(type) {
	case *syntax.CmdSubst:
		e.c.apart(func() { e.c.stmts(n.Stmts) })
		return false
	case *syntax.ProcSubst:
		e.c.apart(func() { e.c.stmts(n.Stmts) })
		return false
	case *syntax.Stmt: // none other is known, but none must be missed
		e.c.apart(func() { e.c.stmt(n, -1) })
		return false
	case *syntax.ExtGlob:
		e.glob(n)
	case *syntax.ParamExp:
		e.param(n)
		in.inner = true
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm:
		in.computes, in.inner = true, true
		e.c.r.counts = true
	case *syntax.SglQuoted:
		e.number(n.Value, in.computes)
		e.inQuotes(n.Value, in.inner)
		e.c.r.hide(n.Value)
	case *syntax.Lit:
		e.number(n.Value, in.computes)
		e.c.r.hide(n.Value)
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

// inQuotes reads what stands in single quotes inside an expansion. Where that
// stands in double quotes, bash does not take them for quotes.
func (e *expansions) inQuotes(s string, inner bool) {
	if inner && strings.ContainsAny(s, "$`") {
		e.add("quotes that may not be any")
		e.c.pieces(s)
	}
}

// glob reads a pattern such as @(a|b), which the parser does not look into.
func (e *expansions) glob(g *syntax.ExtGlob) {
	if g.Pattern == nil {
		return
	}
	s := g.Pattern.Value
	for _, mark := range []string{"$(", "`", "<(", ">(", "$[", "@P", "$\\", "$\""} {
		if strings.Contains(s, mark) {
			e.add("a pattern that holds code")
			e.c.pieces(s)
			return
		}
	}
}

func (e *expansions) add(why string) {
	e.doubts = append(e.doubts, Doubt{Why: why})
}

// number reads text that may stand where bash takes it for a number. There it
// runs what stands in brackets.
func (e *expansions) number(s string, computes bool) {
	if computes && hidesCode(s) {
		e.add("a number that may hold code")
	}
}

// hidesCode reports whether bash would run something of a text if it took it
// for the name of a variable, or for a number.
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
		e.c.forget(p.Param.Value)
		e.doubts = append(e.doubts, varDoubts(literal("="), literal(p.Param.Value))...)
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
			if strings.ContainsAny(p.Value, "$`") {
				e.add("an index that may hold code")
			}
		case *syntax.Lit:
			e.number(p.Value, true)
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
				e.number(e.c.word(w).Shape, true)
			}
		}
	}
}

// isSet reads [[ -v name ]].
func (e *expansions) isSet(u *syntax.UnaryTest) {
	w, ok := u.X.(*syntax.Word)
	if ok && (u.Op == syntax.TsVarSet || u.Op == syntax.TsRefVar) {
		e.doubts = append(e.doubts, nameDoubts(e.c.word(w))...)
	}
}
