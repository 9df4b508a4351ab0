package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// A guardedTarget is the target of a guarded name: of a link, of a repository that is kept
// elsewhere, or a folder of our own.
type guardedTarget struct{ word, to string }

// guards returns the words of which a rule has to contain one to allow writing p, or nil for an
// ordinary file: a rule about everything does not cover files that change what runs later or what
// is allowed later. leads are the guarded targets of the folder that p was named from; made is what
// else is created.
func (f *Workspace) guards(p Path, leads []guardedTarget, made map[string]bool) []string {
	names := []string{p.abs, p.real}
	if p.abs == p.real {
		names = names[:1]
	}
	var words []string
	for _, name := range names {
		var own []string
		if slices.Contains(lowerParts(name), ".git") { // at any depth: a folder below may be opened by itself
			own = append(own, ".git")
		}
		words = append(words, slices.Concat(own, f.protectedWords(p, name), f.configGuards(p.dir, name))...)
		if f.inBare(p.dir, name, made) {
			words = append(words, ".git")
		}
		for _, l := range leads {
			if within(l.to, name) {
				words = append(words, l.word)
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// guardedTargets returns the targets of the guarded names of a folder and of those above it up to
// the worktree, and those of our own folders. It reads these folders, so it is called once per
// request.
func (f *Workspace) guardedTargets(dir string) (out []guardedTarget) {
	top := f.cache.real(f.baseDir(dir))
	for d := f.cache.real(dir); within(top, d); d = filepath.Dir(d) {
		out = f.cache.leadsAt(out, filepath.Join(d, ".git"), ".git")
		for _, to := range f.gitPointers(d) {
			out = append(out, guardedTarget{".git", to})
		}
		for _, n := range f.protected().all {
			if !n.home {
				out = f.cache.leadsAt(out, filepath.Join(d, n.path), n.lastPart())
			}
		}
		if isRoot(d) {
			break
		}
	}
	for _, own := range f.Own {
		word, real := strings.ToLower(filepath.Base(own)), f.cache.real(own)
		out = append(out, guardedTarget{word, own}, guardedTarget{word, real})
		out = f.cache.linksIn(out, guardedTarget{word, real}, 2)
	}
	return out
}

// leadsAt adds the target of a guarded name, and those of the links in it.
func (q *pathCache) leadsAt(out []guardedTarget, at, word string) []guardedTarget {
	for _, to := range q.targetsOf(at) {
		if to != at {
			out = append(out, guardedTarget{word, to})
		}
		out = q.linksIn(out, guardedTarget{word, to}, 2)
	}
	return out
}

// targetsOf returns the targets of a guarded name. A repository may consist of several folders.
func (q *pathCache) targetsOf(name string) []string {
	out := []string{q.real(name)}
	if filepath.Base(name) != ".git" {
		return out
	}
	for _, r := range q.gitHomes(name) {
		if to := q.real(r.name); !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return out
}

// linksIn adds the targets of the links in a guarded folder and below. It reads only the first
// entries.
func (q *pathCache) linksIn(out []guardedTarget, in guardedTarget, depth int) []guardedTarget {
	const most = 200
	if info := q.lookUp(in.to).info; info == nil || !info.IsDir() {
		return out
	}
	d, err := disk.Open(in.to, os.O_RDONLY|dirFlag)
	if err != nil {
		return out
	}
	entries, _ := d.ReadDir(most) // what is there is looked at
	d.Close()
	for _, e := range entries {
		at := filepath.Join(in.to, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			out = append(out, guardedTarget{in.word, q.real(at)})
		case e.IsDir() && depth > 1 && e.Name() != "objects" && e.Name() != "node_modules":
			out = q.linksIn(out, guardedTarget{in.word, at}, depth-1)
		}
	}
	return out
}

// configGuards guards helve's own config files: those that are read for a session in dir, in it and
// in the folders above it up to the worktree.
func (f *Workspace) configGuards(dir, name string) []string {
	for _, base := range []string{dir, f.cache.real(dir)} {
		top := f.baseDir(dir)
		if base != dir {
			top = f.cache.real(top)
		}
		for d := base; within(top, d); d = filepath.Dir(d) {
			rel, err := filepath.Rel(d, name)
			if err != nil {
				break
			}
			parts := lowerParts(rel)
			for _, n := range f.protected().all {
				if word, ok := n.covers(parts, false); ok && n.above {
					return []string{word}
				}
			}
			if isRoot(d) {
				break
			}
		}
	}
	return nil
}
