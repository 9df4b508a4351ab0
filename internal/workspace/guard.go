package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"helve/internal/disk"
)

// A lead is what a guarded name leads to: a link, a repository that is kept
// elsewhere, or a folder of our own.
type lead struct{ word, to string }

// guards returns the words of which a rule has to hold one to let p be
// written: a file that changes what runs later, or what is allowed later, is
// not covered by a rule about everything. nil for an ordinary file. leads are
// those of the folder that p was named from.
func (f *Files) guards(p Path, leads []lead) []string {
	names := []string{p.abs, p.real}
	if p.abs == p.real {
		names = names[:1]
	}
	var words []string
	for _, name := range names {
		words = append(words, f.guardsOf(p.dir, name)...)
		for _, l := range leads {
			if within(l.to, name) {
				words = append(words, l.word)
			}
		}
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
	return append(words, f.configGuards(dir, name)...)
}

// leads finds what the guarded names of a folder, and of those above it up to
// the worktree, lead to, and what our own folders do. It reads these folders,
// so it is done once for a request.
func (f *Files) leads(dir string) (out []lead) {
	top := f.inquiry.real(f.top(dir))
	for d := f.inquiry.real(dir); within(top, d); d = filepath.Dir(d) {
		for _, base := range []string{
			".git", ".vscode", ".mcp.json", ".envrc", ".opencode", ".helve",
			"opencode.json", "opencode.jsonc", "helve.json", "helve.jsonc",
		} {
			at := filepath.Join(d, base)
			for _, to := range f.inquiry.ends(at) {
				if to != at {
					out = append(out, lead{base, to})
				}
				out = f.inquiry.linksIn(out, lead{base, to}, 2)
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

// configGuards guards what configures us: the config files and folders that
// are read for a session in dir, which lie in it and in the folders above it
// up to the worktree.
func (f *Files) configGuards(dir, name string) []string {
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
