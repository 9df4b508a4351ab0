package agentconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A statement of a TOML document is a line of it, or several where a value
// goes over several.
type statement struct {
	kind       byte     // 'k' key and value, 't' table, 'a' table of an array, 'c' a comment, ' ' nothing
	key        []string // as written: of a table in full, of a value below its table
	table      []string // the table that a value lies in
	value      any      // string, []any, map[string]any or scalar
	from, to   int      // the statement, with its line end
	vFrom, vTo int      // the value
}

// path returns the key of a value in full.
func (s statement) path() []string { return append(slices.Clone(s.table), s.key...) }

// scalar is a value that is not looked into, as written.
type scalar string

// A scanner reads TOML. It reads all of the grammar, and refuses what defines
// a thing twice, but does not care what numbers and dates mean.
type scanner struct {
	b     []byte
	i     int
	depth int
	table []string
	seen  map[string]byte // what is defined at a path
	count map[string]int  // how many tables an array has
}

// scanTOML reads a document that is UTF-8 text without a byte order mark.
func scanTOML(b []byte) ([]statement, error) {
	s := &scanner{b: b, seen: map[string]byte{}, count: map[string]int{}}
	var all []statement
	for s.i < len(b) {
		st, err := s.statement()
		if err == nil {
			if err = s.define(st); err != nil {
				s.i = st.from
			}
		}
		if err != nil {
			at := min(s.i, len(b))
			line := bytes.Count(b[:at], []byte("\n")) + 1
			column := utf8.RuneCount(b[bytes.LastIndexByte(b[:at], '\n')+1:at]) + 1
			return nil, fmt.Errorf("the file is not TOML: line %d, column %d: %w", line, column, err)
		}
		all = append(all, st)
	}
	return all, nil
}

// statement reads a line and its line end.
func (s *scanner) statement() (st statement, err error) {
	st = statement{kind: ' ', from: s.i}
	s.skipSpace()
	switch c := s.peek(); {
	case c == '#':
		st.kind = 'c'
	case c == '\n' || c == '\r' || c == 0 && s.i == len(s.b):
	case c == '[':
		st.kind, st.key, err = s.header()
		s.table = st.key
	default:
		st.kind, st.table = 'k', s.table
		if st.key, err = s.keys(); err != nil {
			return st, err
		}
		if !s.eat('=') {
			return st, errors.New("a = is missing after a key")
		}
		s.skipSpace()
		st.vFrom = s.i
		st.value, err = s.readValue()
		st.vTo = s.i
	}
	if err != nil {
		return st, err
	}
	s.skipSpace()
	if err := s.comment(); err != nil {
		return st, err
	}
	if s.i < len(s.b) && !s.lineEnd() {
		return st, errors.New("something follows that does not belong here")
	}
	st.to = s.i
	return st, nil
}

func (s *scanner) header() (kind byte, key []string, err error) {
	kind = 't'
	s.i++
	if s.peek() == '[' {
		kind = 'a'
		s.i++
	}
	if key, err = s.keys(); err != nil {
		return kind, nil, err
	}
	if !s.eat(']') || kind == 'a' && !s.eat(']') {
		return kind, nil, errors.New("a ] is missing after the name of a table")
	}
	return kind, key, nil
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) eat(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) hasPrefix(prefix string) bool {
	return len(s.b)-s.i >= len(prefix) && string(s.b[s.i:s.i+len(prefix)]) == prefix
}

func (s *scanner) skipSpace() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.i++
	}
}

func (s *scanner) lineEnd() bool {
	if s.hasPrefix("\r\n") {
		s.i++
	}
	return s.eat('\n')
}

// comment reads a comment up to the end of the line, if there is one.
func (s *scanner) comment() error {
	if s.peek() != '#' {
		return nil
	}
	for ; s.i < len(s.b) && s.b[s.i] != '\n' && !s.hasPrefix("\r\n"); s.i++ {
		if control(s.b[s.i]) {
			return errors.New("a control character in a comment")
		}
	}
	return nil
}

func control(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

// gap reads space, comments and line ends, as there may be in an array.
func (s *scanner) gap() error {
	for {
		s.skipSpace()
		if err := s.comment(); err != nil {
			return err
		}
		if !s.lineEnd() {
			return nil
		}
	}
}

// keys reads a key with its dots, and the space after it.
func (s *scanner) keys() (keys []string, err error) {
	for {
		s.skipSpace()
		var key string
		switch c := s.peek(); {
		case c == '"' && !s.hasPrefix(`"""`) || c == '\'' && !s.hasPrefix(`'''`):
			if key, err = s.str(c, 1); err != nil {
				return nil, err
			}
		default:
			from := s.i
			for s.i < len(s.b) && bareByte(s.b[s.i]) {
				s.i++
			}
			if key = string(s.b[from:s.i]); key == "" {
				return nil, errors.New("a key is missing")
			}
		}
		keys = append(keys, key)
		if len(keys) > maxDepth {
			return nil, errors.New("a key with too many dots")
		}
		s.skipSpace()
		if !s.eat('.') {
			return keys, nil
		}
	}
}

func (s *scanner) readValue() (any, error) {
	if s.depth++; s.depth > maxDepth {
		return nil, errors.New("values are nested too deeply")
	}
	defer func() { s.depth-- }()
	switch c := s.peek(); {
	case s.hasPrefix(`"""`) || s.hasPrefix(`'''`):
		return s.str(c, 3)
	case c == '"' || c == '\'':
		return s.str(c, 1)
	case c == '[':
		return s.readArray()
	case c == '{':
		return s.inline()
	}
	from := s.i
	s.letters()
	// A space may part a date from a time.
	if s.i-from == len("2006-01-02") && s.i+2 < len(s.b) && s.b[s.i] == ' ' && digit(s.b[s.i+1]) && digit(s.b[s.i+2]) {
		s.i++
		s.letters()
	}
	word := string(s.b[from:s.i])
	if !isScalar(word) {
		s.i = from
		return nil, errors.New("a value is missing, or is none of those that there are")
	}
	return scalar(word), nil
}

func (s *scanner) letters() {
	for s.i < len(s.b) && (bareByte(s.b[s.i]) || strings.IndexByte("+.:", s.b[s.i]) >= 0) {
		s.i++
	}
}

func (s *scanner) readArray() (any, error) {
	s.i++
	list := []any{}
	for {
		if err := s.gap(); err != nil {
			return nil, err
		}
		if s.eat(']') {
			return list, nil
		}
		v, err := s.readValue()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if err := s.gap(); err != nil {
			return nil, err
		}
		if !s.eat(',') && s.peek() != ']' {
			return nil, errors.New("a , or ] is missing in an array")
		}
	}
}

// inline reads a table in braces; newer TOML allows it several lines and a
// comma at the end.
func (s *scanner) inline() (any, error) {
	s.i++
	table := map[string]any{}
	for {
		if err := s.gap(); err != nil {
			return nil, err
		}
		if s.eat('}') {
			return table, nil
		}
		keys, err := s.keys()
		if err != nil {
			return nil, err
		}
		if !s.eat('=') {
			return nil, errors.New("a = is missing after a key")
		}
		s.skipSpace()
		v, err := s.readValue()
		if err != nil {
			return nil, err
		}
		if !putInline(table, keys, v) {
			return nil, fmt.Errorf("the key %s is there twice", strings.Join(keys, "."))
		}
		if err := s.gap(); err != nil {
			return nil, err
		}
		if !s.eat(',') && s.peek() != '}' {
			return nil, errors.New("a , or } is missing in a table")
		}
	}
}

// dotted is a table that dotted keys have made, which further ones may add to.
type dotted map[string]any

func putInline(table map[string]any, keys []string, v any) bool {
	for _, k := range keys[:len(keys)-1] {
		next, ok := table[k].(dotted)
		if table[k] != nil && !ok {
			return false
		}
		if !ok {
			next = dotted{}
			table[k] = next
		}
		table = next
	}
	k := keys[len(keys)-1]
	if table[k] != nil {
		return false
	}
	table[k] = v
	return true
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// str reads a string in one or three quotes.
func (s *scanner) str(quote byte, n int) (string, error) {
	s.i += n
	end := strings.Repeat(string(quote), n)
	if n == 3 {
		s.lineEnd() // right after the quotes it does not count
	}
	var b strings.Builder
	for {
		switch c := s.peek(); {
		case s.i >= len(s.b):
			return "", errors.New("a string has no end")
		case s.hasPrefix(end):
			s.i += n
			for range n - 1 { // up to two more belong to the string that they end
				if n == 3 && s.eat(quote) {
					b.WriteByte(quote)
				}
			}
			return b.String(), nil
		case c == '\\' && quote == '"':
			if err := s.readEscape(&b, n == 3); err != nil {
				return "", err
			}
		case n == 3 && (c == '\n' || s.hasPrefix("\r\n")):
			s.lineEnd()
			b.WriteByte('\n')
		case control(c):
			return "", errors.New("a control character in a string, or no end of it in its line")
		default:
			b.WriteByte(c)
			s.i++
		}
	}
}

func (s *scanner) readEscape(b *strings.Builder, long bool) error {
	s.i++
	c := s.peek()
	s.i++
	switch i := strings.IndexByte(`btnfre"\`, c); {
	case i >= 0:
		b.WriteByte("\b\t\n\f\r\x1b\"\\"[i])
		return nil
	case c == 'u' || c == 'U' || c == 'x':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if s.i+n > len(s.b) {
			return errors.New("a string has no end")
		}
		r, err := strconv.ParseUint(string(s.b[s.i:s.i+n]), 16, 32)
		if err != nil || !utf8.ValidRune(rune(r)) {
			return errors.New("an escape is not a character")
		}
		b.WriteRune(rune(r))
		s.i += n
		return nil
	case long:
		s.i--
		s.skipSpace()
		if !s.lineEnd() {
			return errors.New("an unknown escape")
		}
		for {
			s.skipSpace()
			if !s.lineEnd() {
				return nil
			}
		}
	}
	return errors.New("an unknown escape")
}
