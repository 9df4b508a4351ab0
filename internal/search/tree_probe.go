package search

import (
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// recent is how long a file's times are not to be trusted after it was
// changed: a second change may leave them as they are, since clocks of file
// systems are coarse.
const recent = 2 * time.Second

// A probe is a file outside of what is watched that decides on what a walk
// finds, and what it was when it was read.
type probe struct {
	path   string
	follow bool // a link there is followed
	whole  bool // what is in it matters; otherwise only which it is
	seen   entryInfo
	sum    uint64 // of what is in it
	when   stamp
}

func now() stamp {
	t := time.Now()
	return stamp{t.Unix(), int64(t.Nanosecond())}
}

// isOld reports whether a time was long enough past.
func (s stamp) isOld(when stamp) bool {
	return when.time().Sub(s.time()) > recent
}

// take looks at the file for the first time.
func (p *probe) take(seed maphash.Seed) {
	p.when = now()
	p.seen, _ = lookName(p.path, p.follow) // what cannot be looked at is like what is not there
	p.sum = p.read(seed)
}

func (p *probe) read(seed maphash.Seed) uint64 {
	if !p.whole || p.seen.kind != entryFile {
		return 0
	}
	f, err := openRegular(p.path)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	var h maphash.Hash
	h.SetSeed(seed)
	if _, err := io.Copy(&h, io.LimitReader(f, maxIgnoreFile+1)); err != nil {
		return 0
	}
	return h.Sum64()
}

// unchanged reports whether the file still is what it was.
func (p *probe) unchanged(seed maphash.Seed) bool {
	when := now()
	seen, _ := lookName(p.path, p.follow)
	if seen.kind != p.seen.kind || (seen.id == fileID{}) != (p.seen.id == fileID{}) {
		return false
	}
	if !p.whole || seen.kind != entryFile {
		return seen.id == p.seen.id
	}
	if seen == p.seen && seen.changed.isOld(p.when) {
		return true
	}
	old := *p
	p.seen, p.when = seen, when
	p.sum = p.read(seed)
	return p.sum == old.sum && p.sum != 0 && seen.mode == old.seen.mode
}

// sameAll reports whether all of some files are what they were.
func sameAll(probes []probe, seed maphash.Seed) bool {
	for i := range probes {
		if !probes[i].unchanged(seed) {
			return false
		}
	}
	return true
}

// ignoreFiles are the names of ignore files, by their kind.
func ignoreFiles() [excludeFile]string {
	return [...]string{rgFile: ".rgignore", plainFile: ".ignore", gitFile: ".gitignore"}
}

// folderProbes returns the probes of a folder that is not watched, without its repository.
func folderProbes(dir string) []probe {
	list := []probe{{path: filepath.Join(dir, ".jj")}}
	for _, base := range ignoreFiles() {
		list = append(list, probe{path: filepath.Join(dir, base), whole: true})
	}
	return list
}

// repoProbes are those of the repository whose top a folder is, or may be.
func repoProbes(dir string) []probe {
	git := filepath.Join(dir, ".git")
	list := []probe{{path: git, whole: true}}
	st, err := lookName(git, false)
	switch {
	case err != nil:
	case st.kind == entryDir:
		list = append(list, probe{path: filepath.Join(git, "info")}, probe{path: filepath.Join(git, "info", "exclude"), whole: true})
	case st.kind == entryFile:
		f, err := openRegular(git)
		if err != nil {
			break
		}
		text, _ := readBounded(f, 4096)
		_ = f.Close()
		if name, ok := strings.CutPrefix(firstLine(text), "gitdir: "); ok {
			name = resolve(dir, name)
			list = append(list, probe{path: filepath.Join(name, "commondir"), follow: true, whole: true},
				probe{path: filepath.Join(commonDir(name), "info", "exclude"), follow: true, whole: true})
		}
	}
	return list
}

// outerProbes are those of the folders from top down to the one above root.
func outerProbes(top, root string) (list []probe) {
	for at := root; at != top && at != filepath.Dir(at); {
		at = filepath.Dir(at)
		list = append(append(list, folderProbes(at)...), repoProbes(at)...)
	}
	return list
}

// excludesProbes are those of the user's own excludes file.
func excludesProbes(excludes string) (list []probe) {
	switch excludes {
	case os.DevNull:
		return nil
	case "":
		files, usual := gitSettings()
		if usual != "" {
			files = append(files, usual)
		}
		for _, name := range files {
			list = append(list, probe{path: name, follow: true, whole: true})
		}
		excludes = userExcludes()
	}
	if excludes == "" {
		return list
	}
	return append(list, probe{path: excludes, follow: true, whole: true})
}

// special reports whether an entry of that name decides on the others of its
// folder.
func special(name string) bool {
	switch name {
	case ".git", ".jj", ".gitignore", ".ignore", ".rgignore":
		return true
	}
	return false
}
