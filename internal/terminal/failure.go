package terminal

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// A callOutcome is how a call ended, for people. What is an answer for a model may be a failure for
// them.
type callOutcome struct {
	failed bool
	tool   string // that was meant
	why    string // it failed, in place of what it was about; "" where the error stands below
	took   string
}

// outcomeOf returns how a call ended. The error is the one that the runtime reported; it may be
// nil.
func outcomeOf(p message.Part, e *record.Failure) callOutcome {
	s := p.State
	o := callOutcome{failed: s.Status == message.Failed || s.Kind != "", tool: p.Tool}
	if t := s.Time; t != nil && t.End > t.Start {
		o.took = duration(time.Duration(t.End-t.Start) * time.Millisecond)
	}
	if s.Status == message.Failed || s.Kind == "" {
		return o
	}
	hint := ""
	if e != nil {
		hint = e.Hint
	}
	var caught struct{ Tool, Error string }
	if json.Unmarshal(s.Input, &caught) == nil && caught.Tool != "" && caught.Error != "" {
		o.tool, o.why = caught.Tool, firstSentence(Reason(caught.Error, hint))
		return o
	}
	switch s.Kind {
	case tool.Failed, tool.Canceled:
		o.took = strings.TrimSpace("stopped after " + o.took)
		if o.took == "stopped after" {
			o.took = "stopped"
		}
	default:
		said := s.Output
		if e != nil {
			said = e.Message
		}
		o.why = firstSentence(Reason(said, hint))
	}
	return o
}

// Reason words the error of a call for people: lists for models become sentences.
func Reason(said, hint string) string {
	said = strings.TrimSpace(said)
	denied := strings.TrimSuffix((&permission.DeniedError{}).Error(), "[]")
	if rest, ok := strings.CutPrefix(hint, "Decided by "); ok && strings.HasPrefix(said, denied) {
		return "refused by " + strings.TrimSuffix(rest, ".")
	}
	if strings.HasPrefix(said, denied) {
		return "refused by a rule"
	}
	if _, list, ok := strings.Cut(said, "invalid arguments: ["); ok {
		if wrong := wrongArguments("[" + list); wrong != "" {
			return "wrong arguments: " + wrong
		}
	}
	if _, after, ok := strings.Cut(said, "JSON parsing failed: Text: "); ok {
		if at := strings.LastIndex(after, "\nError message: "); at >= 0 {
			why, _, _ := strings.Cut(after[at+len("\nError message: "):], "\n")
			return "arguments that are no JSON: " + why
		}
	}
	if _, _, ok := strings.Cut(said, ". Available tools: "); ok {
		if hint != "" {
			return hint
		}
		return "there is no tool of this name"
	}
	return said
}

// mostIssues is how many faults of arguments are printed.
const mostIssues = 3

// wrongArguments words a list of issues; "" if it is not one.
func wrongArguments(list string) string {
	var issues []struct {
		Path    []any
		Message string
	}
	if json.NewDecoder(strings.NewReader(list)).Decode(&issues) != nil {
		return ""
	}
	var out []string
	for i, issue := range issues {
		if i == mostIssues {
			out = append(out, fmt.Sprintf("and %d more", len(issues)-i))
			break
		}
		said := strings.TrimPrefix(issue.Message, "Invalid input: ")
		if strings.HasSuffix(said, "received undefined") {
			said = "missing"
		}
		var path []string
		for _, step := range issue.Path {
			path = append(path, fmt.Sprint(step))
		}
		if len(path) > 0 {
			said = strings.Join(path, ".") + ": " + said
		}
		out = append(out, said)
	}
	return strings.Join(out, "; ")
}

// firstSentence is the beginning of a text, up to the end of its first line or
// sentence.
func firstSentence(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s, _, _ = strings.Cut(s, ". ")
	return strings.TrimSuffix(s, ".")
}

// printed returns a command's output, without the tool's tags; for a stopped command, without the
// notice in them too.
func printed(output string, stopped bool) string {
	const begin, end = "<bash_metadata>\n", "\n</bash_metadata>"
	at := strings.LastIndex(output, begin)
	if at < 0 || !strings.HasSuffix(output, end) {
		return output
	}
	before, notes := strings.TrimRight(output[:at], "\n"), strings.TrimSuffix(output[at+len(begin):], end)
	if stopped {
		return before
	}
	return strings.TrimLeft(before+"\n"+notes, "\n")
}

// wrapped returns lines of text with an indent. On a terminal long ones are broken between words.
func (t *Transcript) wrapped(s, indent string, paint func(string) string) string {
	var out strings.Builder
	for i, l := range strings.Split(s, "\n") {
		if i == mostError {
			out.WriteString(indent + paint("…") + "\n")
			break
		}
		lines := []string{Safe(l)}
		if t.opt.Live {
			lines = Wrap(l, max(t.opt.Width-len(indent), 20))
		}
		for _, l := range lines {
			out.WriteString(indent + paint(l) + "\n")
		}
	}
	return out.String()
}
