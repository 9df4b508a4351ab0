package world

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A temporary is the folder that the scripts of an engine have for themselves:
// they read and write there without asking, and nobody else does. It is made
// when it is first needed, and gone with the engine.
type temporary struct {
	mu   sync.Mutex
	path string
	gone bool
	mask *uint32 // what the process takes from the modes of new files
}

// folder is the name of it, free of links.
func (t *temporary) folder() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.path != "" {
		return t.path, nil
	}
	if t.gone {
		return "", fmt.Errorf("making a folder for scripts: %w", os.ErrClosed)
	}
	at, err := os.MkdirTemp("", "helve-script-")
	if err != nil {
		return "", fmt.Errorf("making a folder for scripts: %w", err)
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return "", fmt.Errorf("making a folder for scripts: %w", err)
	}
	t.path = real
	return real, nil
}

// holds reports whether a name that is absolute and clean lies in the folder.
// It does not look at links.
func (t *temporary) holds(name string) bool {
	t.mu.Lock()
	path := t.path
	t.mu.Unlock()
	if path == "" {
		return false
	}
	rest, ok := strings.CutPrefix(name, path)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}

// umask is what the process takes from the modes of new files, found out by
// making one: to ask for it would be to set it, for everybody.
func (t *temporary) umask() (uint32, error) {
	dir, err := t.folder()
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mask != nil {
		return *t.mask, nil
	}
	name := filepath.Join(dir, ".mask")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o777)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	_ = f.Close()
	_ = os.Remove(name)
	if err != nil {
		return 0, err
	}
	mask := 0o777 &^ uint32(info.Mode().Perm())
	t.mask = &mask
	return mask, nil
}

// remove removes the folder with all that is in it.
func (t *temporary) remove() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	path := t.path
	t.path, t.gone = "", true
	if path == "" {
		return nil
	}
	return os.RemoveAll(path)
}
