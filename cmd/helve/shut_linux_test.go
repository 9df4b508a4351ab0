package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// peek tells which of the processes above it can be looked into, up to the
// command. It is a file, so that rules about what a line names do not see it.
const peek = `p=$PPID
while [ "$p" -gt 1 ] && [ "$(cat /proc/$p/comm)" != helve ]; do
	p=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$p/status)
done
echo "found $(cat /proc/$p/comm)"
for f in environ mem auxv maps fd/0; do
	if head -c 1 /proc/$p/$f >/dev/null 2>&1; then echo "open $f"; fi
done
if grep -q SECRET /proc/$p/environ 2>/dev/null; then echo leaked; fi
echo done
`

// asOther is a world of an ordinary user, in which helve runs.
func asOther(t *testing.T) (run func(args ...string) (string, error), w world) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	const uid = 65534
	base, err := os.MkdirTemp("", "helve-other-") // not below a folder that is root's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	bin := filepath.Join(base, "helve")
	if err := os.Rename(build(t), bin); err != nil {
		t.Fatal(err)
	}
	w = world{home: base + "/home", dir: base + "/home/work", data: base + "/home/data"}
	for _, dir := range []string{w.dir, base + "/home/tmp", base + "/home/.config/helve"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"a.txt": "alpha\n", "peek.sh": peek} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(base, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, uid, uid)
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) (string, error) {
		cmd := w.command(bin, args...)
		cmd.Env = append(cmd.Env, "TMPDIR="+w.home+"/tmp", "MY_API_KEY=SECRET")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		switch args[len(args)-1] {
		case "--jsonl":
			cmd.Stdin = strings.NewReader(`{"id":"1","tool":"bash","args":{"command":"sleep 60","background":true}}` + "\n")
		case "mcp":
			cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bash","arguments":{"command":"bash peek.sh"}}}
`)
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}, w
}

// A command of the same user sees neither the environment nor the memory of
// the process that runs it, and all works as it does for root.
func TestShut(t *testing.T) {
	run, w := asOther(t)
	var found, missing []string
	see := func(want string, args ...string) {
		t.Helper()
		out, err := run(args...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		if strings.Contains(out, "leaked") || strings.Contains(out, "open ") {
			t.Errorf("%q: it can be looked into:\n%s", args, out)
		}
		if strings.Contains(out, "found helve") {
			found = append(found, args[0])
		} else {
			missing = append(missing, args[0])
		}
	}
	see("done", "call", "bash", "command=bash peek.sh")
	see("done", "mcp")
	if len(missing) > 0 {
		t.Errorf("not found: %q, found: %q", missing, found)
	}
	see("job", "call", "--jsonl")
	see("a.txt", "grep", "alpha")
	see("a.txt", "call", "glob", "pattern=*.txt")
	see("Wrote", "call", "write", "filePath="+w.dir+"/new.txt", "content=new")
	see("alpha", "call", "--session", "s", "read", "filePath="+w.dir+"/a.txt")
	see("", "call", "--session", "s", "edit", "filePath="+w.dir+"/a.txt", "oldString=alpha", "newString=beta")
	for name, want := range map[string]string{"new.txt": "new", "a.txt": "beta\n"} {
		if text, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	see("shell", "doctor")
}

// The wall of an ordinary user stands, though it is built by a process that
// nobody may look into.
func TestShutWall(t *testing.T) {
	run, w := asOther(t)
	if out, err := exec.Command("unshare", "-U", "true").CombinedOutput(); err != nil {
		t.Skipf("there are no namespaces here: %s", out)
	}
	for _, level := range []string{"write", "strict"} {
		config := []byte(`{"wall":{"level":` + strconv.Quote(level) + `}}`)
		if err := os.WriteFile(w.home+"/.config/helve/helve.json", config, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := run("doctor")
		if err != nil || !strings.Contains(out, "promises tried and held") {
			t.Errorf("%s: %v\n%s", level, err, out)
		}
		out, err = run("call", "bash", "command=id -u; touch made-"+level+"; bash peek.sh")
		if err != nil || !strings.Contains(out, "65534\n") || !strings.Contains(out, "done") || strings.Contains(out, "open ") {
			t.Errorf("%s: %v\n%s", level, err, out)
		}
		if _, err := os.Stat(w.dir + "/made-" + level); err != nil {
			t.Error(err)
		}
	}
}
