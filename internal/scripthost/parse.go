package scripthost

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/helve-dev/helve/internal/script"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// ParseShell parses a script, and refuses what Bun's shell does not know and what could not be
// bounded or checked here.
func ParseShell(text string) (*ShellScript, error) {
	if len(text) > longestScript {
		return nil, &script.Failure{Message: fmt.Sprintf("The script has %d bytes, and a shell takes no more than %d. Write it to a file and run the file.", len(text), longestScript)}
	}
	if strings.ContainsRune(text, 0) {
		return nil, &script.Failure{Message: "EINVAL", Code: "EINVAL"}
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, &script.Failure{Message: err.Error()}
	}
	s := &ShellScript{file: file}
	odd, spread := "", 0
	mine := map[*syntax.Stmt]bool{}
	heredocs := map[*syntax.Word]bool{} // nothing is split in these
	var quoted []uint
	syntax.Walk(file, func(node syntax.Node) bool {
		if odd != "" {
			return false
		}
		switch node := node.(type) {
		case *syntax.Stmt:
			weighed(node, mine)
		case *syntax.CallExpr:
			s.note(node)
		case *syntax.Redirect:
			heredocs[node.Hdoc] = true
		case *syntax.Word:
			apart := &syntax.Word{Parts: slices.Clone(node.Parts)}
			if syntax.SplitBraces(apart) {
				spread += countWords(apart)
			}
			if spread > mostWords {
				odd = "braces for so many words"
			}
			if !heredocs[node] {
				quoted = append(quoted, unsplit(node)...)
			}
		default:
			odd = notOurs(node)
		}
		return odd == ""
	})
	if odd != "" {
		return nil, &script.Failure{Message: "Bun.$: " + odd + " is not available. Run a shell of the system for it, such as sh -c."}
	}
	s.text = withQuotes(text, quoted)
	return s, nil
}

// notOurs names a construct that is not supported here; "" for the rest.
func notOurs(node syntax.Node) string {
	switch node := node.(type) {
	case *syntax.ParamExp:
		if node.Repl != nil {
			return "${…/…}"
		}
	case *syntax.Assign:
		if node.Array != nil || node.Index != nil {
			return "an array"
		}
	case *syntax.ProcSubst:
		return "process substitution"
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.CoprocClause:
		return "coproc"
	}
	return ""
}

// unsplit makes each variable outside of quotes one word, or none if it is not set, as "${x[@]}"
// does: Bun does not split them. It returns their positions in the text.
func unsplit(word *syntax.Word) (at []uint) {
	for i, part := range word.Parts {
		if p, ok := part.(*syntax.ParamExp); ok && p.Short && syntax.ValidName(p.Param.Value) {
			at = append(at, p.Pos().Offset(), p.End().Offset())
			index := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "@"}}}
			word.Parts[i] = &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Param: p.Param, Index: index}}}
		}
	}
	return at
}

// withQuotes puts a quote at each of these places of a text.
func withQuotes(text string, at []uint) string {
	slices.Sort(at)
	var out strings.Builder
	last := uint(0)
	for _, i := range at {
		out.WriteString(text[last:i] + `"`)
		last = i
	}
	return out.String() + text[last:]
}

// called sees each command before it runs. Of what the interpreter can do by
// itself, Bun's shell has no commands that run more text.
func (r *bunshellRunning) called(ctx context.Context, args []string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	held := 0
	for _, variable := range interp.HandlerCtx(ctx).Env.Each {
		held += len(variable.Str)
		for _, one := range variable.List {
			held += len(one)
		}
	}
	for _, word := range args {
		held += len(word)
	}
	times := 1
	if args[0] == weighing {
		times, _ = strconv.Atoi(args[1]) // it was made by us
	}
	if held > mostHeld/max(times, 1) {
		r.cancel(errTooMuch)
		return nil, errTooMuch
	}
	if args[0] == "printf" { // the program of that name uses its own memory
		return append([]string{asProgram + args[0]}, args[1:]...), nil
	}
	if runsText(args[0]) || args[0] == "command" && slices.ContainsFunc(args[1:], runsText) {
		return []string{unknownCommand, args[0]}, nil
	}
	hc := interp.HandlerCtx(ctx)
	if pattern := r.script.unmatched(hc); pattern != "" {
		return []string{bunshellSaying, "bun: no matches found: " + pattern + "\n"}, nil
	}
	return ownWords(hc, args), nil
}

// note records the words of a command that are file patterns. Of the pattern characters, Bun's
// shell supports the star.
func (s *ShellScript) note(call *syntax.CallExpr) {
	for _, word := range call.Args {
		if slices.ContainsFunc(word.Parts, starred) {
			at := call.Args[0].Pos().Offset()
			if s.globs == nil {
				s.globs = map[uint][]*syntax.Word{}
			}
			s.globs[at] = append(s.globs[at], word)
		}
	}
}

// starred reports whether a part of a word has an unquoted star.
func starred(part syntax.WordPart) bool {
	lit, ok := part.(*syntax.Lit)
	if !ok {
		return false
	}
	for i := 0; i < len(lit.Value); i++ {
		switch lit.Value[i] {
		case '\\':
			i++
		case '*':
			return true
		}
	}
	return false
}

// unmatched returns a word of a command that is a pattern without matching files; "" if there is
// none.
func (s *ShellScript) unmatched(hc interp.HandlerContext) string {
	words := s.globs[hc.Pos.Offset()]
	if len(words) == 0 || !hc.Pos.IsValid() {
		return ""
	}
	config := &expand.Config{Env: inFolder{hc.Env, hc.Dir}, ReadDir2: os.ReadDir, NullGlob: true}
	for _, word := range words {
		found, err := expand.Fields(config, word)
		if err != nil || len(found) > 0 { // what a command says is not known here
			continue
		}
		if pattern, err := expand.Literal(config, word); err == nil {
			return pattern
		}
	}
	return ""
}

// inFolder is the value of variables in a folder.
type inFolder struct {
	expand.Environ
	dir string
}

// Get is the value of a variable.
func (e inFolder) Get(name string) expand.Variable {
	if name == "PWD" {
		return expand.Variable{Set: true, Kind: expand.String, Str: e.dir}
	}
	return e.Environ.Get(name)
}

// The names of internal commands, which no script can write: one for a command that does not exist,
// one that checks the values of variables, and the prefix of those that are not the interpreter's
// own.
const (
	unknownCommand = "\x00"
	weighing       = "\x00\x00"
	asProgram      = "\x00\x00\x00"
)

// weighed inserts, before a statement that joins variables in its words or its input, a check of
// their size, so that they cannot grow without bounds. mine are statements that were made so.
func weighed(st *syntax.Stmt, mine map[*syntax.Stmt]bool) {
	if mine[st] {
		return
	}
	times := 0
	syntax.Walk(st, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			return node == st
		case *syntax.ParamExp, *syntax.CmdSubst:
			times++
		}
		return true
	})
	if times < 2 {
		return
	}
	literal := func(text string) *syntax.Word {
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}
	}
	first := &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(weighing), literal(strconv.Itoa(times))}}}
	second := &syntax.Stmt{Cmd: st.Cmd, Redirs: st.Redirs} // these are expanded before what is in the block
	mine[first], mine[second] = true, true
	st.Redirs = nil
	st.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{first, second}}
}

func runsText(name string) bool {
	switch name {
	case "eval", "source", ".", "trap", "alias", "unalias", "builtin":
		return true
	}
	return false
}

// countWords estimates how many words the braces of a word produce, never too few.
func countWords(word *syntax.Word) int {
	n := 1
	for _, part := range word.Parts {
		braces, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		sum := 0
		for _, elem := range braces.Elems {
			sum += countWords(elem)
		}
		if braces.Sequence {
			sum = sequence(braces.Elems)
		}
		if n *= max(sum, 1); n > mostWords {
			return n
		}
	}
	return n
}

// sequence counts the steps of {from..to} without regard to how wide they are.
func sequence(ends []*syntax.Word) int {
	var from, to int
	if len(ends) < 2 {
		return 1
	}
	if _, err := fmt.Sscanf(ends[0].Lit()+" "+ends[1].Lit(), "%d %d", &from, &to); err != nil {
		return 256 // letters
	}
	if steps := math.Abs(float64(to) - float64(from)); steps < mostWords {
		return int(steps) + 1
	}
	return mostWords + 1
}
