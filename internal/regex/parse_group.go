package regex

import "unicode"

// openGroup reads from an opening parenthesis to the first item in it.
func (p *parser) openGroup() *SyntaxError {
	at := p.pos
	p.bump()
	p.skipSpace()
	if p.take("?=") || p.take("?!") || p.take("?<=") || p.take("?<!") {
		return p.syntaxError(at, p.pos, "look-around, including look-ahead and look-behind, is not supported")
	}
	inner, old := p.pos, p.flags
	if p.take("?P<") || p.take("?<") {
		if err := p.groupName(); err != nil {
			return err
		}
	} else if p.take("?") {
		if p.ch == eof {
			return p.syntaxError(at, at+1, "unclosed group")
		}
		set, clear, err := p.readFlags()
		if err != nil {
			return err
		}
		end := p.ch
		p.bump()
		if end == ')' && set|clear == 0 {
			return p.syntaxError(inner, inner, "repetition operator missing expression")
		}
		p.flags = p.flags&^clear | set
		if end == ')' {
			p.pieces = append(p.pieces, piece{bare: true})
			return nil
		}
	}
	if len(p.groups) > maxNest {
		return p.tooDeep(at)
	}
	p.groups = append(p.groups, group{at: at, base: len(p.pieces), flags: old})
	return nil
}

// groupName reads the name of a group. Names mean nothing here but must be
// in order.
func (p *parser) groupName() *SyntaxError {
	start := p.pos
	for p.ch != eof && p.ch != '>' {
		ok := p.ch == '_' || unicode.IsLetter(p.ch) || alphabetic(p.ch)
		if p.pos > start {
			ok = ok || p.ch == '.' || p.ch == '[' || p.ch == ']' || unicode.IsNumber(p.ch)
		}
		if !ok {
			return p.syntaxError(p.pos, p.pos+p.width, "invalid capture group character")
		}
		p.bump()
	}
	if p.ch == eof {
		return p.syntaxError(p.pos, p.pos, "unclosed capture group name")
	}
	name, here := p.src[start:p.pos], patternRange{start, p.pos}
	p.bump()
	if name == "" {
		return p.syntaxError(start, start, "empty capture group name")
	}
	if first, ok := p.names[name]; ok {
		err := p.syntaxError(here.pos, here.end, "duplicate capture group name")
		err.first = first
		return err
	}
	if p.names == nil {
		p.names = map[string]patternRange{}
	}
	p.names[name] = here
	return nil
}

// readFlags reads flags up to their colon or parenthesis.
func (p *parser) readFlags() (set, clear flags, err *SyntaxError) {
	minus := patternRange{-1, -1}
	var where [8]patternRange
	for p.ch != ':' && p.ch != ')' {
		here := patternRange{p.pos, p.pos + p.width}
		if p.ch == '-' {
			if minus.pos >= 0 {
				err = p.syntaxError(here.pos, here.end, "flag negation operator repeated")
				err.first = minus
				return 0, 0, err
			}
			minus = here
		} else {
			bit, f := flagOf(p.ch)
			if f == 0 {
				return 0, 0, p.syntaxError(here.pos, here.end, "unrecognized flag")
			}
			if (set|clear)&f != 0 {
				err = p.syntaxError(here.pos, here.end, "duplicate flag")
				err.first = where[bit]
				return 0, 0, err
			}
			where[bit] = here
			if minus.pos >= 0 {
				clear |= f
			} else {
				set |= f
			}
		}
		if !p.bump() {
			return 0, 0, p.syntaxError(p.pos, p.pos, "expected flag but got end of regex")
		}
	}
	if minus.pos >= 0 && minus.end == p.pos {
		return 0, 0, p.syntaxError(minus.pos, minus.end, "dangling flag negation operator")
	}
	return set, clear, nil
}

// flagOf returns the flag of a letter and its number.
func flagOf(c rune) (bit int, f flags) {
	switch c {
	case 'i':
		bit, f = 0, flagFold
	case 'm':
		bit, f = 1, flagLines
	case 's':
		bit, f = 2, flagDotAll
	case 'U':
		bit, f = 3, flagSwap
	case 'u':
		bit, f = 4, flagUnicode
	case 'R':
		bit, f = 5, flagCRLF
	case 'x':
		bit, f = 6, flagVerbose
	}
	return bit, f
}

// closeGroup reads a closing parenthesis.
func (p *parser) closeGroup() *SyntaxError {
	if len(p.groups) == 1 {
		return p.syntaxError(p.pos, p.pos+p.width, "unopened group")
	}
	g := p.groups[len(p.groups)-1]
	whole := p.endGroup()
	p.groups = p.groups[:len(p.groups)-1]
	p.flags = g.flags
	p.bump()
	p.pieces = append(p.pieces, piece{n: whole.n, height: whole.height + 1})
	return nil
}

// endGroup makes one piece of the alternatives of the innermost group.
func (p *parser) endGroup() piece {
	g := &p.groups[len(p.groups)-1]
	last := p.endConcat(g.base)
	if g.alts == nil {
		return last
	}
	all := append(g.alts, last)
	nodes := make([]*node, len(all))
	height := 0
	for i, a := range all {
		nodes[i] = a.n
		height = max(height, a.height)
	}
	return piece{n: either(nodes), height: height + 1}
}

// endConcat takes the pieces from base on off and makes one of them.
func (p *parser) endConcat(base int) piece {
	items := p.pieces[base:]
	p.pieces = p.pieces[:base]
	nodes := make([]*node, 0, len(items))
	height := 0
	for _, it := range items {
		height = max(height, it.height)
		if it.n != nil {
			nodes = append(nodes, it.n)
		}
	}
	if len(items) > 1 {
		height++
	}
	return piece{n: concat(nodes), height: height}
}
