package web

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

// What the lines of one result may have, in characters.
const (
	maxTitle   = 300
	maxAddress = 2000
	maxDate    = 60
)

// A hit is one result, as the server wrote it.
type hit struct {
	title, address, date string
	parts                []string // what the page says
}

// A block is a result as shown: lines that are always there, and a text that may be shortened. All
// lines but the first are indented, so that one result cannot look like two.
type block struct {
	head string
	body string
}

// render returns the list of results that all providers have: at most count of them and, except for
// a last line that says so, at most most characters. Long texts are shortened first.
func render(hits []hit, q SearchQuery, hide func(string) string) string {
	blocks := make([]block, 0, min(len(hits), q.Count))
	for _, h := range hits {
		if len(blocks) == q.Count {
			break
		}
		if b, ok := h.trimmed(q.chars(), hide).renderHit(len(blocks)+1, hide); ok {
			blocks = append(blocks, b)
		}
	}
	most := q.chars()
	all := len(blocks)
	left := most
	for i, b := range blocks {
		left -= utf8.RuneCountInString(b.head) + 2 // the line ends between results
		if left < 0 && i > 0 {
			left += utf8.RuneCountInString(b.head) + 2
			blocks = blocks[:i]
			break
		}
	}
	short := shortenToFit(blocks, max(left, 0))
	var out strings.Builder
	for i, b := range blocks {
		if i > 0 {
			out.WriteString("\n\n")
		}
		out.WriteString(b.head)
		out.WriteString(b.body)
	}
	s, cutOff := cutText(out.String(), most)
	if lost := all - len(blocks); lost > 0 || short > 0 || cutOff {
		s = strings.TrimRight(s, " \t\n") + notice(most, lost, short)
	}
	return s
}

// notice says what was left out.
func notice(most, lost, short int) string {
	said := fmt.Sprintf("\n\n(Bounded to %d characters.", most)
	if lost > 0 {
		said += fmt.Sprintf(" Results left out: %d.", lost)
	}
	if short > 0 {
		said += fmt.Sprintf(" Texts shortened: %d.", short)
	}
	if lost == 0 && short == 0 {
		said += " The end is left out."
	}
	return said + ")"
}

// trimmed returns the hit without what would be cut off anyway, before more
// work is done on it. A secret must not be cut in two.
func (h hit) trimmed(most int, hide func(string) string) hit {
	const spare = 16 << 10 // for characters without width
	trim := func(s string, n int) string {
		if n = 8*n + spare; len(s) > n {
			s, _ = text.Cut(hide(s), n)
		}
		return s
	}
	short := hit{title: trim(h.title, maxTitle), address: trim(h.address, maxAddress), date: trim(h.date, maxDate)}
	for _, part := range h.parts {
		short.parts = append(short.parts, trim(part, most))
	}
	return short
}

// renderHit makes the lines of a result, or reports that it is empty.
func (h hit) renderHit(number int, hide func(string) string) (block, bool) {
	const indent = "\n   "
	title, _ := cutText(hide(oneLine(h.title)), maxTitle)
	address := hide(oneLine(h.address))
	if utf8.RuneCountInString(address) > maxAddress {
		address = fmt.Sprintf("(an address of more than %d characters)", maxAddress)
	}
	date, _ := cutText(hide(oneLine(h.date)), maxDate)
	var body strings.Builder
	blank := false
	for _, part := range h.parts {
		for row := range strings.Lines(hide(cleanText(part))) {
			row = strings.TrimRight(row, " \t\n")
			if row == "" {
				blank = body.Len() > 0
				continue
			}
			if blank {
				body.WriteByte('\n')
			}
			blank = false
			body.WriteString(indent + row)
		}
	}
	if title == "" && address == "" && body.Len() == 0 {
		return block{}, false
	}
	if title == "" {
		title = "(no title)"
	}
	head := fmt.Sprintf("%d. %s", number, title)
	for _, row := range []string{address, date} {
		if row != "" {
			head += indent + row
		}
	}
	return block{head, body.String()}, true
}

// shortenToFit shortens the longest texts until all fit together, and returns how many it
// shortened.
func shortenToFit(blocks []block, room int) (short int) {
	const mark = " …"
	sizes := make([]int, len(blocks))
	for i, b := range blocks {
		sizes[i] = utf8.RuneCountInString(b.body)
	}
	slices.Sort(sizes)
	most := room // for a text
	for i, n := range sizes {
		most = room / (len(sizes) - i)
		if n > most {
			break
		}
		room -= n
		most = n
	}
	for i := range blocks {
		b := &blocks[i]
		if utf8.RuneCountInString(b.body) <= most {
			continue
		}
		short++
		b.body, _ = cutText(b.body, max(most-utf8.RuneCountInString(mark), 0))
		if b.body = strings.TrimRight(b.body, " \t\n"); b.body != "" {
			b.body += mark
		}
	}
	return short
}

// shortened returns at most most characters of s, and a line that says so if it had more.
func shortened(s string, most int) string {
	head, more := cutText(s, most)
	if !more {
		return s
	}
	return strings.TrimRight(head, " \t\n") + notice(most, 0, 0)
}
