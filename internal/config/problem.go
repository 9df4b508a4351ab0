package config

import (
	"fmt"
	"strings"

	"github.com/helve-dev/helve/internal/text"
)

// A Severity is how serious a problem is.
type Severity string

// The severities: for an error, something is left out; a warning only informs; a note, which only
// [Check] returns, is about something that may be intended.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	note    Severity = "note"
)

// A Problem is one mistake in a config file.
type Problem struct {
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"` // from 1; 0 when it is about the file as a whole
	Col      int      `json:"col,omitempty"`  // in characters, from 1; 0 when not known
	Key      string   `json:"key,omitempty"`  // dotted
	Message  string   `json:"message"`
	Suggest  string   `json:"suggest,omitempty"` // the key that was probably meant
	Severity Severity `json:"severity"`
}

// Error returns the problem as one line: place, what is wrong, what was meant.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Col > 0 {
		fmt.Fprintf(&b, ":%d", p.Col)
	}
	b.WriteString(": ")
	b.WriteString(p.Message)
	if p.Suggest != "" {
		fmt.Fprintf(&b, "; did you mean %q?", p.Suggest)
	}
	return b.String()
}

// A policyError is the problem that makes the policy invalid.
type policyError struct{ problem *Problem }

func (e *policyError) Error() string {
	return e.problem.Error() + " (every tool is denied until this is fixed)"
}

func (e *policyError) Unwrap() error { return e.problem }

// maxProblems limits the problems of one file.
const maxProblems = 50

// addProblem adds a problem at an offset of an input and returns it. Above the limit it only
// returns it, without a column, which is slow to compute.
func (l *loader) addProblem(in *input, at int, p Problem) *Problem {
	p.File, p.Line = in.path, in.lineAt(at)
	switch in.count++; {
	case in.count <= maxProblems:
		p.Line, p.Col = in.positionAt(at)
		l.cfg.Problems = append(l.cfg.Problems, p)
	case in.count == maxProblems+1:
		more := Problem{File: p.File, Line: p.Line, Message: "more problems follow; fix the ones above first", Severity: p.Severity}
		l.cfg.Problems = append(l.cfg.Problems, more)
	}
	return &p
}

// void makes the policy invalid, for the first reason found.
func (l *loader) void(p *Problem) {
	if top, _, _ := strings.Cut(p.Key, "."); top == "wall" || p.Suggest == "wall" {
		l.unwalled = true
	}
	if l.cfg.PolicyError == nil {
		l.cfg.PolicyError = &policyError{p}
	}
}

// nearest returns the name most similar to key, or "" if none is close. It allows at most two
// typos, because a similar name can make the policy invalid.
func nearest(key string, names []string) string {
	const most = 2
	near, ok := text.Nearest(key, names)
	if !ok || text.Slips(key, near, most) > most {
		return ""
	}
	return near
}
