package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// A judged is the decision on a command line: on each of its commands and files, and the strictest
// of them.
type judged struct {
	Action permission.Action
	Units  []permission.Decision
	Opaque string // why it cannot be allowed without asking
}

// A decisionReader determines what calls would request, and the decision on it.
type decisionReader struct {
	Dir    string // where the command would run
	Files  *files.Workspace
	Policy permission.Policy
	// Decide decides about a request for one thing; the policy alone does when
	// it is nil.
	Decide func(permission.Request) (permission.Decision, error)
}

// Command decides about a command line: the strictest decision over everything that would run, and
// every file that it would read or write.
func (r decisionReader) Command(line string) (judged, error) {
	out := judged{Action: permission.Allow}
	asked := recorder{decisionReader: r}
	if err := command.ReadLine(r.Files, r.Dir, line).Ask(context.Background(), &asked); err != nil {
		return out, err
	}
	out.Units = asked.asked
	for _, d := range out.Units {
		out.Action = out.Action.Stricter(d.Action)
		if out.Opaque == "" && d.Approval == nil {
			out.Opaque = d.Opaque
		}
	}
	if out.Action != permission.Deny && r.Policy.Hides("bash") {
		// A tool that is hidden cannot be called, even for a line that asks for nothing.
		d := r.Policy.Decide("bash", line)
		out.Units, out.Action = append(out.Units, d), out.Action.Stricter(d.Action)
	}
	return out, nil
}

// File is what a tool would ask about a file: whether the workspace may be left
// for it, and then about each name that it goes by.
func (r decisionReader) File(name, file string) ([]permission.Decision, error) {
	asked := recorder{decisionReader: r}
	path, err := r.Files.Resolve(context.Background(), &asked, r.Dir, file)
	switch {
	case err != nil:
	case name == "edit":
		err = r.Files.AskEdit(context.Background(), &asked, nil, path)
	default:
		err = r.Files.AskFor(context.Background(), &asked, permission.Request{Permission: name}, path)
	}
	return asked.asked, err
}

// Search returns what a search tool would request: its pattern, and, for a path, the permission to
// leave the workspace. A file there counts as read.
func (r decisionReader) Search(name, pattern string) ([]permission.Decision, error) {
	asked := recorder{decisionReader: r}
	err := asked.Ask(context.Background(), permission.Request{Permission: name, Patterns: []string{pattern}})
	if place, ok := placeOf(pattern); ok && err == nil {
		var p files.Path
		p, err = r.Files.ResolveEither(context.Background(), &asked, r.Dir, place)
		if err == nil && r.Files.Exists(p) && !r.Files.IsFolder(p) {
			err = r.Files.AskRead(context.Background(), &asked, p)
		}
	}
	return asked.asked, err
}

// placeOf returns the file or folder that a pattern begins with, if it may be outside.
func placeOf(pattern string) (string, bool) {
	slashed := filepath.ToSlash(pattern)
	if !filepath.IsAbs(pattern) && slashed != ".." && !strings.HasPrefix(slashed, "../") {
		return "", false
	}
	if at := strings.IndexAny(slashed, "*?[{"); at >= 0 {
		slashed = slashed[:strings.LastIndexByte(slashed[:at], '/')+1]
	}
	return filepath.FromSlash(slashed), true
}

// A recorder is asked for permission as a call is. It notes what would come of
// it, and lets everything pass, so that everything is asked.
type recorder struct {
	decisionReader
	asked []permission.Decision
}

// Ask notes the decisions about requests.
func (r *recorder) Ask(_ context.Context, reqs ...permission.Request) error {
	for _, req := range permission.Together(reqs) {
		for _, pattern := range req.Patterns {
			about := req
			about.Patterns = []string{pattern}
			d, err := r.Policy.Judge(about, pattern), error(nil)
			if r.Decide != nil {
				d, err = r.Decide(about)
			}
			if err != nil {
				return err
			}
			r.asked = append(r.asked, d)
		}
	}
	return nil
}

// Filter returns a function that reports which files the rules treat specially, as in a call.
func (r *recorder) Filter(name string) (passes func(names ...string) bool, key string) {
	return r.Policy.Filter(name)
}

// maxUnits is how many decisions are shown for one line.
const maxUnits = 60

// mostUp is how many folders further up files are looked at together.
const mostUp = 8

// fewDecisions shortens a list of decisions for display: if there are many, those that differ only
// in the file name are combined, by folder or by one further up, and the strictest of these are
// returned. more is how many are left out.
func fewDecisions(ds []permission.Decision) (few []permission.Decision, more int) {
	few = ds
	for up := 0; len(few) > maxUnits && up <= mostUp; up++ {
		few = alike(ds, up)
	}
	if len(ds) <= maxUnits {
		return few, 0
	}
	rank := func(a permission.Action) int {
		return slices.Index([]permission.Action{permission.Deny, permission.Ask, permission.Allow}, a)
	}
	slices.SortStableFunc(few, func(a, b permission.Decision) int { return cmp.Compare(rank(a.Action), rank(b.Action)) })
	if len(few) > maxUnits {
		few, more = few[:maxUnits], len(few)-maxUnits
	}
	return few, more
}

// alike combines the decisions by one rule about files below the same folder, up many levels above
// them.
func alike(ds []permission.Decision, up int) (few []permission.Decision) {
	folder := func(name string) string {
		for range up + 1 {
			name = filepath.Dir(name)
		}
		return name
	}
	type kind struct {
		permission, dir, source, opaque string
		action                          permission.Action
		rule                            permission.Rule
	}
	at, many := map[kind]int{}, []int{}
	for _, d := range ds {
		k := kind{d.Permission, folder(d.Pattern), d.Source, d.Opaque, d.Action, permission.Rule{}}
		if d.Permission == "bash" || d.Approval != nil {
			k.dir = d.Pattern
		}
		if d.Rule != nil {
			k.rule = *d.Rule
		}
		i, known := at[k]
		if !known {
			i = len(few)
			at[k], few, many = i, append(few, d), append(many, 0)
		}
		many[i]++
	}
	for i, n := range many {
		if n > 1 {
			few[i].Pattern = fmt.Sprintf("%s (%d files)", filepath.Join(folder(few[i].Pattern), "…"), n)
		}
	}
	return few
}

// strictestDecision returns the strictest decision, the first of equals; if there is none, one that
// allows.
func strictestDecision(ds []permission.Decision) permission.Decision {
	if len(ds) == 0 {
		return permission.Decision{Action: permission.Allow}
	}
	best := ds[0]
	for _, d := range ds[1:] {
		if best.Action.Stricter(d.Action) != best.Action {
			best = d
		}
	}
	return best
}
