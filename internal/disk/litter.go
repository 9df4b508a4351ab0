package disk

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// Litter are temporary files of Commits that nobody needs any more and that
// could not be removed, as on a disk that was made read-only meanwhile. The next
// Commit that is given the same Litter tries again. The zero value is empty.
type Litter struct {
	mu    sync.Mutex
	names []string
}

// mostLitter is how many files are remembered. Those beyond stay.
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

// removeAll removes what can be removed now. The names are random, so that nothing
// else can be meant by them.
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
