package command

import (
	"errors"

	"mvdan.cc/sh/v3/syntax"
)

// maxLets limits how often a text is parsed because of let.
const maxLets = 16

var errLet = errors.New("a let that is hard to read")

// plainLet parses a text in which the parser has found let. The parser reads everything up to the
// end of the line as an expression, including every && | & < and <<, but to bash let is an ordinary
// command. So the text is parsed with another word in its place, which may reveal further ones.
func plainLet(text string, all []*syntax.Stmt) ([]*syntax.Stmt, error) {
	changed := []byte(text)
	places := map[int]bool{}
	for range maxLets {
		found := lets(all)
		if len(found) == 0 {
			return all, unchange(all, places)
		}
		for _, at := range found {
			if at+len("let") > len(text) || text[at:at+len("let")] != "let" {
				return all, errLet
			}
			places[at] = true
			copy(changed[at:], "LET")
		}
		var err error
		if all, err = parsed(string(changed)); err != nil {
			_ = unchange(all, places) // there is an error already
			return all, err
		}
	}
	return all, errLet
}

// lets says where the parser has read a let in its own way.
func lets(all []*syntax.Stmt) (places []int) {
	for _, s := range all {
		syntax.Walk(s, func(n syntax.Node) bool {
			if l, ok := n.(*syntax.LetClause); ok {
				places = append(places, offset(l.Let))
			}
			return true
		})
	}
	return places
}

// unchange restores the names of commands at some offsets. One that has turned out not to be a
// command is an error.
func unchange(all []*syntax.Stmt, places map[int]bool) error {
	done := 0
	for _, s := range all {
		syntax.Walk(s, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 || !places[offset(call.Args[0].Pos())] {
				return true
			}
			if lit, ok := call.Args[0].Parts[0].(*syntax.Lit); ok && call.Args[0].Lit() == "LET" {
				lit.Value = "let"
				done++
			}
			return true
		})
	}
	if done != len(places) {
		return errLet
	}
	return nil
}

// isLet reports whether a command is let.
func isLet(call *syntax.CallExpr) bool {
	return len(call.Args) > 0 && call.Args[0].Lit() == "let"
}
