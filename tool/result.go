package tool

import "encoding/json"

// A Result is what a tool returns.
type Result struct {
	Title  string `json:"title"`  // short, for people; one line if possible
	Output string `json:"output"` // for the model

	// Metadata is for programs; it must encode as JSON. A tool that has truncated Output itself
	// sets a "truncated" key, whatever its value, and the runtime then leaves Output as it is.
	Metadata map[string]any `json:"metadata"`

	// Data is the result in a form for programs in this process, nil for most tools. It is neither
	// stored nor sent.
	Data any `json:"-"`

	// Tool is the name of the tool that answered, set by the runtime. It differs from the call's if
	// that was in another case.
	Tool string `json:"-"`

	Attachments []Attachment `json:"attachments,omitempty"` // images and files for the model

	// Inner are the calls made by this one, for interfaces whose model would not see them
	// otherwise.
	Inner []Inner `json:"inner,omitempty"`
}

// An Inner is a call made by another call, with its outcome.
type Inner struct {
	ID     string          `json:"id"`
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
	Status string          `json:"status"` // completed or error
	*Result
	Error string `json:"error,omitempty"`
}

// An Attachment is a file for the model in a result.
type Attachment struct {
	ID       string `json:"id,omitempty"` // set by the runtime
	Type     string `json:"type"`         // always "file"
	Mime     string `json:"mime"`
	URL      string `json:"url"` // data:<mime>;base64,<…>
	Filename string `json:"filename,omitempty"`
}

// A Repair is a change that Check made to arguments: a lossless correction of invalid ones, or a
// key that was dropped because the tool does not know it.
type Repair struct {
	Path    string `json:"path"`   // where, such as "todos.0.id"; empty for the whole text
	Change  string `json:"change"` // what, such as "renamed from file_path"
	Dropped bool   `json:"dropped,omitempty"`
}

// String returns the repair as one line.
func (r Repair) String() string {
	if r.Path == "" {
		return r.Change
	}
	return r.Path + ": " + r.Change
}

// Structured is the Data of an external tool: what its program returned in addition to text, as
// JSON.
type Structured json.RawMessage

// Hits are the Data of a search: the matching lines of a content search, or the names found by a
// name search.
type Hits struct {
	Lines []Match
	Names []string // absolute
	Notes []string // what was left out, and how to get it

	Failed int // files and folders that could not be searched
}

// A Match is a line found by a search.
type Match struct {
	File string `json:"file"` // absolute
	Line int    `json:"line"` // counted from 1
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"` // Text is only the beginning
}
