package files

import (
	"path"
	"path/filepath"
	"slices"
)

// A Staging knows what git would not take in where it is told to take in all of
// a folder: files that it tracks, whose contents it has, and those that are
// surely ignored. It is for one question, by one goroutine; the zero value is
// ready.
type Staging struct {
	found gatherer
	rules map[string]*ignoring // by the folder that they are in force in
}

// LeavesOut reports whether git leaves a file or folder out. name is real.
// Without a repository it leaves out nothing: the line may make one.
func (s *Staging) LeavesOut(name string, folder bool) bool {
	if s.rules == nil {
		s.rules, s.found.repos = map[string]*ignoring{}, map[string]*repository{}
	}
	r := s.found.repository(filepath.Dir(name))
	if r == nil || r.err != nil {
		return false
	}
	rel, ok := r.indexName(name)
	if !ok || rel == "" {
		return false
	}
	r.list()
	if folder && r.tracks(rel) {
		return false
	}
	_, known := slices.BinarySearch(r.tracked, rel)
	return known || s.ignored(r, rel, folder)
}

// ignored reports whether a name, or a folder that it is in, is ignored.
func (s *Staging) ignored(r *repository, rel string, folder bool) bool {
	for at := range len(rel) {
		if rel[at] == '/' && s.in(r, path.Dir(rel[:at])).match(rel[:at], true) {
			return true
		}
	}
	return s.in(r, path.Dir(rel)).match(rel, folder)
}

// in are the rules in force in a folder of a repository.
func (s *Staging) in(r *repository, rel string) *ignoring {
	if rel == "." {
		rel = ""
	}
	dir := r.worktreePath(rel)
	if rules, ok := s.rules[dir]; ok {
		return rules
	}
	var above *ignoring
	if rel == "" {
		above = above.read(filepath.Join(commonDir(r.git), "info", "exclude"), "")
	} else {
		above = s.in(r, path.Dir(rel))
	}
	rules := above.withFolder(dir, rel)
	s.rules[dir] = rules
	return rules
}
