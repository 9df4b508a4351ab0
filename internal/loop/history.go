package loop

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// Texts for models that replace something else, in the wording of the reference implementation.
const (
	cleared     = "[Old tool result content cleared]"
	interrupted = "[Tool execution was interrupted]"
	aborted     = "Tool execution aborted"
	soFar       = "What did we do so far?"

	abortedName = "MessageAbortedError"
)

// sinceSummary is the conversation from its last summary on.
func sinceSummary(msgs []message.Message) []message.Message {
	for i := len(msgs) - 1; i >= 0; i-- {
		if info := msgs[i].Info; info.Summary && info.Finish != "" && info.Error == nil {
			asked := slices.IndexFunc(msgs[:i], func(m message.Message) bool { return m.Info.ID == info.Parent })
			if asked < 0 {
				return msgs[i:]
			}
			return append([]message.Message{msgs[asked]}, msgs[i:]...)
		}
	}
	return msgs
}

// forModel is a conversation as a model gets it. Seals go only to the model
// that gave them.
func forModel(msgs []message.Message, ref model.Ref) []model.Message {
	var out []model.Message
	for _, m := range sinceSummary(msgs) {
		if m.Info.Role == message.User {
			if parts := userParts(m); len(parts) > 0 {
				out = append(out, model.Message{Role: model.User, Parts: parts})
			}
			continue
		}
		if e := m.Info.Error; e != nil && e.Name != abortedName {
			continue // a partial answer that no one stopped
		}
		own := m.Info.Model == ref
		said, results := assistantParts(m, own)
		if len(said) > 0 {
			out = append(out, model.Message{Role: model.Assistant, Parts: said})
		}
		if len(results) > 0 {
			out = append(out, model.Message{Role: model.User, Parts: results})
		}
	}
	return out
}

func userParts(m message.Message) (out []model.Part) {
	for _, p := range m.Parts {
		switch p.Type {
		case message.Text:
			if p.Text != "" {
				out = append(out, model.Part{Text: p.Text})
			}
		case message.File:
			if f, ok := fileOf(p.Mime, p.Filename, p.URL); ok {
				out = append(out, model.Part{File: &f})
			}
		case message.Compaction:
			out = append(out, model.Part{Text: soFar})
		}
	}
	return out
}

func assistantParts(m message.Message, own bool) (said, results []model.Part) {
	for _, p := range m.Parts {
		switch p.Type {
		case message.Text:
			if p.Text != "" {
				said = append(said, model.Part{Text: p.Text})
			}
		case message.Reasoning:
			if own {
				said = append(said, model.Part{Reasoning: &model.Reasoning{Text: p.Text, Seal: p.Seal}})
			}
		case message.Tool:
			c, r := callOf(p, own)
			said, results = append(said, model.Part{Call: &c}), append(results, model.Part{Result: &r})
		}
	}
	if !slices.ContainsFunc(said, func(p model.Part) bool { return p.Reasoning == nil }) {
		return nil, nil // thoughts alone are no answer
	}
	return said, results
}

func callOf(p message.Part, own bool) (model.Call, model.Result) {
	c := model.Call{ID: p.CallID, Name: p.Tool, Input: p.State.Input}
	if own {
		c.Seal = p.Seal
	}
	r := model.Result{ID: p.CallID, Name: p.Tool, Failed: true}
	switch s := p.State; {
	case s.Status == message.Failed:
		r.Output = forModelError(s)
	case s.Status != message.Completed:
		r.Output = interrupted
	case s.Time != nil && s.Time.Compacted > 0:
		r.Output, r.Failed = cleared, false
	default:
		r.Output, r.Failed = s.Output, false
		for _, a := range s.Attachments {
			if f, ok := fileOf(a.Mime, a.Filename, a.URL); ok {
				r.Files = append(r.Files, f)
			}
		}
	}
	return c, r
}

// forModelError words a failed call as the reference implementation does.
func forModelError(s *message.State) string {
	if s.Error == aborted || s.Error == interrupted {
		return s.Error
	}
	return "Error: " + s.Error
}

// fileOf reads a data URL; other URLs are not for the model.
func fileOf(mime, name, url string) (model.File, bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return model.File{}, false
	}
	head, body, ok := strings.Cut(rest, ",")
	if !ok || !strings.HasSuffix(head, ";base64") {
		return model.File{}, false
	}
	data, err := base64.StdEncoding.DecodeString(body)
	return model.File{Mime: mime, Name: name, Data: data}, err == nil
}

// inputObject is the input of a call as an object: what the model wrote, where it
// is one, and otherwise none, with what it wrote beside it.
func inputObject(input json.RawMessage) (json.RawMessage, string) {
	var o map[string]json.RawMessage
	if json.Unmarshal(input, &o) == nil && o != nil {
		return input, ""
	}
	return json.RawMessage("{}"), string(input)
}

// audience returns who tools are for.
func audience(w Work, agent string, ref model.Ref) tool.Audience {
	return tool.Audience{Client: w.Client, Provider: ref.Provider, Model: ref.Model, Agent: agent}
}
