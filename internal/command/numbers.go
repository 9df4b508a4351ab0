package command

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// flows records what the line does with the values of variables, anywhere in it and regardless of
// order, because code may be called in any order.
type flows struct {
	origins  map[syntax.Node]origin
	from     map[string]origin // what each variable may hold
	kinds    map[string]string // letters of declare that were given to it: i, a, A, n
	formulas []formula
	lists    []lent
	calls    []called
}

// called is a command with its arguments, which are looked at only if there is a
// formula.
type called struct {
	src   string // where it stands
	words []Word
	args  []*syntax.Word
}

// lent is a text that a declaration gives to a variable, and that is code if it
// is an array.
type lent struct {
	unit int
	name string
}

// A formula is a text that bash evaluates as a number.
type formula struct {
	unit   int // where it stands; negative if that is no unit
	text   string
	inside string
	of     origin
	into   string // it is one only if this variable is a number
	unless string // it is none if this is an array with keys
}

func (f *flows) setOrigin(n syntax.Node, o origin) {
	if f.origins == nil {
		f.origins = map[syntax.Node]origin{}
	}
	f.origins[n] = o
}

// addOrigin notes that a variable may hold something.
func (f *flows) addOrigin(name string, o origin) {
	if name == "" { // that is none
		return
	}
	if f.from == nil {
		f.from = map[string]origin{}
	}
	old := f.from[name]
	old.value(o)
	f.from[name] = old
	if name[0] != '*' { // what it is where it becomes names of files
		if names := fileNamesIn(o.names); o.globs || len(names) > 0 {
			f.addOrigin("*"+name, origin{open: o.globs, names: names})
		}
	}
}

// addKinds notes how a variable was declared.
func (f *flows) addKinds(name, letters string) {
	if f.kinds == nil {
		f.kinds = map[string]string{}
	}
	for i := range len(letters) {
		if !strings.Contains(f.kinds[name], letters[i:i+1]) {
			f.kinds[name] += letters[i : i+1]
		}
	}
}

// weigh finds what bash evaluates as a number in a part of the text, and the variables that are set
// there. The part belongs to a unit, or is not yet one and has a text.
func (c *collector) weigh(unit int, n syntax.Node, text string) {
	w := weigher{c: c, unit: unit, text: text}
	syntax.Walk(n, w.visit)
}

// weighCall is weigh for a command whose words were read.
func (c *collector) weighCall(unit int, cmd *syntax.CallExpr, words []Word) {
	w := weigher{c: c, unit: unit}
	w.call(words, cmd.Args)
	for _, a := range cmd.Assigns {
		syntax.Walk(a, w.visit)
	}
	for i, a := range cmd.Args {
		if strings.Contains(words[i].Raw, "$") { // without it there is no variable and no formula
			syntax.Walk(a, w.visit)
		}
	}
}

type weigher struct {
	c    *collector
	unit int
	text string
}

// addFormula notes a formula.
func (w *weigher) addFormula(f formula) {
	f.unit, f.text, f.inside = w.unit, w.text, w.c.inside
	if f.into != "" {
		f.of.named = f.of.named || f.of.spelt
	}
	if f.of.open || f.of.named || f.of.puzzle || len(f.of.names)+len(f.of.sets) > 0 {
		w.c.r.flows.formulas = append(w.c.r.flows.formulas, f)
	}
}

// formula notes a part of the text that is a formula.
func (w *weigher) formula(n syntax.Node) {
	o := w.c.origin(n)
	o.formula(w.c.formula(n))
	w.addFormula(formula{of: o})
}

// set notes that a variable is set.
func (w *weigher) set(name string, o origin) {
	w.c.r.flows.addOrigin(name, o)
	w.addFormula(formula{of: o, into: name})
}

func (w *weigher) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.Stmt: // they have units of their own
		return false
	case *syntax.ArithmExp:
		w.expr(n.X)
	case *syntax.ArithmCmd:
		w.expr(n.X)
	case *syntax.CStyleLoop:
		w.expr(n.Init)
		w.expr(n.Cond)
		w.expr(n.Post)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			w.expr(x)
		}
	case *syntax.ParamExp:
		w.param(n)
	case *syntax.BinaryTest:
		w.compare(n)
	case *syntax.UnaryTest:
		if x, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			w.index(w.c.parseWord(x).Value)
		}
	default:
		return w.statement(n)
	}
	return true
}

// statement reads what sets variables.
func (w *weigher) statement(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Assign:
		w.assign(n)
	case *syntax.WordIter:
		w.items(n)
	case *syntax.DeclClause:
		words := w.c.declared(n)
		parts := make([]syntax.Node, len(words))
		for i, a := range n.Args {
			if a.Name == nil {
				parts[i+1] = a
			}
		}
		w.declare(words, parts)
	case *syntax.CallExpr:
		words := make([]Word, len(n.Args))
		for i, a := range n.Args {
			words[i] = w.c.parseWord(a)
		}
		w.call(words, n.Args)
	case *syntax.Redirect:
		w.redirect(n)
	}
	return true
}

func (w *weigher) expr(x syntax.ArithmExpr) {
	if x != nil {
		w.formula(x)
	}
}

// subscript reads the index of a variable.
func (w *weigher) subscript(name string, x syntax.ArithmExpr) {
	word, ok := x.(*syntax.Word)
	if x == nil || ok && (word.Lit() == "@" || word.Lit() == "*") {
		return
	}
	o := w.c.origin(x)
	w.c.r.flows.addOrigin("!"+name, o)
	o.formula(w.c.formula(x))
	w.addFormula(formula{of: o, unless: name})
}

// index reads a name that stands in a word, and may have an index.
func (w *weigher) index(text string) {
	if _, index, ok := strings.Cut(text, "["); ok {
		var o origin
		o.text(index)
		w.addFormula(formula{of: o})
	}
}

func (w *weigher) param(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	w.subscript(p.Param.Value, p.Index)
	if p.Slice != nil {
		w.expr(p.Slice.Offset)
		w.expr(p.Slice.Length)
	}
	if p.Exp != nil && p.Exp.Word != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull) {
		w.set(p.Param.Value, w.c.origin(p.Exp.Word))
	}
}

func (w *weigher) compare(b *syntax.BinaryTest) {
	x, left := b.X.(*syntax.Word)
	y, right := b.Y.(*syntax.Word)
	if !left || !right {
		return
	}
	switch b.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		w.formula(x)
		w.formula(y)
	case syntax.TsReMatch:
		pattern := w.c.src[offset(y.Pos()):min(offset(y.End()), len(w.c.src))]
		w.set("BASH_REMATCH", matched(pattern, w.c.origin(x)))
	}
}

func (w *weigher) assign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	w.subscript(name, a.Index)
	if a.Index != nil || a.Array != nil {
		w.c.r.flows.addKinds(name, "a")
	}
	if a.Value != nil {
		w.set(name, w.c.origin(a.Value))
	}
	if a.Array == nil {
		return
	}
	for _, e := range a.Array.Elems {
		w.subscript(name, e.Index)
		if e.Value != nil {
			w.set(name, w.c.fileNamesOrigin(e.Value))
		}
	}
}

// items reads the head of a loop.
func (w *weigher) items(it *syntax.WordIter) {
	if it.Name == nil {
		return
	}
	if !it.InPos.IsValid() {
		w.set(it.Name.Value, origin{names: []string{"@"}})
	}
	for _, item := range it.Items {
		w.set(it.Name.Value, w.c.fileNamesOrigin(item))
	}
}

// redirect reads what a command gets on its input, and a descriptor whose
// number goes into a variable.
func (w *weigher) redirect(r *syntax.Redirect) {
	if r.N != nil && r.N.Value != "0" {
		w.index(r.N.Value)
		return
	}
	switch {
	case r.Op == syntax.WordHdoc:
		w.c.r.flows.addOrigin(inputOf(w.unit), w.c.origin(r.Word))
	case (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) && r.Hdoc != nil:
		w.c.r.flows.addOrigin(inputOf(w.unit), w.c.origin(r.Hdoc))
	case r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut || r.Op == syntax.DplIn:
		w.c.r.flows.addOrigin(inputOf(w.unit), origin{open: true})
	}
}

// inputOf names the input of a unit among the variables.
func inputOf(unit int) string { return "<" + strconv.Itoa(unit) }

// declare reads a declaration. Where there is a part, what it sets is not read
// elsewhere.
func (w *weigher) declare(words []Word, parts []syntax.Node) {
	letters := ""
	for i, word := range words[1:] {
		if strings.HasPrefix(word.Shape, "-") {
			letters += strings.ReplaceAll(word.Shape[1:], Unknown, "iaAn")
			continue
		}
		name, value, _ := cutWord(word, "=")
		w.c.r.flows.addKinds(bareName(name), letters)
		if strings.Contains(letters, "i") && outer(bareName(name)) {
			w.addFormula(formula{of: origin{open: true}})
		}
		if part := parts[i+1]; part != nil {
			w.set(bareName(name), assignedOrigin(value, w.c.origin(part)))
			w.index(name)
		}
	}
}

// assignedOrigin is the origin of the value in a word like name=value, which has that of
// the whole word.
func assignedOrigin(value Word, whole origin) origin {
	if strings.Contains(value.Shape, Unknown) {
		whole.puts = strings.ContainsAny(value.Shape, "=+-")
		return whole
	}
	var o origin
	o.text(value.Shape)
	return o
}

// call reads a simple command.
func (w *weigher) call(words []Word, args []*syntax.Word) {
	for len(words) > 0 && (words[0].Value == "command" || words[0].Value == "builtin" || words[0].Value == "--") {
		words, args = words[1:], args[1:]
	}
	if len(words) == 0 {
		return
	}
	w.c.r.flows.calls = append(w.c.r.flows.calls, called{w.c.src, words, args})
	switch words[0].Value {
	case "declare", "typeset", "local", "export", "readonly":
		parts := make([]syntax.Node, len(args))
		for i, a := range args {
			parts[i] = a
		}
		w.declare(words, parts)
	case "let":
		for _, a := range args[1:] {
			w.formula(a)
		}
	case "unset", "test", "[", "wait":
		for _, word := range words[1:] {
			w.index(word.Value)
		}
	default:
		w.reads(words, args)
	}
}

// reads reads the commands of the shell that set a variable.
func (w *weigher) reads(words []Word, args []*syntax.Word) {
	input := origin{names: []string{inputOf(w.unit)}}
	switch words[0].Value {
	case "read":
		s := grammar{short: "a:d:i:n:N:p:t:u:ersE"}.scan(words)
		names := s.operands(words)
		if o, ok := s.get("a"); ok {
			names = append(names, o.value)
			w.c.r.flows.addKinds(o.value.Value, "a")
		}
		_, input.open = s.get("u")
		w.into(names, "REPLY", input)
	case "mapfile", "readarray":
		s := grammar{short: "d:n:O:s:u:C:c:t"}.scan(words)
		_, input.open = s.get("u")
		names := s.operands(words)
		w.into(names, "MAPFILE", input)
		for _, name := range names {
			w.c.r.flows.addKinds(name.Value, "a")
		}
	case "printf":
		if name, ok := printfName(words); ok {
			var o origin
			p := printer{c: w.c, o: &o, words: words, args: args[1:]}
			p.addArguments()
			w.into([]Word{name}, "", o)
		}
	case "getopts":
		if len(words) > 2 {
			o := origin{names: []string{"@"}}
			for _, a := range args[3:] {
				o.add(w.c.fileNamesOrigin(a))
			}
			w.into(words[2:3], "", o)
			w.set("OPTARG", o)
		}
	}
}

// into notes that variables are set; unnamed is the one that is without a name.
func (w *weigher) into(names []Word, unnamed string, o origin) {
	if len(names) == 0 {
		names = []Word{literalWord(unnamed)}
	}
	for _, n := range names {
		w.index(n.Value)
		w.set(bareName(n.Value), o)
	}
}

// callsArguments notes what commands are given, once.
func (r *reading) callsArguments() {
	for _, call := range r.flows.calls {
		c := collector{src: call.src, r: r}
		c.callArguments(call)
	}
	r.flows.calls = nil
}

// callArguments notes what a command is given: a function and a shell have it as
// $1 and so on, and some have variables among it.
func (c *collector) callArguments(call called) {
	f, words := &c.r.flows, call.words
	var all origin
	code := false
	for i, a := range call.args[1:] {
		o := c.fileNamesOriginAs(a, words[i+1])
		all.add(o)
		code = code || posixShell(baseName(words[i+1].Value))
		if name, value, ok := assignment(words[i+1]); ok && words[0].Value != "let" {
			f.addOrigin(name, assignedOrigin(value, o))
		}
	}
	switch name := baseName(words[0].Value); {
	case name == "set" || name == "source" || name == "." || posixShell(name):
		f.addOrigin("@", all)
	case code:
		all.open = all.open || name == "xargs" || name == "parallel" || name == "find" || name == "fd"
		f.addOrigin("@", all)
	default:
		f.addOrigin("f "+words[0].Value, all)
	}
}

// integer knows the variables that the shell itself keeps as numbers.
func integer(name string) bool {
	switch name {
	case "RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "LINENO", "BASHPID", "MAILCHECK", "PPID", "UID", "EUID", "COMP_CWORD":
		return true
	}
	return false
}

// isArrayVar knows the variables that are arrays from the beginning.
func isArrayVar(name string) bool {
	switch name {
	case "DIRSTACK", "GROUPS", "PIPESTATUS", "FUNCNAME", "MAPFILE", "COPROC", "COMP_WORDS", "COMPREPLY":
		return true
	}
	return strings.HasPrefix(name, "BASH_")
}
