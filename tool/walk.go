package tool

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxIssues    = 100       // more would not help anybody
	maxSteps     = 2_000_000 // schemas looked at in one check
	maxGate      = 2_000     // up to this many, the second validator runs too
	maxWalkDepth = 5_000     // schemas within schemas at one time
)

// A walker validates a value against a node. It finds every issue, and returns the value as it
// should have been written: defaults filled in, coercions made, keys in order and unknown ones
// dropped.
type walker struct {
	path   []pathStep
	issues []Issue
	notes  []string // a line of help for each issue
	advice []string // keys that were probably meant
	count  int      // issues so far, including those not kept

	probe  bool // only find out whether a value fits
	strict bool // report a key to drop as an issue
	inner  bool // within the issues of a union

	repair  bool
	repairs []Repair
	dropped []Repair // unknown keys

	steps, depth int
}

// A pathStep leads from a value to one that it contains.
type pathStep struct {
	key string
	i   int // in an array
	arr bool
}

func (w *walker) pushKey(key string) { w.path = append(w.path, pathStep{key: key}) }
func (w *walker) popKey()            { w.path = w.path[:len(w.path)-1] }

func (w *walker) currentPath() []any {
	path := make([]any, 0, len(w.path))
	for _, s := range w.path {
		if s.arr {
			path = append(path, s.i)
		} else {
			path = append(path, s.key)
		}
	}
	return path
}

// dotted returns a path as text.
func dotted(path []any) string {
	words := make([]string, 0, len(path))
	for _, s := range path {
		switch s := s.(type) {
		case string:
			words = append(words, s)
		case int:
			words = append(words, strconv.Itoa(s))
		}
	}
	return strings.Join(words, ".")
}

// fault records an issue. what is called only if the issue is kept.
func (w *walker) fault(v value, what func() finding) {
	w.count++
	if w.probe || len(w.issues) >= maxIssues {
		return
	}
	f := what()
	i := f.issueAt(w.currentPath())
	w.issues = append(w.issues, i)
	if !w.inner {
		w.notes = append(w.notes, hintLine(i, v))
	}
}

// walk returns v as n would have it. If w.count has grown, v does not fit and the result is
// meaningless.
func (w *walker) walk(n *node, v value) value {
	w.steps++
	w.depth++
	defer func() { w.depth-- }()
	switch {
	case w.steps > maxSteps || w.depth > maxWalkDepth:
		w.fault(v, func() finding { return custom("invalid-json", "Invalid input: too large to be checked") })
		return v
	case n.never:
		w.fault(v, func() finding { return wrongType("never", v.kind) })
		return v
	case n.null && v.kind == null:
		return v
	case n.coerce && v.kind == text:
		got, ok := coerced(v)
		if !ok {
			w.fault(v, notANumber)
			return v
		}
		v = got
	case w.repair:
		v = w.unquoted(n, v)
	}
	before := w.count
	v = w.walkOwn(n, v)
	if w.count > before || n.all == nil && n.any == nil && n.one == nil {
		return v
	}
	return w.combined(n, v)
}

// combined validates v against the schemas that n combines.
func (w *walker) combined(n *node, v value) value {
	before := w.count
	for _, sub := range n.all {
		v = w.walk(sub, v)
	}
	if n.any != nil {
		v = w.anyOf(n.any, v, false)
	}
	if n.one != nil {
		v = w.anyOf(n.one, v, true)
	}
	if v.kind == object && len(n.props) > 0 && w.count == before {
		v.kids = ordered(n, v.kids)
	}
	return v
}

// among reports whether n lists v as a value. Lists and objects are compared one by one, which
// counts towards maxSteps.
func (w *walker) among(n *node, v value) bool {
	if key, ok := plainKey(v); ok {
		return n.options[key]
	}
	w.steps += len(n.enum)
	return w.steps <= maxSteps && slices.ContainsFunc(n.enum, func(e value) bool { return equal(e, v) })
}

// walkOwn validates v against what n itself says.
func (w *walker) walkOwn(n *node, v value) value {
	if n.enum != nil && !w.among(n, v) {
		w.fault(v, func() finding { return notAnOption(n.enum, v.kind) })
		return v
	}
	if !n.takes(v.kind) {
		w.fault(v, func() finding { return wrongType(n.expected(), v.kind) })
		return v
	}
	switch v.kind {
	case number:
		return w.walkNumber(n, v)
	case text:
		w.text(n, v)
	case array:
		return w.walkArray(n, v)
	case object:
		return w.walkObject(n, v)
	}
	return v
}

// coerced returns the number in a string.
func coerced(v value) (value, bool) {
	p := parser{s: v.text}
	got, err := p.parse()
	return got, err == nil && got.kind == number
}

func (w *walker) walkNumber(n *node, v value) value {
	if n.integer && (v.text == "-0" || strings.TrimLeft(v.text, "-0123456789") != "") {
		d := parseDecimal(v.text)
		if !d.integral() {
			w.fault(v, notWhole)
			return v
		}
		v.text = d.String()
	}
	if !n.low.set && !n.high.set {
		return v
	}
	f, _ := strconv.ParseFloat(v.text, 64) // the parser has checked it
	if b := n.low; b.set && (f < b.at || b.open && f == b.at) {
		w.fault(v, edge{origin: "number", limit: jsNumber(b.at), open: b.open}.finding)
	}
	if b := n.high; b.set && (f > b.at || b.open && f == b.at) {
		w.fault(v, edge{origin: "number", limit: jsNumber(b.at), above: true, open: b.open}.finding)
	}
	return v
}

func jsNumber(f float64) string {
	b, _ := json.Marshal(f) // a schema has no infinities
	return string(b)
}

func (w *walker) text(n *node, v value) {
	if n.minLen > 0 || n.maxLen >= 0 {
		length := utf8.RuneCountInString(v.text)
		if length < n.minLen {
			w.fault(v, edge{origin: "string", limit: strconv.Itoa(n.minLen)}.finding)
		}
		if n.maxLen >= 0 && length > n.maxLen {
			w.fault(v, edge{origin: "string", limit: strconv.Itoa(n.maxLen), above: true}.finding)
		}
	}
	if n.pattern != nil && !n.pattern.MatchString(v.text) {
		w.fault(v, func() finding { return noMatch(n.pattern.String()) })
	}
}

func (w *walker) walkArray(n *node, v value) value {
	before := w.count
	if n.items != nil || n.prefix != nil {
		kids := make([]member, len(v.kids))
		for i := range v.kids {
			item := n.items
			if i < len(n.prefix) {
				item = n.prefix[i]
			}
			kids[i] = v.kids[i]
			if item != nil {
				w.path = append(w.path, pathStep{i: i, arr: true})
				kids[i].val = w.walk(item, v.kids[i].val)
				w.popKey()
			}
		}
		v.kids = kids
	}
	if w.count > before {
		return v
	}
	if len(v.kids) < n.minSize {
		w.fault(v, edge{origin: "array", limit: strconv.Itoa(n.minSize), message: n.minSizeMessage}.finding)
	}
	if n.maxSize >= 0 && len(v.kids) > n.maxSize {
		w.fault(v, edge{origin: "array", limit: strconv.Itoa(n.maxSize), above: true}.finding)
	}
	return v
}

// A lookup finds members by key and records which were looked up.
type lookup struct {
	kids []member
	used []bool
	at   map[string]int // for objects of many keys
}

func (l *lookup) find(key string) int {
	if len(l.kids) <= 16 {
		return find(l.kids, key)
	}
	if l.at == nil {
		l.at = make(map[string]int, len(l.kids))
		for i := range l.kids {
			l.at[l.kids[i].key] = i
		}
	}
	if i, ok := l.at[key]; ok {
		return i
	}
	return -1
}

func (w *walker) walkObject(n *node, v value) value {
	var few [16]bool
	l := lookup{kids: v.kids, used: few[:]}
	if len(v.kids) > len(few) {
		l.used = make([]bool, len(v.kids))
	}
	out := make([]member, 0, max(len(v.kids), len(n.props)))
	var missing []*prop
	for i := range n.props {
		p := &n.props[i]
		got := w.member(n, p, &l)
		switch {
		case got.kind != absent:
			w.pushKey(p.name)
			got = w.walk(p.node, got)
			w.popKey()
		default:
			got = w.defaultValue(p)
		}
		if got.kind != absent {
			out = append(out, member{p.name, got})
		} else if p.required {
			missing = append(missing, p)
			w.absent(p)
		}
	}
	for _, name := range n.need {
		if l.find(name) < 0 {
			w.absent(&prop{name: name, node: &node{}})
		}
	}
	if missing != nil && !w.probe && !w.inner {
		w.advice = append(w.advice, advise(missing, l)...)
	}
	v.kids = w.others(n, &l, out)
	return v
}

// member returns the value that the object has for p.
func (w *walker) member(n *node, p *prop, l *lookup) value {
	at := l.find(p.name)
	if at < 0 && w.repair {
		at = w.renamed(n, p, l)
	}
	if at < 0 {
		return value{}
	}
	l.used[at] = true
	if got := l.kids[at].val; !p.node.coerce || !isBlank(got) {
		return got
	}
	return value{}
}

func isBlank(v value) bool {
	return v.kind == null || v.kind == text && strings.TrimSpace(v.text) == ""
}

// defaultValue returns the default of p, if it has one and it fits.
func (w *walker) defaultValue(p *prop) value {
	if p.filled == nil {
		return value{}
	}
	got, ok := w.tryWalk(p.node, *p.filled, walker{})
	if !ok {
		return value{}
	}
	return got
}

func (w *walker) absent(p *prop) {
	w.pushKey(p.name)
	w.fault(value{}, func() finding {
		if p.node.enum != nil {
			return notAnOption(p.node.enum, absent)
		}
		return wrongType(p.node.expected(), absent)
	})
	w.popKey()
}

// others appends the members without a schema of their own to out.
func (w *walker) others(n *node, l *lookup, out []member) []member {
	for i := range l.kids {
		if l.used[i] {
			continue
		}
		kid := l.kids[i]
		known := false
		w.pushKey(kid.key)
		for _, m := range n.match {
			if m.re.MatchString(kid.key) {
				known = true
				kid.val = w.walk(m.node, kid.val)
			}
		}
		switch {
		case known:
		case n.closed:
			w.popKey()
			w.dropUnknownKey(n, l, i)
			continue
		case n.folded != nil && n.folded[fold(kid.key)]:
			w.popKey()
			w.dropUnknownKey(n, l, i)
			continue
		case n.rest != nil:
			kid.val = w.walk(n.rest, kid.val)
		}
		w.popKey()
		out = append(out, kid)
	}
	return out
}

// ordered puts the members that n names first.
func ordered(n *node, kids []member) []member {
	l := lookup{kids: kids, used: make([]bool, len(kids))}
	out := make([]member, 0, len(kids))
	for i := range n.props {
		if at := l.find(n.props[i].name); at >= 0 {
			l.used[at] = true
			out = append(out, kids[at])
		}
	}
	for i := range kids {
		if !l.used[i] {
			out = append(out, kids[i])
		}
	}
	return out
}

// tryWalk walks v in the given mode and reports whether it fits. It records nothing but the changes
// to a value that does.
func (w *walker) tryWalk(n *node, v value, mode walker) (value, bool) {
	count, probe, strict, repair := w.count, w.probe, w.strict, w.repair
	repairs, dropped := len(w.repairs), len(w.dropped)
	w.probe, w.strict, w.repair = true, mode.strict, mode.repair
	v = w.walk(n, v)
	ok := w.count == count
	w.count, w.probe, w.strict, w.repair = count, probe, strict, repair
	if !ok {
		w.repairs, w.dropped = w.repairs[:repairs], w.dropped[:dropped]
	}
	return v, ok
}

// anyOf returns v as the first branch would have it that v fits: unchanged; else with unknown keys
// dropped; else repaired. If single is set, v must fit exactly one.
func (w *walker) anyOf(branches []*node, v value, single bool) value {
	modes := []walker{{strict: true}, {}, {repair: true}}
	if w.strict {
		modes = modes[:1]
	} else if !w.repair {
		modes = modes[:2]
	}
	for _, mode := range modes {
		var first value
		fits := 0
		for _, b := range branches {
			got, ok := w.tryWalk(b, v, mode)
			if !ok {
				continue
			}
			if fits++; fits == 1 {
				first = got
			}
			if !single || !mode.strict {
				break
			}
		}
		if fits == 1 {
			return first
		}
		if fits > 1 {
			w.fault(v, func() finding { return noBranch("exactly one of "+wantedOf(branches), v.kind, nil) })
			return v
		}
	}
	w.fault(v, func() finding { return noBranch(wantedOf(branches), v.kind, w.reasons(branches, v)) })
	return v
}

// reasons returns the issues of v with each branch. A union within a branch adds none, because
// their number would double with every level.
func (w *walker) reasons(branches []*node, v value) [][]Issue {
	if w.inner {
		return nil
	}
	out := make([][]Issue, 0, len(branches))
	for _, b := range branches {
		sub := walker{inner: true, steps: w.steps, depth: w.depth}
		sub.walk(b, v)
		w.steps = sub.steps
		out = append(out, sub.issues)
	}
	return out
}
