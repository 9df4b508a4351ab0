package regex

import (
	"bytes"
	"sync/atomic"
)

const (
	firstBlock = 32 << 10  // how far to read ahead of the first match asked for
	mostBlock  = 128 << 10 // and later
	mostFound  = 4 << 10   // lines found ahead that memory is kept for, in each stream
	lockBlock  = 1 << 10   // less is not worth reading in several streams
	siftBlock  = 256 << 10 // how far to sift between two looks at stop
	judgeAfter = 64        // lines checked in vain after which to rate the filter
	crowdedGap = 48        // bytes between them, on average, that make it a bad one
	leaveFor   = 64 << 10  // how far to go without it then
)

// A Matcher runs a Regexp over text. It keeps scratch memory, about two
// megabytes and the size of the program at most and much less for an ordinary
// pattern, and serves one goroutine at a time.
type Matcher struct {
	re     *Regexp
	stop   *atomic.Bool
	halted bool

	dfa  *dfa
	pike *pike

	vain   int // lines the filter let through in vain, since it was rated
	judged int // the place up to which it was
	crowd  int // the end of what it lets through too much of to be of use, a line's end

	streams [streams]stream
	ahead   queue
	block   int

	sure bool // of the line in parts: it matches
}

// A queue is lines found ahead of being asked for.
type queue struct {
	text   []byte
	from   int // the place that was read up to by whoever asks
	to     int // the place that was read up to here
	stream int // the stream whose lines are next
	line   int // and which of them
}

// Stopped tells whether an answer was cut short because stop was set. Once it
// is true, nothing the Matcher says counts any more.
func (m *Matcher) Stopped() bool {
	return m.halted || m.dfa != nil && m.dfa.halted || m.pike != nil && m.pike.halted
}

// Next finds the first line at or after from that matches, and returns it
// without its \n. Text is whole lines, of which the last may lack its \n, and
// from is the start of one. An empty text has no line, and what ends in \n has
// no other line behind that.
//
// Next may read ahead and remember what it found. So a text must not change
// as long as it is searched on, and a search of a new text, in the same memory
// or not, has to begin with from at 0.
func (m *Matcher) Next(text []byte, from int) (start, end int, ok bool) {
	if m.looksStopped() {
		return 0, 0, false
	}
	if from == 0 {
		m.vain, m.judged, m.crowd = 0, 0, 0
		m.ahead = queue{stream: streams}
	}
	m.crowd = min(m.crowd, len(text))
	if m.re.finder == nil {
		return m.readAll(text, from)
	}
	for from < len(text) && !m.Stopped() {
		if from < m.crowd {
			if start, end, ok := m.readAll(text[:m.crowd], from); ok {
				return start, end, true
			}
			from = m.crowd
			continue
		}
		crowd := m.crowd
		if m.judged < crowd {
			m.vain, m.judged = 0, from
		}
		if start, end, ok = m.sift(text, from); ok {
			return start, end, true
		}
		if m.crowd == crowd {
			break
		}
		from = m.judged
	}
	return 0, 0, false
}

// Find returns the first match inside a line at or after from, of those that
// begin there the one that Rust's rules prefer. Line holds no \n.
func (m *Matcher) Find(line []byte, from int) (start, end int, ok bool) {
	if m.looksStopped() || from > len(line) {
		return 0, 0, false
	}
	if m.pike == nil {
		m.pike = newPike(m.re, m.stop)
	}
	start, end, ok = m.pike.find(line, from)
	return start, end, ok && !m.pike.halted
}

// Begin starts a line that comes in parts, for one too long to be held.
func (m *Matcher) Begin() {
	d := m.automaton()
	d.live[0] = d.start
	m.sure = d.start == stateMatch
}

// Feed reads the next part of the line, which holds no \n, and tells whether
// the line is now sure to match whatever follows.
func (m *Matcher) Feed(part []byte) (sure bool) {
	d := m.dfa
	for !m.sure && d.live[0] != stateDead && len(part) > 0 && !m.looksStopped() {
		n := d.run(0, part[:min(len(part), runBlock)])
		part = part[n:]
		m.sure = d.live[0] == stateMatch
	}
	return m.sure
}

// End ends the line and tells whether it matches.
func (m *Matcher) End() bool {
	d := m.dfa
	if !m.sure && d.live[0] >= stateFirst && !m.Stopped() {
		d.live[0] = d.next(0, '\n')
		m.sure = d.live[0] == stateMatch
	}
	return m.sure
}

func (m *Matcher) automaton() *dfa {
	if m.dfa == nil {
		m.dfa = newDFA(m.re.prog, m.stop)
	}
	return m.dfa
}

func (m *Matcher) looksStopped() bool {
	if m.stop != nil && m.stop.Load() {
		m.halted = true
	}
	return m.Stopped()
}

// lineEnd is where the line that holds at ends.
func lineEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}

// sift checks only the lines that contain what a match needs. When these turn out to be too many it
// sets crowd, and returns the position from which to match every line in judged.
func (m *Matcher) sift(text []byte, from int) (start, end int, ok bool) {
	for look := from; look < len(text); {
		// What the filter looks for may extend over the end of a part.
		part := min(len(text), look+siftBlock)
		at := m.re.finder.Next(text[:part], look)
		if at < 0 {
			if look = max(look+1, part-m.re.longest+1); part == len(text) || m.looksStopped() {
				break
			}
			continue
		}
		start := from + bytes.LastIndexByte(text[from:at], '\n') + 1
		end := lineEnd(text, at)
		if m.re.need.at == placeExact || m.matchesLine(text[start:end], at-start) {
			return start, end, true
		}
		if m.looksStopped() {
			break
		}
		from = end + 1
		look = from
		if m.vain++; m.vain < judgeAfter {
			continue
		}
		if from-m.judged < judgeAfter*crowdedGap {
			m.judged = from
			m.crowd = min(len(text), lineEnd(text, min(len(text), from+leaveFor))+1)
			break
		}
		m.vain, m.judged = 0, from
	}
	return 0, 0, false
}

// matchesLine reports whether one line matches, in which the filter's first hit is at.
func (m *Matcher) matchesLine(line []byte, at int) bool {
	d := m.automaton()
	d.live[0] = d.start
	if at > 0 && m.re.need.at == placePrefix {
		if id, ok := d.startAfter(line[at-1]); ok {
			d.live[0] = id
			line = line[at:]
		}
	}
	for {
		switch {
		case d.live[0] == stateMatch:
			return true
		case d.live[0] == stateDead || m.Stopped():
			return false
		case len(line) == 0:
			return d.next(0, '\n') == stateMatch
		}
		part := line[:min(len(line), runBlock)]
		line = line[d.run(0, part):]
		if len(part) == runBlock {
			m.looksStopped()
		}
	}
}

// readAll looks at all lines.
func (m *Matcher) readAll(text []byte, from int) (start, end int, ok bool) {
	if from >= len(text) {
		return 0, 0, false
	}
	switch m.automaton().start {
	case stateDead:
		return 0, 0, false
	case stateMatch:
		return from, lineEnd(text, from), true
	}
	return m.read(text, from)
}

// read looks at all lines, several streams at once, in blocks that grow.
func (m *Matcher) read(text []byte, from int) (start, end int, ok bool) {
	q := &m.ahead
	if from != q.from || len(text) != len(q.text) || &text[0] != &q.text[0] {
		*q = queue{text: text, from: from, to: from, stream: streams}
		m.block = firstBlock
	}
	for {
		for ; q.stream < streams; q.stream++ {
			if s := &m.streams[q.stream]; q.line < len(s.found) {
				l := s.found[q.line]
				q.line++
				q.from = l.end + 1
				return l.start, l.end, true
			}
			q.line = 0
		}
		if q.to >= len(text) || m.looksStopped() {
			*q = queue{stream: streams}
			return 0, 0, false
		}
		end := min(len(text), q.to+m.block)
		if end < len(text) {
			end = min(len(text), lineEnd(text, end)+1)
		}
		m.readBlock(text, q.to, end)
		q.to, q.stream, q.line = end, 0, 0
		m.block = min(2*m.block, mostBlock)
	}
}

// readBlock finds the matching lines from one place to another.
func (m *Matcher) readBlock(text []byte, from, to int) {
	d := m.automaton()
	count := streams
	if to-from < lockBlock {
		count = 1
	}
	size := (to - from) / count
	for k := range m.streams {
		s := &m.streams[k]
		if cap(s.found) > mostFound {
			s.found = nil
		}
		*s = stream{pos: from, line: from, end: to, found: s.found[:0]}
		if k < count-1 {
			s.end = min(to, lineEnd(text, min(to, from+size))+1)
		}
		if k >= count {
			s.pos, s.line = to, to
		}
		s.over = s.pos == s.end
		from = s.end
		d.live[k] = d.start
	}
	if count > 1 {
		d.lockstep(&m.streams, text)
	}
	for k := range count {
		d.finishStream(k, &m.streams[k], text)
	}
}
