package regex

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

const (
	eof = -1

	// maxNest is how deep a pattern may be nested: ripgrep's limit, whose
	// own group around the pattern counts.
	maxNest = 250

	// maxPattern is how many bytes a pattern may have.
	maxPattern = 256 << 10
)

// flags are the flags that a pattern may set for a part of itself.
type flags uint8

const (
	flagFold    flags = 1 << iota // i: either case
	flagLines                     // m: ^ and $ at lines
	flagDotAll                    // s: the dot takes \n too
	flagSwap                      // U: lazy unless marked otherwise
	flagUnicode                   // u: characters, not bytes
	flagCRLF                      // R: \r\n ends a line
	flagVerbose                   // x: white space and comments mean nothing
)

// A parser reads one pattern. It keeps its own stacks, so that no pattern
// can exhaust Go's.
//
// Like Rust's parser it finds errors of syntax first, wherever they stand,
// and only then those of meaning, such as an unknown Unicode property.
type parser struct {
	src   string
	pos   int
	ch    rune // the character at pos, or eof
	width int  // its length
	flags flags

	pieces []piece // of all open concatenations
	groups []group // open groups; the first is the whole pattern
	names  map[string]patternRange

	late    *SyntaxError       // the first error of meaning
	newline patternRange       // the first \n that is asked for
	big     patternRange       // the first repetition beyond all bounds
	kept    int                // ranges in the nodes so far
	perls   [6]set             // \d \s \w \D \S \W, once asked for
	sets    map[string]set     // properties by what they were asked as
	cuts    map[*runeRange]set // classes by their first range, without \n

	nodes  []node      // allocated in advance
	ranges []runeRange // allocated in advance
}

// A piece is an item of a concatenation.
type piece struct {
	n      *node
	height int  // levels of the syntax below and including it
	bare   bool // a (?flags): nothing that could be repeated
}

// A group is an open parenthesis.
type group struct {
	at    int     // where it opened
	base  int     // its first piece
	alts  []piece // the finished alternatives
	flags flags   // those to return to when it closes
}

// parse reads a pattern. What is wrong with it is a *SyntaxError.
func parse(pattern string, opt Options) (*node, error) {
	if err := acceptable(pattern); err != nil {
		return nil, err
	}
	p := &parser{src: pattern, flags: flagUnicode | flagLines}
	if opt.IgnoreCase {
		p.flags |= flagFold
	}
	p.load()
	n, err := p.run(opt.Literal)
	if err != nil {
		err.Hint = hint(err)
		return nil, err
	}
	if opt.Word {
		n = concat([]*node{{kind: kindLook, look: lookWordStartHalf}, n, {kind: kindLook, look: lookWordEndHalf}})
	}
	return n, nil
}

// acceptable refuses what is no pattern at all.
func acceptable(pattern string) error {
	if len(pattern) > maxPattern {
		return &SyntaxError{Pattern: pattern[:0], Reason: fmt.Sprintf("the pattern is too long: %d bytes, and %d is the most", len(pattern), maxPattern), Hint: "search for one part at a time"}
	}
	if utf8.ValidString(pattern) {
		return nil
	}
	at := 0
	for {
		r, w := utf8.DecodeRuneInString(pattern[at:])
		if r == utf8.RuneError && w == 1 {
			return &SyntaxError{Pattern: pattern, Pos: at, End: at + 1, Reason: "pattern is not valid UTF-8", Hint: `write a byte that is no text as (?-u:\xFF)`}
		}
		at += w
	}
}

// run reads the whole pattern.
func (p *parser) run(literal bool) (*node, *SyntaxError) {
	p.groups = append(p.groups, group{})
	for {
		if !literal {
			p.skipSpace()
		}
		if p.ch == eof {
			break
		}
		var err *SyntaxError
		if literal {
			p.addLiteral(p.verbatim())
		} else {
			err = p.parseItem()
		}
		if err != nil {
			return nil, err
		}
		if p.kept > sizeLimit {
			return nil, p.tooBig(patternRange{0, len(p.src)})
		}
	}
	if g := p.groups[len(p.groups)-1]; len(p.groups) > 1 {
		return nil, p.syntaxError(g.at, g.at+1, "unclosed group")
	}
	whole := p.endGroup()
	if whole.height+1 > maxNest {
		return nil, p.tooDeep(0)
	}
	if p.late != nil {
		return nil, p.late
	}
	return p.checkTree(whole.n)
}

// parseItem reads one item.
func (p *parser) parseItem() *SyntaxError {
	switch p.ch {
	case '(':
		return p.openGroup()
	case ')':
		return p.closeGroup()
	case '|':
		g := &p.groups[len(p.groups)-1]
		g.alts = append(g.alts, p.endConcat(g.base))
		p.bump()
	case '[':
		return p.bracket()
	case '?', '*', '+':
		return p.repeatSign()
	case '{':
		return p.repeatCount()
	case '\\':
		return p.backslash()
	case '.':
		p.push(p.dot(), 0)
		p.bump()
	case '^', '$':
		p.anchor()
	default:
		p.addLiteral(p.verbatim())
	}
	return nil
}

// load reads the character at pos.
func (p *parser) load() {
	switch {
	case p.pos >= len(p.src):
		p.ch, p.width = eof, 0
	case p.src[p.pos] < utf8.RuneSelf:
		p.ch, p.width = rune(p.src[p.pos]), 1
	default:
		p.ch, p.width = utf8.DecodeRuneInString(p.src[p.pos:])
	}
}

// seek goes to an offset.
func (p *parser) seek(pos int) {
	p.pos = pos
	p.load()
}

// bump goes on by one character and reports whether there is another.
func (p *parser) bump() bool {
	p.pos += p.width
	p.load()
	return p.ch != eof
}

// bumpSpace goes on by one character and over what (?x) ignores.
func (p *parser) bumpSpace() bool {
	p.bump()
	p.skipSpace()
	return p.ch != eof
}

// take goes over the text if it stands here.
func (p *parser) take(text string) bool {
	if len(p.src)-p.pos < len(text) || p.src[p.pos:p.pos+len(text)] != text {
		return false
	}
	p.seek(p.pos + len(text))
	return true
}

// skipSpace goes over white space and comments under (?x).
func (p *parser) skipSpace() {
	if p.flags&flagVerbose == 0 {
		return
	}
	for p.ch != eof {
		if p.ch == '#' {
			for p.ch != eof && p.ch != '\n' {
				p.bump()
			}
			p.bump()
		} else if unicode.IsSpace(p.ch) {
			p.bump()
		} else {
			return
		}
	}
}

// peekNext returns the character after this one, under (?x) past white space.
func (p *parser) peekNext(verbose bool) rune {
	rest := p.src[p.pos+p.width:]
	comment := false
	for _, c := range rest {
		switch {
		case !verbose:
			return c
		case unicode.IsSpace(c):
		case c == '#' && !comment:
			comment = true // Rust's parser looks no further than this either
		default:
			return c
		}
	}
	return eof
}

// syntaxError returns an error of syntax.
func (p *parser) syntaxError(pos, end int, reason string) *SyntaxError {
	return &SyntaxError{Pattern: p.src, Pos: pos, End: end, Reason: reason}
}

// doubt records a semantic error to be returned after the syntax errors, if it is the first.
func (p *parser) doubt(pos, end int, reason string) {
	if p.late == nil {
		p.late = p.syntaxError(pos, end, reason)
	}
}

// tooDeep returns the error of a pattern nested too deep.
func (p *parser) tooDeep(at int) *SyntaxError {
	return p.syntaxError(at, p.pos, fmt.Sprintf("exceed the maximum number of nested parentheses/brackets (%d)", maxNest))
}

// newNode returns a new node of a kind.
func (p *parser) newNode(k kind) *node {
	if len(p.nodes) == 0 {
		p.nodes = make([]node, 16)
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	n.kind = k
	return n
}

// push adds an item to the open concatenation.
func (p *parser) push(n *node, height int) {
	p.kept += len(n.runes)
	p.pieces = append(p.pieces, piece{n: n, height: height})
}

// hasFlag reports whether a flag is set.
func (p *parser) hasFlag(f flags) bool { return p.flags&f != 0 }

// maxCharacter is the last character there is: a byte in byte mode.
func (p *parser) maxCharacter() rune {
	if p.hasFlag(flagUnicode) {
		return maxRune
	}
	return maxByte
}
