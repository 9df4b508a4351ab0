package command

import (
	"slices"
	"strings"
)

// changeDir adds the folder that cd or pushd goes to.
func (r *fileReader) changeDir(name string, args []Word) {
	for len(args) > 0 && args[0].Literal && len(args[0].Value) > 1 && args[0].Value[0] == '-' {
		if digits(args[0].Value[1:]) {
			return // of the stack of folders
		}
		args = args[1:]
	}
	switch {
	case len(args) == 0 && name == "cd":
		r.add(Access{Kind: Visit, Path: knownWord("~")})
	case len(args) == 0 || args[0].Literal && (args[0].Value == "" || name == "pushd" && args[0].Value[0] == '+'):
	default:
		r.add(Access{Kind: Visit, Path: args[0]})
	}
}

// find adds the folders that find searches, and the files it writes.
func (r *fileReader) find(args []Word) {
	for len(args) > 0 && args[0].Literal && slices.Contains([]string{"-H", "-L", "-P", "--"}, args[0].Value) {
		args = args[1:]
	}
	n := 0
	for n < len(args) && !findExpression(args[n]) {
		n++
	}
	roots := args[:n]
	if n == 0 {
		roots = []Word{knownWord(".")}
	}
	for _, w := range roots {
		r.add(Access{Kind: Visit, Path: w})
	}
	for i := n; i < len(args); i++ {
		var next []Word
		if i+1 < len(args) {
			next = args[i+1 : i+2]
		}
		switch args[i].Value {
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			r.addAll(Write, next)
		case "-newer", "-anewer", "-cnewer", "-samefile":
			r.addAll(Visit, next)
		case "-files0-from": // what is named in it is only looked at
			r.addAll(Read, next)
		case "-delete":
			r.addAll(Write, roots) // which files that are is not known
		}
	}
}

func findExpression(w Word) bool {
	v := w.Value
	return strings.HasPrefix(v, "-") && len(v) > 1 || v == "(" || v == ")" || v == "!" || v == ","
}

func (r *fileReader) addAll(kind AccessKind, words []Word) {
	for _, w := range words {
		r.add(Access{Kind: kind, Path: w})
	}
}

// dd adds what dd reads and writes.
func (r *fileReader) dd(args []Word) {
	for _, w := range args {
		if strings.HasPrefix(w.Value, "if=") {
			r.add(Access{Kind: Read, Path: w.suffixFrom(len("if="))})
		}
		if strings.HasPrefix(w.Value, "of=") {
			r.add(Access{Kind: Write, Path: w.suffixFrom(len("of="))})
		}
		if w.Shape != "" && strings.HasPrefix(w.Shape, Unknown) {
			r.add(Access{Kind: Read, Path: w, Operand: "if="})
			r.add(Access{Kind: Write, Path: w, Operand: "of="})
		}
	}
}

// linkOptions is what the table would say about ln.
const linkOptions = "-s:s --symbolic:s -r:r --relative:r -n:n --no-dereference:n -T:n --no-target-directory:n -t=T --target-directory=T -S=- --suffix=-"

// linkFiles adds the files that ln links, which can be read under their new names and, for hard
// links, changed; and the links. The caller resolves the target of a symbolic link.
func (r *fileReader) linkFiles(args []Word) {
	for r.resetWays(); r.nextWay(); {
		a := argReader{fileReader: r, spec: parseSpec(linkOptions)}
		a.split(args)
		from, to := a.plain, a.target
		switch n := len(from); {
		case n == 0:
			continue
		case len(to) > 0:
		case n == 1:
			to = []Word{knownWord(".")}
		default:
			from, to = from[:n-1], from[n-1:]
		}
		symbolic := strings.Contains(a.effects, "s")
		soft := symbolic && !strings.Contains(a.effects, "r")
		for _, w := range from {
			if !soft {
				r.add(Access{Kind: Read, Path: w, Deep: true})
			}
			if !symbolic { // another name of the file, by which it can be changed without anybody seeing which it is
				r.add(Access{Kind: Write, Path: w})
			}
		}
		r.add(Access{Kind: Write, Path: to[0], Into: from, Link: true, Soft: soft, Flat: strings.Contains(a.effects, "n")})
	}
}

// cutLast splits a name at its last slash.
func cutLast(name string) (folder, base string) {
	at := strings.LastIndexByte(strings.TrimRight(name, "/"), '/')
	if at < 0 {
		return "", name
	}
	return name[:at+1], name[at+1:]
}

// tarOptions is what the table would say about tar.
const tarOptions = "remote -C=d --directory=d --cd=d -T=l --files-from=l -X=r --exclude-from=r -b=- -I=- -F=- -g=w --listed-incremental=w " +
	"-H=- -K=- -L=- -N=- -V=- --exclude=- --transform=- --strip-components=- --owner=- --group=- --mode=- --format=- --to-command=- " +
	"--use-compress-program=- --checkpoint-action=- --index-file=w --one-top-level=w -f=f --file=f --add-file=r --volno-file=rw " +
	"-c:c --create:c -r:c --append:c -u:c --update:c -A:c --catenate:c --concatenate:c --delete:c -x:x --extract:x --get:x " +
	"--suffix=- --quote-chars=- --no-quote-chars=- --quoting-style=- --exclude-ignore=- --exclude-ignore-recursive=- --exclude-tag=- --exclude-tag-all=- --exclude-tag-under=- " +
	"--newer=- --newer-mtime=- --after-date=- --label=- --starting-file=- --blocking-factor=- --record-size=- --sort=- --xattrs-include=- --xattrs-exclude=- --warning=- " +
	"--mtime=- --owner-map=r --group-map=r --tape-length=- --info-script=- --new-volume-script=- --hole-detection=- --pax-option=- --rsh-command=- --rmt-command=- " +
	"--level=- --sparse-version=- --xform=- --set-mtime-command=- --set-mtime-format=- --exclude-caches --sparse --xattrs " +
	"-t:t --list:t -d:t --diff:t --compare:t -O:O --to-stdout:O --remove-files:R --checkpoint --exclude-vcs --no-recursion --null"

// tar adds the archive, and what is put into it or taken out.
func (r *fileReader) tar(args []Word) {
	if len(args) > 0 && args[0].Literal && args[0].Value != "" && args[0].Value[0] != '-' {
		args = oldTar(args)
	}
	for r.resetWays(); r.nextWay(); {
		a := tarReader{argReader: argReader{fileReader: r, spec: parseSpec(tarOptions)}}
		start := r.dir
		a.read(args)
		kind := Read
		if a.does("c") {
			kind = Write
			a.archived()
		}
		for _, w := range a.archives {
			if !a.skipped(w) {
				r.add(Access{Kind: kind, Path: w, Dir: start, placed: true})
			}
		}
		if kind == Read && a.does("x") && !a.does("O") {
			r.anywhere() // under names that the archive has
			for _, m := range a.members {
				m.Kind, m.Deep = Write, false
				r.add(m)
			}
		}
	}
}

// A tarReader reads the arguments of tar in order: members are relative to the folder of the last
// -C.
type tarReader struct {
	argReader
	members []Access
}

// does reports whether tar has an operation: c to create or change an archive, x to extract one, O
// to print what it extracts, R to remove what it has archived. Creating comes first.
func (a *tarReader) does(what string) bool { return strings.Contains(a.effects, what) }

func (a *tarReader) read(args []Word) {
	ended := false
	for i := 0; i < len(args); i++ {
		w := args[i]
		if !ended && w.Literal && w.Value == "--" {
			ended = true
			continue
		}
		if len(w.Value) < 2 || w.Value[0] != '-' || ended {
			a.members = append(a.members, Access{Kind: Read, Path: w, Deep: true, Dir: a.dir, placed: true})
			continue
		}
		n, _ := a.option(w, args[i+1:])
		i += n
	}
}

// archived adds the files that end up in an archive.
func (a *tarReader) archived() {
	for _, m := range a.members {
		a.add(m)
		if a.does("R") {
			m.Kind = Write
			a.add(m)
		}
	}
}

// oldTar turns tar xzf a.tar into tar -x -z -f a.tar.
func oldTar(args []Word) []Word {
	letters, rest := args[0].Value, args[1:]
	var out []Word
	for i := range len(letters) {
		out = append(out, knownWord("-"+letters[i:i+1]))
		if strings.Contains("fCTXbIFgHKLNV", letters[i:i+1]) && len(rest) > 0 {
			out = append(out, rest[0])
			rest = rest[1:]
		}
	}
	return append(out, rest...)
}

// unzip adds the archive and where it is unpacked.
func (r *fileReader) unzip(args []Word) {
	a := argReader{fileReader: r, spec: parseSpec("-d=T -x=- -P=- -l:t -p:t -t:t -v:t -Z:t -c:t -z:t")}
	a.split(args)
	if len(a.plain) == 0 {
		return
	}
	r.add(Access{Kind: Read, Path: a.plain[0]})
	if a.star == "t" && !slices.ContainsFunc(args, undone) {
		return
	}
	to := append(a.target, knownWord("."))
	r.add(Access{Kind: Write, Path: to[0]})
	r.add(Access{Kind: Write}) // under names that the archive has
	for _, w := range a.plain[1:] {
		if w.Literal && to[0].Literal {
			w = knownWord(beneath(to[0].Value, w.Value))
		}
		r.add(Access{Kind: Write, Path: w})
	}
}

// undone reports whether a word takes options of unzip back: --t or -t-t.
func undone(w Word) bool {
	options, ok := strings.CutPrefix(w.Value, "-")
	return ok && strings.Contains(options, "-")
}

// keyed is what the table says about ar where the letters that come first say
// more: what it does, and which arguments stand before the archive.
func keyed(name string, spec fileSpec, args []Word) (fileSpec, []Word) {
	if name != "ar" && !strings.HasSuffix(name, "-ar") {
		return spec, args
	}
	at := 0
	for at < len(args) && strings.HasPrefix(args[at].Value, "--") {
		switch args[at].Value {
		case "--plugin", "--target", "--output":
			at++
		}
		at++
	}
	if at >= len(args) || !args[at].Literal {
		return spec, args
	}
	letters := strings.TrimPrefix(args[at].Value, "-")
	list := "rw,r*"
	switch {
	case strings.Contains(letters, "x"):
		list, spec.words = "r,-*", append(slices.Clip(spec.words), "+w")
	case strings.ContainsAny(letters, "pt"):
		list = "r,-*"
	case strings.Contains(letters, "d"):
		list = "rw,-*"
	}
	if strings.ContainsAny(letters, "abi") {
		list = "-," + list
	}
	if strings.Contains(letters, "N") {
		list = "-," + list
	}
	spec.args = parseArgs(list)
	return spec, slices.Concat(args[:at], args[at+1:])
}
