//go:build unix

package files

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/helve-dev/helve/internal/disk"
)

// dirFlag makes opening anything but a folder fail.
const dirFlag = syscall.O_DIRECTORY

// maxLinkWalk limits the search for the other names of a file.
const maxLinkWalk = 500_000 // entries

// otherNames returns the other names of a file with several hard links in the project. It leaves
// out git folders and installed packages: nobody asks for these by name, and package managers
// create many links.
func (f *Workspace) otherNames(ctx context.Context, p Path, info fs.FileInfo) []string {
	own, ok := info.Sys().(*syscall.Stat_t)
	if !ok || own.Nlink < 2 || info.IsDir() {
		return nil
	}
	w := linkWalk{own: own, skip: p.real, left: maxLinkWalk}
	w.walk(ctx, f.cache.real(f.baseDir(p.dir)))
	return w.found
}

type linkWalk struct {
	own   *syscall.Stat_t
	skip  string
	left  int
	found []string
}

func (w *linkWalk) done(ctx context.Context) bool {
	return w.left <= 0 || len(w.found)+1 >= int(w.own.Nlink) || ctx.Err() != nil
}

func (w *linkWalk) walk(ctx context.Context, dir string) {
	if w.done(ctx) {
		return
	}
	d, err := disk.Open(dir, os.O_RDONLY|dirFlag)
	if err != nil {
		return
	}
	entries, _ := d.ReadDir(-1) // what can be listed is looked at
	d.Close()
	for _, e := range entries {
		w.left--
		if w.done(ctx) {
			return
		}
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			if e.Name() != ".git" && e.Name() != "node_modules" {
				w.walk(ctx, name)
			}
			continue
		}
		if !e.Type().IsRegular() || name == w.skip {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Ino == w.own.Ino && st.Dev == w.own.Dev {
			w.found = append(w.found, name)
		}
	}
}

// An inode identifies a file whatever its names.
type inode struct{ dev, ino uint64 }

func inodeOf(info fs.FileInfo) inode {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}
	}
	return inode{uint64(st.Dev), uint64(st.Ino)}
}

func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
