package scripthost

import (
	"io"
	"sync"
)

// An output keeps the beginning of what a script writes. The first byte that is
// too many calls full, once.
type output struct {
	full func()

	mu   sync.Mutex
	held []byte
	over bool
}

// Write takes everything and keeps what fits.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	fits := min(len(p), mostKept-len(o.held))
	o.held = append(o.held, p[:fits]...)
	first := fits < len(p) && !o.over
	o.over = o.over || first
	o.mu.Unlock()
	if first {
		o.full()
	}
	return len(p), nil
}

// takeBytes is what was kept.
func (o *output) takeBytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held
}

// An errorOutput takes what a script says of errors. What Bun says without the
// end of a line, the interpreter ends.
type errorOutput struct {
	output
	bare bareLine
}

// Write writes, less the end of a line that is not Bun's.
func (o *errorOutput) Write(p []byte) (int, error) {
	if o.bare.is(p) {
		_, err := o.output.Write(p[:len(p)-1])
		return len(p), err
	}
	return o.output.Write(p)
}

// A bareLine is the last line that is to have no end.
type bareLine struct {
	mu   sync.Mutex
	text string
}

func (l *bareLine) set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
}

// is reports whether something written is that line, with an end.
func (l *bareLine) is(p []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text != "" && string(p) == l.text+"\n"
}

// A counted writer passes on so much, and then calls full.
type counted struct {
	to   io.Writer
	left int
	full func()
}

// Write passes on what still may be.
func (c *counted) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		c.full()
		return 0, errTooMuch
	}
	return c.to.Write(p)
}
