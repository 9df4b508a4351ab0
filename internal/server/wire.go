package server

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// A wireLine is the end of a call as programs read it.
type wireLine struct {
	ID     json.RawMessage `json:"id"`
	Status string          `json:"status"` // completed or error
	Tool   string          `json:"tool,omitempty"`
	*tool.Result
	Error *wireError `json:"error,omitempty"`

	// What a line that is about no call was about.
	Reply  string `json:"reply,omitempty"`
	Answer string `json:"answer,omitempty"`
	Cancel string `json:"cancel,omitempty"`

	Background string `json:"background,omitempty"`

	Duplicate string `json:"duplicate,omitempty"` // the id that another call has
}

type wireError struct {
	record.Failure
	Line int `json:"line,omitempty"` // of the input, where the line itself is at fault
}

func newWireError(kind tool.Kind, code, message string, line int) *wireError {
	return &wireError{record.Failure{Kind: kind, Code: code, Message: message}, line}
}

// EndLine is the end of a call as a line for programs. It names the tool that
// answered, or the one of the name that was called where none did.
func EndLine(id json.RawMessage, name string, res *tool.Result, err error) []byte {
	return encodeLine(ended(id, name, res, err))
}

// ended puts the end of a call into its wire form.
func ended(id json.RawMessage, name string, res *tool.Result, err error) wireLine {
	if err == nil {
		return wireLine{ID: id, Status: "completed", Tool: cmp.Or(res.Tool, name), Result: withMetadata(res)}
	}
	w := wireLine{ID: id, Status: "error", Tool: name, Error: newWireError(tool.KindOf(err), "failed", err.Error(), 0)}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		w.Error.Code, w.Error.Hint, w.Error.Reason = e.Code, e.Hint, e.Reason()
		if e.Tool != "" {
			w.Tool = e.Tool
		}
		if e.Answer != nil {
			w.Result = withMetadata(e.Answer)
		}
	}
	return w
}

// withMetadata returns a result whose metadata is an object.
func withMetadata(res *tool.Result) *tool.Result {
	out := *res
	if out.Metadata == nil {
		out.Metadata = map[string]any{}
	}
	return &out
}

// encodeLine gives the end of a call as one line, even when the tool has put
// something into its result that is no JSON.
func encodeLine(w wireLine) []byte {
	b, err := text.EncodeLine(w)
	if err == nil {
		return b
	}
	w.Result = nil
	w.Status = "error"
	w.Error = newWireError(tool.Internal, "encode", "the result can not be written as JSON: "+err.Error(), 0)
	b, err = text.EncodeLine(w)
	if err != nil { // an id that is no JSON never gets here
		return []byte("{}\n")
	}
	return b
}
