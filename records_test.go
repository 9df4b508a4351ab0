package helve_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// A call is ended by whoever knows its name, and its caller and record say so.
func TestCancel(t *testing.T) {
	rt := open(t, helve.Options{DataDir: t.TempDir()})
	begun := make(chan *tool.Call, 1)
	register(t, rt, echo("wait", func(ctx context.Context, c *tool.Call, _ echoInput) (*tool.Result, error) {
		begun <- c
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	failed := make(chan error, 1)
	go func() {
		_, err := rt.Call(t.Context(), say("wait", ""))
		failed <- err
	}()
	c := <-begun
	if rt.Cancel(c.Session, "another") || rt.Cancel("another", c.ID) {
		t.Error("a call was ended that there is not")
	}
	if !rt.Cancel(c.Session, c.ID) {
		t.Fatal("the call was not found")
	}
	if e := kindOf(t, <-failed); e.Kind != tool.Canceled || !strings.Contains(e.Error(), "a person stopped it") {
		t.Errorf("%s: %v", e.Kind, e)
	}
	if rt.Cancel(c.Session, c.ID) {
		t.Error("it was ended twice")
	}
	row, err := rt.Records().Call(t.Context(), c.Session, c.ID)
	if err != nil || row.State != "error" || row.Error.Kind != tool.Canceled || row.Ended == 0 {
		t.Errorf("%+v %v", row, err)
	}
}

// A call whose process has ended is no more shown as running in the
// conversation than it is among the calls.
func TestMessagesOfAnEndedProcess(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.UseSession(t.Context(), record.Session{ID: "ses_a"})
	errs := []error{err}
	parts := []message.Part{}
	for _, id := range []string{"lost", "done", "unknown"} {
		if id != "unknown" {
			errs = append(errs, s.Begin(t.Context(), record.Call{ID: id, Session: "ses_a", Tool: "say", Input: "{}", Started: 1}))
		}
		parts = append(parts, message.Part{ID: "prt_" + id, Session: "ses_a", Message: "msg_a", Type: message.Tool, CallID: id, Tool: "say",
			State: &message.State{Status: message.Running, Input: []byte(`{"a":1}`)}})
	}
	errs = append(errs, s.Finish(record.Call{ID: "done", Session: "ses_a", State: record.Completed, Result: &tool.Result{Output: "said"}, Ended: 2}),
		s.Save(t.Context(), &message.Info{ID: "msg_a", Session: "ses_a", Role: message.Assistant}, parts), s.Close())
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	rt := open(t, helve.Options{DataDir: dir})
	whole, err := rt.Records().Messages(t.Context(), "ses_a")
	page, _, pageErr := rt.Records().MessagesBefore(t.Context(), record.MessageQuery{Session: "ses_a"})
	if err := errors.Join(err, pageErr); err != nil {
		t.Fatal(err)
	}
	for name, msgs := range map[string][]message.Message{"Messages": whole, "MessagesBefore": page} {
		got := ""
		for _, p := range msgs[0].Parts {
			got += fmt.Sprintf("%s %s %s%s %s\n", p.CallID, p.State.Status, p.State.Output, p.State.Error, p.State.Input)
		}
		want := "done completed said {\"a\":1}\nlost error interrupted: its process ended before it did {\"a\":1}\nunknown running  {\"a\":1}\n"
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", name, got, want)
		}
	}
}

func TestCallsArePaged(t *testing.T) {
	rt := open(t, helve.Options{DataDir: t.TempDir()})
	register(t, rt, echo("say", nil))
	for i := range 5 {
		for _, session := range []string{"ses_a", "ses_b"} { // with the same ids
			c := say("say", fmt.Sprint(i))
			c.Session, c.ID = session, fmt.Sprint("call_", i)
			if _, err := rt.Call(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	for before := ""; ; {
		page, err := rt.Records().Calls(t.Context(), record.CallQuery{Session: "ses_a", Limit: 2, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, c := range page {
			if c.Title != "say" || c.Result != nil || c.Input != "" {
				t.Errorf("%+v", c)
			}
			got, before = append(got, c.ID), c.Cursor
		}
	}
	if want := "call_4 call_3 call_2 call_1 call_0"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := rt.Records().Call(t.Context(), "ses_a", "call_9"); !errors.Is(err, record.ErrNotFound) {
		t.Error(err)
	}
}

// What may be read may be looked at; what would be asked about may not.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	rt := open(t, helve.Options{Dir: dir})
	for name, content := range map[string]string{
		"a.txt": "hello\n", ".env": "SECRET=1\n", "pic.png": "\x89PNG\r\n\x1a\n\xff\xfe", "long": strings.Repeat("ü", 1<<20),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := rt.File(t.Context(), "", "a.txt"); err != nil || f.Text != "hello\n" || f.Size != 6 || f.Truncated {
		t.Errorf("%+v %v", f, err)
	}
	if f, err := rt.File(t.Context(), "", "pic.png"); err != nil || f.Text != "" || f.Mime != "image/png" {
		t.Errorf("%+v %v", f, err)
	}
	if f, err := rt.File(t.Context(), "", "long"); err != nil || !f.Truncated || strings.Trim(f.Text, "ü") != "" || len(f.Text) < 1<<20-4 {
		t.Errorf("%d %v %v", len(f.Text), f.Truncated, err)
	}
	for _, name := range []string{".env", "../../etc/passwd", "/etc/passwd"} {
		if _, err := rt.File(t.Context(), "", name); tool.KindOf(err) != tool.Denied {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := rt.File(t.Context(), "", "none"); !errors.Is(err, record.ErrNotFound) {
		t.Error(err)
	}
	if _, err := rt.File(t.Context(), "nobody", "a.txt"); err == nil {
		t.Error("an agent that there is not may read")
	}
}

func TestNewSession(t *testing.T) {
	rt := open(t, helve.Options{DataDir: t.TempDir()})
	s, err := rt.Records().NewSession(t.Context(), "a title", "plan")
	if err != nil || s.Title != "a title" || s.Agent != "plan" || s.ID == "" {
		t.Fatalf("%+v %v", s, err)
	}
	if again, err := rt.Records().Session(t.Context(), s.ID); err != nil || again.Title != s.Title {
		t.Errorf("%+v %v", again, err)
	}
	if _, err := rt.Records().NewSession(t.Context(), "", "nobody"); err == nil {
		t.Error("made for nobody")
	}
	if _, err := rt.Records().Session(t.Context(), "ses_none"); !errors.Is(err, record.ErrNotFound) {
		t.Error(err)
	}
	if msgs, more, err := rt.Records().MessagesBefore(t.Context(), record.MessageQuery{Session: s.ID}); err != nil || more || len(msgs) != 0 {
		t.Errorf("%v %v %v", msgs, more, err)
	}
}

// An "always" keeps what the person made of what was offered.
func TestReplyWithOwnRules(t *testing.T) {
	asks := permission.Ruleset{{Permission: "put", Pattern: "*", Action: permission.Ask}}
	rt := open(t, helve.Options{DataDir: t.TempDir(), Agents: agent.Specs(agent.SpecOptions{User: asks})})
	register(t, rt, tool.New(tool.Spec{Name: "put", Description: "Asks."}, func(ctx context.Context, c *tool.Call, in echoInput) (*tool.Result, error) {
		err := c.Ask(ctx, permission.Request{Permission: "put", Patterns: []string{in.Say}, Always: []string{in.Say}})
		return &tool.Result{Output: in.Say}, err
	}))
	done := make(chan error, 1)
	go func() {
		_, err := rt.Call(t.Context(), say("put", "a/b"))
		done <- err
	}()
	var req permission.Request
	for e := range rt.Events(t.Context(), 0) {
		if asked, ok := e.Properties.(event.PermissionAsked); ok {
			req = asked.Request
			break
		}
	}
	for _, wrong := range [][]permission.Approval{
		{}, {{Permission: "bash", Pattern: "*"}}, {{Permission: "put"}}, {{Permission: "put", Pattern: strings.Repeat("x", 1<<17)}},
	} {
		err := rt.Requests().Reply(req.ID, permission.Reply{Verdict: permission.ReplyAlways, Store: wrong})
		if !errors.Is(err, permission.ErrBadReply) {
			t.Errorf("%.50v: %v", wrong, err)
		}
	}
	err := rt.Requests().Reply(req.ID, permission.Reply{Verdict: permission.ReplyReject, Store: req.Store})
	if !errors.Is(err, permission.ErrBadReply) {
		t.Error(err)
	}
	err = rt.Requests().Reply(req.ID, permission.Reply{Verdict: permission.ReplyAlways, Store: []permission.Approval{{Permission: "put", Pattern: "a/*"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := rt.Call(t.Context(), say("put", "a/c")); err != nil {
		t.Error(err)
	}
	kept, err := rt.Permissions().Approvals(req.Session)
	if err != nil || len(kept) != 1 || kept[0].Pattern != "a/*" || kept[0].Exact {
		t.Errorf("%+v %v", kept, err)
	}
}

// Where the data folder lies in the project, what is secret in it stays shut,
// by whatever road.
func TestRecordsAreShut(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(filepath.Join(data, "servers"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"data/serve-token": "s3cret", "data/servers/1.json": "s3cret", "own": "s3cret", "plain": "s3cret plain"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opt := helve.Options{Dir: dir, DataDir: data}
	opt.Shell.Wall.Hidden = []string{filepath.Join(dir, "own")}
	rt := open(t, opt)
	for _, name := range []string{"data/serve-token", "data/servers/1.json", "own"} {
		_, err := rt.Call(t.Context(), tool.Call{Tool: "read", Input: []byte(`{"filePath":"` + name + `"}`)})
		if tool.KindOf(err) != tool.Denied {
			t.Errorf("read %s: %v", name, err)
		}
		_, err = rt.Call(t.Context(), tool.Call{Tool: "bash", Input: []byte(`{"command":"cat ` + name + `","description":"x"}`)})
		if tool.KindOf(err) != tool.Denied {
			t.Errorf("cat %s: %v", name, err)
		}
		if _, err := rt.File(t.Context(), "", name); tool.KindOf(err) != tool.Denied {
			t.Errorf("look at %s: %v", name, err)
		}
	}
	res, err := rt.Call(t.Context(), tool.Call{Tool: "grep", Input: []byte(`{"pattern":"s3cret"}`)})
	if err != nil || !strings.Contains(res.Output, "plain") || strings.Contains(res.Output, "token") || strings.Contains(res.Output, "own") {
		t.Errorf("%v %v", res, err)
	}
}
