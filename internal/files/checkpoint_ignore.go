package files

import (
	"path"
	"path/filepath"
	"strings"
)

// ignoring holds rules of .gitignore files, from the deepest folder up. They only say which files
// need not be kept because git will not remove them, so an unknown rule ignores nothing.
type ignoring struct {
	above *ignoring
	base  string // the folder of the file, from the top of the worktree
	rules []ignoreRule
}

type ignoreRule struct {
	glob     string
	anchored bool // it applies to the path from base rather than to a name
	folder   bool
}

const maxIgnore = 1 << 20 // bytes

// withFolder adds the rules of a folder. A rule that negates others makes them all uncertain: then
// none above counts.
func (g *ignoring) withFolder(dir, base string) *ignoring {
	return g.read(filepath.Join(dir, ".gitignore"), base)
}

func (g *ignoring) read(file, base string) *ignoring {
	data, err := readBounded(file, maxIgnore)
	if err != nil || len(data) == 0 {
		return g
	}
	out := &ignoring{above: g, base: base}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '!':
			out.above, out.rules = nil, nil
		default:
			if r, ok := parseIgnore(line); ok {
				out.rules = append(out.rules, r)
			}
		}
	}
	return out
}

func parseIgnore(line string) (r ignoreRule, ok bool) {
	r.glob, r.folder = strings.CutSuffix(line, "/")
	if rest, ok := strings.CutPrefix(r.glob, "/"); ok {
		r.glob, r.anchored = rest, true
	}
	r.anchored = r.anchored || strings.Contains(r.glob, "/")
	if r.glob == "" || strings.Contains(r.glob, "**") || strings.Contains(r.glob, "[") || strings.Contains(r.glob, `\`) {
		return r, false
	}
	_, err := path.Match(r.glob, "x")
	return r, err == nil
}

// match reports whether a name, relative to the top of the worktree, is certainly ignored.
func (g *ignoring) match(name string, folder bool) bool {
	for ; g != nil; g = g.above {
		rel := name
		if g.base != "" {
			rel = strings.TrimPrefix(name, g.base+"/")
		}
		base := path.Base(name)
		for _, r := range g.rules {
			if r.folder && !folder {
				continue
			}
			against := base
			if r.anchored {
				against = rel
			}
			if ok, _ := path.Match(r.glob, against); ok {
				return true
			}
		}
	}
	return false
}

// ignoringAbove returns the rules of the folders above at, excluding its own.
func (w *untrackedWalk) ignoringAbove(at string) *ignoring {
	if w.what == AndIgnored {
		return nil
	}
	rel, ok := w.repo.indexName(at)
	if !ok {
		return nil
	}
	rules := (*ignoring)(nil).read(filepath.Join(commonDir(w.repo.git), "info", "exclude"), "")
	dir, base := w.repo.top, ""
	if rel == "" {
		return rules
	}
	for part := range strings.SplitSeq(rel, "/") {
		rules = rules.withFolder(dir, base)
		dir, base = filepath.Join(dir, part), path.Join(base, part)
	}
	return rules
}
