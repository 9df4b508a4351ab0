package search

import (
	"bytes"
	"context"
	"strings"
)

// A shape is the way a glob is matched. Most lines of ignore files are a plain
// name or *.ext, and those need no machine.
type shape uint8

const (
	shapeProgram shape = iota // by the machine
	shapeExact                // the path is the text
	shapeBase                 // the last component is the text
	shapeSuffix               // the last component ends with the text
	shapePrefix               // the last component begins with the text
)

// A glob is a compiled pattern. It is matched against a whole relative path.
type glob struct {
	shape shape
	text  string   // of the shapes that have one
	prog  *program // of shapeProgram
}

// compileGlob makes a glob from its text.
func compileGlob(text string, d dialect) (glob, error) {
	tokens, err := parseGlob(text, d)
	if err != nil {
		return glob{}, err
	}
	return newGlob(tokens), nil
}

// newGlob compiles a glob from its tokens.
func newGlob(tokens []token) glob {
	if text, ok := literalText(tokens); ok {
		return glob{shape: shapeExact, text: text}
	}
	if len(tokens) > 1 && tokens[0].kind == tokDeepPrefix {
		if g, ok := baseGlob(tokens[1:]); ok {
			return g
		}
	}
	return glob{prog: compileProgram(tokens)}
}

// baseGlob makes a glob for the last component of a path, where that is a
// plain text with a star before or after it at the most.
func baseGlob(tokens []token) (g glob, ok bool) {
	last := len(tokens) - 1
	g.shape = shapeBase
	switch {
	case last > 0 && tokens[0].kind == tokStar:
		g.shape, tokens = shapeSuffix, tokens[1:]
	case last > 0 && tokens[last].kind == tokStar:
		g.shape, tokens = shapePrefix, tokens[:last]
	}
	g.text, ok = literalText(tokens)
	return g, ok && !strings.Contains(g.text, "/")
}

// literalText is the text of tokens that are all plain bytes.
func literalText(tokens []token) (string, bool) {
	text := make([]byte, len(tokens))
	for i, t := range tokens {
		if t.kind != tokByte {
			return "", false
		}
		text[i] = t.char
	}
	return string(text), true
}

// match reports whether the glob matches the path, whose last component
// begins at base.
func (g *glob) match(m *machine, path []byte, base int) bool {
	switch g.shape {
	case shapeExact:
		return string(path) == g.text
	case shapeBase:
		return string(path[base:]) == g.text
	case shapeSuffix:
		return endsWith(path[base:], g.text)
	case shapePrefix:
		return len(path)-base >= len(g.text) && string(path[base:base+len(g.text)]) == g.text
	}
	return g.prog.match(m, path)
}

func endsWith(b []byte, text string) bool {
	return len(b) >= len(text) && string(b[len(b)-len(text):]) == text
}

// opCode is what an instruction does.
type opCode uint8

const (
	opByte  opCode = iota // takes the byte c
	opAny                 // takes a byte that is not a slash
	opSet                 // takes a byte of set x
	opStar                // takes any number of bytes that are not slashes
	opDeep                // takes any number of bytes
	opSplit               // goes on at x and at y
	opJump                // goes on at x
	opMatch               // has matched, if the path ends here
)

type instruction struct {
	op   opCode
	c    byte
	x, y int32
}

// A program is a glob for the machine: an automaton in which every step but
// opSplit and opJump goes on at the next instruction. It is as long as the glob
// but for a constant, and matching takes at most program × path steps, whatever
// the stars in it.
type program struct {
	code   []instruction
	sets   []*byteSet
	prefix string   // every match begins so
	suffix string   // every match ends so
	middle string   // every match has that in it
	least  int      // how many bytes every match has
	last   *byteSet // the last byte of every match is one of these, if not nil
}

// matchCost is what a name costs at most that is compared with the program, for
// each of its bytes. A glob without a program has a little too.
func (p *program) matchCost() int {
	if p == nil {
		return 1
	}
	return len(p.code)
}

// memory is about how many bytes the program takes.
func (p *program) memory() int {
	if p == nil {
		return 0
	}
	const self, each, set = 160, 12, 48
	return self + each*cap(p.code) + set*len(p.sets) + len(p.prefix) + len(p.suffix) + len(p.middle)
}

func compileProgram(tokens []token) *program {
	p := &program{code: make([]instruction, 0, len(tokens)+4)}
	if len(tokens) == 1 && tokens[0].kind == tokDeepPrefix { // ** alone takes all
		p.emit(instruction{op: opDeep})
		p.emit(instruction{op: opMatch})
		return p
	}
	var head, tail int
	for head < len(tokens) && tokens[head].kind == tokByte {
		head++
	}
	for tail < len(tokens) && tokens[len(tokens)-1-tail].kind == tokByte {
		tail++
	}
	p.prefix, _ = literalText(tokens[:head])
	p.suffix, _ = literalText(tokens[len(tokens)-tail:])
	p.middle = longest(tokens[min(head, len(tokens)-tail) : len(tokens)-tail])
	p.least = least(tokens)
	if n := len(tokens); n > 0 && tokens[n-1].kind == tokClass {
		p.last = tokens[n-1].set
	}
	p.sequence(tokens)
	p.emit(instruction{op: opMatch})
	return p
}

// longest is the longest plain text in tokens.
func longest(tokens []token) (text string) {
	for i := 0; i < len(tokens); i++ {
		start := i
		for i < len(tokens) && tokens[i].kind == tokByte {
			i++
		}
		if i-start > len(text) {
			text, _ = literalText(tokens[start:i])
		}
	}
	return text
}

// least is how many bytes tokens take at the least.
func least(tokens []token) (n int) {
	for _, t := range tokens {
		switch t.kind {
		case tokByte, tokAny, tokClass, tokDeepMiddle, tokDeepSuffix:
			n++
		case tokEither:
			few := -1
			for _, b := range t.branches {
				if empty(b) {
					continue
				}
				if size := least(b); few < 0 || size < few {
					few = size
				}
			}
			n += max(few, 0)
		}
	}
	return n
}

func (p *program) emit(i instruction) int {
	p.code = append(p.code, i)
	return len(p.code) - 1
}

func (p *program) sequence(tokens []token) {
	for i, t := range tokens {
		switch t.kind {
		case tokByte:
			p.emit(instruction{op: opByte, c: t.char})
		case tokAny:
			p.emit(instruction{op: opAny})
		case tokStar:
			if i == 0 || tokens[i-1].kind != tokStar { // several are one
				p.emit(instruction{op: opStar})
			}
		case tokClass:
			p.emit(instruction{op: opSet, x: int32(len(p.sets))})
			p.sets = append(p.sets, t.set)
		case tokDeepPrefix:
			p.folders()
		case tokDeepMiddle:
			p.emit(instruction{op: opByte, c: '/'})
			p.folders()
		case tokDeepSuffix:
			p.emit(instruction{op: opByte, c: '/'})
			p.emit(instruction{op: opDeep})
		case tokEither:
			p.either(t.branches)
		}
	}
}

// folders takes nothing, or anything up to a slash.
func (p *program) folders() {
	split := p.emit(instruction{op: opSplit})
	p.emit(instruction{op: opDeep})
	p.emit(instruction{op: opByte, c: '/'})
	p.code[split].x, p.code[split].y = int32(split+1), int32(len(p.code))
}

// either takes what one of the branches takes. An empty branch is no choice:
// a{,b} is ab, as in ripgrep.
func (p *program) either(branches [][]token) {
	var jumps []int
	split := -1
	for _, branch := range branches {
		if empty(branch) {
			continue
		}
		if split >= 0 {
			jumps = append(jumps, p.emit(instruction{op: opJump}))
			p.code[split].y = int32(len(p.code))
		}
		split = p.emit(instruction{op: opSplit})
		p.code[split].x, p.code[split].y = int32(split+1), int32(split+1)
		p.sequence(branch)
	}
	for _, j := range jumps {
		p.code[j].x = int32(len(p.code))
	}
}

// empty reports whether a branch takes nothing at all.
func empty(branch []token) bool {
	for _, t := range branch {
		if t.kind != tokEither {
			return false
		}
		for _, b := range t.branches {
			if !empty(b) {
				return false
			}
		}
	}
	return true
}

// match runs the program over the path, unless it is easy to see that it does
// not match.
func (p *program) match(m *machine, path []byte) bool {
	if len(path) < p.least || !endsWith(path, p.suffix) || !bytes.HasPrefix(path, []byte(p.prefix)) ||
		p.last != nil && !p.last.contains(path[len(path)-1]) || p.middle != "" && !bytes.Contains(path, []byte(p.middle)) {
		return false
	}
	m.start(len(p.code))
	m.add(p, 0)
	for _, c := range path {
		if len(m.next) == 0 || m.done(len(m.next)) {
			return false
		}
		m.stepByte(p, c)
	}
	for _, at := range m.next {
		if p.code[at].op == opMatch {
			return true
		}
	}
	return false
}

// A machine is the scratch memory of a match. It belongs to one goroutine.
// When its context, if it has one, is done then nothing matches any more: who
// asks has to see to it that this does not count.
type machine struct {
	ctx       context.Context
	steps     int      // since the context was looked at
	now, next []int32  // the instructions reached before and after a byte
	seen      []uint32 // the round in which an instruction was reached last
	round     uint32
	todo      []int32
}

// maxSteps is after how many steps a machine checks whether to stop.
const maxSteps = 1 << 16

// done counts steps, and reports whether the machine must stop.
func (m *machine) done(steps int) bool {
	m.steps += steps
	if m.steps < maxSteps || m.ctx == nil {
		return false
	}
	if m.ctx.Err() != nil {
		return true
	}
	m.steps = 0
	return false
}

// start prepares the machine for a program of n instructions.
func (m *machine) start(n int) {
	if len(m.seen) < n {
		m.seen = make([]uint32, n)
		m.round = 0
	}
	m.next = m.next[:0]
	m.newRound()
}

func (m *machine) newRound() {
	m.round++
	if m.round == 0 { // it went around: the old marks mean nothing now
		clear(m.seen)
		m.round = 1
	}
}

// add reaches an instruction and what can be reached from it without a byte.
func (m *machine) add(p *program, at int32) {
	m.todo = append(m.todo[:0], at)
	for len(m.todo) > 0 {
		at := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		if m.seen[at] == m.round {
			continue
		}
		m.seen[at] = m.round
		switch i := &p.code[at]; i.op {
		case opSplit:
			m.todo = append(m.todo, i.y, i.x)
		case opJump:
			m.todo = append(m.todo, i.x)
		case opStar, opDeep:
			m.next = append(m.next, at)
			m.todo = append(m.todo, at+1)
		default:
			m.next = append(m.next, at)
		}
	}
}

// stepByte takes a byte.
func (m *machine) stepByte(p *program, c byte) {
	m.now, m.next = m.next, m.now[:0]
	m.newRound()
	for _, at := range m.now {
		switch i := &p.code[at]; i.op {
		case opByte:
			if c == i.c {
				m.add(p, at+1)
			}
		case opAny:
			if c != '/' {
				m.add(p, at+1)
			}
		case opSet:
			if p.sets[i.x].contains(c) {
				m.add(p, at+1)
			}
		case opStar:
			if c != '/' {
				m.add(p, at)
			}
		case opDeep:
			m.add(p, at)
		}
	}
}
