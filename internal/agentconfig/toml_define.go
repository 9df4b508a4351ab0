package agentconfig

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What is defined at a path of a TOML document.
const (
	asValue    = 'v'
	asTable    = 't' // by a header of its own
	asParent   = 'p' // by a header of a table in it
	asDotted   = 'd' // by a dotted key
	asArray    = 'a' // by a header of an array of tables
	notDefined = 0
)

// define records what a statement defines, and refuses a duplicate.
func (s *scanner) define(st statement) error {
	switch st.kind {
	case 't', 'a':
		return s.defineTable(st)
	case 'k':
		return s.defineValue(st)
	}
	return nil
}

// keyPath extends the name of a path by a key; the tables of an array have
// names of their own.
func (s *scanner) keyPath(at, key string) string {
	at += "\x00" + key
	if n := s.count[at]; n > 0 {
		at += "\x01" + strconv.Itoa(n)
	}
	return at
}

func (s *scanner) defineTable(st statement) error {
	at := ""
	for _, key := range st.key[:len(st.key)-1] {
		at = s.keyPath(at, key)
		switch s.seen[at] {
		case asValue:
			return twice(st.key)
		case notDefined:
			s.seen[at] = asParent
		}
	}
	last := at + "\x00" + st.key[len(st.key)-1]
	was := s.seen[last]
	if st.kind == 'a' {
		if was != notDefined && was != asArray {
			return twice(st.key)
		}
		s.seen[last] = asArray
		s.count[last]++
		s.seen[s.keyPath(at, st.key[len(st.key)-1])] = asTable
		return nil
	}
	if was != notDefined && was != asParent {
		return twice(st.key)
	}
	s.seen[last] = asTable
	return nil
}

func (s *scanner) defineValue(st statement) error {
	at := ""
	for _, key := range st.table {
		at = s.keyPath(at, key)
	}
	for _, key := range st.key[:len(st.key)-1] {
		at = s.keyPath(at, key)
		switch s.seen[at] {
		case notDefined, asDotted:
			s.seen[at] = asDotted
		default:
			return twice(st.key)
		}
	}
	at += "\x00" + st.key[len(st.key)-1]
	if s.seen[at] != notDefined {
		return twice(st.key)
	}
	s.seen[at] = asValue
	return nil
}

func twice(key []string) error {
	return fmt.Errorf("%s is there already", strings.Join(key, "."))
}

// isScalar reports whether a word is a number, a truth value or a time.
func isScalar(word string) bool {
	switch strings.TrimLeft(word, "+-") {
	case "inf", "nan":
		return len(word) <= 4
	}
	if word == "true" || word == "false" {
		return true
	}
	return isNumber(word) || isTime(word)
}

func isNumber(word string) bool {
	for base, digits := range map[string]string{"0x": "0123456789abcdefABCDEF_", "0o": "01234567_", "0b": "01_"} {
		if rest, ok := strings.CutPrefix(word, base); ok {
			return parted(rest) && strings.Trim(rest, digits) == ""
		}
	}
	body, exp, found := strings.Cut(strings.ToLower(unsigned(word)), "e")
	if found && !isDigits(unsigned(exp)) {
		return false
	}
	whole, part, point := strings.Cut(body, ".")
	return isDigits(whole) && (whole == "0" || whole[0] != '0') && (!point || isDigits(part))
}

// unsigned takes a sign away.
func unsigned(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

// parted reports whether every _ of a word has something on both sides.
func parted(s string) bool {
	return s != "" && s[0] != '_' && s[len(s)-1] != '_' && !strings.Contains(s, "__")
}

// isDigits reports whether a word is digits with single _ between them.
func isDigits(s string) bool {
	return parted(s) && strings.Trim(s, "0123456789_") == ""
}

func isTime(word string) bool {
	word = strings.ToUpper(word)
	if len(word) > 10 && (word[10] == ' ') {
		word = word[:10] + "T" + word[11:]
	}
	if strings.Contains(word, ",") {
		return false
	}
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02", "15:04:05",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "15:04"} {
		if _, err := time.Parse(layout, word); err == nil {
			return true
		}
	}
	return false
}
