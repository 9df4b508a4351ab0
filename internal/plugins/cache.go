package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

const (
	cachePrefix = "describe-"
	cacheEnding = ".json"
	maxKept     = 256 // descriptions in the cache
)

// fingerprint returns a text that changes when a program or its description file does. It includes
// the name, because a program may describe itself by its name.
func fingerprint(file string, beside []byte) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("reading the program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	fmt.Fprintf(h, "1 %d:%s %d:%s ", len(file), file, len(beside), beside)
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading the program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// recall returns the cached description of a program.
func (r *Programs) recall(hash string) ([]byte, bool) {
	if r.opt.Cache == "" {
		return nil, false
	}
	said, err := readBounded(filepath.Join(r.opt.Cache, cachePrefix+hash+cacheEnding), maxDescribe)
	return said, err == nil && len(said) > 0
}

// keep caches how a program describes itself. If the cache cannot be written, that only costs time.
func (r *Programs) keep(hash string, said []byte) {
	if r.opt.Cache == "" {
		return
	}
	if err := r.write(cachePrefix+hash+cacheEnding, said); err != nil {
		r.log.Debug("a description could not be kept", "error", err)
	}
}

func (r *Programs) write(name string, said []byte) error {
	if err := os.MkdirAll(r.opt.Cache, 0o700); err != nil {
		return err
	}
	if err := disk.ReplaceSmall(filepath.Join(r.opt.Cache, name), said, false); err != nil {
		return err
	}
	r.prune()
	return nil
}

// prune removes the oldest descriptions where there are too many.
func (r *Programs) prune() {
	entries, err := os.ReadDir(r.opt.Cache)
	if err != nil || len(entries) <= maxKept {
		return
	}
	var kept []os.FileInfo
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), cachePrefix) {
			continue
		}
		if info, err := e.Info(); err == nil {
			kept = append(kept, info)
		}
	}
	slices.SortFunc(kept, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range kept[min(maxKept, len(kept)):] {
		_ = os.Remove(filepath.Join(r.opt.Cache, old.Name()))
	}
}

// readBounded reads a file of a size that is taken.
func readBounded(name string, most int64) ([]byte, error) {
	data, err := disk.ReadSmall(name, most)
	switch {
	case errors.Is(err, disk.ErrNotRegular):
		return nil, fmt.Errorf("%s is not a file", line(filepath.Base(name), maxQuote))
	case errors.Is(err, disk.ErrTooLarge):
		return nil, fmt.Errorf("%s has more than %d bytes", line(filepath.Base(name), maxQuote), most)
	}
	return data, err
}
