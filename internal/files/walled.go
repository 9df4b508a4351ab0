package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Protected returns the files and folders that change what runs, or what is
// allowed, later: those that [Workspace.AskEdit] lets nobody write to without a
// rule that names them, as far as they are known in advance. Of a repository
// these are the files that make git run programs, since the rest has to change
// with every commit. Of the home folder they are those in writable folders.
// Some may not exist.
func (f *Workspace) Protected(dir string, writable ...string) []string {
	var out []string
	// If a name is a link, both the link and its target are protected: the link could be replaced
	// by another, or by a file.
	add := func(path string) {
		names := []string{path, f.cache.real(path)}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			names = names[:1]
		}
		for _, name := range names {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	top := f.cache.real(f.baseDir(dir))
	for d := f.cache.real(dir); within(top, d); d = filepath.Dir(d) {
		at := filepath.Join(d, ".git")
		for _, git := range f.cache.gitHomes(at) {
			if git.settings == nil {
				git.settings = append(gitSettings(), "remotes", "branches") // the last two name repositories to push to, with hooks of theirs
			}
			for _, base := range git.settings {
				add(filepath.Join(git.name, base))
			}
			for _, path := range slices.Concat(gitConfigs(git.name), linkedHooks(git.name)) {
				add(path)
			}
		}
		if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() {
			add(at) // it points to the repository, and another one would have other hooks
		}
		for _, pointed := range f.gitPointers(d) {
			add(pointed)
		}
		for _, n := range f.protected().all {
			if path := filepath.Join(d, n.path); !n.home && (n.hold || exists(path)) {
				add(path)
			}
		}
		for _, ending := range f.protected().endings {
			found, _ := filepath.Glob(filepath.Join(globQuoted(d), "*"+ending)) // the pattern is ours, and right
			for _, path := range found {
				add(path)
			}
		}
		for _, base := range notBare(d) {
			add(filepath.Join(d, base))
		}
		if isRoot(d) {
			break
		}
	}
	for _, own := range f.Own {
		add(own)
	}
	f.protectedAtHome(append([]string{dir, top}, writable...), add)
	return out
}

// protectedAtHome adds the protected names in the home folder, as far as they are writable.
func (f *Workspace) protectedAtHome(writable []string, add func(path string)) {
	home := f.cache.real(f.homeDir())
	if isRoot(home) {
		return
	}
	for i, w := range writable {
		if rest, ok := strings.CutPrefix(w, "~/"); ok {
			writable[i] = filepath.Join(home, rest)
		}
	}
	for _, n := range f.protected().all {
		path := filepath.Join(home, n.path)
		if n.above || !exists(path) {
			continue
		}
		open := slices.ContainsFunc(writable, func(w string) bool { return within(f.cache.real(w), path) && !within(path, f.cache.real(w)) })
		if open {
			add(path)
		}
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// Names returns a function that returns the names of a file for the rules about reading, as seen by
// a call in dir.
func (f *Workspace) Names(dir string) func(file string) []string {
	top, real := f.baseDir(dir), f.cache.real(f.baseDir(dir))
	if real == top {
		return func(file string) []string { return []string{file, relativeTo(top, file)} }
	}
	return func(file string) []string { return []string{file, relativeTo(top, file), relativeTo(real, file)} }
}

// gitSettings are the names in a repository that decide what git runs there. A commondir points to
// another folder for all of them.
func gitSettings() []string { return []string{"hooks", "config", "config.worktree", "commondir"} }

// gitConfigs returns the other places of a repository from which git takes programs to run: those
// of its worktrees and submodules.
func gitConfigs(git string) (out []string) {
	const most = 400
	find := func(pattern string, bases ...string) {
		found, _ := filepath.Glob(filepath.Join(globQuoted(git), filepath.FromSlash(pattern))) // the pattern is ours, and right
		for _, path := range found {
			for _, base := range bases {
				out = append(out, filepath.Join(path, base))
			}
		}
	}
	find("worktrees/*", "commondir", "config.worktree")
	for _, pattern := range []string{"modules/*/config", "modules/*/*/config", "modules/*/modules/*/config"} {
		for _, base := range gitSettings() {
			find(pattern, filepath.Join("..", base))
		}
	}
	return out[:min(len(out), most)]
}

// notBare returns names that keep git from taking a folder itself for a repository. It would do so
// if the .git in it were damaged and the folder held a HEAD, objects and refs, or a HEAD and a
// commondir that points to them. HEAD comes last: git could no longer tell the file from the
// commit.
func notBare(dir string) []string {
	if vacant(filepath.Join(dir, "commondir")) {
		for _, base := range []string{"refs", "objects"} {
			if vacant(filepath.Join(dir, base)) {
				return []string{"commondir", base}
			}
		}
	}
	if vacant(filepath.Join(dir, "HEAD")) {
		return []string{"HEAD"}
	}
	return nil
}

// vacant reports whether a name is missing or an empty folder, which may be there as a placeholder.
func vacant(name string) bool {
	entries, err := os.ReadDir(name)
	if err != nil {
		_, err = os.Lstat(name)
		return errors.Is(err, os.ErrNotExist)
	}
	return len(entries) == 0
}

// globQuoted returns a pattern that matches exactly the name.
func globQuoted(name string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(name)
}
