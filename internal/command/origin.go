package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An origin is what a text is made of, as far as it matters where bash takes it
// for a number: names in it are variables there, and what stands in brackets is
// expanded once more.
type origin struct {
	open   bool     // it may hold code: it has a $, or comes from outside of the line
	spelt  bool     // it has letters of its own
	named  bool     // there are letters in what is expanded in it, of which any name may be made
	puts   bool     // it sets a variable
	puzzle bool     // what is expanded in it may set any variable
	globs  bool     // it has characters that stand for others in the names of files
	names  []string // variables whose values are in it, or would be read
	sets   []string // variables it would set, of those that change what runs; Unknown in one that is computed
}

// maxNames is how many variables are followed into one text. One of more of
// them may hold anything.
const maxNames = 64

func (o *origin) add(p origin) {
	o.open = o.open || p.open
	o.spelt = o.spelt || p.spelt
	o.named = o.named || p.named
	o.puts = o.puts || p.puts
	o.puzzle = o.puzzle || p.puzzle
	o.globs = o.globs || p.globs
	if len(o.names) == 0 {
		o.names = p.names // nobody changes what is in it
	} else {
		o.name(p.names...)
	}
	for _, s := range p.sets {
		o.setting(s)
	}
}

// value adds what an expansion gives.
func (o *origin) value(p origin) {
	p.named, p.spelt = p.named || p.spelt, false
	p.puzzle, p.puts = p.puzzle || p.puts, false
	o.add(p)
}

// name adds variables, none twice. Others may have the names so far too, so they
// are copied, once for all that are added.
func (o *origin) name(all ...string) {
	own := false
	for i, s := range all {
		switch {
		case slices.Contains(o.names, s):
			continue
		case len(o.names) == maxNames:
			o.open = true
			return
		case !own:
			own = true
			o.names = append(make([]string, 0, len(o.names)+len(all)-i), o.names...)
		}
		o.names = append(o.names, s)
	}
}

// setting adds a variable that is set.
func (o *origin) setting(s string) {
	switch {
	case slices.Contains(o.sets, s):
	case len(o.sets) == maxNames:
		o.open = true
	default:
		o.sets = append(o.sets[:len(o.sets):len(o.sets)], s)
	}
}

// text adds a text that is known.
func (o *origin) text(s string) {
	o.open = o.open || strings.ContainsAny(s, "$`")
	o.globs = o.globs || strings.ContainsAny(s, "*?[")
	o.formula(s)
}

// formula adds the names in a text that is a number to bash, and which of them
// it sets.
func (o *origin) formula(s string) {
	o.puts = o.puts || assigns(s)
	for i := 0; i < len(s); i++ {
		end := i
		for end < len(s) && (nameByte(s[end]) || end > i && (s[end] == '#' || s[end] == '@')) {
			end++
		}
		if end == i {
			continue
		}
		o.token(s, i, end)
		i = end
	}
}

// token adds a name or number that stands in a formula.
func (o *origin) token(s string, from, to int) {
	name, _, _ := strings.Cut(s[from:to], "#")
	open, set := strings.Contains(name, Unknown), assigns(s[to:])
	o.puts = o.puts || set
	switch {
	case open:
		o.named = o.named || strings.Trim(name, Unknown+"0123456789") != "" && !digit(name[0])
	case identifier(name):
		o.name(name)
		o.spelt = true
	default:
		o.spelt = o.spelt || !plainNumber(name)
	}
	if open && (set || steps(s[:from])) || changesRun(name) && (set || steps(s[:from]) || strings.HasPrefix(s[to:], "[")) {
		o.setting(name)
	}
}

// plainNumber reports whether a text is a number, and no part of a name.
func plainNumber(s string) bool {
	hex, ok := strings.CutPrefix(s, "0x")
	return strings.Trim(s, "0123456789") == "" || ok && strings.Trim(hex, "0123456789abcdefABCDEF") == ""
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func nameByte(c byte) bool {
	return c == '_' || c == Unknown[0] || digit(c) || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// assigns reports whether a formula goes on with the setting of a variable.
func assigns(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\n")
	for _, op := range []string{"++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>="} {
		if strings.HasPrefix(rest, op) {
			return true
		}
	}
	return strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==")
}

// steps reports whether a formula so far ends in ++ or --.
func steps(head string) bool {
	head = strings.TrimRight(head, " \t\n")
	return strings.HasSuffix(head, "++") || strings.HasSuffix(head, "--")
}

// formula gives the text of a formula with Unknown for its expansions, and
// without quotes.
func (c *collector) formula(n syntax.Node) string {
	var out strings.Builder
	at, end := offset(n.Pos()), min(offset(n.End()), len(c.src))
	syntax.Walk(n, func(m syntax.Node) bool {
		switch m.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
		default:
			return true
		}
		from, to := offset(m.Pos()), offset(m.End())
		if m == n || from < at || to > end || nameByte(c.src[from]) { // a[i] is one without a $
			return true
		}
		out.WriteString(c.src[at:from] + Unknown)
		at = to
		return false
	})
	out.WriteString(c.src[min(at, end):end])
	return strings.Map(dropQuote, strings.ReplaceAll(out.String(), "\\\n", ""))
}

// origin says what a part of the text is made of. What it has found about a
// word or a substitution it keeps, as these stand inside one another.
func (c *collector) origin(n syntax.Node) (o origin) {
	if s, ok := c.simpleText(n); ok {
		o.text(s)
		return o
	}
	switch n.(type) {
	case *syntax.Word, *syntax.CmdSubst:
		if o, ok := c.r.flows.origins[n]; ok {
			return o
		}
		defer func() { c.r.flows.setOrigin(n, o) }()
	}
	syntax.Walk(n, func(m syntax.Node) bool {
		switch m := m.(type) {
		case *syntax.Word:
			if m != n {
				o.add(c.origin(m))
				return false
			}
			o.formula(c.formula(m)) // a name and what sets it may be several parts
		case *syntax.CmdSubst:
			if m != n {
				o.value(c.origin(m))
			} else {
				c.allPrinted(&o, m.Stmts)
			}
			return false
		case *syntax.ProcSubst, *syntax.ArithmExp: // a file of the shell's, and a number
			return false
		default:
			return c.addPartOrigin(&o, m)
		}
		return true
	})
	return o
}

// simpleText gives the text of a word that is short and has nothing in it that bash
// takes for anything else, as most have: to read it again is less than to keep
// what was found.
func (c *collector) simpleText(n syntax.Node) (string, bool) {
	w, ok := n.(*syntax.Word)
	if !ok || len(w.Parts) != 1 {
		return "", false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || len(lit.Value) > maxPlain || strings.ContainsAny(lit.Value, "'\"\\`") {
		return "", false
	}
	raw := c.src[offset(w.Pos()):min(offset(w.End()), len(c.src))]
	return lit.Value, lit.Value == raw
}

// maxPlain is how long a word may be that is read again.
const maxPlain = 128

// addPartOrigin adds a part of a word.
func (c *collector) addPartOrigin(o *origin, n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Lit:
		o.text(n.Value)
	case *syntax.SglQuoted:
		if n.Dollar {
			o.text(ansiC(n.Value))
		} else {
			o.text(n.Value)
		}
	case *syntax.ParamExp:
		c.valueOf(o, n)
		return false
	case *syntax.ExtGlob:
		o.open = true
	}
	return true
}

// fileNamesOrigin is the origin of a word that may become the names of files.
func (c *collector) fileNamesOrigin(w *syntax.Word) origin {
	return c.fileNamesOriginAs(w, c.parseWord(w))
}

// fileNamesOriginAs is listed for a word that was read.
func (c *collector) fileNamesOriginAs(w *syntax.Word, word Word) origin {
	o := c.origin(w)
	o.open = o.open || word.Glob || word.Split && o.globs
	if word.Split {
		o.name(fileNamesIn(o.names)...)
	}
	return o
}

// fileNamesIn are variables where they become the names of files.
func fileNamesIn(names []string) (all []string) {
	for _, name := range names {
		if name[0] != '*' {
			all = append(all, "*"+name)
		}
	}
	return all
}

// valueOf adds what an expansion gives.
func (c *collector) valueOf(o *origin, p *syntax.ParamExp) {
	switch {
	case p.Param == nil || p.Param.Value == "":
		o.open = true
		return
	case p.Length || p.Width || p.Names != 0 || p.Repl != nil && onlyDigits(p.Repl):
		return
	case p.Excl && keys(p):
		o.name("!" + p.Param.Value)
		return
	}
	name := p.Param.Value
	o.open = o.open || outer(name)
	switch {
	case name == "*" || name == "@" || digit(name[0]):
		o.name("@")
	case identifier(name):
		o.name(name)
	}
	c.changed(o, p)
}

// changed adds what an operator of an expansion gives.
func (c *collector) changed(o *origin, p *syntax.ParamExp) {
	if p.Repl != nil && p.Repl.With != nil {
		o.value(c.origin(p.Repl.With))
	}
	e := p.Exp
	if e == nil {
		return
	}
	switch e.Op {
	case syntax.OtherParamOps:
		o.open = true
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix: // a pattern
	default:
		if e.Word != nil {
			o.value(c.origin(e.Word))
		}
	}
}

// outer knows the variables in which the shell puts text from elsewhere.
func outer(name string) bool {
	switch name {
	case "_", "0", "PWD", "OLDPWD", "DIRSTACK", "BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_ARGV", "BASH_ARGV0", "BASH_SOURCE",
		"BASH_ALIASES", "BASH_CMDS", "FUNCNAME", "COMP_LINE", "COMP_WORDS", "READLINE_LINE":
		return true
	}
	return false
}

// onlyDigits reports whether a replacement leaves nothing but digits.
func onlyDigits(r *syntax.Replace) bool {
	if !r.All || r.Orig == nil || r.With != nil && len(r.With.Parts) > 0 {
		return false
	}
	return slices.Contains([]string{"[^0-9]", "[!0-9]", "[^[:digit:]]", "[![:digit:]]"}, r.Orig.Lit())
}

// matched is the origin of what a regular expression matches.
func matched(pattern string, from origin) origin {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$")
	for _, class := range []string{"[0-9]", "[[:digit:]]", "\\d", "\\.", "\\+", "\\?", "\\-"} {
		pattern = strings.ReplaceAll(pattern, class, "")
	}
	letters := strings.NewReplacer("[a-z]", "a", "[A-Z]", "a", "[a-zA-Z]", "a", "[A-Za-z]", "a", "[0-9a-f]", "a").Replace(pattern)
	if strings.ContainsAny(letters, ".[]\\$`'\""+Unknown) {
		return from
	}
	return origin{spelt: strings.IndexFunc(letters, func(r rune) bool { return r >= 'A' }) >= 0}
}
