package search

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// A dialect is one of two glob syntaxes, which differ in braces and in the meaning of a backslash
// between brackets.
type dialect uint8

const (
	// gitDialect is that of ignore files: braces are ordinary characters, a
	// backslash between brackets escapes, [[:alpha:]] is a class, and a bracket
	// that nothing closes is an ordinary character.
	gitDialect dialect = iota
	// globDialect is that of globs given by a caller, as ripgrep's --glob reads
	// them: {a,b} is a choice, a backslash between brackets is itself, and a
	// bracket that nothing closes is an error.
	globDialect
)

// maxGlob is the longest glob that is compiled, in bytes. It bounds what one
// line of an ignore file can cost for each name it is compared with.
const maxGlob = 4096

// maxNesting is how deep braces may be nested.
const maxNesting = 32

// ErrGlob is wrapped by the error of a search with invalid globs.
var ErrGlob = errors.New("bad glob")

var (
	errGlobLong    = errors.New("longer than 4096 bytes")
	errGlobEscape  = errors.New("a backslash at the end escapes nothing")
	errGlobBracket = errors.New("a bracket is not closed")
	errGlobRange   = errors.New("a range ends before it starts")
	errGlobBrace   = errors.New("braces do not pair up")
	errGlobNesting = errors.New("braces are nested too deep")
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokByte       tokenKind = iota // that byte
	tokAny                         // ?, a byte that is not a slash
	tokStar                        // *, bytes that are not slashes
	tokClass                       // [..], a byte of a set
	tokDeepPrefix                  // **/ at the start: nothing, or folders
	tokDeepMiddle                  // /**/: a slash, or folders between two
	tokDeepSuffix                  // /** at the end: a slash and anything
	tokEither                      // {a,b}
)

// A token is a piece of a parsed glob.
type token struct {
	kind     tokenKind
	char     byte
	set      *byteSet
	branches [][]token
}

// A byteSet is a set of bytes. Names are bytes, and so are globs: a ? takes
// one byte, as in git and ripgrep.
type byteSet [4]uint64

func (s *byteSet) add(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		s[b>>6] |= 1 << (b & 63)
	}
}

func (s *byteSet) contains(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

// A globParser reads a glob. The branches are those of the braces still open;
// the first is the glob itself.
type globParser struct {
	text     string
	pos      int
	dialect  dialect
	branches [][]token
	opened   []int // where in branches each open brace began
	unclosed bool  // no bracket closes any more
}

// parseGlob reads a glob into tokens.
func parseGlob(text string, d dialect) ([]token, error) {
	if len(text) > maxGlob {
		return nil, errGlobLong
	}
	p := &globParser{text: text, dialect: d, branches: make([][]token, 1, 4)}
	p.branches[0] = make([]token, 0, len(text))
	for p.pos < len(text) {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	if len(p.opened) > 0 {
		return nil, errGlobBrace
	}
	return p.branches[0], nil
}

func (p *globParser) next() error {
	c := p.text[p.pos]
	p.pos++
	switch {
	case c == '?':
		p.push(token{kind: tokAny})
	case c == '*':
		p.star()
	case c == '[' && !p.unclosed:
		return p.class()
	case c == '\\':
		if p.pos == len(p.text) {
			return errGlobEscape
		}
		p.push(token{kind: tokByte, char: p.text[p.pos]})
		p.pos++
	case p.dialect == globDialect && (c == '{' || c == '}' || c == ','):
		return p.brace(c)
	default:
		p.push(token{kind: tokByte, char: c})
	}
	return nil
}

func (p *globParser) push(t token) {
	last := len(p.branches) - 1
	p.branches[last] = append(p.branches[last], t)
}

// pop takes back the last token of the branch, which has one.
func (p *globParser) pop() token {
	last := len(p.branches) - 1
	branch := p.branches[last]
	t := branch[len(branch)-1]
	p.branches[last] = branch[:len(branch)-1]
	return t
}

func (p *globParser) brace(c byte) error {
	switch {
	case c == '{':
		if len(p.opened) == maxNesting {
			return errGlobNesting
		}
		p.opened = append(p.opened, len(p.branches))
		p.branches = append(p.branches, nil)
	case c == ',' && len(p.opened) == 0:
		p.push(token{kind: tokByte, char: c})
	case c == ',':
		p.branches = append(p.branches, nil)
	case len(p.opened) == 0:
		return errGlobBrace
	default:
		start := p.opened[len(p.opened)-1]
		p.opened = p.opened[:len(p.opened)-1]
		branches := append([][]token(nil), p.branches[start:]...)
		p.branches = p.branches[:start]
		p.push(token{kind: tokEither, branches: branches})
	}
	return nil
}

// star reads * or **, the first of which was taken. Two stars mean folders
// only where they are a whole component, otherwise they are one star twice.
func (p *globParser) star() {
	before := byte(0)
	if p.pos >= 2 {
		before = p.text[p.pos-2]
	}
	if p.peek() != '*' {
		p.push(token{kind: tokStar})
		return
	}
	p.pos++
	after, atEnd := p.peek(), p.pos == len(p.text)
	inBraces := len(p.opened) > 0
	switch {
	case len(p.branches[len(p.branches)-1]) == 0:
		if !atEnd && after != '/' {
			p.push(token{kind: tokStar})
			return
		}
		p.pos = min(p.pos+1, len(p.text))
		p.push(token{kind: tokDeepPrefix})
	case before != '/' && (!inBraces || before != ',' && before != '{'):
		p.push(token{kind: tokStar})
	case atEnd || inBraces && (after == ',' || after == '}'):
		p.deepen(tokDeepSuffix)
	case after == '/':
		p.pos++
		p.deepen(tokDeepMiddle)
	default:
		p.push(token{kind: tokStar})
	}
}

// deepen puts a token for folders in the place of the slash before it, and
// makes **/** the same as **.
func (p *globParser) deepen(kind tokenKind) {
	if t := p.pop(); t.kind == tokDeepPrefix || t.kind == tokDeepSuffix {
		kind = t.kind
	}
	p.push(token{kind: kind})
}

// peek is the next byte, 0 at the end.
func (p *globParser) peek() byte {
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

// class parses a set after its opening bracket. The set never contains the slash.
func (p *globParser) class() error {
	start := p.pos
	set, err := p.set()
	if errors.Is(err, errGlobBracket) && p.dialect == gitDialect {
		p.pos, p.unclosed = start, true
		p.push(token{kind: tokByte, char: '['})
		return nil
	}
	if err != nil {
		return err
	}
	p.push(token{kind: tokClass, set: set})
	return nil
}

// A setReader gathers the characters between brackets.
type setReader struct {
	set  byteSet
	low  string // the last character, or the first of the last range
	have bool   // there is one, so a - goes on from it
	open bool   // there was a - after it
}

func (p *globParser) set() (*byteSet, error) {
	negated := p.peek() == '!' || p.peek() == '^'
	if negated {
		p.pos++
	}
	var r setReader
	for first := true; ; first = false {
		switch c := p.peek(); {
		case p.pos == len(p.text):
			return nil, errGlobBracket
		case c == ']' && !first:
			p.pos++
			return r.complement(negated), nil
		case p.posix(&r.set):
			r.have = false
		case c == '-' && r.have && !r.open:
			p.pos++
			r.open = true
		default:
			member, err := p.member()
			if err == nil {
				err = r.add(member)
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

// add takes a character, or the end of a range. The end of a range is not the
// start of the next: a-c-e is a-e.
func (r *setReader) add(c string) error {
	if r.open {
		r.open = false
		return addRange(&r.set, r.low, c)
	}
	addChar(&r.set, c)
	r.low, r.have = c, true
	return nil
}

func (r *setReader) complement(negated bool) *byteSet {
	if r.open {
		r.set.add('-', '-')
	}
	if negated {
		for i := range r.set {
			r.set[i] = ^r.set[i]
		}
	}
	r.set['/'>>6] &^= 1 << ('/' & 63)
	return &r.set
}

// member takes a character of a set: a byte, or the bytes of a rune.
func (p *globParser) member() (string, error) {
	if p.dialect == gitDialect && p.peek() == '\\' {
		p.pos++
		if p.pos == len(p.text) {
			return "", errGlobBracket
		}
	}
	_, size := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += size
	return p.text[p.pos-size : p.pos], nil
}

// posix takes a class such as [:alpha:], in ignore files only.
func (p *globParser) posix(set *byteSet) bool {
	rest, ok := strings.CutPrefix(p.text[p.pos:], "[:")
	if !ok || p.dialect != gitDialect {
		return false
	}
	name, _, ok := strings.Cut(rest, ":]")
	ranges := posixRanges(name)
	if !ok || ranges == "" {
		return false
	}
	for i := 0; i < len(ranges); i += 2 {
		set.add(ranges[i], ranges[i+1])
	}
	p.pos += len("[:") + len(name) + len(":]")
	return true
}

// posixRanges are the bytes of a named class, as pairs of first and last.
func posixRanges(name string) string {
	switch name {
	case "alnum":
		return "09AZaz"
	case "alpha":
		return "AZaz"
	case "blank":
		return "  \t\t"
	case "cntrl":
		return "\x00\x1f\x7f\x7f"
	case "digit":
		return "09"
	case "graph":
		return "!~"
	case "lower":
		return "az"
	case "print":
		return " ~"
	case "punct":
		return "!/:@[`{~"
	case "space":
		return "\t\r  "
	case "upper":
		return "AZ"
	case "xdigit":
		return "09AFaf"
	}
	return ""
}

// addChar adds the bytes of a character.
func addChar(set *byteSet, c string) {
	for i := range len(c) {
		set.add(c[i], c[i])
	}
}

// addRange adds a range of characters whose first is in the set already. Of
// characters of several bytes it takes the last byte of the one and the first
// of the other as the ends, which is what both git and ripgrep come to.
func addRange(set *byteSet, low, high string) error {
	if low > high {
		return errGlobRange
	}
	if low != high {
		set.add(low[len(low)-1], max(low[len(low)-1], high[0]))
	}
	addChar(set, high)
	return nil
}
