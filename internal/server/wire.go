package server

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

// A wireLine is the end of a call as programs read it.
type wireLine struct {
	ID     json.RawMessage `json:"id"`
	Status string          `json:"status"` // completed or error
	Tool   string          `json:"tool,omitempty"`
	*wireResult
	Error *wireError `json:"error,omitempty"`

	// What a line that is about no call was about.
	Reply  string `json:"reply,omitempty"`
	Answer string `json:"answer,omitempty"`
	Cancel string `json:"cancel,omitempty"`

	Background string `json:"background,omitempty"`

	Duplicate string `json:"duplicate,omitempty"` // the id that another call has
}

type wireResult struct {
	Title       string            `json:"title"`
	Output      string            `json:"output"`
	Metadata    map[string]any    `json:"metadata"`
	Attachments []tool.Attachment `json:"attachments,omitempty"`
	Inner       []tool.Inner      `json:"inner,omitempty"`
}

type wireError struct {
	Kind    tool.Kind `json:"kind"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Reason  string    `json:"reason,omitempty"` // in words for a person, where the message is for a model
	Line    int       `json:"line,omitempty"`   // of the input, where the line itself is at fault
}

// EndLine is the end of a call as a line for programs. It names the tool that
// answered, or the one of the name that was called where none did.
func EndLine(id json.RawMessage, name string, res *tool.Result, err error) []byte {
	return encodeLine(ended(id, name, res, err))
}

// ended puts the end of a call into its wire form.
func ended(id json.RawMessage, name string, res *tool.Result, err error) wireLine {
	if err == nil {
		return wireLine{ID: id, Status: "completed", Tool: cmp.Or(res.Tool, name), wireResult: wireOf(res)}
	}
	w := wireLine{ID: id, Status: "error", Tool: name, Error: &wireError{Kind: tool.KindOf(err), Code: "failed", Message: err.Error()}}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		w.Error.Code, w.Error.Hint, w.Error.Reason = e.Code, e.Hint, e.Reason()
		if e.Tool != "" {
			w.Tool = e.Tool
		}
		if e.Answer != nil {
			w.wireResult = wireOf(e.Answer)
		}
	}
	return w
}

func wireOf(res *tool.Result) *wireResult {
	w := wireResult{res.Title, res.Output, res.Metadata, res.Attachments, res.Inner}
	if w.Metadata == nil {
		w.Metadata = map[string]any{}
	}
	return &w
}

// encodeLine gives the end of a call as one line, even when the tool has put
// something into its result that is no JSON.
func encodeLine(w wireLine) []byte {
	b, err := text.EncodeLine(w)
	if err == nil {
		return b
	}
	w.wireResult = nil
	w.Status = "error"
	w.Error = &wireError{Kind: tool.Internal, Code: "encode", Message: "the result can not be written as JSON: " + err.Error()}
	b, err = text.EncodeLine(w)
	if err != nil { // an id that is no JSON never gets here
		return []byte("{}\n")
	}
	return b
}
