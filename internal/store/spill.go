package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	spillPrefix  = "tool_"
	spillAge     = 7 * 24 * time.Hour
	spillQuota   = 1 << 30
	maxSpillName = 120
)

// OutputDir returns the folder that spilled outputs are in. It may not exist
// before the first [Store.Spill].
func (s *Store) OutputDir() (string, error) {
	if s.path != "" {
		return filepath.Join(s.opts.Dir, "tool-output"), nil
	}
	s.spill.Lock()
	defer s.spill.Unlock()
	if s.spillEnded {
		return "", ErrClosed
	}
	if s.tempDir == "" {
		dir, err := s.opts.Outputs, error(nil)
		if dir == "" {
			dir, err = os.MkdirTemp("", "helve-output-")
		} else {
			err = os.Mkdir(dir, 0o700)
		}
		if err != nil {
			return "", fmt.Errorf("making a folder for outputs: %w", err)
		}
		s.tempDir = dir
	}
	return s.tempDir, nil
}

// Spill makes a new file for an output that is too long to show, named after
// id with the prefix tool_ if it lacks it. The file is the caller's to write
// and close; its Name is the path to tell.
func (s *Store) Spill(id string) (*os.File, error) {
	dir, err := s.OutputDir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for outputs: %w", err)
	}
	name := filepath.Join(dir, spillName(id))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		f, err = os.OpenFile(name+"-"+hex.EncodeToString(b[:]), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("making a file for an output: %w", err)
	}
	return f, nil
}

// spillName makes a plain file name of an id that may be anything.
func spillName(id string) string {
	id = strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-', r == '_':
			return r
		}
		return '_'
	}, strings.TrimPrefix(id, spillPrefix))
	return spillPrefix + id[:min(len(id), maxSpillName)]
}

// Sweep removes spilled outputs that were last written more than maxAge
// before now, and then the oldest until the rest fits into quota bytes. Zero
// means 7 days and 1 GiB. Files that are not ours, and those that cannot be
// removed, are left. It returns how many files it removed.
func (s *Store) Sweep(now time.Time, maxAge time.Duration, quota int64) int {
	if maxAge <= 0 {
		maxAge = spillAge
	}
	if quota <= 0 {
		quota = spillQuota
	}
	if s.path == "" {
		s.spill.Lock()
		made := s.tempDir != ""
		s.spill.Unlock()
		if !made {
			return 0
		}
	}
	dir, err := s.OutputDir()
	if err != nil {
		return 0
	}
	files := spilled(dir)
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	var total int64
	for _, f := range files {
		total += f.Size()
	}
	removed := 0
	for _, f := range files { // oldest first
		if now.Sub(f.ModTime()) <= maxAge && total <= quota {
			break
		}
		if os.Remove(filepath.Join(dir, f.Name())) == nil {
			total -= f.Size()
			removed++
		}
	}
	return removed
}

// spilled lists the regular files in dir that Spill could have made.
func spilled(dir string) []fs.FileInfo {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []fs.FileInfo
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), spillPrefix) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			out = append(out, info)
		}
	}
	return out
}
