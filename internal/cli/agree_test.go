package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// A court decides as the runtime does for a call where nobody is there.
type court struct {
	engine *permission.Engine
	policy permission.Policy
}

func (c court) Ask(ctx context.Context, reqs ...permission.Request) error {
	return c.engine.AskAll(ctx, reqs, c.policy)
}

func (c court) Filter(name string) (func(names ...string) bool, string) { return c.policy.Filter(name) }

// What explain says of a line is what becomes of it, whatever the rules.
func TestExplainAgreesWithTheCall(t *testing.T) {
	dir := t.TempDir()
	files := &files.Workspace{Worktree: dir}
	rapid.Check(t, func(t *rapid.T) {
		var rules permission.Ruleset
		for range rapid.IntRange(0, 8).Draw(t, "rules") {
			rules = append(rules, permission.Rule{
				Permission: rapid.SampledFrom([]string{"*", "bash", "read", "edit", "external_directory"}).Draw(t, "permission"),
				Pattern:    rapid.SampledFrom([]string{"*", "rm *", "cat *", "echo *", "/opt/*", "/etc/*", "*.env", "a.txt", "git *"}).Draw(t, "pattern"),
				Action:     rapid.SampledFrom([]permission.Action{permission.Allow, permission.Ask, permission.Deny}).Draw(t, "action"),
			})
		}
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"rm -rf /opt/x", "cat .env", "echo a > a.txt", "cat /etc/hosts", "echo $X", "cd /opt", "env rm a.txt", "git status", "cat $(echo .env)", "rm a*",
		}), 1, 4).Draw(t, "parts")
		line := strings.Join(parts, rapid.SampledFrom([]string{" && ", "; ", " | "}).Draw(t, "between"))

		policy := permission.Policy{Rules: rules}
		said, err := decisionReader{Dir: dir, Files: files, Policy: policy}.Command(line)
		if err != nil {
			t.Fatal(err)
		}
		c := court{permission.NewEngine(permission.EngineOptions{Unattended: true}), policy}
		got := permission.Allow
		switch err := command.ReadLine(files, dir, line).Ask(context.Background(), c); {
		case errors.Is(err, permission.ErrDenied):
			got = permission.Deny
		case errors.Is(err, permission.ErrUnattended):
			got = permission.Ask
		case err != nil:
			t.Fatal(err)
		}
		if got != said.Action {
			t.Errorf("%q under %v: explained as %s, and the call is %s", line, rules, said.Action, got)
		}
	})
}
