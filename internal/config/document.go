package config

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// document takes in an agent that is described in markdown: settings in front
// matter, the prompt below.
func (l *loader) document(folder *input, d document) {
	in := &input{
		path: filepath.Join(folder.path, filepath.FromSlash(d.rel)), kind: folder.kind,
		guarded: folder.guarded, trusted: folder.trusted, literal: true, data: d.data,
	}
	agent, err := readDocument(in)
	if err != nil {
		l.void(l.report(in, err.at, Problem{Message: err.msg, Severity: Error}))
		return
	}
	name, mode, _ := agentName(d.rel)
	if mode {
		agent.put(member{"mode", &node{kind: 's', text: "primary", in: in}, in, 0})
	}
	wrap := func(key string, val *node) *node {
		return &node{kind: 'o', in: in, members: []member{{key, val, in, 0}}}
	}
	l.layer(in, wrap("agent", wrap(name, agent)))
}

// readDocument reads front matter and prompt into an object.
func readDocument(in *input) (*node, *syntaxError) {
	if len(in.data) > maxFile {
		return nil, &syntaxError{0, tooBig(maxFile).Error()}
	}
	if !utf8.Valid(in.data) {
		return nil, &syntaxError{0, "not UTF-8 text; save the file as UTF-8"}
	}
	r := frontReader{in: in}
	body, err := r.split(string(in.data))
	if err != nil {
		return nil, err
	}
	root, err := r.object(0, 0)
	if err != nil {
		return nil, err
	}
	if r.seen < len(r.lines) {
		return nil, r.fail("the lines before this one are not indented like this")
	}
	if prompt := strings.TrimSpace(body); prompt != "" {
		root.put(member{"prompt", &node{kind: 's', text: prompt, in: in, at: len(in.data)}, in, len(in.data)})
	}
	return root, nil
}

// A frontReader reads the part of YAML that front matter uses: objects and
// lists by indentation, plain and quoted words, and block texts. Where YAML
// is at odds with what people write, people are right: everything behind the
// first ": " of a line is the value.
type frontReader struct {
	in    *input
	lines []frontLine
	seen  int // lines read so far
}

type frontLine struct {
	text   string // without the indentation
	indent int
	at     int
}

func (r *frontReader) fail(msg string) *syntaxError {
	at := 0
	if r.seen < len(r.lines) {
		at = r.lines[r.seen].at
	}
	return &syntaxError{at, "front matter: " + msg}
}

// split takes the lines of the front matter and returns what follows them.
func (r *frontReader) split(text string) (body string, err *syntaxError) {
	start := 0
	if strings.HasPrefix(text, "\ufeff") {
		start = len("\ufeff")
	}
	first, _, _ := strings.Cut(text[start:], "\n")
	if strings.TrimRight(first, " \t\r") != "---" {
		return text[start:], nil
	}
	for at := start + len(first) + 1; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, len(text))
		line = strings.TrimRight(line, " \t\r")
		if line == "---" {
			return text[next:], nil
		}
		bare := strings.TrimLeft(line, " ")
		if strings.HasPrefix(bare, "\t") {
			return "", &syntaxError{at, "front matter: a tab cannot indent; use spaces"}
		}
		r.lines = append(r.lines, frontLine{bare, len(line) - len(bare), at + len(line) - len(bare)})
		at = next
	}
	return "", &syntaxError{start, "front matter: the closing --- is missing"}
}

// peek skips blank lines and comments and returns the next line.
func (r *frontReader) peek() (frontLine, bool) {
	for ; r.seen < len(r.lines); r.seen++ {
		if t := r.lines[r.seen].text; t != "" && t[0] != '#' {
			return r.lines[r.seen], true
		}
	}
	return frontLine{}, false
}

// object reads the keys that are indented by exactly indent.
func (r *frontReader) object(indent, depth int) (*node, *syntaxError) {
	n := &node{kind: 'o', in: r.in}
	if depth > maxDepth/2 {
		return nil, r.fail("nested too deep")
	}
	for line, ok := r.peek(); ok && line.indent >= indent; line, ok = r.peek() {
		if n.members == nil {
			n.at = line.at
		}
		if line.indent > indent {
			return nil, r.fail("this line is indented more than the one before")
		}
		key, rest, found := frontKey(line.text)
		if !found {
			return nil, r.fail("want a key, a colon and a value")
		}
		if n.find(key) >= 0 {
			return nil, r.fail(fmt.Sprintf("%q stands twice; keep one", key))
		}
		val, err := r.value(line, rest, depth)
		if err != nil {
			return nil, err
		}
		n.put(member{key, val, r.in, line.at})
	}
	return n, nil
}

// frontKey splits a line at its colon.
func frontKey(line string) (key, rest string, ok bool) {
	if q := line[0]; q == '"' || q == '\'' {
		text, after, closed := frontQuoted(line)
		after = strings.TrimLeft(after, " ")
		if !closed || !strings.HasPrefix(after, ":") {
			return "", "", false
		}
		return text, strings.TrimSpace(after[1:]), true
	}
	if i := strings.Index(line, ": "); i > 0 {
		return strings.TrimRight(line[:i], " "), strings.TrimSpace(line[i+2:]), true
	}
	key, ok = strings.CutSuffix(line, ":")
	return key, "", ok && key != ""
}

// frontQuoted reads the quoted text a line starts with.
func frontQuoted(s string) (text, after string, ok bool) {
	if s[0] == '\'' {
		for i := 1; i < len(s); i++ {
			if s[i] != '\'' {
				continue
			}
			if strings.HasPrefix(s[i+1:], "'") {
				i++
				continue
			}
			return strings.ReplaceAll(s[1:i], "''", "'"), s[i+1:], true
		}
		return "", "", false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			lit := hujson.Literal(s[:i+1])
			return lit.String(), s[i+1:], lit.IsValid()
		}
	}
	return "", "", false
}

// value reads what stands behind a key.
func (r *frontReader) value(line frontLine, rest string, depth int) (*node, *syntaxError) {
	at := line.at + len(line.text) - len(rest)
	if rest == "" || rest[0] == '#' {
		r.seen++
		return r.below(line, at, depth)
	}
	switch rest[0] {
	case '|', '>':
		head, _, _ := strings.Cut(rest[1:], "#")
		if head = strings.TrimSpace(head); head == "" || head == "-" || head == "+" {
			r.seen++
			return &node{kind: 's', text: r.block(line.indent, rest[0], head), in: r.in, at: at}, nil
		}
	case '[', '{':
		n, err := r.flow(rest, at)
		r.seen++
		return n, err
	}
	r.seen++
	parts := []string{rest}
	for next, ok := r.peek(); ok && next.indent > line.indent; next, ok = r.peek() {
		parts = append(parts, next.text) // the text goes on in the next line
		r.seen++
	}
	return r.scalar(strings.Join(parts, " "), at), nil
}

// below reads the list or object under a key that has nothing beside it.
func (r *frontReader) below(line frontLine, at, depth int) (*node, *syntaxError) {
	next, ok := r.peek()
	switch {
	case ok && next.indent >= line.indent && (next.text == "-" || strings.HasPrefix(next.text, "- ")):
		return r.list(next.indent)
	case ok && next.indent > line.indent:
		return r.object(next.indent, depth+1)
	}
	return &node{kind: '0', in: r.in, at: at}, nil
}

// list reads the items that are indented by exactly indent.
func (r *frontReader) list(indent int) (*node, *syntaxError) {
	n := &node{kind: 'a', in: r.in}
	for line, ok := r.peek(); ok && line.indent == indent; line, ok = r.peek() {
		item, found := strings.CutPrefix(line.text+" ", "- ")
		if !found {
			break
		}
		if n.elems == nil {
			n.at = line.at
		}
		n.elems = append(n.elems, r.scalar(strings.TrimSpace(item), line.at))
		r.seen++
	}
	return n, nil
}

// block reads the indented lines of a block text.
func (r *frontReader) block(indent int, style byte, chomp string) string {
	var lines []string
	base := -1
	for ; r.seen < len(r.lines); r.seen++ {
		line := r.lines[r.seen]
		if line.text == "" {
			lines = append(lines, "")
			continue
		}
		if line.indent <= indent {
			break
		}
		if base < 0 {
			base = line.indent
		}
		lines = append(lines, strings.Repeat(" ", max(line.indent-base, 0))+line.text)
	}
	text := strings.Join(lines, "\n")
	if style == '>' {
		text = fold(lines)
	}
	trimmed := strings.TrimRight(text, "\n")
	switch {
	case chomp == "-" || trimmed == "":
		return trimmed
	case chomp == "+":
		return text + "\n"
	}
	return trimmed + "\n"
}

// fold joins lines by blanks; an empty line is a line break.
func fold(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		switch {
		case line == "":
			b.WriteByte('\n')
		case i > 0 && lines[i-1] != "":
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// flow reads a list or object on one line, written as JSON or, for lists of
// words, without quotes.
func (r *frontReader) flow(text string, at int) (*node, *syntaxError) {
	if tooDeep([]byte(text)) < 0 {
		if v, err := hujson.Parse([]byte(text + "\n")); err == nil {
			c := converter{in: r.in}
			n := c.value(v)
			if len(c.doubles) > 0 {
				return nil, r.fail("a key stands twice; keep one")
			}
			shift(n, at)
			return n, nil
		}
	}
	inner, ok := strings.CutSuffix(strings.TrimPrefix(text, "["), "]")
	if text[0] != '[' || !ok || strings.ContainsAny(inner, "[]{}\"'") {
		return nil, r.fail("want a list or object written as JSON, or lines of their own")
	}
	n := &node{kind: 'a', in: r.in, at: at}
	for item := range strings.SplitSeq(inner, ",") {
		if item = strings.TrimSpace(item); item != "" {
			n.elems = append(n.elems, r.scalar(item, at))
		}
	}
	return n, nil
}

// shift moves the places of a tree that was read from the middle of a file.
func shift(n *node, by int) {
	n.at += by
	for i := range n.members {
		n.members[i].at += by
		shift(n.members[i].val, by)
	}
	for _, e := range n.elems {
		shift(e, by)
	}
}

// scalar reads a word.
func (r *frontReader) scalar(s string, at int) *node {
	n := &node{kind: 's', in: r.in, at: at}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		text, after, ok := frontQuoted(s)
		if after = strings.TrimSpace(after); ok && (after == "" || after[0] == '#') {
			n.text = text
			return n
		}
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = strings.TrimRight(s[:i], " ")
	}
	n.text = s
	switch s {
	case "true", "True", "TRUE", "false", "False", "FALSE":
		n.kind, n.text = 'b', strings.ToLower(s)
	case "", "~", "null", "Null", "NULL":
		n.kind, n.text = '0', ""
	default:
		if !strings.ContainsAny(s[:1], "+-.0123456789") {
			break
		}
		if lit := hujson.Literal(s); lit.IsValid() && lit.Kind() == '0' {
			n.kind = 'n'
		} else if f, err := strconv.ParseFloat(s, 64); err == nil && !strings.ContainsAny(s, "xXpPiInN_") {
			n.kind, n.text = 'n', strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	return n
}
