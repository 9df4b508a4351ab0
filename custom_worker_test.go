package helve_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// A file that the engine within can not run is asked about when it is called,
// and runs in node behind the wall once a person has said yes.
func TestWorkerQuestion(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const project = `
-- .opencode/tool/wasm.ts --
export default {
  description: "needs WebAssembly", args: {},
  async execute() { return "valid: " + WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) },
}
`
	rt, _ := owned(t, project, helve.Options{Shell: helve.Shell{Helper: self}, Plugins: plugin.Options{Worker: "node"}})
	if lacks := rt.ShellInfo().NoWall; lacks != "" {
		t.Skip("there is no wall: " + lacks)
	}
	for _, verdict := range []permission.Verdict{permission.ReplyReject, permission.ReplyOnce} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		done := make(chan error, 1)
		var res *tool.Result
		go func() {
			var err error
			res, err = rt.Call(ctx, tool.Call{Tool: "wasm", Input: json.RawMessage(`{}`)})
			done <- err
		}()
		answered := reply(ctx, rt, "worker", verdict)
		err := <-done
		cancel()
		switch {
		case !answered:
			t.Fatalf("nobody was asked: %v", err)
		case verdict == permission.ReplyReject && err == nil:
			t.Errorf("it ran without leave: %v", res)
		case verdict == permission.ReplyOnce && (err != nil || res.Output != "valid: true"):
			t.Errorf("it did not run: %v, %v", res, err)
		}
	}
}

// reply answers the next request about a permission.
func reply(ctx context.Context, rt *helve.Runtime, name string, verdict permission.Verdict) bool {
	for ctx.Err() == nil {
		for _, req := range rt.Requests().Pending() {
			if req.Permission == name {
				return rt.Requests().Reply(req.ID, permission.Reply{Verdict: verdict}) == nil
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	return false
}
