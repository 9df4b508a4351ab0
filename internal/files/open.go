package files

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/permission"
)

// Open opens a regular file for reading. Folders, devices, pipes and sockets
// give [disk.ErrNotRegular] and never make it wait. A link that has come into the
// way since p was asked about is not followed.
func (f *Workspace) Open(p Path) (*os.File, fs.FileInfo, error) {
	file, err := disk.Open(p.real, os.O_RDONLY|syscall.O_NONBLOCK)
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
		return nil, info, fmt.Errorf("%s: %w", p, disk.ErrNotRegular)
	}
	return file, info, nil
}

// OpenRead asks whether p may be read, with all that a gathering has noted
// before, and opens it. A file that has other
// names in the project is asked about under these too: what is denied under
// one name is not read under another.
func (f *Workspace) OpenRead(ctx context.Context, a Asker, p Path) (*os.File, fs.FileInfo, error) {
	asks := permission.NewBatch(a)
	if err := f.AskContents(ctx, asks, p); err != nil {
		return nil, nil, err
	}
	if err := asks.Submit(ctx); err != nil {
		return nil, nil, err
	}
	file, info, err := f.Open(p)
	if err != nil {
		return nil, info, err
	}
	err = f.askOtherNames(ctx, asks, p, info) // it may be another file by now
	if err == nil {
		err = asks.Submit(ctx)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// AskContents asks whether what p holds may be read, under every name that it
// has in the project.
func (f *Workspace) AskContents(ctx context.Context, a Asker, p Path) error {
	asks := permission.NewBatch(a)
	_ = f.AskRead(ctx, asks, p) // it only notes
	if info := f.cache.lookUp(p.real).info; info != nil {
		if err := f.askOtherNames(ctx, asks, p, info); err != nil {
			return err
		}
	}
	if a == permission.Asker(asks) {
		return nil // who gathers goes on
	}
	return asks.Submit(ctx)
}

func (f *Workspace) askOtherNames(ctx context.Context, a Asker, p Path, info fs.FileInfo) error {
	for _, name := range f.otherNames(ctx, p, info) {
		req := permission.Request{
			Permission: "read", Patterns: []string{name}, Always: []string{"*"},
			Forms: map[string][]string{name: relativeNames(f.cache.real(f.baseDir(p.dir)), name)},
		}
		if err := a.Ask(ctx, req); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// List returns the entries of a folder, sorted by name.
func (f *Workspace) List(p Path) ([]fs.DirEntry, error) {
	dir, err := disk.Open(p.real, os.O_RDONLY|syscall.O_NONBLOCK|dirFlag)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// IsFolder reports whether p is a folder.
func (f *Workspace) IsFolder(p Path) bool {
	info := f.cache.lookUp(p.real).info
	return info != nil && info.IsDir()
}

// Exists reports whether there is anything by that name.
func (f *Workspace) Exists(p Path) bool {
	return f.cache.lookUp(p.real).info != nil
}

// Parent is the folder that a file is in, as its own name leads there. What
// else is in it has not been asked about.
func (f *Workspace) Parent(p Path) Path {
	abs := filepath.Dir(p.abs)
	return Path{abs: abs, real: filepath.Dir(p.real), shown: f.relativeTitle(p.dir, abs), dir: p.dir}
}

// IsLink reports whether the name that was asked for is itself a link.
func (f *Workspace) IsLink(p Path) bool {
	info, err := os.Lstat(p.abs)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// Near returns the names beside p that contain its name or are contained in
// it, whatever the case, sorted.
func (f *Workspace) Near(p Path) []Path {
	parent := Path{abs: filepath.Dir(p.abs), real: filepath.Dir(p.real), dir: p.dir}
	entries, err := f.List(parent)
	if err != nil {
		return nil
	}
	base := strings.ToLower(filepath.Base(p.abs))
	var out []Path
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if strings.Contains(name, base) || strings.Contains(base, name) {
			out = append(out, f.Beside(p, filepath.Join(parent.abs, e.Name())))
		}
	}
	return out
}

// Beside makes the path of an absolute name as seen by the asker of p, for what a tool mentions by itself
// beside what it was asked for. Ask [Files.MayRead] before it is used.
func (f *Workspace) Beside(p Path, name string) Path {
	return Path{abs: name, real: f.cache.real(name), shown: f.relativeTitle(p.dir, name), dir: p.dir}
}

// Inside reports whether p lies in the workspace, by both its names.
func (f *Workspace) Inside(p Path) bool {
	return f.isInside(p.dir, p.abs) && (p.real == p.abs || f.insideReal(p.dir, p.real))
}
