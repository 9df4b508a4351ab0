package tool

import "encoding/json"

// A Result is what a tool gives back.
type Result struct {
	Title  string `json:"title"`  // for people, short; one line where it can be
	Output string `json:"output"` // what the model reads

	// Metadata is what programs read; it must encode as JSON. A tool that has
	// cut Output itself says so with a "truncated" key, whatever its value,
	// and the runtime then leaves Output as it is.
	Metadata map[string]any `json:"metadata"`

	// Data is what the result holds in a shape for programs of this process, nil
	// for most tools. It is neither kept nor sent anywhere.
	Data any `json:"-"`

	// Tool is the name of the tool that answered, set by the runtime. It is not
	// what the caller wrote where that was the name in another case.
	Tool string `json:"-"`

	Attachments []Attachment `json:"attachments,omitempty"` // images and files for the model

	// Inner are the calls that this one made, for doors whose model would
	// not see them otherwise.
	Inner []Inner `json:"inner,omitempty"`
}

// An Inner is a call made by another call, with its end.
type Inner struct {
	ID     string          `json:"id"`
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
	Status string          `json:"status"` // completed or error
	*Result
	Error string `json:"error,omitempty"`
}

// An Attachment is a file that goes to the model with a result.
type Attachment struct {
	ID       string `json:"id,omitempty"` // given by the runtime
	Type     string `json:"type"`         // always "file"
	Mime     string `json:"mime"`
	URL      string `json:"url"` // data:<mime>;base64,<…>
	Filename string `json:"filename,omitempty"`
}

// A Repair is a change that Check made to arguments: a lossless one to some
// that would otherwise have been refused, or a key that was left out because
// the tool does not know it.
type Repair struct {
	Path    string `json:"path"`   // where, as in "todos.0.id"; empty for the whole text
	Change  string `json:"change"` // what, as in "renamed from file_path"
	Dropped bool   `json:"dropped,omitempty"`
}

// String gives the repair as one line.
func (r Repair) String() string {
	if r.Path == "" {
		return r.Change
	}
	return r.Path + ": " + r.Change
}

// Structured is the Data of a tool of another program: what that program gave
// beside its texts, as JSON.
type Structured json.RawMessage

// Hits are the Data of a search: the lines that a search by content found, or
// the names that a search by name did.
type Hits struct {
	Lines []Match
	Names []string // absolute
	Notes []string // what was left out, and how to get at it

	Failed int // files and folders that could not be looked at
}

// A Match is a line that a search found.
type Match struct {
	File string `json:"file"` // absolute
	Line int    `json:"line"` // the first is 1
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"` // Text is only the beginning
}
