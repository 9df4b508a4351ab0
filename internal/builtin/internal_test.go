package builtin

import (
	"context"
	"errors"
	"testing"
)

// An endless reader is one line without an end. After a while its caller
// gives up.
type endless struct {
	reads  int
	giveUp func()
}

func (e *endless) Read(b []byte) (int, error) {
	e.reads++
	if e.reads == 5 {
		e.giveUp()
	}
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestCancelInTheMiddleOfALine would never end if only the end of a line
// were a time to stop.
func TestCancelInTheMiddleOfALine(t *testing.T) {
	enough := errors.New("enough")
	for _, offset := range []int{0, 1} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := &endless{giveUp: func() { cancel(enough) }}
		_, err := textPage(openedFile{}, untilDone(ctx, r), shape{}, offset, textLimit{lines: readLines, bytes: readBytes})
		if !errors.Is(err, enough) || r.reads != 5 {
			t.Errorf("offset %d: %v after %d reads", offset, err, r.reads)
		}
	}
}
