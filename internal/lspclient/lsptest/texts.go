package lsptest

import (
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A position is a place in a text as the protocol counts.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A span is a part of a text.
type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// A location is a part of a file.
type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// A finding is a diagnostic.
type finding struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity,omitempty"` // 0 where the server does not say
	Source   string `json:"source"`
	Message  string `json:"message"`
}

// A document is a file as the client has sent it.
type document struct {
	version int
	text    string
}

// texts are the open documents, and how places in them are counted.
type texts struct {
	docs  map[string]document // by URI
	bytes bool                // characters are counted in bytes, not in UTF-16 units
	root  string              // a URI
	hurt  map[string]bool     // files that were published because of a BREAK
}

func newTexts() texts { return texts{docs: map[string]document{}, hurt: map[string]bool{}} }

// uris returns the open documents in order.
func (t *texts) uris() []string { return slices.Sorted(maps.Keys(t.docs)) }

// lines splits a text at its line ends.
func lines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
}

// column counts the characters of a part of a line.
func (t *texts) column(part string) int {
	if t.bytes {
		return len(part)
	}
	n := 0
	for _, r := range part {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// offset finds the byte of a line where a character stands.
func (t *texts) offset(line string, character int) int {
	for at, r := range line {
		if character <= 0 {
			return at
		}
		character -= t.column(string(r))
	}
	return len(line)
}

// spanOf makes the span between two bytes of a line.
func (t *texts) spanOf(number int, line string, from, to int) span {
	return span{position{number, t.column(line[:from])}, position{number, t.column(line[:to])}}
}

// index finds the byte of a text where a position is.
func (t *texts) index(text string, p position) int {
	at := 0
	for range p.Line {
		end := strings.IndexAny(text[at:], "\r\n")
		if end < 0 {
			return len(text)
		}
		at += end + 1
		if strings.HasPrefix(text[at-1:], "\r\n") {
			at++
		}
	}
	return at + t.offset(lines(text[at:])[0], p.Character)
}

// splice puts a text in the place of a span.
func (t *texts) splice(text string, at span, with string) string {
	from, to := t.index(text, at.Start), t.index(text, at.End)
	return text[:from] + with + text[max(from, to):]
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordAt finds the name at a position of an open document, and where it stands.
func (t *texts) wordAt(uri string, p position) (string, span, bool) {
	all := lines(t.docs[uri].text)
	if p.Line < 0 || p.Line >= len(all) {
		return "", span{}, false
	}
	line := all[p.Line]
	from := t.offset(line, p.Character)
	to := from
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(line[:from])
		if !isWord(r) {
			break
		}
		from -= n
	}
	for to < len(line) {
		r, n := utf8.DecodeRuneInString(line[to:])
		if !isWord(r) {
			break
		}
		to += n
	}
	return line[from:to], t.spanOf(p.Line, line, from, to), from < to
}

// uses finds where a name stands in a text.
func (t *texts) uses(text, name string) []span {
	var found []span
	for number, line := range lines(text) {
		for at := 0; ; {
			i := strings.Index(line[at:], name)
			if i < 0 {
				break
			}
			from := at + i
			to := from + len(name)
			before, _ := utf8.DecodeLastRuneInString(line[:from])
			after, _ := utf8.DecodeRuneInString(line[to:])
			if (from == 0 || !isWord(before)) && (to == len(line) || !isWord(after)) {
				found = append(found, t.spanOf(number, line, from, to))
			}
			at = to
		}
	}
	return found
}

// findings says what is wrong with a document: by itself, and because of
// others.
func (t *texts) findings(uri, text string) []finding {
	found := []finding{}
	for number, line := range lines(text) {
		for severity, start := range []string{"VAGUE", "ERROR", "WARN", "INFO", "HINT"} {
			if strings.HasPrefix(line, start) {
				found = append(found, finding{t.spanOf(number, line, 0, len(line)), severity, "fake", strings.ToLower(start) + " found: " + line})
			}
		}
	}
	for _, other := range t.uris() {
		if slices.Contains(breaks(other, t.docs[other].text), uri) {
			found = append(found, finding{span{position{}, position{0, 1}}, 1, "fake", "broken by " + other[strings.LastIndex(other, "/")+1:]})
		}
	}
	return found
}

// breaks returns the URIs of the files beside a document that its lines
// "BREAK name" are about.
func breaks(uri, text string) []string {
	var list []string
	for _, line := range lines(text) {
		if name, ok := strings.CutPrefix(line, "BREAK "); ok {
			list = append(list, uri[:strings.LastIndex(uri, "/")+1]+escapePath(strings.TrimSpace(name)))
		}
	}
	return list
}

func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// path returns the file that a URI names.
func path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if runtime.GOOS == "windows" {
		return filepath.FromSlash(strings.TrimPrefix(u.Path, "/"))
	}
	return u.Path
}

// files returns the texts of all open documents and of all files *.foo under
// the root, by URI.
func (t *texts) files() (map[string]string, error) {
	all, open := map[string]string{}, map[string]bool{}
	for uri, d := range t.docs {
		all[uri] = d.text
		open[path(uri)] = true
	}
	top := path(t.root)
	if top == "" {
		return all, nil
	}
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(file) != ".foo" || open[file] {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("rename: %w", err)
		}
		rel, err := filepath.Rel(top, file)
		all[strings.TrimSuffix(t.root, "/")+"/"+escapePath(filepath.ToSlash(rel))] = string(text)
		return err
	})
	return all, err
}
