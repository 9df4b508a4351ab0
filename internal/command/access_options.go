package command

import (
	"slices"
	"strings"
)

// option reads an option word, and returns how many of the following words are its values.
func (a *argReader) option(w Word, rest []Word) (taken int, stop bool) {
	if strings.HasPrefix(w.Value, "--") || a.spec.is("whole") {
		return a.longOption(w, rest)
	}
	if a.why == "chmod" && w.Literal && strings.Trim(w.Value, "-rwxXst,=+ugoa01234567") == "" {
		a.args = argList{star: []string{"w"}} // the mode
		return 0, false
	}
	if o, ok := a.spec.option(w.Value); ok { // also of several letters: -pe
		return a.take(o, rest), o.stopped
	}
	for i := 1; i < len(w.Value); i++ {
		last := i+1 == len(w.Value)
		o, ok := a.spec.option("-" + w.Value[i:i+1])
		switch {
		case !ok && last:
			return a.strange(rest), false
		case !ok:
		case len(o.values) > 0 && !last:
			a.apply(o)
			a.value(o.values[0], w.suffixFrom(i+1))
			return 0, false
		default:
			if n := a.take(o, rest); n > 0 || o.stopped {
				return n, o.stopped
			}
		}
	}
	return 0, false
}

// strange returns how many words an unknown option takes: one, where that may decide which file is
// written.
func (a *argReader) strange(rest []Word) int {
	writes := func(use string) bool { return use == "w" || use == "rw" }
	if len(rest) == 0 || strings.HasPrefix(rest[0].Value, "-") || !slices.ContainsFunc(a.args.head, writes) || !a.fork() {
		return 0
	}
	return 1
}

// longOption is option for a word that is one option.
func (a *argReader) longOption(w Word, rest []Word) (taken int, stop bool) {
	name, _, attached := strings.Cut(w.Value, "=")
	o, ok := a.long(name)
	switch {
	case !ok && a.spec.is("whole"):
		if o, ok = a.glued(w.Value); ok {
			a.apply(o)
			a.value(o.values[0], w.suffixFrom(len(o.name)))
			return 0, false
		}
		if attached {
			a.loosely(w, len(name)+1)
			return 0, false
		}
		return a.strange(rest), false
	case !ok:
		return a.shortened(w, name, rest)
	case attached && len(o.values) > 0:
		a.apply(o)
		a.value(o.values[0], w.suffixFrom(len(name)+1))
		return 0, o.stopped
	}
	return a.take(o, rest), o.stopped
}

// long finds an option by its name. Where one dash is enough, two are no
// mistake.
func (a *argReader) long(name string) (optionSpec, bool) {
	o, ok := a.spec.option(name)
	if !ok && a.spec.is("whole") && strings.HasPrefix(name, "--") {
		o, ok = a.spec.option(name[1:])
	}
	return o, ok
}

// glued returns the longest option at the start of a word whose value may follow without a space.
func (a *argReader) glued(word string) (best optionSpec, ok bool) {
	if !a.spec.is("glue") || strings.HasPrefix(word, "--") {
		return best, false
	}
	for n := len(word) - 1; n >= 2; n-- {
		if o, ok := a.spec.option(word[:n]); ok && len(o.values) > 0 {
			return o, true
		}
	}
	return best, false
}

// shortened reads an abbreviated or unknown option. All options that it may stand for count, and if
// one of them takes a value, the next word may be that value or not.
func (a *argReader) shortened(w Word, name string, rest []Word) (taken int, stop bool) {
	if len(name) < len("--x") {
		return 0, false
	}
	if a.why == "git" {
		a.negateFlags(name)
	}
	attached := len(name) < len(w.Value)
	var all []optionSpec
	takes := false
	for _, f := range a.spec.options {
		if strings.HasPrefix(f, name) {
			o := parseOption(f)
			all = append(all, o)
			takes = takes || len(o.values) > 0
		}
	}
	switch {
	case len(all) > 0:
	case attached:
		a.loosely(w, len(name)+1)
	default:
		return a.strange(rest), false
	}
	swallowed := takes && !attached && a.fork()
	for _, o := range all {
		switch {
		case len(o.values) == 0:
			a.apply(o)
			stop = stop || o.stopped
		case attached:
			a.apply(o)
			a.value(o.values[0], w.suffixFrom(len(name)+1))
		case swallowed:
			taken = max(taken, a.take(o, rest))
		}
	}
	return taken, stop
}

// loosely adds what stands behind the = of an option that is not in the table,
// if it is the name of a file.
func (a *argReader) loosely(w Word, at int) {
	if a.spec.is("loose") {
		a.addUse("m", w.suffixFrom(at))
	}
}

// negateFlags takes back flags of git by which it leaves files alone: --no-x, or the
// beginning of that.
func (a *argReader) negateFlags(name string) {
	flag, ok := strings.CutPrefix(name, "--no")
	if !ok || flag != "" && flag[0] != '-' {
		return
	}
	flag = "--" + strings.TrimPrefix(flag, "-")
	for _, f := range a.spec.options {
		if !strings.HasPrefix(f, flag) {
			continue
		}
		switch o := parseOption(f); {
		case len(o.values) > 0:
		case o.effect == "index":
			a.tree = true
		case o.args != nil:
			a.args = a.spec.args
		case o.effect == "r":
			a.star = ""
		}
	}
}

// take applies an option whose values are the following words.
func (a *argReader) take(o optionSpec, rest []Word) int {
	a.apply(o)
	if o.glued {
		if o.values[0] == "B" { // the names are in the input
			a.add(Access{Kind: Read})
			a.add(Access{Kind: Write})
		}
		return 0
	}
	if len(o.values) > 0 && strings.HasSuffix(o.values[0], "*") {
		return a.takeAll(o.values[0][:1], rest)
	}
	n := min(len(o.values), len(rest))
	for i, w := range rest[:n] {
		a.value(o.values[i], w)
	}
	return n
}

// takeAll reads values that go on up to the next option, or to an @.
func (a *argReader) takeAll(use string, rest []Word) (n int) {
	for _, w := range rest {
		if strings.HasPrefix(w.Value, "-") {
			break
		}
		n++
		if w.Value == "@" {
			break
		}
		a.value(use, w)
	}
	return n
}

func (a *argReader) apply(o optionSpec) {
	if o.onward { // what came before is as it was
		a.assign()
		a.plain, a.named = nil, true
	}
	if o.args != nil {
		a.args = *o.args
	}
	switch o.effect {
	case "":
	case "deep":
		a.deep = true
	case "all":
		a.deep, a.star = true, "r"
	case "index":
		a.index = true
	case "tree":
		a.tree = true
	case "+r":
		a.add(Access{Kind: Read})
	case "bold":
		a.visible, a.fresh = false, false
	case "+w":
		a.inDir = true
	case "@r":
		a.add(Access{Kind: Read, Path: knownWord("."), Deep: true})
	case "force":
		a.force = true
	default:
		a.manner(o.effect)
	}
}

// manner notes in which way arguments are used, or end up somewhere.
func (a *argReader) manner(effect string) {
	switch effect {
	case "soft":
		a.soft = true
	case "test", "pack":
		a.tests = effect == "test"
	case "lift":
		a.filter.lifted = true
	case "flat":
		a.flat = true
	case "parents":
		a.parents = true
	default:
		a.star = effect
		a.effects += effect
	}
}
