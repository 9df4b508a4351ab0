package regex

// A bracket is an open character class.
type bracket struct {
	patternRange        // from [ to the first item
	negated      bool   //
	items        set    // of the union so far, not tidy
	count        int    // how many items that is
	height       int    // of the deepest of them
	op           string // what is to be done with left and the union: && -- ~~
	left         set    //
	leftTop      int    // the height of left
}

// add puts an item into the union of a class.
func (p *parser) add(b *bracket, s set, height int) {
	p.kept += len(s)
	b.items = append(b.items, s...)
	b.count++
	b.height = max(b.height, height)
}

// bracket reads a class in brackets.
func (p *parser) bracket() *SyntaxError {
	b, err := p.openBracket()
	if err != nil {
		return err
	}
	open := []*bracket{b}
	for len(open) > 0 {
		if p.kept > sizeLimit {
			return p.tooBig(patternRange{0, len(p.src)})
		}
		b = open[len(open)-1]
		p.skipSpace()
		switch {
		case p.ch == eof:
			return p.syntaxError(b.pos, b.end, "unclosed character class")
		case p.ch == '[':
			if p.namedClass(b) {
				continue
			}
			if len(open) > maxNest {
				return p.tooDeep(open[0].pos)
			}
			inner, err := p.openBracket()
			if err != nil {
				return err
			}
			open = append(open, inner)
		case p.ch == ']':
			p.bump()
			open = open[:len(open)-1]
			p.closeBracket(b, open)
		case p.take("&&"):
			p.operate(b, "&&")
		case p.take("--"):
			p.operate(b, "--")
		case p.take("~~"):
			p.operate(b, "~~")
		default:
			if err := p.classItem(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// openBracket reads from [ to the first item. A leading - and a leading ]
// stand for themselves.
func (p *parser) openBracket() (*bracket, *SyntaxError) {
	b := &bracket{patternRange: patternRange{pos: p.pos}}
	unclosed := func() (*bracket, *SyntaxError) {
		return nil, p.syntaxError(b.pos, p.pos, "unclosed character class")
	}
	if !p.bumpSpace() {
		return unclosed()
	}
	if p.ch == '^' {
		b.negated = true
		if !p.bumpSpace() {
			return unclosed()
		}
	}
	for p.ch == '-' {
		p.add(b, set{{'-', '-'}}, 0)
		if !p.bumpSpace() {
			return nil, p.syntaxError(b.pos, b.pos, "unclosed character class")
		}
	}
	if b.count == 0 && p.ch == ']' {
		p.add(b, set{{']', ']'}}, 0)
		if !p.bumpSpace() {
			return unclosed()
		}
	}
	b.end = p.pos
	return b, nil
}

// namedClass reads a [:name:], if there is one here.
func (p *parser) namedClass(b *bracket) bool {
	start := p.pos
	if !p.take("[:") {
		return false
	}
	negated := p.take("^")
	from := p.pos
	for p.ch != eof && p.ch != ':' {
		p.bump()
	}
	s, ok := asciiClass(p.src[from:p.pos])
	if !ok || !p.take(":]") {
		p.seek(start)
		return false
	}
	p.add(b, p.foldNegate(s, negated), 0)
	return true
}

// foldNegate returns a set with all cases of its letters, if asked, and
// then, if asked, what is not in that.
func (p *parser) foldNegate(s set, negated bool) set {
	if p.hasFlag(flagFold) {
		s = p.fold(s)
	}
	if negated {
		s = s.negate(p.maxCharacter())
	}
	return s
}

// closeBracket ends a class. It becomes an item of the one around it, or of
// the pattern.
func (p *parser) closeBracket(b *bracket, around []*bracket) {
	s, height := p.operand(b)
	s = p.foldNegate(s, b.negated)
	height++
	if len(around) > 0 {
		p.add(around[len(around)-1], s, height)
		return
	}
	if len(s) == 1 && s[0] == (runeRange{'\n', '\n'}) && p.newline.end == 0 {
		p.newline = patternRange{b.pos, p.pos}
	}
	p.push(p.classNode(s), height)
}

// operate does the operation that waits and lets the next one wait. All of
// them bind alike, to the left, and less than standing side by side.
func (p *parser) operate(b *bracket, op string) {
	b.left, b.leftTop = p.operand(b)
	b.op, b.items, b.count, b.height = op, nil, 0, 0
}

// operand returns the class so far.
func (p *parser) operand(b *bracket) (set, int) {
	s, height := normalizeRanges(b.items), b.height
	if b.count > 1 {
		height++
	}
	if b.op == "" {
		return s, height
	}
	left := b.left
	if p.hasFlag(flagFold) {
		s, left = p.fold(s), p.fold(left)
	}
	switch b.op {
	case "&&":
		s = left.and(s)
	case "--":
		s = left.minus(s)
	default:
		s = left.minus(s).or(s.minus(left))
	}
	return s, max(height, b.leftTop) + 1
}

// classItem reads a character, an escape or a range.
func (p *parser) classItem(b *bracket) *SyntaxError {
	first, err := p.classAtom()
	if err != nil {
		return err
	}
	p.skipSpace()
	if p.ch == eof {
		return p.syntaxError(b.pos, b.end, "unclosed character class")
	}
	next := rune(eof)
	if p.ch == '-' {
		next = p.peekNext(p.hasFlag(flagVerbose))
	}
	if p.ch != '-' || next == ']' || next == '-' {
		return p.classSingle(b, first)
	}
	if !p.bumpSpace() {
		return p.syntaxError(b.pos, b.end, "unclosed character class")
	}
	last, err := p.classAtom()
	if err != nil {
		return err
	}
	for _, a := range []atom{first, last} {
		if a.kind != atomRune && a.kind != atomByte {
			return p.syntaxError(a.pos, a.end, "invalid range boundary, must be a literal")
		}
	}
	if first.r > last.r {
		return p.syntaxError(first.pos, last.end, "invalid character class range, the start must be <= the end")
	}
	if p.inClass(first) && p.inClass(last) {
		p.add(b, addRange(nil, first.r, last.r), 0)
	}
	return nil
}

// classSingle adds an item that is no range.
func (p *parser) classSingle(b *bracket, a atom) *SyntaxError {
	switch a.kind {
	case atomLook:
		return p.syntaxError(a.pos, a.end, "invalid escape sequence found in character class")
	case atomSet:
		p.add(b, a.set, 0)
	default:
		if p.inClass(a) {
			p.add(b, set{{a.r, a.r}}, 0)
		}
	}
	return nil
}

// classAtom reads a character or an escape.
func (p *parser) classAtom() (atom, *SyntaxError) {
	if p.ch == '\\' {
		return p.escape()
	}
	return p.verbatim(), nil
}

// inClass reports whether a character may stand in a class: in byte mode
// only ASCII and \xNN may.
func (p *parser) inClass(a atom) bool {
	if p.hasFlag(flagUnicode) || a.r < 0x80 || a.kind == atomByte {
		return true
	}
	p.doubt(a.pos, a.end, "Unicode not allowed here")
	return false
}
