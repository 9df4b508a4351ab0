package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A layout is what is drawn: rows, and the cursor's position in them.
type layout struct {
	rows        []string
	row, column int
	promptRow   int // the row that the prompt ends in
}

// layout breaks the prompt and the text into rows.
func (e *Editor) layout() layout {
	var l layout
	var row strings.Builder
	column := 0
	feed := func() {
		l.rows = append(l.rows, row.String())
		row.Reset()
		column = 0
	}
	put := func(s string) {
		w := Width(s)
		if column+w > e.columns && w > 0 {
			feed()
		}
		row.WriteString(s)
		column += w
	}
	prompt := func(s string) {
		for len(s) > 0 {
			n := colour(s)
			if n == 0 {
				_, n = utf8.DecodeRuneInString(s)
			}
			put(s[:n])
			s = s[n:]
		}
	}
	prompt(e.line.Prompt)
	l.promptRow = len(l.rows)
	before := ' '
	for i, r := range e.text {
		if i == e.at {
			if column == e.columns && runeWidth(r) > 0 {
				feed()
			}
			l.row, l.column = len(l.rows), column
		}
		switch r {
		case '\n':
			feed()
			prompt(e.line.More)
		case '\t':
			put("    ")
		default:
			put(printable(string(r), r, before))
		}
		before = r
	}
	if e.at == len(e.text) {
		if column == e.columns {
			feed()
		}
		l.row, l.column = len(l.rows), column
	}
	l.rows = append(l.rows, row.String())
	return l
}

// Size returns the size of the terminal; 80 by 24 if unknown.
func (e *Editor) Size() (columns, rows int) {
	columns, rows = e.size()
	if columns < 2 {
		columns = 80
	}
	if rows < 2 {
		rows = 24
	}
	return columns, rows
}

// draw draws the line over what was drawn before. If the text is higher than the terminal, only the
// rows around the cursor are drawn.
func (e *Editor) draw() {
	columns, height := e.Size()
	if columns != e.columns {
		e.resize(columns)
		return
	}
	l := e.layout()
	if len(l.rows) > height-1 {
		from := min(max(l.row-height+2, 0), len(l.rows)-height+1)
		l.rows = l.rows[from : from+height-1]
		l.row -= from
	}
	var out strings.Builder
	out.WriteString(upwards(e.row) + "\r\x1b[J")
	out.WriteString(strings.Join(l.rows, "\r\n"))
	out.WriteString(upwards(len(l.rows)-1-l.row) + "\r")
	if l.column > 0 {
		fmt.Fprintf(&out, "\x1b[%dC", l.column)
	}
	e.row = l.row
	e.print(out.String())
}

// resize draws the line on a terminal of another width, which has broken what
// stood there into other rows.
func (e *Editor) resize(columns int) {
	l := e.layout()
	above := 0
	for _, r := range l.rows[:min(l.row, len(l.rows))] {
		above += max(Width(r)-1, 0)/columns + 1
	}
	e.columns = columns
	e.row = above + l.column/columns
	e.draw()
}

func upwards(rows int) string {
	if rows <= 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA", rows)
}

// print writes to the terminal. Errors are ignored: reading keys reports that the terminal is gone.
func (e *Editor) print(s string) { _, _ = io.WriteString(e.out, s) }
