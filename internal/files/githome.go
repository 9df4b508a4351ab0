package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A gitHome is a folder that git takes settings from, by the name that git
// comes by: links on the way are still in it, as they could lead elsewhere next
// time. The settings that count in it are named; nil means all.
type gitHome struct {
	name     string
	settings []string
}

// gitHomes finds where git takes its settings from if it finds a .git: in
// it, in the folder that a file of that name tells of, and in the one that a
// commondir in these tells of, which then has nearly all of them.
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

// gitFolders are the folders that a .git may mean: itself, or what it tells of
// if it is a file. Where that is reached by a link, git starts from the name
// that it has; the other is looked at too.
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

// readGitFile is what a small file of git's says behind a word.
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

// joinLinked is a name as seen from a folder, with the links on the way still in it.
// Where one of them is left again by "..", the name is what the system finds.
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

// linkedHooks are the hooks of a repository that are links: what they lead to
// is run as well as what lies there. It looks at the first entries only.
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
