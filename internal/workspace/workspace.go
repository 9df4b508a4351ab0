// Package workspace is the door to the disk. A name becomes a [Path] by
// asking about it, and only a Path can be opened, so a tool can not touch
// what was not asked about.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"helve/permission"
)

// An Asker asks for permission.
type Asker interface {
	Ask(ctx context.Context, req permission.Request) error
}

// Files is the door. The zero value has no worktree.
type Files struct {
	// Worktree is the root of the project, absolute. Where it is "" or a root
	// of the file system there is none, and only the working folder is inside.
	Worktree string
}

// FindWorktree returns the nearest folder, dir or above it, that holds .git;
// the root of the file system when there is none.
func FindWorktree(dir string) string {
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil || isRoot(d) {
			return d
		}
	}
}

// isRoot reports whether nothing is above a folder: /, or C:\, or a share.
func isRoot(dir string) bool { return filepath.Dir(dir) == dir }

// A Path is a file name that has been asked about. Only [Files.Resolve]
// makes one.
type Path struct {
	abs   string // as asked for, absolute and without dots
	real  string // what the system would open
	shown string // from the worktree, for people
	dir   string // where relative names start
}

// String gives the path as it was asked for, absolute.
func (p Path) String() string { return p.abs }

// Title gives the path as seen from the worktree.
func (p Path) Title() string { return p.shown }

// Errors a caller decides by.
var (
	ErrNotRegular  = errors.New("not a regular file")
	ErrBadName     = errors.New("not a file name")
	ErrNameTooLong = errors.New("the file name is too long")
)

// What a name may hold: more the system does not take either.
const (
	maxName  = 4095 // bytes
	maxLinks = 255  // links that lead on from one name
)

// Resolve finds out what name means, starting from dir, and asks before it
// leads outside the workspace. Links are followed first: a link inside that
// points outside is outside.
func (f *Files) Resolve(ctx context.Context, a Asker, dir, name string) (Path, error) {
	if strings.IndexByte(name, 0) >= 0 {
		return Path{}, fmt.Errorf("%w: %q holds a NUL byte", ErrBadName, name)
	}
	raw := name
	if !filepath.IsAbs(raw) {
		raw = dir + string(filepath.Separator) + name // not Join: links come before dots
	}
	if len(raw) > maxName {
		return Path{}, fmt.Errorf("%w: it has %d bytes, and %d are the most", ErrNameTooLong, len(raw), maxName)
	}
	p := Path{abs: filepath.Clean(raw), real: realName(raw), dir: dir}
	p.shown = p.abs
	from := f.Worktree // also where it is the root: titles are as the reference shows them
	if from == "" {
		from = dir
	}
	if rel, err := filepath.Rel(from, p.abs); err == nil {
		p.shown = rel
	}
	outside := ""
	if !f.inside(dir, p.abs) {
		outside = filepath.Dir(p.abs)
		if err := askOutside(ctx, a, p.abs); err != nil {
			return Path{}, err
		}
	}
	if p.real != p.abs && filepath.Dir(p.real) != outside && !f.insideReal(dir, p.real) {
		if err := askOutside(ctx, a, p.real); err != nil {
			return Path{}, err
		}
	}
	return p, nil
}

// AskRead asks whether the contents of p may be read; see [Files.AskFor].
func (f *Files) AskRead(ctx context.Context, a Asker, p Path) error {
	return f.AskFor(ctx, a, "read", p)
}

// AskFor asks for a permission about p, under the name that was asked for
// and, where links lead elsewhere, under the real name too.
func (f *Files) AskFor(ctx context.Context, a Asker, name string, p Path) error {
	asked := permission.Request{
		Permission: name, Patterns: []string{p.abs}, Always: []string{"*"},
		Forms: map[string][]string{p.abs: below(f.top(p.dir), p.abs)},
	}
	top := realName(f.top(p.dir))
	rel := below(f.top(p.dir), p.abs)
	if p.real != p.abs && rel != nil && filepath.Join(top, rel[0]) == p.real {
		// Only the way to the workspace is spelled otherwise: one thing, two names.
		asked.Forms[p.abs] = append(asked.Forms[p.abs], p.real)
		return a.Ask(ctx, asked)
	}
	if err := a.Ask(ctx, asked); err != nil || p.real == p.abs {
		return err
	}
	return a.Ask(ctx, permission.Request{
		Permission: name, Patterns: []string{p.real}, Always: []string{"*"},
		Forms: map[string][]string{p.real: below(top, p.real)},
	})
}

// below is the name of a file as seen from a folder.
func below(top, file string) []string {
	rel, err := filepath.Rel(top, file)
	if err != nil {
		return nil
	}
	return []string{rel}
}

func askOutside(ctx context.Context, a Asker, target string) error {
	parent := filepath.Dir(target)
	glob := filepath.Join(parent, "*")
	req := permission.Request{
		Permission: "external_directory", Patterns: []string{glob}, Always: []string{glob},
		Metadata: map[string]any{"filepath": target, "parentDir": parent},
	}
	if strings.ContainsAny(parent, "*?") {
		req.Always = nil // as a pattern it would approve other folders than this
	}
	return a.Ask(ctx, req)
}

// top is the folder that names are seen from: the worktree, and where there is
// none the folder of the call.
func (f *Files) top(dir string) string {
	if f.Worktree != "" && !isRoot(f.Worktree) {
		return f.Worktree
	}
	return dir
}

func (f *Files) inside(dir, path string) bool {
	return within(dir, path) || f.Worktree != "" && !isRoot(f.Worktree) && within(f.Worktree, path)
}

func (f *Files) insideReal(dir, path string) bool {
	real := Files{Worktree: f.Worktree}
	if f.Worktree != "" {
		real.Worktree = realName(f.Worktree)
	}
	return real.inside(realName(dir), path)
}

// within compares by whole names, so that /a/bc is not within /a/b.
func within(parent, path string) bool {
	rel, err := filepath.Rel(parent, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// realName follows links as the system would, one part of the name after the
// other. Where a part does not exist the rest is taken as it is written, so
// that the answer is what would be made there. A name that leads in circles
// is left where it began to: opening it fails.
func realName(name string) string {
	real, rest := split(name)
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, part)
		target, err := os.Readlink(next)
		if err != nil { // no link, or nothing at all
			real = next
			continue
		}
		if links++; links > maxLinks {
			return filepath.Join(next, filepath.Join(rest...))
		}
		root, parts := split(target)
		switch {
		case filepath.IsAbs(target):
			real = root
		case target != "" && os.IsPathSeparator(target[0]): // on Windows: of the same volume
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

// Open opens a regular file for reading. Folders, devices, pipes and sockets
// give [ErrNotRegular] and never make it wait. A link that has come into the
// way since p was asked about is not followed.
func (f *Files) Open(p Path) (*os.File, fs.FileInfo, error) {
	file, err := openReal(p.real, os.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		file.Close()
		return nil, info, fmt.Errorf("%s: %w", p, ErrNotRegular)
	}
	return file, info, nil
}

// Similar returns up to most names beside p that contain its name or are
// contained in it, whatever the case.
func (f *Files) Similar(p Path, most int) []string {
	dir := filepath.Dir(p.abs)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	base := strings.ToLower(filepath.Base(p.abs))
	var out []string
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if strings.Contains(name, base) || strings.Contains(base, name) {
			out = append(out, filepath.Join(dir, e.Name()))
			if len(out) == most {
				break
			}
		}
	}
	return out
}
