package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf16"
)

// A segment maps a piece of the program to its source. Lines and columns count from 0.
type segment struct {
	line, column         int32
	source               int32
	fromLine, fromColumn int32
}

// segments are a source map, in the program's order.
type segments struct {
	list    []segment
	sources []string
	shift   []int32 // by source: what was put in front of its first line
}

// readMap reads a source map the compiler made. Sources are given as URLs
// relative to the program's folder, or as namespace and name.
func readMap(data []byte, dir string) (segments, error) {
	var m struct {
		Sources  []string
		Mappings string
		Shift    []int32 `json:"x_shift"`
		Moved    []int32 `json:"x_moved"`
	}
	var t segments
	if len(data) == 0 {
		return t, nil
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return t, fmt.Errorf("source map: %w", err)
	}
	for _, s := range m.Sources {
		t.sources = append(t.sources, sourcePath(s, dir))
	}
	t.shift = m.Shift
	var err error
	if t.list, err = readMappings(m.Mappings, len(m.Sources)); err != nil {
		return t, fmt.Errorf("source map: %w", err)
	}
	t.reorder(m.Moved)
	return t, nil
}

func sourcePath(source, dir string) string {
	u, err := url.Parse(source)
	if err != nil || u.Scheme != "" && u.Scheme != "file" {
		return source
	}
	if u.Scheme == "file" {
		return filepath.FromSlash(u.Path)
	}
	return filepath.Join(dir, filepath.FromSlash(u.Path))
}

// readMappings reads the digits of a source map: groups by line, separated by
// semicolons, of segments, separated by commas, of differences to the one before.
func readMappings(text string, sources int) ([]segment, error) {
	list := make([]segment, 0, len(text)/5)
	var now segment
	for at := 0; at < len(text); {
		switch text[at] {
		case ';':
			now.line++
			now.column = 0
			at++
			continue
		case ',':
			at++
			continue
		}
		var field [5]int32
		n := 0
		for at < len(text) && text[at] != ',' && text[at] != ';' {
			if n == len(field) {
				return nil, errors.New("a segment has too many fields")
			}
			var err error
			if field[n], at, err = readNumber(text, at); err != nil {
				return nil, err
			}
			n++
		}
		now.column += field[0]
		if n < 4 {
			continue
		}
		now.source += field[1]
		now.fromLine += field[2]
		now.fromColumn += field[3]
		if now.source < 0 || int(now.source) >= sources {
			return nil, errors.New("a segment names no source")
		}
		list = append(list, now)
	}
	return list, nil
}

// readNumber reads one number of base 64 digits, the lowest first, of which
// the lowest bit is the sign.
func readNumber(text string, at int) (int32, int, error) {
	var value uint32
	for shift := 0; shift < 32; shift += 5 {
		if at >= len(text) {
			return 0, at, errors.New("a number has no end")
		}
		digit := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", text[at])
		if digit < 0 {
			return 0, at, fmt.Errorf("%q is not a digit", text[at])
		}
		at++
		value |= uint32(digit&31) << shift
		if digit&32 == 0 {
			if value&1 != 0 {
				return -int32(value >> 1), at, nil
			}
			return int32(value >> 1), at, nil
		}
	}
	return 0, at, errors.New("a number is too large")
}

// lookup finds where the code at a line (from 1) and column (from 0) of the
// program comes from; the file is empty if from no file.
func (t *segments) lookup(line, column int) (file string, fromLine, fromColumn int) {
	l, c := int32(line-1), int32(column)
	i := sort.Search(len(t.list), func(i int) bool {
		s := &t.list[i]
		return s.line > l || s.line == l && s.column > c
	}) - 1
	if i < 0 || t.list[i].line != l {
		return "", 0, 0
	}
	s := t.list[i]
	if s.fromLine == 0 && int(s.source) < len(t.shift) {
		s.fromColumn = max(0, s.fromColumn-t.shift[s.source])
	}
	return t.sources[s.source], int(s.fromLine) + 1, int(s.fromColumn) + 1
}

// packMap writes the source map that is kept: the compiler's, with real paths
// and what was put in front of files.
func (s *buildSession) packMap() ([]byte, error) {
	var m struct {
		Version  int      `json:"version"`
		Sources  []string `json:"sources"`
		Names    []string `json:"names"`
		Mappings string   `json:"mappings"`
		Shift    []int32  `json:"x_shift"`
		Moved    []int32  `json:"x_moved,omitempty"`
	}
	if err := json.Unmarshal(s.srcs, &m); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	m.Names = []string{}
	m.Moved = s.moved
	m.Shift = make([]int32, len(m.Sources))
	for i, path := range s.table.sources {
		if src := s.sources[path]; src != nil {
			m.Shift[i] = int32(len(utf16.Encode([]rune(src.prefix))))
			m.Sources[i] = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
		}
	}
	s.table.shift = m.Shift
	return json.Marshal(m)
}

// Position maps a line and column of the program, counted from 1, to a file, or to another module,
// by namespace and name ("virtual:fs"). The file is empty for generated code. A column of 0 stands
// for the first mapped position of the line.
func (r *Result) Position(line, column int) (file string, fileLine, fileColumn int) {
	r.once.Do(func() {
		if r.table.list == nil {
			// An unreadable map has no positions.
			r.table, _ = readMap(r.Map, "/")
		}
	})
	if column == 0 {
		i := sort.Search(len(r.table.list), func(i int) bool { return int(r.table.list[i].line) >= line-1 })
		if i == len(r.table.list) || int(r.table.list[i].line) != line-1 {
			return "", 0, 0
		}
		return r.table.lookup(line, int(r.table.list[i].column))
	}
	return r.table.lookup(line, column-1)
}
