package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The document is the same with and without a runtime, and each time it is
// made.
func TestDocumentIsTheSame(t *testing.T) {
	h := build(t, changes{})
	for range 5 {
		s, err := New(Options{Version: "9", Dir: "/elsewhere"})
		if err != nil {
			t.Fatal(err)
		}
		if doc := documentOf(t, s); !bytes.Equal(doc.raw, h.doc.raw) {
			t.Fatal("it differs")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	g, err := h.send(t.Context(), "GET /v1/openapi.json", nil)
	if err != nil || g.status != 200 || !bytes.Equal(g.body, h.doc.raw) {
		t.Errorf("%d %v", g.status, err)
	}
}

// Without a runtime there is the document and nothing else.
func TestNoRuntime(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for path, want := range map[string]int{"/v1/openapi.json": 200, "/v1/sessions": 501, "/v1/events": 404, "/console/": 404} {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, not %d", path, w.Code, want)
		}
	}
}

// What the source says, the document says and the mux knows are the same
// routes.
func TestNoDrift(t *testing.T) {
	h := build(t, changes{})
	var documented, written []string
	for path, item := range h.doc.paths {
		for method := range item {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		src, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`at: "([A-Z]+ [^"]+)"`).FindAllSubmatch(src, -1) {
			written = append(written, string(m[1]))
		}
	}
	slices.Sort(documented)
	slices.Sort(written)
	if !slices.Equal(documented, written) || len(written) < 42 {
		t.Errorf("documented: %q\nwritten: %q", documented, written)
	}
	for _, at := range documented {
		method, path, _ := strings.Cut(at, " ")
		r := httptest.NewRequest(method, strings.NewReplacer("{", "", "}", "").Replace(path), nil)
		if _, pattern := h.mux.Handler(r); pattern != at {
			t.Errorf("%s is served by %q", at, pattern)
		}
	}
}

// Every route has an id of its own, a summary, a tag that is explained, a
// problem for what fails, and a schema for each body.
func TestDocumentIsComplete(t *testing.T) {
	h := build(t, changes{})
	var doc struct {
		OpenAPI string
		Tags    []struct{ Name string }
		Paths   map[string]map[string]struct {
			ID          string `json:"operationId"`
			Summary     string
			Tags        []string
			Parameters  []struct{ Name, In string }
			RequestBody *struct {
				Content map[string]struct{ Schema map[string]any }
			}
			Responses map[string]struct {
				Content map[string]struct{ Schema map[string]any }
			}
			Security []map[string][]string
		}
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(h.doc.raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Error(doc.OpenAPI)
	}
	ids := map[string]bool{}
	for path, item := range doc.Paths {
		for method, op := range item {
			if op.ID == "" || ids[op.ID] || op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s %s: %+v", method, path, op)
			}
			ids[op.ID] = true
			if !slices.ContainsFunc(doc.Tags, func(tag struct{ Name string }) bool { return tag.Name == op.Tags[0] }) {
				t.Errorf("%s %s: the tag %q is not explained", method, path, op.Tags[0])
			}
			if ref := op.Responses["default"].Content["application/problem+json"].Schema["$ref"]; ref != "#/components/schemas/Problem" {
				t.Errorf("%s %s: fails with %v", method, path, ref)
			}
			if (op.Security != nil) != slices.Contains(Public(), strings.ToUpper(method)+" "+path) {
				t.Errorf("%s %s: security %v", method, path, op.Security)
			}
			for status, r := range op.Responses {
				for kind, c := range r.Content {
					if len(c.Schema) == 0 {
						t.Errorf("%s %s: %s %s has no schema", method, path, status, kind)
					}
				}
			}
			for _, m := range regexp.MustCompile(`{(\w+)}`).FindAllStringSubmatch(path, -1) {
				if !slices.ContainsFunc(op.Parameters, func(p struct{ Name, In string }) bool { return p.Name == m[1] && p.In == "path" }) {
					t.Errorf("%s %s: %s is not described", method, path, m[1])
				}
			}
		}
	}
	if op := doc.Paths["/v1/events"]["get"]; op.Responses["200"].Content["text/event-stream"].Schema["$ref"] != "#/components/schemas/Event" || len(op.Parameters) != 4 {
		t.Errorf("%+v", op)
	}
	for _, name := range []string{"Problem", "Session", "PermissionRequest", "QuestionRequest", "CallRecord", "Message", "MessageInfo", "MCPStatus", "LSPStatus", "Turn", "UndoReport"} {
		if doc.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
	for name := range doc.Components.Schemas {
		if strings.Contains(name, "Huma") || strings.Contains(name, "Struct") {
			t.Errorf("schema %s", name)
		}
	}
	for name, closed := range map[string]bool{"CallRequest": true, "StoredRule": true, "MessageModelRef": true, "Session": false, "Problem": false, "CallRecord": false} {
		if got := doc.Components.Schemas[name]["additionalProperties"] == false; got != closed {
			t.Errorf("%s: closed %t", name, got)
		}
	}
	if bytes.Contains(h.doc.raw, []byte(`"null"`)) {
		t.Error("something may be null")
	}
}

// Every documented route is answered by its handler, for what is right and for
// what is not.
func TestEveryRouteAnswers(t *testing.T) {
	h := build(t, changes{})
	for path, item := range h.doc.paths {
		for method, op := range item {
			if op.ID == "streamEvents" {
				continue // it does not end
			}
			at := strings.ToUpper(method) + " " + strings.NewReplacer("{", "", "}", "").Replace(path)
			var in any
			if op.RequestBody != nil {
				in = map[string]any{}
			}
			g, err := h.send(t.Context(), at, in)
			if err != nil {
				t.Fatal(err)
			}
			h.doc.check(t, at, g)
			if bytes.Contains(g.body, []byte(`"no-route"`)) || g.status == 405 || g.status == 500 {
				t.Errorf("%s: %d %s", at, g.status, g.body)
			}
			if op.RequestBody == nil {
				continue
			}
			for _, bad := range []any{map[string]any{"surprise": 1}, "[]", "{", `"x"`, "null"} {
				g, err := h.send(t.Context(), at, bad)
				if err != nil {
					t.Fatal(err)
				}
				h.doc.check(t, at, g)
				if want := 422; bad == "{" && g.status != 400 || bad != "{" && bad != "null" && g.status != want {
					t.Errorf("%s %v: %d %s", at, bad, g.status, g.body)
				}
			}
		}
	}
}

// Whatever a body is, it is refused or understood, and nothing breaks.
func FuzzBodies(f *testing.F) {
	s, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	for _, seed := range []string{
		`{"tool":"read","input":{"filePath":"a"},"wait":false}`, `{"text":"x","model":{"providerID":"a","modelID":"b"},"files":[{"type":"file","mime":"a","url":"b"}]}`,
		`{"reply":"always","scope":"user","store":[{"permission":"edit","pattern":"*","exact":true}]}`, `{"answers":[["a"],[]]}`, `{"sets":["a"],"last":1}`,
		`{"code":"x"}`, `{"permission":"a","pattern":"b"}`, `{`, `null`, `[]`, `{"a":{"b":[[[1e999]]]}}`, "\xff", `{"TOOL":1,"tool":2}`, `{"wait":null,"tool":null}`,
	} {
		f.Add(seed)
	}
	var posts []string
	for path, item := range s.api.OpenAPI().Paths {
		if item.Post != nil {
			posts = append(posts, strings.NewReplacer("{", "", "}", "").Replace(path))
		}
	}
	slices.Sort(posts)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range posts {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			var p problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code || w.Code != 400 && w.Code != 422 && w.Code != 501 {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
			if len(p.Issues) > maxIssues || w.Body.Len() > 64<<10 {
				t.Errorf("%s: an answer of %d bytes", path, w.Body.Len())
			}
		}
	})
}
