package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/tool"
)

// mostRefused is how many refusals are listed one by one.
const mostRefused = 20

// refusals are the calls of a turn that failed because there was no one to ask, and the answers
// without text.
type refusals struct {
	count int
	said  []string                     // what the calls failed with, each once
	rules map[string]map[string]string // what would allow them: permissions, patterns, "allow"

	answer, worded map[string]string // by session: the last answer, and the last message with words
}

// setSpeaker takes note of who spoke last.
func (r *refusals) setSpeaker(h event.Payload) {
	if r.answer == nil {
		r.answer, r.worded = map[string]string{}, map[string]string{}
	}
	switch p := h.(type) {
	case event.MessageUpdated:
		if p.Info.Role == message.Assistant && !p.Info.Summary {
			r.answer[p.Info.Session] = p.Info.ID
		}
	case event.PartUpdated:
		if p.Part.Type == message.Text && strings.TrimSpace(p.Part.Text) != "" {
			r.worded[p.Part.Session] = p.Part.Message
		}
	case event.Missed:
		clear(r.answer) // it may have had words
	}
}

// mute reports whether a turn ended without a text of the model: its last answer, which made no
// call, is empty.
func (r *refusals) mute(t *agent.Turn) bool {
	return t.End == agent.EndDone && t.Steps > 0 && (strings.TrimSpace(t.Text) == "" || r.answer[t.Session] != "" && r.answer[t.Session] != r.worded[t.Session])
}

// handleEvent takes note of a call that was refused, and of who spoke.
func (r *refusals) handleEvent(e event.Event) {
	r.setSpeaker(e.Properties)
	p, ok := e.Properties.(event.CallFinished)
	if !ok || p.Error == nil || p.Error.Kind != tool.Unattended {
		return
	}
	r.count++
	before, rule, after := cutRule(p.Error.Message)
	said := shownLine(p.Tool+": "+before) + visibleJSON(rule) + shownLine(after)
	if slices.Contains(r.said, said) {
		return
	}
	r.said = append(r.said, said)
	var config struct {
		Permission map[string]map[string]string `json:"permission"`
	}
	if json.Unmarshal([]byte(rule), &config) != nil {
		return // it has none
	}
	if r.rules == nil {
		r.rules = map[string]map[string]string{}
	}
	for name, patterns := range config.Permission {
		if r.rules[name] == nil {
			r.rules[name] = map[string]string{}
		}
		maps.Copy(r.rules[name], patterns)
	}
}

// cutRule finds the rule in the error of an unattended call. It comes last, except for a note. What
// looks like a rule before it belongs to the request, in which quotes are escaped.
func cutRule(said string) (before, rule, after string) {
	i := strings.LastIndex(said, `{"permission": {`)
	if i < 0 {
		return said, "", ""
	}
	dec := json.NewDecoder(strings.NewReader(said[i:]))
	var found json.RawMessage
	if dec.Decode(&found) != nil {
		return said, "", ""
	}
	end := i + int(dec.InputOffset())
	if after = said[end:]; after != "" && after != " (in a rule * and ? stand for any characters, so it allows more than this)" {
		return said, "", ""
	}
	return said[:i], said[i:end], after
}

// printSummary lists what was refused, and what would allow it.
func (r *refusals) printSummary(a *app) {
	if r.count == 0 {
		return
	}
	a.printNote(text.Count(r.count, "call was", "calls were") + " refused because there was nobody to ask:")
	for i, said := range r.said {
		if i == mostRefused {
			fmt.Fprintf(a.Stderr, "  and %d more\n", len(r.said)-i)
			break
		}
		fmt.Fprintf(a.Stderr, "  %s\n", said)
	}
	if len(r.said) > 1 && len(r.rules) > 0 {
		if all, err := text.EncodeLine(map[string]any{"permission": r.rules}); err == nil {
			fmt.Fprintf(a.Stderr, "  all of it in one: %s\n", visibleJSON(strings.TrimSpace(string(all))))
		}
	}
}

// shownLine is a text as one line that hides nothing.
func shownLine(s string) string {
	if text.HasHidden(s) || strings.ContainsAny(s, "\n\t") {
		return text.VisibleLine(s)
	}
	return s
}

// exitOfTurn gives every end of a turn its exit code.
func exitOfTurn(end agent.End) int {
	switch end {
	case agent.EndDone:
		return exitOK
	case agent.EndRejected:
		return exitOf(tool.Rejected)
	case agent.EndCanceled:
		return exitCanceled
	case agent.EndFailed:
		return exitModel
	case agent.EndLength, agent.EndSteps, agent.EndBudget:
		return exitLimit
	case agent.EndRefused, agent.EndRepeats:
		return exitRefused
	}
	return exitInternal // also for an unknown end
}

// reportTurn prints on standard error the usage of a turn, if a person sees it, and how it ended,
// unless it is complete. The error has its exit code.
func (a *app) reportTurn(f *runFlags, t *agent.Turn, refused *refusals) error {
	if !f.asJSON && !f.quiet && isTerminal(a.Stderr) {
		took := slices.DeleteFunc([]string{t.Session, tokenCount(t.Tokens), cost(t.Cost)}, func(s string) bool { return s == "" })
		fmt.Fprintf(a.Stderr, "\n%s\n", a.style(a.Stderr).Dim(text.VisibleLine(strings.Join(took, ", "))))
	}
	refused.printSummary(a)
	if refused.mute(t) {
		a.printNote("the model said nothing")
	}
	code := exitOfTurn(t.End)
	if code != exitOK {
		a.errorln(endOf(t))
		if t.Session != "" && resumable(t.End) {
			fmt.Fprintf(a.Stderr, "To go on with it: helve sessions resume %s\n", text.VisibleLine(t.Session))
		}
	} else if f.strict && refused.count > 0 {
		code = exitOf(tool.Unattended)
	}
	if code == exitOK {
		return nil
	}
	return &silent{code}
}

// resumable reports whether a session can continue after such an end without a new prompt.
func resumable(end agent.End) bool {
	switch end {
	case agent.EndCanceled, agent.EndFailed, agent.EndBudget, agent.EndSteps, agent.EndRejected, agent.EndRepeats, agent.EndLength:
		return true
	}
	return false // it is done, or the model refused and would again
}

// endOf says why a turn ended.
func endOf(t *agent.Turn) string {
	why := t.Note
	if t.Error != nil {
		why = cmp.Or(t.Error.Data.Message, t.Error.Name)
	}
	said, known := map[agent.End]string{
		agent.EndRejected: "it stopped because you said no",
		agent.EndCanceled: "it was cancelled",
		agent.EndFailed:   "the model could not answer",
		agent.EndLength:   "the answer was cut off, because the model may not say more at once",
		agent.EndRefused:  "the model refused to answer",
		agent.EndRepeats:  "it made the same call again and again, and there was nobody to ask whether it should go on",
		agent.EndSteps:    "it has taken as many steps as it may",
		agent.EndBudget:   "it has used up what it was given",
	}[t.End]
	if !known {
		said = fmt.Sprintf("it ended as %q", t.End)
	}
	if why != "" {
		said += ": " + why
	}
	return said
}
