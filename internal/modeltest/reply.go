package modeltest

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/helve-dev/helve/model"
)

// A Reply is what the model says in one turn: thoughts, then text, then calls.
type Reply struct {
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	Calls     []Call `json:"calls,omitempty"`
	// Stop is one of model's reasons, put into the words of the protocol, or a
	// word that is sent as it is; when empty it is what fits the reply.
	Stop  string `json:"stop,omitempty"`
	Chunk int    `json:"chunk,omitempty"` // text and arguments come in pieces of so many characters; whole when 0
	Usage Usage  `json:"usage,omitzero"`
	Delay int    `json:"delay,omitempty"` // milliseconds before the answer begins
	Pace  int    `json:"pace,omitempty"`  // milliseconds between two events

	Hold   <-chan struct{} `json:"-"` // the answer does not begin before it is closed
	Before func()          `json:"-"` // done just before the answer begins
	Fault  *Fault          `json:"fault,omitempty"`
}

// Usage is what an answer is said to have taken.
type Usage = model.Usage

// A Call is a tool call. Args is what the model writes, JSON or not. An ID is
// made when there is none.
type Call struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// UnmarshalJSON reads a call whose arguments are a text or, easier to write,
// an object.
func (c *Call) UnmarshalJSON(data []byte) error {
	var in struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*c = Call{ID: in.ID, Name: in.Name}
	if json.Unmarshal(in.Args, &c.Args) == nil || len(in.Args) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, in.Args); err != nil {
		return err
	}
	c.Args = b.String()
	return nil
}

// A Fault is how a reply goes wrong. It is played once, or Times times; after
// that the reply is sent as it should be.
type Fault struct {
	// Status, when it is not 0, is answered in the place of a stream, with Body
	// or, when that is empty, with what the protocol says for such a status.
	Status int    `json:"status,omitempty"`
	Body   string `json:"body,omitempty"`
	// RetryAfter is the header of that name; "20ms" is sent as the header that
	// counts milliseconds.
	RetryAfter string `json:"retry_after,omitempty"`
	Overflow   bool   `json:"overflow,omitempty"` // the request is said to be too long

	// DropAfter is after how many events the connection is cut; it is before
	// there is any answer when it is negative.
	DropAfter int `json:"drop_after,omitempty"`
	// StallAfter is after how many events nothing more comes.
	StallAfter int `json:"stall_after,omitempty"`
	// MidError is an error in the midst of the stream: its message, or the
	// whole of it when it is JSON.
	MidError string `json:"mid_error,omitempty"`
	Garbage  bool   `json:"garbage,omitempty"` // what is streamed is no JSON from the second event on
	Refuse   bool   `json:"refuse,omitempty"`  // the model does not want to: its text, no calls, and that reason

	Times int `json:"times,omitempty"` // 1 when 0
}

// A Request is what the server was asked.
type Request struct {
	Path      string
	Header    http.Header
	Body      []byte
	Model     string
	MaxTokens int
	System    string // all texts of the system, a line between two
	// Messages are in a form that is the same for both protocols: results of
	// tools stand in messages of the user, and neighbours of the same role are
	// one.
	Messages []Message
	Tools    []string // their names, in order
}

// A Message is what one side said.
type Message struct {
	Role      string // "user" or "assistant"
	Texts     []string
	Reasoning []string
	Calls     []Call
	Results   []Result
	Files     []string // the media types
}

// A Result answers a call. Failed is told by Anthropic's protocol alone.
type Result struct {
	ID, Text string
	Failed   bool
	Files    []string
}

// First is the text of the first message of the user.
func (r Request) First() string {
	for _, m := range r.Messages {
		if m.Role == string(model.User) {
			return joined(m.Texts)
		}
	}
	return ""
}

// Turns counts the messages of the model.
func (r Request) Turns() (n int) {
	for _, m := range r.Messages {
		if m.Role == string(model.Assistant) {
			n++
		}
	}
	return n
}

// Results are the answers to all calls, in order.
func (r Request) Results() (all []Result) {
	for _, m := range r.Messages {
		all = append(all, m.Results...)
	}
	return all
}

// add appends what one side said.
func (r *Request) add(m Message) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == m.Role {
		last := &r.Messages[n-1]
		last.Texts = append(last.Texts, m.Texts...)
		last.Reasoning = append(last.Reasoning, m.Reasoning...)
		last.Calls = append(last.Calls, m.Calls...)
		last.Results = append(last.Results, m.Results...)
		last.Files = append(last.Files, m.Files...)
		return
	}
	r.Messages = append(r.Messages, m)
}
