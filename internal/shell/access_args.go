package shell

import (
	"slices"
	"strings"
)

// command adds the files that the arguments of a command name.
func (r *fileReader) command(name string, args []Word) {
	switch name {
	case "cd", "pushd":
		r.changeDir(name, args)
	case "find", "gfind":
		r.find(args)
	case "git":
		r.git(args)
	case "dd":
		r.dd(args)
	case "ln":
		r.link(args)
	case "tar", "bsdtar", "gtar":
		r.tar(args)
	case "unzip":
		r.unzip(args)
	default:
		if spec, ok := r.specOf(name); ok {
			r.table(spec, args)
		}
	}
	switch name {
	case "sqlite3":
		r.sqlite()
	case "sed", "gsed", "ssed":
		for _, file := range sedReads(r.unit.Words) {
			r.add(Access{Kind: Read, Path: known(file)})
		}
	}
}

// specOf finds a command in the table; python3.12 is python.
func (r *fileReader) specOf(name string) (fileSpec, bool) {
	spec, ok := r.reach.spec(name)
	if !ok {
		spec, ok = r.reach.spec(strings.TrimRight(name, "0123456789."))
	}
	return spec, ok
}

// An argReader takes the arguments of a command apart.
type argReader struct {
	*fileReader
	spec    fileSpec
	args    argList
	star    string // what is done with starred arguments instead
	deep    bool
	visible bool
	inDir   bool // it writes names it does not say
	filter  nameFilter
	plain   []Word
	sure    []Word // plain arguments that are nothing else than files
	target  []Word // folders that the arguments end up in
	named   bool   // an option named a file
	index   bool   // what it changes is the index of git
	tree    bool   // … and files too
}

// table adds the files of a command of the table.
func (r *fileReader) table(spec fileSpec, args []Word) {
	for r.begin(); r.again(); {
		a := argReader{fileReader: r, spec: spec, args: spec.args, deep: spec.is("deep"), visible: spec.is("shy"), inDir: spec.is("+w")}
		a.split(args)
		a.assign()
		if a.inDir {
			r.anywhere()
		}
		if len(a.plain) == 0 && !a.named && len(r.unit.Redirects) == 0 {
			a.alone()
		}
	}
}

// anywhere adds that a command writes where it runs, under names that only it
// knows.
func (r *fileReader) anywhere() {
	r.add(Access{Kind: Write, Path: known(".")})
	r.add(Access{Kind: Write})
}

// alone adds what a command reaches that no file is named to.
func (a *argReader) alone() {
	switch {
	case a.spec.is("@v"):
		a.add(Access{Kind: Visit, Path: known(".")})
	}
}

// split tells options from plain arguments, and adds the files that options
// name.
func (a *argReader) split(args []Word) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.Literal && w.Value == "--":
			a.sure = args[i+1:]
			a.plain = append(a.plain, a.sure...)
			return
		case len(w.Value) < 2 || w.Value[0] != '-':
			if a.spec.is("stop") {
				a.plain = append(a.plain, args[i:]...)
				return
			}
			if a.spec.is("resp") && strings.HasPrefix(w.Value, "@") {
				a.use("l", w.part(1))
				a.add(Access{Kind: Write}) // there may be options in it
				continue
			}
			a.plain = append(a.plain, w)
		default:
			n, stop := a.option(w, args[i+1:])
			if stop {
				return
			}
			i += n
		}
	}
}

// option reads a word of options, and returns how many of the words after it
// are values.
func (a *argReader) option(w Word, rest []Word) (taken int, stop bool) {
	if strings.HasPrefix(w.Value, "--") || a.spec.is("whole") {
		return a.longOption(w, rest)
	}
	if a.why == "chmod" && w.Literal && strings.Trim(w.Value, "-rwxXst,=+ugoa") == "" {
		a.args = argList{star: []string{"w"}} // the mode
		return 0, false
	}
	if o, ok := a.spec.option(w.Value); ok { // also of several letters: -pe
		return a.take(o, rest), o.stopped
	}
	for i := 1; i < len(w.Value); i++ {
		o, ok := a.spec.option("-" + w.Value[i:i+1])
		if !ok {
			continue
		}
		if len(o.values) == 0 || i+1 == len(w.Value) {
			if n := a.take(o, rest); n > 0 || o.stopped {
				return n, o.stopped
			}
			continue
		}
		a.apply(o)
		a.value(o.values[0], w.part(i+1))
		break
	}
	return 0, false
}

// longOption is option for a word that is one option.
func (a *argReader) longOption(w Word, rest []Word) (taken int, stop bool) {
	name, _, attached := strings.Cut(w.Value, "=")
	o, ok := a.long(name)
	switch {
	case !ok && a.spec.is("whole"):
		if o, ok = a.glued(w.Value); ok {
			a.apply(o)
			a.value(o.values[0], w.part(len(o.name)))
		}
		return 0, false
	case !ok:
		return a.shortened(w, name, rest)
	case attached && len(o.values) > 0:
		a.apply(o)
		a.value(o.values[0], w.part(len(name)+1))
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

// glued finds the longest option that a word begins with whose value may stand
// right behind it.
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

// shortened reads a word that is the beginning of options, or another option
// that the table does not have. All that it may be count, and where one of them
// takes a value, the next word is that or is none.
func (a *argReader) shortened(w Word, name string, rest []Word) (taken int, stop bool) {
	if len(name) < len("--x") {
		return 0, false
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
	swallowed := takes && !attached && a.fork()
	for _, o := range all {
		switch {
		case len(o.values) == 0:
			a.apply(o)
			stop = stop || o.stopped
		case attached:
			a.apply(o)
			a.value(o.values[0], w.part(len(name)+1))
		case swallowed:
			taken = max(taken, a.take(o, rest))
		}
	}
	return taken, stop
}

// take applies an option whose values are the next words.
func (a *argReader) take(o optionSpec, rest []Word) int {
	a.apply(o)
	n := min(len(o.values), len(rest))
	for i, w := range rest[:n] {
		a.value(o.values[i], w)
	}
	return n
}

func (a *argReader) apply(o optionSpec) {
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
		a.visible = false
	case "+w":
		a.inDir = true
	default:
		a.star = o.effect
	}
}

// value adds the file that the value of an option names.
func (a *argReader) value(use string, w Word) {
	switch use {
	case "-":
		return
	case "T":
		a.target = append(a.target, w)
		return
	case "d":
		a.add(Access{Kind: Visit, Path: w})
		a.dir = a.dir.below(w)
		return
	case "D":
		a.deep = a.deep || w.Value == "recurse" || !w.Literal
		return
	case "i", "x", "X", "g", "t", "n":
		a.filter.add(use, w)
		a.visible = a.visible && !(use == "g" && a.filter.only != nil)
		return
	}
	a.named = true
	a.use(use, w)
}

// assign adds the files that plain arguments name.
func (a *argReader) assign() {
	words, list := a.plain, a.args
	if a.index && !a.tree {
		return
	}
	for _, use := range list.head {
		if len(words) == 0 {
			return
		}
		a.use(use, words[0])
		words = words[1:]
	}
	var tail []Word
	if n := len(list.tail); n > 0 && len(a.target) == 0 && len(words) > n {
		tail, words = words[len(words)-n:], words[:len(words)-n]
	}
	a.starred(list, words)
	for i, w := range tail {
		a.into(list.tail[i], w, words)
	}
	for _, w := range a.target {
		a.into("W", w, words)
	}
}

// starred adds the arguments that are all used alike.
func (a *argReader) starred(list argList, words []Word) {
	if len(list.star) == 0 {
		return
	}
	use := list.star[0]
	if a.star != "" {
		use = a.star
	}
	for _, w := range words {
		a.use(use, w)
	}
	if len(words) == 0 && len(list.tail) == 0 && a.deep && use == "r" && (a.spec.is("@r") || !a.spec.is("deep")) {
		a.use(use, known("."))
	}
}

func (a *argReader) into(use string, w Word, from []Word) {
	if use == "W" && !a.skipped(w) {
		a.add(Access{Kind: Write, Path: w, Into: from, Deep: a.deep})
	} else if use != "W" {
		a.use(use, w)
	}
}

// skipped reports whether an argument is no file of this machine.
func (a *argReader) skipped(w Word) bool {
	v := w.Value
	if a.spec.is("vars") {
		if at := strings.IndexByte(v, '='); at > 0 && name(v[:at]) {
			return true
		}
	}
	if a.spec.is("remote") {
		host, _, ok := strings.Cut(v, ":")
		return ok && !strings.Contains(host, "/")
	}
	return a.why != "" && len(v) > 1 && v[0] == '+' && strings.Contains(" vi vim nvim view ex ed nano emacs ", " "+a.why+" ")
}

func name(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// use adds a file by what is done with it.
func (a *argReader) use(use string, w Word) {
	if use == "-" || a.skipped(w) {
		return
	}
	if use == "v" {
		a.add(Access{Kind: Visit, Path: w})
		return
	}
	if a.why == "git" && pathspec(w) {
		a.matched(use, w)
	}
	at := Access{Path: w, Deep: a.deep, Visible: a.visible}
	a.filter.apply(&at)
	switch use {
	case "r", "rw":
		at.Kind = Read
		a.add(at)
		if use == "rw" {
			at.Kind = Write
			a.add(at)
		}
	case "w", "W":
		at.Kind = Write
		a.add(at)
	case "m", "M":
		a.maybe(use, at)
	case "u", "U":
		a.address(use, w)
	case "@", "k":
		a.mentioned(use, w)
	case "l", "L":
		a.add(Access{Kind: Read, Path: w})
		kind := Read
		if use == "L" {
			kind = Write
		}
		a.add(Access{Kind: kind}) // the files that are named in it
	}
}

// pathspec reports whether git takes a word for a pattern of its own, which also
// means files that are missing: '*.c', :/a or :(icase)a.
func pathspec(w Word) bool {
	return strings.HasPrefix(w.Value, ":") || strings.ContainsAny(w.Value, "*?[")
}

// matched adds that git reaches files which a pattern of its own matches.
func (a *argReader) matched(use string, w Word) {
	w = Word{Raw: w.Raw, Value: w.Value, Shape: Unknown}
	switch use {
	case "r":
		a.add(Access{Kind: Read, Path: w})
	case "w", "M":
		a.add(Access{Kind: Write, Path: w})
	}
}

// maybe adds a file that an argument of git may name: a revision looks alike.
// Only the first one can be a revision where files are written.
func (a *argReader) maybe(use string, at Access) {
	at.Maybe, at.Kind = !slices.Contains(a.sure, at.Path), Read
	if use == "M" {
		at.Kind, at.Maybe = Write, at.Maybe && at.Path == a.plain[0]
	} else if rev, file, ok := strings.Cut(at.Path.Value, ":"); ok && a.why == "git" && file != "" && !strings.Contains(rev, "/../") {
		at.Path, at.Maybe = at.Path.part(len(rev)+1), false
	}
	if at.Path.Literal || at.Path.Glob {
		a.add(at)
	}
}

// A nameFilter says which files of folders a search leaves out.
type nameFilter struct {
	only, except, shut []string
	lifted             bool
}

func (f *nameFilter) add(use string, w Word) {
	pattern := w.Value
	known := w.Literal || w.Glob
	not, negated := strings.CutPrefix(pattern, "!")
	path := strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	if !known || path || use == "n" {
		f.lifted = f.lifted || use != "x" && use != "X" && !negated
		return
	}
	switch use {
	case "x":
		f.except = append(f.except, pattern)
	case "X":
		f.shut = append(f.shut, strings.TrimSuffix(pattern, "/"))
	case "t":
		names := strings.Fields(fileType(pattern))
		f.only, f.lifted = append(f.only, names...), f.lifted || names == nil
	default:
		if !negated || use == "i" {
			f.only = append(f.only, pattern)
			return
		}
		not, folder := strings.CutSuffix(not, "/")
		f.shut = append(f.shut, not)
		if !folder {
			f.except = append(f.except, not)
		}
	}
}

// apply narrows what an access reaches. Patterns that name files and others
// that leave some out are not put together: which of them counts depends on
// their order.
func (f *nameFilter) apply(a *Access) {
	if !a.Deep {
		return
	}
	a.Shut = f.shut
	switch {
	case f.lifted:
		a.Shut = nil
	case f.only == nil:
		a.Except = f.except
	default:
		a.Only, a.Shut = f.only, nil
	}
}

// fileType gives the names of a type of files of rg, for the commonest.
func fileType(name string) string {
	switch name {
	case "c":
		return "*.[chH] *.[chH].in *.cats"
	case "cpp":
		return "*.[ChH] *.cc *.[ch]pp *.[ch]xx *.hh *.inl *.[ChH].in *.cc.in *.[ch]pp.in *.[ch]xx.in *.hh.in"
	case "css":
		return "*.css *.scss"
	case "go":
		return "*.go"
	case "java":
		return "*.java *.jsp *.jspx *.properties"
	case "js":
		return "*.js *.jsx *.vue *.cjs *.mjs"
	case "md", "markdown":
		return "*.markdown *.md *.mdown *.mdwn *.mkd *.mkdn *.mdx"
	case "py", "python":
		return "*.py *.pyi"
	case "rust":
		return "*.rs"
	case "ts", "typescript":
		return "*.ts *.tsx *.cts *.mts"
	}
	return ""
}
