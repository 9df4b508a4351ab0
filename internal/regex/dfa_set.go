package regex

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A stand is where the automaton stands between two bytes: all its threads at
// once. Most are just instructions, and these are bits. The others are extras:
// inside a character, or bound to what the next character is going to be.
type stand struct {
	plain []uint64 // one bit an instruction
	extra []extra  // sorted
	word  uint16   // the node of the trie of words the text stands at, zero between characters
	last  side     // the side the last whole character is, if bytes too many may continue it
	slack uint8    // how many such bytes may
}

// An extra is a thread with more to it than its instruction: in 64 bits its
// pc, the node of its class, and two masks of sides. The character the text
// stands inside of has to be one of held, what begins here one of next.
type extra uint64

func newExtra(pc uint32, node uint16, held, next side) extra {
	return extra(pc)<<32 | extra(node)<<16 | extra(held)<<8 | extra(next)
}

func (e extra) pc() uint32       { return uint32(e >> 32) }
func (e extra) trieNode() uint16 { return uint16(e >> 16) }
func (e extra) held() side       { return side(e >> 8) }
func (e extra) next() side       { return side(e) }

func (s *stand) reset() {
	clear(s.plain)
	s.extra = s.extra[:0]
	s.word, s.last, s.slack = 0, 0, 0
}

// empty tells whether no thread is left.
func (s *stand) empty() bool {
	if len(s.extra) > 0 {
		return false
	}
	for _, w := range s.plain {
		if w != 0 {
			return false
		}
	}
	return true
}

// encode writes the set in a short form that is equal for equal sets.
func (s *stand) encode(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(s.word))
	to = append(to, byte(s.last), s.slack)
	last := -1
	for w, word := range s.plain {
		for ; word != 0; word &= word - 1 {
			pc := w<<6 + bits.TrailingZeros64(word)
			to = binary.AppendUvarint(to, uint64(pc-last))
			last = pc
		}
	}
	to = append(to, 0)
	before := extra(0)
	for _, e := range s.extra {
		to = binary.AppendUvarint(to, uint64(e-before))
		before = e
	}
	return to
}

// decode reads what encode wrote.
func (s *stand) decode(from string) {
	s.reset()
	number := func() uint64 {
		var n uint64
		for shift := 0; ; shift += 7 {
			b := from[0]
			from = from[1:]
			n |= uint64(b&0x7F) << shift
			if b < 0x80 {
				return n
			}
		}
	}
	s.word = uint16(number())
	s.last, s.slack = side(from[0]), from[1]
	from = from[2:]
	pc := -1
	for delta := number(); delta != 0; delta = number() {
		pc += int(delta)
		s.plain[pc>>6] |= 1 << (pc & 63)
	}
	before := extra(0)
	for len(from) > 0 {
		before += extra(number())
		s.extra = append(s.extra, before)
	}
}

// A stepper moves stands over bytes: the automaton itself, exact in all it does.
type stepper struct {
	prog *program
	seen []uint64           // instructions entered without a condition at this place
	dups map[extra]struct{} // and those with one
	todo []extra            // entered, not yet followed
	work int                // how much was done, for whoever looks at the clock
}

func newStepper(p *program) stepper {
	return stepper{prog: p, seen: make([]uint64, (len(p.insts)+63)/64)}
}

func (st *stepper) newStand() *stand {
	return &stand{plain: make([]uint64, len(st.seen))}
}

// A boundary is what a step knows about the place it reaches.
type boundary struct {
	before side // what stands before it
	known  side // the side decided by the byte read, for threads between characters; zero if undecided
	held   side // the same for those whose character had begun before
}

// startThreads fills to with the threads of a match that begins at the start of a
// line, or behind an ASCII byte, and tells whether it matches whatever follows.
func (st *stepper) startThreads(to *stand, before side) bool {
	to.reset()
	st.resetSeen()
	if st.prog.unicode && before != sideEdge {
		to.last, to.slack = before, 3
	}
	matched := st.followThread(to, newExtra(st.prog.start, 0, sideAll, sideAll), before)
	slices.Sort(to.extra)
	return matched
}

func (st *stepper) resetSeen() {
	clear(st.seen)
	if len(st.dups) > 0 {
		clear(st.dups)
	}
	st.work += len(st.seen) + 1
}

// stepByte moves from over b, which is no \n, into to, and tells whether the
// pattern has matched whatever follows.
func (st *stepper) stepByte(from, to *stand, b byte) bool {
	to.reset()
	st.resetSeen()
	at := boundary{before: sideOther, known: sideOther, held: sideOther}
	if st.prog.words {
		at = st.look(from, to, b)
	}
	for w, word := range from.plain {
		st.work += bits.OnesCount64(word)
		for ; word != 0; word &= word - 1 {
			pc := uint32(w<<6 + bits.TrailingZeros64(word))
			if st.moveThread(to, newExtra(pc, 0, sideAll, sideAll), b, at.before) {
				return true
			}
		}
	}
	for _, e := range from.extra {
		if e, ok := at.decide(e); ok && st.moveThread(to, e, b, at.before) {
			return true
		}
	}
	if !st.prog.anchored && st.followThread(to, newExtra(st.prog.start, 0, sideAll, sideAll), at.before) {
		return true
	}
	if len(to.extra) > 1 {
		slices.Sort(to.extra)
		to.extra = slices.Compact(to.extra)
	}
	return false
}

// end tells whether the pattern matches if the line ends at s.
func (st *stepper) end(s *stand) bool {
	held := sideAll
	if s.word != 0 {
		held = sideWrong
	}
	for _, e := range s.extra {
		if st.prog.insts[e.pc()].op == opMatch && e.held()&held != 0 && e.next()&sideEdge != 0 {
			return true
		}
	}
	return false
}

// look reads b as a part of the text's characters.
func (st *stepper) look(from, to *stand, b byte) boundary {
	if b < 0x80 {
		s := sideOfByte(b)
		if st.prog.unicode {
			to.last, to.slack = s, 3
		}
		return boundary{before: s, known: s, held: sideWrong}
	}
	if !st.prog.unicode {
		return boundary{before: sideOther, known: sideOther, held: sideOther}
	}
	t := st.prog.wordRunes()
	at := boundary{before: sideWrong, known: sideWrong, held: sideWrong}
	if b >= 0xC0 {
		if value := t.leadNode(b); value >= trieNode {
			to.word = value
			to.slack = uint8(4 - utf8Length(b))
			at.known = 0
		}
		return at
	}
	if from.word != 0 {
		switch value := t.more(from.word, b); {
		case value >= trieNode:
			to.word, to.slack = value, from.slack
			at.held = 0
		case value != trieNone:
			at.held = sideOfValue(value)
			at.before = at.held
			to.last, to.slack = at.held, from.slack
		}
	} else if from.slack > 0 {
		at.before = from.last.prolonged()
		to.last, to.slack = at.before, from.slack-1
	}
	if to.slack == 0 && to.word == 0 {
		to.last = 0
	}
	return at
}

// utf8Length is the length of a character that begins with the byte b.
func utf8Length(b byte) int {
	switch {
	case b < 0xE0:
		return 2
	case b < 0xF0:
		return 3
	}
	return 4
}

// decide takes the conditions of a thread that the byte read decides; false
// if one is not met. What is still open is from now on about the character
// the text stands inside of.
func (at boundary) decide(e extra) (extra, bool) {
	held, next := e.held(), e.next()
	open := sideAll
	switch {
	case at.held == 0:
		open = held
	case held&at.held == 0:
		return 0, false
	}
	switch {
	case at.known == 0:
		open &= next
	case next&at.known == 0:
		return 0, false
	}
	return newExtra(e.pc(), e.trieNode(), open, sideAll), true
}

// moveThread moves one thread over b and enters what it reaches.
func (st *stepper) moveThread(to *stand, e extra, b byte, before side) bool {
	st.work++
	in := &st.prog.insts[e.pc()]
	if in.op == opMatch {
		if e.held() == sideAll {
			return true
		}
		if st.isNew(e) {
			to.extra = append(to.extra, e)
		}
		return false
	}
	switch how, node := st.prog.read(in, e.trieNode(), b); how {
	case reachPart:
		to.extra = append(to.extra, newExtra(e.pc(), node, e.held(), sideAll))
	case reachOut:
		if next := in.out; e.held() == sideAll && st.prog.insts[next].op >= opByte && st.prog.insts[next].op <= opClass {
			to.plain[next>>6] |= 1 << (next & 63) // what is most often the case
			return false
		}
		return st.followThread(to, newExtra(in.out, 0, e.held(), sideAll), before)
	}
	return false
}

// followThread follows the instructions that read nothing, from e on, and adds those
// that read to the set.
func (st *stepper) followThread(to *stand, e extra, before side) bool {
	st.todo = append(st.todo[:0], e)
	for len(st.todo) > 0 {
		e := st.todo[len(st.todo)-1]
		st.todo = st.todo[:len(st.todo)-1]
		pc, held, next := e.pc(), e.held(), e.next()
		if !st.isNew(e) {
			continue
		}
		st.work++
		switch in := &st.prog.insts[pc]; in.op {
		case opFail:
		case opSplit:
			st.todo = append(st.todo, newExtra(in.alt, 0, held, next), newExtra(in.out, 0, held, next))
		case opLook:
			if next &= in.look.allows(before); next != 0 {
				st.todo = append(st.todo, newExtra(in.out, 0, held, next))
			}
		default:
			if held&next != sideAll {
				to.extra = append(to.extra, newExtra(pc, 0, held, next))
				continue
			}
			if in.op == opMatch {
				return true
			}
			to.plain[pc>>6] |= 1 << (pc & 63)
		}
	}
	return false
}

// isNew tells whether the place was not entered before on the same terms or
// without any.
func (st *stepper) isNew(e extra) bool {
	word, bit := e.pc()>>6, uint64(1)<<(e.pc()&63)
	if st.seen[word]&bit != 0 {
		return false
	}
	if e.held()&e.next() == sideAll {
		st.seen[word] |= bit
		return true
	}
	if _, ok := st.dups[e]; ok {
		return false
	}
	if st.dups == nil {
		st.dups = make(map[extra]struct{})
	}
	st.dups[e] = struct{}{}
	return true
}
