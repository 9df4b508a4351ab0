package command

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxSpread is how many words lists in braces are spread to.
const maxSpread = 256

// spread reads a command once more with its brace lists expanded and the values of known variables
// substituted: the words may then be something else, such as an option or the command that another
// one runs. What it finds is added to the unit.
func (c *collector) spread(unit int, cmd *syntax.CallExpr, guesses []string, in input) {
	u := c.r.units[unit]
	if u.Kind != Command || len(u.Words) == 0 {
		return
	}
	if !u.Words[0].Literal {
		if words := c.handedTo(cmd.Args[0]); len(words) > 0 { // "${x[@]}", where a command stands in the list
			c.payload(unit, append(slices.Clip(words), u.Words[1:]...), in)
		}
		return
	}
	if len(u.Words) < 2 {
		return
	}
	words, ok := c.spreadArgs(u.Words, cmd, guesses)
	if !ok {
		c.addUncertainty(unit, Uncertainty{Why: "a list in braces that is too long"})
	}
	if words == nil {
		return
	}
	saved, count, place := *c.r, len(c.r.units), c.cwd
	c.payload(unit, words, in)
	c.cwd = place
	if len(c.r.units) == count { // it is nested too deeply
		return
	}
	again := c.r.units[count]
	if len(c.r.units) == count+1 { // nothing that it runs
		saved.budget, saved.flows.calls = c.r.budget, c.r.flows.calls
		*c.r = saved
	}
	c.addUncertainty(unit, again.Uncertainties...)
	c.respell(unit, again.Spellings)
}

// maxSpellings is how many ways to write a unit are kept.
const maxSpellings = 16

// respell adds more ways to write a unit.
func (c *collector) respell(unit int, more []string) {
	u := &c.r.units[unit]
	s := speller{all: append([]string{u.Text}, u.Spellings...)}
	for _, text := range more {
		if len(s.all) <= maxSpellings {
			s.add(text)
		}
	}
	u.Spellings = s.all[1:]
}

// spreadArgs returns the words of a command with those arguments replaced that stand for others;
// nil if there are none. ok is false if there are too many.
func (c *collector) spreadArgs(given []Word, cmd *syntax.CallExpr, guesses []string) (words []Word, ok bool) {
	for i, w := range given[1:] {
		more, ok := c.alternatives(cmd.Args[i+1], w, guesses, i+1)
		if !ok || max(len(words), i+1)+len(more) > maxSpread+len(given) {
			return nil, false
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
		words = append(words, more...)
	}
	return words, true
}

// alternatives returns the words that bash makes of one with a brace list or a known variable;
// otherwise none. ok is false if there are too many.
func (c *collector) alternatives(w *syntax.Word, word Word, guesses []string, i int) (all []Word, ok bool) {
	if split := *w; strings.Contains(word.Raw, "{") && syntax.SplitBraces(&split) {
		lists, ok := spreadParts(split.Parts)
		if len(lists) != 1 || slices.ContainsFunc(split.Parts, inBraces) {
			return c.spreadWords(lists), ok
		}
	}
	if words := c.handedTo(w); len(words) > 0 {
		return words, len(words) <= maxHanded
	}
	if i >= len(guesses) || guesses[i] == "" || strings.Contains(guesses[i], Unknown) {
		return nil, true
	}
	if !word.Split {
		return []Word{literalWord(guesses[i])}, true
	}
	all = []Word{}
	for f := range strings.FieldsSeq(guesses[i]) {
		all = append(all, unquotedField(f))
	}
	return all, true
}

// unquotedField is a word that comes of a variable without quotes: bash takes
// it for a pattern.
func unquotedField(s string) Word {
	at := strings.IndexAny(s, "*?[")
	if at < 0 {
		return literalWord(s)
	}
	return Word{Raw: s, Value: s, Glob: true, Split: true, Shape: s[:at] + Unknown}
}

func inBraces(p syntax.WordPart) bool {
	_, ok := p.(*syntax.BraceExp)
	return ok
}

// spreadWords makes words of their parts.
func (c *collector) spreadWords(lists [][]syntax.WordPart) (all []Word) {
	for _, parts := range lists {
		u := unquoter{src: c.src, known: c.r.known, bracket: -1, brace: -1}
		for _, p := range parts {
			u.addPart(p, false)
		}
		value := u.guess.String()
		word := Word{Raw: strings.ReplaceAll(value, Unknown, "?"), Value: value, Shape: value, Split: u.split || u.glob}
		word.Literal = !u.glob && !strings.Contains(value, Unknown)
		if at := strings.IndexAny(value, "*?["); u.glob && at >= 0 {
			word.Shape = value[:at] + Unknown
		}
		if value == "" {
			word.Raw = "''" // a unit has some text
		}
		word.Glob = u.glob && !strings.Contains(value, Unknown)
		all = append(all, word)
	}
	return all
}

// spreadParts spreads the lists in braces among the parts of a word. A long one
// of numbers or letters stays as it is.
func spreadParts(parts []syntax.WordPart) (all [][]syntax.WordPart, ok bool) {
	all = [][]syntax.WordPart{nil}
	for _, p := range parts {
		b, list := p.(*syntax.BraceExp)
		if list && b.Sequence {
			b, list = sequence(b)
			p = &syntax.Lit{Value: "?"}
		}
		if !list {
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

// maxSequence is how many words a sequence in braces is spread to.
const maxSequence = 16

// sequence is a short {a..c} or {1..3} as the list that it stands for.
func sequence(b *syntax.BraceExp) (list *syntax.BraceExp, ok bool) {
	if len(b.Elems) != 2 {
		return nil, false
	}
	show := strconv.Itoa
	first, ok := sequenceNumber(b.Elems[0].Lit())
	last, too := sequenceNumber(b.Elems[1].Lit())
	if !ok && !too {
		show = func(n int) string { return string(rune(n)) }
		first, ok = sequenceLetter(b.Elems[0].Lit())
		last, too = sequenceLetter(b.Elems[1].Lit())
	}
	if !ok || !too || max(first-last, last-first) >= maxSequence {
		return nil, false
	}
	step := 1
	if last < first {
		step = -1
	}
	list = &syntax.BraceExp{}
	for n := first; n != last+step; n += step {
		list.Elems = append(list.Elems, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: show(n)}}})
	}
	return list, true
}

// sequenceNumber reads a number that is written as bash writes it again.
func sequenceNumber(s string) (n int, ok bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && strconv.Itoa(n) == s
}

// sequenceLetter reads a small letter. Between a small and a capital one there
// are others.
func sequenceLetter(s string) (n int, ok bool) {
	if len(s) != 1 || s[0] < 'a' || s[0] > 'z' {
		return 0, false
	}
	return int(s[0]), true
}
