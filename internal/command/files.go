package command

import (
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// An accessFinder finds the files that a line reaches, and collects the permission requests that
// the file tools would make for them.
type accessFinder struct {
	*Judged
	files  *files.Workspace // remembers what it has looked up for the line
	by     Filterer
	globs  bool // patterns match as bash has it by itself
	left   int  // how many more entries of folders it looks at
	words  int  // how many more names it takes from the text
	asked  []permission.Request
	writes []files.Path
	made   map[string]bool // the names of writes
	around map[string]bool // … and of all folders that they are in
	stale  bool            // it is not known any more what git ignores or knows
	kinds  kinds
	follow int           // how many more links of its own it follows
	looked time.Duration // how long it has looked for other names of files
	links  []nameLink
	filled []string // folders that the line puts files into under names it does not say
	seen   map[string]bool
	held   map[string][]string // the names in folders that were listed
	table  Reach
	git    files.Staging
	homes  map[string]string // of other people
	packed string            // the branches and tags that git keeps in one file, once they were read

	nested    bool   // the unit is code or a payload of another
	rest      string // the command without the variables that every shell has
	read      bool   // constants were looked for
	constants map[string][]Word
}

// Ask collects requests, so that they can be combined.
func (f *accessFinder) Ask(_ context.Context, reqs ...permission.Request) error {
	f.asked = append(f.asked, reqs...)
	return nil
}

// once reports whether something was not looked at before.
func (f *accessFinder) once(kind string, name string) bool {
	key := kind + "\x00" + name
	if f.seen[key] {
		return false
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[key] = true
	return true
}

// unit collects the requests for the files that a unit reaches. It returns the accesses to files
// that are not known.
func (f *accessFinder) unit(ctx context.Context, u Unit) ([]permission.Uncertainty, error) {
	var uncertainties []permission.Uncertainty
	var told [Connect + 1]bool // one uncertainty of a kind is enough
	f.nested = u.Inside != ""
	uncertainties = append(uncertainties, f.gitUncertainties(u, false)...)
	reached := f.table.Of(u)
	certain := len(reached) // of what else variables may hold it is said there if it is not known
	for _, trial := range f.line.Trials(u) {
		for _, d := range f.gitUncertainties(trial, true) {
			if !slices.Contains(uncertainties, d) {
				uncertainties = append(uncertainties, d)
			}
		}
		reached = append(reached, f.table.Of(trial)...)
	}
	for i, a := range reached {
		if a.Kind == Connect {
			if told[a.Kind] {
				continue
			}
			told[a.Kind] = true
			uncertainties = append(uncertainties, permission.Uncertainty{Why: "it connects to " + a.Path.Value, Flag: "/dev/"})
			continue
		}
		if a.Kind == Write && a.Path == (Word{}) && a.Why != "git" {
			f.pours(a.Dir)
		}
		names, ok := f.meant(a)
		if !ok && i < certain && !told[a.Kind] && (a.Kind != Visit || a.Path.Raw != "") { // what xargs adds to ls is listed at most
			told[a.Kind] = true
			uncertainties = append(uncertainties, unknown(a)...)
		}
		if !ok {
			if err := f.begun(ctx, a); err != nil {
				return nil, err
			}
		}
		for _, name := range names {
			if a.Path.Guess && !stands(name) {
				continue
			}
			more, err := f.askFile(ctx, a, name)
			if err != nil {
				return nil, err
			}
			uncertainties = append(uncertainties, more...)
		}
	}
	return uncertainties, nil
}

// stands reports whether a file exists, or could be created in an existing folder.
func stands(name string) bool {
	if _, err := os.Lstat(name); err == nil {
		return true
	}
	dir := filepath.Dir(name)
	_, err := os.Lstat(dir)
	return err == nil && dir != filepath.Dir(dir)
}

// unknown returns the uncertainty about an unknown file, which may be any.
func unknown(a Access) []permission.Uncertainty {
	which := ""
	if a.Path.Raw != "" {
		which = ": " + a.Path.Raw
	}
	outside := permission.Uncertainty{Why: "it is not known where a file of " + a.Why + " lies" + which, Permission: "external_directory"}
	switch a.Kind {
	case Read:
		return []permission.Uncertainty{{Why: "it is not known what " + a.Why + " reads" + which, Permission: "read"}, outside}
	case Write:
		return []permission.Uncertainty{{Why: "it is not known what " + a.Why + " writes" + which, Permission: "edit"}, outside}
	}
	return []permission.Uncertainty{outside}
}

// visit asks about a folder that is gone to.
func (f *accessFinder) visit(ctx context.Context, name string) error {
	_, err := f.files.ResolveFolder(ctx, f, f.place.Dir, name)
	if errors.Is(err, files.ErrBadName) || errors.Is(err, files.ErrNameTooLong) {
		return nil // nothing can be started there
	}
	return err
}

// askFile asks about one file by its full name.
func (f *accessFinder) askFile(ctx context.Context, a Access, name string) (uncertainties []permission.Uncertainty, err error) {
	key := string(rune('0'+a.Kind)) + string(rune('0'+len(f.links))) // a link that was made since may lead elsewhere
	if !f.once(key+f.kind(a), name) && len(a.Into) == 0 {
		return nil, nil
	}
	p, err := f.files.ResolveEither(ctx, quietly(f, a), f.place.Dir, name)
	switch {
	case errors.Is(err, files.ErrBadName), errors.Is(err, files.ErrNameTooLong):
		return unknown(a), nil
	case err != nil:
		return nil, err
	}
	if a.Maybe {
		if !f.files.Exists(p) && (a.Kind != Write || f.revision(a.Path.Value)) {
			return nil, nil
		}
		a.Maybe = false // now it is known to be a file
		return f.askFile(ctx, a, name)
	}
	if len(f.links) > 0 {
		if uncertainties, err = f.askLinked(ctx, a, filepath.Clean(name)); err != nil {
			return nil, err
		}
	}
	more, err := f.askUse(ctx, a, p, name)
	return append(uncertainties, more...), err
}

// askLinked asks about the real file if a link that the line itself makes is part of its name.
func (f *accessFinder) askLinked(ctx context.Context, a Access, name string) (uncertainties []permission.Uncertainty, err error) {
	for _, l := range f.links {
		rest, ok := l.restOf(name)
		if !ok {
			continue
		}
		if f.follow--; f.follow < 0 || len(l.to)+len(rest) > maxNameGrowth {
			return unknown(a), nil
		}
		more, err := f.askFile(ctx, a, l.to+rest)
		if err != nil {
			return nil, err
		}
		uncertainties = append(uncertainties, more...)
	}
	if len(f.links) == maxLinks { // there may be more
		uncertainties = append(uncertainties, unknown(a)...)
	}
	return uncertainties, nil
}

// askUse asks about what is done with a file. name is how it was written.
func (f *accessFinder) askUse(ctx context.Context, a Access, p files.Path, name string) (uncertainties []permission.Uncertainty, err error) {
	folder := f.files.IsFolder(p)
	switch a.Kind {
	case Read:
		if uncertainties, err = f.askContents(ctx, a, p, folder); err != nil {
			return nil, err
		}
	case Write:
		inside := (folder || strings.HasSuffix(name, "/")) && !(a.Flat && a.Deep)
		if a.Why == "mkdir" {
			p = p.AsFolder()
		}
		if len(a.Into) == 0 || !inside {
			f.written(p)
		}
		if len(a.Into) > 0 {
			return f.into(ctx, a, name, inside)
		}
	}
	if !folder || !a.Deep {
		return uncertainties, nil
	}
	more, err := f.deep(ctx, a, p)
	return append(uncertainties, more...), err
}

// askContents asks for permission to read a file. It searches for its other names within a time
// limit for all files together.
func (f *accessFinder) askContents(ctx context.Context, a Access, p files.Path, folder bool) ([]permission.Uncertainty, error) {
	if folder || f.looked > maxLooking {
		err := f.files.AskRead(ctx, f, p)
		if folder || err != nil {
			return nil, err
		}
		return unknown(a)[:1], nil
	}
	start := time.Now()
	err := f.files.AskContents(ctx, f, p)
	f.looked += time.Since(start)
	return nil, err
}

// quietly returns an asker for a name that may not be a file at all.
func quietly(f *accessFinder, a Access) files.Asker {
	if a.Maybe {
		return &accessFinder{}
	}
	return f
}

// edits asks for all written files in one request, which is cheaper than one for each.
func (f *accessFinder) edits(ctx context.Context) error {
	if len(f.writes) == 0 {
		return nil
	}
	return f.files.AskEdit(ctx, f, nil, f.writes...)
}

// meant returns the full names of the files that an access is about.
func (f *accessFinder) meant(a Access) ([]string, bool) {
	if a.Operand == "" {
		return f.namesOf(a.Path, a.Dir)
	}
	words, all := f.wordValues(a.Path)
	var out []string
	for _, w := range words {
		rest, ok := strings.CutPrefix(w.Value, a.Operand)
		if !ok {
			continue
		}
		names, ok := f.namesOf(Word{Raw: rest, Value: rest, Literal: w.Literal, Glob: w.Glob}, a.Dir)
		out, all = append(out, names...), all && ok
	}
	return out, all
}

// namesOf returns the full names of the files that a word stands for in a folder. It returns false if
// these may not be all.
func (f *accessFinder) namesOf(w Word, dir Dir) ([]string, bool) {
	words, all := f.wordValues(w)
	if rest, ok := BelowTop(w); ok && f.atStart(dir) {
		here := "." + rest // where there is no repository, or one is made
		words, all = []Word{{Raw: Top + rest, Value: Top + rest, Literal: true}, {Raw: here, Value: here, Literal: true}}, true
	}
	if f.words -= len(words); f.words < 0 {
		return nil, false
	}
	var out []string
	for _, w := range words {
		names, ok := f.named(w, dir)
		out, all = append(out, names...), all && ok
	}
	return out, all && !slices.ContainsFunc(out, elusive)
}

// atStart reports whether git finds the repository there in which the line
// starts.
func (f *accessFinder) atStart(dir Dir) bool {
	return dir.Known && dir.Path == "" && len(dir.Else) == 0 && !slices.Contains(f.line.Functions, "git") && !strings.Contains(f.command, "GIT_")
}

// top is the folder of the repository in which the line starts.
func (f *accessFinder) top() string {
	for d := f.place.Cwd; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return f.place.Cwd
		}
	}
}

// named is names for a word that is literal or a glob.
func (f *accessFinder) named(w Word, dir Dir) (out []string, all bool) {
	name := w.Value
	moved := false
	if strings.HasPrefix(w.Raw, "~") {
		moved = stacked(w.Raw) && (w.Raw[1] != '+' || f.moves())
		var ok bool
		if name, ok = f.tilde(name); !ok {
			return nil, false
		}
	}
	if filepath.IsAbs(name) {
		out, all = f.globMatches("", name, w.Glob)
		return out, all && !moved
	}
	all = dir.Known // otherwise it is a guess, and restrictions hold for that too
	for _, d := range append([]string{dir.Path}, dir.Else...) {
		from, ok := f.tilde(d)
		if !ok {
			return nil, false
		}
		names, ok := f.globMatches(abs(f.place.Cwd, from), name, w.Glob)
		out, all = append(out, names...), all && ok
	}
	return out, all
}

// wordValues returns the possible values of a word, each literal or a glob. It returns false if
// these may not be all.
func (f *accessFinder) wordValues(w Word) ([]Word, bool) {
	if w.Literal || w.Glob {
		return []Word{w}, true
	}
	if words, ok := braces(w.Raw); ok {
		return words, true
	}
	before, name, after, ok := variable(w.Raw)
	if !ok {
		return nil, false
	}
	if from := f.variableFolder(name); from != "" && before == "" && (after == "" || after[0] == '/') {
		glob := strings.ContainsAny(after, "*?")
		return []Word{{Raw: w.Raw, Value: from + after, Literal: !glob, Glob: glob}}, f.untouched(name)
	}
	if strings.ContainsAny(before+after, "*?") {
		return nil, false
	}
	return substituteValues(f.constant(name), before, after, strings.Contains(w.Raw, `"`))
}

// variableFolder is what a variable means that every shell has.
func (f *accessFinder) variableFolder(name string) string {
	switch name {
	case "HOME":
		return f.place.Home
	case "PWD":
		return "."
	}
	return ""
}

// untouched reports whether a text uses a variable and does nothing else with
// it that could be seen.
func (f *accessFinder) untouched(name string) bool {
	if f.rest == "" {
		f.rest = strings.NewReplacer("$HOME", "", "${HOME}", "", "$PWD", "", "${PWD}", "", "$OLDPWD", "", "${OLDPWD}", "").Replace(f.command) + " "
	}
	return !strings.Contains(f.rest, name)
}

// substituteValues puts the values of a variable into a word.
func substituteValues(values []Word, before, after string, quoted bool) ([]Word, bool) {
	out := make([]Word, len(values))
	for i, v := range values {
		switch {
		case !quoted && strings.ContainsAny(v.Value, " \t\n"), v.Glob && before+after != "":
			return nil, false
		case !v.Glob:
			v.Value, v.Raw = before+v.Value+after, before+v.Raw+after
		}
		out[i] = v
	}
	return out, len(values) > 0
}

// variable takes a word apart that holds one variable, and plain text besides.
func variable(raw string) (before, name, after string, ok bool) {
	raw = strings.ReplaceAll(raw, `"`, "")
	before, rest, ok := strings.Cut(raw, "$")
	if !ok {
		return "", "", "", false
	}
	if braced, found := strings.CutPrefix(rest, "{"); found {
		name, after, ok = strings.Cut(braced, "}")
	} else {
		n := len(rest) - len(strings.TrimLeft(rest, nameLetters))
		name, after = rest[:n], rest[n:]
	}
	ok = ok && name != "" && strings.Trim(name, nameLetters) == "" && !strings.ContainsAny(before+after, "$`{}()<>[]'\\~")
	return before, name, after, ok
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

// tilde expands a ~ in front of a name.
func (f *accessFinder) tilde(name string) (string, bool) {
	if !strings.HasPrefix(name, "~") {
		return name, true
	}
	who, rest, _ := strings.Cut(name[1:], "/")
	switch who {
	case "":
		return abs(f.place.Home, rest), f.place.Home != ""
	case Unknown:
		return abs(f.top(), rest), true
	case "+", "-":
		return abs(f.place.Cwd, rest), true // or where the line has gone
	}
	if stacked(name) {
		return abs(f.place.Cwd, rest), true
	}
	home, known := f.homes[who]
	if !known {
		if len(f.homes) > maxHomes {
			return "", false // each is looked up in a file
		}
		if u, err := user.Lookup(who); err == nil {
			home = u.HomeDir
		}
		if f.homes == nil {
			f.homes = map[string]string{}
		}
		f.homes[who] = home
	}
	if home == "" {
		return name, true // bash leaves it as it is
	}
	return abs(home, rest), true
}

// moves reports whether the line goes to another folder.
func (f *accessFinder) moves() bool {
	return slices.ContainsFunc(f.line.Units, func(u Unit) bool { return !u.Dir.Known || u.Dir.Path != "" || len(u.Dir.Else) > 0 })
}

// stacked reports whether a name begins with a folder that the shell keeps: ~+,
// ~- or ~1.
func stacked(name string) bool {
	who, _, _ := strings.Cut(name[1:], "/")
	return who != "" && strings.Trim(who, "+-0123456789") == ""
}

// maxHomes is how many people's home folders are looked up for a line.
const maxHomes = 64

// requests puts what was asked together: one request for each permission.
func (f *accessFinder) requests() (out []permission.Request) {
	all := permission.Together(f.asked)
	for _, name := range []string{"external_directory", "read", "edit"} {
		for _, req := range all {
			if req.Permission == name {
				req.Metadata = f.requestMetadata()
				out = append(out, req)
			}
		}
	}
	return out
}
