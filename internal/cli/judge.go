package cli

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"helve/internal/shell"
	"helve/internal/text"
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

// A judge decides about command lines. Restrictions match meaning, and
// permissions match text: a rule that denies or asks is tried on every
// spelling of a command, and one that allows only on the text as written.
type judge struct {
	policy permission.Policy
	dir    string // where the command would run
	files  *workspace.Files
	// decide decides about a file; the policy alone does when it is nil.
	decide func(permission.Request) (permission.Decision, error)
}

// command decides about a command line: the strictest answer over everything
// that would run, and every file that output goes to or input comes from.
func (j judge) command(command string) judged {
	line := shell.Parse(command)
	out := judged{Action: permission.Allow, Opaque: line.Opaque}
	add := func(d permission.Decision) {
		out.Units = append(out.Units, d)
		out.Action = out.Action.Stricter(d.Action)
	}
	for _, u := range line.Units {
		if runs(u, line.Functions) {
			add(j.unit(shell.Spellings(u)))
		}
		for _, r := range u.Redirects {
			for _, d := range j.redirect(r) {
				add(d)
			}
		}
	}
	if len(line.Units) == 0 {
		add(j.policy.Decide("bash", command))
	}
	if out.Opaque == "" && deceives(command, line.Units) {
		out.Opaque = "it holds characters that can not be seen"
	}
	if out.Opaque != "" {
		out.Action = out.Action.Stricter(permission.Ask)
	}
	return out
}

// deceives reports whether a command line may look like another one: it holds
// a control or a character that reorders text, or one that can not be seen
// outside of quotes.
func deceives(command string, units []shell.Unit) bool {
	for _, r := range command {
		switch {
		case unicode.IsControl(r) && r != '\n' && r != '\t', unicode.Is(unicode.Bidi_Control, r):
			return true
		}
	}
	for _, u := range units {
		for _, w := range u.Words {
			if w.Raw == w.Value && text.HasHidden(w.Raw) {
				return true
			}
		}
	}
	return false
}

// runs reports whether a unit is something of its own to decide about. cd
// changes nothing, and the commands of a function are units themselves.
func runs(u shell.Unit, functions []string) bool {
	switch u.Kind {
	case shell.Command, shell.Declaration, shell.Piece:
		name := u.Words[0].Value
		return name != "cd" && !slices.Contains(functions, name)
	}
	return false
}

// unit decides about one command, whose first spelling is its text.
func (j judge) unit(spellings []string) permission.Decision {
	raw := spellings[0]
	best := j.policy.Decide("bash", raw)
	if r, ok := strictHit(j.policy.Rules, spellings); ok {
		best = stricter(best, decided(raw, r, false))
	}
	for _, ceiling := range j.policy.Ceilings {
		if r, ok := strictHit(ceiling, spellings); ok {
			best = stricter(best, decided(raw, r, true))
		}
	}
	return best
}

// strictHit returns the last rule that speaks about a command, if it
// restricts it.
func strictHit(rules permission.Ruleset, spellings []string) (permission.Rule, bool) {
	for _, r := range slices.Backward(rules) {
		if !permission.Match("bash", r.Permission) {
			continue
		}
		if r.Action == permission.Allow {
			if permission.Match(spellings[0], r.Pattern) {
				return permission.Rule{}, false
			}
			continue
		}
		if slices.ContainsFunc(spellings, func(s string) bool { return permission.Match(s, r.Pattern) }) {
			return r, true
		}
	}
	return permission.Rule{}, false
}

func decided(pattern string, r permission.Rule, ceiling bool) permission.Decision {
	return permission.Decision{
		Permission: "bash", Pattern: pattern, Action: r.Action, Rule: &r, Source: r.From.String(), Ceiling: ceiling,
	}
}

func stricter(a, b permission.Decision) permission.Decision {
	if a.Action.Stricter(b.Action) != a.Action {
		return b
	}
	return a
}

// redirect decides about the file of a redirection: what is written to is
// edited, and what is read from is read.
func (j judge) redirect(r shell.Redirect) []permission.Decision {
	name := "edit"
	switch r.Op {
	case "<":
		name = "read"
	case ">", ">>", ">|", "&>", "&>>", "<>":
	case ">&":
		if strings.Trim(r.Target.Value, "0123456789-") == "" {
			return nil
		}
	default:
		return nil
	}
	target := r.Target.Value
	switch {
	case target == "/dev/null" || strings.HasPrefix(target, "/dev/std") || strings.HasPrefix(target, "/dev/fd/"):
		return nil
	case !r.Target.Literal:
		return []permission.Decision{{Permission: name, Pattern: target, Action: permission.Ask}}
	}
	ds, err := j.file(name, target)
	if err != nil { // a name that the system would not take either
		return []permission.Decision{{Permission: name, Pattern: target, Action: permission.Ask}}
	}
	return ds
}

// file is what a tool would ask about a file: whether the workspace may be left
// for it, and then about each name that it goes by.
func (j judge) file(name, file string) ([]permission.Decision, error) {
	r := recorder{decide: j.decide}
	if r.decide == nil {
		r.decide = func(req permission.Request) (permission.Decision, error) {
			return j.policy.Judge(req, req.Patterns[0]), nil
		}
	}
	path, err := j.files.Resolve(context.Background(), &r, j.dir, file)
	switch {
	case err != nil:
	case name == "edit":
		err = j.files.AskEdit(context.Background(), &r, nil, path)
	default:
		err = j.files.AskFor(context.Background(), &r, permission.Request{Permission: name}, path)
	}
	return r.asked, err
}

// A recorder is asked for permission as a call is. It notes what would come of
// it, and lets everything pass, so that everything is asked.
type recorder struct {
	decide func(permission.Request) (permission.Decision, error)
	asked  []permission.Decision
}

// Ask notes the decision about a request.
func (r *recorder) Ask(_ context.Context, req permission.Request) error {
	patterns := req.Patterns
	for _, pattern := range patterns {
		req.Patterns = []string{pattern}
		d, err := r.decide(req)
		if err != nil {
			return err
		}
		r.asked = append(r.asked, d)
	}
	return nil
}
