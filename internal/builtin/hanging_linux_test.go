package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// open is a runtime in which every command may run.
func open(t *testing.T, opt helve.Options) *helve.Runtime {
	t.Helper()
	allow := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}
	opt.Agents = []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: allow}}}
	opt.Shell.Helper = self(t)
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	opt.Worktree = opt.Dir
	rt, err := helve.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// sh runs a command line in the session "s" and returns what the model would read.
func sh(t *testing.T, rt *helve.Runtime, args map[string]any) (*tool.Result, *tool.Error) {
	t.Helper()
	return shIn(t, rt, "s", args)
}

func shIn(t *testing.T, rt *helve.Runtime, session string, args map[string]any) (*tool.Result, *tool.Error) {
	t.Helper()
	input, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.Call(t.Context(), tool.Call{Tool: "bash", Session: session, Input: input})
	if err == nil {
		return res, nil
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatal(err)
	}
	return e.Answer, e
}

// Commands that wait for a person, hold their output open or never end: every
// call returns, with what was printed until then.
func TestNothingHangs(t *testing.T) {
	const daemon = `python3 -c 'import os,time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
time.sleep(1000)'; echo up`
	rt := open(t, helve.Options{})
	for _, tc := range []struct {
		command string
		want    string // in the output
		timeout int    // for what never ends by itself
		needs   string
	}{
		{"sleep 1000 & echo up", "up", 0, ""},
		{"nohup sleep 1000 >/dev/null 2>&1 & echo up", "up", 0, ""},
		{"(sleep 1000 &); echo up", "up", 0, ""},
		{"setsid sleep 1000 & echo up", "up", 0, "setsid"},
		{"setsid -f sleep 1000; echo up", "up", 0, "setsid"},
		{"env -i setsid -f sleep 1000; echo up", "up", 0, "setsid"},
		{"sleep 1000 & disown; echo up", "up", 0, ""},
		{"exec 3>&1; sleep 1000 >&3 & echo up", "up", 0, ""},
		{"sleep 1000 | cat & echo up", "up", 0, ""},
		{"coproc sleep 1000; echo up", "up", 0, ""},
		{daemon, "up", 0, "python3"},
		{"python3 -u -m http.server 0 --bind 127.0.0.1 & sleep 0.2; echo up", "up", 0, "python3"},
		{"sh -c 'echo deep; sleep 1000 & sleep 1000 &'; echo up", "deep\nup", 0, ""},
		{"trap 'sleep 1000' EXIT & echo up", "up", 0, ""},
		{"cat; echo after", "after", 0, ""},
		{"read x; echo got:$x", "got:", 0, ""},
		{"select x in a b; do echo $x; done; echo after", "after", 0, ""},
		{"bash; echo after", "after", 0, ""},
		{"bash -i; echo after", "after", 0, ""},
		{"python3; echo after", "after", 0, "python3"},
		{"python3 -c 'input()'; echo after", "EOFError", 0, "python3"},
		{"node; echo after", "after", 0, "node"},
		{"less /etc/passwd; echo after", "root", 0, "less"},
		{"$EDITOR x; echo code $?", "code 1", 0, ""},
		{"cat < /dev/tty; echo code $?", "code 1", 0, ""},
		{"git init -q r && cd r && git -c user.email=a@b -c user.name=n commit --allow-empty; echo code $?", "code 1", 0, "git"},
		{"git init -q s; cd s && git log | cat; git -C . -c core.pager=less log; echo after", "after", 0, "git"},
		{"printf 'protocol=https\\nhost=example.invalid\\n\\n' | git credential fill; echo code $?", "code 128", 0, "git"},
		{"ssh -o BatchMode=no -o ConnectTimeout=1 -p 1 127.0.0.1; echo after", "after", 0, "ssh"},
		{"ssh-keygen -q -f k < /dev/null; echo after", "after", 0, "ssh-keygen"},
		{"vi x; echo after", "after", 1500, "vi"},
		{"top; echo after", "after", 1500, "top"},
		{"echo begun; sleep 1000", "begun", 300, ""},
		{"echo begun; exec sleep 1000", "begun", 300, ""},
		{"echo begun; sleep 1000 & wait", "begun", 300, ""},
		{"echo line > f; tail -f f", "line", 300, ""},
		{"yes", "y\ny", 300, ""},
		{"while :; do echo tick; sleep 0.05; done", "tick", 300, ""},
		{"echo begun; while :; do :; done", "begun", 300, ""},
		{"trap '' TERM INT HUP; echo armed; while :; do sleep 0.1; done", "armed", 300, ""},
		{"echo begun; kill -STOP $$", "begun", 300, ""},
		{"echo begun; mkfifo p; cat p", "begun", 300, "mkfifo"},
		{"echo begun; dd if=/dev/zero of=/dev/null 2>/dev/null", "begun", 300, ""},
		{"echo begun; setsid sh -c 'trap \"\" TERM; sleep 1000'", "begun", 300, "setsid"},
		{"echo begun; timeout 1000 sleep 1000", "begun", 300, "timeout"},
		{"echo begun; (sleep 1000 & sleep 1000 & sleep 1000 & wait)", "begun", 300, ""},
	} {
		t.Run(tc.command, func(t *testing.T) {
			if _, err := exec.LookPath(tc.needs); tc.needs != "" && err != nil {
				t.Skip("there is no " + tc.needs + " on this machine")
			}
			t.Parallel()
			args := map[string]any{"command": tc.command}
			if tc.timeout > 0 {
				args["timeout"] = tc.timeout
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				res, _ := shIn(t, rt, t.Name(), args)
				if res == nil || !strings.Contains(res.Output, tc.want) {
					t.Errorf("the output lacks %q: %+v", tc.want, res)
				}
			}()
			select {
			case <-done:
			case <-time.After(time.Minute): // a bound for the test, not a figure
				t.Fatal("the call has not returned")
			}
			stopJobs(t, rt, t.Name())
		})
	}
}

// stopJobs ends what the commands of a session have left.
func stopJobs(t *testing.T, rt *helve.Runtime, session string) {
	t.Helper()
	jobs, err := rt.Jobs().List(session)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if j.State != "running" {
			continue
		}
		if _, err := rt.Jobs().Stop(t.Context(), j.ID); err != nil {
			t.Errorf("%s: %v", j.Command, err)
		}
	}
}

// escaping is a command that starts five processes which try to get away: in the
// background, in a session of their own, with no parent, without an environment
// and deaf to signals. Each has a name of its own, which begins with mark.
func escaping(mark string) string {
	return strings.NewReplacer("NAME", "exec -a "+mark).Replace(strings.Join([]string{
		`bash -c 'NAME0 sleep 997' &`,
		`setsid bash -c 'NAME1 sleep 997' &`,
		`(setsid bash -c '(NAME2 sleep 997) & exit' &)`,
		`env -i setsid bash -c 'trap "" TERM INT HUP; (NAME3 sleep 997) & exit'`,
		`(setsid bash -c 'trap "" TERM; (setsid bash -c "NAME4 sleep 997" </dev/null >/dev/null 2>&1 &) ; exit' &)`,
		"sleep 997",
	}, "\n"))
}

// named counts the processes whose name begins with mark.
func named(mark string) (n int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if text, _ := os.ReadFile(name); strings.HasPrefix(string(text), mark) { // nothing where it has just ended
			n++
		}
	}
	return n
}

// until waits for a condition, and tells whether it came in time.
func until(patience time.Duration, done func() bool) bool {
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// What a cancelled call has started is gone when the call has returned, or
// very soon after, with a wall and without.
func TestCancelledTreesAreGone(t *testing.T) {
	rounds := map[string]int{"off": 20, "strict": 5}
	switch {
	case os.Getenv("HELVE_LONG") != "":
		rounds = map[string]int{"off": 1000, "strict": 100}
	case testing.Short():
		rounds = map[string]int{"off": 5, "strict": 2}
	}
	for level, rounds := range rounds {
		t.Run(level, func(t *testing.T) {
			if level != "off" {
				needWall(t)
			}
			rt := open(t, helve.Options{Shell: helve.Shell{Wall: helve.Wall{Level: level}}})
			slowest, left := time.Duration(0), 0
			for i := range rounds {
				mark := fmt.Sprintf("tree%d%s-%d-", os.Getpid(), level, i)
				input, err := json.Marshal(map[string]any{"command": escaping(mark)})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					_, err := rt.Call(ctx, tool.Call{ID: mark, Tool: "bash", Session: "s", Input: input})
					ended <- err
				}()
				there := until(time.Minute, func() bool { return named(mark) == 5 })
				began := time.Now()
				cancel()
				gone := until(5*time.Second, func() bool { return named(mark) == 0 })
				slowest = max(slowest, time.Since(began))
				if err := <-ended; !there || tool.KindOf(err) != tool.Canceled {
					t.Fatalf("round %d: all came up: %v, and the call ended with %v", i, there, err)
				}
				if !gone {
					left++
					t.Errorf("round %d: %d processes are still there", i, named(mark))
				}
			}
			t.Logf("%s: %d commands cancelled, gone after %d ms at most, %d left something", level, rounds, slowest.Milliseconds(), left)
		})
	}
}

// Whether somebody stopped a command or its caller's time was up is told apart,
// and the exit code is a number, or nothing where there is none.
func TestWhyCommandsEnd(t *testing.T) {
	rt := open(t, helve.Options{})
	call := tool.Call{ID: "cancelled", Tool: "bash", Session: "s", Input: json.RawMessage(`{"command":"echo ready; sleep 1000"}`)}
	ctx, cancel := contextUntil(t, rt, call.ID, "ready")
	defer cancel()
	_, err := rt.Call(ctx, call)
	told(t, err, "User aborted the command")

	late, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	call.ID = "late"
	_, err = rt.Call(late, call)
	told(t, err, "bash tool terminated command because the time that the call was given was up")

	res, err := rt.Call(t.Context(), tool.Call{Tool: "bash", Session: "s", Input: json.RawMessage(`{"command":"exit 3"}`)})
	if err != nil || res.Metadata["exit"] != 3 {
		t.Errorf("exit is %v (%T), %v", res.Metadata["exit"], res.Metadata["exit"], err)
	}
}

// told fails unless the answer of a cancelled call says only this beside its
// output, and has no exit code.
func told(t *testing.T, err error, want string) {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.Canceled || e.Answer == nil {
		t.Fatalf("the call ended with %v", err)
	}
	if want = "<bash_metadata>\n" + want + "\n</bash_metadata>"; !strings.Contains(e.Answer.Output, want) {
		t.Errorf("%q does not hold %q", e.Answer.Output, want)
	}
	if exit, there := e.Answer.Metadata["exit"]; !there || exit != nil {
		t.Errorf("exit is %v (%T)", exit, exit)
	}
}

// contextUntil is a context that ends when the command of a call has printed a
// text.
func contextUntil(t *testing.T, rt *helve.Runtime, call, text string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	events, stop := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for e := range rt.Events(events, 0) {
			if p, ok := e.Properties.(event.CallProgress); ok && p.ID == call && strings.Contains(fmt.Sprint(p.Metadata["output"]), text) {
				return
			}
		}
	}()
	return ctx, func() { stop(); cancel() }
}

// rulesOf makes rules from lines such as "bash allow git *".
func rulesOf(lines ...string) (rs permission.Ruleset) {
	for _, l := range lines {
		name, rest, _ := strings.Cut(l, " ")
		action, pattern, _ := strings.Cut(rest, " ")
		rs = append(rs, permission.Rule{Permission: name, Pattern: pattern, Action: permission.Action(action)})
	}
	return rs
}
