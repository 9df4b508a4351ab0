package agentconfig

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// tomlText is a TOML document.
type tomlText struct {
	mark string // a byte order mark, or nothing
	data []byte // the rest
	all  []statement
}

func (t *tomlText) bytes() []byte {
	if t.data == nil {
		return nil
	}
	return append([]byte(t.mark), t.data...)
}

// parseTOML reads a document; nil is one that is not there.
func parseTOML(data []byte) (*tomlText, error) {
	if data == nil {
		return &tomlText{}, nil
	}
	t := &tomlText{data: data}
	if rest, ok := bytes.CutPrefix(data, []byte(byteOrderMark)); ok {
		t.mark, t.data = byteOrderMark, rest
	}
	if !utf8.Valid(t.data) {
		return nil, errors.New("the file is not UTF-8 text")
	}
	var err error
	t.all, err = scanTOML(t.data)
	return t, err
}

func (t *tomlText) newline() string {
	if i := bytes.IndexByte(t.data, '\n'); i > 0 && t.data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// A section is a table with a header that is part of an entry.
type section struct {
	key      []string // below the entry
	from, to int      // of its statements: header to last value, no comments after it
	values   []statement
}

// sections returns the tables of an entry. It refuses an entry that is
// written in another way than as tables.
func (t *tomlText) sections(e serverEntry) ([]section, error) {
	path := append(slices.Clone(e.table), e.name)
	name := strings.Join(path, ".")
	var found []section
	open := false // the statements belong to the last section
	for _, st := range t.all {
		switch st.kind {
		case 't', 'a':
			open = starts(st.key, path)
			if st.kind == 'a' && (open || starts(path, st.key)) {
				return nil, fmt.Errorf("%s is an array of tables", strings.Join(st.key, "."))
			}
			if open {
				found = append(found, section{key: st.key[len(path):], from: st.from, to: st.to})
			}
		case 'k':
			if open {
				s := &found[len(found)-1]
				s.to, s.values = st.to, append(s.values, st)
				continue
			}
			full := st.path()
			if starts(full, path) || starts(path, full) {
				return nil, fmt.Errorf("%s is not written as a table of its own, [%s]", name, name)
			}
		}
	}
	return found, nil
}

func starts(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// get returns the value of a field in the main table of an entry.
func get(sections []section, key ...string) any {
	for _, s := range sections {
		for _, st := range s.values {
			if slices.Equal(append(slices.Clone(s.key), st.key...), key) {
				return st.value
			}
		}
	}
	return nil
}

func (t *tomlText) put(e serverEntry) (text, error) {
	found, err := t.sections(e)
	if err != nil {
		return nil, err
	}
	command, _ := get(found, "command").(string)
	var now *tomlText
	switch {
	case len(found) == 0:
		now, err = t.appendEntry(e)
	case programName(command) == e.program:
		now, err = t.update(e)
	case !e.force:
		return nil, e.takenError()
	default:
		if now, err = t.removeTables(found); err == nil {
			now, err = now.appendEntry(e)
		}
	}
	if err != nil {
		return nil, err
	}
	return now, t.differs(now, e)
}

func (t *tomlText) take(e serverEntry) (text, error) {
	found, err := t.sections(e)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return t, nil
	}
	if command, _ := get(found, "command").(string); !e.force && programName(command) != e.program {
		return nil, e.takenError()
	}
	now, err := t.removeTables(found)
	if err != nil {
		return nil, err
	}
	if len(now.data) == 0 && now.mark == "" {
		now = &tomlText{} // as if it had never been there
	}
	return now, t.differs(now, e)
}

func (t *tomlText) off(e serverEntry) bool {
	found, err := t.sections(e)
	return err == nil && get(found, "enabled") == scalar("false")
}

// appendEntry writes an entry at the end, where a new table does no harm,
// after an empty line. A document without a last line end stays without.
func (t *tomlText) appendEntry(e serverEntry) (*tomlText, error) {
	newline := t.newline()
	path := append(slices.Clone(e.table), e.name)
	lines := []string{"[" + tomlKey(path...) + "]"}
	for _, f := range e.fields {
		lines = append(lines, tomlKey(f.key)+" = "+tomlValue(f.value))
	}
	block := strings.Join(lines, newline)
	switch n := len(t.data); {
	case n == 0:
		block += newline
	case t.data[n-1] == '\n':
		block = newline + block + newline
	default:
		block = newline + newline + block
	}
	return t.splice(piece{len(t.data), len(t.data), block})
}

// removeTables takes tables out, each with the empty line before it.
func (t *tomlText) removeTables(found []section) (*tomlText, error) {
	var pieces []piece
	for _, s := range found {
		i, from := t.index(s.from), s.from
		if i > 0 && t.all[i-1].kind == ' ' {
			from = t.all[i-1].from
		}
		if s.to == len(t.data) && t.data[s.to-1] != '\n' { // leave no last line end either
			from -= len(t.data[:from]) - len(bytes.TrimSuffix(bytes.TrimSuffix(t.data[:from], []byte("\n")), []byte("\r")))
		}
		if n := len(pieces); n > 0 && pieces[n-1].to > from {
			from = pieces[n-1].to
		}
		to := s.to
		if j := t.index(to); from == 0 && j < len(t.all) && t.all[j].kind == ' ' { // what follows comes first now
			to = t.all[j].to
		}
		pieces = append(pieces, piece{from, to, ""})
	}
	return t.splice(pieces...)
}

// index returns the statement that begins at a place.
func (t *tomlText) index(at int) int {
	i, _ := slices.BinarySearchFunc(t.all, at, func(st statement, at int) int { return st.from - at })
	return i
}

// update brings the fields of an entry up to date.
func (t *tomlText) update(e serverEntry) (now *tomlText, err error) {
	now = t
	for _, f := range e.fields {
		if f.once {
			continue
		}
		members, ok := f.value.(map[string]string)
		if !ok {
			if now, err = now.setKey(e, f.key, nil, f.value); err != nil {
				return nil, err
			}
			continue
		}
		if now, err = now.merge(e, f.key, members); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// merge sets the members of a field that is a map, be it in braces or a table
// of its own.
func (t *tomlText) merge(e serverEntry, key string, members map[string]string) (*tomlText, error) {
	found, err := t.sections(e)
	if err != nil {
		return nil, err
	}
	own := slices.ContainsFunc(found, func(s section) bool { return slices.Equal(s.key, []string{key}) })
	if !own {
		all := map[string]string{}
		if old, ok := get(found, key).(map[string]any); ok {
			for k, v := range old {
				if all[k], ok = v.(string); !ok {
					return nil, fmt.Errorf("%s.%s is not a string", key, k)
				}
			}
		}
		maps.Copy(all, members)
		return t.setKey(e, key, nil, all)
	}
	now := t
	for _, k := range slices.Sorted(maps.Keys(members)) {
		if now, err = now.setKey(e, k, []string{key}, members[k]); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// setKey gives a key in one of the tables of an entry a value.
func (t *tomlText) setKey(e serverEntry, key string, table []string, value any) (*tomlText, error) {
	found, err := t.sections(e)
	if err != nil {
		return nil, err
	}
	n := slices.IndexFunc(found, func(s section) bool { return slices.Equal(s.key, table) })
	if n < 0 {
		return nil, fmt.Errorf("there is no table [%s]", tomlKey(append(append(slices.Clone(e.table), e.name), table...)...))
	}
	for _, st := range found[n].values {
		if st.key[0] != key {
			continue
		}
		if len(st.key) > 1 {
			return nil, fmt.Errorf("%s is written with a dot", strings.Join(st.key, "."))
		}
		if reflect.DeepEqual(st.value, plainValue(value)) {
			return t, nil
		}
		return t.splice(piece{st.vFrom, st.vTo, tomlValue(value)})
	}
	at := found[n].to
	line := tomlKey(key) + " = " + tomlValue(value)
	if t.data[at-1] == '\n' {
		line += t.newline()
	} else {
		line = t.newline() + line
	}
	return t.splice(piece{at, at, line})
}

// plainValue returns a value as the scanner returns it.
func plainValue(v any) any {
	switch v := v.(type) {
	case []string:
		list := []any{}
		for _, s := range v {
			list = append(list, s)
		}
		return list
	case map[string]string:
		m := map[string]any{}
		for k, s := range v {
			m[k] = s
		}
		return m
	case bool:
		return scalar(fmt.Sprint(v))
	}
	return v
}

func (t *tomlText) splice(pieces ...piece) (*tomlText, error) {
	b := []byte(t.mark)
	at := 0
	for _, p := range pieces {
		b = append(append(b, t.data[at:p.from]...), p.with...)
		at = p.to
	}
	now, err := parseTOML(append(b, t.data[at:]...))
	if err != nil {
		return nil, fmt.Errorf("the edit does not fit: %w", err)
	}
	return now, nil
}

// differs makes sure that two documents differ by an entry alone.
func (t *tomlText) differs(now *tomlText, e serverEntry) error {
	if !reflect.DeepEqual(t.without(e), now.without(e)) {
		return errors.New("the edit would change more than the entry")
	}
	return nil
}

// without returns what the document says, but not of the entry.
func (t *tomlText) without(e serverEntry) (rest []statement) {
	path := append(slices.Clone(e.table), e.name)
	for _, st := range t.all {
		full := st.key
		if st.kind == 'k' {
			full = st.path()
		}
		if st.kind == ' ' || st.kind == 'c' || starts(full, path) {
			continue
		}
		rest = append(rest, statement{kind: st.kind, key: st.key, table: st.table, value: st.value})
	}
	return rest
}

// tomlKey writes a key with its dots.
func tomlKey(path ...string) string {
	var keys []string
	for _, k := range path {
		if isPlainName(k) {
			keys = append(keys, k)
		} else {
			keys = append(keys, tomlString(k))
		}
	}
	return strings.Join(keys, ".")
}

// tomlValue writes the value of a field.
func tomlValue(v any) string {
	var parts []string
	switch v := v.(type) {
	case string:
		return tomlString(v)
	case []string:
		for _, s := range v {
			parts = append(parts, tomlString(s))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]string:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, tomlKey(k)+" = "+tomlString(v[k]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return fmt.Sprint(v)
}

func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
