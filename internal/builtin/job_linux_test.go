package builtin_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// look calls the tool that looks after jobs.
func look(t *testing.T, rt *helve.Runtime, session string, args map[string]any) (string, error) {
	t.Helper()
	input, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.Call(t.Context(), tool.Call{Tool: "job", Session: session, Input: input})
	if err != nil {
		return "", err
	}
	return res.Output, nil
}

// What a line leaves running goes on by itself where bash.detach names one of its
// commands, however it is written.
func TestDetachedLines(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	rt := open(t, helve.Options{Shell: helve.Shell{Detach: []string{"nohup *", "setsid *"}}})
	for line, want := range map[string]bool{
		"nohup sleep 0.5 &":                    true,
		"setsid -f sleep 0.5":                  true,
		"cd . && nohup sleep 0.5 > log 2>&1 &": true,
		"(setsid sleep 0.5 &)":                 true,
		"A=1 /usr/bin/nohup sleep 0.5 &":       true,
		"echo nohup; sleep 0.5 &":              false,
		"sleep 0.5 & # nohup x":                false,
	} {
		t.Run(line, func(t *testing.T) {
			res, fail := sh(t, rt, map[string]any{"command": line})
			if fail != nil {
				t.Fatal(fail)
			}
			if got := strings.Contains(res.Output, "goes on by itself") && strings.Contains(res.Output, "helve-detached-"); got != want || (res.Metadata["job"] == nil) != want {
				t.Errorf("it is %v\n%s", res.Metadata, res.Output)
			}
		})
	}
}

func TestJob(t *testing.T) {
	rt := open(t, helve.Options{DataDir: t.TempDir()})
	res, fail := sh(t, rt, map[string]any{"command": "echo begun; cat; echo over", "background": true})
	if fail != nil {
		t.Fatal(fail)
	}
	id, _ := res.Metadata["job"].(string)
	must := func(want string, args map[string]any) {
		t.Helper()
		got, err := look(t, rt, "s", args)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%v: %v\n%s", args, err, got)
		}
	}
	must("running", map[string]any{"action": "list"})
	must("Sent 3 bytes", map[string]any{"action": "write", "id": id, "input": "in\n"})
	must("it has printed what was waited for", map[string]any{"action": "wait", "id": id, "until": "in", "timeout": 10000})
	must("still running after 1 ms", map[string]any{"action": "wait", "id": id, "timeout": 1})
	must("begun\nin\n", map[string]any{"action": "output", "id": id})
	if _, err := look(t, rt, "another", map[string]any{"action": "output", "id": id}); err == nil {
		t.Error("a job of another session is shown")
	}
	must("Sent 0 bytes", map[string]any{"action": "write", "id": id, "close": true})
	must("ended with exit code 0", map[string]any{"action": "wait", "id": id, "timeout": 10000})
	must("over", map[string]any{"action": "output", "id": id, "offset": -5})

	res, _ = sh(t, rt, map[string]any{"command": "trap 'echo caught; exit 7' INT; while :; do sleep 0.05; done", "background": true})
	id, _ = res.Metadata["job"].(string)
	must("Sent INT", map[string]any{"action": "signal", "id": id, "signal": "INT"})
	must("ended with exit code 7", map[string]any{"action": "wait", "id": id, "timeout": 10000})

	res, _ = sh(t, rt, map[string]any{"command": "sleep 1000", "background": true})
	id, _ = res.Metadata["job"].(string)
	must("ended by SIGTERM", map[string]any{"action": "stop", "id": id})
}

// However many milliseconds a wait is given, they are not taken for few.
func TestJobWaitsLong(t *testing.T) {
	rt := open(t, helve.Options{})
	for _, most := range []int64{9_300_000_000_000, 1 << 44, 18_446_744_073_710, 1<<53 - 1} {
		res, fail := sh(t, rt, map[string]any{"command": "sleep 0.3; echo late; cat", "background": true})
		if fail != nil {
			t.Fatal(fail)
		}
		id, _ := res.Metadata["job"].(string)
		got, err := look(t, rt, "s", map[string]any{"action": "wait", "id": id, "until": "late", "timeout": most})
		if err != nil || !strings.Contains(got, "it has printed what was waited for") {
			t.Errorf("%d: %v\n%s", most, err, got)
		}
	}
}

// A call that waits can be let go, and its command goes on.
func TestBackground(t *testing.T) {
	rt := open(t, helve.Options{})
	call := tool.Call{ID: "one", Tool: "bash", Session: "s", Input: json.RawMessage(`{"command":"echo begun; sleep 1000"}`)}
	seen, stop := contextUntil(t, rt, "one", "begun")
	defer stop()
	go func() {
		<-seen.Done()
		if !rt.Jobs().Background("s", "one") {
			t.Error("there was no command to let go")
		}
	}()
	res, err := rt.Call(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if res.Metadata["job"] == nil || !strings.Contains(res.Output, "begun") {
		t.Errorf("%+v", res)
	}
	if rt.Jobs().Background("s", "one") {
		t.Error("it was let go twice")
	}
	if err := rt.EndSession("s"); err != nil {
		t.Error(err)
	}
	jobs, err := rt.Jobs().List("s")
	if err != nil || len(jobs) != 1 || jobs[0].State != "ended" {
		t.Errorf("after the session: %+v, %v", jobs, err)
	}
}

// What a command started in the background is behind the rules of its session
// like anything that runs code.
func TestJobInputIsAsked(t *testing.T) {
	rt, err := helve.Open(helve.Options{Dir: t.TempDir(), Unattended: true, Shell: helve.Shell{Helper: self(t)},
		Agents: agent.Specs(agent.SpecOptions{User: rulesOf("bash ask *", "bash allow cat *")})})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	res, fail := sh(t, rt, map[string]any{"command": "cat", "background": true})
	if fail != nil {
		t.Fatal(fail)
	}
	_, err = look(t, rt, "s", map[string]any{"action": "write", "id": res.Metadata["job"], "input": "x"})
	if tool.KindOf(err) != tool.Unattended {
		t.Errorf("%v", err)
	}
}

// What a job destroys after the call has returned can be brought back, however
// the job ends.
func TestUndoOfJobs(t *testing.T) {
	end := func(t *testing.T, rt *helve.Runtime, id string) {
		if _, err := look(t, rt, "s", map[string]any{"action": "wait", "id": id, "timeout": 60000}); err != nil {
			t.Fatal(err)
		}
	}
	// The command goes on when the file "go" is there, so that nothing is
	// destroyed before the call has returned.
	const hold = "until [ -e go ]; do sleep 0.02; done; "
	for name, tc := range map[string]struct {
		command string
		args    map[string]any
		detach  bool
		end     func(t *testing.T, rt *helve.Runtime, id string)
	}{
		"background": {command: "echo up; " + hold + "rm -rf e", args: map[string]any{"background": true}, end: end},
		"left":       {command: "(" + hold + "rm -rf e) & echo up", end: end},
		"detached":   {command: "echo up; " + hold + "rm -rf e", detach: true, end: end},
		"session": {command: "echo up; " + hold + "rm -rf e; echo gone; sleep 1000", args: map[string]any{"background": true},
			end: func(t *testing.T, rt *helve.Runtime, id string) {
				if _, err := look(t, rt, "s", map[string]any{"action": "wait", "id": id, "until": "gone", "timeout": 60000}); err != nil {
					t.Fatal(err)
				}
				if err := rt.EndSession("s"); err != nil {
					t.Fatal(err)
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "e", "deep", "f.txt")
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("dear"), 0o600)); err != nil {
				t.Fatal(err)
			}
			rt := open(t, helve.Options{Dir: dir, DataDir: t.TempDir()})
			if tc.detach {
				seen, stop := contextUntil(t, rt, "c", "up")
				defer stop()
				go func() {
					<-seen.Done()
					rt.Jobs().Background("s", "c")
				}()
			}
			args := map[string]any{"command": tc.command}
			maps.Copy(args, tc.args)
			input, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			res, err := rt.Call(t.Context(), tool.Call{ID: "c", Tool: "bash", Session: "s", Input: input})
			if err != nil {
				t.Fatal(err)
			}
			id, _ := res.Metadata["job"].(string)
			if id == "" || res.Metadata["undo"] != nil || !strings.Contains(res.Output, "Kept for undo: ") {
				t.Fatalf("%+v", res)
			}
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			tc.end(t, rt, id)
			if _, err := os.Stat(file); err == nil {
				t.Fatal("nothing was destroyed")
			}
			if _, err := rt.Records().Undo(t.Context(), record.UndoRequest{Call: "c"}); err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(file); err != nil || string(data) != "dear" {
				t.Errorf("%q, %v", data, err)
			}
		})
	}
}

// What only a running job can do is refused for one that has ended, and
// waiting says what came of it.
func TestJobEnded(t *testing.T) {
	rt := open(t, helve.Options{})
	res, fail := sh(t, rt, map[string]any{"command": "sleep 1000 & echo up"})
	if fail != nil {
		t.Fatal(fail)
	}
	id, _ := res.Metadata["job"].(string)
	wait := func(args map[string]any) map[string]any {
		t.Helper()
		args["action"], args["id"] = "wait", id
		input, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		res, err := rt.Call(t.Context(), tool.Call{Tool: "job", Session: "s", Input: input})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]any{}
		for _, name := range []string{"seen", "timedOut", "ended"} {
			if v, ok := res.Metadata[name]; ok {
				out[name] = v
			}
		}
		return out
	}
	for _, tc := range []struct {
		args map[string]any
		want map[string]any
	}{
		{map[string]any{"timeout": 600}, map[string]any{"timedOut": true, "ended": false}}, // its command has ended, it has not
		{map[string]any{"timeout": 1, "until": "down"}, map[string]any{"seen": false, "timedOut": true, "ended": false}},
		{map[string]any{"timeout": 60000, "until": "up"}, map[string]any{"seen": true, "timedOut": false, "ended": false}},
	} {
		if got := wait(tc.args); !maps.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.args, got, tc.want)
		}
	}
	out, err := look(t, rt, "s", map[string]any{"action": "stop", "id": id})
	if err != nil || !strings.Contains(out, "the job is ended (the command had exit code 0)") {
		t.Errorf("%v: %s", err, out)
	}
	if got, want := wait(map[string]any{"until": "down"}), (map[string]any{"seen": false, "timedOut": false, "ended": true}); !maps.Equal(got, want) {
		t.Errorf("after the end: %v", got)
	}
	for _, args := range []map[string]any{
		{"action": "write", "input": "x"}, {"action": "signal", "signal": "INT"}, {"action": "stop"},
	} {
		args["id"] = id
		_, err := look(t, rt, "s", args)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Code != "ended" || !strings.Contains(e.Error(), "The action output shows") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// Where no more jobs may run, none is started to be ended, and what runs goes
// on.
func TestJobsFull(t *testing.T) {
	dir := t.TempDir()
	rt := open(t, helve.Options{Dir: dir, Shell: helve.Shell{Jobs: 1}})
	if _, fail := sh(t, rt, map[string]any{"command": "sleep 1000", "background": true}); fail != nil {
		t.Fatal(fail)
	}
	_, fail := sh(t, rt, map[string]any{"command": "touch begun; sleep 1000", "background": true})
	if fail == nil || fail.Code != "jobs-full" || !strings.Contains(fail.Hint, "Stop a job") {
		t.Fatalf("%+v", fail)
	}
	if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
		t.Error("the command was started")
	}
	seen, stop := contextUntil(t, rt, "c", "up")
	defer stop()
	let := make(chan bool, 1)
	go func() {
		<-seen.Done()
		let <- rt.Jobs().Background("s", "c")
		_ = os.WriteFile(filepath.Join(dir, "go"), nil, 0o600)
	}()
	res, err := rt.Call(t.Context(), tool.Call{ID: "c", Tool: "bash", Session: "s",
		Input: json.RawMessage(`{"command":"echo up; until [ -e go ]; do sleep 0.02; done; echo done"}`)})
	if err != nil || <-let || !strings.HasPrefix(res.Output, "up\ndone\n") || res.Metadata["job"] != nil {
		t.Errorf("%+v, %v", res, err)
	}
	res, fail = sh(t, rt, map[string]any{"command": "sleep 1000 & until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done; echo up"})
	if fail != nil || res.Metadata["job"] != nil || !strings.Contains(res.Output, "What the command left running (sleep (") ||
		!strings.Contains(res.Output, "was ended: too many jobs") {
		t.Errorf("%+v, %v", res, fail)
	}
}
