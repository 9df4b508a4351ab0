package bundle

import "strings"

// maxNesting is how deep a file may nest. The compiler goes down by calling
// itself, and a goroutine that runs out of stack ends the whole program; that
// takes some hundred thousand levels, while people write dozens and programs
// that write programs, hundreds.
const maxNesting = 3000

// nesting estimates how deep the parts of a script lie in each other:
// brackets, and operators and words behind which a whole expression or
// statement follows. It reads no grammar, so it is a guard against accidents
// and plain malice, not a proof.
//
// It also counts what compilers need more time for than there is text; see
// chains.go. What it returns says what is too much, if anything is.
func nesting(text string) error {
	n := nester{text: text, levels: []level{{}}}
	for n.at < len(text) {
		n.step()
		if why := n.excess(); why != "" {
			return &excess{line: strings.Count(text[:min(n.at, len(text))], "\n") + 1, text: why}
		}
	}
	return nil
}

// scopeWeight is what a level that may be a function counts: the time to
// compile functions in functions grows with the third power of their number.
const scopeWeight = 10

// A level is what is open inside of one bracket.
type level struct {
	open       byte
	weight     int
	expression int  // operators that still wait for the end of their operand
	statement  int  // words that still wait for the end of their statement
	ended      bool // a statement ended, and an else may still take it up
	chain
}

type nester struct {
	text   string
	at     int
	levels []level
	total  int // of all levels, their own weight included
	most   int
	last   byte   // last byte of the last token
	word   string // the last token, if it was a word
	work   work
}

// step reads one token, or what is between tokens.
func (n *nester) step() {
	c := n.text[n.at]
	rest := n.text[n.at:]
	if n.skipBlank(c, rest) {
		return
	}
	if l := n.currentLevel(); l.ended {
		l.ended = false
		n.closePending(!strings.HasPrefix(rest, "else"))
		if startsStatement(c, rest) {
			l.startStatement()
		}
	}
	switch c {
	case '"', '\'':
		n.operand()
		n.skipQuoted(c)
	case '`':
		n.readOperandSuffix()
		n.at++
		n.template()
	case '(', '[', '{':
		n.push(c)
	case ')', ']', '}':
		n.pop(c)
	default:
		switch {
		case c == '/' && n.operandNext():
			n.operand()
			n.skipQuoted(c)
		case wordByte(c):
			n.readWord()
		default:
			n.operator(c, rest)
		}
	}
}

// skipBlank passes spaces, ends of lines and comments.
func (n *nester) skipBlank(c byte, rest string) bool {
	switch {
	case c == '\n':
		// The end of a line ends an expression that could end here; a statement too, unless its head
		// has only just been closed.
		if !n.operandNext() {
			n.closePending(false)
			n.currentLevel().ended = n.currentLevel().ended || n.last != ')'
		}
		n.at++
	case c == ' ' || c == '\t' || c == '\r':
		n.at++
	case strings.HasPrefix(rest, "//"):
		n.skipTo("\n", 2)
	case strings.HasPrefix(rest, "/*"):
		n.skipTo("*/", 2)
		n.at = min(len(n.text), n.at+2)
	default:
		return false
	}
	return true
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (n *nester) skipTo(end string, from int) {
	if i := strings.Index(n.text[n.at+from:], end); i >= 0 {
		n.at += from + i
	} else {
		n.at = len(n.text)
	}
}

// skipQuoted passes a string or a regular expression, which end with their line
// at the latest.
func (n *nester) skipQuoted(quote byte) {
	class := false
	for n.at++; n.at < len(n.text); n.at++ {
		switch c := n.text[n.at]; {
		case c == '\\':
			n.at++
		case c == '\n':
			n.token(quote)
			return
		case quote == '/' && (c == '[' || c == ']'):
			class = c == '['
		case c == quote && !class:
			n.at++
			n.token('"')
			return
		}
	}
	n.at = min(n.at, len(n.text))
}

// template passes the text of a template up to its end or to a value in it.
func (n *nester) template() {
	for ; n.at < len(n.text); n.at++ {
		switch {
		case n.text[n.at] == '\\':
			n.at++
		case n.text[n.at] == '`':
			n.at++
			n.token('"')
			return
		case strings.HasPrefix(n.text[n.at:], "${"):
			n.at++
			n.push('`')
			return
		}
	}
	n.at = min(n.at, len(n.text))
}

func (n *nester) token(last byte) { n.last, n.word = last, "" }

func (n *nester) grow(counter *int, by int) {
	*counter += by
	n.total += by
	n.most = max(n.most, n.total)
}

func (n *nester) currentLevel() *level { return &n.levels[len(n.levels)-1] }

func (n *nester) push(open byte) {
	weight := 1
	if open == '{' {
		weight = scopeWeight
	}
	n.levels = append(n.levels, level{open: open, weight: weight, chain: n.openLevel(open)})
	n.total += weight
	n.most = max(n.most, n.total)
	n.at++
	n.token('(')
}

func (n *nester) pop(closer byte) {
	n.at++
	if len(n.levels) == 1 {
		return
	}
	l := *n.currentLevel()
	n.levels = n.levels[:len(n.levels)-1]
	n.total -= l.weight + l.expression + l.statement
	n.closed(l.chain)
	n.token(closer)
	if l.open == '`' {
		n.template()
	} else if closer == '}' {
		n.currentLevel().ended = true
	}
}

// closePending ends what waits on the present level.
func (n *nester) closePending(statements bool) {
	l := n.currentLevel()
	n.total -= l.expression
	l.expression = 0
	if statements {
		n.total -= l.statement
		l.statement = 0
	}
}

// operandNext reports whether an operand must follow, so that a slash begins a regular expression.
func (n *nester) operandNext() bool {
	switch n.word {
	case "return", "typeof", "case", "in", "of", "void", "delete", "await", "yield", "else", "do", "new", "throw":
		return true
	}
	return n.last != ')' && n.last != ']' && n.last != '}' && n.last != '"' && !wordByte(n.last)
}

func (n *nester) readWord() {
	start := n.at
	for n.at < len(n.text) && wordByte(n.text[n.at]) {
		n.at++
	}
	n.begin(n.text[start:n.at])
	n.last, n.word = n.text[n.at-1], n.text[start:n.at]
	switch n.word {
	case "typeof", "void", "delete", "await", "yield", "new", "keyof", "infer", "readonly", "extends":
		n.grow(&n.currentLevel().expression, 1)
	case "if", "else", "for", "while", "do", "with":
		n.grow(&n.currentLevel().statement, 1)
	}
}

func (n *nester) operator(c byte, rest string) {
	deeper, width := 0, 1
	switch {
	case c == ';':
		n.currentLevel().ended = true
		n.currentLevel().startStatement()
	case c == ',':
		n.closePending(false)
		n.comma()
	case strings.HasPrefix(rest, "..."):
		width, c = 3, '('
	case strings.HasPrefix(rest, "=>"):
		deeper, width = scopeWeight, 2
	case strings.HasPrefix(rest, "**"):
		deeper, width = 1, 2
	case strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "!="), strings.HasPrefix(rest, "??"):
		width = 2
	case strings.HasPrefix(rest, "?."):
		width, c = 2, '.'
	case strings.IndexByte("!~=?:<@", c) >= 0, (c == '+' || c == '-') && n.operandNext():
		deeper = 1
	}
	n.grow(&n.currentLevel().expression, deeper)
	n.sign(c)
	n.at += width
	n.token(c)
}
