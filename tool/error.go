package tool

import (
	"errors"
	"fmt"
)

// A Kind says what sort of failure an error is, and so who acts on it.
type Kind string

// The kinds of failure. Doors map them to exit codes and statuses.
const (
	UnknownTool  Kind = "unknown_tool"  // no such name
	InvalidInput Kind = "invalid_input" // the arguments do not fit the schema
	Denied       Kind = "denied"        // a rule or a hook said no
	Rejected     Kind = "rejected"      // a person said no
	Unattended   Kind = "unattended"    // a rule says ask, and there is nobody to ask
	Failed       Kind = "failed"        // the tool tried and could not
	Canceled     Kind = "canceled"      // the caller gave up
	Internal     Kind = "internal"      // our fault: a panic, a broken store
)

// Kinds returns every kind, so that a door can check that it maps them all.
func Kinds() []Kind {
	return []Kind{UnknownTool, InvalidInput, Denied, Rejected, Unattended, Failed, Canceled, Internal}
}

// An Error is how a call fails.
type Error struct {
	Tool string
	Kind Kind
	// Code names the cause for programs, as in "not-found". A code never
	// changes its meaning; the text may.
	Code string
	Err  error
	// Hint says what to do next, beyond the text that the reference gives.
	Hint string
	// Issues are the arguments at fault, where Kind is InvalidInput.
	Issues []Issue
	// Garbled says that the text of the arguments could not be read at all.
	Garbled bool
	// Answer is what the model is shown instead of the error, where another
	// tool answered for the call.
	Answer *Result
}

// Error returns the text for the model.
func (e *Error) Error() string {
	if e == nil || e.Err == nil {
		return "the tool failed and did not say why"
	}
	return e.Err.Error()
}

// Reason returns why the call has failed in words for a person, where these are
// others than the text for the model; "" where they are not.
func (e *Error) Reason() string {
	if e == nil {
		return ""
	}
	if r, ok := errors.AsType[interface {
		error
		Reason() string
	}](e.Err); ok {
		return r.Reason()
	}
	return ""
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Failf makes the error of a tool that tried and could not. The text is
// written for the model: a full sentence that ends with what to do next.
func Failf(format string, args ...any) *Error {
	return Fail("failed", format, args...)
}

// Fail is [Failf] with a code of its own.
func Fail(code, format string, args ...any) *Error {
	return &Error{Kind: Failed, Code: code, Err: fmt.Errorf(format, args...)}
}

// KindOf returns the kind of err, Failed if it has none, and "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Failed
}
