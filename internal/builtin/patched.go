package builtin

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/diff"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/text"
)

// patched is the change that a patch makes to one file.
type patched struct {
	kind                 string // add, update, delete or move
	diff, before, after  string
	over                 string // what stood where it was moved to
	hidden               bool   // who calls may not read it
	withheld             bool   // and neither is a person shown it who is asked about the change
	additions, deletions int

	path, dest files.Path
	sheets     []hunkTarget // of the patch, that make it
}

// A detail says how much of the contents of files is included.
type detail int

const (
	request detail = iota // what the patch says, and nothing of the file
	nothing
	differences
	contents
)

// metadata returns the change for programs.
func (p patched) metadata(what detail) map[string]any {
	out := map[string]any{
		"filePath": p.path.String(), "relativePath": p.dest.Title(), "type": p.kind, "diff": p.diff,
		"additions": p.additions, "deletions": p.deletions,
	}
	switch what {
	case nothing:
		out["diff"] = hiddenDiff
	case request:
		out["diff"] = withheldDiff + addedLines(p.sheets)
	}
	if what == contents {
		out["before"], out["after"] = p.before, p.after
	}
	if p.kind == "move" {
		out["movePath"] = p.dest.String()
	}
	return out
}

// withholds reports whether a prompt must not show the content of a file: reading it has to be
// asked about, and the session has not read it.
func (s *patchPlan) withholds(path files.Path) bool {
	_, seen := s.editor.files.ReadMark(s.c.Session, path)
	return !seen && s.editor.files.Withheld(s.c, path)
}

// draw computes the diffs, once everything is verified.
func (s *patchPlan) draw() {
	for i := range s.files {
		p := &s.files[i]
		p.hidden = !s.editor.files.MayRead(s.c, p.path) || p.over != "" && !s.editor.files.MayRead(s.c, p.dest)
		p.withheld = p.before != "" && s.withholds(p.path) || p.over != "" && s.withholds(p.dest)
		p.shows(p.after)
	}
}

// shows computes the diff of the file, and that of an existing file at the place it is moved to.
func (p *patched) shows(after string) {
	p.after = after
	p.diff = shownDiff(p.path, p.before, after)
	p.additions, p.deletions = diff.Count(p.before, after)
	if p.kind == "delete" {
		p.deletions = len(strings.Split(p.before, "\n"))
	}
	if p.over != "" {
		p.diff += "\n" + shownDiff(p.dest, p.over, after)
	}
}

// filesMetadata returns the files for programs: whole, unless they are too large. A person who is
// asked is shown what would otherwise have to be asked about, but not files that a rule names.
func (s *patchPlan) filesMetadata(person bool) (files []any, diffs string) {
	size := 0
	for _, f := range s.files {
		size += len(f.before) + len(f.after)
	}
	told, sizes := make([]map[string]any, len(s.files)), make([]int, len(s.files))
	for i, f := range s.files {
		what := contents
		switch {
		case f.withheld && person:
			what = request
		case f.hidden && !person:
			what = nothing
		case size > maxWhole:
			what = differences
		}
		told[i] = f.metadata(what)
		sizes[i] = len(told[i]["diff"].(string))
	}
	most := share(sizes, maxDiffs)
	var all strings.Builder
	for _, one := range told {
		one["diff"] = cutDiff(one["diff"].(string), most)
		files = append(files, one)
		fmt.Fprintf(&all, "%s\n", one["diff"])
	}
	return files, all.String()
}

// maxDiffs limits the total size of a patch's diffs, which are twice in the metadata and once in
// the request.
const maxDiffs = 3 << 20

// share returns the length to which texts are cut so that all together take no more than most:
// short ones stay whole, and none is left out.
func share(sizes []int, most int) int {
	for i, n := range slices.Sorted(slices.Values(sizes)) {
		left := len(sizes) - i
		if n > most/left {
			return most / left
		}
		most -= n
	}
	return math.MaxInt
}

// cutDiff returns the part of a diff that fits, with a line that says so.
func cutDiff(shown string, most int) string {
	head, cut := text.Cut(shown, most)
	if !cut {
		return shown
	}
	return head + fmt.Sprintf("\n... (the difference is cut: it is %d bytes, and there are many)\n", len(shown))
}

// addPatched adds a hunk's change of its file to the result.
func (s *patchPlan) addPatched(kind string, h hunkTarget, before, after string) {
	p := patched{kind: kind, path: h.path, dest: h.path, before: before, after: after, sheets: []hunkTarget{h}}
	if kind == "move" {
		p.dest = h.to
	}
	if n := len(s.files); n > 0 && kind == "update" && s.files[n-1].kind == kind && s.files[n-1].path.Real() == h.path.Real() {
		s.files[n-1].after = after // several groups in a row are one change
		s.files[n-1].sheets = append(s.files[n-1].sheets, h)
		return
	}
	s.files = append(s.files, p)
}

// addedLines returns the lines that a patch adds, as written in it.
func addedLines(sheets []hunkTarget) string {
	var b strings.Builder
	for _, h := range sheets {
		for line := range strings.Lines(h.Content) {
			b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
		}
		for _, c := range h.Chunks {
			for _, l := range c.Lines {
				if l.Kind == '+' {
					b.WriteString("+" + l.Text + "\n")
				}
			}
		}
	}
	head, cut := text.Cut(b.String(), maxDiff)
	if cut {
		head += fmt.Sprintf("\n... (cut: it is %d bytes)\n", b.Len())
	}
	return head
}
