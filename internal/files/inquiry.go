package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A pathCache is what was looked up on the disk for one question. nil remembers
// nothing.
type pathCache struct {
	entries   map[string]nameInfo
	reals     map[string]string
	protected *protectedList
}

// maxInquiry is how many names of each kind an inquiry remembers, so that what a
// question is about does not decide how much memory it takes.
const maxInquiry = 4096

// A nameInfo is what a name stands for, its links not followed.
type nameInfo struct {
	info   fs.FileInfo // nil where there is none to be had
	gone   bool        // there is nothing, and nothing below
	link   bool
	target string
}

// WithCache returns the door for one question that is made of many, such as the
// one about a command line: what has to be known of the disk is looked up once.
// It is for asking, by one goroutine, and goes with the question. Nothing is to
// be opened through it: the disk may have changed since.
func (f *Workspace) WithCache() *Workspace {
	return &Workspace{Worktree: f.Worktree, Own: f.Own, Home: f.Home, cache: &pathCache{map[string]nameInfo{}, map[string]string{}, f.protected()}}
}

// lookUp looks a name up whose folder has no links in it.
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

// real is [realName].
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

// realName follows links as the system would, one part of the name after the
// other. Where a part does not exist the rest is taken as it is written, so
// that the answer is what would be made there. A name that leads in circles
// is left where it began to: opening it fails.
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

// split takes a name apart: the root that an absolute one starts from, and
// its parts below.
func split(name string) (root string, parts []string) {
	volume := filepath.VolumeName(name)
	parts = strings.FieldsFunc(name[len(volume):], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	return volume + string(filepath.Separator), parts
}
