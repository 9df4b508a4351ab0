package skill

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/helve-dev/helve/internal/disk"
)

// loadTime is how long it may take to load a skill.
const loadTime = 3 * time.Second

// errSlow says that the file system did not respond, such as a mount whose server is gone.
var errSlow = errors.New("it does not answer")

// An opened is the result of reading a file.
type opened struct {
	data []byte
	info fs.FileInfo
	err  error
}

// patience is how long a search waits for one file or folder, so that one that does not respond
// leaves time for the others.
func (s *search) patience() time.Duration {
	left := s.opt.Limits.Time - time.Since(s.start)
	return max(min(s.opt.Limits.Time/3, left), 50*time.Millisecond)
}

// patient runs a file operation with a time limit. If it does not respond, the search counts as out
// of time.
func patient[T any](s *search, ask func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	a, ok := disk.InTime(s.patience(), func() answer {
		value, err := ask()
		return answer{value, err}
	})
	if !ok {
		s.late = true
		return a.value, errSlow
	}
	return a.value, a.err
}

func (s *search) stat(path string) (fs.FileInfo, error) {
	return patient(s, func() (fs.FileInfo, error) { return os.Stat(path) })
}

func (s *search) real(path string) (string, error) {
	return patient(s, func() (string, error) { return filepath.EvalSymlinks(path) })
}

// readDir is [readDir] with patience.
func (s *search) readDir(path string, most int) (entries []fs.DirEntry, more bool, err error) {
	type listing struct {
		entries []fs.DirEntry
		more    bool
	}
	l, err := patient(s, func() (listing, error) {
		entries, more, err := readDir(path, most)
		return listing{entries, more}, err
	})
	return l.entries, l.more, err
}
