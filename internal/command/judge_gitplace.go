package command

import (
	"os"
	"path/filepath"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/permission"
)

// gitUncertainties returns the uncertainties about a git command that reads settings outside the
// session's repository, which is protected: settings name programs that git runs. In a trial only
// what is certain counts.
func (f *accessFinder) gitUncertainties(u Unit, trial bool) (uncertainties []permission.Uncertainty) {
	for _, g := range GitPlaces(u) {
		names, ok := f.namesOf(g.Path, g.Dir)
		if !ok && !g.Serves && !trial {
			uncertainties = append(uncertainties, permission.Uncertainty{Why: "it is not known where git reads its settings, which name programs that it runs", Flag: g.Flag})
		}
		for _, name := range names {
			if _, err := os.Lstat(name); trial && err != nil && !f.makes(name) {
				continue // it is one of several guesses
			}
			at := ""
			if g.Serves {
				at = f.files.GitServes(f.place.Dir, name, f.makes)
				if at == "" && g.Takes {
					at = f.nestedRepository(name)
				}
			} else {
				at = f.files.GitReads(f.place.Dir, name, g.Named, f.makes)
			}
			for d := filepath.Clean(name); at == "" && !g.Serves && !disk.Within(d, f.place.Dir); d = filepath.Dir(d) {
				if f.made[d] {
					at = d // which may have been moved or copied there, with a repository in it
				}
			}
			if at == "" && !g.Named && !g.Serves {
				at = f.pouredAround(name)
			}
			if at != "" {
				uncertainties = append(uncertainties, permission.Uncertainty{Why: "git reads its settings in " + at + ", and they may name programs that it runs", Flag: g.Flag})
			}
		}
		if len(f.links) > 0 {
			for _, name := range names {
				for _, l := range f.links {
					if _, ok := l.restOf(filepath.Clean(name)); ok {
						uncertainties = append(uncertainties, permission.Uncertainty{Why: "git reads its settings where a link leads that the line makes", Flag: g.Flag})
					}
				}
			}
		}
	}
	return uncertainties
}

// pours records a folder that files with unknown names are put into.
func (f *accessFinder) pours(dir Dir) {
	for _, d := range append([]string{dir.Path}, dir.Else...) {
		if from, ok := f.tilde(d); ok && len(f.filled) < maxLinks {
			f.filled = append(f.filled, filepath.Clean(abs(f.place.Cwd, from)))
		}
	}
}

// pouredAround finds a folder around a name that may have become a repository
// because of such files. The one that the session runs in is protected.
func (f *accessFinder) pouredAround(name string) string {
	for d := filepath.Clean(name); disk.Within(f.place.Dir, d) && d != filepath.Clean(f.place.Dir); d = filepath.Dir(d) {
		for _, folder := range f.filled {
			if disk.Within(folder, d) {
				return d
			}
		}
	}
	return ""
}

// nestedRepository finds another repository among what a folder holds, which git takes in
// with it.
func (f *accessFinder) nestedRepository(folder string) string {
	held, _ := os.ReadDir(folder)
	for _, e := range held[:min(len(held), maxPoured)] {
		name := filepath.Join(folder, e.Name())
		if e.IsDir() && e.Name() != ".git" && (f.stale || !f.git.LeavesOut(name, true)) {
			if at := f.files.GitServes(f.place.Dir, filepath.Join(name, ".git"), f.makes); at != "" {
				return at
			}
		}
	}
	return ""
}

// makes reports whether the line itself has made or changed what has a name by
// then.
func (f *accessFinder) makes(name string) bool { return f.made[name] || f.around[name] }
