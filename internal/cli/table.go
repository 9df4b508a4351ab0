package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

func (a *app) permissionTestCommand() *cobra.Command {
	var agent string
	c := &cobra.Command{
		Use:   "test TABLE.jsonl …",
		Short: "Judge tables of decisions; exit 1 if one comes out differently",
		Long: `Test reads tables of decisions, one JSON object a line, and says which come
out differently. A line gives a "permission" and a "pattern", or a "command",
and what to "expect": allow, ask, deny or error; "accept" lists answers that
will do too. The rules are those in the line ("rules", a list of permission,
pattern, action; or "config"), or else those in force here, for which
"permission" may be the name of a tool too. Or it gives "tools", and in
"expect_visible" those of them that a model is shown, as 'helve tools' lists
them. Lines for another "platform" are
skipped and named. "config" is the value of the key permission, or an object with
that key.

A line that can not be judged fails: one with a key it does not know, or without
an answer to expect. So does a run that judged no line at all. It ends with a
line such as "12 passed, 0 failed".`,
		Example: `  helve permission test decisions.jsonl
  echo '{"permission":"read","pattern":".env","expect":"ask"}' | helve permission test -`,
		Args: atLeast(1, "a table"),
		RunE: func(c *cobra.Command, args []string) error {
			t := &table{app: a, agent: agent}
			t.judge = decisionTable{Dir: a.workDir(), Policy: t.here, Asks: t.asks, Shows: func(name string) (bool, error) { return t.shows(c.Context(), name) }}
			if agent != "" {
				s, err := t.app.load()
				if err != nil {
					return err
				}
				if _, err := s.agent(t.agent); err != nil {
					return err
				}
			}
			defer t.close()
			for _, name := range args {
				if err := t.file(name); err != nil {
					return err
				}
			}
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
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "judge under the rules of this agent, where a line brings none")
	a.completeFlags(c)
	return c
}

// A table checks lines, prints the results and counts them.
type table struct {
	app                     *app
	agent                   string
	judge                   decisionTable
	inForce                 *agent.Spec    // read when a line needs it
	tools                   *helve.Runtime // the same
	shown                   []tool.Spec    // the same; nil: not yet
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
	r := text.NewLineReader(in, text.MaxLine)
	for {
		line, err := r.Next()
		where := fmt.Sprintf("%s:%d", name, r.Number())
		switch {
		case err == io.EOF:
			return nil
		case err == text.ErrLongLine:
			t.count(where, tableFinding{Outcome: Failed, Says: err.Error()})
		case err != nil:
			return fmt.Errorf("reading the table: %w", err)
		case !text.BlankLine(line):
			t.count(where, t.judge.Judge(line))
		}
	}
}

// count counts a line, and prints its result unless it passed. It is named by its id, or else by
// its position.
func (t *table) count(where string, f tableFinding) {
	where = cmp.Or(f.ID, where)
	switch f.Outcome {
	case Passed:
		t.passed++
	case Failed:
		t.failed++
		fmt.Fprintf(t.app.Stdout, "FAIL %s: %s\n", safe(where), safe(f.Says))
	case Skipped:
		t.skipped++
		fmt.Fprintf(t.app.Stdout, "SKIP %s: %s\n", safe(where), safe(f.Says))
	}
}

// here is the policy in force where the command runs.
func (t *table) here() (permission.Policy, error) {
	if t.inForce != nil {
		return t.inForce.Policy, nil
	}
	s, err := t.app.load()
	if err != nil {
		return permission.Policy{}, err
	}
	if s.cfg.PolicyError != nil {
		return permission.Policy{}, s.cfg.PolicyError
	}
	agent, err := s.agent(t.agent)
	if err != nil {
		return permission.Policy{}, err
	}
	t.inForce = &agent
	return agent.Policy, nil
}

// asks is the permission that one of our tools asks for.
func (t *table) asks(name string) string {
	if t.tools == nil {
		rt, err := helve.Open(helve.Options{Unattended: true})
		if err != nil {
			return ""
		}
		t.tools = rt
	}
	return t.tools.Permissions().Asks(name)
}

// shows reports whether the agent sees a tool, as 'helve tools' does. For tools of servers and
// files, which are not started for this, only the rules count.
func (t *table) shows(ctx context.Context, name string) (bool, error) {
	if t.asks(name) == "" {
		policy, err := t.here()
		return err == nil && !t.inForce.Locked && !policy.Hides(name), err
	}
	if t.shown == nil {
		specs, err := t.app.specs(ctx, &toolsFlags{agent: t.agent, builtin: true, quiet: true})
		if err != nil {
			return false, err
		}
		t.shown = specs
	}
	return slices.ContainsFunc(t.shown, func(s tool.Spec) bool { return s.Name == name }), nil
}

func (t *table) close() {
	if t.tools != nil {
		_ = t.tools.Close()
	}
}
