package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

const (
	maxIssues    = 20  // that one problem names
	maxIssueText = 512 // bytes of the words of one, and of each step of its path
)

// A problem is how a request fails, in the form of RFC 9457.
type problem struct {
	Type    string    `json:"type" doc:"urn:helve:KIND, or about:blank where there is no kind"`
	Title   string    `json:"title" doc:"what the status means"`
	Status  int       `json:"status" doc:"the status of the answer"`
	Detail  string    `json:"detail" doc:"what is wrong, and what to do about it"`
	Kind    tool.Kind `json:"kind,omitempty" enum:"unknown_tool,invalid_input,denied,rejected,unattended,failed,canceled,internal" doc:"what sort of failure it is, and so who acts on it"`
	Code    string    `json:"code,omitempty" doc:"the cause, for programs; a code never changes its meaning"`
	Hint    string    `json:"hint,omitempty" doc:"what to do next"`
	Reason  string    `json:"reason,omitempty" doc:"why, in words for a person, where detail is the text for a model"`
	Issues  []issue   `json:"issues,omitempty" doc:"each thing that is wrong with what was sent"`
	Call    string    `json:"call,omitempty" doc:"the call that failed"`
	Session string    `json:"session,omitempty" doc:"the session of that call"`

	header http.Header // what else the answer says; nil for nothing
}

// An issue is one thing wrong with a request or with the arguments of a call.
type issue struct {
	Path     []any  `json:"path" doc:"where: keys and indexes; of a request it begins with body, query or path"`
	Code     string `json:"code" doc:"such as missing, unknown, type, range, enum or invalid"`
	Message  string `json:"message"`
	Expected string `json:"expected,omitempty"`
	Received string `json:"received,omitempty"`
}

// Error is the detail.
func (p *problem) Error() string { return p.Detail }

// GetStatus is for huma.
func (p *problem) GetStatus() int { return p.Status }

// GetHeaders is for huma.
func (p *problem) GetHeaders() http.Header { return p.header }

// withHeader adds a header.
func (p *problem) withHeader(name, value string) *problem {
	p.header = http.Header{name: {value}}
	return p
}

// ContentType is for huma.
func (p *problem) ContentType(string) string { return "application/problem+json" }

// write sends a problem without huma.
func (p *problem) write(w http.ResponseWriter) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil { // strings and numbers: can not fail
		panic(err)
	}
	maps.Copy(w.Header(), p.header)
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_, _ = w.Write(b.Bytes()) // the client may be gone
}

func newProblem(status int, code, detail string) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

func (p *problem) withKind(k tool.Kind) *problem {
	p.Kind, p.Type = k, "urn:helve:"+string(k)
	return p
}

func broken(detail string) *problem {
	return newProblem(http.StatusInternalServerError, "internal", detail).withKind(tool.Internal)
}

func notFound(format string, args ...any) *problem {
	return newProblem(http.StatusNotFound, "not-found", fmt.Sprintf(format, args...))
}

func closedProblem() *problem {
	return newProblem(http.StatusServiceUnavailable, "closed", "The server is closing. Try again when it is back.").withHeader("Retry-After", "1")
}

func fullProblem() *problem {
	return newProblem(http.StatusServiceUnavailable, "full",
		fmt.Sprintf("%d turns and calls that nobody waits for, or %d calls that somebody does, are under way, which is all there is room for. Try again when one has ended.",
			maxDetached, maxWaiting)).withHeader("Retry-After", "5")
}

func absent(what string) *problem {
	return newProblem(http.StatusNotImplemented, "not-available", "This server was started without "+what+".")
}

// badRequest is a request that does not fit, at one place.
func badRequest(message string, where ...any) *problem {
	return badRequests([]issue{{Path: where, Code: "invalid", Message: message}})
}

func badRequests(issues []issue) *problem {
	p := newProblem(http.StatusUnprocessableEntity, "bad-request", "The request does not fit.").withKind(tool.InvalidInput)
	p.Issues = issues[:min(len(issues), maxIssues)]
	if len(issues) > 0 {
		steps := make([]string, len(issues[0].Path))
		for i, step := range issues[0].Path {
			steps[i] = fmt.Sprint(step)
		}
		p.Detail = fmt.Sprintf("The request does not fit: %s: %s.", strings.Join(steps, "."), issues[0].Message)
	}
	if more := len(issues) - 1; more > 0 {
		p.Detail += fmt.Sprintf(" There are %d more issues.", more)
	}
	return p
}

// badCursor is a place in a list that there is not.
func badCursor() *problem {
	return badRequest("no page said this as its next: leave it out to begin with the newest", "query", "before")
}

// statusOf is the status of a kind of failure; false for one that is not known.
func statusOf(k tool.Kind) (int, bool) {
	switch k {
	case tool.UnknownTool:
		return http.StatusNotFound, true
	case tool.InvalidInput, tool.Failed:
		return http.StatusUnprocessableEntity, true
	case tool.Denied, tool.Rejected, tool.Unattended:
		return http.StatusForbidden, true
	case tool.Canceled:
		return http.StatusConflict, true
	case tool.Internal:
		return http.StatusInternalServerError, true
	}
	return http.StatusInternalServerError, false
}

// problemOf is an error of the runtime as a problem.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		status, _ := statusOf(e.Kind)
		p := newProblem(status, e.Code, err.Error()).withKind(e.Kind)
		p.Hint, p.Reason = e.Hint, e.Reason()
		for _, i := range e.Issues[:min(len(e.Issues), maxIssues)] {
			p.Issues = append(p.Issues, issue{Path: append([]any{}, i.Path...), Code: i.Code, Message: i.Message, Expected: i.Expected, Received: i.Received})
		}
		return p
	}
	switch {
	case errors.Is(err, agent.ErrBusy):
		return newProblem(http.StatusConflict, "busy", err.Error())
	case errors.Is(err, helve.ErrNothingToUndo):
		return newProblem(http.StatusNotFound, "nothing-to-undo", err.Error())
	case errors.Is(err, record.ErrNotFound), errors.Is(err, helve.ErrNoJob), errors.Is(err, mcp.ErrNoServer), errors.Is(err, permission.ErrNotFound):
		return notFound("%v", err)
	case errors.Is(err, permission.ErrBadReply):
		return badRequest(err.Error(), "body")
	case errors.Is(err, permission.ErrClosed), errors.Is(err, errClosing):
		return closedProblem()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return newProblem(http.StatusConflict, "canceled", err.Error()).withKind(tool.Canceled)
	}
	return broken(err.Error())
}

// refusal is an error that what was asked for is at fault for, where nothing
// says otherwise.
func refusal(err error) error {
	p := problemOf(err)
	if p.Kind == tool.Internal {
		if _, ok := errors.AsType[*tool.Error](err); !ok {
			return newProblem(http.StatusUnprocessableEntity, "failed", err.Error()).withKind(tool.Failed)
		}
	}
	return p
}

// translator makes problems of huma's own errors. It is a transformer, so that
// no variable of huma has to be set.
func translator(schemas huma.Registry) huma.Transformer {
	return func(ctx huma.Context, _ string, v any) (any, error) {
		if e, ok := v.(*huma.ErrorModel); ok {
			issues := []issue{}
			for _, d := range e.Errors {
				if d == nil {
					continue
				}
				i := issueOf(d)
				if last := len(i.Path) - 1; i.Code == "unknown" && last > 0 {
					i.Message += suggestKey(i.Path[last], keysAt(ctx.Operation(), schemas, i.Path[:last]))
				}
				issues = append(issues, i)
			}
			p := badRequests(issues)
			if len(issues) == 0 {
				p.Detail = "The request does not fit: " + e.Detail + "."
			}
			if e.Status >= http.StatusInternalServerError {
				p = broken(e.Detail)
			}
			p.Status, p.Title = e.Status, http.StatusText(e.Status)
			return p, nil
		}
		return v, nil
	}
}

// suggestKey says which key was probably meant, or else which there are.
func suggestKey(key any, names []string) string {
	if len(names) == 0 {
		return ""
	}
	if near, ok := text.Nearest(fmt.Sprint(key), names); ok {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return "; there are " + strings.Join(names, ", ")
}

// keysAt are the keys that a request may have at a place, such as body or
// body.store, sorted.
func keysAt(op *huma.Operation, schemas huma.Registry, where []any) []string {
	var names []string
	if where[0] == "query" {
		for _, p := range op.Parameters {
			if p.In == "query" {
				names = append(names, p.Name)
			}
		}
		slices.Sort(names)
		return names
	}
	if where[0] != "body" || op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	s := op.RequestBody.Content["application/json"].Schema
	for _, step := range append([]any{""}, where[1:]...) {
		if name, ok := step.(string); ok && name != "" {
			s = s.Properties[name]
		} else if step != "" {
			s = s.Items
		}
		if s != nil && s.Ref != "" {
			s = schemas.SchemaFromRef(s.Ref)
		}
		if s == nil {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// issueOf is what huma found. The value is left out: it may be all of the body.
func issueOf(d *huma.ErrorDetail) issue {
	i := issue{Path: steps(d.Location), Code: "invalid", Message: clip(d.Message)}
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	if rest, ok := strings.CutPrefix(d.Message, before); ok {
		if name, ok := strings.CutSuffix(rest, after); ok {
			i.Path, i.Code = append(i.Path, clip(name)), "missing"
		}
	}
	switch {
	case d.Message == validation.MsgUnexpectedProperty, d.Message == "unknown query parameter":
		i.Code = "unknown"
	case strings.HasPrefix(d.Message, "expected value to be one of"):
		i.Code = "enum"
	}
	return i
}

func clip(s string) string {
	if short, cut := text.Cut(s, maxIssueText); cut {
		return short + "…"
	}
	return s
}

// steps reads a location such as body.items[3].name.
func steps(location string) []any {
	path := []any{}
	for part := range strings.SplitSeq(location, ".") {
		name, index, found := strings.Cut(part, "[")
		path = append(path, clip(name))
		for found {
			var number string
			number, index, _ = strings.Cut(index, "]")
			if n, err := strconv.Atoi(number); err == nil {
				path = append(path, n)
			}
			index, found = strings.CutPrefix(index, "[")
		}
	}
	return path
}
