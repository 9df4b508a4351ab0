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

// Open opens a regular file for reading. Folders, devices, pipes and sockets give
// [disk.ErrNotRegular] and never block. A link that was created since p was resolved is not
// followed.
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

// OpenRead asks for permission to read p, together with what a batch has collected before, and
// opens it. If a file has other names in the project, it asks for these too: a file denied under
// one name cannot be read under another.
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

// AskContents asks for permission to read p under every name that it has in the project.
func (f *Workspace) AskContents(ctx context.Context, a Asker, p Path) error {
	asks := permission.NewBatch(a)
	_ = f.AskRead(ctx, asks, p) // it only adds to the batch
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

// Parent returns the folder of a file, by the file's own name. What else is in it has not been
// asked about.
func (f *Workspace) Parent(p Path) Path {
	abs := filepath.Dir(p.abs)
	return Path{abs: abs, real: filepath.Dir(p.real), shown: f.relativeTitle(p.dir, abs), dir: p.dir}
}

// IsLink reports whether the requested name is itself a link.
func (f *Workspace) IsLink(p Path) bool {
	info, err := os.Lstat(p.abs)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// Near returns the names in p's folder that contain its name or are contained in it, ignoring case,
// sorted.
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

// Beside returns the path of another absolute name for the same caller, for files that a tool
// mentions on its own. Ask [Workspace.MayRead] before it is used.
func (f *Workspace) Beside(p Path, name string) Path {
	return Path{abs: name, real: f.cache.real(name), shown: f.relativeTitle(p.dir, name), dir: p.dir}
}

// Inside reports whether p lies in the workspace, under both its names.
func (f *Workspace) Inside(p Path) bool {
	return f.isInside(p.dir, p.abs) && (p.real == p.abs || f.insideReal(p.dir, p.real))
}
