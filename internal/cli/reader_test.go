package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// A line that asks for nothing cannot be run where the tool is hidden.
func TestCommandOfAHiddenTool(t *testing.T) {
	for _, tc := range []struct {
		rules permission.Ruleset
		want  permission.Action
	}{
		{permission.Ruleset{{Permission: "bash", Pattern: "*", Action: permission.Deny}}, permission.Deny},
		{permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Deny}}, permission.Deny},
		{permission.Ruleset{{Permission: "bash", Pattern: "*", Action: permission.Deny}, {Permission: "bash", Pattern: "ls *", Action: permission.Allow}}, permission.Allow},
	} {
		j := decisionReader{Dir: "/ws", Files: &files.Workspace{}, Policy: permission.Policy{Rules: tc.rules}}
		for _, line := range []string{"cd sub", "X=1", "# nothing"} {
			if got, err := j.Command(line); err != nil || got.Action != tc.want || (strictestDecision(got.Units).Action == permission.Deny) != (tc.want == permission.Deny) {
				t.Errorf("%q under %v: %+v, %v, want %s", line, tc.rules, got, err, tc.want)
			}
		}
	}
}

// A search that is pointed at a file reads it.
func TestSearchOfAFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"/out/.env", "/out/a", "/ws/x"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(dir+name), 0o700), os.WriteFile(dir+name, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	rules := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}, {Permission: "read", Pattern: "*.env", Action: permission.Deny}}
	r := decisionReader{Dir: dir + "/ws", Files: &files.Workspace{Worktree: dir + "/ws"}, Policy: permission.Policy{Rules: rules}}
	for place, want := range map[string]permission.Action{
		dir + "/out/.env": permission.Deny, "../out/.env": permission.Deny, "../out/a": permission.Allow, "../out": permission.Allow, "../out/b.env": permission.Allow,
	} {
		got, err := r.Search("grep", place)
		if err != nil || strictestDecision(got).Action != want {
			t.Errorf("%s: %+v, %v, want %s", place, got, err, want)
		}
	}
}

func TestCommand(t *testing.T) {
	rules, err := rulesOf([]triple{
		{"bash", "*", "ask"}, {"bash", "git *", "allow"}, {"bash", "ls *", "allow"}, {"bash", "echo *", "allow"},
		{"bash", "git push *", "deny"}, {"bash", "git push --dry-run *", "allow"},
		{"edit", "*", "allow"}, {"edit", "*.lock", "deny"}, {"read", "*", "allow"}, {"read", "*.env", "deny"},
		{"external_directory", "*", "ask"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ceiling := permission.Ruleset{{Permission: "bash", Pattern: "git tag *", Action: permission.Ask}}
	j := decisionReader{Dir: "/ws", Files: &files.Workspace{}, Policy: permission.Policy{Rules: rules, Ceilings: []permission.Ruleset{ceiling}}}
	judged := func(line string) judged {
		t.Helper()
		got, err := j.Command(line)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, tc := range []struct{ command, want string }{
		{"git status", "allow: allow bash git status"},
		{"git status && ls", "allow: allow bash git status, allow bash ls"},
		{"git status; rm x", "ask: allow edit x, allow bash git status, ask bash rm x"},
		{"git push", "deny: deny bash git push"},
		{"git push --dry-run", "allow: allow bash git push --dry-run"},
		{"/usr/bin/git 'push'", "deny: deny bash /usr/bin/git 'push'"},
		{"git -C x push", "deny: deny bash git -C x push"},
		{"A=1 ls", "ask: ask bash A=1 ls"}, // allowed by text only
		{"echo $(git push)", "deny: allow bash echo $(git push), deny bash git push"},
		{"git tag v1", "ask: ask bash git tag v1"},
		{"cd sub && ls", "allow: allow bash ls"},
		{"cd sub", "allow: "},
		{"f() { git push; }; f", "deny: deny bash git push, ask bash f"},
		{"ls > out", "allow: allow edit out, allow bash ls > out"},
		{"ls > go.lock", "deny: deny edit go.lock, allow bash ls > go.lock"},
		{"ls < .env", "deny: deny read /ws/.env, allow bash ls < .env"},
		{"ls > /etc/x", "ask: ask external_directory /etc/*, allow edit ../etc/x, allow bash ls > /etc/x"},
		{"ls > $X", "ask (it is not known what > writes: $X): ask bash ls > $X"},
		{"ls > /dev/null 2>&1", "allow: allow bash ls > /dev/null 2>&1"},
		{"ls 'a\u202eb'", "ask (it holds characters that can not be seen): ask bash ls 'a\u202eb'"},
		{"ls 'a\u200db'", "allow: allow bash ls 'a\u200db'"},
		{"ls a\u200db", "ask (it holds characters that can not be seen): ask bash ls a\u200db"},
	} {
		got := judged(tc.command)
		units := make([]string, len(got.Units))
		for i, u := range got.Units {
			units[i] = fmt.Sprintf("%s %s %s", u.Action, u.Permission, u.Pattern)
		}
		said := string(got.Action)
		if got.Opaque != "" {
			said += " (" + got.Opaque + ")"
		}
		if diff := cmp.Diff(tc.want, said+": "+strings.Join(units, ", ")); diff != "" {
			t.Errorf("%q:\n%s", tc.command, diff)
		}
	}
	if got := judged("ls > " + strings.Repeat("x", 5000)); got.Action != permission.Ask {
		t.Errorf("a name that is none: %v", got.Action)
	}
	if got := judged("ls (("); got.Action != permission.Ask || got.Opaque == "" {
		t.Errorf("what can not be read: %+v", got)
	}
}
