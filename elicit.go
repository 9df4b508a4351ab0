package helve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/tool"
)

// The answers to choose from if the question of an MCP server has none of its own.
const (
	answerYes   = "yes"
	answerNo    = "no"
	answerEmpty = "leave empty"
)

// elicit asks the person the question of an MCP server, in the session whose call the server works
// for. If that session is not known, or nobody can answer, it declines.
func (r *Runtime) elicit(ctx context.Context, server string, e mcp.Elicitation) (mcp.ElicitationAnswer, error) {
	declined := mcp.ElicitationAnswer{Action: "decline"}
	c, ok := r.running.only(func(name string) bool {
		owner, ok := r.pool.Owner(name)
		return ok && owner == server
	})
	if !ok {
		return declined, nil
	}
	form := newForm(server, e)
	answers, err := r.questions.Question(ctx, c, form.questions)
	switch {
	case err == nil:
		return form.read(answers), nil
	case ctx.Err() != nil:
		return mcp.ElicitationAnswer{}, err
	case tool.KindOf(err) == tool.Unattended:
		r.log.Warn("an MCP server asked something, and nobody is here to answer", "server", server)
	}
	return declined, nil
}

// A form is an elicitation as a list of questions.
type form struct {
	fields    []mcp.Field // one for each question; none for a plain yes or no
	questions []tool.Question
}

func newForm(server string, e mcp.Elicitation) form {
	said := fmt.Sprintf("The MCP server %s asks: %s", text.VisibleLine(server), text.VisibleLine(e.Message))
	if e.URL != "" {
		said += fmt.Sprintf(" It wants you to open %s", text.VisibleLine(e.URL))
	}
	f := form{fields: e.Fields}
	for _, field := range e.Fields {
		f.questions = append(f.questions, tool.Question{
			Question: said + " – " + describeField(field), Header: header(field), Options: choices(field), Multiple: field.Type == "multi-enum",
		})
		said = fmt.Sprintf("The MCP server %s asks further", text.VisibleLine(server))
	}
	if len(e.Fields) == 0 {
		f.questions = []tool.Question{{Question: said, Header: "MCP", Options: []tool.Choice{
			{Label: answerYes, Description: "go on"}, {Label: answerNo, Description: "decline"},
		}}}
	}
	return f
}

func describeField(f mcp.Field) string {
	said := text.VisibleLine(f.Name)
	if f.Title != "" {
		said = text.VisibleLine(f.Title)
	}
	if f.Description != "" {
		said += ": " + text.VisibleLine(f.Description)
	}
	switch f.Type {
	case "number", "integer":
		said += " (a number)"
	}
	return said
}

func header(f mcp.Field) string {
	name := f.Title
	if name == "" {
		name = f.Name
	}
	cut, _ := text.Cut(text.VisibleLine(name), 30)
	return cut
}

// choices returns the answers to choose from. A person may also type another.
func choices(f mcp.Field) []tool.Choice {
	out := []tool.Choice{}
	switch f.Type {
	case "boolean":
		out = append(out, tool.Choice{Label: answerYes}, tool.Choice{Label: answerNo})
	case "enum", "multi-enum":
		for _, o := range f.Options {
			out = append(out, tool.Choice{Label: text.VisibleLine(o.Value), Description: text.VisibleLine(o.Title)})
		}
	default:
		if f.Default != nil {
			out = append(out, tool.Choice{Label: text.VisibleLine(fmt.Sprint(f.Default)), Description: "the default"})
		}
	}
	if !f.Required {
		out = append(out, tool.Choice{Label: answerEmpty})
	}
	return out
}

// read converts the answers back to values.
func (f form) read(answers [][]string) mcp.ElicitationAnswer {
	if len(f.fields) == 0 {
		if len(answers) > 0 && slices.Equal(answers[0], []string{answerYes}) {
			return mcp.ElicitationAnswer{Action: "accept"}
		}
		return mcp.ElicitationAnswer{Action: "decline"}
	}
	out := mcp.ElicitationAnswer{Action: "accept", Values: map[string]any{}}
	for i, field := range f.fields {
		if i >= len(answers) {
			break
		}
		picked := slices.DeleteFunc(slices.Clone(answers[i]), func(s string) bool { return s == answerEmpty })
		if len(picked) == 0 {
			continue
		}
		switch field.Type {
		case "multi-enum":
			values := make([]any, len(picked))
			for j, p := range picked {
				values[j] = chosenValue(field, p)
			}
			out.Values[field.Name] = values
		case "boolean":
			out.Values[field.Name] = strings.EqualFold(picked[0], answerYes) || picked[0] == "true"
		default:
			out.Values[field.Name] = chosenValue(field, picked[0])
		}
	}
	return out
}

// chosenValue returns the value of the chosen answer, whose label may be escaped.
func chosenValue(f mcp.Field, picked string) string {
	for _, o := range f.Options {
		if text.VisibleLine(o.Value) == picked {
			return o.Value
		}
	}
	return picked
}
