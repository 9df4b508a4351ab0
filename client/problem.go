package client

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// A Problem is the server's no, and the end of a call that failed. Get at it by
// errors.As.
type Problem struct {
	Status int    `json:"status"`           // the HTTP status that goes with it
	Title  string `json:"title"`            // what is wrong, in general
	Detail string `json:"detail,omitempty"` // what is wrong in this case, for people and models
	Kind   string `json:"kind,omitempty"`   // of a call: unknown_tool, invalid_input, denied, rejected, unattended, failed, canceled, internal
	Code   string `json:"code,omitempty"`   // what exactly, for programs; codes do not change their meaning
	Hint   string `json:"hint,omitempty"`   // what to do next

	Issues  []ProblemIssue `json:"issues,omitempty"`  // what is wrong with which part of the input
	Call    string         `json:"call,omitempty"`    // the call that failed
	Session string         `json:"session,omitempty"` // and its session

	// RetryAfter is how long the server asks to wait before the next try.
	RetryAfter time.Duration `json:"-"`
}

// A ProblemIssue is what is wrong with one part of the input.
type ProblemIssue struct {
	Path    json.RawMessage `json:"path,omitempty"` // names and numbers, from the outermost on
	Code    string          `json:"code,omitempty"`
	Message string          `json:"message"`
}

// Error is the problem as a sentence or two.
func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	if text == "" {
		text = http.StatusText(p.Status)
	}
	if p.Kind != "" {
		text = p.Kind + ": " + text
	}
	if p.Hint != "" && !strings.Contains(text, p.Hint) {
		text += "\n" + p.Hint
	}
	return text
}

// maxProblem bounds the body of a refusal.
const maxProblem = 1 << 20

// problemOf reads a refusal, also one that somebody between us and the server
// has written.
func problemOf(res *http.Response) error {
	defer res.Body.Close()
	p := &Problem{}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	text, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	if err != nil || kind != "application/problem+json" && kind != "application/json" || json.Unmarshal(text, p) != nil {
		p = &Problem{Detail: fmt.Sprintf("The server answered with status %d and no reason. Is it a helve server, and is the address right?", res.StatusCode)}
	}
	p.Status = res.StatusCode
	if p.Title == "" {
		p.Title = http.StatusText(res.StatusCode)
	}
	p.RetryAfter = retryAfter(res.Header)
	return p
}

// statusOf is the HTTP status of the kinds of failures of calls.
func statusOf(kind string) int {
	switch kind {
	case "unknown_tool":
		return http.StatusNotFound
	case "invalid_input", "failed":
		return http.StatusUnprocessableEntity
	case "denied", "rejected", "unattended":
		return http.StatusForbidden
	case "canceled":
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}
