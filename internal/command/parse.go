package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Kind says what a [Unit] is.
type Kind int

// The kinds of units.
const (
	Command     Kind = iota // a simple command
	Declaration             // export, declare, local, readonly, typeset, nameref
	Assignment              // variables set for the shell itself: A=1
	Redirection             // redirections without a command of their own: > f, or of a group
	Test                    // [ … ], which OpenCode does not check; [[ … ]], (( … )) and heads of loops that leave an uncertainty
	Piece                   // a part of a text that could not be parsed
)

// A Unit is one simple command of a command line. Text and the Raw of its words are parts of the
// original line.
type Unit struct {
	Kind Kind

	// Text is the complete command, with assignments and redirections. With a here-document it
	// extends to its end, including whatever else is on the line, so that an approval of the text
	// covers the document too.
	Text string

	Assigns   []Assign
	Words     []Word // the command and its arguments; of a declaration also name=value
	Redirects []Redirect

	// Input is what stands in the line of the text that a client of a database
	// gets as its input, which is commands.
	Input string

	// Inside is the text of the unit that runs this one as its code or payload: of sh -c '…', eval,
	// xargs or env. It is empty for a unit of the command line itself.
	Inside string

	// Spellings are other ways to write it, without Text itself. [Unknown] in them stands for
	// unknown text.
	Spellings []string

	// Uncertainties are the parts whose meaning is not known. They count for every Kind.
	Uncertainties []Uncertainty

	Dir Dir // where it runs
}

// Unknown stands for any text in a spelling, including none.
const Unknown = "\x00"

// An Uncertainty is something in a unit that may run what its words do not say.
type Uncertainty struct {
	Why string // in words: code from a variable

	// Flag is a part of the text that a person who names it in a rule has
	// meant: --pre, or GIT_PAGER=. It is empty when no rule can mean it.
	Flag string

	// Match is a pattern: there is an uncertainty only where a file that it matches
	// has a name which begins with a dash.
	Match string
}

// A Dir is a folder that a unit runs in.
type Dir struct {
	// Path is empty for the folder the command line starts in, relative to
	// that, or absolute. A ~ in front is left as it is.
	Path string

	// Known: the unit runs in Path. Otherwise it may run anywhere.
	Known bool

	// Else are further folders it may run in when Path is known, because a cd
	// before it may have failed or was not reached. They are like Path.
	Else []string
}

// An Assign is a variable that is set in front of a command, or on its own.
type Assign struct {
	Name string
	Raw  string // all of it, as written
}

// A Redirect is a redirection of input or output.
type Redirect struct {
	Op     string // >, >>, <, <<, <<<, &>, …
	FD     string // the number or {name} in front; often empty
	Target Word   // the file, descriptor, string or delimiter
}

// A Line is a command line that has been read.
type Line struct {
	Units []Unit // in the order they are written

	// Functions are the names the text defines as functions. A unit of such a
	// name runs no program of that name.
	Functions []string

	// Opaque says why the text, or a part of it, could not be read. It is
	// empty when all of it was. Otherwise bash may run more than Units say:
	// they then hold what could be read, and the text roughly split.
	Opaque string

	parsed []*syntax.Stmt // the whole text, if it could be read
	values *varValues     // what its variables may hold; nil if it gives them nothing
}

// Parse reads a command line in bash's grammar. It finds every simple command:
// in lists, pipes, groups, loops, functions, and in substitutions wherever
// these stand; in code that is handed to a shell or to eval; and the payload of
// commands that run another one.
//
// It takes at most linear time, and texts that are too long or nested too
// deeply are opaque.
func Parse(command string) (line Line) {
	defer func() {
		if r := recover(); r != nil { // a fault of ours or of the parser must not allow anything
			c := newCollector(len(command))
			c.pieces(command)
			line = Line{Units: c.r.units, Opaque: fmt.Sprintf("not understood: %v", r)}
		}
	}()
	return parse(command)
}

func parse(command string) Line {
	c := newCollector(len(command))
	opaque := c.read(command)
	if why := c.uncover(); opaque == "" {
		opaque = why
	}
	c.r.finalize()
	return Line{Units: c.r.units, Functions: c.r.functions, Opaque: opaque, parsed: c.parsed, values: c.r.vars()}
}

// A collector gathers the units of one text: of the command line, or of code
// that stands inside it.
type collector struct {
	src    string
	parsed []*syntax.Stmt // of src, as far as it could be read
	inside string         // the unit whose code this is
	level  int            // how many such units there are around it
	cwd    workDirs       // where the next command runs
	fed    bool           // something around it hands it an input
	r      *reading
}

// A reading is what the collectors of a command line share.
type reading struct {
	units      []Unit
	functions  []string
	known      map[string]string // variables that were given one known value
	budget     int               // how much code inside the line may still be read
	again      int               // how many words of find were read a second time
	moved      bool              // something changes the folder
	later      []unitRange       // units that run at some later time
	counts     bool              // bash takes something for a number, which may run code
	hiding     []int             // units with words that would be such code
	hidden     []string          // other text in quotes that would be
	aliased    bool              // an alias is defined
	expanded   bool              // aliases are switched on
	handed     map[string][]Word // the words of arrays, and of parameters as @
	values     []string          // what variables are given that may be an option
	set        map[string]bool   // variables that commands or references set
	written    map[string]bool   // files that commands write which print no names
	suspects   map[string]bool   // variables that were given what a command makes
	parameters []int             // units that may run a program because of a parameter
	flows      flows             // what variables hold, and what bash takes for a number
	assigned   *varValues        // what variables may hold, of files that are reached and of options
	loose      []int             // units of programs with words that may be options
}

// A unitRange is a row of units.
type unitRange struct{ from, to int }

const (
	// maxLevel is how deep code and payloads may stand inside one another.
	maxLevel = 24

	// Of code inside code at most so much is read, in all: a fixed part, and a
	// multiple of the text.
	codeBytes  = 64 << 10
	codeFactor = 8
)

func newCollector(size int) *collector {
	return &collector{
		cwd: workDirs{dirs: []string{""}},
		r:   &reading{units: make([]Unit, 0, 1+min(size/24, 64)), known: map[string]string{}, budget: codeBytes + codeFactor*size},
	}
}

// read gathers the units of a text. It returns why some of it could not be
// read; the units then also hold the text roughly split.
func (c *collector) read(text string) (opaque string) {
	c.src = text
	if len(text) > maxSize {
		c.pieces(text)
		return fmt.Sprintf("longer than %d bytes", maxSize)
	}
	stmts, err := statements(text)
	switch {
	case errors.Is(err, errTooDeep):
		c.pieces(text)
		return errTooDeep.Error()
	case err != nil:
		opaque = "syntax error: " + err.Error()
	case strings.IndexByte(text, 0) >= 0:
		opaque = "it holds a NUL"
	case strings.IndexByte(text, '\r') >= 0:
		// to the parser a carriage return is part of the line's end, to bash it
		// is a character like others
		opaque = "it holds a carriage return"
	default:
		opaque = oddity(text, stmts)
	}
	c.parsed = stmts
	c.stmts(stmts)
	if opaque != "" {
		c.pieces(text)
	}
	return opaque
}

// statements parses a text. On an error it returns what stands before that,
// which bash would run.
func statements(text string) (all []*syntax.Stmt, failed error) {
	all, failed = parsed(text)
	if failed == nil && strings.Contains(text, "let") {
		return plainLet(text, all)
	}
	return all, failed
}

func parsed(text string) (all []*syntax.Stmt, failed error) {
	options := []syntax.ParserOption{syntax.Variant(syntax.LangBash)}
	odd := oddHash(text)
	if odd {
		options = append(options, syntax.KeepComments(true))
	}
	for s, err := range syntax.NewParser(options...).StmtsSeq(&shallowReader{text}) {
		if failed == nil {
			failed = err // no break: the parser goes on after one
		}
		if failed == nil {
			all = append(all, s)
		}
	}
	if failed == nil && odd && oddComment(text, all) {
		return all, errComment
	}
	return all, failed
}

var errComment = errors.New("a # inside a word")

// wordEnd reports whether a # behind a character surely begins a comment to
// bash. Behind ) and ` it depends on what these belong to.
func wordEnd(c byte) bool { return strings.IndexByte(" \t\n;&|(<>", c) >= 0 }

// oddHash reports whether a text has a # that begins no comment to bash. To the
// parser it may do so: behind quotes or an expansion that stand in a
// substitution.
func oddHash(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i] == '#' && !wordEnd(text[i-1]) {
			return true
		}
	}
	return false
}

// oddComment reports whether the parser has read a comment that is none to
// bash.
func oddComment(text string, all []*syntax.Stmt) (found bool) {
	for _, s := range all {
		syntax.Walk(s, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Comment); ok {
				at := offset(c.Hash)
				found = found || at > 0 && at < len(text) && !wordEnd(text[at-1])
			}
			return true
		})
	}
	return found
}

// add adds a unit, and returns its number.
func (c *collector) add(u Unit, guesses []string) int {
	u.Inside = c.inside
	u.Dir = c.cwd.currentDir()
	u.Spellings = spell(u, guesses)
	u.Uncertainties = append(u.Uncertainties, uncertainties(u)...)
	c.r.units = append(c.r.units, u)
	unit := len(c.r.units) - 1
	c.r.inspectUnit(u)
	c.lists(unit)
	c.mayOption(unit)
	if slices.ContainsFunc(u.Words, func(w Word) bool { return hidesCode(w.Shape) && w.Raw != w.Value }) {
		c.r.hiding = append(c.r.hiding, unit)
	}
	return unit
}

// addUncertainty adds uncertainties to a unit, none twice.
func (c *collector) addUncertainty(unit int, all ...Uncertainty) {
	u := &c.r.units[unit]
	for _, d := range all {
		if !slices.Contains(u.Uncertainties, d) {
			u.Uncertainties = append(u.Uncertainties, d)
		}
	}
}

// finalize is done when everything has been read.
func (r *reading) finalize() {
	r.markParameters()
	r.vars().moved = r.moved
	r.markSplit()
	if r.counts {
		for _, i := range r.hiding {
			if u := &r.units[i]; !slices.ContainsFunc(u.Uncertainties, func(d Uncertainty) bool { return d.Flag == "" }) {
				u.Uncertainties = append(u.Uncertainties, Uncertainty{Why: "text that bash runs where it takes it for a number"})
			}
		}
	}
	if !r.moved {
		return
	}
	if len(r.functions) > 0 { // who knows where they are called
		r.later = []unitRange{{0, len(r.units)}}
	}
	for _, s := range r.later {
		for i := s.from; i < s.to; i++ {
			r.units[i].Dir = Dir{}
		}
	}
}
