package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A gitHome is a folder that git reads settings from, by the path that git uses: links in it stay,
// because they could lead elsewhere next time. names are the settings that count in it; nil means
// all.
type gitHome struct {
	name     string
	settings []string
}

// gitHomes returns where git reads its settings if it finds a .git: in it, in the folder that a
// file of that name points to, and in the one that a commondir in these points to, which then holds
// nearly all of them.
func (q *pathCache) gitHomes(git string) (out []gitHome) {
	if q.lookUp(q.real(git)).gone { // nothing, or a link that leads nowhere
		return []gitHome{{name: git}}
	}
	for _, name := range q.gitFolders(git) {
		common, ok := readGitFile(filepath.Join(name, "commondir"), "")
		switch kept := filepath.Dir(name); {
		case ok:
			common = q.joinLinked(name, common)
		case filepath.Base(kept) == "worktrees":
			common = filepath.Dir(kept)
		default:
			out = append(out, gitHome{name: name})
			continue
		}
		out = append(out, gitHome{name: common})
		if q.real(common) != q.real(name) {
			out = append(out, gitHome{name, []string{"commondir", "config.worktree"}})
		}
	}
	return out
}

// gitFolders returns the folders that a .git may mean: itself, or what it points to if it is a
// file. If that is reached by a link, git starts from the link's own name; the other is returned
// too.
func (q *pathCache) gitFolders(git string) (out []string) {
	real := q.real(git)
	to, ok := readGitFile(real, "gitdir:")
	if !ok {
		return []string{git}
	}
	for _, from := range []string{git, real} {
		if name := q.joinLinked(filepath.Dir(from), to); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// readGitFile returns the text after a keyword in a small git file.
func readGitFile(name, word string) (string, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<16 {
		return "", false
	}
	data, err := os.ReadFile(name)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), word)
	to = strings.TrimSpace(to)
	return to, err == nil && ok && to != ""
}

// joinLinked returns a name relative to a folder with its links unresolved. Where ".." leaves a
// link again, the result is what the system finds.
func (q *pathCache) joinLinked(dir, name string) string {
	if filepath.IsAbs(name) {
		dir = ""
	}
	written := dir + string(filepath.Separator) + name
	if short := filepath.Clean(written); q.real(short) == q.real(written) {
		return short
	}
	return q.real(written)
}

// linkedHooks returns the hooks of a repository that are links: their targets are run too. It reads
// only the first entries.
func linkedHooks(git string) (out []string) {
	const most = 200
	hooks := filepath.Join(git, "hooks")
	d, err := os.Open(hooks)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }() // it was only read
	entries, _ := d.ReadDir(most)    // what is there is looked at
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			out = append(out, filepath.Join(hooks, e.Name()))
		}
	}
	return out
}
