package regex

import (
	"math/bits"
	"slices"
	"sync"
)

// maxInsts bounds a program, and by it the work for one byte of text.
const maxInsts = 1 << 18

// An op is what an instruction does.
type op uint8

const (
	opFail  op = iota // never goes on
	opMatch           // the pattern has matched
	opByte            // reads a byte from lo to hi
	opSet             // reads a byte of the set number alt
	opClass           // reads a character of the class number alt
	opSplit           // goes on at out and, less wanted, at alt
	opLook            // goes on where the look holds
)

// An inst is a state of the automaton; out is where it goes on.
type inst struct {
	op     op
	lo, hi byte
	look   look
	out    uint32
	alt    uint32
}

// A charClass is a set of characters that are not all ASCII. A thread inside one
// is an instruction and a node of the class's trie, so a class that is
// repeated a thousand times over costs a thousand instructions and one trie.
// The trie is built when text that is not ASCII comes by.
type charClass struct {
	ascii [2]uint64
	runes []runeRange
	once  sync.Once
	built *trie
}

func (c *charClass) trie() *trie {
	c.once.Do(func() { c.built = newTrie(c.runes, false) })
	return c.built
}

// A program is the automaton of a pattern over bytes. It never changes but
// for what it builds late, and is safe for concurrent use.
type program struct {
	insts    []inst
	sets     []byteSet
	classes  []*charClass
	start    uint32
	anchored bool // every match begins at the start of a line
	words    bool // it has looks for words
	unicode  bool // it has looks for words of Unicode

	wordOnce sync.Once
	wordTrie *trie

	partOnce sync.Once
	parts    [256]byteRange
}

// A byteRange is bytes that the program does not tell apart.
type byteRange struct{ lo, hi byte }

// wordRunes is the trie that tells the characters of words from others.
func (p *program) wordRunes() *trie {
	p.wordOnce.Do(func() {
		// The pattern is a constant the parser knows.
		n, err := parse(`\w`, Options{})
		if err != nil {
			panic("regex: " + err.Error())
		}
		p.wordTrie = newTrie(n.runes, true)
	})
	return p.wordTrie
}

// A compiler writes a program from the back: what follows a node is known
// before the node, so nothing has to be patched.
type compiler struct {
	prog    *program
	sets    map[byteSet]uint32
	empties map[*node]bool
	big     bool
}

// compile makes the program of a tree; false where it would be too large.
func compile(n *node) (*program, bool) {
	c := &compiler{prog: &program{insts: make([]inst, 0, 32)}}
	match := c.emit(inst{op: opMatch})
	c.prog.start = c.compileNode(n, match)
	if c.big {
		return nil, false
	}
	c.prog.anchored = c.prog.isAnchored()
	return c.prog, true
}

func (c *compiler) emit(i inst) uint32 {
	if len(c.prog.insts) >= maxInsts {
		c.big = true
		return 0
	}
	c.prog.insts = append(c.prog.insts, i)
	return uint32(len(c.prog.insts) - 1)
}

// compileNode writes n, with next behind it, and returns where it begins.
func (c *compiler) compileNode(n *node, next uint32) uint32 {
	if c.big {
		return 0
	}
	switch n.kind {
	case kindClass:
		return c.class(n.runes, next)
	case kindBytes:
		return c.set(*n.bytes, next)
	case kindLook:
		c.prog.words = c.prog.words || n.look >= lookWord
		c.prog.unicode = c.prog.unicode || n.look >= lookWord && n.look < lookASCIIWord
		return c.emit(inst{op: opLook, look: n.look, out: next})
	case kindConcat:
		for _, sub := range slices.Backward(n.subs) {
			next = c.compileNode(sub, next)
		}
		return next
	case kindEither:
		return c.either(n.subs, next)
	case kindRepeat:
		return c.repeat(n, next)
	}
	return next // kindEmpty
}

func (c *compiler) either(subs []*node, next uint32) uint32 {
	if len(subs) == 0 {
		return c.emit(inst{op: opFail})
	}
	at := c.compileNode(subs[len(subs)-1], next)
	for _, sub := range slices.Backward(subs[:len(subs)-1]) {
		at = c.emit(inst{op: opSplit, out: c.compileNode(sub, next), alt: at})
	}
	return at
}

func (c *compiler) repeat(n *node, next uint32) uint32 {
	sub, count := n.subs[0], n.min
	at := next
	switch {
	case n.max < 0 && n.min > 0:
		loop := c.split(n.lazy, 0, next)
		at = c.compileNode(sub, loop)
		c.setBody(loop, n.lazy, at)
		count--
	case n.max < 0 && c.canBeEmpty(sub):
		// As (x+)?: or an empty round would be taken for the end of them all.
		loop := c.split(n.lazy, 0, next)
		at = c.compileNode(sub, loop)
		c.setBody(loop, n.lazy, at)
		at = c.split(n.lazy, at, next)
	case n.max < 0:
		at = c.split(n.lazy, 0, next)
		c.setBody(at, n.lazy, c.compileNode(sub, at))
	default:
		for i := n.min; i < n.max && !c.big; i++ {
			at = c.split(n.lazy, c.compileNode(sub, at), next)
		}
	}
	for i := 0; i < count && !c.big; i++ {
		before := at
		if at = c.compileNode(sub, at); at == before {
			break // nothing was written, nothing ever will be
		}
	}
	return at
}

// split writes the choice between a body and what follows it.
func (c *compiler) split(lazy bool, body, next uint32) uint32 {
	if lazy {
		return c.emit(inst{op: opSplit, out: next, alt: body})
	}
	return c.emit(inst{op: opSplit, out: body, alt: next})
}

// setBody sets the body of a split that was written before it.
func (c *compiler) setBody(split uint32, lazy bool, body uint32) {
	if lazy {
		c.prog.insts[split].alt = body
	} else {
		c.prog.insts[split].out = body
	}
}

// canBeEmpty tells whether a node can match the empty text.
func (c *compiler) canBeEmpty(n *node) bool {
	switch n.kind {
	case kindClass, kindBytes:
		return false
	case kindConcat:
		return !slices.ContainsFunc(n.subs, func(s *node) bool { return !c.canBeEmpty(s) })
	case kindEither:
		return slices.ContainsFunc(n.subs, c.canBeEmpty)
	case kindRepeat:
		if n.min == 0 {
			return true
		}
		empty, ok := c.empties[n]
		if !ok {
			empty = c.canBeEmpty(n.subs[0])
			if c.empties == nil {
				c.empties = make(map[*node]bool)
			}
			c.empties[n] = empty
		}
		return empty
	}
	return true
}

// class writes a set of characters in the cheapest form it has.
func (c *compiler) class(runes []runeRange, next uint32) uint32 {
	if len(runes) == 1 && runes[0].lo == runes[0].hi {
		text := string(runes[0].lo)
		for i := len(text) - 1; i >= 0; i-- {
			next = c.emit(inst{op: opByte, lo: text[i], hi: text[i], out: next})
		}
		return next
	}
	var ascii byteSet
	last := rune(-1)
	for _, r := range runes {
		if r.lo < 0x80 {
			ascii.add(byte(r.lo), byte(min(r.hi, 0x7F)))
		}
		last = r.hi
	}
	if last < 0x80 {
		return c.set(ascii, next)
	}
	for i, known := range c.prog.classes {
		if slices.Equal(known.runes, runes) {
			return c.emit(inst{op: opClass, alt: uint32(i), out: next})
		}
	}
	c.prog.classes = append(c.prog.classes, &charClass{ascii: [2]uint64{ascii[0], ascii[1]}, runes: runes})
	return c.emit(inst{op: opClass, alt: uint32(len(c.prog.classes) - 1), out: next})
}

// set writes a set of bytes.
func (c *compiler) set(s byteSet, next uint32) uint32 {
	lo, hi, count := 256, 0, 0
	for w, word := range s {
		if word != 0 {
			lo = min(lo, w<<6+bits.TrailingZeros64(word))
			hi = w<<6 + 63 - bits.LeadingZeros64(word)
			count += bits.OnesCount64(word)
		}
	}
	if count == 0 {
		return c.emit(inst{op: opFail})
	}
	if count == hi-lo+1 {
		return c.emit(inst{op: opByte, lo: byte(lo), hi: byte(hi), out: next})
	}
	id, ok := c.sets[s]
	if !ok {
		if c.sets == nil {
			c.sets = make(map[byteSet]uint32)
		}
		id = uint32(len(c.prog.sets))
		c.prog.sets = append(c.prog.sets, s)
		c.sets[s] = id
	}
	return c.emit(inst{op: opSet, alt: id, out: next})
}

// isAnchored tells whether no way into the program avoids the start of a line.
func (p *program) isAnchored() bool {
	seen := make([]bool, len(p.insts))
	todo := []uint32{p.start}
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch i := &p.insts[pc]; i.op {
		case opFail:
		case opSplit:
			todo = append(todo, i.alt, i.out)
		case opLook:
			if i.look != lookLineStart && i.look != lookTextStart {
				todo = append(todo, i.out)
			}
		default:
			return false
		}
	}
	return true
}

// A reach is how far an instruction comes by reading one byte.
type reach uint8

const (
	reachNone reach = iota // it cannot read the byte
	reachPart              // it is inside a character
	reachOut               // it goes on
)

// read reads b at an instruction that stands at node of its class, zero being
// the start of a character. It returns the node it then stands at.
func (p *program) read(i *inst, node uint16, b byte) (reach, uint16) {
	switch i.op {
	case opByte:
		if i.lo <= b && b <= i.hi {
			return reachOut, 0
		}
	case opSet:
		if p.sets[i.alt].contains(b) {
			return reachOut, 0
		}
	case opClass:
		c := p.classes[i.alt]
		switch {
		case node != 0:
			node = c.trie().more(node, b)
		case b < 0x80:
			node = uint16(c.ascii[b>>6] >> (b & 63) & 1)
		default:
			node = c.trie().leadNode(b)
		}
		switch node {
		case trieNone:
		case trieYes:
			return reachOut, 0
		default:
			return reachPart, node
		}
	}
	return reachNone, 0
}

// byteClass is the bytes next to b that lead wherever b leads.
func (p *program) byteClass(b byte) byteRange {
	p.partOnce.Do(p.divide)
	return p.parts[b]
}

// divide finds the parts: a border stands wherever some instruction tells
// two neighbours apart.
func (p *program) divide() {
	var ends byteSet // it contains b where b and b+1 are distinguished
	ends.add('\n'-1, '\n')
	ends.add(0x7F, 0x7F)
	for i := range p.insts {
		if in := &p.insts[i]; in.op == opByte {
			ends.add(in.hi, in.hi)
			if in.lo > 0 {
				ends.add(in.lo-1, in.lo-1)
			}
		}
	}
	for i := range p.sets {
		ends.edges(&p.sets[i])
	}
	for _, c := range p.classes {
		ends.edges(&byteSet{c.ascii[0], c.ascii[1]})
	}
	if p.words {
		var word byteSet
		for b := range 128 {
			if isWordByte(byte(b)) {
				word.add(byte(b), byte(b))
			}
		}
		ends.edges(&word)
	}
	if p.unicode || len(p.classes) > 0 {
		ends.add(0x80, 0xFF)
	}
	lo := 0
	for b := range 256 {
		if b == 255 || ends.contains(byte(b)) {
			for i := lo; i <= b; i++ {
				p.parts[i] = byteRange{byte(lo), byte(b)}
			}
			lo = b + 1
		}
	}
}

// edges adds the bytes of which only one of them and the next is in other.
func (s *byteSet) edges(other *byteSet) {
	for w, word := range other {
		next := word >> 1
		if w < 3 {
			next |= other[w+1] << 63
		}
		s[w] |= word ^ next
	}
}
