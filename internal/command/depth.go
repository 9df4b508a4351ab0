package command

import (
	"errors"
	"io"
	"runtime"
)

const (
	// maxSize limits the text that is read. Linux accepts no longer argument, so a longer text
	// could not be passed to bash -c either.
	maxSize = 128 << 10

	// maxFrames limits the recursion of the parser: some 500 nested substitutions, or 140 nested
	// parentheses of arithmetic. The stack then takes about a megabyte.
	maxFrames = 4000

	// stepSize is how much is handed to the parser between two looks at its
	// depth. Between them it can only go deeper by as many levels.
	stepSize = 256
)

var errTooDeep = errors.New("nested too deeply")

// A shallowReader passes a text to the parser and fails once the parser has recursed too deep. The
// parser has no limit of its own: a text of many opening parentheses would overflow the stack,
// which ends the process. The depth is measured on the stack itself rather than by counting
// brackets, because only the parser knows which of them are quoted.
type shallowReader struct{ rest string }

func (r *shallowReader) Read(p []byte) (int, error) {
	if r.rest == "" {
		return 0, io.EOF
	}
	var pc [1]uintptr
	if runtime.Callers(maxFrames, pc[:]) > 0 {
		return 0, errTooDeep
	}
	n := copy(p[:min(len(p), stepSize)], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
