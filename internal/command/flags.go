package command

import (
	"slices"
	"strings"
)

// flags are the options of a command that make it run a program.
type flags struct {
	runs  string // the options, separated by spaces: -x, --long, or -long
	takes string // the one-letter options that surely take a value, which ends a row of letters
	plain string // options that surely take none, as in runs: a -- behind one ends the options
	exact string // long options that are no short form of one that runs a program
	half  string // long options that do nothing without one that runs a program
	plus  bool   // a word that begins with + is one
	old   bool   // letters may stand in the first word without a dash
	lone  bool   // one-letter options do not stand together
	among bool   // they do, and one of several letters may be among them
	any   bool   // long options have one dash or two, and may be shortened
	goes  bool   // -- does not end them
	count bool   // a number may be an option: git log -5
}

// flagsOf returns the options that run a program for the commands that have such options. git, sed
// and awk have readers of their own.
func flagsOf(name string) (flags, bool) {
	for _, table := range []func(string) (flags, bool){toolFlags, netFlags, editorFlags, buildFlags, hookFlags, textFlags} {
		if f, ok := table(name); ok {
			return f, true
		}
	}
	return flags{}, false
}

// find returns an uncertainty for each of the options that a command has, and for words
// that may be one.
func (f flags) find(name string, words []Word) []Uncertainty {
	var out []Uncertainty
	if f.half != "" && !slices.ContainsFunc(words[1:], func(w Word) bool { return strings.HasPrefix(w.Shape, Unknown) }) {
		f.exact += " " + f.half // no word may be the other half
	}
	for i, w := range words[1:] {
		if w.Shape == "--" && f.endsOptions(words[:i+1]) {
			break
		}
		if opt := f.match(w.Shape, i == 0); opt != "" {
			out = append(out, Uncertainty{Why: name + " runs a program because of " + opt, Flag: opt})
		} else if f.may(w) {
			out = append(out, Uncertainty{Why: name + " may run a program because of an option that is computed"})
		}
	}
	return out
}

// endsOptions reports whether -- behind some words surely ends the options, and is not
// the value of one.
func (f flags) endsOptions(before []Word) bool {
	shape := before[len(before)-1].Shape
	switch {
	case len(before) == 1:
		return true
	case strings.HasPrefix(shape, Unknown), f.old && f.oldValues(before[1].Shape) > len(before)-2:
		return false
	case len(shape) < 2 || shape[0] != '-', slices.Contains(strings.Fields(f.plain), shape):
		return true
	case shape[1] == '-' || f.lone || f.any:
		return strings.Contains(shape, "=")
	}
	for k := 1; k < len(shape); k++ {
		switch {
		case strings.IndexByte(f.takes, shape[k]) >= 0:
			return k+1 < len(shape)
		case !slices.Contains(strings.Fields(f.plain), "-"+shape[k:k+1]):
			return false
		}
	}
	return true
}

// oldValues says how many values letters without a dash take.
func (f flags) oldValues(letters string) (n int) {
	if strings.HasPrefix(letters, "-") {
		return 0
	}
	for i := range len(letters) {
		if strings.IndexByte(f.takes, letters[i]) >= 0 {
			n++
		}
	}
	return n
}

// may reports whether a partly unknown word may be one of the options. Completely unknown words are
// handled elsewhere.
func (f flags) may(w Word) bool {
	at := strings.Index(w.Shape, Unknown)
	if at < 1 || w.Shape[0] != '-' {
		return false
	}
	head := w.Shape[:at]
	if head == "-" {
		return !f.count || w.Glob || substituted(w)
	}
	if head[1] != '-' && !f.lone && !f.any {
		return !strings.ContainsAny(head[1:], f.takes)
	}
	for r := range strings.FieldsSeq(f.runs) {
		if strings.HasPrefix(r, head) || (f.lone || f.any) && strings.HasPrefix("-"+r, head) {
			return true
		}
	}
	return false
}

// substituted reports whether a word holds the output of a command, without
// quotes: it may be several words.
func substituted(w Word) bool {
	return w.Split && (strings.Contains(w.Raw, "$(") || strings.Contains(w.Raw, "`"))
}

// inText reports whether one of the words of a text is an option that runs a
// program.
func (f flags) inText(text string) bool {
	if !strings.Contains(text, "-") {
		return false
	}
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, `"'`)
		if f.match(word, false) != "" || f.may(Word{Shape: word}) {
			return true
		}
	}
	return false
}

// occursIn reports whether one of the options that are words stands anywhere in a
// text.
func (f flags) occursIn(text string) bool {
	text = strings.ToLower(text)
	for r := range strings.FieldsSeq(f.runs) {
		if len(r) > 2 && strings.Contains(text, strings.ToLower(r)) {
			return true
		}
	}
	return false
}

// value reports whether the word behind some others surely is the value of an
// option.
func (f flags) value(before []Word) bool {
	last := len(before) - 1
	shape := before[last].Shape
	switch {
	case last < 1 || len(shape) < 2 || shape[0] != '-':
		return false
	case f.goes:
		return predicate(before[:last]) && (measures(shape) || slices.Contains(strings.Fields("-name -iname -path -ipath -wholename -regex -iregex -type -newer -user -group -maxdepth -mindepth -samefile -fstype"), shape))
	}
	return len(shape) == 2 && !f.lone && !f.any && !f.old && strings.IndexByte(f.takes, shape[1]) >= 0 && f.endsOptions(before[:last])
}

// match returns the option that a word is, or has among its letters.
func (f flags) match(shape string, first bool) string {
	switch {
	case f.plus && len(shape) > 1 && shape[0] == '+' && strings.Trim(shape[1:], "0123456789") != "":
		return "+"
	case f.old && first && shape != "" && shape[0] != '-':
		return f.letter(shape, true)
	case len(shape) < 2 || shape[0] != '-':
		return ""
	case f.any:
		return f.anyMatch(shape)
	case shape[1] == '-':
		return f.longMatch(shape)
	case f.lone:
		return f.loneMatch(shape)
	}
	return f.letter(shape[1:], false)
}

// loneMatch finds an option with one dash, alone in its word.
func (f flags) loneMatch(shape string) string {
	given, _, _ := strings.Cut(shape, "=")
	for r := range strings.FieldsSeq(f.runs) {
		if r == given || len(r) == 2 && strings.HasPrefix(shape, r) || f.among && r[1] != '-' && strings.Contains(shape, r[1:]) {
			return r
		}
	}
	return ""
}

// anyMatch finds an option with one dash or two, which may be shortened.
func (f flags) anyMatch(shape string) string {
	given, _, _ := strings.Cut(strings.TrimPrefix(shape[1:], "-"), "=")
	if given == "" || slices.Contains(strings.Fields(f.exact), "-"+given) {
		return ""
	}
	for r := range strings.FieldsSeq(f.runs) {
		if strings.HasPrefix(r[1:], given) {
			return r
		}
	}
	return ""
}

// longMatch finds a long option, which may be shortened.
func (f flags) longMatch(shape string) string {
	given, _, _ := strings.Cut(shape, "=")
	if slices.Contains(strings.Fields(f.exact), given) {
		return ""
	}
	for r := range strings.FieldsSeq(f.runs) {
		switch {
		case r == given, len(given) > 2 && strings.HasPrefix(r, given):
			return r
		case f.lone && len(r) > 2 && "-"+r == given: // go takes --exec for -exec
			return r
		}
	}
	return ""
}

// letter finds a one-letter option among others. In the old way of writing
// them, values stand in words of their own.
func (f flags) letter(row string, old bool) string {
	for k := range len(row) {
		opt := "-" + row[k:k+1]
		if slices.Contains(strings.Fields(f.runs), opt) {
			return opt
		}
		if !old && strings.IndexByte(f.takes, row[k]) >= 0 {
			return ""
		}
	}
	return ""
}
