package cli

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// errSkip marks a line that cannot be checked here.
var errSkip = errors.New("skipped")

// errRefused is a configuration that is refused, which a line may expect.
var errRefused = errors.New("refused")

// An outcome is the result of a line.
type outcome int

// What may come of a line.
const (
	Passed  outcome = iota
	Failed          // the outcome differs, or the line cannot be checked at all
	Skipped         // the line is for another platform
)

// A tableFinding is the result of checking a line.
type tableFinding struct {
	ID      string // of the line; "" where it has none
	Outcome outcome
	Says    string // what came out differently, or why it was skipped
}

// A decisionTable checks lines, each of which says what it expects.
type decisionTable struct {
	Dir    string                            // where commands run, of lines that do not say
	Policy func() (permission.Policy, error) // what is in force for lines that bring no rules
	// Asks is the permission that a tool asks for, "" where there is no such
	// tool: of lines that bring no rules the permission may be a tool's name.
	Asks func(tool string) string
	// Shows reports whether a model is shown a tool, of lines that bring no
	// rules.
	Shows func(tool string) (bool, error)
}

// Judge checks one line.
func (t decisionTable) Judge(line []byte) tableFinding {
	v, err := parseRow(line)
	if err != nil {
		return tableFinding{v.ID, Failed, err.Error()}
	}
	what, err := t.judge(v)
	switch {
	case errors.Is(err, errSkip):
		return tableFinding{v.ID, Skipped, what}
	case err != nil:
		what = err.Error()
	case what == "":
		return tableFinding{v.ID, Passed, ""}
	}
	if v.Reason != "" {
		what += " (" + v.Reason + ")"
	}
	return tableFinding{v.ID, Failed, what}
}

// judge returns what differs from the expected decision, "" if nothing does. With errSkip it
// returns why the line was skipped.
func (t decisionTable) judge(v row) (string, error) {
	switch {
	case v.Platform != "" && v.Platform != runtime.GOOS:
		return "for " + v.Platform, errSkip
	case v.Patterns != nil:
		return judgePatterns(v), nil
	case v.Context != nil && v.Context.MCPTool != "":
		return judgeName(v)
	}
	policy, err := t.policy(v)
	got, by := "error", ""
	switch {
	case err == nil && v.Visible != nil:
		return t.judgeVisible(v, policy)
	case err == nil:
		got, by, err = t.decision(v, policy)
	case errors.Is(err, errRefused):
		err = nil
	}
	if err != nil {
		return got, err
	}
	if got != v.Expect && !slices.Contains(v.Accept, got) {
		return fmt.Sprintf("got %s, want %s", got, v.Expect) + by, nil
	}
	return "", nil
}

// decision returns the policy's decision on the request of a line, and the rule that decides.
func (t decisionTable) decision(v row, policy permission.Policy) (got, by string, err error) {
	switch {
	case v.Command != nil:
		got, err := decisionReader{Dir: cmp.Or(v.Cwd, t.Dir), Files: &files.Workspace{}, Policy: policy}.Command(*v.Command)
		return modal(v, got), decider(strictestDecision(got.Units)), err
	case v.Permission != "" && v.Pattern != nil:
		if v.bringsNone() {
			if asks := t.Asks(v.Permission); asks != "" {
				policy, v.Permission = policy.Of(v.Permission, asks), asks
			}
		}
		got, err := decide(v, policy)
		if err != nil {
			return "", "", err
		}
		return modal(v, judged{Action: got.Action}), decider(got), nil
	case v.Expect == "error": // only a refused config would have been right
		return "a good configuration", "", nil
	}
	return "", "", errors.New(`what is to be judged? give a "command", or a "permission" and a "pattern"`)
}

// decider names the rule that made a decision; "" where it was none.
func decider(d permission.Decision) string {
	if d.Rule == nil || d.Approval != nil {
		return ""
	}
	from := d.Source
	if d.Rule.From == (permission.Source{}) {
		from = "a rule of the line itself"
	}
	return fmt.Sprintf(": decided by %s %s = %s, %s", d.Rule.Permission, d.Rule.Pattern, d.Rule.Action, from)
}

// modal returns the outcome of an ask when no one can be asked.
func modal(v row, j judged) string {
	if j.Action != permission.Ask {
		return string(j.Action)
	}
	switch v.Mode {
	case "headless":
		return string(permission.Deny)
	case "auto":
		feared := func(d permission.Decision) bool { return d.Feared && d.Action == permission.Ask }
		if slices.ContainsFunc(j.Units, feared) {
			return string(permission.Deny)
		}
		return string(permission.Allow)
	}
	return string(permission.Ask)
}

func judgePatterns(v row) string {
	got := []string{}
	for _, s := range command.Parse(*v.Command).Suggest() {
		if s.Exact != v.Exact {
			return fmt.Sprintf("%q is offered with exact %v", s.Pattern, s.Exact)
		}
		got = append(got, s.Pattern)
	}
	if !slices.Equal(got, *v.Patterns) {
		return fmt.Sprintf("got %q, want %q", got, *v.Patterns)
	}
	return ""
}

// judgeVisible returns which other tools are visible. Rules of the line apply to the existing
// tools: a rule about edit hides all that request it, and one under the name of a tool hides that
// tool.
func (t decisionTable) judgeVisible(v row, policy permission.Policy) (string, error) {
	got := []string{}
	for _, name := range v.Tools {
		asks := cmp.Or(t.Asks(name), name)
		shown, err := !policy.Of(name, asks).Hides(asks), error(nil)
		if v.bringsNone() {
			shown, err = t.Shows(name)
		}
		if err != nil {
			return "", err
		}
		if shown {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, *v.Visible) {
		return fmt.Sprintf("got %q, want %q", got, *v.Visible), nil
	}
	return "", nil
}

// judgeName asks a runtime whether a tool from outside may have a name.
func judgeName(v row) (string, error) {
	rt, err := helve.Open(helve.Options{Unattended: true, Flags: map[string]bool{"batch": true}})
	if err != nil {
		return "", err
	}
	defer rt.Close()
	outside, err := tool.Dynamic(tool.Spec{Name: v.Context.MCPTool, External: true}, nobody)
	if err == nil {
		_, err = rt.Register(outside)
	}
	if (err != nil) != (v.Expect == "error") {
		return fmt.Sprintf("registering it gives %v, want %s", err, v.Expect), nil
	}
	return "", nil
}
