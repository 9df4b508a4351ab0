package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// askQuestions shows a set of questions to the person of its session.
func (h *sharedRuntime) askQuestions(req tool.QuestionRequest) {
	dismiss := func() { _ = h.rt.Requests().Dismiss(req.ID) } // it may be answered already
	h.put(req.ID, req.Session, req.Call, dismiss, func(ctx context.Context, se *session) (settle func(), clear bool) {
		answers, action := se.elicitAnswers(ctx, req.Questions)
		return func() {
			err := error(nil)
			if action == "accept" {
				err = h.rt.Requests().Answer(req.ID, answers)
			} else {
				err = h.rt.Requests().Dismiss(req.ID)
			}
			if err != nil && !errors.Is(err, permission.ErrNotFound) {
				se.s.log.Error("a question could not be answered", "request", req.ID, "error", err)
			}
		}, action == "accept" || action == "decline"
	})
}

// elicitAnswers asks all questions with one form. There are answers if the action is "accept"; it
// is "" if they could not be asked.
func (se *session) elicitAnswers(ctx context.Context, qs []tool.Question) (answers [][]string, action string) {
	f := newQuestionForm(se.version, qs)
	res, err := se.ss.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: f.message, RequestedSchema: form(f.fields)})
	if err != nil {
		if ctx.Err() == nil {
			se.s.log.Warn("a question could not be put to the person", "client", se.client, "error", err)
		}
		return nil, ""
	}
	if res.Action != "accept" {
		return nil, res.Action
	}
	return f.answers(res.Content), res.Action
}

// A questionForm is a set of questions as a form, and the way back.
type questionForm struct {
	message string
	fields  []field
	asked   []*question
}

// A question is one of them: what its choices mean, by value.
type question struct {
	pick  string            // the field of the choice, or the beginning of the names of its fields
	own   string            // the field of an answer in the person's own words
	means map[string]string // the label of each value
	order []string          // the values
	many  bool              // several may be picked
	flags bool              // each value is a field of its own
}

func newQuestionForm(version string, qs []tool.Question) *questionForm {
	f := &questionForm{}
	var b strings.Builder
	b.WriteString("An answer is needed:\n")
	for i, q := range qs {
		head, body := text.VisibleLine(q.Header), text.VisibleLine(q.Question)
		fmt.Fprintf(&b, "\n%d. %s\n", i+1, body)
		if head == "" {
			head = fmt.Sprintf("Question %d", i+1)
		}
		a := &question{pick: fmt.Sprintf("q%d", i+1), own: fmt.Sprintf("q%d_own", i+1), means: map[string]string{}}
		choices := a.take(q.Options)
		for _, c := range choices {
			fmt.Fprintf(&b, "   - %s\n", c.title)
		}
		f.choose(a, version, head, body, q.Multiple, choices)
		own := map[string]any{"type": "string", "title": head + ": own answer", "description": "In your own words, instead"}
		if a.many = q.Multiple; a.many {
			own["description"] = "In your own words, in addition"
		}
		if len(choices) == 0 {
			own["title"], own["description"] = head, body
		}
		f.fields = append(f.fields, field{a.own, own})
		f.asked = append(f.asked, a)
	}
	f.message = strings.TrimSuffix(b.String(), "\n")
	return f
}

// take sets the choices of a question, without duplicates.
func (a *question) take(options []tool.Choice) []choice {
	var out []choice
	for _, o := range options {
		value := text.VisibleLine(o.Label)
		if _, dup := a.means[value]; dup || value == "" {
			continue
		}
		a.means[value] = o.Label
		a.order = append(a.order, value)
		title := value
		if d := text.VisibleLine(o.Description); d != "" {
			title += ": " + d
		}
		out = append(out, choice{value, title})
	}
	return out
}

// choose adds the fields of the choice. Older versions of the protocol have no
// choice of several: there each is a field to tick.
func (f *questionForm) choose(a *question, version, head, body string, multiple bool, choices []choice) {
	switch {
	case len(choices) == 0:
	case !multiple:
		s := pickOne(version, choices)
		s["title"], s["description"] = head, body
		f.fields = append(f.fields, field{a.pick, s})
	case version >= titledEnums:
		f.fields = append(f.fields, field{a.pick, map[string]any{
			"type": "array", "title": head, "description": body, "items": map[string]any{"anyOf": titled(choices)},
		}})
	default:
		a.flags = true
		for i, c := range choices {
			f.fields = append(f.fields, field{fmt.Sprintf("%s_%d", a.pick, i+1), map[string]any{
				"type": "boolean", "title": head + ": " + c.value, "description": c.title, "default": false,
			}})
		}
	}
}

// answers reads the submitted form: for each question the chosen labels, and the person's own text.
// If only one answer is wanted the text wins, because a form may have preselected a choice.
func (f *questionForm) answers(content map[string]any) [][]string {
	out := make([][]string, len(f.asked))
	for i, a := range f.asked {
		out[i] = []string{}
		own, _ := content[a.own].(string)
		own = strings.TrimSpace(own)
		for _, v := range a.picked(content) {
			if label, ok := a.means[v]; ok && (a.many || own == "") {
				out[i] = append(out[i], label)
			}
		}
		if own != "" {
			out[i] = append(out[i], own)
		}
	}
	return out
}

func (a *question) picked(content map[string]any) []string {
	if a.flags {
		var out []string
		for i, v := range a.order {
			if on, _ := content[fmt.Sprintf("%s_%d", a.pick, i+1)].(bool); on {
				out = append(out, v)
			}
		}
		return out
	}
	switch v := content[a.pick].(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
