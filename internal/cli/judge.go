package cli

import (
	"context"

	"helve/internal/judge"
	"helve/internal/workspace"
	"helve/permission"
)

// A judged command line: what happens to each of its commands and files, and
// the strictest of it.
type judged struct {
	Action permission.Action     `json:"action"`
	Units  []permission.Decision `json:"units"`
	Opaque string                `json:"opaque,omitempty"` // why it can not be allowed without asking
}

// A reader says what calls would ask, and what would become of it.
type reader struct {
	dir    string // where the command would run
	files  *workspace.Files
	policy permission.Policy
	// decide decides about a request for one thing; the policy alone does when
	// it is nil.
	decide func(permission.Request) (permission.Decision, error)
}

// command decides about a command line: the strictest answer over everything
// that would run, and every file that it would read or write.
func (r reader) command(line string) (judged, error) {
	out := judged{Action: permission.Allow}
	asked := recorder{reader: r}
	if err := judge.Read(r.files, r.dir, line).Ask(context.Background(), &asked); err != nil {
		return out, err
	}
	out.Units = asked.asked
	for _, d := range out.Units {
		out.Action = out.Action.Stricter(d.Action)
		if out.Opaque == "" && d.Approval == nil {
			out.Opaque = d.Opaque
		}
	}
	return out, nil
}

// file is what a tool would ask about a file: whether the workspace may be left
// for it, and then about each name that it goes by.
func (r reader) file(name, file string) ([]permission.Decision, error) {
	asked := recorder{reader: r}
	path, err := r.files.Resolve(context.Background(), &asked, r.dir, file)
	switch {
	case err != nil:
	case name == "edit":
		err = r.files.AskEdit(context.Background(), &asked, nil, path)
	default:
		err = r.files.AskFor(context.Background(), &asked, permission.Request{Permission: name}, path)
	}
	return asked.asked, err
}

// A recorder is asked for permission as a call is. It notes what would come of
// it, and lets everything pass, so that everything is asked.
type recorder struct {
	reader
	asked []permission.Decision
}

// Ask notes the decision about a request.
func (r *recorder) Ask(_ context.Context, req permission.Request) error {
	patterns := req.Patterns
	for _, pattern := range patterns {
		req.Patterns = []string{pattern}
		d, err := r.policy.Judge(req, pattern), error(nil)
		if r.decide != nil {
			d, err = r.decide(req)
		}
		if err != nil {
			return err
		}
		r.asked = append(r.asked, d)
	}
	return nil
}

// Sieve says which files the rules single out, as a call does.
func (r *recorder) Sieve(name string) (passes func(names ...string) bool, key string) {
	return r.policy.Sieve(name)
}

// stricter returns the stricter of two decisions, the first where they are
// alike.
func stricter(a, b permission.Decision) permission.Decision {
	if a.Action.Stricter(b.Action) != a.Action {
		return b
	}
	return a
}
