// Package model defines how helve talks to language models, whoever serves them: a request, a
// stream of events, and an error that says what can be done about it. A program with a model of its
// own implements [Provider]; the packages model/anthropic and model/openai are clients for two
// protocols.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// A Provider answers requests to models.
type Provider interface {
	// Stream makes one attempt to answer a request and yields the answer as it arrives. The last
	// event of a complete answer is of kind [Done]. An error ends the stream: a [*Error] if more is
	// known than a text, and the cause of ctx's end if ctx has ended. Stream does not retry; the
	// caller decides that by the error.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// A Request is everything that a model is sent. Providers must not change it.
type Request struct {
	Model    string
	System   []string // separate texts in order; the first ones change least
	Messages []Message
	Tools    []Tool // in a stable order

	// MaxTokens limits the answer; the client's own limit when 0.
	MaxTokens         int
	Temperature, TopP *float64
	// Session is the same for all requests of a conversation: some providers use it to find cached
	// prompts.
	Session string
	// Options are added to the body of the request unchanged, for settings that only one provider
	// knows. They cannot replace what the client sets itself.
	Options map[string]any
}

// A Role is the sender of a message.
type Role string

// The roles. Tool results are sent as the user.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is one message of a conversation.
type Message struct {
	Role  Role
	Parts []Part
}

// A Part is a piece of a message: exactly one of its fields is set.
type Part struct {
	Text      string
	Reasoning *Reasoning // by the assistant
	File      *File      // by the user
	Call      *Call      // by the assistant
	Result    *Result    // by the user
}

// Reasoning is what a model thought before its answer.
type Reasoning struct {
	Text string
	// Seal is opaque data that the provider wants back with it.
	Seal string
}

// A File is an image, a PDF or another piece of content that is not text.
type File struct {
	Mime, Name string
	Data       []byte
}

// A Call is a model's tool call. Input is what the model wrote, JSON or not.
type Call struct {
	ID, Name string
	Input    json.RawMessage
	Seal     string // as in Reasoning
}

// A Result is the answer to a call.
type Result struct {
	ID, Name string // of the call
	Output   string
	Failed   bool
	Files    []File
}

// A Tool describes a tool to a model. Schema is the JSON Schema of an object.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
}

// An EventKind is the kind of an [Event].
type EventKind string

// The kinds of events.
const (
	TextDelta      EventKind = "text"          // Text continues the answer
	ReasoningDelta EventKind = "reasoning"     // Text continues the reasoning
	ReasoningEnd   EventKind = "reasoning-end" // Seal is its seal, maybe empty; also of thoughts without text
	CallStart      EventKind = "call-start"    // Call has an id and a name, which may be empty; its input follows
	CallEnd        EventKind = "call"          // Call is complete; sent once for each id
	Done           EventKind = "done"          // Reason and Usage are set
)

// An Event is a piece of a model's answer.
type Event struct {
	Kind   EventKind
	Text   string
	Seal   string
	Call   *Call
	Reason Reason
	Detail string // the provider's own words for Reason
	Usage  Usage
}

// A Reason is why an answer ended.
type Reason string

// The reasons why an answer ends.
const (
	Stopped Reason = "stop"           // it is complete
	Calls   Reason = "tool-calls"     // it waits for tool results
	Length  Reason = "length"         // the limit of its length was reached
	Refused Reason = "content-filter" // it, or its provider, does not want to
	Other   Reason = "other"
)

// Usage counts the tokens of an answer. Input excludes what was read from or written to a cache;
// Output includes Reasoning.
type Usage struct {
	Input, Output, Reasoning, CacheRead, CacheWrite int
}

// An ErrorKind says what can be done about an error.
type ErrorKind string

// The kinds of errors.
const (
	Auth       ErrorKind = "auth"       // the key is missing or wrong
	RateLimit  ErrorKind = "rate-limit" // too many requests; later they will do
	Overloaded ErrorKind = "overloaded" // the provider is busy; later it will do
	Overflow   ErrorKind = "overflow"   // the request is too long for the model
	Invalid    ErrorKind = "invalid"    // the provider rejects the request
	Quota      ErrorKind = "quota"      // the account has no credit left
	Network    ErrorKind = "network"    // the provider cannot be reached
	Broken     ErrorKind = "broken"     // the answer broke off or is not valid
)

// An Error is why a request failed.
type Error struct {
	Kind       ErrorKind
	Status     int           // HTTP status; 0 if there was none
	RetryAfter time.Duration // how long the provider asks to wait; 0 if it does not
	RequestID  string        // the provider's id of the request
	Message    string        // never contains a key
	Err        error
}

// Error returns a sentence for the person.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Again reports whether the same request may succeed later.
func (e *Error) Again() bool {
	switch e.Kind {
	case RateLimit, Overloaded, Network, Broken:
		return true
	}
	return false
}
