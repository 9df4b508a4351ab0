package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// oddity says why bash may read a text in another way than the parser has. It
// is empty if nothing of that kind is known.
func oddity(text string, all []*syntax.Stmt) string {
	if strings.HasSuffix(text, "\\") {
		return "it ends in a backslash"
	}
	o := oddities{text: text}
	if strings.Contains(text, "\\\n") {
		o.joins = true
		o.hashes = continuedComments(text)
		o.dollars = joinedDollars(text)
		if strings.Contains(text, "(\\\n(") {
			o.why = "a line that goes on inside an operator"
		}
	}
	if strings.Contains(text, "${") {
		o.quoted = quotedDollars(text)
	}
	if !o.joins && len(o.quoted.at) == 0 && !strings.Contains(text, "<<") {
		return ""
	}
	for _, s := range all {
		syntax.Walk(s, o.visit)
	}
	return o.reason()
}

// oddities looks for places that bash may read in another way.
type oddities struct {
	text  string
	joins bool // a line goes on in the next one
	why   string

	// Places in the text, and whether it has turned out that they are harmless:
	// each # that may begin a comment which ends in a backslash, each $ at the
	// end of such a line, and each $ that quotes part from what is behind it.
	hashes, dollars, quoted spots
}

// spots are places in a text, in their order.
type spots struct {
	at   []int
	fine []bool
}

func (s *spots) add(at int) {
	s.at, s.fine = append(s.at, at), append(s.fine, false)
}

// markFine notes that the places in a part of the text are harmless.
func (s *spots) markFine(from, to int) {
	first, _ := slices.BinarySearch(s.at, from)
	for i := first; i < len(s.at) && s.at[i] < to; i++ {
		s.fine[i] = true
	}
}

// anyIn reports whether there is one in a part of the text.
func (s *spots) anyIn(from, to int) bool {
	first, _ := slices.BinarySearch(s.at, from)
	return first < len(s.at) && s.at[first] < to
}

func (o *oddities) reason() string {
	switch {
	case slices.Contains(o.hashes.fine, false):
		return "a comment that ends in a backslash"
	case slices.Contains(o.dollars.fine, false):
		return "a line that goes on behind a $"
	}
	return o.why
}

// continuedComments finds each # on a line that ends in a backslash.
func continuedComments(text string) (all spots) {
	start := 0
	for line := range strings.Lines(text) {
		if strings.HasSuffix(line, "\\\n") {
			for i := range len(line) {
				if line[i] == '#' && (i == 0 || wordEnd(line[i-1]) || line[i-1] == ')' || line[i-1] == '`') {
					all.add(start + i)
				}
			}
		}
		start += len(line)
	}
	return all
}

// joinedDollars finds each $ before a line's end that is escaped.
func joinedDollars(text string) (all spots) {
	for i := range len(text) {
		if text[i] == '$' && strings.HasPrefix(text[i+1:], "\\\n") {
			all.add(i)
		}
	}
	return all
}

// quotedDollars finds each $ that only quotes part from an opening bracket.
func quotedDollars(text string) (all spots) {
	for i := range len(text) {
		if text[i] != '$' {
			continue
		}
		rest := strings.TrimLeft(text[i+1:min(i+8, len(text))], "\"'\\\n")
		if gap := min(i+8, len(text)) - i - 1 - len(rest); gap > 0 && rest != "" && strings.IndexByte("({[", rest[0]) >= 0 {
			all.add(i)
		}
	}
	return all
}

func (o *oddities) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Lit:
		o.hashes.markFine(offset(n.Pos()), offset(n.End()))
	case *syntax.SglQuoted:
		o.hashes.markFine(offset(n.Pos()), offset(n.End()))
		o.dollars.markFine(offset(n.Pos()), offset(n.End()))
	case *syntax.ParamExp:
		if o.quoted.anyIn(offset(n.Pos())+1, offset(n.End())) {
			o.why = "a $ that quotes part from what is behind it"
		}
	case *syntax.CallExpr:
		o.reserved(n)
	case *syntax.CoprocClause: // it is read again from behind that word
		if !strings.HasPrefix(o.text[min(offset(n.Coproc), len(o.text)):], "coproc") {
			o.why = "a line that goes on inside a word of the grammar"
		}
	case *syntax.Redirect:
		o.document(n)
	}
	return true
}

// reserved looks for a word of the grammar that is written on two lines, which
// the parser takes for a command.
func (o *oddities) reserved(call *syntax.CallExpr) {
	if !o.joins || len(call.Args) == 0 {
		return
	}
	w := call.Args[0]
	raw := o.text[min(offset(w.Pos()), len(o.text)):min(offset(w.End()), len(o.text))]
	if joined := strings.ReplaceAll(raw, "\\\n", ""); joined != raw && reservedWord(joined) {
		o.why = "a line that goes on inside a word of the grammar"
	}
}

func reservedWord(word string) bool {
	switch word {
	case "!", "{", "}", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select",
		"then", "time", "until", "while", "declare", "typeset", "local", "export", "readonly", "let":
		return true
	}
	return false
}

// document looks for the end of a here-document inside an expansion in it,
// where the parser reads on.
func (o *oddities) document(r *syntax.Redirect) {
	if r.Hdoc == nil || len(r.Hdoc.Parts) == 0 || r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc {
		return
	}
	delimiter, _ := readWord(o.text, r.Word, nil)
	if delimiter.Raw != delimiter.Value {
		o.dollars.markFine(offset(r.Hdoc.Pos()), offset(r.Hdoc.End())) // nothing in it is expanded
		return
	}
	body := o.text[min(offset(r.Hdoc.Pos()), len(o.text)):min(offset(r.Hdoc.End()), len(o.text))]
	for _, text := range []string{body, strings.ReplaceAll(body, "\\\n", "")} {
		if !strings.Contains(text, delimiter.Value+"\n") {
			continue
		}
		for line := range strings.Lines(text) {
			line, ended := strings.CutSuffix(line, "\n")
			if r.Op == syntax.DashHdoc {
				line = strings.TrimLeft(line, "\t")
			}
			if ended && line == delimiter.Value {
				o.why = "a here-document that may end early"
			}
		}
	}
}
