package command

import (
	"slices"
	"strings"
)

// inspectUnit checks, for the last unit read, what affects the line as a whole: whether bash takes
// something for a number, and whether it expands aliases or the history.
func (r *reading) inspectUnit(u Unit) {
	if len(u.Words) == 0 {
		return
	}
	name := baseName(u.Words[0].Value)
	r.counts = r.counts || counts(name, u.Words)
	if recalls(name, u.Words) {
		last := &r.units[len(r.units)-1]
		last.Uncertainties = append(last.Uncertainties, Uncertainty{Why: "lines that stand for earlier ones"})
	}
	switch name {
	case "alias":
		r.aliased = r.aliased || mentions(u.Words, "=") || mentions(u.Words, Unknown)
		r.expanded = r.expanded || u.Inside != "" // sh expands them, and so does bash -i
	case "shopt", "set":
		for _, mark := range []string{"expand_aliases", "posix", "-o" + Unknown} {
			r.expanded = r.expanded || mentions(u.Words, mark)
		}
		r.expanded = r.expanded || name == "shopt" && mentions(u.Words, Unknown)
	}
}

// mentions reports whether an argument holds a text.
func mentions(words []Word, mark string) bool {
	return slices.ContainsFunc(words[1:], func(w Word) bool { return strings.Contains(w.Shape, mark) })
}

// counts reports whether a command takes something for a number.
func counts(name string, words []Word) bool {
	switch name {
	case "let":
		return true
	case "declare", "typeset", "local", "export", "readonly":
		return mentions(words, "[") || slices.ContainsFunc(words[1:], func(w Word) bool {
			return strings.HasPrefix(w.Shape, "-") && strings.ContainsAny(w.Shape, "i"+Unknown)
		})
	case "printf":
		return len(words) > 1 && (words[1].Split || strings.HasPrefix(words[1].Shape, "-v"))
	case "read", "unset", "test", "[", "mapfile", "readarray":
		return mentions(words, "[")
	}
	return false
}

// substitutes reports whether a text holds a substitution.
func substitutes(s string) bool {
	return strings.Contains(s, "$(") || strings.Contains(s, "`") || strings.Contains(s, "${")
}

// hide notes a text that stands in quotes and would be code where bash takes it
// for a number.
func (r *reading) hide(s string) {
	_, sub, ok := strings.Cut(s, "[")
	if !ok {
		return
	}
	if substitutes(sub) || strings.Contains(sub, "\\$") {
		r.hidden = append(r.hidden, s)
	}
}

// uncover runs when everything has been read. It adds the parts of text that may turn out to be
// code, and why.
func (c *collector) uncover() string {
	c.checkNumbers()
	switch {
	case c.r.aliased && c.r.expanded:
		return "it uses aliases"
	case !c.r.counts || len(c.r.hidden) == 0:
		return ""
	}
	for _, s := range c.r.hidden {
		c.pieces(s)
	}
	return "text that bash runs where it takes it for a number"
}

// openIndex reports whether a name has an index that is not known: what a
// variable holds is expanded once more there.
func openIndex(shape string) bool {
	_, index, ok := strings.Cut(shape, "[")
	return ok && strings.Contains(index, Unknown)
}
