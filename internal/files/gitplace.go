package files

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// gitNames are the names that git looks for in a folder to recognize a repository.
func gitNames() []string {
	return []string{"head", "config", "config.worktree", "commondir", "hooks", "objects", "refs", "info", "packed-refs", "index", "worktrees", "modules"}
}

// madeBy returns the names that changing some files creates, and the folders around them, in lower
// case. It is nil if none of them matters to git.
func madeBy(paths []Path) map[string]bool {
	var made map[string]bool
	for _, p := range paths {
		for _, name := range []string{p.abs, p.real} {
			if !slices.ContainsFunc(lowerParts(name), func(part string) bool { return slices.Contains(gitNames(), part) }) {
				continue
			}
			if made == nil {
				made = map[string]bool{}
			}
			for d := strings.ToLower(name); !made[d]; d = filepath.Dir(d) {
				made[d] = true
			}
		}
	}
	return made
}

// inBare reports whether a name matters to git in a folder that is a repository by itself: it has a
// HEAD, objects and refs, or will have them with what is created. Only folders below the top of the
// workspace count.
func (f *Workspace) inBare(dir, name string, made map[string]bool) bool {
	top := f.cache.real(f.baseDir(dir))
	if within(f.baseDir(dir), name) {
		top = f.baseDir(dir)
	}
	inside := within(top, name)
	for at := name; !isRoot(at); at = filepath.Dir(at) {
		d := filepath.Dir(at)
		if inside && !within(top, d) {
			return false
		}
		if slices.Contains(gitNames(), strings.ToLower(filepath.Base(at))) && f.cache.isBareRepository(d, made) {
			return true
		}
	}
	return false
}

// isBareRepository reports whether git takes a folder for a repository by itself.
func (q *pathCache) isBareRepository(d string, made map[string]bool) bool {
	has := func(base string) bool {
		name := filepath.Join(d, base)
		return made[strings.ToLower(name)] || q.lookUp(name).info != nil
	}
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

// GitReads returns where git would read settings that a tool may have written, if it is started in
// the folder at, or told that at is the repository. It returns "" if git finds the repository of
// the session's folder, whose settings are protected, one within that, or none. made reports what
// else will exist by then. A missing folder may be anything by then.
func (f *Workspace) GitReads(dir, at string, named bool, made func(name string) bool) string {
	q := f.cache
	real, session := q.real(at), q.real(dir)
	if named {
		if f.ownGit(session, real) && !made(real) {
			return ""
		}
		return real
	}
	if !within(real, session) && q.lookUp(real).info == nil {
		return real
	}
	for d := real; ; d = filepath.Dir(d) {
		git := filepath.Join(d, ".git")
		switch {
		case made(git):
			return git
		case q.lookUp(git).info == nil:
		case within(d, session):
			return f.foreignLinks(session, d)
		case f.ownGit(session, git):
			return ""
		default:
			return git
		}
		makes := made(filepath.Join(d, "HEAD")) || made(filepath.Join(d, "commondir")) || made(filepath.Join(d, "refs")) || made(filepath.Join(d, "objects"))
		if (makes || q.isBareRepository(d, nil)) && !f.ownGit(session, d) {
			return d
		}
		if isRoot(d) {
			return ""
		}
	}
}

// GitServes is [Workspace.GitReads] for a repository that git connects to, which may be named
// without the .git at its end.
func (f *Workspace) GitServes(dir, at string, made func(name string) bool) string {
	for _, name := range []string{filepath.Join(at, ".git"), at, at + ".git", filepath.Join(at+".git", ".git")} {
		real := f.cache.real(name)
		info := f.cache.lookUp(real).info
		known := info != nil && (filepath.Base(name) == ".git" || f.cache.isBareRepository(real, nil))
		if known || made(real) || made(filepath.Join(real, "HEAD")) {
			return f.GitReads(dir, real, true, made)
		}
	}
	return ""
}

// ownGit reports whether a repository is that of the session, or within it: a linked worktree, a
// submodule.
func (f *Workspace) ownGit(session, git string) bool {
	var own []string
	for d := session; ; d = filepath.Dir(d) {
		if at := filepath.Join(d, ".git"); f.cache.lookUp(at).info != nil {
			own = append(own, f.cache.real(at))
			for _, home := range f.cache.gitHomes(at) {
				own = append(own, f.cache.real(home.name))
			}
			break
		}
		if isRoot(d) {
			return false
		}
	}
	homes := []string{git}
	if f.cache.lookUp(git).info != nil {
		for _, home := range f.cache.gitHomes(git) {
			homes = append(homes, home.name)
		}
		if len(homes) > 1 {
			homes = homes[1:] // a file only points to them
		}
	}
	return !slices.ContainsFunc(homes, func(home string) bool {
		real := f.cache.real(home)
		return !slices.ContainsFunc(own, func(o string) bool { return within(o, real) })
	})
}

// foreignLinks returns a repository that git enters as a submodule of the one at top, but that is
// not kept within it.
func (f *Workspace) foreignLinks(session, top string) string {
	for _, git := range f.cache.gitFolders(filepath.Join(top, ".git")) {
		data, err := os.ReadFile(filepath.Join(git, "index"))
		if err != nil || len(data) > maxIndex || !bytes.Contains(data, []byte{0, 0, 0xe0, 0}) { // the mode of a submodule
			continue
		}
		x, err := readIndex(data)
		if err != nil {
			continue
		}
		for e := range x.entries() {
			if e.mode&gitTypeMask != gitSubmodule {
				continue
			}
			sub := f.cache.real(filepath.Join(top, filepath.FromSlash(e.name), ".git"))
			if f.cache.lookUp(sub).info != nil && !f.ownGit(session, sub) {
				return sub
			}
		}
	}
	return ""
}

// gitPointers returns the files and folders that the settings of a repository, and the person's
// own, point git to in a worktree or the home folder: other settings, hooks, and programs that it
// runs.
func (f *Workspace) gitPointers(d string) []string {
	git := filepath.Join(d, ".git")
	if f.cache.lookUp(git).info == nil {
		return nil
	}
	home := f.homeDir()
	r := gitConfigReader{top: d, home: home}
	for _, h := range f.cache.gitHomes(git) {
		r.readConfig(filepath.Join(h.name, "config"), 0)
		r.readConfig(filepath.Join(h.name, "config.worktree"), 0)
	}
	if home != "" {
		r.readConfig(filepath.Join(home, ".gitconfig"), 0)
		r.readConfig(filepath.Join(home, ".config", "git", "config"), 0)
	}
	return slices.DeleteFunc(r.found, func(name string) bool {
		return within(git, name) || !within(d, name) && (home == "" || !within(home, name)) || name == d || name == home
	})
}

// A gitConfigReader collects the paths in settings.
type gitConfigReader struct {
	top, home string
	found     []string
	files     int
}

func (r *gitConfigReader) readConfig(name string, depth int) {
	const most = 50
	if r.files++; depth > 10 || r.files > most {
		return
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return
	}
	gitConfigValues(string(data), func(section, key, value string) {
		switch {
		case (section == "include" || section == "includeif") && key == "path":
			path := r.expandPath(filepath.Dir(name), value)
			r.found = append(r.found, path)
			r.readConfig(path, depth+1)
		case key == "hookspath":
			r.found = append(r.found, r.expandPath(r.top, value))
		case runsProgram(section, key):
			for _, word := range strings.Fields(value) {
				word = strings.Trim(word, `!"';`)
				if path := r.expandPath(r.top, word); strings.Contains(word, "/") && exists(path) {
					r.found = append(r.found, path)
				}
			}
		}
	})
}

// expandPath is a name in the settings, as seen from a folder.
func (r *gitConfigReader) expandPath(from, name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(r.home, rest)
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(from, name)
}

// runsProgram reports whether the value of a setting is a command.
func runsProgram(section, key string) bool {
	switch section {
	case "alias", "pager", "hook":
		return true
	}
	switch key {
	case "fsmonitor", "sshcommand", "pager", "editor", "askpass", "gitproxy", "alternaterefscommand", "external", "command", "textconv",
		"driver", "clean", "smudge", "process", "cmd", "program", "helper", "difffilter", "uploadpack", "receivepack", "update",
		"packobjectshook", "defaultkeycommand", "tocmd", "cccmd", "sendmailcmd":
		return true
	}
	return false
}
