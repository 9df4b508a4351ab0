package config

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Limits for a search for instructions.
const (
	seekFiles   = 10_000
	seekTime    = 500 * time.Millisecond
	seekChoices = 64 // that the braces of a pattern come to
)

// A seeker finds the files that match patterns: *, ? and [..] as in [path.Match], ** for any
// folders, {a,b} for alternatives. Its time is limited.
type seeker struct {
	seen  int
	until time.Time
	tired bool // it has given up
	known map[string][]fs.DirEntry
}

func newSeeker() *seeker {
	return &seeker{until: time.Now().Add(seekTime), known: map[string][]fs.DirEntry{}}
}

// find returns the files of a pattern relative to a folder, or of an absolute pattern if base is
// "".
func (k *seeker) find(base, pattern string) (out []string) {
	if base == "" {
		base = filepath.VolumeName(pattern) + string(filepath.Separator)
		pattern = pattern[len(filepath.VolumeName(pattern)):]
	}
	for _, one := range choices(filepath.ToSlash(pattern)) {
		parts := slices.DeleteFunc(strings.Split(one, "/"), func(part string) bool { return part == "" || part == "." })
		if n := len(parts); n > 0 && parts[n-1] == "**" {
			parts = append(parts, "*")
		}
		k.walk(base, slices.CompactFunc(parts, func(a, b string) bool { return a == b && a == "**" }), func(name string) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		})
	}
	return out
}

func (k *seeker) walk(dir string, parts []string, yield func(string)) {
	switch {
	case time.Now().After(k.until):
		k.tired = true
	case len(parts) == 0:
		if isFile(dir) {
			yield(dir)
		}
	case parts[0] == "**":
		k.walk(dir, parts[1:], yield)
		for _, e := range k.list(dir) {
			if e.IsDir() && !passed(e) {
				k.walk(filepath.Join(dir, e.Name()), parts, yield)
			}
		}
	case !strings.ContainsAny(parts[0], `*?[\`):
		k.walk(filepath.Join(dir, parts[0]), parts[1:], yield)
	default:
		for _, e := range k.list(dir) {
			if ok, err := path.Match(parts[0], e.Name()); err == nil && ok && !passed(e) {
				k.walk(filepath.Join(dir, e.Name()), parts[1:], yield)
			}
		}
	}
}

// passed reports whether patterns match a folder only by its exact name.
func passed(e fs.DirEntry) bool { return e.Name() == ".git" || e.Name() == "node_modules" }

// list returns the sorted entries of a folder, or nothing if it is none.
func (k *seeker) list(dir string) []fs.DirEntry {
	if have, ok := k.known[dir]; ok {
		return have
	}
	if k.seen >= seekFiles {
		k.tired = true
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, err := f.ReadDir(seekFiles - k.seen)
	if err != nil {
		list = nil // also of an empty folder
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	k.seen += len(list)
	k.tired = k.tired || k.seen >= seekFiles
	k.known[dir] = list
	return list
}

// choices expands the braces of a pattern.
func choices(pattern string) (out []string) {
	for todo := []string{pattern}; len(todo) > 0 && len(out) < seekChoices; {
		one := todo[0]
		before, among, after := choice(one)
		if among == nil {
			todo, out = todo[1:], append(out, one)
			continue
		}
		next := make([]string, 0, len(among)+len(todo))
		for _, a := range among {
			next = append(next, before+a+after)
		}
		todo = append(next, todo[1:]...)
	}
	return out
}

// choice cuts a pattern at its first braces that are closed; among is nil where
// there are none.
func choice(pattern string) (before string, among []string, after string) {
	depth, open, from := 0, 0, 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case ',':
			if depth == 1 {
				among, from = append(among, pattern[from:i]), i+1
			}
		case '}':
			if depth--; depth == 0 {
				return pattern[:open], append(among, pattern[from:i]), pattern[i+1:]
			}
			depth = max(depth, 0)
		}
	}
	return pattern, nil, ""
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
