package terminal_test

import (
	"fmt"
	"github.com/helve-dev/helve/internal/terminal"
	"strings"
	"sync"
	"unicode/utf8"
)

// A terminal is a screen that understands what this package prints.
type testTerminal struct {
	mu          sync.Mutex
	columns     int
	rows        [][]string // cells; the second one of a wide character is ""
	row, column int
	pending     string
	bad         string // what it does not understand
}

func newTerminal(columns int) *testTerminal {
	return &testTerminal{columns: columns, rows: [][]string{nil}}
}

func (v *testTerminal) size() (columns, rows int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.columns, 10
}

// narrow gives it another width. It breaks no line anew.
func (v *testTerminal) resize(columns int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.columns = columns
}

func (v *testTerminal) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.pending + string(p)
	for s != "" {
		n := v.one(s)
		if n == 0 {
			break
		}
		s = s[n:]
	}
	v.pending = s
	return len(p), nil
}

func (v *testTerminal) one(s string) int {
	switch {
	case strings.HasPrefix(s, "\x1b["):
		end := strings.IndexFunc(s[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return 0
		}
		v.control(s[2:2+end], s[2+end])
		return end + 3
	case s[0] == '\r':
		v.column = 0
		return 1
	case s[0] == '\n':
		v.row++
		v.grow()
		return 1
	case s[0] < ' ':
		v.bad += fmt.Sprintf("%q", s[0])
		return 1
	}
	_, n := utf8.DecodeRuneInString(s)
	v.put(s[:n])
	return n
}

func (v *testTerminal) grow() {
	for v.row >= len(v.rows) {
		v.rows = append(v.rows, nil)
	}
}

func (v *testTerminal) put(char string) {
	w := terminal.Width(char)
	if v.column+w > v.columns {
		v.row, v.column = v.row+1, 0
		v.grow()
	}
	row := &v.rows[v.row]
	for len(*row) < v.column+w {
		*row = append(*row, " ")
	}
	if w == 0 {
		if v.column > 0 {
			(*row)[v.column-1] += char
		}
		return
	}
	(*row)[v.column] = char
	if w == 2 {
		(*row)[v.column+1] = ""
	}
	v.column += w
}

func (v *testTerminal) control(arg string, final byte) {
	n := 1
	_, _ = fmt.Sscan(arg, &n)
	switch {
	case final == 'A':
		v.row = max(v.row-n, 0)
	case final == 'C':
		v.column = min(v.column+n, v.columns-1)
	case final == 'J' && arg == "":
		v.rows = v.rows[:v.row+1]
		v.rows[v.row] = v.rows[v.row][:min(v.column, len(v.rows[v.row]))]
	case final == 'J' && arg == "2":
		v.rows, v.row = [][]string{nil}, 0
	case final == 'H':
		v.row, v.column = 0, 0
	case final == 'm', final == 'h' || final == 'l':
	default:
		v.bad += arg + string(final)
	}
}

// String is what can be seen, with a ▏ where the cursor stands.
func (v *testTerminal) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for i, row := range v.rows {
		line := ""
		for j, cell := range row {
			if i == v.row && j == v.column {
				line += "▏"
			}
			line += cell
		}
		if i == v.row && v.column >= len(row) {
			line += strings.Repeat(" ", v.column-len(row)) + "▏"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n") + v.bad
}
