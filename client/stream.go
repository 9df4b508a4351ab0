package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

var (
	errTooLong = errors.New("client: an event is too long: raise the bound by WithMaxBody")
	errForeign = errors.New("client: what the server says is not understood: do client and server fit together?")
	errSilent  = errors.New("client: the server has said nothing for too long")
)

// A frame is one message of an event stream.
type frame struct {
	id, event string
	data      []byte
}

// lines reads an event stream: lines with a name each, and an empty one at the
// end of a message.
type lines struct {
	r             *bufio.Reader
	most          int64
	before, after func() // around what may wait for the server
}

func newLines(r io.Reader, most int64) *lines {
	return &lines{r: bufio.NewReaderSize(r, 32<<10), most: most}
}

// next reads a message. Comments, and messages without data, are passed over.
func (l *lines) next() (frame, error) {
	var m frame
	some := false
	for {
		line, err := l.line(int64(len(m.data)))
		if err != nil {
			return frame{}, err
		}
		if len(line) == 0 {
			if some {
				return m, nil
			}
			m = frame{}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "id":
			m.id = string(value)
		case "event":
			m.event = string(value)
		case "data":
			if some {
				m.data = append(m.data, '\n')
			}
			some = true
			m.data = append(m.data, value...)
		}
	}
}

// line reads a line without its end. It may hold to the buffer until the next
// one is read.
func (l *lines) line(sofar int64) ([]byte, error) {
	l.before()
	defer l.after()
	var long []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if sofar+int64(len(long)+len(part)) > l.most {
			return nil, errTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			l.before()
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // a stream has no end of its own
			}
			return nil, fmt.Errorf("client: the stream of events ended: %w", err)
		}
		if long != nil {
			part = append(long, part...)
		}
		return bytes.TrimRight(part, "\r\n"), nil
	}
}
