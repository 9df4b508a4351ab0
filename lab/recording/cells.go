package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A style is how characters look. Colours are "" for the terminal's own, "0" to
// "15" for those that it has names for, or "#rrggbb".
type style struct {
	fg, bg                   string
	bold, dim, under, invert bool
}

// A run is characters of one style that stand side by side.
type run struct {
	col, width int
	text       string
	style      style
}

// A line is a row of the screen, from the left, without the blanks at its end.
type line []run

// A frame is what the screen showed: its rows, and when and for how long in the
// recording, in milliseconds.
type frame struct {
	rows []line
	hold int
}

// cursor is how the cell looks that is written into next.
const cursor = "cursor"

// screenOf reads what tmux says of its pane: text with the sequences that set
// styles, a row a line. The cursor is a run of its own; there is none where x is
// negative.
func screenOf(captured string, x, y int) []line {
	var rows []line
	var s style // it goes on from row to row
	for _, text := range strings.Split(strings.TrimSuffix(captured, "\n"), "\n") {
		var cells []run
		cells, s = cellsOf(text, s)
		if len(rows) == y && x >= 0 {
			cells = mark(cells, x)
		}
		rows = append(rows, joined(cells))
	}
	return rows
}

// plainOf is the text of the rows up to one, without styles.
func plainOf(captured string, last int) string {
	var rows []string
	for i, text := range strings.Split(captured, "\n") {
		if i > last {
			break
		}
		cells, _ := cellsOf(text, style{})
		row := ""
		for _, c := range cells {
			row += c.text
		}
		rows = append(rows, strings.TrimRight(row, " "))
	}
	return strings.Join(rows, "\n")
}

// cellsOf reads a row, a cell each, and the style at its end.
func cellsOf(text string, s style) (cells []run, after style) {
	col := 0
	for text != "" {
		if params, rest, ok := sgr(text); ok {
			s, text = s.set(params), rest
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		switch w := width(r); {
		case w == 0 && len(cells) > 0: // it stands on the one before
			cells[len(cells)-1].text += text[:n]
		case w > 0:
			cells = append(cells, run{col: col, width: w, text: text[:n], style: s})
			col += w
		}
		text = text[n:]
	}
	return cells, s
}

// sgr takes a sequence that sets styles off the beginning of a text.
func sgr(text string) (params, rest string, ok bool) {
	body, ok := strings.CutPrefix(text, "\x1b[")
	if !ok {
		return "", text, false
	}
	end := strings.IndexFunc(body, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
	if end < 0 {
		return "", "", true // cut off; nothing follows
	}
	if body[end] != 'm' {
		return "-", body[end+1:], true
	}
	return body[:end], body[end+1:], true
}

// set is the style after a sequence.
func (s style) set(params string) style {
	if params == "-" {
		return s
	}
	list := strings.Split(strings.ReplaceAll(params, ":", ";"), ";")
	for i := 0; i < len(list); i++ {
		n, _ := strconv.Atoi(list[i]) // nothing is 0
		switch {
		case n == 38 || n == 48:
			colour, used := extended(list[i+1:])
			i += used
			if n == 38 {
				s.fg = colour
			} else {
				s.bg = colour
			}
		case n >= 30 && n <= 49 || n >= 90:
			s = s.paint(n)
		default:
			s = s.switched(n)
		}
	}
	return s
}

// switched sets what is on or off.
func (s style) switched(n int) style {
	switch n {
	case 0:
		return style{}
	case 1:
		s.bold = true
	case 2:
		s.dim = true
	case 4:
		s.under = true
	case 7:
		s.invert = true
	case 22:
		s.bold, s.dim = false, false
	case 24:
		s.under = false
	case 27:
		s.invert = false
	}
	return s
}

// paint sets a colour that has a name.
func (s style) paint(n int) style {
	switch {
	case n == 39:
		s.fg = ""
	case n == 49:
		s.bg = ""
	case n >= 30 && n <= 37:
		s.fg = strconv.Itoa(n - 30)
	case n >= 40 && n <= 47:
		s.bg = strconv.Itoa(n - 40)
	case n >= 90 && n <= 97:
		s.fg = strconv.Itoa(n - 90 + 8)
	case n >= 100 && n <= 107:
		s.bg = strconv.Itoa(n - 100 + 8)
	}
	return s
}

// extended reads a colour by its number or its parts, and how many words it took.
func extended(list []string) (colour string, used int) {
	number := func(i int) int {
		n, _ := strconv.Atoi(list[i])
		return max(0, min(255, n))
	}
	switch {
	case len(list) >= 2 && list[0] == "5":
		return indexed(number(1)), 2
	case len(list) >= 4 && list[0] == "2":
		return hex(number(1), number(2), number(3)), 4
	}
	return "", len(list)
}

// indexed is a colour of the table of 256.
func indexed(n int) string {
	switch {
	case n < 16:
		return strconv.Itoa(n)
	case n >= 232:
		grey := 8 + 10*(n-232)
		return hex(grey, grey, grey)
	}
	part := func(v int) int {
		if v == 0 {
			return 0
		}
		return 55 + 40*v
	}
	n -= 16
	return hex(part(n/36), part(n/6%6), part(n%6))
}

func hex(r, g, b int) string {
	const digits = "0123456789abcdef"
	out := []byte{'#'}
	for _, v := range []int{r, g, b} {
		out = append(out, digits[v>>4], digits[v&15])
	}
	return string(out)
}

// width is how many cells a character takes.
func width(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}

// mark puts the cursor onto a row.
func mark(cells []run, x int) []run {
	for i := range cells {
		if cells[i].col == x {
			cells[i].style.bg = cursor
			return cells
		}
	}
	end := 0
	if n := len(cells); n > 0 {
		end = cells[n-1].col + cells[n-1].width
	}
	for ; end < x; end++ {
		cells = append(cells, run{col: end, width: 1, text: " "})
	}
	return append(cells, run{col: x, width: 1, text: " ", style: style{bg: cursor}})
}

// joined puts cells of one style together, and leaves out what shows nothing.
func joined(cells []run) (l line) {
	for _, c := range cells {
		if n := len(l); n > 0 && l[n-1].style == c.style {
			l[n-1].text += c.text
			l[n-1].width += c.width
			continue
		}
		l = append(l, c)
	}
	shown := l[:0]
	for _, r := range l {
		if strings.TrimSpace(r.text) != "" || r.style.bg != "" || r.style.invert || r.style.under {
			shown = append(shown, r)
		}
	}
	return shown
}
