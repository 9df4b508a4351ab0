package command

import (
	"slices"
	"strings"
)

// commandFiles adds the files that the arguments of a command name.
func (r *fileReader) commandFiles(name string, args []Word) {
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
		r.linkFiles(args)
	case "tar", "bsdtar", "gtar":
		r.tar(args)
	case "unzip":
		r.unzip(args)
	default:
		if spec, ok := r.specOf(name); ok {
			r.table(keyed(name, spec, args))
		}
	}
	switch name {
	case "sqlite3", "duckdb":
		r.sqlite()
	case "psql":
		r.clientFiles(psqlFiles())
	case "mysql", "mariadb":
		r.clientFiles(mysqlFiles())
	case "jq", "gojq", "jaq":
		r.loads("import", "include")
	case "yq":
		r.loads("load")
	case "7z", "7za", "7zr", "7zz":
		if len(args) > 0 && (args[0].Value == "x" || args[0].Value == "e") {
			r.anywhere()
		}
	case "rsync", "scp", "wget":
		r.received(name, args)
	case "parallel":
		if at := slices.IndexFunc(args, func(w Word) bool { return strings.HasPrefix(w.Value, ":::") }); at >= 0 {
			r.unknownCommand(args[at:])
		}
	case "socat":
		r.addresses()
	case "docker", "podman", "nerdctl", "kubectl", "oc":
		r.container(args)
	case "http", "https", "httpie", "xh", "xhs", "gh", "glab", "vault":
		r.behind("@", args)
		if name == "gh" || name == "glab" {
			r.transferred(args)
		}
	case "aws", "gsutil", "gcloud", "s3cmd", "rclone", "mc", "hg", "svn", "bzr", "brz", "fossil":
		r.transferred(args)
	case "convert", "magick", "identify", "composite", "montage", "mogrify":
		r.behind(":@", args)
	case "mktemp":
		r.temporary()
	case "sed", "gsed", "ssed":
		reads, writes := sedFiles(r.unit.Words)
		for _, file := range reads {
			r.add(Access{Kind: Read, Path: knownWord(file)})
		}
		for _, file := range writes {
			r.add(Access{Kind: Write, Path: knownWord(file)})
		}
	case "awk", "gawk", "mawk", "nawk":
		if inPlace(args) {
			for _, w := range args {
				r.add(Access{Kind: Write, Path: w, Maybe: true})
			}
		}
		for _, w := range r.unit.Words[1:] {
			if w.Literal {
				for _, file := range awkWrites(w.Value) {
					r.add(Access{Kind: Write, Path: knownWord(file)})
				}
				for _, file := range awkReads(w.Value, args) {
					r.add(Access{Kind: Read, Path: knownWord(file), Maybe: true})
				}
			}
		}
	}
}

// specOf returns the table entry of a command; python3.12 is python, and gcc-12 gcc.
func (r *fileReader) specOf(name string) (fileSpec, bool) {
	spec, ok := r.reach.spec(name)
	if !ok {
		spec, ok = r.reach.spec(strings.TrimRight(name, "0123456789.-"))
	}
	return spec, ok
}

// An argReader parses the arguments of a command.
type argReader struct {
	*fileReader
	spec     fileSpec
	args     argList
	star     string // what is done with starred arguments instead
	deep     bool
	visible  bool
	fresh    bool
	inDir    bool // it writes names it does not say
	filter   nameFilter
	plain    []Word
	sure     []Word // plain arguments that are nothing else than files
	target   []Word // folders that the arguments end up in
	archives []Word // of tar
	named    bool   // an option named a file
	index    bool   // what it changes is the index of git
	tree     bool   // … and files too
	force    bool   // it changes all files of the tree, unless some are named
	tests    bool   // it only reads, whatever the table says
	soft     bool   // it makes links
	flat     bool   // … or other files, under the very name that is given
	parents  bool   // … or below it, with the folders that stand in their names
	effects  string // all that star was
	handed   string // the last option that was handed on to another program
	suffix   Word   // of the names of backups, if it holds a slash
}

// table adds the files of a command of the table.
func (r *fileReader) table(spec fileSpec, args []Word) {
	for r.resetWays(); r.nextWay(); {
		a := argReader{fileReader: r, spec: spec, args: spec.args, deep: spec.is("deep"), visible: spec.is("shy"), fresh: spec.is("fresh"), inDir: spec.is("+w")}
		a.split(args)
		a.assign()
		a.backups()
		if a.inDir || a.force && len(a.sure) == 0 && len(a.plain) < 2 {
			r.anywhere()
		}
		if len(a.plain) == 0 && !a.named {
			a.alone()
		}
	}
}

// anywhere adds that a command writes files of unknown names in its working directory.
func (r *fileReader) anywhere() {
	r.add(Access{Kind: Write, Path: knownWord(".")})
	r.add(Access{Kind: Write})
}

// alone adds what a command reaches without arguments.
func (a *argReader) alone() {
	switch {
	case a.spec.is("@v") && len(a.unit.Redirects) == 0:
		a.add(Access{Kind: Visit, Path: knownWord(".")})
	case a.spec.is("@F"):
		a.addUse("F", knownWord("."))
	}
}

// backups adds the backups of changed files: a * in a suffix stands for the name of the file.
func (a *argReader) backups() {
	if a.suffix.Value == "" {
		return
	}
	if !a.suffix.Literal {
		a.add(Access{Kind: Write, Path: a.suffix})
		return
	}
	for _, w := range a.plain {
		_, base := cutLast(w.Value)
		if w.Literal {
			a.add(Access{Kind: Write, Path: knownWord(strings.ReplaceAll(a.suffix.Value, "*", base))})
		} else {
			a.add(Access{Kind: Write, Path: Word{Raw: a.suffix.Raw, Value: a.suffix.Value, Shape: Unknown}})
		}
	}
}

// split separates options from operands, and adds the files that options name.
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
				a.addUse("l", w.suffixFrom(1))
				a.add(Access{Kind: Write}) // there may be options in it
				continue
			}
			if a.why == "uniq" && w.Value != "" && w.Value[0] == '+' && digits(w.Value[1:]) && a.fork() {
				continue // an option, as it was written once
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

// value adds the file that the value of an option names.
func (a *argReader) value(use string, w Word) {
	switch use {
	case "-":
		return
	case "T":
		a.target = append(a.target, w)
		return
	case "f":
		a.archives = append(a.archives, w)
		return
	case "d":
		a.add(Access{Kind: Visit, Path: w})
		a.dir = a.dir.joinWord(w)
		return
	case "D":
		a.deep = a.deep || strings.HasPrefix("recurse", w.Value) || !w.Literal
		return
	case "b":
		if strings.Contains(w.Value, "/") || !w.Literal {
			a.suffix = w
		}
		return
	case "E", "G":
		a.add(Access{Kind: Visit, Path: w})
		a.away = true
		if use == "E" {
			a.target = []Word{w} // the last one counts
		}
		return
	case "i", "x", "X", "g", "t", "n", "A", "p", "P":
		a.narrow(use, w)
		return
	case "h", "a", "K":
		a.further(use, w)
		return
	}
	a.named = true
	a.addUse(use, w)
}

// narrow records a pattern for the files in folders.
func (a *argReader) narrow(use string, w Word) {
	switch use {
	case "p", "P":
		a.filter.addNamePattern(use, w)
	case "A": // a type means other names from here on
		a.filter.lifted = true
	default:
		a.filter.add(use, w)
		a.visible = a.visible && !(use == "g" && a.filter.only != nil)
	}
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
		a.addUse(use, words[0])
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
	if a.tests {
		use = "r"
	}
	for _, w := range words {
		a.addUse(use, w)
	}
	if len(words) == 0 && len(list.tail) == 0 && a.deep && use == "r" && (a.spec.is("@r") || !a.spec.is("deep")) {
		a.addUse(use, knownWord("."))
	}
}

func (a *argReader) into(use string, w Word, from []Word) {
	if use == "W" && !a.skipped(w) {
		a.add(Access{Kind: Write, Path: w, Into: from, Deep: a.deep, Link: a.soft, Soft: a.soft, Flat: a.flat})
		a.kept(w, from)
	} else if use != "W" {
		a.addUse(use, w)
	}
}

// kept adds files that are put into a folder under their full paths.
func (a *argReader) kept(to Word, from []Word) {
	for _, w := range from {
		switch {
		case !a.parents:
		case to.Literal && w.Literal:
			a.add(Access{Kind: Write, Path: knownWord(beneath(to.Value, w.Value)), Deep: a.deep})
		default:
			a.add(Access{Kind: Write, Path: w.hazy()})
		}
	}
}

// skipped reports whether an argument is not a file of this machine.
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
	return a.why != "" && len(v) > 1 && v[0] == '+' && strings.Contains(" vi vim nvim view ex ed nano emacs chattr ", " "+a.why+" ")
}

func name(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// addUse adds a file by what is done with it.
func (a *argReader) addUse(use string, w Word) {
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
	at := Access{Path: w, Deep: a.deep, Visible: a.visible, Fresh: a.fresh}
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
	case "F":
		a.add(Access{Kind: Write, Path: w})
		a.add(Access{Kind: Write, Path: w.asFolder(), Into: []Word{knownWord("new")}})
	case "m", "M":
		a.maybe(use, at)
	case "u", "U", "o":
		a.address(use, w)
	case "@", "k", "s", "S":
		a.mentioned(use, w)
	case "l", "L", "B":
		a.addNameList(use, w)
	}
}

// addNameList adds a file with the names of files, and those.
func (a *argReader) addNameList(use string, w Word) {
	a.add(Access{Kind: Read, Path: w})
	if use != "L" {
		a.add(Access{Kind: Read})
	}
	if use != "l" {
		a.add(Access{Kind: Write})
	}
}

// pathspec reports whether a word is a git pathspec with magic or wildcards, which also matches
// missing files: '*.c', :/a or :(icase)a.
func pathspec(w Word) bool {
	return strings.HasPrefix(w.Value, ":") || strings.ContainsAny(w.Value, "*?[")
}

// hazy returns a word whose meaning is not known, quoted so that it is not parsed again.
func (w Word) hazy() Word {
	return Word{Raw: "'" + strings.Trim(w.Raw, "'") + "'", Value: w.Value, Shape: Unknown}
}

// matched adds that git reaches the files that a pathspec matches.
func (a *argReader) matched(use string, w Word) {
	w = w.hazy()
	switch use {
	case "r":
		a.add(Access{Kind: Read, Path: w})
	case "w", "M", "rw":
		a.add(Access{Kind: Write, Path: w})
	}
}

// maybe adds a file that an argument of git may name: a revision looks the same. Where files are
// written, only the first argument can be a revision.
func (a *argReader) maybe(use string, at Access) {
	at.Maybe, at.Kind = !slices.Contains(a.sure, at.Path), Read
	if use == "M" {
		at.Kind, at.Maybe = Write, at.Maybe && at.Path == a.plain[0]
	} else if rev, file, ok := strings.Cut(at.Path.Value, ":"); ok && a.why == "git" && file != "" && !strings.Contains(rev, "/../") {
		at.Path, at.Maybe = at.Path.suffixFrom(len(rev)+1), false
	}
	if at.Path.Literal || at.Path.Glob {
		a.add(at)
	}
}
