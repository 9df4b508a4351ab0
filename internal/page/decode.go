package page

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// prescan is how much of a page is searched for what it says about its own
// encoding, and prescanLate how much where it would have to be guessed else.
const (
	prescan     = 1 << 10
	prescanLate = 64 << 10
)

// Decode returns the text of a page, and the name of the encoding it was in.
// Charset is what the page was sent with, "" for nothing. A byte order mark
// counts most, then charset, then what the page says itself; a name that is
// not known counts as nothing. A page that says nothing is UTF-8 if it can be,
// else windows-1252. What is not valid reads as U+FFFD; a byte order mark is
// not part of the text.
func Decode(body []byte, charset string) (text, encoding string) {
	s, mark := byMark(body)
	body = body[mark:]
	if s.name == "" {
		s = scriptOf(charset)
	}
	if s.name == "" {
		s = declared(body[:min(len(body), prescan)])
	}
	if s.name == "" && utf8.Valid(body) {
		return string(body), utf8Name
	}
	if s.name == "" {
		s = declared(body[:min(len(body), prescanLate)])
	}
	if s.name == "" {
		s = western()
	}
	return s.decode(body), s.name
}

const utf8Name = "utf-8"

// A script is a way of writing characters as bytes.
type script struct {
	name     string // "" for none
	encoding encoding.Encoding
}

func western() script { return script{"windows-1252", charmap.Windows1252} }

// byMark returns what a byte order mark tells, and its length.
func byMark(body []byte) (s script, size int) {
	switch {
	case bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")):
		return scriptOf(utf8Name), 3
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		return scriptOf("utf-16be"), 2
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		return scriptOf("utf-16le"), 2
	}
	return script{}, 0
}

// scriptOf returns what a label means. Encodings that browsers refuse to read
// are not known.
func scriptOf(label string) script {
	if i := strings.IndexAny(label, ";,"); i >= 0 {
		label = label[:i]
	}
	label = strings.ToLower(strings.Trim(label, " \t\r\n\f\"'"))
	switch label {
	case "utf_8", "utf 8", "utf-8-sig", "utf8mb4", "utf-8n", "cp65001":
		return script{utf8Name, unicode.UTF8}
	}
	e, err := htmlindex.Get(label)
	if err != nil || e == nil || e == encoding.Replacement {
		return script{}
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return script{}
	}
	return script{name, e}
}

// decode returns the text that bytes stand for.
func (s script) decode(body []byte) string {
	if s.name == utf8Name && utf8.Valid(body) {
		return string(body)
	}
	var out strings.Builder
	out.Grow(len(body) + len(body)/4)
	w := transform.NewWriter(&out, s.encoding.NewDecoder())
	// Neither can fail: decoders write U+FFFD for what they can not read.
	_, _ = w.Write(body)
	_ = w.Close()
	return out.String()
}
