package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"helve"
	"helve/tool"
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

// A call that waits can be let go, and its command goes on.
func TestBackground(t *testing.T) {
	rt := open(t, helve.Options{})
	call := tool.Call{ID: "one", Tool: "bash", Session: "s", Input: json.RawMessage(`{"command":"echo begun; sleep 1000"}`)}
	seen, stop := contextUntil(t, rt, "one", "begun")
	defer stop()
	go func() {
		<-seen.Done()
		if !rt.Background("s", "one") {
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
	if rt.Background("s", "one") {
		t.Error("it was let go twice")
	}
	if err := rt.EndSession("s"); err != nil {
		t.Error(err)
	}
	jobs, err := rt.Jobs("s")
	if err != nil || len(jobs) != 1 || jobs[0].State != "ended" {
		t.Errorf("after the session: %+v, %v", jobs, err)
	}
}

// What a command started in the background is behind the rules of its session
// like anything that runs code.
func TestJobInputIsAsked(t *testing.T) {
	rt, err := helve.New(helve.Options{Dir: t.TempDir(), Unattended: true, Shell: helve.Shell{Helper: self(t)},
		Agents: helve.Agents(helve.AgentOptions{User: rulesOf("bash ask *", "bash allow cat *")})})
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
