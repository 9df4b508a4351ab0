package command

import "strings"

// awkUncertainties are the uncertainties about an awk command: whether its program runs a
// command, or reads or writes files, or is not known.
func awkUncertainties(words []Word) []Uncertainty {
	s := grammar{
		short: "f:F:v:e:E:i:l:L::d::D::o::p::W:bcCghMnNOPrsStVI",
		long: "file: field-separator: assign: source: exec: include: load: lint:: dump-variables:: debug:: pretty-print:: profile:: " +
			"characters-as-bytes traditional copyright gen-pot help bignum use-lc-numeric non-decimal-data optimize posix re-interval " +
			"no-optimize sandbox lint-old version csv",
	}.scan(words)
	var programs []Word
	out := scanned{strange: s.strange}.uncertainties(words[0].Value)
	code := len(out)
	for _, o := range s.options {
		switch o.name {
		case "f", "file", "E", "exec", "i", "include", "l", "load":
			flag := "-" + o.name
			if len(o.name) > 1 {
				flag = "-" + flag
			}
			out = append(out, Uncertainty{Why: "a program in a file", Flag: flag})
		case "W": // to mawk any option, or a program in a file
			out = append(out, Uncertainty{Why: "an option that may run a program", Flag: "-W"})
		case "e", "source":
			programs = append(programs, o.value)
		}
	}
	if len(programs) == 0 && len(out) == code && len(s.operands(words)) > 0 {
		programs = append(programs, s.operands(words)[0])
	}
	for _, w := range programs {
		if !w.Literal {
			out = append(out, Uncertainty{Why: "a program that is computed"})
			continue
		}
		if why := awkReaches(w.Value); why != "" {
			out = append(out, Uncertainty{Why: why})
		}
	}
	return out
}

// awkReaches says what an awk program does besides computing, if anything.
func awkReaches(program string) string {
	p := awkProgram{s: program, subs: strings.Contains(strings.ReplaceAll(program, " ", ""), "sub(")}
	for p.i < len(p.s) {
		if why := p.token(); why != "" {
			return why
		}
	}
	if p.ambiguous && (strings.Contains(program, "system") || strings.Contains(program, "getline") || strings.ContainsAny(program, "|>@")) {
		return "a program that is not understood"
	}
	return ""
}

// awkWrites are the files that a program names behind a >. A comparison with a
// text looks the same.
func awkWrites(program string) (files []string) {
	for {
		_, rest, ok := strings.Cut(program, ">")
		if !ok {
			return files
		}
		program = rest
		if quoted, ok := strings.CutPrefix(strings.TrimLeft(rest, "> \t"), `"`); ok {
			if name, _, ok := strings.Cut(quoted, `"`); ok && name != "" && !strings.HasPrefix(name, "/dev/std") {
				files = append(files, name)
			}
		}
	}
}

// An awkProgram is read token by token.
type awkProgram struct {
	s        string
	i        int
	printing bool // in a print statement, where > is no comparison
	depth    int  // of parentheses in it
	operand  bool // what came last was a value, so that / divides
	closed   bool // what came last was a parenthesis: if (x) /y/
	subs     bool // sub or gsub is called

	ambiguous bool // a / may be of either kind
}

// token reads one token, and says what is wrong with it.
func (p *awkProgram) token() string {
	c := p.s[p.i]
	p.ambiguous = p.ambiguous || c == '/' && p.closed
	if c != ' ' && c != '\t' {
		p.closed = c == ')'
	}
	switch {
	case c == '"':
		p.skipQuoted('"')
		p.operand = true
	case c == '/' && !p.operand:
		p.regex()
		p.operand = true
	case c == '#':
		for p.i < len(p.s) && p.s[p.i] != '\n' {
			p.i++
		}
	case identifier(p.s[p.i : p.i+1]):
		return p.name()
	case strings.IndexByte("0123456789.$", c) >= 0:
		p.i++
		p.operand = c != '$'
	case strings.IndexByte(" \t\r\\", c) >= 0:
		p.i++
	default:
		return p.operator(c)
	}
	return ""
}

// operator reads what is neither a name, a number nor a text.
func (p *awkProgram) operator(c byte) string {
	next := byte(0)
	if p.i+1 < len(p.s) {
		next = p.s[p.i+1]
	}
	p.i++
	p.operand = false
	switch c {
	case '|':
		if next != '|' {
			return "a program that runs a command"
		}
		p.i++
	case '@':
		return "a program that calls what is computed, or loads another one"
	case '>':
		if p.printing && p.depth <= 0 {
			return "a program that writes a file"
		}
	case '(', '[':
		p.depth++
	case ')', ']':
		p.depth--
		p.operand = true
	case ';', '\n', '{', '}':
		p.printing, p.depth = false, 0
	}
	return ""
}

func (p *awkProgram) name() string {
	start := p.i
	for p.i < len(p.s) && identifier("_"+p.s[p.i:p.i+1]) {
		p.i++
	}
	p.operand = true
	switch p.s[start:p.i] {
	case "system":
		return "a program that runs a command"
	case "getline":
		return "a program that reads from elsewhere"
	case "SYMTAB":
		return "a program that changes what it reads"
	case "ARGV":
		if p.rewrites(start) {
			return "a program that changes what it reads"
		}
	case "print", "printf":
		p.printing, p.depth, p.operand = true, 0, false
	case "in", "return", "if", "while", "for", "else", "do", "case", "delete", "exit":
		p.operand = false
	}
	return ""
}

// rewrites reports whether the arguments, which stand at a place in the program,
// may be set there: the files that it reads then are others. Fine are ARGV[1]
// that is compared or printed, delete ARGV[1] and k in ARGV.
func (p *awkProgram) rewrites(start int) bool {
	before := strings.TrimRight(p.s[:start], " \t")
	rest := strings.TrimLeft(p.s[p.i:], " \t")
	for _, word := range []string{"in", "delete"} {
		if head, ok := strings.CutSuffix(before, word); ok && (head == "" || !identifier("_"+head[len(head)-1:])) {
			return false
		}
	}
	index, after, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]")
	if !ok || rest[0] != '[' || !identifier("_"+index) || strings.HasSuffix(before, "++") || strings.HasSuffix(before, "--") {
		return true
	}
	if p.subs { // sub and gsub change what they are handed
		return true
	}
	after = strings.TrimLeft(after, " \t")
	if strings.HasPrefix(after, "==") {
		return false
	}
	for _, op := range []string{"=", "+=", "-=", "*=", "/=", "%=", "^=", "**=", "++", "--"} {
		if strings.HasPrefix(after, op) {
			return true
		}
	}
	return false
}

func (p *awkProgram) skipQuoted(end byte) {
	for p.i++; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '\\':
			p.i++
		case end:
			p.i++
			return
		}
	}
}

// regex skips a regular expression. One that does not end on its line is none.
func (p *awkProgram) regex() {
	end := strings.IndexByte(p.s[p.i:], '\n')
	if end < 0 {
		end = len(p.s)
	} else {
		end += p.i
	}
	class := false
	for k := p.i + 1; k < end; k++ {
		switch p.s[k] {
		case '\\':
			k++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				p.i = k + 1
				return
			}
		}
	}
	p.i++
}
