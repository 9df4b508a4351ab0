package process

import (
	"bytes"
	"errors"
	"io"
	"math"
	"sync"
	"unicode/utf8"
)

// A sink takes a stream of any length and keeps its beginning and its end.
// One goroutine writes, others may look.
type sink struct {
	opts CaptureOptions

	mu    sync.Mutex
	head  []byte
	ring  []byte // what came after the head, or the end of it
	at    int    // where the oldest byte of a full ring is
	bytes int64
	lines int64 // line ends
	open  bool  // the last byte is not a line end
	over  bool  // there will be no more
	full  bool  // the spill has reached its quota
	spilt int64
	fault error

	spill io.WriteCloser // used by the writer alone
	done  bool           // there will be no more spill
}

func newSink(o CaptureOptions) *sink {
	if o.Head == 0 && o.Tail == 0 {
		o.Head, o.Tail = keepBytes, keepBytes
	}
	o.Limit = min(o.Limit, int64(o.Head+o.Tail))
	if o.Limit == 0 {
		o.Limit = int64(o.Head + o.Tail)
	}
	if o.Lines == 0 {
		o.Lines = math.MaxInt64
	}
	if o.Quota == 0 {
		o.Quota = keepSpill
	}
	return &sink{opts: o}
}

// write takes a piece of the stream.
func (s *sink) write(p []byte) {
	if s.opts.Filter != nil {
		p = s.opts.Filter(p, false)
	}
	s.take(p)
}

// flush takes what the filter has held back at the end of the stream. There
// are no pieces after it.
func (s *sink) flush() {
	if s.opts.Filter != nil {
		s.take(s.opts.Filter(nil, true))
	}
}

func (s *sink) take(p []byte) {
	if len(p) == 0 {
		return
	}
	lines := s.lines + int64(bytes.Count(p, []byte{'\n'}))
	total := s.bytes + int64(len(p))
	if s.spill == nil && !s.done && s.opts.Spill != nil && (total > s.opts.Limit || lines > s.opts.Lines) {
		s.openSpill()
	}
	if s.spill != nil {
		s.toSpill(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes, s.lines = total, lines
	s.open = p[len(p)-1] != '\n'
	if room := s.opts.Head - len(s.head); room > 0 {
		n := min(room, len(p))
		s.head = append(s.head, p[:n]...)
		p = p[n:]
	}
	// The rest goes into the ring.
	size := s.opts.Tail
	if len(p) >= size {
		s.ring = append(s.ring[:0], p[len(p)-size:]...)
		s.at = 0
		return
	}
	if room := size - len(s.ring); room > 0 {
		n := min(room, len(p))
		s.ring = append(s.ring, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(s.ring[s.at:], p)
		s.at = (s.at + n) % size
		p = p[n:]
	}
}

// openSpill opens the file for the whole stream, and writes what has come.
// It is called before the ring has lost anything.
func (s *sink) openSpill() {
	w, err := s.opts.Spill()
	if err != nil {
		s.addFault(err)
		return
	}
	s.spill = w
	s.toSpill(s.head)
	s.toSpill(s.ring)
}

// toSpill writes bytes, as long as the quota allows and the file takes them.
func (s *sink) toSpill(p []byte) {
	if s.done {
		return
	}
	room := s.opts.Quota - s.spilt
	cut := int64(len(p)) > room
	if cut {
		p = p[:room]
	}
	n, err := s.spill.Write(p)
	s.mu.Lock()
	s.spilt += int64(n)
	s.full = s.full || cut
	s.mu.Unlock()
	if err != nil {
		s.addFault(err)
	}
	s.done = s.done || cut
}

func (s *sink) addFault(err error) {
	s.mu.Lock()
	s.fault = errors.Join(s.fault, err)
	s.mu.Unlock()
	s.done = true
}

// close closes the spill. It is called after the last write. end reports that the stream is over;
// otherwise it continues elsewhere.
func (s *sink) close(end bool) {
	s.mu.Lock()
	s.over = end
	s.mu.Unlock()
	s.done = true
	if s.spill == nil {
		return
	}
	if err := s.spill.Close(); err != nil {
		s.addFault(err)
	}
	s.spill = nil
}

// snapshot is the state of the stream.
func (s *sink) snapshot() Output {
	s.mu.Lock()
	o := Output{
		Bytes: s.bytes, Lines: s.lines, Spilled: s.spilt, SpillFull: s.full, SpillErr: s.fault,
		Omitted: s.bytes - int64(len(s.head)) - int64(len(s.ring)),
	}
	if s.open {
		o.Lines++
	}
	head := make([]byte, 0, len(s.head)+len(s.ring))
	head = append(head, s.head...)
	tail := append(head[len(head):], s.ring[s.at:]...)
	tail = append(tail, s.ring[:s.at]...)
	over := s.over
	s.mu.Unlock()
	if o.Omitted == 0 {
		head, tail = head[:len(head)+len(tail)], nil
	}
	if last := &head; !over {
		if len(tail) > 0 {
			last = &tail
		}
		whole := len(*last) - halfRune(*last) // the rest of it is still to come
		o.Unfinished, *last = string((*last)[whole:]), (*last)[:whole]
	}
	if o.Omitted == 0 {
		o.Head = valid(head)
		return o
	}
	n := len(head) - halfRune(head)
	skip := restRune(tail)
	o.Omitted += int64(len(head) - n + skip)
	o.Head, o.Tail = valid(head[:n]), valid(tail[skip:])
	return o
}

// valid converts bytes to text: invalid ones become U+FFFD.
func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}

// halfRune says how many bytes at the end begin a character and do not end it.
func halfRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// restRune says how many bytes at the start end a character and do not begin it.
func restRune(b []byte) int {
	for n := range min(utf8.UTFMax-1, len(b)) {
		if utf8.RuneStart(b[n]) {
			return n
		}
	}
	return 0
}
