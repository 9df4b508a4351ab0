package custom

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/script"
	"io"
)

// maxFrame bounds a frame in both directions, in bytes.
const maxFrame = 64 << 20

// The kinds of frames. The first three are the host's, the others the process's.
const (
	kindCall   = "call"
	kindReply  = "reply"
	kindCancel = "cancel"
	kindAnswer = "answer"
	kindAsk    = "ask"
	kindTell   = "tell"
	kindExit   = "exit"
)

// A frame is one line between the host and the process.
type frame struct {
	Kind string `json:"kind"`

	ID     uint64 `json:"id,omitempty"` // of a call, its cancel and its answer
	Method string `json:"method,omitempty"`

	Ask     uint64 `json:"ask,omitempty"` // of a request and its reply; 0 wants none
	For     uint64 `json:"for,omitempty"` // the call that a request is for
	Lasting bool   `json:"lasting,omitempty"`
	Op      string `json:"op,omitempty"`

	Arg   json.RawMessage `json:"arg,omitempty"`  // of calls and requests
	OK    json.RawMessage `json:"ok,omitempty"`   // of answers and replies
	Text  *string         `json:"text,omitempty"` // in answers: script's lines of JSON and a body; in tell: the text
	Error *script.Fault   `json:"error,omitempty"`

	Level string `json:"level,omitempty"`
	Code  int    `json:"code,omitempty"`
}

var (
	errLong    = errors.New("it is longer than a worker takes, which is 64 MiB")
	errNoFrame = errors.New("what came is no frame")
)

// encode makes the line of a frame, of limit bytes at the most.
func encode(f frame, limit int) ([]byte, error) {
	line, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(line) >= limit {
		return nil, errLong
	}
	return append(line, '\n'), nil
}

// readFrame reads the next frame, of limit bytes at the most. The end between two frames is io.EOF.
func readFrame(r *bufio.Reader, limit int) (frame, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return frame{}, errLong
		}
		switch {
		case err == nil && line == nil:
			return decode(part)
		case err == nil:
			return decode(append(line, part...))
		case errors.Is(err, bufio.ErrBufferFull):
			line = append(line, part...)
		case errors.Is(err, io.EOF) && len(line)+len(part) > 0:
			return frame{}, io.ErrUnexpectedEOF
		default:
			return frame{}, err
		}
	}
}

// decode reads a line. It copies what it keeps.
func decode(line []byte) (frame, error) {
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		return frame{}, fmt.Errorf("%w: %w", errNoFrame, err)
	}
	switch f.Kind {
	case kindAnswer:
		if f.ID == 0 {
			return frame{}, fmt.Errorf("%w: an answer to nothing", errNoFrame)
		}
	case kindAsk, kindTell, kindExit:
	default:
		return frame{}, fmt.Errorf("%w: of the kind %.40q", errNoFrame, f.Kind)
	}
	return f, nil
}
