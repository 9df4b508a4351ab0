package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helve-dev/helve/client"
	"github.com/helve-dev/helve/internal/server"
)

func TestOperations(t *testing.T) {
	h := build(t, rules(t, "bash", "*", "allow"))
	ctx := soon(t)
	h.write(t, "a.txt", "one\ntwo\n")

	info := must[client.Info](t)(h.GetInfo(ctx))
	if info.Version != "1.2.3" || info.Directory != h.dir || info.DefaultAgent == "" || info.Instance == "" {
		t.Errorf("the server says %+v", info)
	}
	made := must[client.Session](t)(h.CreateSession(ctx, client.SessionRequest{Title: "of a test"}))
	got := must[client.Session](t)(h.GetSession(ctx, made.ID))
	if got.Title != "of a test" || got.Status.Type != "idle" || got.Time.Created == 0 {
		t.Errorf("the session is %+v", got)
	}
	called := must[client.Called](t)(h.Call(ctx, client.CallRequest{
		Tool: "read", Session: made.ID, Input: map[string]any{"filePath": "a.txt"},
	}))
	if called.Result == nil || called.Session != made.ID {
		t.Fatalf("the answer is %+v", called)
	}
	holds(t, called.Result.Output, "two")
	record := must[client.CallRecord](t)(h.GetCall(ctx, made.ID, called.ID))
	if record.State != "completed" || record.Result == nil || record.Result.Output != called.Result.Output {
		t.Errorf("the record is %+v", record)
	}
	page := must[client.Calls](t)(h.ListSessionCalls(ctx, made.ID, client.ListSessionCallsQuery{Limit: 1, Tool: "read", State: "completed"}))
	if len(page.Calls) != 1 || page.More || page.Calls[0].ID != called.ID {
		t.Errorf("the calls are %+v", page)
	}
	sessions := must[client.Sessions](t)(h.ListSessions(ctx, client.ListSessionsQuery{Limit: 10, Directory: h.dir}))
	if len(sessions.Sessions) != 1 || sessions.Sessions[0].ID != made.ID || sessions.More {
		t.Errorf("the sessions are %+v", sessions)
	}
	file := must[client.FileText](t)(h.ReadFile(ctx, client.ReadFileQuery{Path: "a.txt"}))
	if file.Text != "one\ntwo\n" {
		t.Errorf("the file is %+v", file)
	}
	if tools := must[client.Tools](t)(h.ListTools(ctx, client.ListToolsQuery{})).Tools; len(tools) < 5 || tools[0].Schema["type"] != "object" {
		t.Errorf("the tools are %+v", tools)
	}
	if err := h.EndSession(ctx, made.ID); err != nil {
		t.Error(err)
	}
	if doc := must[map[string]any](t)(h.GetOpenAPI(ctx)); doc["openapi"] != "3.1.0" {
		t.Errorf("the document is of %v", doc["openapi"])
	}
}

// TestPages goes through lists page by page.
func TestPages(t *testing.T) {
	h := build(t, nil)
	ctx := soon(t)
	for range 5 {
		made := must[client.Session](t)(h.CreateSession(ctx, client.SessionRequest{}))
		h.read(t, made.ID)
	}
	seen := map[string]bool{}
	for q := (client.ListSessionsQuery{Limit: 2}); ; {
		page := must[client.Sessions](t)(h.ListSessions(ctx, q))
		for _, s := range page.Sessions {
			seen[s.ID] = true
		}
		if q.Before = page.Next; !page.More {
			break
		}
	}
	for q := (client.ListCallsQuery{Limit: 2}); ; {
		page := must[client.Calls](t)(h.ListCalls(ctx, q))
		for _, c := range page.Calls {
			seen[c.Session+"/"+c.ID] = true
		}
		if q.Before = page.Next; !page.More {
			break
		}
	}
	if len(seen) != 10 {
		t.Errorf("of 5 sessions with a call each there are %v", seen)
	}
	_, err := h.ListCalls(ctx, client.ListCallsQuery{Before: "nothing"})
	if p := problem(t, err); p.Status != 422 || p.Code != "bad-request" {
		t.Errorf("from no page: %+v", p)
	}
}

// TestEmptyAnswers asks for all that is a list, in a house where nothing has
// happened yet.
func TestEmptyAnswers(t *testing.T) {
	h := build(t, nil)
	ctx := soon(t)
	for name, ask := range map[string]func() error{
		"agents":    func() error { _, err := h.ListAgents(ctx); return err },
		"calls":     func() error { _, err := h.ListCalls(ctx, client.ListCallsQuery{}); return err },
		"changes":   func() error { _, err := h.ListChanges(ctx, client.ListChangesQuery{}); return err },
		"jobs":      func() error { _, err := h.ListJobs(ctx, client.ListJobsQuery{}); return err },
		"languages": func() error { _, err := h.GetLSP(ctx); return err },
		"mcp":       func() error { _, err := h.ListMCP(ctx); return err },
		"requests":  func() error { _, err := h.ListRequests(ctx); return err },
		"rules":     func() error { _, err := h.GetRules(ctx, client.GetRulesQuery{}); return err },
		"sessions":  func() error { _, err := h.ListSessions(ctx, client.ListSessionsQuery{}); return err },
	} {
		if err := ask(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinks(t *testing.T) {
	h := build(t, nil)
	ctx := soon(t)
	link := must[client.Link](t)(h.CreateLink(ctx))
	_, code, _ := strings.Cut(link.URL, "#open=")
	stranger := must[*client.Client](t)(client.New(h.URL(), ""))
	defer stranger.Close()
	if got := must[client.Token](t)(stranger.Open(ctx, client.OpenRequest{Code: code})); got.Token != token {
		t.Errorf("the code is worth %q", got.Token)
	}
	_, err := stranger.Open(ctx, client.OpenRequest{Code: code})
	if p := problem(t, err); p.Status != 403 || p.Code != "bad-code" {
		t.Errorf("the second time: %+v", p)
	}
}

func problem(t testing.TB, err error) *client.Problem {
	t.Helper()
	var p *client.Problem
	if !errors.As(err, &p) {
		t.Fatalf("%v is not a problem", err)
	}
	return p
}

func TestProblems(t *testing.T) {
	h := build(t, rules(t, "read", "*secret*", "deny"))
	ctx := soon(t)
	h.write(t, "secret.txt", "x")
	stranger := must[*client.Client](t)(client.New(h.URL(), "a-wrong-token-of-at-least-32-characters"))
	defer stranger.Close()
	call := func(tool string, input any) error {
		_, err := h.Call(ctx, client.CallRequest{Tool: tool, Input: input})
		return err
	}
	for name, c := range map[string]struct {
		err        error
		status     int
		kind, code string
	}{
		"wrong token":    {func() error { _, err := stranger.GetInfo(ctx); return err }(), 401, "", ""},
		"no session":     {func() error { _, err := h.GetSession(ctx, "ses_none"); return err }(), 404, "", "not-found"},
		"odd session":    {func() error { _, err := h.GetSession(ctx, "a/b?c#d%"); return err }(), 404, "", "not-found"},
		"no request":     {h.ReplyPermission(ctx, "per_none", client.PermissionReply{Reply: "once"}), 404, "", "not-found"},
		"bad reply":      {h.ReplyPermission(ctx, "per_none", client.PermissionReply{Reply: "maybe"}), 422, "invalid_input", "bad-request"},
		"no tool":        {call("nothing", map[string]any{}), 404, "unknown_tool", ""},
		"bad input":      {call("read", map[string]any{"filePath": 7}), 422, "invalid_input", ""},
		"denied":         {call("read", map[string]any{"filePath": "secret.txt"}), 403, "denied", ""},
		"nothing undone": {func() error { _, err := h.Undo(ctx, client.UndoRequest{Last: 1}); return err }(), 404, "", "nothing-to-undo"},
		"without models": {func() error { _, err := h.ListModels(ctx); return err }(), 501, "", "not-available"},
	} {
		p := problem(t, c.err)
		if p.Status != c.status || p.Kind != c.kind || c.code != "" && p.Code != c.code || p.Title == "" || p.Detail == "" {
			t.Errorf("%s: %+v", name, p)
		}
		if (name == "bad reply" || name == "bad input") && len(p.Issues) == 0 {
			t.Errorf("%s has no issues: %+v", name, p)
		}
		if p.Error() == "" {
			t.Errorf("%s says nothing", name)
		}
	}
}

func TestBadArguments(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:4096", "ftp://a", "http://", "http://a/?q", "http://u:p@a", "http://a#f", "http://a\n"} {
		if _, err := client.New(address, token); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
	for _, bad := range []string{"with space", "line\n", "é"} {
		if _, err := client.New("http://a", bad); err == nil {
			t.Errorf("%q is taken for a token", bad)
		}
	}
	if _, err := client.New("http://a", token, client.WithHTTP(&http.Client{Timeout: 1})); err == nil {
		t.Error("a timeout is taken")
	}
	c := must[*client.Client](t)(client.New("http://127.0.0.1:1", token))
	for _, id := range []string{"", ".", ".."} {
		if _, err := c.GetSession(soon(t), id); err == nil || !strings.Contains(err.Error(), "is not the id of a session") {
			t.Errorf("of the session %q it says %v", id, err)
		}
	}
	if _, err := c.Call(soon(t), client.CallRequest{Tool: "read", Input: func() {}}); err == nil || !strings.Contains(err.Error(), "JSON") {
		t.Errorf("a function as input: %v", err)
	}
}

// TestStrangeServers talks to those that do not keep to the API.
func TestStrangeServers(t *testing.T) {
	var asked atomic.Int64
	var answer atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer.Load().(http.HandlerFunc)(w, r)
	}))
	defer srv.Close()
	c := must[*client.Client](t)(client.New(srv.URL, token, client.WithMaxBody(1000)))
	defer c.Close()
	for name, s := range map[string]struct {
		answer http.HandlerFunc
		want   string
		asked  int64
	}{
		"too long":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat(" ", 2000)) }, "longer than 1000 bytes", 1},
		"not JSON":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "not understood", 1},
		"a page":     {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", 500) }, "Is it a helve server", 1},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "status 302", 1},
		"hangs up":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "is a server running there?", 3},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, "unexpected EOF", 1},
	} {
		asked.Store(0)
		answer.Store(s.answer)
		_, err := c.GetInfo(soon(t))
		if err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("%s: %v", name, err)
		}
		if n := asked.Load(); n < s.asked || n > 2*s.asked { // net/http may try once more itself
			t.Errorf("%s: asked %d times", name, n)
		}
	}
	asked.Store(0)
	answer.Store(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	if _, err := c.CreateSession(soon(t), client.SessionRequest{}); err == nil || asked.Load() != 1 {
		t.Errorf("what changes something was sent %d times: %v", asked.Load(), err)
	}
	ctx, cancel := context.WithCancel(soon(t))
	cancel()
	if _, err := c.GetInfo(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

// TestWithoutGate talks to the bare handler, as a program that embeds both may.
func TestWithoutGate(t *testing.T) {
	h := build(t, nil)
	api := must[*server.Server](t)(server.New(server.Options{Runtime: h.rt, Dir: h.dir}))
	defer api.Close()
	srv := httptest.NewServer(api.Handler())
	defer srv.Close()
	c := must[*client.Client](t)(client.New(srv.URL+"/", ""))
	defer c.Close()
	if info := must[client.Info](t)(c.GetInfo(soon(t))); info.Directory != h.dir {
		t.Errorf("the server says %+v", info)
	}
}
