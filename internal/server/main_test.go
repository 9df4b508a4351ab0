package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

// TestMain also lets this program keep the commands that its tests run.
func TestMain(m *testing.M) { tooltest.Main(m) }

// A house is a server over a runtime in folders of its own, with a client that
// holds every answer against the document.
type house struct {
	*Server
	rt  *helve.Runtime
	dir string
	url string
	doc *document
}

type changes struct {
	rules   permission.Ruleset // after the defaults
	runtime func(*helve.Options)
	server  func(*Options)
}

func build(t testing.TB, c changes) *house {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	opt := helve.Options{
		Dir: dir, Worktree: dir, DataDir: data, Flags: map[string]bool{"question": true}, Shell: helve.Shell{Helper: os.Args[0]},
		Agents: agent.Specs(agent.SpecOptions{Worktree: dir, DataDir: data, User: c.rules}),
	}
	if c.runtime != nil {
		c.runtime(&opt)
	}
	rt, err := helve.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	o := Options{Runtime: rt, Version: "1.2.3", Dir: dir, Worktree: dir, URL: "http://127.0.0.1:4096", Token: func() string { return "the token" }}
	if c.server != nil {
		c.server(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	return &house{Server: s, rt: rt, dir: dir, url: srv.URL, doc: documentOf(t, s)}
}

// write makes a file in the house.
func (h *house) write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func (h *house) read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A got is an answer.
type got struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request and holds the answer against the document.
func (h *house) send(ctx context.Context, at string, in any) (got, error) {
	method, target, _ := strings.Cut(at, " ")
	var body io.Reader
	switch in := in.(type) {
	case nil:
	case string:
		body = strings.NewReader(in)
	default:
		raw, err := json.Marshal(in)
		if err != nil {
			return got{}, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, h.url+target, body)
	if err != nil {
		return got{}, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		return got{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return got{res.StatusCode, res.Header, raw}, err
}

// client keeps no connection, so that none is left behind, and follows nobody.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// do sends a request, wants an answer of that status, and decodes it.
func do[T any](t testing.TB, h *house, status int, at string, in any) (out T) {
	t.Helper()
	g, err := h.send(t.Context(), at, in)
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	if g.status != status {
		t.Fatalf("%s: %d, not %d: %s", at, g.status, status, g.body)
	}
	h.doc.check(t, at, g)
	if len(g.body) == 0 {
		return out
	}
	if err := json.Unmarshal(g.body, &out); err != nil {
		t.Fatalf("%s: %v in %s", at, err, g.body)
	}
	return out
}

// fails wants a problem of that status and code.
func fails(t testing.TB, h *house, at string, in any, want problem) problem {
	t.Helper()
	p := do[problem](t, h, want.Status, at, in)
	if p.Code != want.Code || p.Kind != want.Kind {
		t.Errorf("%s: code %q kind %q, not %q %q: %s", at, p.Code, p.Kind, want.Code, want.Kind, p.Detail)
	}
	if !strings.Contains(p.Detail, want.Detail) {
		t.Errorf("%s: %q is missing in %q", at, want.Detail, p.Detail)
	}
	return p
}

type none = struct{}

type fields = map[string]any

// eventually waits for something to become true.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", what)
		}
	}
}

// nextRequest waits for a request of permission.
func nextRequest(t testing.TB, h *house) permissionRequest {
	t.Helper()
	var r requests
	eventually(t, "a request", func() bool {
		r = do[requests](t, h, 200, "GET /v1/requests", nil)
		return len(r.Permissions) > 0
	})
	return r.Permissions[0]
}

func nextQuestion(t testing.TB, h *house) questionRequest {
	t.Helper()
	var r requests
	eventually(t, "a question", func() bool {
		r = do[requests](t, h, 200, "GET /v1/requests", nil)
		return len(r.Questions) > 0
	})
	return r.Questions[0]
}

// behind sends a request that is answered later.
func behind(t testing.TB, h *house, at string, in any) <-chan got {
	t.Helper()
	out := make(chan got, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		g, err := h.send(context.Background(), at, in)
		if err != nil {
			t.Errorf("%s: %v", at, err)
		}
		out <- g
	})
	t.Cleanup(wg.Wait)
	return out
}

// problemIn decodes the answer of behind.
func problemIn(t testing.TB, g got) (p problem) {
	t.Helper()
	if err := json.Unmarshal(g.body, &p); err != nil {
		t.Fatalf("%v in %s", err, g.body)
	}
	if p.Status != g.status || g.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("status %d with %s: %s", g.status, g.header, g.body)
	}
	return p
}

func ask(name, pattern string) permission.Rule {
	return permission.Rule{Permission: name, Pattern: pattern, Action: permission.Ask}
}

func deny(name, pattern string) permission.Rule {
	return permission.Rule{Permission: name, Pattern: pattern, Action: permission.Deny}
}

// own adds a tool that takes {"say": …}.
func own(t testing.TB, h *house, name string, run func(ctx context.Context, c *tool.Call, say string) (*tool.Result, error)) {
	t.Helper()
	type input struct {
		Say string `json:"say,omitempty"`
	}
	_, err := h.rt.Register(tool.New(tool.Spec{Name: name, Description: "A tool of the test."},
		func(ctx context.Context, c *tool.Call, in input) (*tool.Result, error) { return run(ctx, c, in.Say) }))
	if err != nil {
		t.Fatal(err)
	}
}

// hangs adds a tool that ends only when it is cancelled.
func hangs(t testing.TB, h *house) (began, ended chan string) {
	t.Helper()
	began, ended = make(chan string, 2*maxDetached), make(chan string, 2*maxDetached)
	own(t, h, "hang", func(ctx context.Context, c *tool.Call, _ string) (*tool.Result, error) {
		began <- c.ID
		<-ctx.Done()
		ended <- c.ID
		return nil, ctx.Err()
	})
	return began, ended
}

// A document is the OpenAPI document, to hold answers against.
type document struct {
	raw   []byte
	paths map[string]map[string]struct {
		ID        string `json:"operationId"`
		Responses map[string]struct {
			Content map[string]json.RawMessage `json:"content"`
		} `json:"responses"`
		RequestBody *struct {
			Content map[string]struct {
				Schema map[string]any `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
	}
	compiler *jsonschema.Compiler
	mu       sync.Mutex
}

func documentOf(t testing.TB, s *Server) *document {
	t.Helper()
	raw := s.OpenAPI()
	d := &document{raw: raw, compiler: jsonschema.NewCompiler()}
	var paths struct{ Paths json.RawMessage }
	if err := json.Unmarshal(raw, &paths); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(paths.Paths, &d.paths); err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	closeSchemas(whole)
	if err := d.compiler.AddResource("mem:///openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	return d
}

// closeSchemas lets nothing through that the document does not name, although
// clients are told to bear it.
func closeSchemas(whole any) {
	for _, schema := range whole.(fields)["components"].(fields)["schemas"].(fields) {
		if schema := schema.(fields); schema["properties"] != nil && schema["additionalProperties"] == nil {
			schema["additionalProperties"] = false
		}
	}
}

// route finds the route of a path; "" where there is none.
func (d *document) route(target string) string {
	target, _, _ = strings.Cut(target, "?")
	want := strings.Split(target, "/")
	best := ""
	for path := range d.paths {
		steps := strings.Split(path, "/")
		fits := len(steps) == len(want)
		for i := 0; fits && i < len(steps); i++ {
			fits = steps[i] == want[i] || strings.HasPrefix(steps[i], "{")
		}
		if fits && (best == "" || !strings.Contains(path, "{")) {
			best = path
		}
	}
	return best
}

// check holds an answer against what the document says of its route.
func (d *document) check(t testing.TB, at string, g got) {
	t.Helper()
	method, target, _ := strings.Cut(at, " ")
	path := d.route(target)
	if path == "" {
		return
	}
	op, ok := d.paths[path][strings.ToLower(method)]
	if !ok {
		return
	}
	status := strconv.Itoa(g.status)
	r, ok := op.Responses[status]
	if !ok {
		if status, r = "default", op.Responses["default"]; g.status < 400 {
			t.Errorf("%s: the document knows no status %d", at, g.status)
		}
	}
	if len(r.Content) == 0 {
		if len(g.body) > 0 {
			t.Errorf("%s: the document knows no body of %d: %s", at, g.status, g.body)
		}
		return
	}
	kind := g.header.Get("Content-Type")
	if _, ok := r.Content[kind]; !ok {
		t.Errorf("%s: the document knows no %s of %d", at, kind, g.status)
		return
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	ref := "mem:///openapi.json#/paths/" + escape.Replace(path) + "/" + strings.ToLower(method) + "/responses/" + status + "/content/" + escape.Replace(kind) + "/schema"
	ref = strings.NewReplacer("{", "%7B", "}", "%7D").Replace(ref)
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, err := d.compiler.Compile(ref)
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(g.body))
	if err != nil {
		t.Fatalf("%s: %v in %s", at, err, g.body)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s: the answer is not what the document says: %v\n%.2000s", at, err, g.body)
	}
}
