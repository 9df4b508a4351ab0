package tool

import (
	"errors"
	"fmt"
)

// A Kind is the category of an error, which decides who has to act on it.
type Kind string

// The kinds of errors. Interfaces map them to exit codes and statuses.
const (
	UnknownTool  Kind = "unknown_tool"  // no such name
	InvalidInput Kind = "invalid_input" // the arguments do not fit the schema
	Denied       Kind = "denied"        // a rule or a hook said no
	Rejected     Kind = "rejected"      // a person said no
	Unattended   Kind = "unattended"    // a rule says ask, and there is nobody to ask
	Failed       Kind = "failed"        // the tool could not do its work
	Canceled     Kind = "canceled"      // the caller gave up
	Internal     Kind = "internal"      // a fault of helve: a panic, a broken store
)

// Kinds returns every kind, so that an interface can check that it maps them all.
func Kinds() []Kind {
	return []Kind{UnknownTool, InvalidInput, Denied, Rejected, Unattended, Failed, Canceled, Internal}
}

// An Error is the error of a call.
type Error struct {
	Tool string
	Kind Kind
	// Code identifies the cause for programs, such as "not-found". The meaning of a code never
	// changes; the text may.
	Code string
	Err  error
	// Hint says what to do next, in addition to the text.
	Hint string
	// Issues are the invalid arguments, if Kind is InvalidInput.
	Issues []Issue
	// Garbled says that the arguments could not be parsed at all.
	Garbled bool
	// Answer is what the model is shown instead of the error, if another tool answered for the
	// call.
	Answer *Result
}

// Error returns the text for the model.
func (e *Error) Error() string {
	if e == nil || e.Err == nil {
		return "the tool failed and did not say why"
	}
	return e.Err.Error()
}

// Reason returns the cause in words for a person, or "" if they are the same as the text for the
// model.
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

// Failf returns the error of a tool that could not do its work. The text is for the model: a full
// sentence that ends with what to do next.
func Failf(format string, args ...any) *Error {
	return Fail("failed", format, args...)
}

// Fail is [Failf] with a code of its own.
func Fail(code, format string, args ...any) *Error {
	return &Error{Kind: Failed, Code: code, Err: fmt.Errorf(format, args...)}
}

// KindOf returns the kind of err: Failed if it has none, "" if err is nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Failed
}
