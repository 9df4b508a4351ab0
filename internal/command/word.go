package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Word is one word of a command.
type Word struct {
	Raw   string // as written; empty for words that only come at run time
	Value string // without quotes; what is not known stands as it was written

	// Literal: the command gets exactly Value. It is false when the word holds
	// an expansion, a substitution, a glob or a brace, whose value only bash
	// knows. A ~ in front is left as it is.
	Literal bool

	// Glob: all that is not known is which files a pattern matches. Value is
	// the pattern, with a \ in front of what is quoted.
	Glob bool

	// Split: bash may make several words of it, or none.
	Split bool

	// Guess: it is only this if a variable is not set that the line gives
	// nothing.
	Guess bool

	// Shape is Value with Unknown in place of what is not known.
	Shape string
}

// literalWord makes a word of a text that is known.
func literalWord(s string) Word { return Word{Raw: s, Value: s, Literal: true, Shape: s} }

// vanishes reports whether bash may make no word at all of w.
func (w Word) vanishes() bool { return w.Split && w.Shape == Unknown }

// readWord reads a word. guess is its shape with the values that known
// variables were given put in; it is empty where that changes nothing.
func readWord(src string, w *syntax.Word, known map[string]string) (word Word, guess string) {
	if w == nil || len(w.Parts) == 0 {
		return Word{Literal: true}, ""
	}
	raw := src[offset(w.Pos()):min(offset(w.End()), len(src))]
	if lit, ok := w.Parts[0].(*syntax.Lit); ok && len(w.Parts) == 1 && lit.Value == raw && !strings.ContainsAny(raw, "\\*?[{") {
		return literalWord(raw), ""
	}
	u := unquoter{src: src, known: known, bracket: -1, brace: -1}
	for _, p := range w.Parts {
		u.addPart(p, false)
	}
	word = Word{Raw: raw, Value: u.value.String(), Literal: true, Shape: string(u.shape)}
	switch {
	case u.unknown || u.braces >= 3:
		word.Literal, word.Split = false, u.split || u.braces >= 3
	case u.glob:
		word.Literal, word.Glob, word.Split = false, true, true
		word.Value = u.pattern.String()
	}
	if u.guessed {
		guess = u.guess.String()
	}
	return word, guess
}

// An unquoter takes the quotes off a word.
type unquoter struct {
	src     string
	known   map[string]string
	value   strings.Builder
	pattern strings.Builder // the value as a glob
	guess   strings.Builder
	shape   []byte

	unknown bool // it holds more that is not known than a glob
	split   bool
	glob    bool
	guessed bool
	bracket int // where in the shape the first [ stands, which with a ] is a glob
	brace   int // where in the shape the first { stands
	braces  int // how much of {, then a comma or two dots, then } was seen
}

func (u *unquoter) addPart(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			u.addQuoted(unescape(p.Value, "$`\"\\\n"))
		} else {
			u.addUnquoted(p.Value)
		}
	case *syntax.SglQuoted:
		if p.Dollar {
			u.addQuoted(ansiC(p.Value))
		} else {
			u.addQuoted(p.Value)
		}
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			u.addPart(q, true)
		}
	default:
		u.expansion(p, quoted)
	}
}

// expansion reads a part whose value bash computes.
func (u *unquoter) expansion(p syntax.WordPart, quoted bool) {
	raw := u.src[offset(p.Pos()):min(offset(p.End()), len(u.src))]
	u.unknown = true
	u.value.WriteString(raw)
	u.pattern.WriteString(raw)
	u.anything()
	switch p := p.(type) {
	case *syntax.ParamExp:
		if p.Param != nil && isNumericParam(p) && (p.Length || !identifier(p.Param.Value)) {
			break
		}
		if !quoted || list(p) {
			u.split = true
		}
		if v, ok := u.known[simpleName(p)]; ok && v != Unknown {
			u.guessed = true
			u.guess.WriteString(v)
			return
		}
	case *syntax.CmdSubst, *syntax.ExtGlob:
		u.split = u.split || !quoted
	}
	u.guess.WriteString(Unknown)
}

// list reports whether an expansion makes several words also between quotes:
// of $@, of an array, or of a list of names.
func list(p *syntax.ParamExp) bool {
	if p.Param != nil && p.Param.Value == "@" || p.Names != 0 {
		return true
	}
	w, ok := p.Index.(*syntax.Word)
	return ok && w.Lit() == "@"
}

// simpleName returns the variable that an expansion gives the value of, if it
// does no more than that.
func simpleName(p *syntax.ParamExp) string {
	if p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		return ""
	}
	return p.Param.Value
}

// anything adds to the shape something that is not known.
func (u *unquoter) anything() {
	if n := len(u.shape); n == 0 || u.shape[n-1] != Unknown[0] {
		u.shape = append(u.shape, Unknown...)
	}
}

// truncateShape makes all of the shape from a place on unknown.
func (u *unquoter) truncateShape(from int) {
	u.shape = u.shape[:min(from, len(u.shape))]
	u.anything()
}

// addQuoted adds text that bash takes as it is.
func (u *unquoter) addQuoted(s string) {
	u.value.WriteString(s)
	u.guess.WriteString(s)
	u.shape = append(u.shape, s...)
	for i := range len(s) {
		if strings.IndexByte(`*?[]\`, s[i]) >= 0 {
			u.pattern.WriteByte('\\')
		}
		u.pattern.WriteByte(s[i])
	}
}

// addUnquoted reads text that stands outside of quotes.
func (u *unquoter) addUnquoted(s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] != '\n' {
				u.addQuoted(s[i : i+1])
			}
			continue
		}
		u.value.WriteByte(s[i])
		u.pattern.WriteByte(s[i])
		u.guess.WriteByte(s[i])
		u.special(s[i:])
	}
}

// special adds the first character of s, which has no quotes, to the shape. It
// may be a part of a glob or of a list in braces.
func (u *unquoter) special(s string) {
	c := s[0]
	switch {
	case c == '*' || c == '?':
		u.glob = true
		u.anything()
		return
	case c == '[' && u.bracket < 0:
		u.bracket = len(u.shape)
	case c == '{' && u.braces == 0:
		u.brace, u.braces = len(u.shape), 1
	case u.braces == 1 && (c == ',' || strings.HasPrefix(s, "..")):
		u.braces = 2
	}
	u.shape = append(u.shape, c)
	if c == ']' && u.bracket >= 0 {
		u.glob = true
		u.truncateShape(u.bracket)
	}
	if c == '}' && u.braces >= 2 {
		u.braces = 3
		u.truncateShape(u.brace)
	}
}

// unescape takes the backslashes off that stand before one of some characters.
// One before the end of a line goes with it.
func unescape(s, before string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(before, s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
