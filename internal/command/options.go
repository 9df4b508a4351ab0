package command

import (
	"slices"
	"strings"
)

// A grammar lists the options of a command, so that its operands can be told from them.
type grammar struct {
	// short are the options of one letter. One with a : behind it takes the
	// rest of its word, or the next word, as its value; with :: only the rest.
	short string

	// long are the options with two dashes, separated by spaces, with : and ::
	// as in short, and with :2 for two words. They may be shortened.
	long string

	// anywhere: options may also stand behind other words.
	anywhere bool
}

// An option is one that was found in a command.
type option struct {
	name  string // a letter, or a long name without its dashes
	word  int    // where it stands
	value Word   // what it was given
	given bool   // it has a value
}

// scanned is what is left of a command once its options are read.
type scanned struct {
	options []option
	strange []string // options that the grammar does not know
	split   bool     // a value may be several words, so that what follows is something else
	counted bool     // the same, unless a command that prints a number is what it seems

	// The words that are neither options nor their values: some, and all from
	// a place on.
	some []Word
	from int
}

// operands returns the words that are neither options nor their values.
func (s scanned) operands(words []Word) []Word {
	if len(s.some) == 0 {
		return words[s.from:]
	}
	return append(slices.Clip(s.some), words[s.from:]...)
}

// valued notes a word that is the value of an option, or has it in it.
func (s *scanned) valued(w Word) {
	switch {
	case !w.Split:
	case strings.Contains(w.Raw, "$(nproc)") && strings.Count(w.Raw, "$") == 1 && !strings.Contains(w.Raw, "`"):
		s.counted = true
	default:
		s.split = true
	}
}

// get returns the last of the options with one of the names.
func (s scanned) get(names ...string) (option, bool) {
	for i := len(s.options) - 1; i >= 0; i-- {
		for _, n := range names {
			if s.options[i].name == n {
				return s.options[i], true
			}
		}
	}
	return option{}, false
}

// scan reads the options of a command, whose name is words[0].
func (g grammar) scan(words []Word) scanned {
	var s scanned
	i := min(1, len(words))
	for i < len(words) {
		shape := words[i].Shape
		switch {
		case shape == "--":
			s.from = i + 1
			return s
		case strings.HasPrefix(shape, "--"):
			i += g.longOption(&s, words, i)
		case len(shape) > 1 && shape[0] == '-':
			i += g.cluster(&s, words, i)
		case g.anywhere:
			s.some = append(s.some, words[i])
			i++
		default:
			s.from = i
			return s
		}
	}
	s.from = len(words)
	return s
}

// longOption reads the long option in words[i], and returns how many words it
// takes.
func (g grammar) longOption(s *scanned, words []Word, i int) int {
	name, value, given := cutWord(words[i], "=")
	name = name[2:]
	full, takes := longName(g.long, name)
	o := option{name: full, word: i, value: value, given: given}
	s.valued(words[i])
	switch {
	case full == "":
		s.strange = append(s.strange, "--"+name)
		o.name = name
	case takes == ":" && !given && i+1 < len(words):
		o.value, o.given = words[i+1], true
		s.valued(words[i+1])
		s.options = append(s.options, o)
		return 2
	case len(takes) == 2 && takes != "::" && i+1 < len(words):
		o.value, o.given = words[i+1], true
		s.options = append(s.options, o)
		n := min(1+int(takes[1]-'0'), len(words)-i)
		for _, w := range words[i+1 : i+n] {
			s.valued(w)
		}
		return n
	}
	s.options = append(s.options, o)
	return 1
}

// longName finds the option that a name, which may be shortened, stands for,
// and whether it takes a value.
func longName(long, name string) (full, takes string) {
	for f := range strings.FieldsSeq(long) {
		n, _, _ := strings.Cut(f, ":")
		switch {
		case n == name:
			return n, f[len(n):]
		case name != "" && strings.HasPrefix(n, name) && (full == "" || takes == ""):
			full, takes = n, f[len(n):]
		}
	}
	return full, takes
}

// cluster reads the one-letter options in words[i], and returns how many words
// they take.
func (g grammar) cluster(s *scanned, words []Word, i int) int {
	shape := words[i].Shape
	s.valued(words[i])
	for k := 1; k < len(shape); k++ {
		c := shape[k]
		at := strings.IndexByte(g.short, c)
		if c == ':' || at < 0 {
			s.strange = append(s.strange, "-"+shape[k:])
			return 1
		}
		o := option{name: string(c), word: i}
		takes := g.short[at+1:]
		if !strings.HasPrefix(takes, ":") {
			s.options = append(s.options, o)
			continue
		}
		switch {
		case k+1 < len(shape):
			o.value, o.given = glued(words[i], k+1), true
		case !strings.HasPrefix(takes, "::") && i+1 < len(words):
			o.value, o.given = words[i+1], true
			s.valued(words[i+1])
			s.options = append(s.options, o)
			return 2
		}
		s.options = append(s.options, o)
		return 1
	}
	return 1
}

// cutWord splits a word behind the first sep of its shape.
func cutWord(w Word, sep string) (before string, after Word, found bool) {
	at := strings.Index(w.Shape, sep)
	if at < 0 {
		return w.Shape, Word{}, false
	}
	return w.Shape[:at], glued(w, at+len(sep)), true
}

// glued is the rest of a word from a place in its shape on. What is not known
// of it may be anything.
func glued(w Word, at int) Word {
	rest := Word{Literal: w.Literal, Glob: w.Glob, Split: w.Split, Shape: w.Shape[at:]}
	rest.Raw, rest.Value = rest.Shape, rest.Shape
	if !w.Literal {
		// up to the first thing that is not known, the value is like the shape
		if head := strings.Index(w.Shape, Unknown); head >= at && len(w.Value) >= at {
			rest.Value = w.Value[at:]
			rest.Raw = rest.Value
		}
		rest.Literal = !strings.Contains(rest.Shape, Unknown)
	}
	return rest
}
