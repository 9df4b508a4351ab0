package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/mcp/connect"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

func TestInfo(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	i := do[info](t, h, 200, "GET /v1", nil)
	if i.Version != "1.2.3" || i.Instance == "" || i.Directory != h.dir || i.Worktree != h.dir || i.Started == 0 || i.Default != "build" || len(i.Agents) != 4 {
		t.Errorf("%+v", i)
	}
	if i.TokenFile != "" {
		t.Errorf("it names %s", i.TokenFile)
	}
	told := build(t, changes{server: func(o *Options) { o.TokenFile = "/some/where" }})
	if i := do[info](t, told, 200, "GET /v1", nil); i.TokenFile != "/some/where" {
		t.Errorf("%+v", i)
	}
	agents := do[agents](t, h, 200, "GET /v1/agents", nil).Agents
	if len(agents) != 7 || agents[0].Name != "build" || !agents[0].Native || agents[0].Mode != "primary" {
		t.Errorf("%+v", agents)
	}
	has := func(query, name string) (found bool) {
		for _, tl := range do[fields](t, h, 200, "GET /v1/tools"+query, nil)["tools"].([]any) {
			tl := tl.(fields)
			if found = found || tl["name"] == name; tl["description"] == "" || tl["schema"].(fields)["type"] != "object" || tl["permission"] == "" {
				t.Errorf("%+v", tl)
			}
		}
		return found
	}
	if !has("", "write") || has("?agent=plan", "write") || !has("?agent=plan&provider=x&model=y", "read") {
		t.Error("the tools are not those of the agents")
	}
	fails(t, h, "GET /v1/tools?agent=nonesuch", nil, problem{Status: 404, Code: "not-found"})
}

func TestSessions(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	one := do[session](t, h, 201, "POST /v1/sessions", fields{"title": "One", "agent": "plan"})
	two := do[session](t, h, 201, "POST /v1/sessions", nil)
	if one.Title != "One" || one.Agent != "plan" || one.Status.Type != "idle" || two.Title == "" || two.Agent != "build" || one.Dir != h.dir {
		t.Errorf("%+v %+v", one, two)
	}
	if got := do[session](t, h, 200, "GET /v1/sessions/"+one.ID, nil); got.ID != one.ID {
		t.Errorf("%+v", got)
	}
	for query, want := range map[string]int{"": 2, "?limit=1": 1, "?directory=" + url.QueryEscape(h.dir): 2, "?directory=/none": 0, "?limit=1&directory=" + url.QueryEscape(h.dir): 1} {
		if got := do[sessions](t, h, 200, "GET /v1/sessions"+query, nil); len(got.Sessions) != want || got.More != (want == 1) {
			t.Errorf("%q: %+v", query, got)
		}
	}
	first := do[sessions](t, h, 200, "GET /v1/sessions?limit=1", nil)
	rest := do[sessions](t, h, 200, "GET /v1/sessions?limit=1&before="+url.QueryEscape(first.Next), nil)
	if len(rest.Sessions) != 1 || rest.More || rest.Next != "" || rest.Sessions[0].ID == first.Sessions[0].ID {
		t.Errorf("%+v after %+v", rest, first)
	}
	if todos := do[todos](t, h, 200, "GET /v1/sessions/"+one.ID+"/todos", nil).Todos; len(todos) != 0 {
		t.Errorf("%+v", todos)
	}
	do[called](t, h, 200, "POST /v1/calls", fields{"tool": "todowrite", "session": one.ID, "input": fields{
		"todos": []fields{{"id": "1", "content": "test", "status": "pending", "priority": "high"}}}})
	if todos := do[todos](t, h, 200, "GET /v1/sessions/"+one.ID+"/todos", nil).Todos; len(todos) != 1 || todos[0].Content != "test" {
		t.Errorf("%+v", todos)
	}
	missing := problem{Status: 404, Code: "not-found"}
	fails(t, h, "GET /v1/sessions/none", nil, missing)
	fails(t, h, "GET /v1/sessions/none/todos", nil, missing)
	fails(t, h, "POST /v1/sessions", fields{"agent": "nonesuch"}, missing)
	bad := problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"}
	fails(t, h, "POST /v1/sessions", fields{"title": strings.Repeat("x", 201)}, bad)
	fails(t, h, "GET /v1/sessions?limit=1001", nil, bad)
	fails(t, h, "GET /v1/sessions?before=none", nil, bad)
	fails(t, h, "GET /v1/sessions/"+strings.Repeat("x", 257), nil, bad)
}

func TestRules(t *testing.T) {
	t.Parallel()
	h := build(t, changes{
		rules: permission.Ruleset{{Permission: "bash", Pattern: "rm *", Action: permission.Deny, From: permission.Source{File: "helve.json", Line: 3}}},
		server: func(o *Options) {
			o.Explain = func(_ context.Context, q ExplainQuery) (Explained, error) {
				if q.Pattern == "strange" {
					return Explained{}, errors.New("this can not be explained")
				}
				d := permission.Decision{Permission: q.Permission, Pattern: q.Pattern, Action: permission.Ask, Opaque: "inner"}
				return Explained{Agent: q.Agent, Decision: d, Units: []permission.Decision{d}, Opaque: "outer"}, nil
			}
		},
	})
	r := do[rules](t, h, 200, "GET /v1/rules", nil)
	found := false
	for _, rule := range r.Rules {
		found = found || rule.Pattern == "rm *" && rule.From.Line == 3 && rule.From.File == "helve.json"
	}
	if !found || r.Policy != "" || len(r.Ceilings) != 0 {
		t.Errorf("%+v", r)
	}
	if plan := do[rules](t, h, 200, "GET /v1/rules?agent=plan", nil); len(plan.Ceilings) == 0 || plan.Agent != "plan" {
		t.Errorf("%+v", plan)
	}
	x := do[Explained](t, h, 200, "POST /v1/explain", fields{"permission": "bash", "pattern": "rm x", "agent": "plan", "session": "ses_a"})
	if x.Agent != "plan" || x.Action != permission.Ask || len(x.Units) != 1 || x.Opaque != "outer" {
		t.Errorf("%+v", x)
	}
	fails(t, h, "POST /v1/explain", fields{"permission": "bash", "pattern": "strange"}, problem{Status: 422, Kind: tool.Failed, Code: "failed"})
	fails(t, h, "POST /v1/explain", fields{"permission": "bash", "pattern": "x", "agent": "none"}, problem{Status: 404, Code: "not-found"})
	fails(t, h, "POST /v1/explain", fields{"permission": "bash"}, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"})
	fails(t, h, "GET /v1/rules?agent=none", nil, problem{Status: 404, Code: "not-found"})
	fails(t, h, "DELETE /v1/approvals/none", nil, problem{Status: 404, Code: "not-found"})
}

func TestUndo(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	fails(t, h, "POST /v1/undo", fields{"last": 1}, problem{Status: 404, Code: "nothing-to-undo"})
	one := do[called](t, h, 200, "POST /v1/calls", writing("ses_a", "a.txt"))
	two := do[called](t, h, 200, "POST /v1/calls", writing("ses_b", "b.txt"))
	for query, want := range map[string]int{
		"": 2, "?limit=1": 1, "?session=ses_a": 1, "?call=" + two.ID: 1, "?call=none": 0, "?file=a.txt": 1, "?file=" + url.QueryEscape(h.dir): 2, "?file=c.txt": 0, "?message=none": 0,
	} {
		if sets := do[changeSets](t, h, 200, "GET /v1/changes"+query, nil); len(sets.Changes) != want || sets.More != (query == "?limit=1") {
			t.Errorf("%q: %+v", query, sets)
		}
	}
	preview := do[record.UndoReport](t, h, 200, "POST /v1/undo", fields{"call": one.ID, "preview": true})
	if !preview.Preview || len(preview.Files) != 1 || preview.Files[0].Action != "remove" || h.read(t, "a.txt") == "" {
		t.Errorf("%+v", preview)
	}
	done := do[record.UndoReport](t, h, 200, "POST /v1/undo", fields{"call": one.ID})
	if _, err := os.Stat(filepath.Join(h.dir, "a.txt")); done.ID == "" || !os.IsNotExist(err) {
		t.Errorf("%+v %v", done, err)
	}
	do[record.UndoReport](t, h, 200, "POST /v1/undo", fields{"sets": []string{done.ID}})
	if h.read(t, "a.txt") != "written\n" {
		t.Error("the undo was not undone")
	}
	h.write(t, "b.txt", "somebody else\n")
	if report := do[record.UndoReport](t, h, 200, "POST /v1/undo", fields{"call": two.ID}); len(report.Files) != 1 || report.Files[0].Action != "conflict" || report.ID != "" {
		t.Errorf("%+v", report)
	}
	bad := problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"}
	for _, in := range []fields{{}, {"call": "a", "last": 1}, {"last": 0}, {"last": -1}, {"preview": true}, {"call": "a", "more": true}} {
		fails(t, h, "POST /v1/undo", in, bad)
	}
	fails(t, h, "POST /v1/undo", fields{"call": "none"}, problem{Status: 404, Code: "nothing-to-undo"})
	fails(t, h, "POST /v1/undo", fields{"to": "none"}, problem{Status: 422, Kind: tool.Failed, Code: "failed"})
	fails(t, h, "GET /v1/changes?limit=1001", nil, bad)
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	h := build(t, changes{rules: permission.Ruleset{deny("read", "secret.txt")}})
	h.write(t, "a.txt", "hello <you>")
	h.write(t, ".env", "KEY=1")
	h.write(t, "secret.txt", "x")
	h.write(t, "bin", "\x00\xff\xfe")
	f := do[helve.FileText](t, h, 200, "GET /v1/files/content?path=a.txt", nil)
	if f.Text != "hello <you>" || f.Size != 11 || f.Truncated || f.Binary || f.Path != filepath.Join(h.dir, "a.txt") {
		t.Errorf("%+v", f)
	}
	if bin := do[helve.FileText](t, h, 200, "GET /v1/files/content?path=bin", nil); bin.Text != "" || bin.Size != 3 || !bin.Binary {
		t.Errorf("%+v", bin)
	}
	for _, path := range []string{"secret.txt", ".env", "/etc/passwd", "../x"} {
		p := do[problem](t, h, 403, "GET /v1/files/content?path="+url.QueryEscape(path), nil)
		if p.Kind != tool.Denied {
			t.Errorf("%s: %+v", path, p)
		}
	}
	fails(t, h, "GET /v1/files/content?path=none.txt", nil, problem{Status: 404, Code: "not-found"})
	fails(t, h, "GET /v1/files/content?path=a.txt&agent=none", nil, problem{Status: 404, Code: "not-found"})
	fails(t, h, "GET /v1/files/content", nil, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"})
	if p := do[problem](t, h, 422, "GET /v1/files/content?path=.", nil); p.Kind != tool.Failed {
		t.Errorf("%+v", p)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	h := build(t, changes{runtime: func(o *helve.Options) {
		o.MCP = mcp.Options{Client: connect.Client(), Servers: []mcp.Server{{Name: "a server", Command: []string{filepath.Join(t.TempDir(), "nonesuch")}}}}
		o.LSP = &lsp.Options{Builtin: true}
	}})
	if all := do[mcpServers](t, h, 200, "GET /v1/mcp", nil).Servers; len(all) != 1 || all[0].Name != "a server" {
		t.Errorf("%+v", all)
	}
	fails(t, h, "POST /v1/mcp/a%20server/connect", nil, problem{Status: 422, Kind: tool.Failed, Code: "failed"})
	do[none](t, h, 204, "POST /v1/mcp/a%20server/disconnect", nil)
	fails(t, h, "POST /v1/mcp/none/connect", nil, problem{Status: 404, Code: "not-found"})
	fails(t, h, "POST /v1/mcp/none/disconnect", nil, problem{Status: 404, Code: "not-found"})
	if l := do[languages](t, h, 200, "GET /v1/lsp", nil); len(l.Found) == 0 || len(l.Servers) != 0 {
		t.Errorf("%+v", l)
	}
}

// What a server was not given it says.
func TestAbsent(t *testing.T) {
	t.Parallel()
	h := build(t, changes{server: func(o *Options) { o.Token = nil }})
	for _, at := range []string{"GET /v1/models", "GET /v1/config", "POST /v1/links", "POST /v1/open", "POST /v1/explain"} {
		var in any
		switch at {
		case "POST /v1/open":
			in = fields{"code": "x"}
		case "POST /v1/explain":
			in = fields{"permission": "read", "pattern": "x"}
		}
		fails(t, h, at, in, problem{Status: 501, Code: "not-available"})
	}
}

func TestModelsAndConfig(t *testing.T) {
	t.Parallel()
	var broken error
	h := build(t, changes{server: func(o *Options) {
		o.Models = func(context.Context) ([]ModelInfo, error) {
			return []ModelInfo{{Provider: "p", Model: "m", Name: "M", Context: 10, Price: &Price{Input: 1, Output: 2}, Default: true}}, broken
		}
		o.Config = func(context.Context) (json.RawMessage, error) { return json.RawMessage(`{"model": "p/m"}`), broken }
	}})
	if m := do[models](t, h, 200, "GET /v1/models", nil).Models; len(m) != 1 || m[0].Price.Output != 2 || !m[0].Default {
		t.Errorf("%+v", m)
	}
	if c := do[fields](t, h, 200, "GET /v1/config", nil); c["model"] != "p/m" {
		t.Errorf("%+v", c)
	}
	broken = errors.New("the file is gone")
	for _, at := range []string{"GET /v1/models", "GET /v1/config"} {
		fails(t, h, at, nil, problem{Status: 500, Kind: tool.Internal, Code: "internal", Detail: "the file is gone"})
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	l := do[Link](t, h, 200, "POST /v1/links", nil)
	code, ok := strings.CutPrefix(l.URL, "http://127.0.0.1:4096/console/#open=")
	if !ok || len(code) < 43 || l.Expires == 0 {
		t.Fatalf("%+v", l)
	}
	if got := do[token](t, h, 200, "POST /v1/open", fields{"code": code}); got.Token != "the token" {
		t.Errorf("%+v", got)
	}
	used := problem{Status: 403, Code: "bad-code"}
	fails(t, h, "POST /v1/open", fields{"code": code}, used)
	fails(t, h, "POST /v1/open", fields{"code": "x"}, used)
	bad := problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"}
	fails(t, h, "POST /v1/open", fields{"code": strings.Repeat("x", 257)}, bad)
	fails(t, h, "POST /v1/open", fields{}, bad)
	first := h.Link()
	for range 16 {
		h.Link()
	}
	fails(t, h, "POST /v1/open", fields{"code": first.URL[strings.LastIndex(first.URL, "=")+1:]}, used)
	for range 40 {
		if _, err := h.send(t.Context(), "POST /v1/open", fields{"code": "wrong"}); err != nil {
			t.Fatal(err)
		}
	}
	fails(t, h, "POST /v1/open", fields{"code": "wrong"}, problem{Status: 429, Code: "bad-code"})
	if g, err := h.send(t.Context(), "POST /v1/open", fields{"code": "wrong"}); err != nil || g.header.Get("Retry-After") != "1" {
		t.Errorf("%+v %v", g.header, err)
	}
	last := h.Link()
	do[token](t, h, 200, "POST /v1/open", fields{"code": last.URL[strings.LastIndex(last.URL, "=")+1:]})
}

// Paths and methods that there are not.
func TestLost(t *testing.T) {
	t.Parallel()
	h := build(t, changes{server: func(o *Options) {
		o.Console = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) })
	}})
	for _, path := range []string{"/v2", "/v1/", "/v1/nonesuch", "/v1/sessions/", "//v1", "/v1/../v1", "/v1//sessions", "/v1/sessions/a/b/c", "/x//evil.example"} {
		g, err := h.send(t.Context(), "GET "+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := problemIn(t, g); p.Status != 404 || p.Code != "no-route" || strings.Contains(string(g.body), "evil") || g.header.Get("Location") != "" {
			t.Errorf("%s: %d %s", path, g.status, g.body)
		}
	}
	for at, allow := range map[string]string{
		"DELETE /v1/sessions": "GET, HEAD, POST", "POST /v1": "GET, HEAD", "PUT /v1/calls": "GET, HEAD, POST",
		"GET /v1/prompts": "POST", "POST /v1/approvals/x": "DELETE", "POST /console/": "GET, HEAD", "POST /v1/events": "GET, HEAD",
	} {
		g, err := h.send(t.Context(), at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := problemIn(t, g); p.Status != 405 || g.header.Get("Allow") != allow {
			t.Errorf("%s: %d %q", at, g.status, g.header.Get("Allow"))
		}
	}
	for _, path := range []string{"/", "/console", "/console/", "/console/app.js"} {
		if g, err := h.send(t.Context(), "GET "+path, nil); err != nil || string(g.body) != "page "+path {
			t.Errorf("%s: %s %v", path, g.body, err)
		}
	}
	for _, at := range Public() {
		method, path, _ := strings.Cut(strings.TrimSuffix(at, "{$}"), " ")
		if _, pattern := h.mux.Handler(httptest.NewRequest(method, path, nil)); pattern != at {
			t.Errorf("%s is served by %q", at, pattern)
		}
	}
}

// A handler that breaks is answered for, and takes nobody along.
func TestRescue(t *testing.T) {
	t.Parallel()
	h := build(t, changes{server: func(o *Options) {
		o.Console = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/console/late" {
				w.(http.Flusher).Flush()
				_, _ = io.WriteString(w, "begun")
			}
			panic("a secret")
		})
	}})
	g, err := h.send(t.Context(), "GET /console/early", nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := problemIn(t, g); p.Status != 500 || strings.Contains(string(g.body), "secret") {
		t.Errorf("%s", g.body)
	}
	if _, err := h.send(t.Context(), "GET /console/late", nil); err == nil {
		t.Error("half an answer was taken for a whole one")
	}
	do[info](t, h, 200, "GET /v1", nil)
}

// A failing is an answer that nobody takes.
type failing struct{ http.ResponseWriter }

func (failing) FlushError() error { return io.ErrClosedPipe }

// Who sends what is there is told that the client is gone.
func TestFlushFails(t *testing.T) {
	t.Parallel()
	a := &trackedWriter{ResponseWriter: failing{httptest.NewRecorder()}}
	if err := http.NewResponseController(a).Flush(); !errors.Is(err, io.ErrClosedPipe) || !a.begun {
		t.Errorf("%v, begun %t", err, a.begun)
	}
}

// The stream is mounted, and ends with the server.
func TestEventsAreServed(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") != "text/event-stream" {
		t.Error(res.Header)
	}
	h.write(t, "a.txt", "x")
	done := do[called](t, h, 200, "POST /v1/calls", fields{"tool": "read", "input": fields{"filePath": "a.txt"}})
	var seen strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(seen.String(), "call.finished") {
		n, err := res.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(buf[:n])
	}
	if !strings.Contains(seen.String(), done.ID) || !strings.Contains(seen.String(), "id: "+h.instance+"-") || !strings.HasPrefix(seen.String(), "event: hello") {
		t.Error(seen.String())
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}
