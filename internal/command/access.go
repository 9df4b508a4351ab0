package command

import (
	"slices"
	"strings"
)

// An AccessKind is what a command does with a file.
type AccessKind int

// The kinds of accesses.
const (
	Visit   AccessKind = iota // it is listed, looked at or gone to: only where it lies matters
	Read                      // its contents are read
	Write                     // it is made, changed, moved or removed
	Connect                   // it is no file: bash connects to the network
)

// An Access is a file that a unit reaches, as far as its text shows. It leaves out what a program
// does by itself.
type Access struct {
	Kind AccessKind

	// Path names the file. It is not known if it is neither literal nor a glob; its Value is empty
	// if the text does not name the file at all.
	Path Word
	Dir  Dir    // where a relative Path starts
	Why  string // what reaches it: the name of the command, or the redirection

	Deep    bool     // everything below it too, if it is a folder
	Visible bool     // of Deep: but nothing whose name begins with a dot
	Fresh   bool     // of Deep: but nothing that git knows or ignores
	Only    []string // of Deep: but only files whose names match one of these patterns, if any
	Except  []string // of Deep: but no files whose names match
	Shut    []string // of Deep: but not what is in folders whose names match
	Operand string   // only if Path turns out to begin with this, and what is behind it
	Maybe   bool     // only if there is such a file: it may be the name of something else

	// Into are the files that are put into Path, under their own names if Path is a folder.
	Into []Word
	Link bool // Path does not hold them, but leads to them
	Soft bool // … by their names, as seen from where it lies
	Flat bool // … and is no folder

	placed bool // Dir is not where the unit runs
}

// A Reach finds the files that units reach. It caches lookups, so one is used for all units of a
// line.
type Reach struct {
	table  *tableIndex
	known  map[string]lookup
	reader fileReader // of the unit that is looked at
	stale  bool       // git may have another tree or repository from here on
}

type lookup struct {
	spec  fileSpec
	found bool
}

// spec looks up a command.
func (r *Reach) spec(command string) (fileSpec, bool) {
	l, ok := r.known[command]
	if !ok {
		if r.known == nil {
			r.table, r.known = newTableIndex(), map[string]lookup{}
		}
		l.spec, l.found = r.table.spec(command)
		r.known[command] = l
	}
	return l.spec, l.found
}

// Of returns the files that a unit reads, writes or goes to: those of its redirections, and those
// that its arguments name if the command is in the table (see [AccessTable]).
func (r *Reach) Of(u Unit) []Access {
	f := &r.reader
	*f = fileReader{reach: r, unit: u, dir: u.Dir}
	for _, re := range u.Redirects {
		f.redirect(re)
	}
	f.history()
	words := u.Words
	if u.Kind == Piece {
		words = f.guessed(words)
	}
	if (u.Kind == Command || u.Kind == Piece) && len(words) > 0 && words[0].Literal {
		f.why = baseName(words[0].Value)
		f.commandFiles(f.why, words[1:])
		f.carried(words)
		f.globs(words[1:])
	} else if u.Kind == Command && len(words) > 1 {
		f.why = "a command that is computed"
		f.unknownCommand(words)
	}
	f.handedCode()
	return f.out
}

// A fileReader collects the files that a unit reaches.
type fileReader struct {
	reach *Reach
	unit  Unit
	dir   Dir
	why   string
	out   []Access
	ways  ways
	away  bool // git is told which repository or tree it is about
	inner int  // how many commands the one is inside of that is read
}

func (r *fileReader) add(a Access) {
	if !a.placed {
		a.Dir = r.dir
	}
	if a.Why == "" {
		a.Why = r.why
	}
	a.Fresh = a.Fresh && !r.reach.stale && !r.away
	switch {
	case strings.HasPrefix(a.Path.Raw, "<("), strings.HasPrefix(a.Path.Raw, ">("):
		return // a pipe
	case a.Path.Literal && free(a.Path.Value) && !(a.Path.Value == "/dev/null" && r.minds()):
		return
	}
	r.out = append(r.out, a)
}

// minds reports whether OpenCode asks about every outside file that the command is given, even
// /dev/null.
func (r *fileReader) minds() bool {
	switch r.why {
	case "cat", "chmod", "chown", "cp", "mkdir", "mv", "rm", "touch":
		return true
	}
	return false
}

// free reports whether a name is no file: one of the standard streams.
func free(name string) bool {
	switch name {
	case "", "-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full",
		"/dev/random", "/dev/urandom":
		return true
	}
	fd, ok := strings.CutPrefix(name, "/dev/fd/")
	return ok && digits(fd)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// redirect adds the file of a redirection.
func (r *fileReader) redirect(re Redirect) {
	target := re.Target
	if target.Literal && free(target.Value) {
		return
	}
	kind := Write
	switch re.Op {
	case "<":
		kind = Read
	case ">", ">>", ">|", "&>", "&>>", "&>|", "<>", "<>|", ">>|", "&>>|":
	case ">&":
		if target.Literal && digits(strings.TrimSuffix(target.Value, "-")) || target.Value == "-" {
			return
		}
	default: // a descriptor, or text that stands in the line
		return
	}
	if strings.HasPrefix(target.Value, "/dev/tcp/") || strings.HasPrefix(target.Value, "/dev/udp/") {
		kind = Connect
	}
	if re.Op == "<>" && kind != Connect {
		r.add(Access{Kind: Read, Path: target, Why: re.Op})
	}
	r.add(Access{Kind: kind, Path: target, Why: re.Op})
}

// suffixFrom returns the rest of a word from an offset in its value on: the file of --file=x or of
// -fx.
func (w Word) suffixFrom(at int) Word {
	raw := w.Value[at:]
	if strings.HasPrefix(w.Raw, w.Value[:at]) {
		raw = w.Raw[at:]
	}
	shape := Unknown
	if strings.HasPrefix(w.Shape, w.Value[:at]) {
		shape = w.Shape[at:]
	}
	return Word{Raw: raw, Value: w.Value[at:], Literal: w.Literal || w.Glob, Shape: shape} // no file is called --file=…
}

// knownWord returns a literal word.
func knownWord(value string) Word { return Word{Raw: value, Value: value, Literal: true} }

// maxFollowed limits the length of a folder name that options build up.
const maxFollowed = 256

// joinWord returns a folder relative to another.
func (d Dir) joinWord(w Word) Dir {
	if !w.Literal || len(d.Path) > maxFollowed {
		return Dir{}
	}
	if strings.HasPrefix(w.Value, "/") || strings.HasPrefix(w.Raw, "~") {
		return Dir{Path: w.Value, Known: true}
	}
	out := Dir{Path: beneath(d.Path, w.Value), Known: d.Known}
	for _, other := range d.Else {
		out.Else = append(out.Else, beneath(other, w.Value))
	}
	return out
}

// or returns a word that is one of two folders.
func (d Dir) or(other Dir) Dir {
	out := Dir{Path: other.Path, Known: d.Known && other.Known, Else: slices.Clip(other.Else)}
	for _, dir := range append([]string{d.Path}, d.Else...) {
		if dir != out.Path && !slices.Contains(out.Else, dir) {
			out.Else = append(out.Else, dir)
		}
	}
	return out
}

// asFolder is a word that names a folder, whether there is one yet or not.
func (w Word) asFolder() Word {
	if w.Literal && !strings.HasSuffix(w.Value, "/") {
		w.Value, w.Raw = w.Value+"/", w.Raw+"/"
	}
	return w
}

func beneath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
