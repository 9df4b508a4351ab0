package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"helve/internal/disk"
)

// guards returns the words of which a rule has to hold one to let p be
// written: a file that changes what runs later, or what is allowed later, is
// not covered by a rule about everything. nil for an ordinary file.
func (f *Files) guards(p Path) []string {
	var words []string
	for _, name := range []string{p.abs, p.real} {
		words = append(words, f.guardsOf(p.dir, name)...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func (f *Files) guardsOf(dir, name string) []string {
	var words []string
	parts := strings.Split(strings.ToLower(filepath.ToSlash(name)), "/")
	for i, part := range parts {
		switch part {
		case ".git", ".vscode": // at any depth: a folder below may be opened by itself
			words = append(words, part)
		case ".mcp.json", ".envrc":
			if i == len(parts)-1 {
				words = append(words, part)
			}
		}
	}
	words = append(words, f.linkedGuards(dir, name)...)
	for _, own := range f.Own {
		if within(own, name) || within(realName(own), name) || leadsFrom(realName(own), name, 2) {
			words = append(words, strings.ToLower(filepath.Base(own)))
		}
	}
	return append(words, f.configGuards(dir, name)...)
}

// linkedGuards guards what a guarded name of the working folder or of one
// above it leads to: a link, or a repository that is kept elsewhere.
func (f *Files) linkedGuards(dir, name string) (words []string) {
	top := realName(f.top(dir))
	for d := realName(dir); within(top, d); d = filepath.Dir(d) {
		for _, base := range []string{
			".git", ".vscode", ".mcp.json", ".envrc", ".opencode", ".helve",
			"opencode.json", "opencode.jsonc", "helve.json", "helve.jsonc",
		} {
			at := filepath.Join(d, base)
			leads := realName(at)
			if base == ".git" {
				leads = keptAt(leads)
			}
			if leads != at && within(leads, name) || leadsFrom(leads, name, 2) {
				words = append(words, base)
			}
		}
		if isRoot(d) {
			break
		}
	}
	return words
}

// keptAt is the folder of a repository whose .git is a file that names it.
func keptAt(git string) string {
	info, err := os.Lstat(git)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<16 {
		return git
	}
	data, err := os.ReadFile(git)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if err != nil || !ok {
		return git
	}
	to = strings.TrimSpace(to)
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(git), to)
	}
	to = realName(to)
	if kept := filepath.Dir(to); filepath.Base(kept) == "worktrees" {
		return filepath.Dir(kept) // what all worktrees share, hooks and config
	}
	return to
}

// leadsFrom reports whether a link in a guarded folder, or in one below it,
// leads to a name or above it. It looks at the first entries only.
func leadsFrom(dir, name string, depth int) bool {
	const most = 200
	d, err := disk.Open(dir, os.O_RDONLY|dirFlag)
	if err != nil {
		return false
	}
	entries, _ := d.ReadDir(most) // what is there is looked at
	d.Close()
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			if within(realName(at), name) {
				return true
			}
		case e.IsDir() && depth > 1 && e.Name() != "objects" && e.Name() != "node_modules":
			if leadsFrom(at, name, depth-1) {
				return true
			}
		}
	}
	return false
}

// configGuards guards what configures us: the config files and folders that
// are read for a session in dir, which lie in it and in the folders above it
// up to the worktree.
func (f *Files) configGuards(dir, name string) []string {
	for _, base := range []string{dir, realName(dir)} {
		top := f.top(dir)
		if base != dir {
			top = realName(top)
		}
		for d := base; within(top, d); d = filepath.Dir(d) {
			rel, err := filepath.Rel(d, name)
			if err != nil {
				break
			}
			first, _, below := strings.Cut(strings.ToLower(filepath.ToSlash(rel)), "/")
			for _, brand := range []string{"opencode", "helve"} {
				file := first == brand+".json" || first == brand+".jsonc"
				if file && !below || first == "."+brand {
					return []string{first}
				}
			}
			if isRoot(d) {
				break
			}
		}
	}
	return nil
}
