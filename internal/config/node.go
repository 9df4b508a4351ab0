package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/helve-dev/helve/permission"
)

// maxDepth limits the nesting of a config text; everything that walks a tree relies on it.
const maxDepth = 100

// An input is a text that config is read from.
type input struct {
	path    string // as shown
	dir     string // where relative references start
	kind    Kind
	helve   bool // helve's own keys may stand here
	guarded bool // it comes with the project
	trusted bool
	literal bool         // {env:} and {file:} mean themselves
	mixed   bool         // it held bytes that are not UTF-8
	empty   bool         // there is nothing in it but comments
	bare    map[int]bool // where references stand without quotes
	data    []byte
	lines   []int // where each line starts; made when first asked for
	count   int   // problems reported so far
	held    int   // things withheld so far

	files []TrustFile // that are trusted with it
}

// lineAt returns the line of an offset, counted from 1; 0 without a text. It must be fast even in a
// very long line, because it is called for every rule.
func (in *input) lineAt(at int) int {
	if in == nil || in.data == nil {
		return 0
	}
	if in.lines == nil {
		in.lines = []int{0}
		for i, c := range in.data {
			if c == '\n' {
				in.lines = append(in.lines, i+1)
			}
		}
	}
	return sort.SearchInts(in.lines, min(max(at, 0), len(in.data))+1)
}

// positionAt returns the line and column of an offset, counted from 1; columns are characters.
func (in *input) positionAt(at int) (line, col int) {
	if line = in.lineAt(at); line == 0 {
		return 0, 0
	}
	start := in.lines[line-1]
	at = min(max(at, start), len(in.data))
	return line, 1 + utf8.RuneCount(in.data[start:at])
}

func (in *input) sourceAt(at int) permission.Source {
	return permission.Source{File: in.path, Line: in.lineAt(at)}
}

// A node is a JSON value with its origin.
type node struct {
	kind    byte   // o object, a array, s string, n number, b bool, 0 null
	text    string // of a string; the literal of a number or bool
	members []member
	index   map[string]int // of members, once there are many
	elems   []*node
	in      *input
	at      int
	owned   bool // made by a merge, so a merge may change it
	shared  bool // it is there for others to refer to
}

type member struct {
	key string
	val *node
	in  *input
	at  int // of the key
}

func (n *node) sourceRule() permission.Source { return n.in.sourceAt(n.at) }

func stringNode(s string, like *node) *node {
	return &node{kind: 's', text: s, in: like.in, at: like.at}
}

// find returns the place of a key, or -1.
func (n *node) find(key string) int {
	if n.index == nil {
		if len(n.members) <= 8 {
			return slices.IndexFunc(n.members, func(m member) bool { return m.key == key })
		}
		n.index = make(map[string]int, len(n.members))
		for i, m := range n.members {
			n.index[m.key] = i
		}
	}
	if i, ok := n.index[key]; ok {
		return i
	}
	return -1
}

// get returns the value of a key, nil when there is none.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	if i := n.find(key); i >= 0 {
		return n.members[i].val
	}
	return nil
}

// unresolved is the kind of a value with an unresolvable reference; its text says why.
const unresolved = 'x'

// find1 returns the first value for which f is true, n or below it, or nil.
func (n *node) find1(f func(*node) bool) *node {
	if f(n) {
		return n
	}
	for _, m := range n.members {
		if bad := m.val.find1(f); bad != nil {
			return bad
		}
	}
	for _, e := range n.elems {
		if bad := e.find1(f); bad != nil {
			return bad
		}
	}
	return nil
}

// become replaces a node by the value in a text.
func (n *node) become(text string) error {
	got, _, err := parse(&input{data: []byte(text), literal: true})
	if err != nil || strings.TrimSpace(text) == "" {
		return errors.New("what the reference stands for is not JSON; put the reference between quotes")
	}
	var place func(m *node)
	in, at := n.in, n.at
	place = func(m *node) {
		m.in, m.at = in, at
		for i := range m.members {
			m.members[i].in, m.members[i].at = in, at
			place(m.members[i].val)
		}
		for _, e := range m.elems {
			place(e)
		}
	}
	place(got)
	*n = *got
	return nil
}

// clone is a copy that shares nothing with the node.
func (n *node) clone() *node {
	out := *n
	out.index, out.members, out.elems = nil, slices.Clone(n.members), slices.Clone(n.elems)
	for i := range out.members {
		out.members[i].val = out.members[i].val.clone()
	}
	for i := range out.elems {
		out.elems[i] = out.elems[i].clone()
	}
	return &out
}

// garbled reports whether a value or one of its keys is not what was written, because the file is
// not UTF-8.
func (n *node) garbled() bool {
	odd := func(s string) bool { return strings.ContainsRune(s, utf8.RuneError) }
	return n.in != nil && n.in.mixed && (odd(n.text) || slices.ContainsFunc(n.members, func(m member) bool { return odd(m.key) }))
}

// put adds a member or replaces the one with the same key.
func (n *node) put(m member) {
	if i := n.find(m.key); i >= 0 {
		n.members[i] = m
		return
	}
	n.members = append(n.members, m)
	if n.index != nil {
		n.index[m.key] = len(n.members) - 1
	}
}

// filterMembers removes the members for which f returns false.
func (n *node) filterMembers(f func(member) bool) {
	n.index = nil
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return !f(m) })
}

// merge merges src into n like nested objects: existing keys keep their place, new ones are
// appended, and anything but two objects is replaced. n must be owned.
func (n *node) merge(src *node) {
	for _, m := range src.members {
		i := n.find(m.key)
		if i >= 0 && m.val.kind == 'o' && restricts(n.members[i].val) {
			// A single action for a permission, then patterns: the patterns are exceptions to a
			// deny or an ask and do not replace it.
			v := n.members[i].val
			n.members[i].val = &node{kind: 'o', in: v.in, at: v.at, members: []member{{"*", v, v.in, v.at}}}
		}
		if i < 0 || n.members[i].val.kind != 'o' || m.val.kind != 'o' {
			n.put(m)
			continue
		}
		old := n.members[i].val
		if !old.owned {
			old = &node{kind: 'o', members: slices.Clone(old.members), in: old.in, at: old.at, owned: true}
			n.members[i].val = old
		}
		old.merge(m.val)
	}
}

// restricts reports whether a value is an action that restricts.
func restricts(n *node) bool {
	a := permission.Action(n.text)
	return n.kind == 's' && (a == permission.Ask || a == permission.Deny)
}

// extend appends the elements of src that n does not contain; n must be owned. Elements are equal
// if they look alike and are relative to the same folder.
func (n *node) extend(src *node, starts func(*node) string) {
	have := map[string]bool{}
	for _, e := range n.elems {
		have[starts(e)+"\x00"+string(encode(e))] = true
	}
	for _, e := range src.elems {
		if k := starts(e) + "\x00" + string(encode(e)); !have[k] {
			have[k] = true
			n.elems = append(n.elems, e)
		}
	}
}

// An encoding is a tree as plain JSON, with the origin of each key and value.
type encoding struct {
	buf   []byte
	marks []mark
}

type mark struct {
	off int
	in  *input
	at  int
}

func encode(n *node) []byte { return encodeMarked(n).buf }

func encodeMarked(n *node) *encoding {
	e := &encoding{}
	e.appendNode(n)
	return e
}

func (e *encoding) appendNode(n *node) {
	e.marks = append(e.marks, mark{len(e.buf), n.in, n.at})
	switch n.kind {
	case 'o':
		e.buf = append(e.buf, '{')
		for i, m := range n.members {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			e.marks = append(e.marks, mark{len(e.buf), m.in, m.at})
			e.buf = append(e.buf, hujson.String(m.key)...)
			e.buf = append(e.buf, ':')
			e.appendNode(m.val)
		}
		e.buf = append(e.buf, '}')
	case 'a':
		e.buf = append(e.buf, '[')
		for i, v := range n.elems {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			e.appendNode(v)
		}
		e.buf = append(e.buf, ']')
	case 's':
		e.buf = append(e.buf, hujson.String(n.text)...)
	case 'n', 'b':
		e.buf = append(e.buf, n.text...)
	default:
		e.buf = append(e.buf, "null"...)
	}
}

// originOf returns where the text at an offset was written.
func (e *encoding) originOf(off int) (*input, int) {
	i := sort.Search(len(e.marks), func(i int) bool { return e.marks[i].off > off })
	m := e.marks[max(i-1, 0)]
	return m.in, m.at
}

// policyRules reads a policy; its rules carry their origins.
func (n *node) policyRules(home string) (permission.Ruleset, *encoding, error) {
	e := encodeMarked(n)
	rules, err := permission.ParseConfig(e.buf, permission.ConfigOptions{
		Home: home,
		At: func(off int) permission.Source {
			in, at := e.originOf(off)
			return in.sourceAt(at)
		},
	})
	return rules, e, err
}

// A syntaxError is a text that is not JSON, or nests too deep.
type syntaxError struct {
	at  int
	msg string
}

func (e *syntaxError) Error() string { return e.msg }

// A double is a duplicate key. The last one counts.
type double struct {
	path          []string
	at            int
	earlier, last *node
}

// isOff reports whether a member disables the object that contains it.
func (m member) isOff() bool {
	off := map[string]string{"enabled": "false", "disabled": "true", "disable": "true", "wall": "true"}[m.key]
	return off != "" && m.val.kind == 'b' && m.val.text == off
}

// stayOff disables in the last of two objects what the earlier one disables.
func stayOff(earlier, last *node) {
	for _, m := range earlier.members {
		val := last.get(m.key)
		switch {
		case last.kind == 'o' && m.isOff():
			last.put(m)
		case val != nil:
			stayOff(m.val, val)
		}
	}
}

// parse reads JSON with comments and trailing commas.
func parse(in *input) (*node, []double, error) {
	if isUTF16(in.data) {
		return nil, nil, &syntaxError{0, "the file is UTF-16 text; save it as UTF-8"}
	}
	in.data = bytes.TrimPrefix(in.data, []byte("\xef\xbb\xbf"))
	in.mixed = !utf8.Valid(in.data)
	in.data = bytes.ToValidUTF8(in.data, []byte(string(utf8.RuneError)))
	depth, found := 0, -1
	scan(in.data, func(i int) bool {
		switch in.data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > maxDepth {
			found = i
		}
		return found < 0
	})
	if found >= 0 {
		return nil, nil, &syntaxError{found, fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	}
	if in.empty = onlyComments(in.data); in.empty {
		return &node{kind: 'o', in: in}, nil, nil
	}
	// A line comment that ends the file needs its line end for the parser.
	v, err := hujson.Parse(append(in.quoteReferences(), '\n'))
	if err != nil {
		return nil, nil, in.syntax(err)
	}
	c := converter{in: in}
	return c.value(v), c.doubles, nil
}

// isUTF16 reports whether a text begins as Windows PowerShell writes it.
func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
}

// onlyComments reports whether a text has nothing in it but comments.
func onlyComments(data []byte) bool {
	v, err := hujson.Parse(append(bytes.Clone(data), "\n0"...))
	if err != nil {
		return false
	}
	_, isWord := v.Value.(hujson.Literal)
	return isWord && v.StartOffset == len(data)+1
}

// syntax turns the parser's error into one with an offset.
func (in *input) syntax(err error) error {
	var line, col int
	msg, hint := err.Error(), ""
	if _, serr := fmt.Sscanf(msg, "hujson: line %d, column %d:", &line, &col); serr != nil {
		return &syntaxError{0, "not JSON"}
	}
	if cause := errors.Unwrap(err); cause != nil {
		msg = cause.Error()
	}
	early := errors.Is(err, io.ErrUnexpectedEOF)
	if early {
		msg = "the text ends before all is closed that was opened"
	}
	if len(msg) > 200 {
		msg = strings.ToValidUTF8(msg[:200], "") + "…"
	}
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(in.data[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	at = min(at+max(col-1, 0), len(in.data))
	if before := bytes.TrimRight(in.data[:at], " \t"); bytes.HasSuffix(before, []byte("{")) {
		if rest := in.data[at:]; bytes.HasPrefix(rest, []byte("env:")) || bytes.HasPrefix(rest, []byte("file:")) {
			hint = "; put the reference between quotes"
		}
	}
	if in.guarded && !in.trusted && !early {
		return &syntaxError{at, "not JSON" + hint} // a link may lead to what is nobody's business
	}
	return &syntaxError{at, "not JSON: " + strings.ToValidUTF8(msg, "\ufffd") + hint}
}

// quoteReferences returns the text with quotes around unquoted references, as in "port":
// {env:PORT}. Offsets do not change.
func (in *input) quoteReferences() []byte {
	out := bytes.Clone(in.data)
	if in.literal || !hasReference(string(out)) {
		return out
	}
	scan(in.data, func(i int) bool {
		rest := in.data[i:]
		end := bytes.IndexByte(rest, '}')
		if end < 0 || !bytes.HasPrefix(rest, []byte("{env:")) && !bytes.HasPrefix(rest, []byte("{file:")) || bytes.ContainsAny(rest[:end], "\"\\\r\n\t") {
			return true
		}
		if in.bare == nil {
			in.bare = map[int]bool{}
		}
		out[i], out[i+end], in.bare[i] = '"', '"', true
		return true
	})
	return out
}

// scan calls f for each offset of a text outside strings and comments, until f returns false. Up to
// the first error it agrees with the parser.
func scan(b []byte, f func(at int) bool) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			continue
		case '/':
			end := ""
			if bytes.HasPrefix(b[i:], []byte("//")) {
				end = "\n"
			} else if bytes.HasPrefix(b[i:], []byte("/*")) {
				end = "*/"
			} else {
				continue
			}
			j := bytes.Index(b[i+2:], []byte(end))
			if j < 0 {
				return
			}
			i += 2 + j + len(end) - 1
			continue
		}
		if !f(i) {
			return
		}
	}
}

// converter turns the parser's tree into ours.
type converter struct {
	in      *input
	path    []string
	doubles []double
}

func (c *converter) value(v hujson.Value) *node {
	n := &node{in: c.in, at: v.StartOffset}
	switch t := v.Value.(type) {
	case *hujson.Object:
		n.kind = 'o'
		n.members = make([]member, 0, len(t.Members))
		for _, m := range t.Members {
			key := m.Name.Value.(hujson.Literal).String()
			c.path = append(c.path, key)
			val := c.value(m.Value)
			c.add(n, member{key, val, c.in, m.Name.StartOffset})
			c.path = c.path[:len(c.path)-1]
		}
	case *hujson.Array:
		n.kind = 'a'
		n.elems = make([]*node, 0, len(t.Elements))
		for _, e := range t.Elements {
			n.elems = append(n.elems, c.value(e))
		}
	case hujson.Literal:
		switch t.Kind() {
		case '"':
			n.kind, n.text = 's', t.String()
			if c.in.bare[n.at] {
				n.text = "{" + n.text + "}"
			}
		case '0':
			n.kind, n.text = 'n', string(t)
		case 't', 'f':
			n.kind, n.text = 'b', string(t)
		default:
			n.kind = '0'
		}
	}
	return n
}

// add adds a member to an object. Of two with the same key the last counts, but a disabling switch
// stays.
func (c *converter) add(n *node, m member) {
	if i := n.find(m.key); i >= 0 {
		earlier := n.members[i].val
		if len(c.doubles) <= maxProblems {
			c.doubles = append(c.doubles, double{slices.Clone(c.path), m.at, earlier, m.val})
		}
		if (member{key: m.key, val: earlier}).isOff() {
			return
		}
		stayOff(earlier, m.val)
	}
	n.put(m)
}
