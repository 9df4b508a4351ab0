package command

import (
	"slices"
	"strings"
)

// sedScripts are the scripts of a sed command, and the uncertainties about others.
func sedScripts(words []Word) (scripts []Word, out []Uncertainty) {
	s := grammar{
		short: "e:f:l:i::bnrEsuzVh",
		long: "expression: file: line-length: in-place:: quiet silent regexp-extended separate unbuffered null-data posix sandbox debug follow-symlinks " +
			"binary help version",
		anywhere: true,
	}.scan(words)
	out = scanned{strange: s.strange}.uncertainties(words[0].Value)
	for _, o := range s.options {
		switch o.name {
		case "e", "expression":
			scripts = append(scripts, o.value)
		case "f", "file":
			out = append(out, Uncertainty{Why: "a script in a file", Flag: "-f"})
		case "sandbox":
			return nil, nil // it refuses to run, read or write anything
		}
	}
	if len(scripts) == 0 && len(out) == len(s.strange) && len(s.operands(words)) > 0 {
		scripts = append(scripts, s.operands(words)[0])
	}
	return scripts, out
}

// sedUncertainties are the uncertainties about a sed command: whether its script runs a
// command, or writes a file, or is not known.
func sedUncertainties(words []Word) []Uncertainty {
	scripts, out := sedScripts(words)
	for _, w := range scripts {
		switch {
		case !w.Literal:
			out = append(out, Uncertainty{Why: "a script that is computed"})
		default:
			p := sedScript{s: w.Value}
			p.read()
			out = append(out, p.uncertainties...)
		}
	}
	return out
}

// sedFiles are the files that the scripts of a sed command read and write.
func sedFiles(words []Word) (reads, writes []string) {
	scripts, _ := sedScripts(words)
	for _, w := range scripts {
		if w.Literal {
			p := sedScript{s: w.Value}
			p.read()
			reads, writes = append(reads, p.files...), append(writes, p.writes...)
		}
	}
	return reads, writes
}

// A sedScript parses a script as far as needed to find commands that run a command or write a file.
type sedScript struct {
	s             string
	i             int
	starts        []int // where it is read from, also
	uncertainties []Uncertainty
	files         []string // that it reads
	writes        []string // that it writes
}

// fileName reads the name of a file, which ends with the line.
func (p *sedScript) fileName() string {
	start := p.i
	p.skipLine()
	return strings.TrimLeft(strings.TrimRight(p.s[start:p.i], "\n"), " \t")
}

// maxStarts is from how many places a script is read.
const maxStarts = 64

func (p *sedScript) read() {
	p.starts = []int{0}
	for n := 0; n < len(p.starts); n++ {
		for p.i = p.starts[n]; p.i < len(p.s); {
			if !p.parseCommand() || n > maxStarts {
				p.uncertainties = append(p.uncertainties, Uncertainty{Why: "a script that is not understood"})
				return
			}
		}
	}
}

func (p *sedScript) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *sedScript) skipAny(chars string) {
	for p.i < len(p.s) && strings.IndexByte(chars, p.s[p.i]) >= 0 {
		p.i++
	}
}

// parseCommand reads one command with its addresses.
func (p *sedScript) parseCommand() bool {
	p.skipAny(" \t\n;{}")
	if !p.address() {
		return false
	}
	p.skipAny(" \t")
	if p.peek() == ',' {
		p.i++
		p.skipAny(" \t")
		p.skipAny("+~")
		if !p.address() {
			return false
		}
	}
	p.skipAny(" \t!{")
	if p.i >= len(p.s) {
		return true
	}
	c := p.s[p.i]
	p.i++
	return p.function(c)
}

// function reads what a command does.
func (p *sedScript) function(c byte) bool {
	switch c {
	case 's':
		return p.substitute()
	case 'y':
		d := p.peek()
		p.i++
		if !p.until(d, false) { // the one list of characters, then the other
			return false
		}
		return p.until(d, false)
	case 'e':
		p.uncertainties = append(p.uncertainties, Uncertainty{Why: "a script that runs a command"})
		p.skipLine()
	case 'w', 'W':
		p.uncertainties = append(p.uncertainties, Uncertainty{Why: "a script that writes a file"})
		p.writes = append(p.writes, p.fileName())
	case 'a', 'i', 'c':
		p.text()
	case 'r', 'R':
		p.files = append(p.files, p.fileName())
	case '#':
		p.skipLine()
	case ':', 'b', 't', 'T', 'v':
		p.label()
	default:
		p.skipAny(" \t0123456789") // q and l may have a number
		return strings.IndexByte("pPdDgGhHxnNqQlLz=F\n;}", c) >= 0
	}
	return true
}

// label skips a label. It ends at a blank or a semicolon in some versions of sed, with the line in
// others, so the script is read both ways.
func (p *sedScript) label() {
	start := p.i
	p.skipLine()
	if p.i < len(p.s) && !slices.Contains(p.starts, p.i) && len(p.starts) <= maxStarts+1 {
		p.starts = append(p.starts, p.i)
	}
	p.i = start
	p.skipAny(" \t")
	for p.i < len(p.s) && strings.IndexByte(" \t\n;}", p.s[p.i]) < 0 {
		p.i++
	}
}

// skipLine skips to the end of the line.
func (p *sedScript) skipLine() {
	if i := strings.IndexByte(p.s[p.i:], '\n'); i >= 0 {
		p.i += i
	} else {
		p.i = len(p.s)
	}
}

// text skips text that is added, which may go on over lines that end in a
// backslash.
func (p *sedScript) text() {
	for p.i < len(p.s) && p.s[p.i] != '\n' {
		if p.s[p.i] == '\\' {
			p.i++
		}
		p.i++
	}
}

// address skips an address: a line, the last line, or a pattern.
func (p *sedScript) address() bool {
	switch c := p.peek(); {
	case c >= '0' && c <= '9':
		p.skipAny("0123456789~")
	case c == '$':
		p.i++
	case c == '/':
		p.i++
		ok := p.until('/', true)
		p.skipAny("IM")
		return ok
	case c == '\\' && p.i+1 < len(p.s):
		d := p.s[p.i+1]
		p.i += 2
		ok := p.until(d, true)
		p.skipAny("IM")
		return ok
	}
	return true
}

// until skips to behind the next delimiter. Versions of sed differ about one in brackets inside a
// pattern, so that counts as not understood.
func (p *sedScript) until(d byte, pattern bool) bool {
	bracket := -1 // where one is open
	for p.i < len(p.s) {
		c := p.s[p.i]
		p.i++
		switch {
		case c == '\\' && bracket >= 0 && p.peek() == ']':
			return false
		case c == '\\':
			p.i++
		case c == d:
			return bracket < 0
		case c == '[' && pattern && bracket < 0:
			bracket = p.i
			p.skipAny("^")
			if p.peek() == ']' && d != ']' { // the first is one of the set
				p.i++
			}
		case c == ']' && bracket >= 0:
			bracket = -1
		}
	}
	return false
}

// substitute reads s/…/…/flags.
func (p *sedScript) substitute() bool {
	d := p.peek()
	p.i++
	if d == 0 || d == '\n' || d == '\\' || !p.until(d, true) || !p.until(d, false) {
		return false
	}
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == 'e':
			p.uncertainties = append(p.uncertainties, Uncertainty{Why: "a script that runs a command"})
		case c == 'w':
			p.uncertainties = append(p.uncertainties, Uncertainty{Why: "a script that writes a file"})
			p.i++
			p.writes = append(p.writes, p.fileName())
			return true
		case strings.IndexByte("gpiIMm0123456789", c) < 0:
			return strings.IndexByte(" \t\n;}#", c) >= 0
		}
		p.i++
	}
	return true
}
