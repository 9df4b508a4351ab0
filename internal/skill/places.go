package skill

import (
	"os"
	"path/filepath"
	"strings"
)

// A root is a folder below which every SKILL.md counts.
type root struct {
	path   string
	from   string
	holder string // the folder that it belongs to
	trust  string // the folder whose trust it shares
	ours   bool   // it is the user's and not the project's
	named  bool   // named in the config: it is a problem if it is missing
}

// places lists where skills may be, lowest first. Of a folder that is there
// twice the last counts, and it is the user's if it is so once.
func (o Options) places() []root {
	var all []root
	others := func(dir, from string, ours bool) {
		for _, name := range []string{".claude", ".agents"} {
			if o.OthersOff || o.ClaudeOff && name == ".claude" {
				continue
			}
			holder := filepath.Join(dir, name)
			path := filepath.Join(holder, "skills")
			all = append(all, root{path: path, from: from, holder: holder, trust: path, ours: ours})
		}
	}
	for _, dir := range o.above() {
		others(dir, "project", false)
	}
	if o.Home != "" {
		others(o.Home, "home", true)
	}
	for _, f := range o.Folders {
		for _, name := range []string{"skill", "skills"} {
			all = append(all, root{path: filepath.Join(f.Path, name), from: "config", holder: f.Path, trust: f.Path, ours: !f.Guarded})
		}
	}
	for _, path := range o.Paths {
		path = o.absolutePath(path)
		all = append(all, root{path: path, from: "path", holder: path, trust: path, ours: !isWithin(path, o.project()), named: true})
	}
	return lastOf(all)
}

// above returns Dir and the folders above it up to the root of the project,
// nearest first.
func (o Options) above() []string {
	if o.Dir == "" {
		return nil
	}
	dirs := []string{filepath.Clean(o.Dir)}
	if o.Worktree == "" || !isWithin(o.Dir, o.Worktree) {
		return dirs
	}
	top := filepath.Clean(o.Worktree)
	for dir := dirs[0]; dir != top; {
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
		dirs = append(dirs, dir)
	}
	return dirs
}

// project returns the root of the project. If there is none, and the worktree is the whole disk,
// that is Dir.
func (o Options) project() string {
	if top := filepath.Clean(o.Worktree); o.Worktree != "" && filepath.Dir(top) != top && isWithin(o.Dir, top) {
		return top
	}
	return filepath.Clean(o.Dir)
}

// absolutePath makes a path of a config file absolute.
func (o Options) absolutePath(path string) string {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~/"); ok || path == "~" {
		if path == "~" {
			rest = ""
		}
		return filepath.Join(o.Home, filepath.FromSlash(rest))
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Dir, path)
	}
	return filepath.Clean(path)
}

// lastOf keeps the last of each folder.
func lastOf(all []root) []root {
	at := map[string]int{}
	for i, p := range all {
		if j, again := at[p.path]; again {
			all[i].ours = p.ours || all[j].ours
			all[i].named = p.named || all[j].named
			all[j].path = ""
		}
		at[p.path] = i
	}
	out := all[:0]
	for _, p := range all {
		if p.path != "" {
			out = append(out, p)
		}
	}
	return out
}

// isWithin reports whether a path is a folder or lies in it, by its name.
func isWithin(path, dir string) bool {
	path, dir = filepath.Clean(path), filepath.Clean(dir)
	if path == dir {
		return true
	}
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator)
	}
	return strings.HasPrefix(path, dir)
}

// A fence bounds where links of an untrusted project may lead.
type fence struct{ dirs []string } // real paths

// contains reports whether a real path is inside.
func (f *fence) contains(real string) bool {
	if f == nil {
		return true
	}
	for _, dir := range f.dirs {
		if isWithin(real, dir) {
			return true
		}
	}
	return false
}

// newFence is the fence of a place: the project, and the folder that the place
// belongs to, which may be above the project.
func newFence(o Options, p root) *fence {
	f := &fence{}
	if real, err := filepath.EvalSymlinks(o.project()); err == nil && filepath.Dir(real) != real {
		f.dirs = append(f.dirs, real)
	}
	if p.from == "path" {
		return f // it is in the project
	}
	if above, err := filepath.EvalSymlinks(filepath.Dir(p.holder)); err == nil {
		f.dirs = append(f.dirs, filepath.Join(above, filepath.Base(p.holder)))
	}
	return f
}
