package terminal

import (
	"bytes"
	"strings"
)

// Bounds on a table that is kept until it is whole. What is longer is printed
// in parts.
const (
	maxRow   = 4 << 10   // bytes of a row
	maxTable = 128 << 10 // bytes of all
)

// A row is a line of a table.
type row struct {
	leaf
	text string
}

// row reads a line of a table.
func (m *Markdown) row(s []byte) (n int, wait bool) {
	n = bytes.IndexByte(s[:min(len(s), maxRow)], '\n')
	if n < 0 && len(s) < maxRow {
		return 0, true
	}
	m.place = atStart
	if n < 0 { // too long for a table
		m.leaf.kind = textLeaf
		m.beginLeaf(m.leaf)
		return 0, false
	}
	line := strings.TrimSuffix(string(s[:n]), "\r")
	m.rows = append(m.rows, row{m.leaf, line})
	if m.size += len(line); m.size > maxTable {
		m.flushTable()
	}
	return n + 1, false
}

// flushTable prints the rows that are kept.
func (m *Markdown) flushTable() {
	rows := m.rows
	m.rows, m.size = nil, 0
	if len(rows) == 0 {
		return
	}
	m.printOwedBlank()
	if len(rows) > 1 {
		if cols := columns(rows[1].text); cols != nil && m.table(rows, cols) {
			return
		}
	}
	for _, r := range rows {
		m.wrap.first, m.wrap.rest = r.first, r.rest
		m.leaf = r.leaf
		m.tail, m.in.before = "", ' '
		m.printText(r.text, true)
	}
}

// cells are what stands between the bars of a row.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	var out []string
	from, code := 0, false
	last := strings.LastIndexByte(line, '`')
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] == '`':
			code = !code
		case line[i] == '|' && (!code || i > last):
			out = append(out, strings.TrimSpace(line[from:i]))
			from, code = i+1, false
		}
	}
	if last := strings.TrimSpace(line[from:]); last != "" {
		out = append(out, last)
	}
	return out
}

// A column of a table.
type column struct {
	side  byte // 'l', 'r' or 'c'
	width int
}

// columns parses the row below the header; nil if it is not one.
func columns(line string) []column {
	var out []column
	for _, c := range cells(line) {
		left, right := strings.HasPrefix(c, ":"), strings.HasSuffix(c, ":")
		if inner := strings.Trim(c, ":"); inner == "" || strings.Trim(inner, "-") != "" {
			return nil
		}
		switch {
		case left && right:
			out = append(out, column{side: 'c'})
		case right:
			out = append(out, column{side: 'r'})
		default:
			out = append(out, column{side: 'l'})
		}
	}
	return out
}

// table prints rows in columns. It reports false where they do not fit.
func (m *Markdown) table(rows []row, cols []column) bool {
	room := m.o.Width - rows[0].rest.width - 3*len(cols) - 1
	if room < 4*len(cols) {
		return false
	}
	texts := make([][]string, 0, len(rows))
	for i, r := range rows {
		if i == 1 {
			continue
		}
		fields := cells(r.text)
		if most := len(cols); len(fields) > most { // nothing is lost
			fields = append(fields[:most-1:most-1], strings.Join(fields[most-1:], " | "))
		}
		for c, f := range fields {
			cols[c].width = max(cols[c].width, Width(m.cell(f, maxRow*8, "")[0]))
		}
		texts = append(texts, fields)
	}
	shrinkColumns(cols, room)
	for i, fields := range texts {
		m.tableRow(rows[0].rest, fields, cols, i == 0)
		if i == 0 {
			// The rule below the head.
			parts := make([]string, len(cols))
			for i, c := range cols {
				parts[i] = strings.Repeat(m.bar("-", "─"), c.width+2)
			}
			line := strings.Join(parts, m.bar("|", "┼"))
			if !m.o.Color {
				line = "|" + line + "|"
			}
			m.out.WriteString(rows[0].rest.text + m.o.pen(dim).paint(line) + "\n")
		}
	}
	return true
}

// shrinkColumns makes the widest columns narrower until all fit.
func shrinkColumns(cols []column, room int) {
	most := 2
	for _, c := range cols {
		most = max(most, c.width)
	}
	low := 2 // always fits
	for low < most {
		mid := (low + most + 1) / 2
		sum := 0
		for _, c := range cols {
			sum += min(c.width, mid)
		}
		if sum > room {
			most = mid - 1
		} else {
			low = mid
		}
	}
	for i, c := range cols {
		cols[i].width = max(min(c.width, low), 1)
	}
}

// cell lays a cell out in lines.
func (m *Markdown) cell(s string, width int, p pen) []string {
	var out strings.Builder
	w := wrapper{out: &out, width: width, least: 2}
	if m.o.Color {
		in := inliner{before: ' ', emit: func(p pen, s string) { w.write(m.base().and(p), s) }}
		in.run(s, true, p, 0)
		m.in.looked += in.looked
	} else {
		w.write("", s)
	}
	w.end()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func (m *Markdown) tableRow(before prefix, fields []string, cols []column, header bool) {
	p := pen("")
	if header {
		p = m.o.pen(bold)
	}
	laid := make([][]string, len(cols))
	lines := 1
	for i := range fields {
		laid[i] = m.cell(fields[i], cols[i].width, p)
		lines = max(lines, len(laid[i]))
	}
	for n := range lines {
		line := before.text
		for i, c := range cols {
			if i > 0 || !m.o.Color {
				line += m.o.pen(dim).paint(m.bar("|", "│"))
			}
			text := ""
			if n < len(laid[i]) {
				text = laid[i][n]
			}
			line += " " + pad(text, c) + " "
		}
		if !m.o.Color {
			line += "|"
		}
		m.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func (m *Markdown) bar(plain, drawn string) string {
	if m.o.Color {
		return drawn
	}
	return plain
}

// pad fills a cell up.
func pad(s string, c column) string {
	free := max(c.width-Width(s), 0)
	left := 0
	switch c.side {
	case 'r':
		left = free
	case 'c':
		left = free / 2
	}
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", free-left)
}
