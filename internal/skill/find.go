package skill

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// fileName is what a skill's file is called.
const fileName = "SKILL.md"

// young is how long after a change a time stamp is not believed: another
// change may get the same one.
const young = 2 * time.Second

// lateKept is how long the set of a search that ran out of time is kept: what
// was slow may be so again.
const lateKept = 30 * time.Second

// An Index finds skills repeatedly. While no file or folder changes, a search only checks each of
// them; a change, also of the user's trust, is seen by the next search.
type Index struct {
	opt Options

	mu    sync.Mutex
	set   *Set            // of the last search
	marks []mark          // what it looked at; nil if that does not show changes
	trust map[string]bool // the results of Trusted for the folders of the project
	until time.Time       // when the set of a search that ran out of time is too old
	known map[string]note // what the files said, by path
}

// A mark is something that a search looked at, as it was then.
type mark struct {
	path string
	info fs.FileInfo // nil: it was not there
}

// A note is the cached content of a file.
type note struct {
	info  fs.FileInfo
	young bool // see [isYoung]
	doc   *Document
	fault *FormatError
}

// NewFinder returns an index. It searches nothing yet.
func NewFinder(opt Options) *Index {
	opt.Limits = opt.Limits.withDefaults()
	return &Index{opt: opt}
}

// Find returns the skills that there are now.
func (f *Index) Find() *Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.set != nil && f.trustedAsBefore() && (f.unchanged() || time.Now().Before(f.until)) {
		return f.set
	}
	s := &search{opt: f.opt, known: f.known, start: time.Now(), notes: map[string]note{}, trust: map[string]bool{}}
	// Untrusted places come last, so that they cannot use up the limits. The finds stay in the
	// order of the places.
	var walks []*walk
	for _, p := range s.opt.places() {
		if w := s.startWalk(p); w != nil {
			walks = append(walks, w)
		}
	}
	for _, guarded := range []bool{false, true} {
		for _, w := range walks {
			if w.guarded == guarded {
				// Folders near the top come first, so that a tree that is too large is searched where skills
				// usually are.
				for len(w.queue) > 0 && !w.limitReached(w.place) {
					at := w.queue[0]
					w.queue = w.queue[1:]
					w.readFolder(at)
				}
			}
		}
	}
	for _, w := range walks {
		slices.SortFunc(w.finds, func(a, b find) int { return strings.Compare(a.Path, b.Path) })
		s.finds = append(s.finds, w.finds...)
	}
	f.marks, f.trust, f.known, f.until = s.stableMarks(), s.trust, s.notes, time.Time{}
	if s.late {
		f.until = time.Now().Add(lateKept)
	}
	f.set = decide(s.finds, f.opt.Limits.Bytes)
	f.set.Problems = s.problems
	return f.set
}

// trustedAsBefore reports whether the user trusts the same folders as before.
func (f *Index) trustedAsBefore() bool {
	for folder, before := range f.trust {
		if f.opt.Trusted(folder) != before {
			return false
		}
	}
	return true
}

// unchanged reports whether everything that was looked at is as it was.
func (f *Index) unchanged() bool {
	if f.marks == nil {
		return false
	}
	for _, m := range f.marks {
		info, err := os.Stat(m.path)
		if err != nil {
			info = nil
		}
		if !unchanged(m.info, info) {
			return false
		}
	}
	return true
}

// stableMarks returns the marks of a search, or nil if one of them is too young
// to show the next change, or if the search was cut short.
func (s *search) stableMarks() []mark {
	if s.late {
		return nil
	}
	for _, m := range s.marks {
		if m.info != nil && isYoung(m.info, s.start) {
			return nil
		}
	}
	if s.marks == nil {
		return []mark{}
	}
	return s.marks
}

func isYoung(info fs.FileInfo, at time.Time) bool { return at.Sub(info.ModTime()).Abs() < young }

// unchanged reports whether a file or folder has the same attributes as before.
func unchanged(before, now fs.FileInfo) bool {
	if before == nil || now == nil {
		return before == nil && now == nil
	}
	return before.ModTime().Equal(now.ModTime()) && before.Size() == now.Size() && before.Mode() == now.Mode() && os.SameFile(before, now)
}

func sameFile(a, b fs.FileInfo) bool { return a != nil && b != nil && os.SameFile(a, b) }
