package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

func TestCall(t *testing.T) {
	t.Parallel()
	h := build(t, changes{rules: permission.Ruleset{deny("read", "secret.txt")}})
	h.write(t, "a.txt", "over <HTTP>")
	h.write(t, "secret.txt", "x")
	own(t, h, "breaks", func(context.Context, *tool.Call, string) (*tool.Result, error) { panic("oh") })
	own(t, h, "tries", func(context.Context, *tool.Call, string) (*tool.Result, error) {
		return nil, tool.Fail("no-luck", "It did not work: try something else.")
	})
	done := do[called](t, h, 200, "POST /v1/calls", fields{"tool": "read", "input": fields{"filePath": "a.txt"}, "session": "ses_a", "id": "call_a"})
	if done.ID != "call_a" || done.Session != "ses_a" || !strings.Contains(done.Result.Output, "over <HTTP>") {
		t.Errorf("%+v", done)
	}
	if as := do[called](t, h, 200, "POST /v1/calls", fields{"tool": "read", "args": fields{"filePath": "a.txt"}}); as.Result.Output != done.Result.Output {
		t.Errorf("args is not input: %+v", as)
	}
	rec := do[record.Call](t, h, 200, "GET /v1/sessions/ses_a/calls/call_a", nil)
	if rec.State != "completed" || rec.Input != `{"filePath":"a.txt"}` || rec.Result == nil || rec.Result.Output != done.Result.Output {
		t.Errorf("%+v", rec)
	}
	for name, c := range map[string]struct {
		in   fields
		want problem
	}{
		"no tool":    {fields{"tool": "nonesuch"}, problem{Status: 404, Kind: tool.UnknownTool, Code: "unknown-tool"}},
		"bad input":  {fields{"tool": "read", "input": fields{"filePath": 1}}, problem{Status: 422, Kind: tool.InvalidInput, Code: "type"}},
		"denied":     {fields{"tool": "read", "input": fields{"filePath": "secret.txt"}}, problem{Status: 403, Kind: tool.Denied, Code: "denied"}},
		"failed":     {fields{"tool": "tries"}, problem{Status: 422, Kind: tool.Failed, Code: "no-luck", Detail: "try something else"}},
		"internal":   {fields{"tool": "breaks"}, problem{Status: 500, Kind: tool.Internal, Code: "panic"}},
		"id taken":   {fields{"tool": "tries", "session": "ses_a", "id": "call_a"}, problem{Status: 422, Kind: tool.InvalidInput, Code: "duplicate-id"}},
		"taken, 202": {fields{"tool": "tries", "session": "ses_a", "id": "call_a", "wait": false}, problem{Status: 422, Kind: tool.InvalidInput, Code: "duplicate-id"}},
		"no body":    {fields{}, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request", Detail: "body.tool"}},
		"unknown":    {fields{"tool": "tries", "more": 1}, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request", Detail: "body.more: unexpected property; there are agent, args, id, input, "}},
		"near":       {fields{"tool": "tries", "inputs": fields{}}, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request", Detail: `body.inputs: unexpected property (did you mean "input"?).`}},
		"twice":      {fields{"tool": "tries", "input": fields{}, "args": fields{}}, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request", Detail: "body.args: input and args are two names of one thing"}},
		"long":       {fields{"tool": strings.Repeat("x", 257)}, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"}},
	} {
		p := fails(t, h, "POST /v1/calls", c.in, c.want)
		if own := c.want.Code != "bad-request" && c.in["wait"] == nil; own && (p.Call == "" || p.Session == "") {
			t.Errorf("%s: no call: %+v", name, p)
		}
	}
	p := fails(t, h, "POST /v1/calls", fields{"tool": "read", "input": fields{"filePath": 1}}, problem{Status: 422, Kind: tool.InvalidInput, Code: "type"})
	if len(p.Issues) != 1 || fmt.Sprint(p.Issues[0].Path) != "[filePath]" || p.Issues[0].Code != "type" || p.Issues[0].Expected != "string" {
		t.Errorf("%+v", p.Issues)
	}
}

// Calls that name no session share one.
func TestCallsShareASession(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	h.write(t, "a.txt", "x")
	in := fields{"tool": "read", "input": fields{"filePath": "a.txt"}}
	one, two := do[called](t, h, 200, "POST /v1/calls", in), do[called](t, h, 200, "POST /v1/calls", in)
	if one.Session == "" || one.Session != two.Session || one.ID == two.ID {
		t.Errorf("%+v %+v", one, two)
	}
}

// A call that is waited for ends when the client leaves.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	began, ended := hangs(t, h)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = h.send(ctx, "POST /v1/calls", fields{"tool": "hang"})
	}()
	id := <-began
	leave()
	if got := <-ended; got != id {
		t.Errorf("%s ended, not %s", got, id)
	}
	<-gone
}

// A call that is not waited for goes on, until it is cancelled.
func TestCancelCall(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	began, ended := hangs(t, h)
	c := do[called](t, h, 202, "POST /v1/calls", fields{"tool": "hang", "wait": false})
	do[record.Call](t, h, 200, "GET /v1/sessions/"+c.Session+"/calls/"+c.ID, nil)
	if id := <-began; id != c.ID || c.Result != nil {
		t.Errorf("%+v", c)
	}
	at := "/v1/sessions/" + c.Session + "/calls/" + c.ID
	if rec := do[record.Call](t, h, 200, "GET "+at, nil); rec.State != "running" {
		t.Errorf("%+v", rec)
	}
	fails(t, h, "POST "+at+"x/cancel", nil, problem{Status: 404, Code: "not-found"})
	do[none](t, h, 204, "POST "+at+"/cancel", nil)
	<-ended
	eventually(t, "the end of the call", func() bool {
		rec := do[record.Call](t, h, 200, "GET "+at, nil)
		return rec.State == "error" && rec.Error.Kind == tool.Canceled
	})
	fails(t, h, "POST "+at+"/cancel", nil, problem{Status: 404, Code: "not-found"})

	// One that is waited for says so.
	later := behind(t, h, "POST /v1/calls", fields{"tool": "hang", "session": "ses_b", "id": "call_b"})
	<-began
	do[none](t, h, 204, "POST /v1/sessions/ses_b/calls/call_b/cancel", nil)
	if p := problemIn(t, <-later); p.Status != 409 || p.Kind != tool.Canceled || p.Call != "call_b" || p.Session != "ses_b" {
		t.Errorf("%+v", p)
	}
}

// Close ends all calls, and nothing begins afterwards.
func TestCloseEndsCalls(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	began, ended := hangs(t, h)
	do[called](t, h, 202, "POST /v1/calls", fields{"tool": "hang", "wait": false})
	later := behind(t, h, "POST /v1/calls", fields{"tool": "hang"})
	<-began
	<-began
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	<-ended
	if p := problemIn(t, <-later); p.Kind != tool.Canceled {
		t.Errorf("%+v", p)
	}
	for _, wait := range []bool{true, false} {
		fails(t, h, "POST /v1/calls", fields{"tool": "hang", "wait": wait}, problem{Status: 503, Code: "closed"})
	}
	fails(t, h, "POST /v1/prompts", fields{"text": "hello"}, problem{Status: 503, Code: "closed"})
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// There is room for so many calls that nobody waits for.
func TestRoomForCalls(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	began, _ := hangs(t, h)
	for range maxDetached {
		do[called](t, h, 202, "POST /v1/calls", fields{"tool": "hang", "wait": false})
	}
	fails(t, h, "POST /v1/calls", fields{"tool": "hang", "wait": false}, problem{Status: 503, Code: "full"})
	fails(t, h, "POST /v1/prompts", fields{"text": "hello"}, problem{Status: 503, Code: "full"})
	first := <-began
	do[none](t, h, 204, "POST /v1/sessions/"+h.session()+"/calls/"+first+"/cancel", nil)
	eventually(t, "room", func() bool {
		g, err := h.send(t.Context(), "POST /v1/calls", fields{"tool": "hang", "wait": false})
		if err != nil {
			t.Fatal(err)
		}
		return g.status == http.StatusAccepted
	})
}

func TestListCalls(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	h.write(t, "a.txt", "x")
	for i := range 5 {
		at := fields{"tool": "read", "input": fields{"filePath": "a.txt"}, "session": "ses_a", "id": fmt.Sprintf("call_%d", i)}
		if i == 3 {
			at["tool"], at["input"] = "glob", fields{"pattern": "*"}
		}
		do[called](t, h, 200, "POST /v1/calls", at)
	}
	do[called](t, h, 200, "POST /v1/calls", fields{"tool": "read", "input": fields{"filePath": "a.txt"}, "session": "ses_b", "id": "call_b"})
	fails(t, h, "POST /v1/calls", fields{"tool": "read", "input": fields{"filePath": "none.txt"}, "session": "ses_b", "id": "call_c"}, problem{Status: 422, Kind: tool.Failed, Code: "not-found"})
	after := func(limit int) string {
		page := do[calls](t, h, 200, fmt.Sprintf("GET /v1/calls?limit=%d", limit), nil)
		if page.Next == "" || !page.More {
			t.Fatalf("%+v", page)
		}
		return page.Next
	}
	for query, want := range map[string]string{
		"/v1/calls":                                   "call_c call_b call_4 call_3 call_2 call_1 call_0 false",
		"/v1/calls?limit=2":                           "call_c call_b true",
		"/v1/calls?limit=2&before=" + after(2):        "call_4 call_3 true",
		"/v1/calls?limit=3&before=" + after(4):        "call_2 call_1 call_0 false",
		"/v1/calls?state=error":                       "call_c false",
		"/v1/calls?tool=glob":                         "call_3 false",
		"/v1/calls?tool=nonesuch":                     "false",
		"/v1/sessions/ses_b/calls":                    "call_c call_b false",
		"/v1/sessions/ses_a/calls?limit=5":            "call_4 call_3 call_2 call_1 call_0 false",
		"/v1/sessions/ses_a/calls?limit=1&tool=read":  "call_4 true",
		"/v1/sessions/ses_a/calls?before=" + after(6): "call_0 false",
		"/v1/sessions/ses_a/calls?state=running":      "false",
		"/v1/sessions/ses_b/calls?state=completed":    "call_b false",
	} {
		page := do[calls](t, h, 200, "GET "+query, nil)
		var ids []string
		for _, c := range page.Calls {
			ids = append(ids, c.ID)
			if c.Input != "" || c.Result != nil || c.Started == 0 || c.Ended == 0 || c.Session == "" {
				t.Errorf("%+v", c)
			}
		}
		if got := strings.Join(append(ids, fmt.Sprint(page.More)), " "); got != want || page.More != (page.Next != "") {
			t.Errorf("%s: %s, not %s", query, got, want)
		}
	}
	bad := problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"}
	for _, query := range []string{"limit=0", "limit=1001", "limit=x", "state=sleeping", "more=1", "before=call_1", "before=-1", "before=" + strings.Repeat("x", 257)} {
		fails(t, h, "GET /v1/calls?"+query, nil, bad)
	}
	fails(t, h, "GET /v1/sessions/none/calls", nil, problem{Status: 404, Code: "not-found"})
	fails(t, h, "GET /v1/sessions/ses_a/calls/none", nil, problem{Status: 404, Code: "not-found"})
}

// A command can go on in the background, where its output is read.
func TestBackground(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	later := behind(t, h, "POST /v1/calls", fields{"tool": "bash", "session": "ses_a", "id": "call_a",
		"input": fields{"command": "echo begun; while [ ! -e stop ]; do sleep 0.01; done; echo over", "description": "waits"}})
	fails(t, h, "POST /v1/sessions/ses_a/calls/none/background", nil, problem{Status: 404, Code: "not-found"})
	eventually(t, "the command", func() bool {
		g, err := h.send(t.Context(), "POST /v1/sessions/ses_a/calls/call_a/background", nil)
		return err == nil && g.status == http.StatusNoContent
	})
	if g := <-later; g.status != 200 {
		t.Fatalf("%d %s", g.status, g.body)
	}
	jobs := do[jobs](t, h, 200, "GET /v1/jobs?session=ses_a", nil).Jobs
	if len(jobs) != 1 || jobs[0].State != "running" || jobs[0].Call != "call_a" {
		t.Fatalf("%+v", jobs)
	}
	if other := do[map[string][]record.Job](t, h, 200, "GET /v1/jobs?session=ses_b", nil)["jobs"]; len(other) != 0 {
		t.Errorf("%+v", other)
	}
	at := "/v1/jobs/" + jobs[0].ID
	var out jobOutput
	eventually(t, "the output", func() bool {
		out = do[jobOutput](t, h, 200, "GET "+at+"/output", nil)
		return out.Text == "begun\n"
	})
	if out.Offset != 0 || out.Next != 6 || out.State != "running" {
		t.Errorf("%+v", out)
	}
	if tail := do[jobOutput](t, h, 200, "GET "+at+"/output?offset=-3", nil); tail.Text != "un\n" || tail.Offset != 3 {
		t.Errorf("%+v", tail)
	}
	h.write(t, "stop", "")
	eventually(t, "the end", func() bool {
		out = do[jobOutput](t, h, 200, "GET "+at+"/output?offset=6", nil)
		return out.Text == "over\n" && out.State == "ended"
	})
	fails(t, h, "GET /v1/jobs/none/output", nil, problem{Status: 404, Code: "not-found"})
	fails(t, h, "GET "+at+"/output?offset=x", nil, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"})
}

func TestStopJob(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	do[called](t, h, 200, "POST /v1/calls", fields{"tool": "bash", "input": fields{"command": "sleep 1000", "description": "sleeps", "background": true}})
	jobs := do[jobs](t, h, 200, "GET /v1/jobs", nil).Jobs
	if len(jobs) != 1 {
		t.Fatalf("%+v", jobs)
	}
	if job := do[record.Job](t, h, 200, "POST /v1/jobs/"+jobs[0].ID+"/stop", nil); job.State == "running" {
		t.Errorf("%+v", job)
	}
	fails(t, h, "POST /v1/jobs/none/stop", nil, problem{Status: 404, Code: "not-found"})
}

// A result that holds other calls is described too.
func TestInnerCalls(t *testing.T) {
	t.Parallel()
	h := build(t, changes{runtime: func(o *helve.Options) { o.Flags["batch"] = true }})
	h.write(t, "a.txt", "inner")
	done := do[called](t, h, 200, "POST /v1/calls", fields{"tool": "batch", "input": fields{"tool_calls": []fields{
		{"tool": "read", "parameters": fields{"filePath": "a.txt"}}, {"tool": "read", "parameters": fields{"filePath": "b.txt"}}}}})
	raw, err := json.Marshal(done.Result)
	if err != nil || len(done.Result.Inner) != 2 || !strings.Contains(string(raw), "inner") {
		t.Errorf("%s %v", raw, err)
	}
}
