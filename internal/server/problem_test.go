package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

func TestEveryKindHasAStatus(t *testing.T) {
	want := map[tool.Kind]int{
		tool.UnknownTool: 404, tool.InvalidInput: 422, tool.Denied: 403, tool.Rejected: 403, tool.Unattended: 403,
		tool.Failed: 422, tool.Canceled: 409, tool.Internal: 500,
	}
	for _, k := range tool.Kinds() {
		status, ok := statusOf(k)
		if !ok || status != want[k] {
			t.Errorf("%s: %d %t, not %d", k, status, ok, want[k])
		}
		p := problemOf(&tool.Error{Kind: k, Code: "c", Err: errors.New("e"), Hint: "h"})
		if p.Status != status || p.Kind != k || p.Type != "urn:helve:"+string(k) || p.Code != "c" || p.Detail != "e" || p.Hint != "h" {
			t.Errorf("%s: %+v", k, p)
		}
		if field, _ := reflect.TypeFor[problem]().FieldByName("Kind"); !strings.Contains(field.Tag.Get("enum"), string(k)) {
			t.Errorf("%s is not in the document", k)
		}
	}
	if _, ok := statusOf("other"); ok {
		t.Error("a kind is known that is none")
	}
}

func TestProblemOf(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{agent.ErrBusy, 409, "busy"},
		{record.ErrNotFound, 404, "not-found"},
		{helve.ErrNoJob, 404, "not-found"},
		{mcp.ErrNoServer, 404, "not-found"},
		{helve.ErrNothingToUndo, 404, "nothing-to-undo"},
		{permission.ErrNotFound, 404, "not-found"},
		{permission.ErrBadReply, 422, "bad-request"},
		{permission.ErrClosed, 503, "closed"},
		{errClosing, 503, "closed"},
		{context.Canceled, 409, "canceled"},
		{context.DeadlineExceeded, 409, "canceled"},
		{errors.New("the disk is full"), 500, "internal"},
		{notFound("there is no %s", "x"), 404, "not-found"},
		{&tool.Error{Kind: tool.Denied, Code: "external", Err: errors.New("no")}, 403, "external"},
	} {
		p := problemOf(fmt.Errorf("around: %w", c.err))
		if p.Status != c.status || p.Code != c.code || p.Title != http.StatusText(c.status) || p.Detail == "" {
			t.Errorf("%v: %+v", c.err, p)
		}
	}
	if p := problemOf(refusal(errors.New("there is no such model"))); p.Status != 422 || p.Kind != tool.Failed {
		t.Errorf("%+v", p)
	}
	if p := problemOf(refusal(&tool.Error{Kind: tool.Internal, Code: "store", Err: errors.New("x")})); p.Status != 500 {
		t.Errorf("%+v", p)
	}
}

func TestIssues(t *testing.T) {
	for _, c := range []struct {
		location, message string
		want              issue
	}{
		{"body", "expected required property tool to be present", issue{Path: []any{"body", "tool"}, Code: "missing"}},
		{"body.more", "unexpected property", issue{Path: []any{"body", "more"}, Code: "unknown"}},
		{"body.store[3].pattern", "expected string", issue{Path: []any{"body", "store", 3, "pattern"}, Code: "invalid"}},
		{"body.a[1][2]", "expected string", issue{Path: []any{"body", "a", 1, 2}, Code: "invalid"}},
		{"query.state", `expected value to be one of "a, b"`, issue{Path: []any{"query", "state"}, Code: "enum"}},
		{"query.x", "unknown query parameter", issue{Path: []any{"query", "x"}, Code: "unknown"}},
		{"body.[x].]", "expected string", issue{Path: []any{"body", "", "]"}, Code: "invalid"}},
		{"", "?", issue{Path: []any{""}, Code: "invalid"}},
	} {
		got := issueOf(&huma.ErrorDetail{Location: c.location, Message: c.message, Value: "a secret"})
		c.want.Message = c.message
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q %q: %+v", c.location, c.message, got)
		}
	}
	long := issueOf(&huma.ErrorDetail{Location: "body." + strings.Repeat("x", 10_000), Message: strings.Repeat("é", 10_000)})
	if len(long.Message) > maxIssueText+8 || len(long.Path[1].(string)) > maxIssueText+8 {
		t.Error("an issue is as long as what was sent")
	}
}

func FuzzSteps(f *testing.F) {
	for _, s := range []string{"body.a[1].b", "[", "]", "a[x", "a[1][", "a[-1]", "..", "a[1]b[2]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(steps(s)) == 0 {
			t.Error("no steps")
		}
	})
}

// Who sends a key that is none is told which there are, wherever it stands.
func TestKeysOfARequest(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	for at, c := range map[string]struct {
		in   any
		want string
	}{
		"POST /v1/calls":         {fields{"tool": "read", "arg": fields{"filePath": "a"}}, `body.arg: unexpected property (did you mean "args"?).`},
		"GET /v1/calls?number=3": {nil, "query.number: unknown query parameter; there are before, limit, state, tool."},
		"GET /v1/calls?limits=3": {nil, `query.limits: unknown query parameter (did you mean "limit"?).`},
		"POST /v1/permissions/per_x": {fields{"reply": "always", "store": []fields{{"permission": "read", "pattern": "*", "more": true}}},
			"body.store.0.more: unexpected property; there are exact, pattern, permission."},
	} {
		fails(t, h, at, c.in, problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request", Detail: c.want})
	}
}
