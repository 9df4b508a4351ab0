package skill

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits of front matter.
const (
	maxFront = 64 << 10 // bytes of it
	maxName  = 128      // bytes of a name
	maxAbout = 4 << 10  // bytes that are kept of a description
)

// A Document is the content of a SKILL.md.
type Document struct {
	Name, Description string
	Body              string // without blank lines around it
	Notes             []string
}

// A FormatError is why a file is no skill.
type FormatError struct {
	Code string // such as [NoName]
	Line int    // from 1; 0 for the file as a whole
	Why  string
}

// Error returns the reason, with the line where there is one.
func (f *FormatError) Error() string {
	if f.Line > 0 {
		return fmt.Sprintf("line %d: %s", f.Line, f.Why)
	}
	return f.Why
}

// Read parses a SKILL.md. The error is a [*FormatError].
//
// Front matter begins with a first line --- and ends with the next line that begins so, or with the
// file. It is YAML; if it is invalid because a value contains a colon that YAML requires to be
// quoted, it is parsed once more with such values taken literally.
func Read(data []byte) (*Document, error) {
	if !utf8.Valid(data) {
		return nil, &FormatError{Code: NotUTF8, Why: "not UTF-8 text; save the file as UTF-8"}
	}
	file := strings.TrimPrefix(string(data), "\ufeff")
	doc, fault := read(file)
	if fault == nil {
		return doc, nil
	}
	if fault.Code == BadYAML && !strings.Contains(file, "\n---") {
		fault.Why = "the closing --- is missing, or " + fault.Why
	}
	fault.Line = min(fault.Line, strings.Count(file, "\n")+1) // YAML knows more kinds of line ends
	return nil, fault
}

func read(file string) (*Document, *FormatError) {
	front, body, fault := split(file)
	if fault != nil {
		return nil, fault
	}
	keys, fault := readFront(front)
	if fault != nil {
		return nil, fault
	}
	doc := &Document{Body: strings.TrimFunc(body, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })}
	name, found := keys["name"]
	switch {
	case !found || name.isText && strings.TrimSpace(name.text) == "":
		return nil, &FormatError{Code: NoName, Why: "no name in the front matter; write name: and what the skill is called"}
	case !name.isText:
		return nil, &FormatError{Code: NoName, Line: name.line, Why: "the name is not a text; put it in quotes"}
	}
	doc.Name = strings.TrimSpace(name.text)
	if err := checkName(doc.Name); err != nil {
		return nil, &FormatError{Code: BadName, Line: name.line, Why: err.Error()}
	}
	switch about, found := keys["description"]; {
	case !found || about.isText && strings.TrimSpace(about.text) == "":
		doc.Notes = append(doc.Notes, "it has no description: it is not listed, and loaded only by who knows its name")
	case !about.isText:
		return nil, &FormatError{Code: BadDescription, Line: about.line, Why: "the description is not a text; put it in quotes"}
	default:
		doc.Description = strings.TrimSpace(about.text)
		if len(doc.Description) > maxAbout {
			doc.Description = strings.ToValidUTF8(doc.Description[:maxAbout], "")
			doc.Notes = append(doc.Notes, fmt.Sprintf("its description is cut at %d bytes", maxAbout))
		}
	}
	if _, found := keys["allowed-tools"]; found {
		doc.Notes = append(doc.Notes, "allowed-tools neither grants nor limits anything here: the permission rules do")
	}
	if doc.Body == "" {
		doc.Notes = append(doc.Notes, "it has no text below the front matter")
	}
	return doc, nil
}

// split takes front matter and text apart. The front matter begins with the
// end of the first line, so that its lines have the numbers of the file's.
func split(file string) (front, body string, fault *FormatError) {
	rest, found := strings.CutPrefix(file, "---")
	if !found || strings.HasPrefix(rest, "-") {
		return "", "", &FormatError{Code: NoFrontMatter, Why: "no front matter; the first line has to be ---, and then name: and description:"}
	}
	end := strings.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest)
	}
	switch language := strings.TrimSpace(rest[:end]); strings.ToLower(language) {
	case "", "yaml", "yml":
	default:
		shown := strings.ToValidUTF8(language[:min(len(language), 40)], "")
		return "", "", &FormatError{Code: NoFrontMatter, Line: 1, Why: fmt.Sprintf("behind --- stands %q, and only YAML is read; leave the line at ---", shown)}
	}
	rest = rest[end:]
	front, body, _ = strings.Cut(rest, "\n---")
	if len(front) > maxFront {
		return "", "", &FormatError{Code: BadYAML, Why: fmt.Sprintf("the front matter is too large; %d bytes are the most", maxFront)}
	}
	return front, body, nil
}

// A key is a value of the front matter, as far as it matters.
type key struct {
	text   string
	isText bool
	line   int
}

// readFront parses front matter, and if it is not valid YAML, once more with its values repaired.
func readFront(front string) (map[string]key, *FormatError) {
	keys, fault := decode(front)
	if fault == nil {
		return keys, nil
	}
	if mended := mend(front); mended != front {
		if keys, fault := decode(mended); fault == nil {
			return keys, nil
		}
	}
	return nil, fault
}

// mend quotes each value with a colon that is on the line of its key, and is not quoted or a block
// already. Line numbers stay the same.
func mend(front string) string {
	lines := strings.Split(front, "\n")
	plain := regexp.MustCompile(`^([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$`)
	var out strings.Builder
	for i, line := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		m := plain.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
		if m == nil {
			out.WriteString(line)
			continue
		}
		value := strings.TrimSpace(m[2])
		if !strings.Contains(value, ":") || strings.ContainsAny(value[:1], `"'|>`) {
			out.WriteString(line)
			continue
		}
		out.WriteString(m[1] + ": '" + strings.ReplaceAll(value, "'", "''") + "'")
	}
	return out.String()
}

// decode reads the top-level keys. Nested values are only parsed as far as YAML requires, and
// aliases are never expanded.
func decode(front string) (keys map[string]key, fault *FormatError) {
	defer func() {
		if p := recover(); p != nil { // of the parser; one file is not worth a crash
			keys, fault = nil, &FormatError{Code: BadYAML, Why: fmt.Sprintf("the front matter can not be read: %v", p)}
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(front), &doc); err != nil {
		return nil, yamlFault(err)
	}
	keys = map[string]key{}
	if len(doc.Content) == 0 {
		return keys, nil // it is empty
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return keys, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, &FormatError{Code: BadYAML, Line: root.Line, Why: "the front matter has no keys; write name: and description: in it"}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		if _, twice := keys[name.Value]; twice && name.Kind == yaml.ScalarNode {
			return nil, &FormatError{Code: BadYAML, Line: name.Line, Why: fmt.Sprintf("the key %q stands twice; keep one", name.Value)}
		}
		if value.Kind == yaml.AliasNode && value.Alias != nil {
			value = value.Alias
		}
		if name.Kind == yaml.ScalarNode {
			keys[name.Value] = key{text: value.Value, isText: value.Kind == yaml.ScalarNode && value.ShortTag() == "!!str", line: name.Line}
		}
	}
	return keys, nil
}

// yamlFault removes the line from the parser's error.
func yamlFault(err error) *FormatError {
	said := strings.TrimPrefix(err.Error(), "yaml: ")
	fault := &FormatError{Code: BadYAML, Why: "the front matter is no YAML: " + said}
	if after, ok := strings.CutPrefix(said, "line "); ok {
		number, rest, _ := strings.Cut(after, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			fault.Line, fault.Why = line, "the front matter is no YAML: "+rest
		}
	}
	return fault
}

// checkName keeps out names that would say more than a name in a rule, or
// look like another one.
func checkName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("the name has %d bytes, and %d are the most", len(name), maxName)
	}
	if strings.ContainsAny(name, `*?\`) {
		return errors.New(`the name has *, ? or \ in it, which mean something in permission rules; use letters, digits and -`)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the name has the character %U in it, which can not be seen; use letters, digits and -", r)
		}
	}
	return nil
}
