package web

import (
	"fmt"
	"strings"
)

// The codes of an [Error].
const (
	CodeInvalidURL          = "invalid-url"          // could be read in two ways, or in none
	CodeBlockedAddress      = "blocked-address"      // leads to an address that is never allowed
	CodeRedirectRefused     = "redirect-refused"     // a redirect to where it may not lead
	CodeTooManyRedirects    = "too-many-redirects"   // or a loop of them
	CodeUnexpectedRedirect  = "unexpected-redirect"  // one that was not wanted
	CodeTooLarge            = "too-large"            // an answer made to exhaust who reads it
	CodeUnsupportedEncoding = "unsupported-encoding" // a body in an encoding that was not asked for
	CodeTimeout             = "timeout"              // the caller's time is over
	CodeUnknownHost         = "unknown-host"         // the name could not be looked up
	CodeConnection          = "connection"           // no connection, or not to the end
)

// An Error says why there is no page. Its text is written for a model: what happened, where, and
// what to do about it.
type Error struct {
	Code    string
	Message string
	Chain   []Redirect // the redirects that led here
	Err     error      // the cause; may be nil
}

// Error is the message, and the way to it.
func (e *Error) Error() string {
	if len(e.Chain) == 0 {
		return e.Message
	}
	var b strings.Builder
	b.WriteString(e.Message)
	b.WriteString(" (redirected from ")
	for i, s := range e.Chain {
		if i > 0 {
			b.WriteString(" to ")
		}
		b.WriteString(shortenText(s.Address.String()))
	}
	b.WriteString(")")
	return b.String()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

func invalid(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidURL, Message: "invalid URL: " + fmt.Sprintf(format, args...)}
}

// shortenText shortens text whose length is not under our control.
func shortenText(s string) string { return shorten(s, 200) }

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
