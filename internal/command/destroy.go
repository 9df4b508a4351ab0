package command

import (
	"slices"
	"strings"
)

// A LossKind is the way in which something is lost.
type LossKind int

// The kinds of losses.
const (
	Deleted   LossKind = iota // the files are removed
	Emptied                   // they are written over, through a link if it is one
	Replaced                  // From is copied, moved or linked to Paths
	Discarded                 // git throws away changes of files it tracks
	Cleaned                   // git removes files it does not track
	Forgotten                 // git forgets what no file holds: branches, stashes, what a remote had
)

// A Loss is something that a command would destroy, as far as its text shows.
type Loss struct {
	Kind LossKind
	Why  string // for people: rm -r, git reset --hard
	Dir  Dir    // where relative Paths start

	Paths []Word // the files, each literal or a glob
	Whole bool   // of git: all of the worktree that Dir lies in
	// Name, if not empty, is a pattern: only files with a matching name count, anywhere in the
	// tree.
	Name string
	Tree bool   // everything below Paths too
	From []Word // what comes to Paths
	Move bool   // and is gone then

	Ignored bool // of Cleaned: also files that git ignores
	Only    bool // of Cleaned: these alone

	// Unknown says that other files may be affected, which the text does not name: rm -rf $X, tar
	// x.
	Unknown bool
}

// Losses returns what the command line would destroy. It leaves out what a program does by itself.
func (l Line) Losses() []Loss {
	var out []Loss
	found := map[string]bool{} // texts of find commands, whose own commands are read with them
	for _, u := range l.Units {
		d := destroyer{unit: u, dir: u.Dir}
		for _, r := range u.Redirects {
			d.redirect(r)
		}
		if u.Kind == Command && len(u.Words) > 0 && u.Words[0].Literal {
			d.why = baseName(u.Words[0].Value)
			d.commandLosses(u.Words[1:])
			found[u.Text] = found[u.Text] || len(d.out) > 0 && (d.why == "find" || d.why == "gfind")
		}
		if u.Inside != "" && found[u.Inside] {
			d.out = slices.DeleteFunc(d.out, func(l Loss) bool { return l.Unknown && len(l.Paths) == 0 })
		}
		out = append(out, d.out...)
	}
	return out
}

// A destroyer collects the losses of a unit.
type destroyer struct {
	unit Unit
	dir  Dir
	why  string
	out  []Loss
}

// add adds a loss. Unknown files are recorded separately; if a name is known up to a folder, that
// folder counts.
func (d *destroyer) add(l Loss) {
	if l.Why == "" {
		l.Why = d.why
	}
	l.Dir = d.dir
	deep := l.sort()
	if len(deep) > 0 {
		more := l
		more.Paths, more.Tree, more.From = deep, true, nil
		if l.Kind == Emptied || l.Kind == Replaced {
			more.Kind = Deleted
		}
		d.out = append(d.out, more)
	}
	if len(l.Paths) > 0 || l.Unknown && len(deep) == 0 || l.Whole || l.Kind == Forgotten {
		d.out = append(d.out, l)
	}
}

// sort leaves the words in a loss that are known, and returns the folders of
// others.
func (l *Loss) sort() (deep []Word) {
	unknown := func(w Word) bool { return !w.Literal && !w.Glob }
	l.Unknown = l.Unknown || slices.ContainsFunc(l.Paths, unknown) || slices.ContainsFunc(l.From, unknown)
	l.From = slices.DeleteFunc(slices.Clone(l.From), unknown)
	var paths []Word
	for _, w := range l.Paths {
		if !unknown(w) {
			if !w.Literal || !free(w.Value) { // else it is no file
				paths = append(paths, w)
			}
		} else if head, ok := knownFolder(w); ok {
			deep = append(deep, head)
		}
	}
	l.Paths = paths
	return deep
}

// knownFolder is the folder of a word of which only the end is not known.
func knownFolder(w Word) (Word, bool) {
	head, _, _ := strings.Cut(w.Shape, Unknown)
	at := strings.LastIndexByte(head, '/')
	if at <= 0 || strings.ContainsAny(head, "*?[{") {
		return Word{}, false
	}
	return knownWord(head[:at]), true
}

// redirect adds a file that is emptied before the command runs.
func (d *destroyer) redirect(r Redirect) {
	switch r.Op {
	case ">", ">|", "&>", "&>|":
	case ">&":
		if v := r.Target.Value; r.Target.Literal && (v == "-" || digits(strings.TrimSuffix(v, "-"))) {
			return
		}
	default:
		return
	}
	if strings.HasPrefix(r.Target.Raw, ">(") || strings.HasPrefix(r.Target.Value, "/dev/tcp/") || strings.HasPrefix(r.Target.Value, "/dev/udp/") {
		return
	}
	if !r.Target.Literal && !r.Target.Glob && d.out == nil && r.FD != "" && r.Op == ">&" {
		return // a descriptor, mostly
	}
	d.add(Loss{Kind: Emptied, Why: r.Op, Paths: []Word{r.Target}})
}

// commandLosses adds the losses of a command by its name.
func (d *destroyer) commandLosses(args []Word) {
	switch d.why {
	case "rm", "srm", "wipe", "unlink", "shred", "rimraf", "del-cli":
		d.remove(args)
	case "find", "gfind":
		d.find(args)
	case "cp", "mv", "install", "ln", "gcp", "gmv", "ginstall", "gln", "rsync":
		d.transfer(args)
	case "tee", "truncate", "sponge", "sort", "curl", "wget", "dd":
		d.overwrite(args)
	case "sed", "gsed", "perl", "ruby", "awk", "gawk":
		d.inPlace(args)
	case "tar", "gtar", "bsdtar", "unzip", "patch", "cpio", "7z", "unrar":
		d.addUnpacked(args)
	case "git":
		d.git(args)
	}
}

// arguments are the parsed arguments of a command.
type arguments struct {
	options map[string][]Word // by letter with a dash or long name; with values where they take one
	rest    []Word
	behind  int // how many of rest stood behind --; -1 without one
}

func (p arguments) hasOption(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := p.options[n]; return ok })
}

func (p arguments) last(names ...string) (Word, bool) {
	for _, n := range names {
		if v := p.options[n]; len(v) > 0 {
			return v[len(v)-1], true
		}
	}
	return Word{}, false
}

// readArgs separates options from operands. valued are the options that take a value: "-t
// --target-directory". A letter in rests takes the rest of its own word as its value, never the
// next word.
func readArgs(args []Word, valued, rests string) arguments {
	p := arguments{options: map[string][]Word{}, behind: -1}
	takes := func(name string) bool { return slices.Contains(strings.Fields(valued), name) }
	for i := 0; i < len(args); i++ {
		w := args[i]
		v := w.Value
		switch {
		case w.Literal && v == "--":
			p.behind = len(args) - i - 1
			p.rest = append(p.rest, args[i+1:]...)
			return p
		case len(v) < 2 || v[0] != '-' || !w.Literal && strings.HasPrefix(w.Shape, Unknown):
			p.rest = append(p.rest, w)
		case strings.HasPrefix(v, "--"):
			name, _, attached := strings.Cut(v, "=")
			switch {
			case attached:
				p.options[name] = append(p.options[name], w.suffixFrom(len(name)+1))
			case takes(name) && i+1 < len(args):
				i++
				p.options[name] = append(p.options[name], args[i])
			default:
				p.options[name] = append(p.options[name], Word{})
			}
		default:
			i += p.letters(w, args[i+1:], takes, rests)
		}
	}
	return p
}

// letters reads a word of one-letter options, and returns how many words after
// it are values.
func (p arguments) letters(w Word, next []Word, takes func(string) bool, rests string) int {
	for k := 1; k < len(w.Value); k++ {
		name := "-" + w.Value[k:k+1]
		switch {
		case strings.Contains(rests, name[1:]):
			p.options[name] = append(p.options[name], w.suffixFrom(k+1))
			return 0
		case takes(name) && k+1 < len(w.Value):
			p.options[name] = append(p.options[name], w.suffixFrom(k+1))
			return 0
		case takes(name) && len(next) > 0:
			p.options[name] = append(p.options[name], next[0])
			return 1
		}
		p.options[name] = append(p.options[name], Word{})
	}
	return 0
}

// hasLong reports whether a long option is given, maybe shortened.
func (p arguments) hasLong(full string, least int) bool {
	for name := range p.options {
		if len(name) >= least && strings.HasPrefix(full, name) {
			return true
		}
	}
	return false
}
