package files

import (
	"path"
	"path/filepath"
	"slices"
)

// A Staging decides which files git would not add when it is told to add a whole folder: files that
// it already tracks, and those that are certainly ignored. It is for one question, by one
// goroutine; the zero value is ready to use.
type Staging struct {
	found gatherer
	rules map[string]*ignoring // by the folder to which they apply
}

// LeavesOut reports whether git would not add a file or folder. name is resolved. Without a
// repository it returns false, because the command line may create one.
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

// in returns the rules that apply in a folder of a repository.
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
