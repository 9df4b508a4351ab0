package lspclient

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"
	"github.com/helve-dev/helve/lsp"
)

// The limits for reading boards.
const (
	maxBoards     = 1000
	maxBoardBytes = 1 << 20
)

// The files of a board: its content, the same while it is being written, and a lock that the system
// frees when the process dies.
const (
	boardShown = ".json"
	boardFresh = ".new"
	boardLock  = ".lock"
)

// A board shows other processes which servers run here: one small file that is replaced as a whole,
// in a folder that all boards share. It is a convenience for people: its errors are not reported,
// and the next change tries again.
type board struct {
	dir string // "" for none

	mu     sync.Mutex
	path   string // of its files, without what they end in; "" before the first
	lock   *flock.Flock
	shown  []byte
	closed bool
}

// newBoard returns a board in a folder, which is made when there is something to show; "" is a
// board without a file.
func newBoard(dir string) *board { return &board{dir: dir} }

// publish makes the board show these servers. It writes a file if they differ from those shown now.
func (b *board) publish(list []lsp.Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir == "" || b.closed || b.path == "" && len(list) == 0 {
		return
	}
	mine := make([]lsp.Status, len(list))
	for i, s := range list {
		s.Owner = os.Getpid()
		mine[i] = s
	}
	data, err := json.Marshal(mine)
	if err != nil || bytes.Equal(data, b.shown) {
		return
	}
	if b.path == "" {
		if b.take() != nil {
			return
		}
	}
	b.shown = nil
	if os.WriteFile(b.path+boardFresh, data, 0o600) == nil && os.Rename(b.path+boardFresh, b.path+boardShown) == nil {
		b.shown = data
	}
}

// take reserves an unused file name and its lock.
func (b *board) take() error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return fmt.Errorf("board: %w", err)
	}
	for range 10 {
		var salt [8]byte
		_, _ = rand.Read(salt[:]) // never fails
		path := filepath.Join(b.dir, fmt.Sprintf("%d-%s", os.Getpid(), hex.EncodeToString(salt[:])))
		lock := flock.New(path+boardLock, flock.SetFlag(os.O_CREATE|os.O_EXCL|os.O_RDWR), flock.SetPermissions(0o600))
		ok, err := lock.TryLock()
		if err != nil {
			return fmt.Errorf("board: %w", err)
		}
		if ok && stillThere(lock) {
			b.path, b.lock = path, lock
			return nil
		}
		_ = lock.Close() // another process looked before it was ours, and took it for abandoned
	}
	return errors.New("board: the lock file keeps disappearing")
}

// stillThere reports whether the locked file is the one of that name.
func stillThere(lock *flock.Flock) bool {
	mine, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(mine, there)
}

// close removes the board for good.
func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.lock == nil {
		return
	}
	discardBoard(b.path, b.lock)
	b.lock = nil
}

// discardBoard removes the files of a board whose lock is held; the lock last, because without it
// the rest cannot be attributed.
func discardBoard(path string, lock *flock.Flock) {
	_ = os.Remove(path + boardFresh)
	_ = os.Remove(path + boardShown)
	removed := os.Remove(path+boardLock) == nil
	_ = lock.Close()
	if !removed { // as long as it is open, on Windows
		_ = os.Remove(path + boardLock)
	}
}

// ReadBoard returns what the processes that live show on their boards in a
// folder, by id and root. What dead ones have left there is removed.
func ReadBoard(dir string) []lsp.Status {
	var all []lsp.Status
	for _, path := range boards(dir) {
		lock := flock.New(path+boardLock, flock.SetFlag(os.O_RDWR))
		gone, err := lock.TryRLock()
		if gone || errors.Is(err, fs.ErrNotExist) {
			discardBoard(path, lock)
			continue
		}
		_ = lock.Close()
		if list, err := readBoard(path + boardShown); err == nil {
			for i := range list { // what it holds now
				if list[i].PID > 0 {
					list[i].Memory = max(rss(list[i].PID), list[i].Memory)
				}
			}
			all = append(all, list...)
		}
	}
	slices.SortStableFunc(all, func(a, b lsp.Status) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Root, b.Root), cmp.Compare(a.Owner, b.Owner))
	})
	return all
}

// boards lists the boards of a folder, by the path of their files.
func boards(dir string) []string {
	if dir == "" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(3 * maxBoards)
	var paths []string
	for _, name := range names {
		switch ext := filepath.Ext(name); ext {
		case boardShown, boardFresh, boardLock:
			paths = append(paths, filepath.Join(dir, strings.TrimSuffix(name, ext)))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func readBoard(path string) ([]lsp.Status, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBoardBytes))
	if err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	var list []lsp.Status
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	return list, nil
}
