package regex

import (
	"math"
	"unicode"
)

// repeatSign reads one of * + ? with the ? that makes it lazy.
func (p *parser) repeatSign() *SyntaxError {
	at := p.pos
	if !p.repeatable() {
		return p.syntaxError(at, at, "repetition operator missing expression")
	}
	low, high := 0, -1
	switch p.ch {
	case '+':
		low = 1
	case '?':
		high = 1
	}
	p.bump()
	return p.repeat(low, high, at)
}

// repeatable reports whether there is something in front to be repeated.
func (p *parser) repeatable() bool {
	return len(p.pieces) > p.groups[len(p.groups)-1].base && !p.pieces[len(p.pieces)-1].bare
}

// repeat puts the last piece into a repetition; a ? that follows makes it
// lazy.
func (p *parser) repeat(low, high, at int) *SyntaxError {
	lazy := p.hasFlag(flagSwap)
	if p.ch == '?' {
		lazy = !lazy
		p.bump()
	}
	last := &p.pieces[len(p.pieces)-1]
	last.n = repeat(last.n, low, high, lazy)
	if last.height++; last.height > maxNest {
		return p.tooDeep(at)
	}
	if p.big.end == 0 && max(low, high) > 1 && treeSize(last.n) >= sizeLimit {
		p.big = patternRange{at, p.pos}
	}
	return nil
}

// repeatCount reads a repetition in braces.
func (p *parser) repeatCount() *SyntaxError {
	at := p.pos
	if !p.repeatable() {
		return p.syntaxError(at, at, "repetition operator missing expression")
	}
	unclosed := func() *SyntaxError { return p.syntaxError(at, p.pos, "unclosed counted repetition") }
	if !p.bumpSpace() {
		return unclosed()
	}
	low, err := p.decimal()
	high := low
	if p.ch == eof {
		return unclosed()
	}
	if p.ch == ',' {
		if !p.bumpSpace() {
			return unclosed()
		}
		high = -1
		if p.ch != '}' && err == nil {
			high, err = p.decimal()
		}
	}
	if err != nil {
		return err
	}
	if p.ch != '}' {
		return unclosed()
	}
	p.bumpSpace()
	if high >= 0 && low > high {
		if p.ch == '?' {
			p.bump()
		}
		return p.syntaxError(at, p.pos, "invalid repetition count range, the start must be <= the end")
	}
	return p.repeat(low, high, at)
}

// decimal reads a number of at most 32 bits.
func (p *parser) decimal() (int, *SyntaxError) {
	for p.ch != eof && unicode.IsSpace(p.ch) {
		p.bump()
	}
	start := p.pos
	n, digits := int64(0), 0
	for p.ch >= '0' && p.ch <= '9' {
		n = min(n*10+int64(p.ch-'0'), math.MaxUint32+1)
		digits++
		p.bumpSpace()
	}
	end := p.pos
	for p.ch != eof && unicode.IsSpace(p.ch) {
		p.bumpSpace()
	}
	if digits == 0 {
		return 0, p.syntaxError(start, end, "repetition quantifier expects a valid decimal")
	}
	if n > math.MaxUint32 {
		return 0, p.syntaxError(start, end, "decimal literal invalid")
	}
	return int(min(n, math.MaxInt32)), nil // what is dropped is over the size limit twice
}
