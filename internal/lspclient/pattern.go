package lspclient

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

// How long a pattern may be.
const (
	maxGlobBytes = 4096
	maxGlobSteps = 4096 // when it is read
)

// A glob is a pattern in the dialect of the protocol: * and ? stay in one
// segment of a path, ** is any number of segments and also none, {a,b} is one
// of several, which may hold patterns again, and [a-z] and [!a-z] are one
// character. Nothing quotes. It is matched in time that is at most the product
// of the lengths of pattern and path: all ways through the pattern are gone at
// once.
type glob struct {
	steps []globStep
	ends  []string // every text that matches ends with one of these
}

type stepKind byte

const (
	stepSymbol  stepKind = iota // this symbol
	stepAny                     // any symbol
	stepSegment                 // any symbol but a slash
	stepClass                   // one of a class
	stepSplit                   // go on at x and at y
	stepJump                    // go on at x
	stepBegins                  // nothing, where a segment begins
	stepEnds                    // nothing, at the end
	stepMatch                   // the whole has matched
)

type globStep struct {
	kind   stepKind
	symbol rune
	x, y   int
	class  *class
}

// A class is one of some characters, or none of them.
type class struct {
	not    bool
	ranges [][2]rune
}

func (c *class) contains(r rune) bool {
	if r == '/' {
		return false
	}
	for _, g := range c.ranges {
		if r >= g[0] && r <= g[1] {
			return !c.not
		}
	}
	return c.not
}

// symbolAt reads the character that a text begins with, and its length. A
// byte that is no part of a character is a symbol of its own.
func symbolAt(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return utf8.MaxRune + 1 + rune(s[0]), 1
	}
	return r, n
}

// match reports whether the pattern matches a whole path with slashes.
func (g glob) match(path string) bool {
	words := (len(g.steps) + 63) / 64
	var room [2][maxGlobSteps / 64]uint64
	m := walkers{g: g, now: room[0][:words], next: room[1][:words]}
	m.at('/', path == "")
	m.add(m.now, 0)
	for len(path) > 0 {
		r, n := symbolAt(path)
		path = path[n:]
		clear(m.next)
		m.at(r, path == "")
		if !m.advance(r) {
			return false
		}
		m.now, m.next = m.next, m.now
	}
	last := len(g.steps) - 1
	return m.now[last/64]&(1<<(last%64)) != 0
}

// mayEnd reports whether a path could match by its end, which most do not.
func (g glob) mayEnd(path string) bool {
	if g.ends == nil {
		return true
	}
	for _, end := range g.ends {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// walkers are all places of a pattern that one can be at, as bits.
type walkers struct {
	g            glob
	now, next    []uint64
	begins, ends bool // a segment begins here; the text ends here
}

func (m *walkers) at(before rune, end bool) { m.begins, m.ends = before == '/', end }

// advance advances all states by one symbol, and reports whether a state is left.
func (m *walkers) advance(r rune) bool {
	alive := false
	for w, word := range m.now {
		for word != 0 {
			pc := w*64 + bits.TrailingZeros64(word)
			word &= word - 1
			s := &m.g.steps[pc]
			var goes bool
			switch s.kind {
			case stepSymbol:
				goes = r == s.symbol
			case stepAny:
				goes = true
			case stepSegment:
				goes = r != '/'
			case stepClass:
				goes = s.class.contains(r)
			}
			if goes {
				alive = true
				m.add(m.next, pc+1)
			}
		}
	}
	return alive
}

// add adds a place, with those that can be reached from there without a symbol.
func (m *walkers) add(set []uint64, pc int) {
	if set[pc/64]&(1<<(pc%64)) != 0 {
		return
	}
	set[pc/64] |= 1 << (pc % 64)
	switch s := &m.g.steps[pc]; s.kind {
	case stepSplit:
		m.add(set, s.x)
		m.add(set, s.y)
	case stepJump:
		m.add(set, s.x)
	case stepBegins:
		if m.begins {
			m.add(set, pc+1)
		}
	case stepEnds:
		if m.ends {
			m.add(set, pc+1)
		}
	}
}

// endings finds what every text that matches a pattern ends with: what comes
// after all that is special, or a plain group there; nil when that is not
// easily said.
func endings(pattern string) []string {
	special := "*?]}"
	body, grouped := strings.CutSuffix(pattern, "}")
	if grouped {
		special = "*?]"
	}
	tail := body[strings.LastIndexAny(body, special)+1:]
	if len(tail) < len(body) {
		tail = strings.TrimPrefix(tail, "/") // which ** may go without
	}
	if !grouped {
		return []string{tail}
	}
	head, group, found := strings.Cut(tail, "{")
	if !found || strings.Contains(head, "}") || strings.ContainsAny(group, "{}") {
		return nil
	}
	ends := strings.Split(group, ",")
	for i := range ends {
		ends[i] = head + ends[i]
	}
	return ends
}

// parseGlob reads a pattern.
func parseGlob(pattern string) (glob, error) {
	p := globParser{rest: pattern}
	if len(pattern) > maxGlobBytes {
		p.setError("it is too long")
	}
	p.sequence(0)
	p.emit(globStep{kind: stepMatch})
	if p.err != nil {
		short, _ := text.Cut(pattern, 200)
		return glob{}, fmt.Errorf("pattern %q: %w", text.VisibleLine(short), p.err)
	}
	return glob{steps: p.steps, ends: endings(pattern)}, nil
}

type globParser struct {
	rest  string
	steps []globStep
	err   error
}

func (p *globParser) setError(why string) {
	if p.err == nil {
		p.err = errors.New(why)
	}
	p.rest = ""
}

// emit adds steps. Where they lead to is counted from the first of them.
func (p *globParser) emit(list ...globStep) {
	base := len(p.steps)
	if base+len(list) > maxGlobSteps {
		p.setError("it is too long")
		return
	}
	for _, s := range list {
		s.x += base
		s.y += base
		p.steps = append(p.steps, s)
	}
}

// sequence reads up to the end, in a group up to the end of an alternative.
func (p *globParser) sequence(depth int) {
	for !sequenceEnds(p.rest, depth) {
		r, n := symbolAt(p.rest)
		after := strings.TrimLeft(p.rest[n:], "*")
		stars := len(p.rest) - n - len(after)
		switch {
		case r == '*' && stars > 0:
			p.rest = after
			p.globstar()
		case r == '*':
			p.rest = after
			p.emit(globStep{kind: stepSplit, x: 1, y: 3}, globStep{kind: stepSegment}, globStep{kind: stepJump})
		case r == '/' && stars > 1 && sequenceEnds(after, depth):
			p.rest = after
			p.emit(globStep{kind: stepSplit, x: 1, y: 6}, globStep{symbol: '/'},
				globStep{kind: stepSplit, x: 3, y: 5}, globStep{kind: stepAny}, globStep{kind: stepJump, x: 2},
				globStep{kind: stepJump, x: 7}, globStep{kind: stepEnds})
		case r == '?':
			p.rest = p.rest[n:]
			p.emit(globStep{kind: stepSegment})
		case r == '[':
			p.rest = p.rest[n:]
			p.class()
		case r == '{':
			p.rest = p.rest[n:]
			p.group(depth + 1)
		default:
			p.rest = p.rest[n:]
			p.emit(globStep{symbol: r})
		}
	}
}

// sequenceEnds reports whether nothing of a sequence is left.
func sequenceEnds(rest string, depth int) bool {
	return rest == "" || depth > 0 && (rest[0] == ',' || rest[0] == '}')
}

// globstar comes after **: with a slash it is whole segments, which may be
// none where a segment begins, else anything.
func (p *globParser) globstar() {
	if !strings.HasPrefix(p.rest, "/") {
		p.emit(globStep{kind: stepSplit, x: 1, y: 3}, globStep{kind: stepAny}, globStep{kind: stepJump})
		return
	}
	p.rest = p.rest[1:]
	p.emit(globStep{kind: stepSplit, x: 1, y: 3}, globStep{kind: stepBegins}, globStep{kind: stepJump, x: 7},
		globStep{kind: stepSplit, x: 4, y: 6}, globStep{kind: stepAny}, globStep{kind: stepJump, x: 3}, globStep{symbol: '/'})
}

// group parses a group after its opening brace.
func (p *globParser) group(depth int) {
	if depth > 64 {
		p.setError("its groups are too deep in one another")
		return
	}
	var ends []int // steps that lead behind the group
	for {
		fork := len(p.steps)
		p.emit(globStep{kind: stepSplit, x: 1})
		p.sequence(depth)
		if p.rest == "" {
			p.setError("a { has no }")
			return
		}
		more := p.rest[0] == ','
		p.rest = p.rest[1:]
		if !more {
			p.steps[fork].kind = stepJump
			break
		}
		ends = append(ends, len(p.steps))
		p.emit(globStep{kind: stepJump})
		p.steps[fork].y = len(p.steps)
	}
	for _, end := range ends {
		p.steps[end].x = len(p.steps)
	}
}

// class parses a class after its opening bracket. A closing bracket that comes first is one of its
// characters.
func (p *globParser) class() {
	c := &class{}
	if p.rest != "" && (p.rest[0] == '!' || p.rest[0] == '^') {
		c.not = true
		p.rest = p.rest[1:]
	}
	for first := true; ; first = false {
		if p.rest == "" {
			p.setError("a [ has no ]")
			return
		}
		low, n := symbolAt(p.rest)
		p.rest = p.rest[n:]
		if low == ']' && !first {
			break
		}
		high := low
		if len(p.rest) > 1 && p.rest[0] == '-' && p.rest[1] != ']' {
			high, n = symbolAt(p.rest[1:])
			p.rest = p.rest[1+n:]
		}
		if high < low {
			p.setError("a range in [] is the wrong way round")
			return
		}
		c.ranges = append(c.ranges, [2]rune{low, high})
	}
	p.emit(globStep{kind: stepClass, class: c})
}
