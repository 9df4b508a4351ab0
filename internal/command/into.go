package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// A nameLink is a name that is a link to another from some point of the line on.
type nameLink struct {
	from, to string
	text     string // what stands in it, if that is seen from where it lies
}

// restOf reports whether a name is that of the link or goes through it, and what
// of it comes behind.
func (l nameLink) restOf(name string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, l.from)
	return rest, ok && (rest == "" || rest[0] == filepath.Separator)
}

// into asks about the files that are put at a name: under their own names if it is a folder.
func (f *accessFinder) into(ctx context.Context, a Access, at string, folder bool) (uncertainties []permission.Uncertainty, err error) {
	switch {
	case a.Flat && a.Deep:
		folder = false // what is in the one ends up in the other
	case a.Flat && folder && !strings.HasSuffix(at, "/"):
		_, err := os.Readlink(at)
		folder = err != nil // a link is replaced, and a folder is not
	}
	s := destination{at: at, folder: folder, deep: a.Deep, unsure: f.touched(at, folder)}
	for _, w := range a.Into {
		more, err := f.placed(ctx, a, w, s)
		if err != nil {
			return nil, err
		}
		uncertainties = append(uncertainties, more...)
	}
	return uncertainties, nil
}

// A destination is where files are put: under a name, or into a folder of that name.
type destination struct {
	at     string
	folder bool
	deep   bool // folders are put there with all that is in them
	unsure bool // the line may have made or removed the folder before
}

// nameOf is the name that a file has there. Of x/. it is what x holds that is put
// there, and not x.
func (s destination) nameOf(file string) string {
	base := filepath.Base(file)
	if s.folder && !(s.deep && (base == "." || base == "..")) {
		return abs(s.at, filepath.Base(filepath.Clean(file)))
	}
	return s.at
}

// other is the same spot if the line itself has made or removed the folder.
func (s destination) other() destination {
	s.folder, s.unsure = !s.folder, true
	return s
}

// linkBase is the folder that a link there is followed from.
func (s destination) linkBase() string {
	if s.folder {
		return s.at
	}
	return filepath.Dir(s.at)
}

// placed asks about one of the files that are put at a destination.
func (f *accessFinder) placed(ctx context.Context, a Access, w Word, s destination) ([]permission.Uncertainty, error) {
	one := a
	one.Into, one.Link, one.Path = nil, false, w
	names, ok := f.sources(a, w, s)
	var uncertainties []permission.Uncertainty
	if !ok {
		uncertainties = unknown(one)
	}
	read := Access{Kind: Read, Path: w, Deep: true, Why: a.Why}
	if !ok && a.Soft {
		uncertainties = append(uncertainties, unknown(read)...)
	}
	for _, name := range names {
		if s.folder {
			more, err := f.askFile(ctx, one, s.nameOf(name))
			if err != nil {
				return nil, err
			}
			uncertainties = append(uncertainties, more...)
		}
		if a.Soft {
			more, err := f.askFile(ctx, read, name)
			if err != nil {
				return nil, err
			}
			uncertainties = append(uncertainties, more...)
		}
		if !a.Link && a.Deep && (s.nameOf(name) == s.at || a.Why == "rsync" && strings.HasSuffix(w.Value, "/")) {
			if err := f.poured(ctx, one, name, s.at); err != nil {
				return nil, err
			}
		}
		if !a.Link && a.Deep && f.isFolder(name) {
			uncertainties = append(uncertainties, unknown(one)[:1]...)
		}
	}
	f.remember(a, w, s, names)
	if !s.unsure {
		return uncertainties, nil
	}
	if a.Soft {
		names, _ = f.sources(a, w, s.other())
	}
	f.remember(a, w, s.other(), names)
	return uncertainties, nil
}

// poured asks about the contents of a folder that are put into another one and change there what
// runs later: .claude, .github/workflows.
func (f *accessFinder) poured(ctx context.Context, a Access, from, to string) error {
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return nil
	}
	a.Deep = false
	held, _ := os.ReadDir(from)
	for _, e := range held[:min(len(held), maxPoured)] {
		names := []string{e.Name()}
		below, _ := os.ReadDir(filepath.Join(from, e.Name()))
		for _, b := range below[:min(len(below), maxPoured)] {
			names = append(names, filepath.Join(e.Name(), b.Name()))
		}
		for _, name := range names {
			at := filepath.Join(to, name)
			if _, ok := f.files.Singled(at); !ok {
				continue
			}
			if _, err := f.askFile(ctx, a, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxPoured is how many names of a folder are looked at.
const maxPoured = 1000

// written records a file that the line changes.
func (f *accessFinder) written(p files.Path) {
	f.writes = append(f.writes, p)
	if f.made == nil {
		f.made, f.around = map[string]bool{}, map[string]bool{}
	}
	f.made[p.Real()] = true
	f.stale = f.stale || ignores(p.Real())
	for dir := filepath.Dir(p.Real()); !f.around[dir]; dir = filepath.Dir(dir) {
		f.around[dir] = true
	}
}

// touched reports whether the line may have removed a folder so far, or made
// one where there is none.
func (f *accessFinder) touched(at string, folder bool) bool {
	at = filepath.Clean(at)
	return f.made[at] || !folder && f.around[at]
}

// renewed reports whether a name that a pattern gave lies in a folder that the
// line changes: there may be others when it runs.
func (f *accessFinder) renewed(name string) bool { return f.around[filepath.Dir(filepath.Clean(name))] }

// sources are the full names of what ends up at a spot. What stands in a link
// is seen from where it lies, except for a name that the shell makes a full one.
func (f *accessFinder) sources(a Access, w Word, s destination) ([]string, bool) {
	if _, name, _, ok := variable(w.Raw); a.Soft && (!ok || name != "PWD") {
		return f.namesOf(w, Dir{Path: s.linkBase(), Known: true})
	}
	names, ok := f.namesOf(w, a.Dir)
	return names, ok && !(a.Deep && w.Glob && slices.ContainsFunc(names, f.renewed))
}

// remember notes the links that come to be at a spot: those that are made
// there, and those that are copied or moved there.
func (f *accessFinder) remember(a Access, w Word, s destination, names []string) {
	for _, name := range names {
		to := filepath.Clean(s.nameOf(name))
		if a.Link {
			l := nameLink{from: to, to: name}
			if a.Soft && w.Literal && !filepath.IsAbs(w.Value) {
				l.text = w.Value
			}
			f.addLink(l)
			continue
		}
		name = filepath.Clean(name)
		if text, err := os.Readlink(name); err == nil {
			f.addLink(nameLink{from: to, to: abs(filepath.Dir(to), text), text: text})
		}
		for _, l := range f.links {
			rest, ok := strings.CutPrefix(l.from, name)
			if !ok || rest != "" && rest[0] != filepath.Separator || to == name {
				continue
			}
			l.from = to + rest
			if l.text != "" {
				l.to = abs(filepath.Dir(l.from), l.text)
			}
			f.addLink(l)
		}
	}
}

func (f *accessFinder) addLink(l nameLink) {
	if len(f.links) < maxLinks && l.from != filepath.Clean(l.to) {
		f.links = append(f.links, l)
	}
}

// isFolder reports whether a name is a folder, with all that is in it.
func (f *accessFinder) isFolder(name string) bool {
	return isFolder(name) || f.around[filepath.Clean(name)]
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
