package config

import (
	"fmt"
	"strings"
)

// A Severity says how bad a problem is.
type Severity string

// The severities: an error leaves something out, a warning only tells.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
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

// Error gives the problem as one line: place, what is wrong, what was meant.
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

// A policyError is the problem that makes the policy void.
type policyError struct{ problem *Problem }

func (e *policyError) Error() string {
	return e.problem.Error() + " (every tool is denied until this is fixed)"
}

func (e *policyError) Unwrap() error { return e.problem }

// maxProblems bounds what one file may report.
const maxProblems = 50

// report adds a problem at an offset of an input and returns it. Past the
// bound it is returned only, without a column, which is slow to find.
func (l *loader) report(in *input, at int, p Problem) *Problem {
	p.File, p.Line = in.path, in.line(at)
	switch in.count++; {
	case in.count <= maxProblems:
		p.Line, p.Col = in.position(at)
		l.cfg.Problems = append(l.cfg.Problems, p)
	case in.count == maxProblems+1:
		more := Problem{File: p.File, Line: p.Line, Message: "more problems follow; fix the ones above first", Severity: p.Severity}
		l.cfg.Problems = append(l.cfg.Problems, more)
	}
	return &p
}

// void makes the policy void, for the first reason that comes up.
func (l *loader) void(p *Problem) {
	if l.cfg.PolicyError == nil {
		l.cfg.PolicyError = &policyError{p}
	}
}

// nearest returns the name most like key, or "" when none is near.
func nearest(key string, names []string) string {
	if len(key) > 40 {
		return ""
	}
	best, found := max(1, min(2, len(key)/3))+1, ""
	for _, name := range names {
		if d := len(name) - len(key); d >= best || -d >= best {
			continue
		}
		if d := distance(strings.ToLower(key), strings.ToLower(name)); d < best {
			best, found = d, name
		}
	}
	return found
}

// distance counts the letters to put in, take out, change or swap with their
// neighbour to make b of a.
func distance(a, b string) int {
	var before, prev, cur [64]int
	if len(a) >= len(cur) || len(b) >= len(cur) {
		return len(cur)
	}
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev = prev, cur
	}
	return prev[len(b)]
}
