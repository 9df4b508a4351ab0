package config

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// Limits for front matter.
const (
	maxFront      = 256 << 10 // bytes
	maxFrontNodes = 20000     // values, each as often as it is referred to
)

// document reads an agent that is described in Markdown: settings in front matter, the prompt
// below. Its name is in the front matter, or else its path. A mistake in it affects only this
// agent.
func (l *loader) document(folder *input, d document) {
	in := &input{
		path: filepath.Join(folder.path, filepath.FromSlash(d.rel)), kind: folder.kind,
		guarded: folder.guarded, trusted: folder.trusted, literal: true, data: d.data,
	}
	name, mode, _ := agentName(d.rel)
	key := func(of string) string { return strings.TrimSuffix("agent."+name+"."+of, ".") }
	if d.err != nil {
		p := Problem{Key: key(""), Message: fmt.Sprintf("cannot be read: %s; every tool is denied to this agent", plainError(d.err)), Severity: Error}
		l.closed(l.addProblem(in, 0, p), []string{"agent", name})
		return
	}
	doc := readDocument(in)
	if own := doc.agent.get("name"); own != nil && own.kind == 's' && own.text != "" {
		name = own.text
	}
	for _, f := range doc.faults {
		p := Problem{Key: key(f.key), Message: "front matter: " + f.msg, Severity: Warning}
		if !f.policy {
			l.addProblem(in, f.at, p)
			continue
		}
		p.Severity, p.Message = Error, p.Message+"; every tool is denied to this agent"
		l.closed(l.addProblem(in, f.at, p), []string{"agent", name})
	}
	for i := range doc.doubles {
		doc.doubles[i].path = append([]string{"agent", name}, doc.doubles[i].path...)
	}
	l.doubles(in, doc.doubles)
	for _, m := range doc.doubted.members {
		l.addProblem(in, m.at, Problem{Key: key(m.key), Message: fmt.Sprintf("front matter: %q is not written as YAML wants it, with patterns in quotes, spaces for tabs, "+
			"and --- above and below; only what it restricts is in force", m.key), Severity: Error})
	}
	if len(doc.doubted.members) > 0 {
		l.salvage(under(doc.doubted, "agent", name))
	}
	doc.agent.filterMembers(func(m member) bool {
		if m.val.kind == '0' {
			l.addProblem(in, m.at, Problem{Key: key(m.key), Message: fmt.Sprintf("front matter: %q has no value, and is left out", m.key), Severity: Warning})
		}
		return m.val.kind != '0'
	})
	if mode {
		doc.agent.put(member{"mode", &node{kind: 's', text: "primary", in: in}, in, 0})
	}
	l.layer(in, under(&node{kind: 'o', in: in, members: []member{{name, doc.agent, in, 0}}}, "agent"))
}

// A frontMatter is what a Markdown file says about an agent.
type frontMatter struct {
	agent   *node // settings and prompt
	doubted *node // a policy that had to be repaired to be read, or that stands where no front matter should be
	guessed bool  // where the front matter begins or ends
	doubles []double
	faults  []frontMatterError
}

// A frontMatterError is a part of the front matter that could not be read.
type frontMatterError struct {
	at     int
	key    string // what it is about, "" for none
	policy bool   // and that decides about permissions
	msg    string
}

// readDocument reads front matter and prompt. The front matter begins with a
// first line --- and ends with the next line that begins so.
//
// It is YAML. Where it is not, each of its keys is read by itself, so that a
// mistake in one does not hide the others: what stands beside a key is taken
// as it is written, as people do who write a colon or a bracket into a
// description, and of a policy only the patterns that YAML wants in quotes and
// tabs are mended.
func readDocument(in *input) *frontMatter {
	wide := isUTF16(in.data)
	in.mixed = !utf8.Valid(in.data)
	in.data = []byte(strings.ToValidUTF8(string(in.data), string(utf8.RuneError)))
	if !bytes.ContainsRune(in.data, '\n') { // lines as old Macs end them
		in.data = bytes.ReplaceAll(in.data, []byte("\r"), []byte("\n"))
	}
	doc := &frontMatter{agent: &node{kind: 'o', in: in}, doubted: &node{kind: 'o', in: in}}
	if wide {
		doc.faults = append(doc.faults, frontMatterError{policy: true, msg: "the file is UTF-16 text; save it as UTF-8"})
		return doc
	}
	if in.mixed {
		doc.addError(0, "", "the file is not UTF-8 text; save it as UTF-8")
	}
	front, body := doc.split(in)
	doc.findLatePolicy(in, len(in.data)-len(body))
	if prompt := strings.TrimSpace(body); prompt != "" {
		defer func() {
			doc.agent.put(member{"prompt", &node{kind: 's', text: prompt, in: in, at: len(in.data)}, in, len(in.data)})
		}()
	}
	if len(front) == 0 {
		return doc
	}
	if size := front[len(front)-1].at - front[0].at; size > maxFront {
		doc.faults = append(doc.faults, frontMatterError{msg: fmt.Sprintf("it is larger than %d KiB", maxFront>>10), policy: true})
		return doc
	}
	if n, doubles, err := decodeYAML(in, front); err == nil {
		doc.take(n, doubles)
		return doc
	}
	for len(front) > 0 {
		end := 1
		for end < len(front) && !isKey(front[end].text) {
			end++
		}
		doc.readKey(in, front[:end])
		front = front[end:]
	}
	return doc
}

func (doc *frontMatter) addError(at int, key, msg string) {
	doc.faults = append(doc.faults, frontMatterError{at, key, meansPolicy(key), msg})
}

// meansPolicy reports whether a key of an agent sets permissions, or was meant to.
func meansPolicy(key string) bool {
	return key == "permission" || key == "tools" || key == "disable" || key != "" && nearest(key, []string{"permission"}) != ""
}

// policyWord returns the policy keyword at the start of a line that YAML does not accept as a key,
// as in "permission:deny", "tools = x", "- permission:" or "**permission**: deny"; "" for none.
// Indented lines do not count.
func policyWord(line string) string {
	const marks = "*_-`'\"> "
	if isKey(line) || strings.HasPrefix(line, " ") {
		return ""
	}
	line = strings.TrimLeft(line, marks)
	end := strings.IndexFunc(line+"\n", func(r rune) bool { return !unicode.IsLetter(r) })
	word, rest := line[:end], strings.TrimLeft(line[end:], marks)
	if rest != "" && rest[0] != '=' && rest[0] != ':' && !strings.HasPrefix(rest, "\uff1a") || !meansPolicy(word) {
		return ""
	}
	return word
}

func (doc *frontMatter) take(n *node, doubles []double) {
	for _, m := range n.members {
		if doc.guessed && meansPolicy(m.key) && m.key != "disable" {
			doc.doubted.put(m)
			continue
		}
		if word := policyWord(m.key); word != "" && word != m.key { // no blank stands behind the colon
			doc.faults = append(doc.faults, frontMatterError{m.at, word, true, fmt.Sprintf("%q can not be read: want a key, a colon, a space and a value", word)})
			continue
		}
		doc.agent.put(m)
	}
	doc.doubles = append(doc.doubles, doubles...)
}

// A frontLine is a line of front matter.
type frontLine struct {
	text string // without blanks at its end
	at   int
}

// keyOf returns the key at the start of a line and the text after its colon; "" without a key.
func keyOf(line string) (key, rest string) {
	switch first, _ := utf8.DecodeRuneInString(line); {
	case first == '"' || first == '\'':
		end := strings.IndexByte(line[1:], line[0])
		if end < 0 {
			return "", ""
		}
		key, rest = line[1:1+end], strings.TrimLeft(line[2+end:], " \t")
		if !strings.HasPrefix(rest, ":") {
			return "", ""
		}
		rest = rest[1:]
	case unicode.IsLetter(first) || first == '_' || first == '$':
		key, rest, _ = strings.Cut(line, ":")
		if key = strings.TrimRight(key, " \t"); len(key)+len(rest) == len(line) || strings.ContainsAny(key, `#"'`) {
			return "", ""
		}
	}
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", ""
	}
	return key, strings.TrimSpace(rest)
}

// isKey reports whether a line begins with a key.
func isKey(line string) bool {
	key, _ := keyOf(line)
	return key != ""
}

// split separates the lines of the front matter from the text below. If one of the lines --- is
// missing, it guesses the front matter.
func (doc *frontMatter) split(in *input) (front []frontLine, body string) {
	text := string(in.data)
	start := len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	at := start
	for at < len(text) && strings.ContainsRune("\r\n", rune(text[at])) {
		at++
	}
	first, _, _ := strings.Cut(text[at:], "\n")
	opened := false
	switch strings.ToLower(strings.Join(strings.Fields(first), "")) {
	case "---", "---yaml", "---yml", "---json": // which is YAML too
		if first[0] != '-' {
			return nil, text[start:]
		}
		opened = true
		if at > start {
			doc.guess(at, "it has to begin in the first line of the file; remove the empty lines above it")
		}
		at = min(at+len(first)+1, len(text))
	}
	for at < len(text) {
		line, _, _ := strings.Cut(text[at:], "\n")
		rest, ends := strings.CutPrefix(line, "---")
		switch prose := line != "" && !strings.ContainsAny(line[:1], " \t\r#-") && !isKey(strings.TrimRight(line, " \t\r")); {
		case ends && !opened:
			if !slices.ContainsFunc(front, func(f frontLine) bool { return isKey(f.text) }) {
				return nil, text[start:]
			}
			doc.guess(start, "the opening --- is missing; write it into the first line")
			fallthrough
		case ends:
			return front, rest + text[at+len(line):]
		case prose && !opened:
			return nil, text[start:]
		case prose && !strings.Contains(text[at:], "\n---"):
			doc.guess(start, "the closing --- is missing; write it below the last setting")
			return front, text[at:]
		}
		front = append(front, frontLine{strings.TrimRight(line, " \t\r"), at})
		at = min(at+len(line)+1, len(text))
	}
	if !opened {
		return nil, text[start:]
	}
	doc.guess(start, "the closing --- is missing; write it below the last setting")
	return front, ""
}

// findLatePolicy searches, from at on, for a policy in text that is no front matter because of what
// precedes it: other front matter, a heading, a comment, a code fence, or blank lines. Text for the
// model ends the search.
func (doc *frontMatter) findLatePolicy(in *input, at int) {
	text, opened := string(in.data), false
	var lines []frontLine
	for at < len(text) {
		line, _, _ := strings.Cut(text[at:], "\n")
		bare := strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		switch {
		case bare == "---" && opened:
			n, doubles, err := decodeYAML(in, lines)
			if err != nil {
				return
			}
			for _, m := range n.members {
				if meansPolicy(m.key) && m.key != "disable" && (m.val.kind == 'o' || isAction(m.val)) {
					doc.doubted.put(m)
				}
			}
			if len(doc.doubted.members) > 0 {
				doc.doubles = append(doc.doubles, doubles...)
				doc.addError(lines[0].at, "", "it has to begin in the first line of the file, with nothing before it")
			}
			return
		case bare == "---":
			opened = true
		case opened:
			lines = append(lines, frontLine{strings.TrimRight(line, " \t\r"), at})
		case strings.HasPrefix(bare, "<!--"):
			if end := strings.Index(text[at:], "-->"); end >= 0 {
				line = text[at : at+end+len("-->")]
				rest, _, _ := strings.Cut(text[at+len(line):], "\n")
				line += rest
			}
		case bare != "" && bare[0] != '#' && !strings.HasPrefix(bare, "```"):
			return
		}
		at += len(line) + 1
	}
}

// guess records that the bounds of the front matter are uncertain.
func (doc *frontMatter) guess(at int, why string) {
	doc.guessed = true
	doc.addError(at, "", why)
}

// readKey reads the lines of one key.
func (doc *frontMatter) readKey(in *input, lines []frontLine) {
	n, doubles, err := decodeYAML(in, lines)
	if err == nil {
		doc.take(n, doubles)
		return
	}
	at := lines[0].at
	key, rest := keyOf(lines[0].text)
	for i, line := range lines { // it must not be taken for the text of another key
		if word := policyWord(line.text); word != "" && (i > 0 || key == "") {
			doc.faults = append(doc.faults, frontMatterError{line.at, word, true, fmt.Sprintf("%q can not be read: want a key, a colon, a space and a value", word)})
			return
		}
		if word, _ := keyOf(strings.TrimSpace(line.text)); i > 0 && meansPolicy(word) {
			doc.addError(line.at, word, fmt.Sprintf("%q can not be read: it is indented as a part of what stands above it", word))
			return
		}
	}
	if key == "" {
		doc.addError(at, "", "want a key, a colon, a space and a value")
		return
	}
	if !meansPolicy(key) {
		words := []string{rest}
		for _, line := range lines[1:] {
			if word := strings.TrimSpace(line.text); word != "" && word[0] != '#' {
				words = append(words, word)
			}
		}
		said := strings.TrimSpace(strings.Join(words, " "))
		doc.agent.put(member{key, &node{kind: 's', text: said, in: in, at: at}, in, at})
		return
	}
	mended := slices.Clone(lines)
	for i, line := range lines[1:] {
		mended[1+i].text = mendLine(line.text)
	}
	if n, _, err := decodeYAML(in, mended); err == nil {
		for _, m := range n.members {
			doc.doubted.put(m)
		}
		return
	}
	doc.addError(at, key, fmt.Sprintf("%q can not be read: %v", key, err))
}

// mendLine replaces indentation by spaces, and quotes what precedes an action or the colon at the
// end of a line.
func mendLine(line string) string {
	bare := strings.TrimLeft(line, " \t")
	indent := strings.ReplaceAll(line[:len(line)-len(bare)], "\t", "  ")
	m := regexp.MustCompile(`^([^"'#{}\[\]][^"'{}\[\]]*?)[ \t]*:([ \t]+["']?(?:allow|ask|deny|true|false)["']?)?[ \t]*(#.*)?$`).FindStringSubmatch(bare)
	if m == nil {
		return indent + bare
	}
	return indent + "'" + strings.ReplaceAll(m[1], "'", "''") + "':" + m[2]
}

// decodeYAML decodes lines that form a YAML object.
func decodeYAML(in *input, lines []frontLine) (n *node, doubles []double, err error) {
	defer func() {
		if p := recover(); p != nil { // of the parser; one file is not worth a crash
			err = fmt.Errorf("%v", p)
		}
	}()
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line.text + "\n")
	}
	var file yaml.Node
	if err := yaml.Unmarshal([]byte(text.String()), &file); err != nil {
		_, said, _ := strings.Cut(err.Error(), "yaml: ")
		return nil, nil, fmt.Errorf("it is no YAML: %s", regexp.MustCompile(`^line \d+: `).ReplaceAllString(said, ""))
	}
	r := yamlReader{converter: converter{in: in}, lines: lines}
	if len(file.Content) == 0 {
		return &node{kind: 'o', in: in}, nil, nil
	}
	if n, err = r.value(file.Content[0], 0); err != nil {
		return nil, nil, err
	}
	switch n.kind {
	case '0':
		n.kind = 'o'
	case 'o':
	default:
		return nil, nil, fmt.Errorf("it has no keys")
	}
	return n, r.doubles, nil
}

// A yamlReader turns the tree of the YAML parser into ours.
type yamlReader struct {
	converter
	lines []frontLine
	seen  int
}

func (r *yamlReader) offsetOf(y *yaml.Node) int {
	line := r.lines[min(max(y.Line, 1), len(r.lines))-1]
	return line.at + min(max(y.Column-1, 0), len(line.text))
}

func (r *yamlReader) value(y *yaml.Node, depth int) (*node, error) {
	if r.seen++; r.seen > maxFrontNodes || depth > maxDepth/2 {
		return nil, fmt.Errorf("it has too many values, or they nest too deep")
	}
	n := &node{in: r.in, at: r.offsetOf(y), shared: y.Anchor != ""}
	switch y.Kind {
	case yaml.AliasNode:
		return r.value(y.Alias, depth+1)
	case yaml.SequenceNode:
		n.kind = 'a'
		for _, item := range y.Content {
			e, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.elems = append(n.elems, e)
		}
	case yaml.MappingNode:
		n.kind = 'o'
		return n, r.members(n, y, depth)
	default:
		r.scalar(n, y)
	}
	return n, nil
}

func (r *yamlReader) members(n *node, y *yaml.Node, depth int) error {
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("a key has to be a word")
		}
		r.path = append(r.path, key.Value)
		val, err := r.value(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if key.ShortTag() == "!!merge" {
			for _, from := range append([]*node{val}, val.elems...) { // one object, or a list of them
				for _, m := range from.members {
					if n.find(m.key) < 0 {
						n.put(m)
					}
				}
			}
		} else {
			r.add(n, member{key.Value, val, r.in, r.offsetOf(key)})
		}
		r.path = r.path[:len(r.path)-1]
	}
	return nil
}

// scalar converts a scalar.
func (r *yamlReader) scalar(n *node, y *yaml.Node) {
	n.kind, n.text = 's', y.Value
	switch y.ShortTag() {
	case "!!bool":
		n.kind, n.text = 'b', strings.ToLower(y.Value)
	case "!!null":
		n.kind, n.text = '0', ""
	case "!!int", "!!float":
		if lit := hujson.Literal(y.Value); lit.IsValid() && lit.Kind() == '0' {
			n.kind = 'n'
			return
		}
		var v float64
		if i, err := strconv.ParseInt(y.Value, 0, 64); err == nil {
			v = float64(i)
		} else if v, err = strconv.ParseFloat(y.Value, 64); err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return
		}
		n.kind, n.text = 'n', strconv.FormatFloat(v, 'g', -1, 64)
	}
}
