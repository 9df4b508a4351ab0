package judge

import (
	"os"
	"path/filepath"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/shell"
	"github.com/helve-dev/helve/permission"
)

// gitDoubts are the doubts about a command of git that reads its settings
// elsewhere than in the repository of the session, which is protected: they
// name programs that it runs. Of a trial only what is known of it counts.
func (f *finder) gitDoubts(u shell.Unit, trial bool) (doubts []permission.Doubt) {
	for _, g := range shell.GitPlaces(u) {
		names, ok := f.names(g.Path, g.Dir)
		if !ok && !g.Serves && !trial {
			doubts = append(doubts, permission.Doubt{Why: "it is not known where git reads its settings, which name programs that it runs", Flag: g.Flag})
		}
		for _, name := range names {
			if _, err := os.Lstat(name); trial && err != nil && !f.makes(name) {
				continue // it is one of several guesses
			}
			at := ""
			if g.Serves {
				at = f.files.GitServes(f.place.Dir, name, f.makes)
				if at == "" && g.Takes {
					at = f.taken(name)
				}
			} else {
				at = f.files.GitReads(f.place.Dir, name, g.Named, f.makes)
			}
			for d := filepath.Clean(name); at == "" && !g.Serves && !disk.Within(d, f.place.Dir); d = filepath.Dir(d) {
				if f.made[d] {
					at = d // which may have been moved or copied there, with a repository in it
				}
			}
			if at != "" {
				doubts = append(doubts, permission.Doubt{Why: "git reads its settings in " + at + ", and they may name programs that it runs", Flag: g.Flag})
			}
		}
		if len(f.links) > 0 {
			for _, name := range names {
				for _, l := range f.links {
					if _, ok := l.leads(filepath.Clean(name)); ok {
						doubts = append(doubts, permission.Doubt{Why: "git reads its settings where a link leads that the line makes", Flag: g.Flag})
					}
				}
			}
		}
	}
	return doubts
}

// taken finds another repository among what a folder holds, which git takes in
// with it.
func (f *finder) taken(folder string) string {
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
func (f *finder) makes(name string) bool { return f.made[name] || f.around[name] }
