package command

import "mvdan.cc/sh/v3/syntax"

// Loose returns the words of a command line, as written, that belong to none of its units: the
// items of loops, the words and patterns of case, and those in [[ ]]. It returns none for a text
// that cannot be parsed.
func Loose(command string) (words []string) {
	defer func() {
		if recover() != nil { // as in Parse
			words = nil
		}
	}()
	if len(command) > maxSize {
		return nil
	}
	all, err := statements(command)
	if err != nil {
		return nil
	}
	add := func(list ...*syntax.Word) {
		for _, w := range list {
			words = append(words, command[offset(w.Pos()):min(offset(w.End()), len(command))])
		}
	}
	visit := func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.WordIter:
			add(n.Items...)
		case *syntax.CaseClause:
			add(n.Word)
		case *syntax.CaseItem:
			add(n.Patterns...)
		case *syntax.BinaryTest:
			for _, x := range []syntax.TestExpr{n.X, n.Y} {
				if w, ok := x.(*syntax.Word); ok {
					add(w)
				}
			}
		}
		return true
	}
	for _, s := range all {
		syntax.Walk(s, visit)
	}
	return words
}
