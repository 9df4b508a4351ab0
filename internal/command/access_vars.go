package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Constants returns the variables of a command line that have only values known from the text
// wherever the line uses them: those of a loop, or of the one assignment before. A value is literal
// or a glob. If a variable may change in a way that cannot be seen, it is left out.
func (l Line) Constants() (values map[string][]Word) {
	defer func() {
		if recover() != nil { // as in Parse
			values = nil
		}
	}()
	if l.Opaque != "" {
		return nil
	}
	c := constants{scopes: make(map[string][]scope), spoiled: make(map[string]bool)}
	for _, s := range l.parsed {
		c.statement(s)
	}
	for _, s := range l.parsed {
		syntax.Walk(s, c.visitNode)
	}
	if c.lost {
		return nil
	}
	values = make(map[string][]Word)
	for name, all := range c.scopes {
		if c.spoiled[name] || c.uncovered(name) {
			continue
		}
		for _, s := range all {
			values[name] = append(values[name], s.values...)
		}
		slices.SortFunc(values[name], func(a, b Word) int { return strings.Compare(a.Raw, b.Raw) })
		values[name] = slices.Compact(values[name])
	}
	return values
}

// A scope is a part of the text in which a variable has certain values.
type scope struct {
	from, to uint
	values   []Word
}

type constants struct {
	scopes  map[string][]scope
	spoiled map[string]bool
	uses    []*syntax.ParamExp
	known   []*syntax.Assign // those that scopes are made of
	lost    bool             // anything may change
}

// uncovered reports whether a variable is used where its value is not known.
func (c *constants) uncovered(name string) bool {
	return slices.ContainsFunc(c.uses, func(p *syntax.ParamExp) bool {
		return p.Param.Value == name && !slices.ContainsFunc(c.scopes[name], func(s scope) bool {
			return s.from <= p.Pos().Offset() && p.End().Offset() <= s.to
		})
	})
}

// statement notes a variable that is set for the rest of the text.
func (c *constants) statement(s *syntax.Stmt) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) > 0 || s.Background || s.Coprocess {
		return
	}
	for _, a := range call.Assigns {
		if a.Append || a.Index != nil || a.Array != nil || a.Name == nil || a.Value == nil {
			continue
		}
		w, ok := simpleWord(a.Value)
		if !ok || w.Glob || strings.HasPrefix(w.Raw, "~") || len(c.scopes[a.Name.Value]) > 0 {
			continue
		}
		c.known = append(c.known, a)
		c.scopes[a.Name.Value] = []scope{{s.End().Offset(), ^uint(0), []Word{w}}}
	}
}

func (c *constants) visitNode(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ForClause:
		c.forLoop(n)
	case *syntax.Assign:
		if n.Name != nil && !slices.Contains(c.known, n) {
			c.spoiled[n.Name.Value] = true
		}
		c.lost = c.lost || n.Name == nil || n.Name.Value == "IFS"
	case *syntax.CallExpr:
		c.call(n.Args)
	case *syntax.ParamExp:
		c.expansion(n)
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
		syntax.Walk(n, func(n syntax.Node) bool {
			if lit, ok := n.(*syntax.Lit); ok {
				c.spoiled[lit.Value] = true
			}
			return true
		})
	case *syntax.CStyleLoop:
		c.lost = true
	}
	return true
}

func (c *constants) forLoop(n *syntax.ForClause) {
	it, ok := n.Loop.(*syntax.WordIter)
	if !ok || it.Name == nil {
		return
	}
	name := it.Name.Value
	s := scope{from: n.DoPos.Offset(), to: n.DonePos.Offset()}
	for _, item := range it.Items {
		w, ok := simpleWord(item)
		if !ok {
			c.spoiled[name] = true
			return
		}
		s.values = append(s.values, w)
	}
	if len(it.Items) == 0 { // the arguments of the script
		c.spoiled[name] = true
	}
	c.scopes[name] = append(c.scopes[name], s)
}

func (c *constants) expansion(n *syntax.ParamExp) {
	if n.Param == nil {
		return
	}
	if n.Exp != nil || n.Excl {
		c.spoiled[n.Param.Value] = true
	}
	c.lost = c.lost || n.Excl
	c.uses = append(c.uses, n)
}

// call notes a command that may change variables.
func (c *constants) call(args []*syntax.Word) {
	for len(args) > 0 {
		w, ok := simpleWord(args[0])
		if !ok || w.Glob {
			c.lost = true
			return
		}
		args = args[1:]
		switch w.Value {
		case "command", "builtin":
			continue
		case "eval", "source", ".", "trap", "alias", "shopt", "set", "enable", "let":
			c.lost = true
		case "read", "mapfile", "readarray", "getopts", "printf", "unset", "export", "declare", "local", "typeset", "readonly", "wait":
			c.spoilNames(args)
		}
		return
	}
}

// spoilNames notes the arguments of a command that sets variables.
func (c *constants) spoilNames(args []*syntax.Word) {
	for _, a := range args {
		w, ok := simpleWord(a)
		if !ok {
			continue // the name of a variable that is computed is asked about as code
		}
		name, _, _ := strings.Cut(w.Value, "=")
		name, _, _ = strings.Cut(name, "[")
		c.spoiled[name] = true
		c.spoiled[strings.TrimPrefix(name, "-v")] = true
	}
}

// simpleWord reads a word that is plain text, quoted or not, or a pattern.
func simpleWord(w *syntax.Word) (Word, bool) {
	var text strings.Builder
	glob, quoted := false, false
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\{}[]") {
				return Word{}, false
			}
			glob = glob || strings.ContainsAny(p.Value, "*?")
			text.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar || strings.ContainsAny(p.Value, "*?[\\") {
				return Word{}, false
			}
			quoted = true
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok || strings.ContainsAny(lit.Value, "\\*?[") {
					return Word{}, false
				}
				text.WriteString(lit.Value)
			}
			quoted = true
		default:
			return Word{}, false
		}
	}
	v := text.String()
	raw := v
	if quoted {
		raw = "'" + v + "'" // a ~ in it means itself
	}
	return Word{Raw: raw, Value: v, Literal: !glob, Glob: glob}, true
}
