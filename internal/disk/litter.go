package disk

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// Litter holds temporary files of Commits that are no longer needed and could not be removed, for
// example because the disk was made read-only. The next Commit with the same Litter tries again.
// The zero value is empty.
type Litter struct {
	mu    sync.Mutex
	names []string
}

// mostLitter limits how many files are remembered.
const mostLitter = 1000

func (l *Litter) add(name string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.names) < mostLitter {
		l.names = append(l.names, name)
	}
}

// removeAll removes what can be removed now. The names are random, so they cannot have become those
// of other files.
func (l *Litter) removeAll() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = slices.DeleteFunc(l.names, func(name string) bool {
		err := os.Remove(name)
		return err == nil || errors.Is(err, fs.ErrNotExist)
	})
}
