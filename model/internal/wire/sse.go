package wire

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

var errTooLong = errors.New("a piece of the answer is longer than is taken")

// ReadEvents reads server-sent events as browsers do: lines end with CR, LF or both, lines that
// begin with a colon are comments, the data of several lines is one text, and an event without a
// blank line at its end does not count. An event, and the text between two events, is limited to
// max bytes, 8 MiB when max is 0. The end of r ends the events without an error.
func ReadEvents(r io.Reader, max int) iter.Seq2[Event, error] {
	if max <= 0 {
		max = maxEvent
	}
	return func(yield func(Event, error) bool) {
		p := &parser{max: max, first: true}
		chunk := make([]byte, 16<<10)
		for {
			n, err := r.Read(chunk)
			for rest := chunk[:n]; len(rest) > 0; {
				var whole bool
				if rest, whole = p.take(rest); !whole {
					continue
				}
				if p.tooLong() {
					yield(Event{}, errTooLong)
					return
				}
				if event, ok := p.end(); ok && !yield(event, nil) {
					return
				}
			}
			switch {
			case p.tooLong():
				err = errTooLong
			case err == nil:
				continue
			case err == io.EOF:
				return
			}
			yield(Event{}, err)
			return
		}
	}
}

// A parser holds the event that is being read.
type parser struct {
	max    int
	line   []byte
	first  bool // no line has ended yet: a byte order mark may stand before it
	skipLF bool // the last line ended with CR: skip an LF

	name    string
	data    []byte
	hasData bool
	given   bool // data has been yielded
	other   int  // bytes since the last event that are not data
}

// take appends bytes to the line until it ends. It returns the rest.
func (p *parser) take(b []byte) (rest []byte, whole bool) {
	if p.skipLF {
		p.skipLF = false
		if b[0] == '\n' {
			return b[1:], false
		}
	}
	end := bytes.IndexAny(b, "\r\n")
	if end < 0 {
		p.line = append(p.line, b...)
		return nil, false
	}
	p.line = append(p.line, b[:end]...)
	p.skipLF = b[end] == '\r'
	return b[end+1:], true
}

func (p *parser) tooLong() bool {
	if p.other > p.max {
		return true
	}
	if p.given {
		return len(p.line) > p.max
	}
	return len(p.line)+len(p.data) > p.max
}

// end handles a complete line, and returns the event that it ends.
func (p *parser) end() (Event, bool) {
	if p.given {
		p.data, p.given = p.data[:0], false
	}
	line := p.line
	p.line = p.line[:0]
	if p.first {
		p.first = false
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		event := Event{Name: p.name, Data: bytes.TrimSuffix(p.data, []byte("\n"))}
		p.name, p.given = "", true
		ok := p.hasData
		p.hasData = false
		if p.other++; ok {
			p.other = 0
		}
		return event, ok
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	if string(field) == "data" {
		p.data = append(append(p.data, value...), '\n')
		p.hasData = true
		return Event{}, false
	}
	p.other += len(line) + 1
	if string(field) == "event" {
		p.name = string(value)
	}
	return Event{}, false
}
