package regex

import (
	"bytes"
	"strings"
	"sync/atomic"
)

// The states of a dfa with a meaning of their own. All are below stateFirst,
// so that one comparison tells them from ordinary ones.
const (
	stateUnknown = 0 // not worked out yet
	stateMatch   = 1 // the line matches whatever follows
	stateDead    = 2 // the line cannot match any more
	stateFirst   = 3
)

const (
	maxStates   = 2048    // ordinary states kept
	maxStateMem = 1 << 20 // bytes the sets of all kept states may take
	perState    = 96      // what a state takes beside its row and its set, about
	worthwhile  = 8       // bytes a state has to serve, on average, to be worth making
	slowBytes   = 1 << 16 // bytes to go without states when they are not
	workPerLook = 1 << 14 // steps of work between two looks at stop
	runBlock    = 1 << 16 // bytes read between two looks at stop when nothing else is done
	streams     = 4       // how many parts of a text are read at once
)

// A dfa runs the automaton over lines with the sets it meets kept as numbered
// states: from then on a byte costs one look into a table. The kept states are
// few; when they are too many all are forgotten but those in use, and when
// that happens too often it works without them for a while.
//
// \n ends a line everywhere: from each state it leads to the start or, where
// the line matches at its end, to stateMatch.
type dfa struct {
	stepper
	stop   *atomic.Bool
	halted bool

	table []uint16 // 256 a state
	keys  []string // the sets of the states, encoded
	index map[string]uint16
	mem   int             // bytes the keys take
	start uint32          // at the start of a line
	inner [2]uint32       // inside a line, behind an ASCII byte of no word and of one; not known: stateUnknown
	live  [streams]uint32 // the states that a stream is in: never dropped
	ran   int             // bytes read since the last flush
	slow  int             // bytes still to be read without states

	from, to *stand
	buf      []byte
}

func newDFA(p *program, stop *atomic.Bool) *dfa {
	d := &dfa{stepper: newStepper(p), stop: stop, index: make(map[string]uint16)}
	d.from, d.to = d.newStand(), d.newStand()
	d.reset()
	d.start = d.startState(sideEdge)
	return d
}

// startState is the state of a match that may begin here at the earliest.
func (d *dfa) startState(before side) uint32 {
	if d.startThreads(d.to, before) {
		return stateMatch
	}
	return d.intern(d.to)
}

// startAfter is first behind the byte b inside of a line, or the state at the
// start of the line where b does not tell what stands before.
func (d *dfa) startAfter(b byte) (id uint32, ok bool) {
	i, before := 0, sideOther
	if d.prog.words {
		if b >= 0x80 {
			return d.start, false
		}
		if before = sideOfByte(b); before == sideASCII {
			i = 1
		}
	}
	if d.inner[i] == stateUnknown {
		d.inner[i] = d.startState(before)
	}
	return d.inner[i], true
}

func (d *dfa) reset() {
	clear(d.index)
	d.table = append(d.table[:0], make([]uint16, stateFirst<<8)...)
	d.keys = append(d.keys[:0], make([]string, stateFirst)...)
	d.mem, d.ran = 0, 0
}

// intern returns the state of a set. It may flush.
func (d *dfa) intern(s *stand) uint32 {
	if d.prog.anchored && s.empty() {
		return stateDead
	}
	d.buf = s.encode(d.buf[:0])
	if id, ok := d.index[string(d.buf)]; ok {
		return uint32(id)
	}
	if len(d.keys) >= stateFirst+maxStates || d.mem+len(d.buf) > maxStateMem && len(d.keys) > stateFirst {
		d.flush()
	}
	return d.add(string(d.buf))
}

// add makes a state, or finds the one that is there.
func (d *dfa) add(key string) uint32 {
	if id, ok := d.index[key]; ok {
		return uint32(id)
	}
	id := len(d.keys)
	d.keys = append(d.keys, key)
	d.index[key] = uint16(id)
	d.mem += len(key) + perState
	row := len(d.table)
	if cap(d.table) < row+256 {
		d.table = append(make([]uint16, 0, 2*row+2048), d.table...)
	}
	d.table = d.table[:row+256]
	clear(d.table[row:])
	return uint32(id)
}

// flush forgets all states but those in use.
func (d *dfa) flush() {
	if d.ran < worthwhile*len(d.keys) {
		d.slow = slowBytes
	}
	keys := [streams + 3]string{}
	ids := [streams + 3]*uint32{&d.start, &d.inner[0], &d.inner[1]}
	for k := range d.live {
		ids[k+3] = &d.live[k]
	}
	for i, id := range ids {
		keys[i] = d.keys[*id]
	}
	d.reset()
	for i, id := range ids {
		if *id >= stateFirst {
			*id = d.add(strings.Clone(keys[i]))
		}
	}
}

// next is the state that stream k is led to by b.
func (d *dfa) next(k int, b byte) uint32 {
	if id := uint32(d.table[d.live[k]<<8|uint32(b)]); id != stateUnknown {
		return id
	}
	return d.miss(k, b)
}

// miss works out where b leads from the state of stream k.
func (d *dfa) miss(k int, b byte) uint32 {
	d.from.decode(d.keys[d.live[k]])
	var id uint32
	switch {
	case b == '\n' && d.end(d.from):
		id = stateMatch
	case b == '\n':
		id = d.start
	case d.stepByte(d.from, d.to, b):
		id = stateMatch
	default:
		id = d.intern(d.to)
	}
	row := d.table[d.live[k]<<8:]
	part := d.prog.byteClass(b)
	for i := int(part.lo); i <= int(part.hi); i++ {
		row[i] = uint16(id)
	}
	d.work += 64
	d.checkStop()
	return id
}

// checkStop looks, from time to time, whether to give up.
func (d *dfa) checkStop() {
	if d.work < workPerLook {
		return
	}
	d.work = 0
	if d.stop != nil && d.stop.Load() {
		d.halted = true
	}
}

// run moves stream k over text until its state is not an ordinary one, or the
// text ends. It returns how many bytes it read.
func (d *dfa) run(k int, text []byte) int {
	if d.slow > 0 {
		return d.simulate(k, text)
	}
	table, id := d.table, d.live[k]
	since := 0
	for i, b := range text {
		next := uint32(table[id<<8|uint32(b)])
		if next < stateFirst {
			d.live[k] = id
			d.ran += i - since
			since = i
			if next == stateUnknown {
				next = d.miss(k, b)
				table = d.table
			}
			if next < stateFirst || d.slow > 0 || d.halted {
				d.live[k] = next
				return i + 1
			}
		}
		id = next
	}
	d.live[k] = id
	d.ran += len(text) - since
	d.work += len(text) / (runBlock / workPerLook)
	return len(text)
}

// simulate is run without states.
func (d *dfa) simulate(k int, text []byte) int {
	d.from.decode(d.keys[d.live[k]])
	for i, b := range text {
		matched := false
		if b == '\n' {
			if matched = d.end(d.from); !matched {
				d.startThreads(d.from, sideEdge)
			}
		} else {
			matched = d.stepByte(d.from, d.to, b)
			d.from, d.to = d.to, d.from
		}
		d.slow--
		d.checkStop()
		switch {
		case matched:
			d.live[k] = stateMatch
			return i + 1
		case d.prog.anchored && d.from.empty():
			d.live[k] = stateDead
			return i + 1
		case d.slow <= 0 || d.halted:
			d.live[k] = d.intern(d.from)
			return i + 1
		}
	}
	d.live[k] = d.intern(d.from)
	return len(text)
}

// A stream is a part of a text, whole lines, that is being read.
type stream struct {
	pos, end int
	line     int  // no line that is still open begins before it
	over     bool // the last line is decided though it has no \n
	found    []lineSpan
}

// A lineSpan is a line in a text, without its \n.
type lineSpan struct{ start, end int }

// handleSpecial deals with a state of stream k that is not an ordinary one: the rest
// of its line does not matter any more.
func (d *dfa) handleSpecial(k int, s *stream, text []byte) {
	id := d.live[k]
	if id >= stateFirst {
		return
	}
	d.live[k] = d.start
	end := s.pos - 1
	if text[end] != '\n' {
		n := bytes.IndexByte(text[s.pos:s.end], '\n')
		if end = s.pos + n; n < 0 {
			end = s.end
			s.over = true
		}
		s.pos = min(end+1, s.end)
	}
	if id == stateMatch {
		s.hit(text, end)
	}
	s.line = s.pos
}

// hit notes the line that ends at end.
func (s *stream) hit(text []byte, end int) {
	start := s.line + bytes.LastIndexByte(text[s.line:end], '\n') + 1
	s.found = append(s.found, lineSpan{start, end})
}

// finishStream reads stream k to its end.
func (d *dfa) finishStream(k int, s *stream, text []byte) {
	for s.pos < s.end && !d.halted {
		s.pos += d.run(k, text[s.pos:min(s.end, s.pos+runBlock)])
		d.handleSpecial(k, s, text)
		d.checkStop()
	}
	if s.end == len(text) && s.end > 0 && text[s.end-1] != '\n' && !s.over && !d.halted {
		if d.live[k] = d.next(k, '\n'); d.live[k] == stateMatch {
			s.hit(text, s.end)
		}
	}
}

// lockstep reads all streams at once until one of them is at its end. The
// loads of the streams do not wait for each other: that is the gain.
func (d *dfa) lockstep(ss *[streams]stream, text []byte) {
	for !d.halted && d.slow <= 0 {
		n := runBlock
		for k := range ss {
			n = min(n, ss[k].end-ss[k].pos)
		}
		if n <= 0 {
			return
		}
		d.together(ss, text, n)
		for k := range ss {
			d.handleSpecial(k, &ss[k], text)
		}
		d.work += n / (runBlock / workPerLook)
		d.checkStop()
	}
}

// together moves all streams over at most n bytes, up to the first state that
// is not an ordinary one.
func (d *dfa) together(ss *[streams]stream, text []byte, n int) {
	t0 := text[ss[0].pos:][:n]
	t1 := text[ss[1].pos:][:n]
	t2 := text[ss[2].pos:][:n]
	t3 := text[ss[3].pos:][:n]
	table := d.table
	a0, a1, a2, a3 := d.live[0], d.live[1], d.live[2], d.live[3]
	i := 0
	for i < n {
		b0 := uint32(table[a0<<8|uint32(t0[i])])
		b1 := uint32(table[a1<<8|uint32(t1[i])])
		b2 := uint32(table[a2<<8|uint32(t2[i])])
		b3 := uint32(table[a3<<8|uint32(t3[i])])
		i++
		// Below stateFirst the subtraction wraps round to a high bit.
		if int32((b0-stateFirst)|(b1-stateFirst)|(b2-stateFirst)|(b3-stateFirst)) < 0 {
			ordinary := d.splitStreams(&[streams]fork{{a0, b0}, {a1, b1}, {a2, b2}, {a3, b3}}, ss, text, i)
			a0, a1, a2, a3 = d.live[0], d.live[1], d.live[2], d.live[3]
			table = d.table
			if !ordinary {
				break
			}
			continue
		}
		a0, a1, a2, a3 = b0, b1, b2, b3
	}
	d.live = [streams]uint32{a0, a1, a2, a3}
	d.ran += i * streams
	for k := range ss {
		ss[k].pos += i
	}
}

// A fork is a step of a stream that the table may not know.
type fork struct{ from, to uint32 }

// splitStreams finishes a step, the n-th since the streams' positions, that led at
// least one of them out of the ordinary. It tells whether all is ordinary
// again: a line that matched at its very end needs nothing more.
func (d *dfa) splitStreams(step *[streams]fork, ss *[streams]stream, text []byte, n int) bool {
	for k, f := range step {
		d.live[k] = f.to
		if f.to == stateUnknown {
			d.live[k] = f.from
		}
	}
	ordinary := true
	for k, f := range step {
		s := &ss[k]
		end := s.pos + n - 1
		if f.to == stateUnknown {
			d.live[k] = d.miss(k, text[end])
		}
		if d.live[k] == stateMatch && text[end] == '\n' {
			s.hit(text, end)
			s.line = end + 1
			d.live[k] = d.start
		}
		ordinary = ordinary && d.live[k] >= stateFirst
	}
	return ordinary && !d.halted && d.slow <= 0
}
