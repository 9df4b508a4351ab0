package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assigned notes what a variable is set to, and returns what is uncertain in
// it. prefix says that it is set for one command only.
func (c *collector) assigned(a *syntax.Assign, prefix bool) []Uncertainty {
	if a.Name == nil || a.Naked {
		return nil
	}
	var out []Uncertainty
	value, guess := readWord(c.src, a.Value, c.r.known)
	if hidesCode(value.Shape) {
		out = append(out, Uncertainty{Why: "text that bash runs where it takes it for a number"})
	}
	if value.Literal && substitutes(value.Value) {
		c.r.hidden = append(c.r.hidden, value.Value)
	}
	c.suspect(a.Name.Value, a.Value)
	if a.Value != nil {
		c.give(a.Name.Value, source{word: a.Value, more: a.Append})
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				c.give(a.Name.Value, source{word: e.Value})
			}
		}
	}
	c.r.value(value.Value)
	if !value.Literal {
		c.r.value(guess)
		c.r.value(value.Shape)
	}
	switch {
	case prefix:
	case a.Array != nil:
		c.handArray(a.Name.Value, a.Array)
		c.markUnknown(a.Name.Value)
	case a.Index != nil || !value.Literal:
		c.markUnknown(a.Name.Value)
	default:
		c.learn(a.Name.Value, value.Value, a.Append)
	}
	return out
}

// reference reports whether a word is the option that makes a variable stand for
// another one.
func reference(w Word) bool {
	return len(w.Shape) > 1 && w.Shape[0] == '-' && strings.Contains(w.Shape, "n")
}

// maxGuess is how long a value may be that is put in for its variable.
const maxGuess = 64

// learn notes the value of a variable, which may be put behind the one it has.
// Of several values none is known.
func (c *collector) learn(name, value string, more bool) {
	old, seen := c.r.known[name]
	if more && seen && old != Unknown {
		value, old = old+value, old+value
	} else if more {
		value = Unknown
	}
	if len(value) > maxGuess || seen && old != value {
		value = Unknown
	}
	c.r.known[name] = value
}

// markUnknown notes that the value of a variable is not known.
func (c *collector) markUnknown(name string) { c.r.known[name] = Unknown }
