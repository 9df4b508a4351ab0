package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// A lead is what a guarded name leads to: a link, a repository that is kept
// elsewhere, or a folder of our own.
type lead struct{ word, to string }

// guards returns the words of which a rule has to hold one to let p be
// written: a file that changes what runs later, or what is allowed later, is
// not covered by a rule about everything. nil for an ordinary file. leads are
// those of the folder that p was named from, made is what else is made.
func (f *Workspace) guards(p Path, leads []lead, made map[string]bool) []string {
	names := []string{p.abs, p.real}
	if p.abs == p.real {
		names = names[:1]
	}
	var words []string
	for _, name := range names {
		words = append(words, f.guardsOf(p, name)...)
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

func (f *Workspace) guardsOf(p Path, name string) []string {
	var words []string
	if slices.Contains(lowerParts(name), ".git") { // at any depth: a folder below may be opened by itself
		words = append(words, ".git")
	}
	return slices.Concat(words, f.listed(p, name), f.configGuards(p.dir, name))
}

// leads finds what the guarded names of a folder, and of those above it up to
// the worktree, lead to, and what our own folders do. It reads these folders,
// so it is done once for a request.
func (f *Workspace) leads(dir string) (out []lead) {
	top := f.inquiry.real(f.top(dir))
	for d := f.inquiry.real(dir); within(top, d); d = filepath.Dir(d) {
		out = f.inquiry.leadsAt(out, filepath.Join(d, ".git"), ".git")
		for _, to := range f.gitPointers(d) {
			out = append(out, lead{".git", to})
		}
		for _, n := range f.protected().all {
			if !n.home {
				out = f.inquiry.leadsAt(out, filepath.Join(d, n.path), n.word())
			}
		}
		if isRoot(d) {
			break
		}
	}
	for _, own := range f.Own {
		word, real := strings.ToLower(filepath.Base(own)), f.inquiry.real(own)
		out = append(out, lead{word, own}, lead{word, real})
		out = f.inquiry.linksIn(out, lead{word, real}, 2)
	}
	return out
}

// leadsAt adds what a guarded name leads to, and the links in it.
func (q *inquiry) leadsAt(out []lead, at, word string) []lead {
	for _, to := range q.ends(at) {
		if to != at {
			out = append(out, lead{word, to})
		}
		out = q.linksIn(out, lead{word, to}, 2)
	}
	return out
}

// ends is what a guarded name leads to. A repository may lie in several folders.
func (q *inquiry) ends(name string) []string {
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

// linksIn adds what the links in a guarded folder, and in those below it,
// lead to. It looks at the first entries only.
func (q *inquiry) linksIn(out []lead, in lead, depth int) []lead {
	const most = 200
	if info := q.entry(in.to).info; info == nil || !info.IsDir() {
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
			out = append(out, lead{in.word, q.real(at)})
		case e.IsDir() && depth > 1 && e.Name() != "objects" && e.Name() != "node_modules":
			out = q.linksIn(out, lead{in.word, at}, depth-1)
		}
	}
	return out
}

// configGuards guards what configures us: the config files that are read for a
// session in dir, which lie in it and in the folders above it up to the
// worktree.
func (f *Workspace) configGuards(dir, name string) []string {
	for _, base := range []string{dir, f.inquiry.real(dir)} {
		top := f.top(dir)
		if base != dir {
			top = f.inquiry.real(top)
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
