package bundle

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// A reach is where files may be read from. The compiler follows symbolic
// links, so all of it is real paths.
type reach struct {
	folders []string
	files   map[string]bool
	root    string
	homes   []string // config folders among the folders
}

// newReach gives the root, the folders beside it, the installed packages up
// the tree and the files themselves, wherever they are linked to. A file whose
// link leads to one of the same relative name (a folder of settings that is
// linked into place file by file) brings the folder it really is in.
func newReach(o Options) reach {
	r := reach{files: map[string]bool{}, root: o.Root}
	for _, path := range append([]string{o.Root}, o.Also...) {
		r.add(path)
	}
	r.homes = append(r.homes, r.folders[:min(1, len(r.folders))]...)
	for dir := o.Root; ; dir = filepath.Dir(dir) {
		r.add(filepath.Join(dir, "node_modules"))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, f := range o.Files {
		f = filepath.FromSlash(f)
		real, err := filepath.EvalSymlinks(filepath.Join(o.Root, f))
		if err != nil {
			continue
		}
		r.files[real] = true
		if home, ok := strings.CutSuffix(real, string(filepath.Separator)+f); ok && home != "" {
			r.add(home)
			r.homes = append(r.homes, home)
		}
	}
	return r
}

// errUntrusted is why some files of a config folder cannot be imported: they were not shown when
// the folder was trusted, or they change during work.
var errUntrusted = errors.New("may not be imported: it is not part of what is trusted")

// trusted reports whether a file at a real path is one that is trusted
// together with its config folder, if it is in one.
func (r *reach) trusted(path string) bool {
	for _, home := range r.homes {
		rest, ok := strings.CutPrefix(path, strings.TrimSuffix(home, string(filepath.Separator))+string(filepath.Separator))
		if !ok {
			continue
		}
		first, _, _ := strings.Cut(strings.ToLower(filepath.ToSlash(rest)), "/")
		switch {
		case first == "plans", first == ".git", strings.EqualFold(filepath.Ext(path), ".log") && first != "node_modules":
			return false
		}
	}
	return true
}

func (r *reach) add(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	if st, err := os.Stat(real); err == nil && !st.IsDir() {
		r.files[real] = true
		return
	}
	r.folders = append(r.folders, real)
}

// mayRead reports whether the file at a real path may be read.
func (r *reach) mayRead(path string) bool {
	if r.files[path] {
		return true
	}
	for _, dir := range r.folders {
		if path != dir && disk.Within(dir, path) {
			return true
		}
	}
	return false
}

// settings refuses a root whose settings are not files: the compiler reads
// them itself, and a pipe would keep it waiting, a device feed it forever.
func (r *reach) settings(files []string) error {
	seen := map[string]bool{}
	for _, f := range append([]string{"package.json"}, files...) {
		for dir := filepath.Dir(filepath.Join(r.root, filepath.FromSlash(f))); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			if err := regular(filepath.Join(dir, "package.json")); err != nil {
				return err
			}
			if err := regularChain(filepath.Join(dir, "tsconfig.json"), seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// regularChain is regular for a tsconfig and those it extends by path.
func regularChain(path string, seen map[string]bool) error {
	if seen[path] {
		return nil
	}
	seen[path] = true
	if err := regular(path); err != nil {
		return err
	}
	src := readSource(path, 4<<20)
	if src.err != nil {
		return nil // the compiler says so, if it comes to read it
	}
	for _, base := range extended(src.raw) {
		if !isRelative(base) {
			continue
		}
		target := filepath.FromSlash(base)
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		for _, p := range []string{target, target + ".json"} {
			if err := regularChain(p, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
