package message

import (
	"bytes"
	"encoding/json"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// The JSON forms are OpenCode's: the role or type decides which fields a message, a part or a state
// has, and such a field is present even when it is empty.

type userInfo struct {
	ID      string    `json:"id"`
	Session string    `json:"sessionID"`
	Role    string    `json:"role"`
	Time    Times     `json:"time"`
	Agent   string    `json:"agent"`
	Model   model.Ref `json:"model"`
}

type assistantInfo struct {
	ID       string       `json:"id"`
	Session  string       `json:"sessionID"`
	Role     string       `json:"role"`
	Time     Times        `json:"time"`
	Parent   string       `json:"parentID"`
	Model    string       `json:"modelID"`
	Provider string       `json:"providerID"`
	Mode     string       `json:"mode"` // the agent, as it was called before
	Agent    string       `json:"agent"`
	Path     *Path        `json:"path,omitempty"`
	Cost     float64      `json:"cost"`
	Tokens   model.Tokens `json:"tokens"`
	Finish   string       `json:"finish,omitempty"`
	Summary  bool         `json:"summary,omitempty"`
	Error    *Failure     `json:"error,omitempty"`
}

// encode leaves HTML escaping to the encoder that calls it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// MarshalJSON writes the form of the message's role.
func (i Info) MarshalJSON() ([]byte, error) {
	if i.Role == User {
		return encode(userInfo{ID: i.ID, Session: i.Session, Role: i.Role, Time: i.Time, Agent: i.Agent, Model: i.Model})
	}
	return encode(assistantInfo{
		ID: i.ID, Session: i.Session, Role: i.Role, Time: i.Time, Parent: i.Parent, Model: i.Model.Model, Provider: i.Model.Provider,
		Mode: i.Agent, Agent: i.Agent, Path: i.Path, Cost: i.Cost, Tokens: i.Tokens, Finish: i.Finish, Summary: i.Summary, Error: i.Error,
	})
}

// UnmarshalJSON reads the form of either role.
func (i *Info) UnmarshalJSON(data []byte) error {
	var in struct {
		assistantInfo
		Whole model.Ref `json:"model"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	a := in.assistantInfo
	*i = Info{
		ID: a.ID, Session: a.Session, Role: a.Role, Time: a.Time, Agent: a.Agent, Model: in.Whole, Parent: a.Parent,
		Path: a.Path, Cost: a.Cost, Tokens: a.Tokens, Finish: a.Finish, Summary: a.Summary, Error: a.Error,
	}
	if a.Model != "" || a.Provider != "" {
		i.Model = model.Ref{Provider: a.Provider, Model: a.Model}
	}
	return nil
}

// MarshalJSON writes the form of the part's type.
func (p Part) MarshalJSON() ([]byte, error) {
	type plain Part
	out := struct {
		plain
		Text *string `json:"text,omitempty"`
		Auto *bool   `json:"auto,omitempty"`
	}{plain: plain(p)}
	if p.Type == Compaction {
		out.Auto = &p.Auto
	}
	if p.Text != "" || p.Type == Text || p.Type == Reasoning {
		out.Text = &p.Text
	}
	return encode(out)
}

// MarshalJSON writes the form of the call's status.
func (s State) MarshalJSON() ([]byte, error) {
	if s.Input == nil {
		s.Input = json.RawMessage("{}")
	}
	switch s.Status {
	case Pending:
		return encode(struct {
			Status Status          `json:"status"`
			Input  json.RawMessage `json:"input"`
			Raw    string          `json:"raw"`
		}{s.Status, s.Input, s.Raw})
	case Completed:
		if s.Metadata == nil {
			s.Metadata = map[string]any{}
		}
		return encode(struct {
			Status      Status            `json:"status"`
			Input       json.RawMessage   `json:"input"`
			Raw         string            `json:"raw,omitempty"`
			Output      string            `json:"output"`
			Title       string            `json:"title"`
			Metadata    map[string]any    `json:"metadata"`
			Time        *Span             `json:"time,omitempty"`
			Attachments []tool.Attachment `json:"attachments,omitempty"`
			Kind        tool.Kind         `json:"kind,omitempty"`
			Cost        float64           `json:"cost,omitempty"`
		}{s.Status, s.Input, s.Raw, s.Output, s.Title, s.Metadata, s.Time, s.Attachments, s.Kind, s.Cost})
	}
	type plain State
	return encode(plain(s))
}
