package command

import (
	"slices"
	"strings"
	"sync"
)

// checkNumbers is done when all has been read. It adds uncertainties where a number
// may hold code.
func (c *collector) checkNumbers() {
	f := &c.r.flows
	if len(f.formulas) == 0 && len(f.lists) == 0 {
		return // as of most lines
	}
	for _, name := range c.r.functions {
		f.addOrigin("@", origin{names: []string{"f " + name}})
		f.addOrigin("()"+name, origin{open: true})
	}
	if len(f.kinds) > 0 { // what is declared may stand for what is given elsewhere
		c.r.callsArguments()
	}
	f.join()
	hold := sync.OnceValue(func() *held { // of most lines it is not needed
		c.r.callsArguments()
		return f.held()
	})
	none := func(string) bool { return false }
	integers, arrays, keyed := f.declaredAs("i", integer), f.declaredAs("a", isArrayVar), f.declaredAs("A", none)
	seen := map[string]bool{}
	for _, n := range f.formulas {
		if n.into != "" && !integers(n.into) || n.unless != "" && keyed(n.unless) {
			continue
		}
		var all []Uncertainty
		for _, name := range n.of.sets {
			all = append(all, setsNumber(name)...)
		}
		if hold().mayHoldCode(n.of) {
			c.r.counts = true
			all = append(all, Uncertainty{Why: "a number that may hold code"})
		}
		c.uncertaintyNumber(n, all, seen)
	}
	for _, l := range f.lists {
		if arrays(l.name) || keyed(l.name) {
			c.addUncertainty(l.unit, Uncertainty{Why: "a list that is computed"})
		}
	}
}

// held is what variables may hold, by their names.
type held struct {
	open    map[string]bool // code
	puzzles map[string]bool // what sets a variable
	named   map[string]bool // letters, of which a name may be made
	foreign bool            // there is a variable that a name may be made for
}

func (f *flows) held() *held {
	users := f.users()
	h := &held{
		open:    f.spread(users, func(o origin) bool { return o.open || slices.ContainsFunc(o.names, outer) }),
		puzzles: f.spread(users, func(o origin) bool { return o.puzzle || len(o.sets) > 0 }),
		named:   f.spread(users, func(o origin) bool { return o.named }),
	}
	for name := range h.open {
		h.foreign = h.foreign || identifier(name)
	}
	return h
}

// mayHoldCode reports whether a number may hold code.
func (h *held) mayHoldCode(o origin) bool {
	return o.open || o.puzzle || h.foreign && o.named || slices.ContainsFunc(o.names, func(name string) bool {
		return h.open[name] || outer(name) || h.puzzles[name] || h.foreign && h.named[name]
	})
}

// setsNumber are the uncertainties about a variable that a number sets.
func setsNumber(name string) []Uncertainty {
	if strings.Contains(name, Unknown) {
		return []Uncertainty{{Why: "a number that sets a variable whose name is computed"}}
	}
	return sets(name)
}

// uncertaintyNumber adds uncertainties about a formula to its unit, which may have to be
// made.
func (c *collector) uncertaintyNumber(n formula, all []Uncertainty, seen map[string]bool) {
	if len(all) == 0 {
		return
	}
	if n.unit < 0 {
		key := n.inside + "\x00" + n.text
		if n.text == "" || seen[key] {
			return
		}
		seen[key] = true
		at := *c
		at.inside = n.inside
		n.unit = at.add(Unit{Kind: Test, Text: n.text}, nil)
	}
	for _, d := range all {
		bare := func(d Uncertainty) bool { return d.Flag == "" }
		if d.Flag != "" || !slices.ContainsFunc(c.r.units[n.unit].Uncertainties, bare) {
			c.addUncertainty(n.unit, d)
		}
	}
}

// users are the variables that each variable is put into.
func (f *flows) users() map[string][]string {
	users := make(map[string][]string, len(f.from))
	for name, o := range f.from {
		for _, from := range o.names {
			users[from] = append(users[from], name)
		}
	}
	return users
}

// spread finds the variables that hold something, also by way of others. What is
// read from outside holds anything.
func (f *flows) spread(users map[string][]string, holds func(origin) bool) map[string]bool {
	open := map[string]bool{}
	var next []string
	found := func(name string) {
		if !open[name] {
			open[name] = true
			next = append(next, name)
		}
	}
	for name, o := range f.from {
		for _, from := range o.names {
			if strings.HasPrefix(from, "<") && !f.knows(from) {
				found(from)
			}
		}
		if holds(o) {
			found(name)
		}
	}
	for len(next) > 0 {
		name := next[len(next)-1]
		next = next[:len(next)-1]
		for _, user := range users[name] {
			found(user)
		}
	}
	return open
}

// join gives what a reference to a variable is set to also to that.
func (f *flows) join() {
	for name, kinds := range f.kinds {
		for _, to := range f.from[name].names {
			if strings.Contains(kinds, "n") && identifier(to) {
				f.addOrigin(to, origin{names: []string{name}})
			}
		}
	}
}

func (f *flows) knows(name string) bool {
	_, ok := f.from[name]
	return ok
}

// declaredAs finds the variables that were declared with a letter, or are known to be of
// a kind; also as references to others.
func (f *flows) declaredAs(letter string, known func(string) bool) func(string) bool {
	users := map[string][]string{}
	found := map[string]bool{}
	var next []string
	for name, kinds := range f.kinds {
		if strings.Contains(kinds, letter) {
			next = append(next, name)
		}
		for _, to := range f.from[name].names {
			if !strings.Contains(kinds, "n") {
				break
			}
			users[to] = append(users[to], name)
			if known(to) {
				next = append(next, to)
			}
		}
	}
	for len(next) > 0 {
		name := next[len(next)-1]
		next = next[:len(next)-1]
		if !found[name] {
			found[name] = true
			next = append(next, users[name]...)
		}
	}
	return func(name string) bool { return found[name] || known(name) }
}
