//go:build unix

package custom

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/disk"
)

const (
	// mostStowed is how many names of a config folder are looked at for links.
	mostStowed = 10_000
	// mostLinks is how many links a path may lead through, as in the kernel.
	mostLinks = 40
)

// stowed returns the files and folders that links in a user's own config folder lead to, if the
// user owns each link and its target: settings that are stored elsewhere and linked into place, as
// whole folders or file by file. Imports may lead there too. The folder of a project adds no
// others.
func (u *unit) stowed(root string) (paths []string) {
	if src, folder := u.source.(*folderSource); !folder || !src.own {
		return nil
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil
	}
	left := mostStowed
	var look func(dir string, packages bool)
	look = func(dir string, packages bool) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			if left--; left < 0 {
				return
			}
			path := filepath.Join(dir, e.Name())
			switch {
			case e.Type()&fs.ModeSymlink != 0:
				real, out, own := follow(dir, e.Name())
				if !out || !own || disk.Within(root, real) || slices.Contains(paths, real) {
					continue
				}
				paths = append(paths, real)
				look(real, false)
			case !e.IsDir() || e.Name() == ".git":
			case !packages || strings.HasPrefix(e.Name(), "@"): // of packages that are installed only those that are links
				look(path, packages || e.Name() == "node_modules")
			}
		}
	}
	look(root, false)
	return paths
}

// follow resolves a name in a folder. out reports whether the target is outside of the folder, and
// own whether the user, or the system's administrator, owns the target and every link on the way.
func follow(root, name string) (real string, out, own bool) {
	at, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", false, false
	}
	home, own := at, true
	rest := strings.Split(filepath.ToSlash(name), "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		path := filepath.Join(at, part)
		info, err := os.Lstat(path)
		if err != nil {
			return "", false, false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = path
			continue
		}
		target, err := os.Readlink(path)
		if links++; err != nil || links > mostLinks {
			return "", false, false
		}
		own = own && ours(info)
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	info, err := os.Lstat(at)
	return at, !disk.Within(home, at), err == nil && own && ours(info)
}

// ours reports whether the user owns a file, or root, who may change all of the user's files
// anyway.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(st.Uid) == os.Geteuid() || st.Uid == 0)
}

// strange says why a linked file of a user's own config folder is not followed; "" if it may be.
func strange(root, name string) string {
	real, out, own := follow(root, name)
	if !out || own {
		return ""
	}
	return "it is linked to " + real + ", and the link or the file belongs to somebody else: helve follows only links of yours to files of yours. Copy the file"
}
