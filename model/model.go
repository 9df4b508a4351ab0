// Package model is what helve and a language model say to each other, whoever
// serves the model: a request, a stream of events, an error that says what
// can be done about it. A host that has a model of its own implements
// [Provider]; the packages model/anthropic and model/openai are clients of two
// protocols.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// A Provider serves models.
type Provider interface {
	// Stream makes one attempt to answer a request and yields what the model
	// says as it says it. The last event of a whole answer is of kind [Done].
	// An error ends the stream; it is a [*Error] where more is known about it
	// than its words, and the cause of ctx's end when ctx has ended. Stream
	// does not try again: who calls it decides that, by the error.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// A Request is all that a model is given. What it holds is only read.
type Request struct {
	Model    string
	System   []string // each a text of its own, in order; the first ones change least
	Messages []Message
	Tools    []Tool // in a stable order

	// MaxTokens bounds the answer; the client's own bound when 0.
	MaxTokens         int
	Temperature, TopP *float64
	// Session is the same for all requests of a conversation: some providers
	// keep what they have read by it.
	Session string
	// Options are added to the body of the request as they are, for what only
	// one provider knows; they may not replace what the client sets itself.
	Options map[string]any
}

// A Role says who speaks.
type Role string

// The roles. What tools answered is said by the user.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is what one side says at one time.
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

// Reasoning is what a model thought aloud.
type Reasoning struct {
	Text string
	// Seal is what the provider wants back with it, unread by anybody else.
	Seal string
}

// A File is an image, a PDF or another piece of content that is not text.
type File struct {
	Mime, Name string
	Data       []byte
}

// A Call is a tool call that a model makes. Input is what it wrote, JSON or
// not.
type Call struct {
	ID, Name string
	Input    json.RawMessage
	Seal     string // as in Reasoning
}

// A Result answers a call.
type Result struct {
	ID, Name string // of the call
	Output   string
	Failed   bool
	Files    []File
}

// A Tool is shown to a model. Schema is JSON Schema, an object.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
}

// An EventKind says what an event is.
type EventKind string

// The kinds of events.
const (
	TextDelta      EventKind = "text"          // Text goes on
	ReasoningDelta EventKind = "reasoning"     // Text goes on
	ReasoningEnd   EventKind = "reasoning-end" // Seal is its seal, maybe empty; also of thoughts without text
	CallStart      EventKind = "call-start"    // Call has an id and a name, which may be empty; its input is still to come
	CallEnd        EventKind = "call"          // Call is whole; of one id there is one
	Done           EventKind = "done"          // Reason and Usage are set
)

// An Event is a piece of a model's answer.
type Event struct {
	Kind   EventKind
	Text   string
	Seal   string
	Call   *Call
	Reason Reason
	Detail string // of Reason, in the provider's words
	Usage  Usage
}

// A Reason says why an answer ended.
type Reason string

// The reasons.
const (
	Stopped Reason = "stop"           // all is said
	Calls   Reason = "tool-calls"     // it waits for results
	Length  Reason = "length"         // it may not say more
	Refused Reason = "content-filter" // it, or its provider, does not want to
	Other   Reason = "other"
)

// Usage is what an answer took. Input does not count what was read from or
// written to a cache; Output counts Reasoning.
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
	Invalid    ErrorKind = "invalid"    // the provider does not take the request
	Quota      ErrorKind = "quota"      // the account is used up
	Network    ErrorKind = "network"    // the provider can not be reached
	Broken     ErrorKind = "broken"     // the answer broke off or makes no sense
)

// An Error is why a request failed.
type Error struct {
	Kind       ErrorKind
	Status     int           // of HTTP; 0 where there was none
	RetryAfter time.Duration // what the provider asks for; 0 where it does not
	RequestID  string        // by which the provider knows it
	Message    string        // never holds a key
	Err        error
}

// Error says what is wrong, in a sentence for the person.
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
