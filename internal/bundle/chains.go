package bundle

import "strings"

// What compilers need more than their share of stack or time for, though
// little or nothing of it lies in brackets. The figures are far beyond what
// people and other compilers write, and are worked through within seconds.
const (
	maxChain     = 10_000        // members, calls and indexes behind each other
	maxSequence  = 10_000        // expressions with commas between them
	sequenceWork = 200_000_000   // steps, when each costs as many as came before it
	sumWork      = 1_000_000_000 // bytes, when each sign copies what came before it
	caseWork     = 1_000_000_000 // bytes, when each case that is there twice is looked for
	declareWork  = 1_000_000_000 // steps, when each name is compared to those before it
)

// An excess is why a file is not given to the compiler.
type excess struct {
	line int
	text string
}

func (e *excess) Error() string { return e.text }

// A chain is what is known of the present expression and statement of a level.
type chain struct {
	depth    int  // of the present operand: what is behind it, and what is in it
	peak     int  // the most there was on the level
	call     bool // commas are between arguments or elements
	list     bool // commas are between declarations
	keyed    bool // the present element has a key
	tokens   int  // since the last comma
	sequence int  // commas in the present expression
	sum      int  // where the present sum began
	names    int  // declared so far
	spaces   bool // points are between the names of namespaces
	cases    map[string]bool
}

// startStatement begins a statement.
func (c *chain) startStatement() {
	c.sequence, c.sum, c.tokens, c.list, c.keyed, c.spaces = 0, 0, 0, false, false, false
}

// startsStatement reports whether a token behind a line or a block that could end a
// statement does begin another one.
func startsStatement(c byte, rest string) bool {
	return wordByte(c) || strings.IndexByte("\"'{#@!~", c) >= 0 || strings.HasPrefix(rest, "++") || strings.HasPrefix(rest, "--")
}

// work is what a file asks of compilers beyond reading it once.
type work struct{ sequence, sum, names, cases int }

// excess names the limit that is exceeded.
func (n *nester) excess() string {
	l := n.currentLevel()
	switch {
	case n.most > maxNesting, l.peak > maxChain:
		return "nested too deeply"
	case l.sequence > maxSequence, n.work.sequence > sequenceWork, n.work.sum > sumWork:
		return "an expression is too long: write it as several statements, or as a list"
	case n.work.names > declareWork:
		return "too many names are declared in one place: use a list or an object"
	case n.work.cases > caseWork:
		return "too many cases are there twice"
	}
	return ""
}

// operand begins a new operand.
func (n *nester) operand() {
	l := n.currentLevel()
	l.depth = 0
	l.tokens++
}

// readOperandSuffix takes note of a template, or of another thing that belongs to the
// operand before it if there is one, and reports whether there is.
func (n *nester) readOperandSuffix() bool {
	if n.last != '.' && n.operandNext() {
		n.operand()
		return false
	}
	n.deeper(1)
	return true
}

func (n *nester) deeper(by int) {
	l := n.currentLevel()
	l.depth += by
	l.tokens++
	l.peak = max(l.peak, l.depth)
}

// openLevel gives the chain of a level that begins here.
func (n *nester) openLevel(open byte) chain {
	if open == '`' {
		return chain{}
	}
	if open == '{' {
		n.currentLevel().tokens++
		return chain{}
	}
	behind := n.readOperandSuffix() && !headWord(n.word)
	call := wordByte(n.last) && !headWord(n.word) || n.last == ']' || n.last == '"'
	return chain{call: open == '[' && !behind || open == '(' && call && !n.lineStart()}
}

// lineStart reports whether there is nothing on the line before this.
func (n *nester) lineStart() bool {
	at := n.at
	for at > 0 && (n.text[at-1] == ' ' || n.text[at-1] == '\t' || n.text[at-1] == '\r') {
		at--
	}
	return at == 0 || n.text[at-1] == '\n'
}

// headWord reports whether a bracket after a word does not begin arguments.
func headWord(word string) bool {
	switch word {
	case "if", "while", "for", "switch", "with", "return", "throw", "case", "default", "else", "do", "in", "of",
		"instanceof", "typeof", "void", "delete", "await", "yield", "new", "extends", "export", "as", "satisfies":
		return true
	}
	return false
}

// closed takes the chain of a level that ends here into the one around it.
func (n *nester) closed(inner chain) {
	l := n.currentLevel()
	l.depth = max(l.depth, inner.peak+1)
	l.peak = max(l.peak, l.depth)
}

// begin records a word.
func (n *nester) begin(word string) {
	if n.last == '.' || n.last == '#' {
		n.currentLevel().tokens++
		return
	}
	n.operand()
	switch word {
	case "var", "const", "let":
		l := n.currentLevel()
		if l.list = n.nameNext("[{\\/"); l.list {
			l.sequence = 0
			n.declare()
		}
	case "namespace", "module":
		n.currentLevel().spaces = n.nameNext("")
	case "function", "class":
		n.declare()
	case "case":
		n.choice()
	}
}

// nameNext reports whether a name comes next, or one of some signs.
func (n *nester) nameNext(signs string) bool {
	rest := strings.TrimLeft(n.text[n.at:min(len(n.text), n.at+64)], " \t\r\n")
	return rest != "" && (wordByte(rest[0]) || strings.IndexByte(signs, rest[0]) >= 0)
}

// choice takes note of a case. The compiler warns of one that is there twice,
// and counts all the bytes of the line to say where.
func (n *nester) choice() {
	key, _, _ := strings.Cut(n.text[n.at:min(len(n.text), n.at+64)], ":")
	key = strings.Trim(key, " \t\r\n(")
	l := n.currentLevel()
	if l.cases == nil {
		l.cases = map[string]bool{}
	}
	if l.cases[key] || strings.ContainsAny(key, `\/`) {
		n.work.cases += n.at
	}
	l.cases[key] = true
}

// copied is what each byte of a sum is to be counted as, for parts of
// templates take more memory than their text.
func (n *nester) copied() int {
	if n.at > 0 && n.text[n.at-1] == '`' || strings.HasPrefix(n.text[n.at+1:], "`") {
		return 8
	}
	return 1
}

// declare takes note of a name.
func (n *nester) declare() {
	l := n.currentLevel()
	l.names++
	n.work.names += l.names
}

// comma takes note of a comma, which may be one between expressions.
func (n *nester) comma() {
	l := n.currentLevel()
	switch {
	case l.list:
		n.declare()
	case !l.call && !l.keyed:
		l.sequence++
		n.work.sequence += l.sequence
	}
	l.keyed, l.tokens, l.depth, l.sum = false, 0, 0, 0
}

// sign takes note of an operator.
func (n *nester) sign(c byte) {
	l := n.currentLevel()
	switch {
	case c == '.':
		n.deeper(1)
		if l.spaces {
			n.grow(&l.expression, scopeWeight)
		}
	case c == ':':
		l.keyed = l.keyed || l.tokens == 1
	case c == '+':
		if l.sum == 0 {
			l.sum = n.at
		}
		n.work.sum += (n.at - l.sum) * n.copied()
	case c == '#':
		n.declare()
	case c == ',':
	default:
		l.tokens++
	}
}

// tooMuch reports whether a compiler should not be given the source, and
// then makes that its error.
func (s *sourceFile) tooMuch() bool {
	s.err = nesting(s.raw)
	return s.err != nil
}
