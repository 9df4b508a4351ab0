package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxSpread is how many words lists in braces are spread to.
const maxSpread = 256

// spread reads a command once more with its lists in braces spread out, and
// with the values of the variables that are known: they may be options that run
// a program. What it finds so is added to the unit.
func (c *collector) spread(unit int, cmd *syntax.CallExpr, guesses []string) {
	u := c.r.units[unit]
	if u.Kind != Command || len(u.Words) < 2 || !u.Words[0].Literal {
		return
	}
	words, dashed, ok := c.spreadArgs(u.Words, cmd, guesses)
	if !ok {
		c.doubt(unit, Doubt{Why: "a list in braces that is too long"})
	}
	if words == nil {
		return
	}
	again := Unit{Words: words}
	c.doubt(unit, doubts(again)...)
	if !dashed && u.Words[0].Value != "git" {
		return
	}
	saved, count, place := *c.r, len(c.r.units), c.place
	c.payload(unit, words, input{file: true})
	c.place = place
	if len(c.r.units) == count+1 { // nothing that it runs
		saved.budget, saved.flows.calls = c.r.budget, c.r.flows.calls
		*c.r = saved
	}
}

// spreadArgs are the words of a command with those of its arguments that mean
// others replaced by them; nil if there are none such. dashed says whether one
// of the new ones may be an option, ok that they are not too many.
func (c *collector) spreadArgs(given []Word, cmd *syntax.CallExpr, guesses []string) (words []Word, dashed, ok bool) {
	for i, w := range given[1:] {
		more, ok := c.alternatives(cmd.Args[i+1], w, guesses, i+1)
		if !ok || max(len(words), i+1)+len(more) > maxSpread+len(given) {
			return nil, false, false
		}
		if more == nil {
			if words != nil {
				words = append(words, w)
			}
			continue
		}
		if words == nil {
			words = slices.Clone(given[:i+1])
		}
		dashed = dashed || slices.ContainsFunc(more, func(w Word) bool { return strings.HasPrefix(w.Shape, "-") })
		words = append(words, more...)
	}
	return words, dashed, true
}

// alternatives are the words that bash makes of one, if it holds a list in
// braces or a variable that is known; otherwise none. ok is false if there are
// too many.
func (c *collector) alternatives(w *syntax.Word, word Word, guesses []string, i int) (all []Word, ok bool) {
	if split := *w; strings.Contains(word.Raw, "{") && syntax.SplitBraces(&split) {
		lists, ok := spreadParts(split.Parts)
		if len(lists) != 1 {
			return c.spreadWords(lists), ok
		}
	}
	if i >= len(guesses) || guesses[i] == "" || strings.Contains(guesses[i], Unknown) {
		return nil, true
	}
	if !word.Split {
		return []Word{literal(guesses[i])}, true
	}
	all = []Word{}
	for f := range strings.FieldsSeq(guesses[i]) {
		all = append(all, literal(f))
	}
	return all, true
}

// spreadWords makes words of their parts.
func (c *collector) spreadWords(lists [][]syntax.WordPart) (all []Word) {
	for _, parts := range lists {
		u := unquoter{src: c.src, known: c.r.known, bracket: -1, brace: -1}
		for _, p := range parts {
			u.part(p, false)
		}
		value := u.guess.String()
		word := Word{Raw: strings.ReplaceAll(value, Unknown, "?"), Value: value, Shape: value, Literal: !u.glob && !strings.Contains(value, Unknown)}
		if value == "" {
			word.Raw = "''" // a unit has some text
		}
		word.Glob = u.glob && !strings.Contains(value, Unknown)
		all = append(all, word)
	}
	return all
}

// spreadParts spreads the lists in braces among the parts of a word. One of
// numbers or letters stays as it is.
func spreadParts(parts []syntax.WordPart) (all [][]syntax.WordPart, ok bool) {
	all = [][]syntax.WordPart{nil}
	for _, p := range parts {
		b, list := p.(*syntax.BraceExp)
		if !list || b.Sequence {
			if list {
				p = &syntax.Lit{Value: "?"}
			}
			for i := range all {
				all[i] = append(all[i], p)
			}
			continue
		}
		var tails, next [][]syntax.WordPart
		for _, e := range b.Elems {
			more, ok := spreadParts(e.Parts)
			if tails = append(tails, more...); !ok || len(tails)*len(all) > maxSpread {
				return nil, false
			}
		}
		for _, head := range all {
			for _, tail := range tails {
				next = append(next, append(slices.Clip(head), tail...))
			}
		}
		all = next
	}
	return all, true
}
