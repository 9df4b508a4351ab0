package command

import (
	"slices"
	"strings"
)

// mayOption records a unit with words that bash may split, one result being an option that runs a
// program or writes a file.
func (c *collector) mayOption(unit int) {
	u := &c.r.units[unit]
	if u.Kind != Command || len(u.Words) < 2 || !u.Words[0].Literal || !slices.ContainsFunc(u.Words[1:], several) {
		return
	}
	c.r.loose = append(c.r.loose, unit)
}

// several reports whether bash may make other words of one than it seems.
func several(w Word) bool { return w.Split && !w.Literal && w.Raw != "" }

// markSplit runs when everything has been read. An unquoted expansion may be any words, unless the
// line determines all its values.
func (r *reading) markSplit() {
	if len(r.loose) == 0 {
		return
	}
	v := r.vars()
	v.collect(r.units, r.functions)
	var reach Reach
	for _, unit := range r.loose {
		u := &r.units[unit]
		options, f := reach.dangerous(u.Words)
		if !options || slices.ContainsFunc(u.Uncertainties, func(d Uncertainty) bool { return d.Flag == "" && d.Match == "" }) {
			continue
		}
		for i, w := range u.Words[1:] {
			if w.Shape == "--" && !f.goes && f.endsOptions(u.Words[:i+1]) {
				break
			}
			if !several(w) {
				continue
			}
			if w.Glob {
				if d := (Uncertainty{Why: "a file may have the name of an option", Match: w.Value}); w.Shape[:1] == Unknown && !slices.Contains(u.Uncertainties, d) {
					u.Uncertainties = append(u.Uncertainties, d)
				}
				continue
			}
			if r.splits(v, w, f) {
				u.Uncertainties = append(u.Uncertainties, Uncertainty{Why: "what is expanded outside of quotes may be an option: " + w.Raw})
				break
			}
		}
	}
}

// splits reports whether one of some options may be among the words that bash
// makes of one.
func (r *reading) splits(v *varValues, w Word, f flags) bool {
	raw := w.Raw
	if !slices.Contains(r.functions, "nproc") {
		raw = strings.ReplaceAll(raw, "$(nproc)", "1")
	}
	alts, all := v.fields(raw)
	if !all || r.set[Unknown] {
		return true
	}
	return slices.ContainsFunc(alts, func(words []Word) bool {
		return slices.ContainsFunc(words, func(w Word) bool {
			return f.match(w.Shape, false) != "" || f.may(w) || strings.HasPrefix(w.Shape, Unknown)
		})
	})
}

// dangerous reports whether a command has options that run a program, which it
// returns, or that write a file.
func (r *Reach) dangerous(words []Word) (bool, flags) {
	name := programName(words[0].Value)
	f, runs := optionsOf(name)
	key := name
	if name == "git" {
		_, rest := gitCommand(words)
		if len(rest) == 0 {
			return true, f
		}
		runs = !harmlessGit(words)
		key = "git " + rest[0].Shape
	}
	if runs {
		return true, f
	}
	spec, ok := r.spec(key)
	return ok && spec.writesByOption(), f
}

// writesByOption reports whether a command writes no file but one that an
// option names.
func (s fileSpec) writesByOption() bool {
	writes := func(use string) bool {
		return slices.Contains([]string{"w", "rw", "W", "M", "o", "L", "B", "F", "T", "S", "a"}, use)
	}
	if slices.ContainsFunc(slices.Concat(s.args.head, s.args.star, s.args.tail), writes) {
		return false
	}
	return slices.ContainsFunc(s.options, func(o string) bool { return slices.ContainsFunc(parseOption(o).values, writes) })
}
