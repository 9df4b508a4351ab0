package helve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A cry panics when it is encoded.
type cry struct{}

func (cry) MarshalJSON() ([]byte, error) { panic("cry") }

// A mute is an error that panics when it is asked what is wrong.
type mute struct{}

func (mute) Error() string { panic("mute") }

// Whatever a tool does wrong is an error of that call.
func TestBadToolsBreakOnlyTheirCall(t *testing.T) {
	rt := open(t, helve.Options{})
	bad := map[string]func() (*tool.Result, error){
		"nothing":    func() (*tool.Result, error) { return nil, nil },
		"no cause":   func() (*tool.Result, error) { return nil, &tool.Error{} },
		"typed nil":  func() (*tool.Result, error) { return nil, (*tool.Error)(nil) },
		"channel":    func() (*tool.Result, error) { return &tool.Result{Metadata: map[string]any{"c": make(chan int)}}, nil },
		"nan":        func() (*tool.Result, error) { return &tool.Result{Metadata: map[string]any{"n": math.NaN()}}, nil },
		"cries":      func() (*tool.Result, error) { return &tool.Result{Metadata: map[string]any{"c": cry{}}}, nil },
		"nil panic":  func() (*tool.Result, error) { panic(nil) },
		"wrapped":    func() (*tool.Result, error) { return nil, fmt.Errorf("outside: %w", tool.Fail("x", "inside")) },
		"own limit":  func() (*tool.Result, error) { return nil, context.DeadlineExceeded },
		"own cancel": func() (*tool.Result, error) { return nil, context.Canceled },
		"exits":      func() (*tool.Result, error) { runtime.Goexit(); return nil, nil },
		"mute":       func() (*tool.Result, error) { return nil, mute{} },
	}
	register(t, rt, echo("bad", func(_ context.Context, _ *tool.Call, in echoInput) (*tool.Result, error) { return bad[in.Say]() }))
	for name, want := range map[string][2]string{
		"nothing": {"internal", ""}, "no cause": {"failed", "failed"}, "typed nil": {"failed", "failed"},
		"channel": {"internal", "bad-metadata"}, "cries": {"internal", ""}, "nil panic": {"internal", "panic"},
		"wrapped": {"failed", "x"}, "own limit": {"failed", "timeout"}, "own cancel": {"failed", "failed"},
		"nan": {"internal", "bad-metadata"}, "exits": {"failed", "failed"}, "mute": {"failed", "failed"},
	} {
		_, err := rt.Call(t.Context(), say("bad", name))
		e := kindOf(t, err)
		if string(e.Kind) != want[0] || want[1] != "" && e.Code != want[1] || e.Error() == "" {
			t.Errorf("%s: got %s %s %q", name, e.Kind, e.Code, e)
		}
		if name == "wrapped" && e.Error() != "outside: inside" {
			t.Errorf("what was said around an error is lost: %q", e)
		}
	}
	spec := tool.Spec{Name: "explains", Description: "Panics.", Explain: func([]tool.Issue) string { panic("explain") }}
	register(t, rt, tool.New(spec, func(context.Context, *tool.Call, echoInput) (*tool.Result, error) { return nil, nil }))
	_, err := rt.Call(t.Context(), tool.Call{Tool: "explains", Input: []byte(`{}`)})
	if e := kindOf(t, err); e.Kind != tool.Internal {
		t.Errorf("explain: %v", err)
	}
}

// What a caller gets is bounded whatever a tool says.
func TestErrorsAndMetadataAreBounded(t *testing.T) {
	rt := open(t, helve.Options{})
	register(t, rt, echo("loud", func(_ context.Context, _ *tool.Call, in echoInput) (*tool.Result, error) {
		if in.Say == "error" {
			return nil, tool.Fail("x", "%s", strings.Repeat("e", 1<<20))
		}
		return &tool.Result{Metadata: map[string]any{"m": strings.Repeat("m", 20<<20)}}, nil
	}))
	_, err := rt.Call(t.Context(), say("loud", "error"))
	if e := kindOf(t, err); e.Code != "x" || len(e.Error()) > 52<<10 || !strings.Contains(e.Error(), "1048576 bytes in all") {
		t.Errorf("an error of %d bytes, code %s", len(err.Error()), e.Code)
	}
	res, err := rt.Call(t.Context(), say("loud", ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := res.Metadata["m"]; ok || res.Metadata["omitted"] == nil || res.Metadata["truncated"] != false {
		t.Errorf("metadata of 20 MB came through: %d keys", len(res.Metadata))
	}
	_, err = rt.Call(t.Context(), tool.Call{Tool: strings.Repeat("x", 1<<20)})
	if e := kindOf(t, err); e.Kind != tool.UnknownTool || len(e.Error()) > 1000 {
		t.Errorf("a name of 1 MB gives an error of %d bytes", len(err.Error()))
	}
}

func TestHangingOfferDoesNotHoldACall(t *testing.T) {
	rt := open(t, helve.Options{})
	release := make(chan struct{})
	register(t, rt, offering("stuck", func(tool.Audience) (string, bool) { <-release; return "", true }))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := rt.Call(ctx, tool.Call{Tool: "stuck"})
	if e := kindOf(t, err); e.Kind != tool.Canceled {
		t.Errorf("got %s %v", e.Kind, err)
	}
	close(release)
}

func TestCancelledWithACause(t *testing.T) {
	rt := open(t, helve.Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	register(t, rt, echo("waits", func(ctx context.Context, _ *tool.Call, _ echoInput) (*tool.Result, error) {
		cancel(errors.New("the person pressed stop"))
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}))
	_, err := rt.Call(ctx, say("waits", ""))
	if e := kindOf(t, err); e.Kind != tool.Canceled || e.Code != "canceled" || !strings.Contains(e.Error(), "pressed stop") {
		t.Errorf("got %s %s %v", e.Kind, e.Code, e)
	}
}

func TestHooksChangeOnlyTheArguments(t *testing.T) {
	stuck := make(chan struct{})
	hang := false
	rt := open(t, helve.Options{Hooks: []helve.Hook{{Before: func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		c.ID, c.Session, c.Tool, c.Agent = "x", "y", "z", "w"
		if hang {
			<-stuck
		}
		return nil, nil
	}}}})
	register(t, rt, echo("echo", func(_ context.Context, c *tool.Call, _ echoInput) (*tool.Result, error) {
		return &tool.Result{Output: c.Tool + c.Session}, nil
	}))
	call := say("echo", "")
	call.Session = "s"
	if res, err := rt.Call(t.Context(), call); err != nil || res.Output != "echos" {
		t.Errorf("got %+v %v", res, err)
	}
	hang = true
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := rt.Call(ctx, call)
	if e := kindOf(t, err); e.Kind != tool.Canceled {
		t.Errorf("a hook that hangs: %v", err)
	}
	close(stuck)
}

// A report is what it was when it was made, whatever the tool does with its
// map afterwards. The race detector sees to the rest.
func TestReportsAreCopies(t *testing.T) {
	rt := open(t, helve.Options{})
	register(t, rt, echo("counts", func(_ context.Context, c *tool.Call, _ echoInput) (*tool.Result, error) {
		m := map[string]any{}
		for i := range 200 {
			m["n"] = i
			c.Progress("", m)
		}
		return &tool.Result{Metadata: m}, nil
	}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		next := 0.0
		for e := range rt.Events(t.Context(), 0) {
			if _, err := json.Marshal(e); err != nil {
				t.Error(err)
			}
			switch p := e.Properties.(type) {
			case event.CallProgress:
				if p.Metadata["n"] != next {
					t.Errorf("report %v says %v", next, p.Metadata["n"])
				}
				next++
			case event.CallFinished:
				return
			}
		}
	}()
	res, err := rt.Call(t.Context(), say("counts", ""))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		res.Metadata["n"] = i
	}
	<-done
}

func TestCloseCancelsAndRecords(t *testing.T) {
	dir := t.TempDir()
	rt, err := helve.Open(helve.Options{Dir: t.TempDir(), DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	register(t, rt, echo("waits", func(ctx context.Context, _ *tool.Call, _ echoInput) (*tool.Result, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	ended := make(chan error, 1)
	go func() {
		_, err := rt.Call(context.Background(), say("waits", ""))
		ended <- err
	}()
	<-begun
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if e := kindOf(t, <-ended); e.Kind != tool.Canceled || e.Code != "closed" {
		t.Errorf("the call under way: %s %s %v", e.Kind, e.Code, e)
	}
	_, err = rt.Call(t.Context(), say("waits", ""))
	if e := kindOf(t, err); e.Kind != tool.Canceled || e.Code != "closed" {
		t.Errorf("a call afterwards: %v", err)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
}

func TestSessionApprovalsOutliveTheProcess(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	agents := agent.Specs(agent.SpecOptions{DataDir: data, User: config(t, `{"todoread":"ask"}`)})
	call := tool.Call{Tool: "todoread", Session: "s"}
	first, err := helve.Open(helve.Options{Dir: dir, DataDir: data, Agents: agents})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for e := range first.Events(t.Context(), 0) {
			if p, ok := e.Properties.(event.PermissionAsked); ok {
				_ = first.Requests().Reply(p.ID, permission.Reply{Verdict: permission.ReplyAlways})
			}
		}
	}()
	if _, err := first.Call(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	later := open(t, helve.Options{Dir: dir, DataDir: data, Agents: agents, Unattended: true})
	if _, err := later.Call(t.Context(), call); err != nil {
		t.Errorf("the same session: %v", err)
	}
	call.Session = "other"
	if _, err := later.Call(t.Context(), call); tool.KindOf(err) != tool.Unattended {
		t.Errorf("another session: %v", err)
	}
	kept, err := later.Permissions().Approvals("s")
	if err != nil || len(kept) != 1 || kept[0].Created.IsZero() {
		t.Fatalf("listed: %+v %v", kept, err)
	}
	if err := later.EndSession("s"); err != nil {
		t.Error(err)
	}
	call.Session = "s"
	if _, err := later.Call(t.Context(), call); tool.KindOf(err) != tool.Unattended {
		t.Errorf("after its end: %v", err)
	}
}

// A tool from outside that has changed since it was approved is asked about
// again, whatever the rules say.
func TestChangedToolIsAskedAboutAgain(t *testing.T) {
	data := t.TempDir()
	shaped := func(description string) tool.Tool {
		return tool.New(tool.Spec{Name: "fs_read", Description: description, External: true},
			func(ctx context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
				err := c.Ask(ctx, permission.Request{Permission: "fs_read", Patterns: []string{"*"}, Always: []string{"*"}})
				return &tool.Result{}, err
			})
	}
	agents := agent.Specs(agent.SpecOptions{DataDir: data, User: config(t, `{"fs_read":"ask"}`)})
	rt := open(t, helve.Options{DataDir: data, Agents: agents})
	remove := register(t, rt, shaped("as approved"))
	go func() {
		for e := range rt.Events(t.Context(), 0) {
			if p, ok := e.Properties.(event.PermissionAsked); ok {
				_ = rt.Requests().Reply(p.ID, permission.Reply{Verdict: permission.ReplyAlways, Scope: permission.User})
			}
		}
	}()
	if _, err := rt.Call(t.Context(), tool.Call{Tool: "fs_read"}); err != nil {
		t.Fatal(err)
	}
	remove()
	rt.Leave()
	register(t, rt, shaped("as approved"))
	if _, err := rt.Call(t.Context(), tool.Call{Tool: "fs_read"}); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	register(t, rt, shaped("changed since"))
	if _, err := rt.Call(t.Context(), tool.Call{Tool: "fs_read"}); tool.KindOf(err) != tool.Unattended {
		t.Errorf("changed: %v", err)
	}
}

func TestKeptOutputsStayWithinTheQuota(t *testing.T) {
	data := t.TempDir()
	rt := open(t, helve.Options{DataDir: data, Limits: helve.Limits{Bytes: 100, Quota: 10_000}})
	register(t, rt, echo("long", func(context.Context, *tool.Call, echoInput) (*tool.Result, error) {
		return &tool.Result{Output: strings.Repeat("x", 4000)}, nil
	}))
	for range 20 {
		if _, err := rt.Call(t.Context(), say("long", "")); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(data, "tool-output", "tool_*"))
	if err != nil || len(files) == 0 || len(files) > 3 {
		t.Errorf("%d outputs of 4,000 bytes are kept under a quota of 10,000 (%v)", len(files), err)
	}
}

func TestOutputsWithoutADataFolderCanBeRead(t *testing.T) {
	rt := open(t, helve.Options{Unattended: true})
	register(t, rt, echo("long", func(context.Context, *tool.Call, echoInput) (*tool.Result, error) {
		return &tool.Result{Output: strings.Repeat("line\n", 3000)}, nil
	}))
	res, err := rt.Call(t.Context(), say("long", ""))
	if err != nil {
		t.Fatal(err)
	}
	in := fmt.Appendf(nil, `{"filePath":%q}`, res.Metadata["outputPath"])
	if _, err := rt.Call(t.Context(), tool.Call{Tool: "read", Input: in}); err != nil {
		t.Error(err)
	}
	path := res.Metadata["outputPath"].(string)
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the output is still there: %v", err)
	}
}

// A folder can claim to be a worktree of another's repository; it gets the
// approvals of that project only if the repository knows it.
func TestProjectIsNotTakenOnTrust(t *testing.T) {
	victim, guest, data := t.TempDir(), t.TempDir(), t.TempDir()
	admin := filepath.Join(victim, ".git", "worktrees", "guest")
	if err := os.MkdirAll(admin, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(guest, ".git"), "gitdir: "+admin+"\n")
	agents := agent.Specs(agent.SpecOptions{DataDir: data, User: config(t, `{"todoread":"ask"}`)})
	at := func(dir string) *helve.Runtime {
		return open(t, helve.Options{Dir: dir, DataDir: data, Agents: agents})
	}
	home := at(victim)
	go func() {
		for e := range home.Events(t.Context(), 0) {
			if p, ok := e.Properties.(event.PermissionAsked); ok {
				_ = home.Requests().Reply(p.ID, permission.Reply{Verdict: permission.ReplyAlways, Scope: permission.Project})
			}
		}
	}()
	if _, err := home.Call(t.Context(), tool.Call{Tool: "todoread"}); err != nil {
		t.Fatal(err)
	}
	allowed := func() bool {
		ds, err := at(guest).Permissions().Decide("", permission.Request{Permission: "todoread", Patterns: []string{"*"}})
		return err == nil && ds[0].Action == permission.Allow
	}
	if allowed() {
		t.Error("a folder took another project's approvals")
	}
	// A name that only looks as if it went through the repository.
	forged := filepath.Join(guest, "wt")
	if err := os.MkdirAll(forged, 0o755); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(forged, "gitdir"), filepath.Join(guest, ".git")+"\n")
	up := strings.Repeat("../", strings.Count(admin, "/"))
	write(filepath.Join(guest, ".git"), "gitdir: "+admin+"/"+up+forged[1:]+"\n")
	if allowed() {
		t.Error("a folder took another project's approvals by a name with dots")
	}
	write(filepath.Join(guest, ".git"), "gitdir: "+admin+"\n")
	write(filepath.Join(admin, "gitdir"), filepath.Join(guest, ".git")+"\n")
	if !allowed() {
		t.Error("a real worktree does not share its project's approvals")
	}
}

// A runtime works in a folder that is there, and says so where it is not.
func TestWorkingFolderHasToBeThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ dir, want string }{
		{filepath.Join(dir, "gone"), "is not there: make it, or name another"},
		{file, "is a file: name the folder that it lies in"},
		{filepath.Join(file, "below"), "the working folder"},
	} {
		rt, err := helve.Open(helve.Options{Dir: tt.dir})
		if err == nil {
			_ = rt.Close() // there should be none
			t.Errorf("there is a runtime in %s", tt.dir)
		} else if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.dir) {
			t.Errorf("%s: %v", tt.dir, err)
		}
	}
	if _, err := helve.Open(helve.Options{Dir: filepath.Join(dir, "gone")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is another kind of error", err)
	}
}
