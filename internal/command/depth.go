package command

import (
	"errors"
	"io"
	"runtime"
)

const (
	// maxSize is the longest text that is read. Linux takes no longer argument,
	// so a longer text could not be handed to bash -c either.
	maxSize = 128 << 10

	// maxFrames is how deep the parser may recurse: some 500 substitutions, or
	// 140 parentheses of arithmetic, inside one another. The stack takes about
	// a megabyte then.
	maxFrames = 4000

	// stepSize is how much is handed to the parser between two looks at its
	// depth. Between them it can only go deeper by as many levels.
	stepSize = 256
)

var errTooDeep = errors.New("nested too deeply")

// A shallowReader hands a text to the parser and fails once the parser has
// recursed too deep. The parser has no bound of its own: on a text of many
// opening parentheses it would overflow the stack, which ends the process.
// The depth is taken from the stack itself and not from a count of brackets,
// because only the parser knows which of them are inside quotes.
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
