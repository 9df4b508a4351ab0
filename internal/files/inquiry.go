package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A pathCache caches file lookups for one question. A nil one caches nothing.
type pathCache struct {
	entries   map[string]nameInfo
	reals     map[string]string
	protected *protectedList
}

// maxInquiry limits the names of each kind in a pathCache, so that the question cannot decide how
// much memory it takes.
const maxInquiry = 4096

// A nameInfo is what a name stands for, without following links.
type nameInfo struct {
	info   fs.FileInfo // nil if not available
	gone   bool        // nothing exists there or below
	link   bool
	target string
}

// WithCache returns a workspace with a cache, for one question that consists of many, such as the
// one about a command line. It is for asking only, by one goroutine, and nothing may be opened
// through it, because the disk may have changed since.
func (f *Workspace) WithCache() *Workspace {
	return &Workspace{Worktree: f.Worktree, Own: f.Own, Home: f.Home, cache: &pathCache{map[string]nameInfo{}, map[string]string{}, f.protected()}}
}

// lookUp looks up a name whose folder contains no links.
func (q *pathCache) lookUp(name string) nameInfo {
	if q != nil {
		if e, known := q.entries[name]; known {
			return e
		}
	}
	var e nameInfo
	info, err := os.Lstat(name)
	if err != nil {
		e.gone = errors.Is(err, fs.ErrNotExist)
	} else if e.info = info; info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 { // Windows has links of other kinds
		e.target, err = os.Readlink(name)
		e.link = err == nil
	}
	if q != nil && len(q.entries) < maxInquiry {
		q.entries[name] = e
	}
	return e
}

// real is [realName] with the cache.
func (q *pathCache) real(name string) string {
	if q == nil {
		return q.followLinks(name)
	}
	real, known := q.reals[name]
	if !known {
		real = q.followLinks(name)
		if len(q.reals) < maxInquiry {
			q.reals[name] = real
		}
	}
	return real
}

// realName resolves links as the system would, part by part. If a part does not exist, the rest
// stays as written, so that the result is what would be created. A name with a link loop is left
// where the loop began: opening it fails.
func realName(name string) string { return (*pathCache)(nil).followLinks(name) }

func (q *pathCache) followLinks(name string) string {
	real, rest := split(name)
	gone := 0 // how far it is below the last folder that exists
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case ".":
			continue
		case "..":
			real = filepath.Dir(real)
			gone = max(gone-1, 0)
			continue
		}
		next := real + string(filepath.Separator) + part
		if os.IsPathSeparator(real[len(real)-1]) { // a root
			next = real + part
		}
		e := nameInfo{gone: true}
		if gone == 0 {
			e = q.lookUp(next)
		}
		if !e.link {
			real = next
			if e.gone {
				gone++
			}
			continue
		}
		if links++; links > maxLinks {
			return filepath.Join(next, filepath.Join(rest...))
		}
		root, parts := split(e.target)
		switch {
		case filepath.IsAbs(e.target):
			real = root
		case e.target != "" && os.IsPathSeparator(e.target[0]): // on Windows: of the same volume
			real, _ = split(real[:len(filepath.VolumeName(real))])
		}
		rest = slices.Concat(parts, rest)
	}
	return real
}

// split splits a name into the root of an absolute name and the parts below it.
func split(name string) (root string, parts []string) {
	volume := filepath.VolumeName(name)
	parts = strings.FieldsFunc(name[len(volume):], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	return volume + string(filepath.Separator), parts
}
