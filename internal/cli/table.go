package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"helve"
	"helve/internal/shell"
	"helve/internal/workspace"
	"helve/permission"
	"helve/tool"
)

// errSkip is a line that can not be judged here.
var errSkip = errors.New("skipped")

// errRefused is a configuration that is refused, which a line may expect.
var errRefused = errors.New("refused")

func (a *app) permissionTestCommand() *cobra.Command {
	var agent string
	c := &cobra.Command{
		Use:   "test TABLE.jsonl …",
		Short: "Judge tables of decisions; exit 1 if one comes out differently",
		Long: `Test reads tables of decisions, one JSON object a line, and says which come
out differently. A line gives a "permission" and a "pattern", or a "command",
and what to "expect": allow, ask, deny or error; "accept" lists answers that
will do too. The rules are those in the line ("rules", a list of permission,
pattern, action; or "config"), or else those in force here. Lines for another
"platform" are skipped and named. "config" is the value of the key permission,
or an object with that key.

A line that can not be judged fails: one with a key it does not know, or without
an answer to expect. So does a run that judged no line at all. It ends with a
line such as "12 passed, 0 failed".`,
		Example: `  helve permission test decisions.jsonl
  echo '{"permission":"read","pattern":".env","expect":"ask"}' | helve permission test -`,
		Args: atLeast(1, "a table"),
		RunE: func(_ *cobra.Command, args []string) error {
			t := &table{app: a, agent: agent}
			if agent != "" {
				if err := t.agentExists(); err != nil {
					return err
				}
			}
			for _, name := range args {
				if err := t.file(name); err != nil {
					return err
				}
			}
			return t.sum()
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "judge under the rules of this agent, where a line brings none")
	a.completeFlags(c)
	return c
}

// A table judges lines and counts.
type table struct {
	app                     *app
	agent                   string
	inForce                 *permission.Policy // read when a line needs it
	passed, failed, skipped int
}

func (t *table) file(name string) error {
	in := t.app.Stdin
	if name != "-" {
		f, err := os.Open(t.app.abs(name))
		if err != nil {
			return fmt.Errorf("reading the table: %w", err)
		}
		defer f.Close()
		in = f
	}
	r := newLineReader(in, maxLine)
	for {
		line, err := r.next()
		switch {
		case err == io.EOF:
			return nil
		case err == errLongLine:
			t.mismatch(fmt.Sprintf("%s:%d", name, r.n), err.Error(), "")
		case err != nil:
			return fmt.Errorf("reading the table: %w", err)
		case !blank(line):
			t.line(fmt.Sprintf("%s:%d", name, r.n), line)
		}
	}
}

func (t *table) mismatch(id, what, reason string) {
	t.failed++
	if reason != "" {
		what += " (" + reason + ")"
	}
	fmt.Fprintf(t.app.Stdout, "FAIL %s: %s\n", safe(id), safe(what))
}

func (t *table) sum() error {
	fmt.Fprintf(t.app.Stdout, "%d passed, %d failed", t.passed, t.failed)
	if t.skipped > 0 {
		fmt.Fprintf(t.app.Stdout, ", %d skipped", t.skipped)
	}
	fmt.Fprintln(t.app.Stdout)
	if t.passed+t.failed == 0 {
		return errors.New("no line was judged, so nothing is known about the rules")
	}
	if t.failed > 0 {
		return &silent{exitFailed}
	}
	return nil
}

// line judges one line.
func (t *table) line(where string, data []byte) {
	v, err := parseRow(data)
	if v.ID != "" {
		where = v.ID
	}
	if err != nil {
		t.mismatch(where, err.Error(), "")
		return
	}
	what, err := t.judge(v)
	switch {
	case errors.Is(err, errSkip):
		t.skipped++
		fmt.Fprintf(t.app.Stdout, "SKIP %s: %s\n", safe(where), safe(what))
	case err != nil:
		t.mismatch(where, err.Error(), v.Reason)
	case what != "":
		t.mismatch(where, what, v.Reason)
	default:
		t.passed++
	}
}

// judge returns what came out differently, "" if nothing did. With errSkip it
// returns why the line was skipped.
func (t *table) judge(v row) (string, error) {
	switch {
	case v.elsewhere():
		return "for " + v.Platform, errSkip
	case v.Patterns != nil:
		return judgePatterns(v), nil
	case v.Context != nil && v.Context.MCPTool != "":
		return judgeName(v)
	}
	policy, err := t.policy(v)
	got := "error"
	switch {
	case err == nil && v.Visible != nil:
		return judgeVisible(v, policy), nil
	case err == nil:
		got, err = t.decision(v, policy)
	case errors.Is(err, errRefused):
		err = nil
	}
	if err != nil {
		return got, err
	}
	if got != v.Expect && !slices.Contains(v.Accept, got) {
		return fmt.Sprintf("got %s, want %s", got, v.Expect), nil
	}
	return "", nil
}

// decision is what the policy says to the question of a line.
func (t *table) decision(v row, policy permission.Policy) (string, error) {
	switch {
	case v.Command != nil:
		got, err := reader{dir: v.cwd(t.app), files: &workspace.Files{}, policy: policy}.command(*v.Command)
		return modal(v, got), err
	case v.Permission != "" && v.Pattern != nil:
		got, err := decide(v, policy)
		if err != nil {
			return "", err
		}
		return modal(v, judged{Action: got}), nil
	case v.Expect == "error": // only a refused config would have been right
		return "a good configuration", nil
	}
	return "", errors.New(`what is to be judged? give a "command", or a "permission" and a "pattern"`)
}

// elsewhere reports whether a line is for another platform than this.
func (v row) elsewhere() bool { return v.Platform != "" && v.Platform != runtime.GOOS }

func (v row) cwd(a *app) string {
	if v.Cwd != "" {
		return v.Cwd
	}
	return a.workDir()
}

// modal is what becomes of an ask where nobody is asked.
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
	for _, s := range shell.Parse(*v.Command).Suggest() {
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

func judgeVisible(v row, policy permission.Policy) string {
	got := []string{}
	for _, name := range v.Tools {
		if !policy.Hides(name) {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, *v.Visible) {
		return fmt.Sprintf("got %q, want %q", got, *v.Visible)
	}
	return ""
}

// judgeName asks a runtime whether a tool from outside may have a name.
func judgeName(v row) (string, error) {
	rt, err := helve.New(helve.Options{Unattended: true, Flags: map[string]bool{"batch": true}})
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
