package command

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// varValues holds everything that the variables of a line may contain, in whatever order the line
// runs: every value that it assigns anywhere. Other values are unknown. Parameters are combined as
// those of @.
type varValues struct {
	given   map[string][]source
	inputs  []source            // what the line hands to commands as their input
	texts   map[string][]string // values in words such as env A=x
	held    map[string]holding
	ready   bool
	moved   bool // something changes the folder
	opening bool // something was met that is not known
	budget  int  // how many more texts are made
	depth   int  // how many substitutions are around
}

// A source is what a variable is set to: a word, the output or the input of commands, or another
// variable that it refers to.
type source struct {
	src   string
	name  string
	word  *syntax.Word
	stmt  *syntax.Stmt
	input bool
	more  bool // it is put behind the value that there is
	item  bool // a pattern is replaced by what it matches
}

// A holding is the possible contents of a variable. all says that there are no others.
type holding struct {
	texts []string
	all   bool
}

const (
	maxTexts  = 16   // how many values of one variable are followed
	maxText   = 4096 // how long they may grow
	maxWork   = 2000 // how many are made for a line
	maxTrials = 32   // in how many ways a command is read
	maxDepth  = 4    // how deep substitutions are followed
)

// In a text, Unknown stands for unknown text, and the name of a person between these two for the
// home folder.
const homeOpen, homeClose = "\x01", "\x02"

// unset stands where nothing does if a variable is not set.
const unset = "\x03"

func (r *reading) vars() *varValues {
	if r.assigned == nil {
		r.assigned = &varValues{given: map[string][]source{}, budget: maxWork}
	}
	return r.assigned
}

// give notes what a variable is given.
func (c *collector) give(name string, all ...source) {
	v := c.r.vars()
	for _, s := range all {
		s.src = c.src
		v.given[name] = append(v.given[name], s)
	}
}

func (c *collector) giveWords(name string, words []*syntax.Word) {
	for _, w := range words {
		c.give(name, source{word: w, item: true})
	}
}

// giveRaw notes words of which there is only the text.
func (c *collector) giveRaw(name string, words []Word) {
	for _, w := range words {
		parsed := parseWord(w.Raw)
		if parsed == nil {
			parsed = &syntax.Word{}
		}
		c.r.vars().given[name] = append(c.r.vars().given[name], source{src: w.Raw, word: parsed})
	}
}

// giveInput notes what a statement is handed as its input.
func (c *collector) giveInput(s, from *syntax.Stmt) {
	if from != nil {
		c.r.vars().inputs = append(c.r.vars().inputs, source{src: c.src, stmt: from})
	}
	for _, r := range s.Redirs {
		w := r.Word
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc == nil {
				continue
			}
			w = &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: r.Hdoc.Parts}}}
		case syntax.WordHdoc, syntax.RdrIn:
		default:
			continue
		}
		c.r.vars().inputs = append(c.r.vars().inputs, source{src: c.src, word: w})
	}
}

func parseWord(raw string) *syntax.Word {
	var only *syntax.Word
	for w, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).WordsSeq(strings.NewReader(raw)) {
		if err != nil || only != nil {
			return nil
		}
		only = w
	}
	return only
}

// Trials returns the ways in which a unit reads once its variables are replaced by their possible
// values; none if no value is known.
func (l Line) Trials(u Unit) (all []Unit) {
	defer func() {
		if recover() != nil { // as in Parse
			all = nil
		}
	}()
	v := l.values
	if v == nil || v.budget <= 0 {
		return nil
	}
	l.collectValues()
	words := make([][][]Word, 0, len(u.Words)+len(u.Redirects))
	ways, changed := 1, false
	goes := len(u.Words) > 0 && (u.Words[0].Value == "cd" || u.Words[0].Value == "pushd")
	look := func(w Word) {
		alts := [][]Word{{w}}
		if goes && w.Literal && w.Value != "" && len(v.given["CDPATH"])+len(v.texts["CDPATH"]) > 0 {
			for _, list := range v.valuesOf("CDPATH").texts {
				for _, from := range strings.Split(list, ":") {
					alts, changed = append(alts, split([]bit{{text: from + "/" + w.Value}}, blanks)), true
				}
			}
		}
		if computedWord(w) && !v.inKnownFolder(w.Raw) {
			more, _ := v.fields(w.Raw)
			if !goes { // cd without a folder goes home
				more = slices.DeleteFunc(more, func(words []Word) bool { return len(words) == 0 })
			}
			if informs(more) {
				alts, changed = more, true
			}
		}
		if strings.Contains(w.Shape, Unknown) && (w.Raw == "" || strings.Contains(w.Raw, "{}")) { // what xargs is handed
			for _, text := range v.sourceTexts(source{input: true}) {
				text = strings.ReplaceAll(w.Shape, Unknown, text)
				alts, changed = append(alts, split([]bit{{text: text, split: w.Raw == ""}}, blanks)), true
			}
		}
		words = append(words, alts)
		ways = min(ways*len(alts), maxTrials)
	}
	for _, w := range u.Words {
		look(w)
	}
	for _, r := range u.Redirects {
		look(r.Target)
	}
	if !changed {
		return nil
	}
	for n := range ways {
		t := u
		t.Words, t.Redirects = nil, slices.Clone(u.Redirects)
		at := n
		for i, alts := range words {
			pick := alts[at%len(alts)]
			at /= len(alts)
			switch {
			case i < len(u.Words):
				t.Words = append(t.Words, pick...)
			case len(pick) == 1:
				t.Redirects[i-len(u.Words)].Target = pick[0]
			}
		}
		all = append(all, t)
	}
	return all
}

// inKnownFolder reports whether a word begins with one of the folders that every shell knows, and
// is otherwise known: the search for files handles such a word unchanged.
func (v *varValues) inKnownFolder(raw string) bool {
	raw = strings.ReplaceAll(raw, `"`, "")
	for _, name := range []string{"HOME", "PWD"} {
		for _, head := range []string{"$" + name, "${" + name + "}"} {
			rest, ok := strings.CutPrefix(raw, head)
			if ok && len(v.given[name])+len(v.texts[name]) == 0 && (rest == "" || rest[0] == '/') && !strings.ContainsAny(rest, "$`{\\'") {
				return true
			}
		}
	}
	return false
}

// computedWord reports whether a word has an expansion, or a list in braces, of
// which values may be known.
func computedWord(w Word) bool {
	list := strings.Contains(w.Raw, "{") && (strings.Contains(w.Raw, ",") || strings.Contains(w.Raw, ".."))
	return !w.Literal && (list || strings.ContainsAny(w.Raw, "$`"))
}

// informs reports whether something is known of one of some readings.
func informs(alts [][]Word) bool {
	return slices.ContainsFunc(alts, func(words []Word) bool {
		return len(words) != 1 || words[0].Shape != Unknown
	})
}

// collectValues is done once all was read: it finds the values that stand in words.
func (l Line) collectValues() { l.values.collect(l.Units, l.Functions) }

func (v *varValues) collect(units []Unit, functions []string) {
	if v.ready {
		return
	}
	v.ready = true
	v.held, v.texts = map[string]holding{}, map[string][]string{}
	called := map[string]bool{}
	var refs [][2]string
	for _, name := range functions {
		called[name] = true
	}
	for _, u := range units {
		for i, w := range u.Words {
			if i > 0 && called[u.Words[0].Value] {
				v.given["@"] = append(v.given["@"], source{src: w.Raw, word: parseWord(w.Raw)})
			}
			if name, _, ok := strings.Cut(w.Shape, "="); i == 0 || !ok || !identifier(bareName(strings.Trim(name, Unknown))) {
				continue
			}
			for _, text := range v.assembled(w.Raw) {
				if name, value, ok := strings.Cut(text, "="); ok {
					v.texts[bareName(name)] = append(v.texts[bareName(name)], value)
					if identifier(value) && slices.ContainsFunc(u.Words[1:i], reference) {
						refs = append(refs, [2]string{bareName(name), value})
					}
				}
			}
		}
	}
	for _, r := range refs { // what one of them is given the other one has
		v.given[r[1]] = append(v.given[r[1]], v.given[r[0]]...)
	}
	for _, r := range refs {
		v.given[r[0]] = append(v.given[r[0]], source{name: r[1]})
	}
}

// assembled are the texts of a word such as A=~/x.
func (v *varValues) assembled(raw string) []string {
	w := parseWord(raw)
	if w == nil {
		return nil
	}
	return flat(v.wordReadings(raw, w, true))
}

// fields are the words that a word may become. all says that it becomes nothing
// else.
func (v *varValues) fields(raw string) (alts [][]Word, all bool) {
	w := parseWord(raw)
	if w == nil {
		return nil, false
	}
	before := v.opening
	defer func() { v.opening = before }()
	v.opening = false
	lists := [][]syntax.WordPart{w.Parts}
	if split := *w; strings.Contains(raw, "{") && syntax.SplitBraces(&split) {
		spread, ok := spreadParts(split.Parts)
		if !ok {
			return nil, false
		}
		lists = spread
	}
	breaks := blanks
	for _, text := range v.valuesOf("IFS").texts {
		breaks += text
	}
	alts = [][]Word{nil}
	for _, parts := range lists { // one behind the other
		var next [][]Word
		for _, head := range alts {
			for _, alt := range v.wordReadings(raw, &syntax.Word{Parts: parts}, false) {
				if len(next) < maxTexts {
					next = append(next, append(slices.Clip(head), split(alt, breaks)...))
				} else {
					v.opening = true
				}
			}
		}
		alts = next
	}
	return alts, !v.opening
}

const blanks = " \t\n"

// A bit is a part of a word: text that bash takes literally, splits, or treats as a pattern.
type bit struct {
	text  string
	split bool
	live  bool
	gap   bool // another word begins
}

// wordReadings are the ways in which a word reads.
func (v *varValues) wordReadings(src string, w *syntax.Word, assign bool) [][]bit {
	alts := [][]bit{nil}
	for i, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			alts = v.join(alts, [][]bit{unquotedBits(lit.Value, i == 0, assign)})
			continue
		}
		alts = v.join(alts, v.partReadings(src, p, false))
	}
	return alts
}

// join puts each of some ways behind each of others.
func (v *varValues) join(alts, more [][]bit) [][]bit {
	var out [][]bit
	for _, a := range alts {
		for _, m := range more {
			if v.budget--; v.budget < 0 || len(out) >= maxTexts {
				v.opening = true
				return out
			}
			out = append(out, append(slices.Clip(a), m...))
		}
	}
	return out
}

// unquotedBits reads text without quotes.
func unquotedBits(s string, first, assign bool) (out []bit) {
	s = printable(s)
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				out = append(out, bit{text: s[i : i+1]})
			}
		case s[i] == '~' && (first && i == 0 || assign && i > 0 && strings.IndexByte(":=", s[i-1]) >= 0):
			end := len(s)
			if n := strings.IndexAny(s[i:], "/:"); n >= 0 {
				end = i + n
			}
			who := s[i+1 : end]
			if strings.Trim(who, letters+"-.+") != "" {
				out = append(out, bit{text: "~", live: true})
				continue
			}
			out = append(out, bit{text: homeOpen + who + homeClose})
			i = end - 1
		default:
			n := strings.IndexAny(s[i+1:], "\\~")
			if n < 0 {
				n = len(s) - i - 1
			}
			out = append(out, bit{text: s[i : i+1+n], live: true})
			i += n
		}
	}
	return out
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

// printable is a text without the characters that mean something in values.
func printable(s string) string {
	if strings.ContainsAny(s, Unknown+homeOpen+homeClose+unset) {
		return strings.NewReplacer(homeOpen, Unknown, homeClose, Unknown, unset, Unknown).Replace(s)
	}
	return s
}

func (v *varValues) partReadings(src string, p syntax.WordPart, quoted bool) [][]bit {
	plain := func(s string) [][]bit { return [][]bit{{{text: printable(s)}}} }
	if v.budget--; v.budget < 0 {
		v.opening = true
		return plain(Unknown)
	}
	switch p := p.(type) {
	case *syntax.Lit: // between quotes
		return plain(unescape(p.Value, "$`\"\\\n"))
	case *syntax.SglQuoted:
		if p.Dollar {
			return plain(ansiC(p.Value))
		}
		return plain(p.Value)
	case *syntax.DblQuoted:
		alts := plain("")
		for _, q := range p.Parts {
			alts = v.join(alts, v.partReadings(src, q, true))
		}
		return alts
	case *syntax.ParamExp:
		return v.parameter(src, p, quoted)
	case *syntax.ArithmExp:
		v.opening = true
		return [][]bit{{{text: Unknown}}, {{text: "0"}}} // no folder but one of a number
	case *syntax.CmdSubst:
		v.opening = true
		alts := [][]bit{{{text: Unknown, split: !quoted, live: !quoted}}}
		for _, s := range p.Stmts {
			for _, text := range v.printed(src, s) {
				alts = append(alts, []bit{{text: text, split: !quoted, live: !quoted}})
			}
		}
		return alts[:min(len(alts), maxTexts)]
	}
	v.opening = true
	return [][]bit{{{text: Unknown, split: !quoted, live: !quoted}}}
}

// isNumericParam knows the parameters that hold a number.
func isNumericParam(p *syntax.ParamExp) bool {
	if p.Length {
		return true
	}
	switch p.Param.Value {
	case "#", "?", "$", "!", "UID", "EUID", "PPID", "RANDOM", "SECONDS", "LINENO", "BASHPID", "OPTIND", "OPTERR", "SHLVL":
		return simpleName(p) != ""
	}
	return false
}

// parameter are the values of an expansion.
func (v *varValues) parameter(src string, p *syntax.ParamExp, quoted bool) [][]bit {
	unknown := [][]bit{{{text: Unknown, split: !quoted, live: !quoted}}}
	if p.Param == nil || p.Excl && keys(p) {
		v.opening = true
		return unknown
	}
	name, all := p.Param.Value, ""
	if w, ok := p.Index.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		all = w.Lit()
	}
	if name == "@" || name == "*" {
		name, all = "@", name
	}
	switch {
	case !p.Excl && isNumericParam(p) && (p.Length || len(v.given[name])+len(v.texts[name]) == 0): // another shell, or unset, makes them variables as others
		alts := [][]bit{{{text: "0"}}}
		if p.Repl != nil { // any digit may be one that is replaced
			for _, text := range v.changed(src, p, []string{Unknown}) {
				alts = append(alts, []bit{{text: text, split: !quoted, live: !quoted}})
			}
		}
		return alts
	case name == "0" && len(v.given["@"]) == 0:
		v.opening = true
		return unknown
	case strings.Trim(name, "0123456789") == "":
		name = "@"
	}
	h := v.valuesOf(name)
	switch {
	case p.Names != 0:
		h = v.namesWithPrefix(name)
	case p.Excl:
		h = v.behind(h)
	}
	texts := v.changed(src, p, h.texts)
	v.opening = v.opening || !h.all
	if all != "" {
		var list []bit
		for i, text := range texts {
			switch {
			case i == 0:
			case all == "*" && quoted:
				list = append(list, bit{text: " "})
			default:
				list = append(list, bit{gap: true})
			}
			list = append(list, bit{text: text, split: !quoted, live: !quoted})
		}
		return [][]bit{list}
	}
	var alts [][]bit
	for _, text := range texts {
		alts = append(alts, []bit{{text: text, split: !quoted, live: !quoted}})
	}
	return alts
}

// namesWithPrefix are the names of variables that begin with a text: ${!HO*}.
func (v *varValues) namesWithPrefix(head string) (h holding) {
	names := []string{"HOME", "PWD", "IFS"}
	for name := range v.given {
		names = append(names, name)
	}
	for _, name := range names {
		if strings.HasPrefix(name, head) {
			h.texts = append(h.texts, name)
		}
	}
	slices.Sort(h.texts)
	h.texts = append(slices.Compact(h.texts), Unknown)
	return h
}

// behind is what variables hold of which another one holds the names: ${!x}.
func (v *varValues) behind(names holding) holding {
	h := holding{all: names.all}
	for _, name := range names.texts {
		of := holding{texts: []string{Unknown}}
		if identifier(name) {
			of = v.valuesOf(name)
		}
		h.texts, h.all = append(h.texts, of.texts...), h.all && of.all
	}
	slices.Sort(h.texts)
	h.texts = slices.Compact(h.texts)
	h.texts = h.texts[:min(len(h.texts), maxTexts)]
	return h
}

// changed returns what an expansion makes of the values of a variable. If the operator is not
// supported, the values themselves stay among the texts: a part of a value lies in the same place.
func (v *varValues) changed(src string, p *syntax.ParamExp, texts []string) []string {
	other := func(w *syntax.Word) []string {
		if w == nil {
			return []string{""}
		}
		return flat(v.wordReadings(src, w, false))
	}
	known := func(w *syntax.Word) (string, bool) {
		if w == nil {
			return "", true
		}
		if strings.ContainsAny(sourceText(src, w), `*?[$`+"`") {
			return "", false
		}
		all := flat(v.wordReadings(src, w, false))
		return strings.Join(all, ""), len(all) == 1
	}
	each := func(change func(string) string) []string {
		out := make([]string, len(texts))
		for i, t := range texts {
			out[i] = change(t)
		}
		return out
	}
	switch {
	case p.Slice != nil:
		from, okFrom := constant(p.Slice.Offset, 0)
		size, okSize := constant(p.Slice.Length, maxText)
		if okFrom && okSize && from >= 0 && size >= 0 && !slices.ContainsFunc(texts, vague) {
			return each(func(t string) string {
				t = t[min(from, len(t)):]
				return t[:min(size, len(t))]
			})
		}
	case p.Repl != nil:
		tos := other(p.Repl.With)
		if from, ok := known(p.Repl.Orig); ok && len(tos)*len(texts) <= maxTexts && !slices.ContainsFunc(texts, hasHome) {
			var out []string
			for _, to := range tos {
				out = append(out, each(func(t string) string { return replaced(t, from, to, p.Repl.All) })...)
				if slices.ContainsFunc(texts, vague) {
					out = append(out, unset+to) // if it is all that is replaced
				}
			}
			return out
		}
		texts = append(slices.Clip(texts), tos...)
	case p.Exp == nil:
		return texts
	default:
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			return append(slices.Clip(texts), other(p.Exp.Word)...)
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			return append([]string{""}, other(p.Exp.Word)...)
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
			return texts
		case syntax.RemSmallPrefix, syntax.RemLargePrefix:
			if head, ok := known(p.Exp.Word); ok && !slices.ContainsFunc(texts, hasHome) {
				return each(func(t string) string { return strings.TrimPrefix(t, head) })
			}
			if lit, ok := strings.CutPrefix(sourceText(src, p.Exp.Word), "*"); ok && plainText(lit) && !slices.ContainsFunc(texts, blurred(lit)) {
				return each(func(t string) string { return cutHead(t, lit, p.Exp.Op == syntax.RemLargePrefix) })
			}
		case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
			tail, ok := known(p.Exp.Word)
			inHome := func(t string) bool { return hasHome(t) && len(t)-1-strings.Index(t, homeClose) < len(tail) }
			if ok && !slices.ContainsFunc(texts, inHome) {
				return each(func(t string) string { return strings.TrimSuffix(t, tail) })
			}
			if lit, ok := strings.CutSuffix(sourceText(src, p.Exp.Word), "*"); ok && plainText(lit) && !slices.ContainsFunc(texts, blurred(lit)) {
				return each(func(t string) string { return cutTail(t, lit, p.Exp.Op == syntax.RemLargeSuffix) })
			}
		}
	}
	v.opening = true
	if slices.ContainsFunc(texts, hasHome) {
		texts = append(slices.Clip(texts), "/"+Unknown) // what begins as a full name may lie anywhere
	}
	return append([]string{Unknown}, texts...)
}

// hasHome reports whether there is a home folder in a text.
func hasHome(text string) bool { return strings.Contains(text, homeOpen) }

// replaced is what ${x/from/to} makes of a text.
func replaced(t, from, to string, all bool) string {
	switch {
	case all:
		if from == "" {
			return t
		}
		return strings.ReplaceAll(t, from, to)
	case strings.HasPrefix(from, "#"):
		if rest, ok := strings.CutPrefix(t, from[1:]); ok {
			return to + rest
		}
		return t
	case strings.HasPrefix(from, "%"):
		if rest, ok := strings.CutSuffix(t, from[1:]); ok {
			return rest + to
		}
		return t
	case from == "":
		return t
	}
	return strings.Replace(t, from, to, 1)
}

// plainText reports whether the text of a pattern stands for itself.
func plainText(lit string) bool {
	return lit != "" && !strings.ContainsAny(lit, "*?[]()|+@!$`\\'\"~"+Unknown+homeOpen+homeClose+unset)
}

// blurred reports whether it is not known where some text occurs in another one. Of a home folder,
// which stands for an absolute path, only the places of the slashes are not known.
func blurred(lit string) func(string) bool {
	return func(t string) bool {
		return strings.ContainsAny(t, Unknown+unset) || hasHome(t) && lit != "/"
	}
}

// cutHead is what ${x#*lit} leaves of a text, or ${x##*lit}.
func cutHead(t, lit string, far bool) string {
	_, end, home := strings.Cut(t, homeClose)
	switch {
	case far && home && strings.Contains(end, lit):
		t = end
	case home:
		return Unknown
	}
	at := strings.Index(t, lit)
	if far {
		at = strings.LastIndex(t, lit)
	}
	if at < 0 {
		return t
	}
	return t[at+len(lit):]
}

// cutTail is what ${x%lit*} leaves of a text, or ${x%%lit*}.
func cutTail(t, lit string, far bool) string {
	head, end, home := strings.Cut(t, homeClose)
	switch {
	case home && far:
		return ""
	case home && end == "":
		return t + "/.."
	case home && strings.Contains(end, lit):
		return head + homeClose + end[:strings.LastIndex(end, lit)]
	case home:
		return Unknown
	}
	at := strings.LastIndex(t, lit)
	if far {
		at = strings.Index(t, lit)
	}
	if at < 0 {
		return t
	}
	return t[:at]
}

// vague reports whether the characters of a text are not known one by one.
func vague(text string) bool { return strings.ContainsAny(text, Unknown+homeOpen+unset) }

// constant reads a number that is written as one.
func constant(x syntax.ArithmExpr, missing int) (int, bool) {
	if x == nil {
		return missing, true
	}
	w, ok := x.(*syntax.Word)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(w.Lit())
	return n, err == nil
}

func sourceText(src string, n syntax.Node) string {
	return src[min(offset(n.Pos()), len(src)):min(offset(n.End()), len(src))]
}

// flat are the texts of ways to read a word that is not split.
func flat(alts [][]bit) (out []string) {
	for _, alt := range alts {
		var b strings.Builder
		for _, bit := range alt {
			if bit.gap {
				b.WriteByte(' ')
			}
			b.WriteString(bit.text)
		}
		if b.Len() > maxText {
			out = append(out, Unknown)
		} else {
			out = append(out, b.String())
		}
	}
	return out
}

// valuesOf is what a variable may hold.
func (v *varValues) valuesOf(name string) holding {
	if h, ok := v.held[name]; ok {
		return h
	}
	given, texts := v.given[name], v.texts[name]
	if len(given)+len(texts) == 0 {
		return v.fixed(name)
	}
	v.held[name] = holding{texts: []string{Unknown}} // a variable that is made of itself
	before := v.opening
	v.opening = false
	h := holding{texts: slices.Clone(texts)}
	if name == "HOME" || name == "PWD" { // it may be used before
		h.texts = append(h.texts, v.fixed(name).texts...)
	}
	for _, s := range given {
		more := v.sourceTexts(s)
		if s.more {
			if len(h.texts) == 0 {
				h.texts = []string{Unknown, ""}
			}
			for _, head := range h.texts {
				for _, tail := range more {
					h.texts = append(h.texts, head+tail)
				}
				if len(h.texts) > maxTexts {
					break
				}
			}
		} else {
			h.texts = append(h.texts, more...)
		}
		if len(h.texts) > maxTexts {
			h.texts, v.opening = h.texts[:maxTexts], true
			break
		}
	}
	slices.Sort(h.texts)
	h.texts = slices.Compact(h.texts)
	h.all = name != "_" && !v.opening && !slices.ContainsFunc(h.texts, func(t string) bool { return strings.Contains(t, Unknown) })
	v.opening = before
	v.held[name] = h
	return h
}

// fixed is what a variable holds that the line gives nothing.
func (v *varValues) fixed(name string) holding {
	switch name {
	case "@": // without a function or a script around it
		return holding{texts: []string{""}}
	case "HOME":
		return holding{texts: []string{homeOpen + homeClose}, all: true}
	case "PWD":
		return holding{texts: []string{homeOpen + "+" + homeClose}, all: !v.moved}
	case "IFS":
		return holding{texts: []string{blanks}, all: true}
	case "PS4":
		return holding{texts: []string{"+ "}}
	}
	return holding{texts: []string{Unknown, unset}}
}

// sourceTexts are the texts of a source.
func (v *varValues) sourceTexts(s source) (out []string) {
	switch {
	case s.name != "":
		h := v.valuesOf(s.name)
		v.opening = v.opening || !h.all
		out = h.texts
	case s.input:
		v.opening = true
		for _, in := range v.inputs {
			for _, text := range v.sourceTexts(in) {
				out = append(append(out, strings.TrimRight(text, "\n")), strings.Fields(text)...)
				if len(out) > maxTexts {
					return out[:maxTexts]
				}
			}
		}
	case s.stmt != nil:
		v.opening = true
		out = v.printed(s.src, s.stmt)
	case s.word != nil:
		if p, ok := process(s.word); ok {
			v.opening = true
			for _, stmt := range p.Stmts {
				out = append(out, v.printed(s.src, stmt)...)
			}
			return out
		}
		alts := v.wordReadings(s.src, s.word, true)
		for i := range alts {
			if s.item {
				alts[i] = unmatched(alts[i])
			}
		}
		out = flat(alts)
	}
	return out
}

// unmatched is a way to read a word up to where it is a pattern.
func unmatched(alt []bit) []bit {
	for i, b := range alt {
		if at := strings.IndexAny(b.text, "*?["); b.live && at >= 0 {
			return append(slices.Clone(alt[:i]), bit{text: b.text[:at] + Unknown})
		}
	}
	return alt
}

func process(w *syntax.Word) (*syntax.ProcSubst, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	p, ok := w.Parts[0].(*syntax.ProcSubst)
	return p, ok
}

// printed are texts that a statement may print: those that its commands are
// given, whatever they do with them.
func (v *varValues) printed(src string, s *syntax.Stmt) (out []string) {
	if v.depth++; v.depth > maxDepth {
		v.depth--
		return nil
	}
	defer func() { v.depth-- }()
	syntax.Walk(s, func(n syntax.Node) bool {
		if v.budget--; v.budget < 0 || len(out) >= maxTexts {
			return false
		}
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		name := call.Args[0].Lit()
		args := call.Args[1:]
		says := name == "echo" || name == "printf"
		all := [][]bit{nil}
		for i, a := range args {
			alts := v.wordReadings(src, a, false)
			switch {
			case !says:
				for _, text := range flat(alts) {
					out = append(out, v.printedTexts(name, text)...)
				}
			case name == "echo" && i == 0 && strings.HasPrefix(a.Lit(), "-"):
			case name == "printf" && i == 0:
				for j := range alts {
					alts[j] = []bit{{text: strings.Join(flat(alts[j:j+1]), "")}}
				}
				all = alts
			default:
				all = v.join(v.join(all, [][]bit{{{gap: true}}}), alts)
			}
		}
		if name == "pwd" {
			out = append(out, homeOpen+"+"+homeClose)
		}
		if says {
			for _, text := range flat(all) {
				out = append(out, said(name, text))
			}
		}
		return false
	})
	return out[:min(len(out), maxTexts)]
}

// printedTexts are texts that a command may print which is given one.
func (v *varValues) printedTexts(name, text string) []string {
	out := []string{text}
	switch {
	case name == "dirname" && (strings.Contains(text, "/") || hasHome(text)):
		if text = cutTail(text, "/", false); text == "" {
			text = "/"
		}
		out = append(out, text)
	case name == "printenv" && identifier(text):
		out = append(out, v.valuesOf(text).texts...)
	case name == "eval" || posixShell(name):
		code, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
		if err != nil {
			break
		}
		for _, s := range code.Stmts {
			out = append(out, v.printed(text, s)...)
		}
	}
	return out
}

// said is what echo or printf prints of its words, which stand behind one
// another with a blank between.
func said(name, text string) string {
	text = ansiC(text)
	if name == "echo" {
		return strings.TrimPrefix(text, " ")
	}
	format, rest, _ := strings.Cut(text, " ")
	for strings.Contains(format, "%") {
		at := strings.IndexByte(format, '%')
		word, after, _ := strings.Cut(rest, " ")
		if at+1 == len(format) || strings.IndexByte("sbq", format[at+1]) < 0 {
			return format[:at] + Unknown
		}
		format, rest = format[:at]+word+format[at+2:], after
	}
	return format
}

// split are the words that bash makes of a way to read one.
func split(alt []bit, breaks string) (out []Word) {
	var f field
	for _, b := range alt {
		switch {
		case b.gap:
			out = f.end(out)
		case !b.split:
			f.add(b.text, b.live)
			f.has = true
		default:
			for text := b.text; text != ""; {
				at := strings.IndexAny(text, breaks)
				if at < 0 {
					f.add(text, true)
					break
				}
				f.add(text[:at], true)
				out = f.end(out)
				text = text[at+1:]
			}
		}
		if b.split && strings.Contains(b.text, Unknown) {
			f.split = true
		}
	}
	return f.end(out)
}

// A field is a word that is being made.
type field struct {
	value, pattern strings.Builder
	has            bool
	tilde          bool
	home           bool // it ends with a home folder
	glob           bool
	unknown        bool
	split          bool
	guess          bool
}

func (f *field) add(text string, live bool) {
	for i := 0; i < len(text); i++ {
		f.has = f.has || text[i] != unset[0]
		if f.home && text[i] != unset[0] {
			f.home = false
			if text[i] != '/' { // another folder beside it
				f.unknown = true
				f.value.WriteString("/../" + Unknown)
			}
		}
		switch c := text[i]; {
		case c == unset[0]:
			f.guess = true
		case c == Unknown[0]:
			f.unknown = true
			f.value.WriteByte(c)
		case c == homeOpen[0]:
			end := i + max(strings.Index(text[i:], homeClose), 0)
			if f.value.Len() > 0 || end == i {
				f.unknown = true
				f.value.WriteString(Unknown)
			} else {
				f.tilde, f.home = true, true
				f.value.WriteString("~" + text[i+1:end])
				f.pattern.WriteString("~" + text[i+1:end])
			}
			i = end
		case strings.IndexByte(`*?[`, c) >= 0 && live:
			f.glob = true
			f.value.WriteByte(c)
			f.pattern.WriteByte(c)
		default:
			if strings.IndexByte(`*?[]\`, c) >= 0 {
				f.pattern.WriteByte('\\')
			}
			f.value.WriteByte(c)
			f.pattern.WriteByte(c)
		}
	}
}

// end ends a field, which is a word unless nothing was in it.
func (f *field) end(out []Word) []Word {
	if !f.has {
		return out
	}
	v := f.value.String()
	w := Word{Raw: v, Value: v, Literal: true, Shape: v}
	switch {
	case f.unknown:
		v = strings.ReplaceAll(v, Unknown, "$()")
		w = Word{Raw: v, Value: v, Shape: f.value.String(), Split: f.split}
	case f.glob:
		w = Word{Raw: v, Value: f.pattern.String(), Glob: true, Split: true, Shape: v[:strings.IndexAny(v, "*?[")] + Unknown}
	}
	if !f.tilde && strings.HasPrefix(w.Raw, "~") || w.Raw == "" {
		w.Raw = "'" + w.Raw + "'"
	}
	w.Guess = f.guess
	*f = field{}
	return append(out, w)
}
