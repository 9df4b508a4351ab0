package builtin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// walled is a runtime behind the wall, in which every command may run and .env
// may not be read.
func walled(t *testing.T, level string, agents ...agent.Spec) (*helve.Runtime, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{".git/config": "[core]\n", ".git/hooks/x": "", ".env": "SECRET=1\n", "a.txt": "a\n", "sub/b.txt": "b\n"} {
		mkdir(t, filepath.Dir(filepath.Join(dir, name)))
		write(t, filepath.Join(dir, name), []byte(text))
	}
	rules := rulesOf("* allow *", "read deny *.env")
	if agents == nil {
		agents = []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: rules}}}
	}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, DataDir: t.TempDir(), Unattended: true, Agents: agents,
		Shell: helve.Shell{Helper: self(t), Wall: helve.Wall{Level: level}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt, dir
}

// needWall skips a test where the machine has no wall.
func needWall(t *testing.T) {
	t.Helper()
	rt, _ := walled(t, "write")
	if state, err := rt.ProveWall(t.Context()); err != nil || !state.Complete {
		t.Skipf("there is no whole wall on this machine: %v %s", err, state.Reason)
	}
}

// python is one that can be read behind every wall: of the system, and not of a
// home folder.
func python(t *testing.T) string {
	t.Helper()
	for _, path := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if real, err := filepath.EvalSymlinks(path); err == nil && strings.HasPrefix(real, "/usr/") {
			return path
		}
	}
	t.Skip("there is no python3 of the system on this machine")
	return ""
}

// The programs that try these are ones whose names no rule can hold.
func TestWalledCommands(t *testing.T) {
	needWall(t)
	python := python(t)
	outside := "/etc/passwd" // done to it is only what would change nothing
	for _, tc := range []struct {
		level, script string
		ok            bool
	}{
		{"write", "open('a.txt','a').write('x')", true},
		{"write", "open('new.txt','w').write('x')", true},
		{"write", "open('" + outside + "').read()", true},
		{"write", "open('" + outside + "','a')", false},
		{"write", "import os; os.chmod('" + outside + "', 0o644)", false},
		{"write", "import os; os.mkdir('/etc/helve-wall')", false},
		{"write", "open('.git/hooks/x','w')", false},
		{"write", "open('.git/config','a')", false},
		{"write", "import os; os.rename('.git','g')", false},
		{"write", "open('.mcp.json','w')", false},
		{"write", "open('helve.json','w')", false},
		{"write", "open('.env').read()", false},
		{"write", "import os; os.rename('.env','e')", false},
		{"write", "open('.git/HEAD','w')", true},
		{"write", "import tempfile; tempfile.NamedTemporaryFile().write(b'x')", true},
		{"strict", "open('a.txt').read()", true},
		{"strict", "open('/var/log/dpkg.log').read()", false},
		{"strict", "import socket; socket.create_connection(('127.0.0.1', 9))", false},
		{"strict", "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", false},
		{"strict", "import socket; socket.socket(socket.AF_UNIX)", false},
	} {
		t.Run(tc.level+" "+tc.script, func(t *testing.T) {
			t.Parallel()
			rt, dir := walled(t, tc.level)
			write(t, filepath.Join(dir, "try.py"), []byte(tc.script))
			res, fail := sh(t, rt, map[string]any{"command": python + " try.py"})
			if fail != nil {
				t.Fatal(fail)
			}
			if got := res.Metadata["exit"].(int) == 0; got != tc.ok {
				t.Errorf("it ran: %v\n%s", got, res.Output)
			}
		})
	}
}

// What comes to be denied while a runtime runs is masked for the next command.
func TestMasksFollowTheTree(t *testing.T) {
	needWall(t)
	rt, dir := walled(t, "write")
	write(t, filepath.Join(dir, "try.sh"), []byte("cat sub/$1"))
	if res, _ := sh(t, rt, map[string]any{"command": "bash try.sh b.txt"}); !strings.Contains(res.Output, "b") {
		t.Fatalf("%+v", res)
	}
	write(t, filepath.Join(dir, "sub/new.env"), []byte("SECRET=2\n"))
	if res, _ := sh(t, rt, map[string]any{"command": "bash try.sh new.env"}); strings.Contains(res.Output, "SECRET") {
		t.Errorf("a new secret is shown: %s", res.Output)
	}
	if err := os.Rename(filepath.Join(dir, ".env"), filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".env"), []byte("SECRET=3\n"))
	if res, _ := sh(t, rt, map[string]any{"command": "bash try.sh ../.env"}); strings.Contains(res.Output, "SECRET") {
		t.Errorf("a secret that was replaced is shown: %s", res.Output)
	}
}

// An agent that may change nothing changes nothing, whatever program it runs.
func TestPlanIsReadOnly(t *testing.T) {
	needWall(t)
	agents := []agent.Spec{{Name: "plan", ReadOnly: true, Policy: permission.Policy{Rules: rulesOf("* allow *")}}}
	rt, dir := walled(t, "", agents...)
	write(t, filepath.Join(dir, "try.py"), []byte("open('a.txt','a').write('x')"))
	res, fail := sh(t, rt, map[string]any{"command": "cat a.txt; " + python(t) + " try.py"})
	if fail != nil || !strings.Contains(res.Output, "a\n") || res.Metadata["exit"].(int) == 0 {
		t.Errorf("%v %+v", fail, res)
	}
	if res.Metadata["wall"] != "write" {
		t.Errorf("the wall is not told: %v", res.Metadata)
	}
}

// Without a wall that was asked for, nothing runs.
func TestRequiredWall(t *testing.T) {
	dir := t.TempDir()
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: rulesOf("* allow *")}}},
		Shell: helve.Shell{Wall: helve.Wall{Level: "strict"}}}) // no helper, so there can be none
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	_, fail := sh(t, rt, map[string]any{"command": "touch ran"})
	if fail == nil || fail.Kind != tool.Denied || fail.Code != "wall" {
		t.Errorf("%v", fail)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran")
	}
	if _, err := helve.Open(helve.Options{Dir: dir, Shell: helve.Shell{Wall: helve.Wall{Level: "high"}}}); err == nil {
		t.Error("a level that there is not")
	}
}
