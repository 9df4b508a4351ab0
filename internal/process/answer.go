package process

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// maxComplaint is how much is kept of what a program says when it fails.
const maxComplaint = 1000

// An ExitError is the end of a program with another status than 0.
type ExitError struct {
	Program string
	Code    int    // -1 where a signal ended it
	Said    string // the beginning of what it said on standard error
}

// Error says all of it.
func (r *ExitError) Error() string {
	if r.Said == "" {
		return fmt.Sprintf("%s ended with code %d", r.Program, r.Code)
	}
	return fmt.Sprintf("%s ended with code %d: %s", r.Program, r.Code, r.Said)
}

// Answer runs a program to its end, as [Executor.Converse] does: it writes a text to the program
// and returns what it prints, at most limit bytes. An exit code other than 0 is an [ExitError].
func (r *Executor) Answer(ctx context.Context, p Program, question []byte, limit int64) ([]byte, error) {
	reply, err := r.Converse(ctx, p, Dialog{Question: question, Limit: limit})
	switch {
	case errors.Is(err, ErrTooMuch):
		return nil, fmt.Errorf("%s printed more than %d bytes", p.Path, limit)
	case err != nil:
		return nil, err
	case reply.Code != 0:
		said := reply.Said[:min(len(reply.Said), maxComplaint)]
		return nil, &ExitError{Program: p.Path, Code: reply.Code, Said: strings.ToValidUTF8(said, "")}
	}
	return reply.Out, nil
}
