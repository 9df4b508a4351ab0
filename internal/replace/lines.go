package replace

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace knows the blanks of OpenCode: those of Unicode, the byte order
// mark and the line separators, but not the next-line control.
func isSpace(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == ' ' || r >= '\t' && r <= '\r'
	case r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029,
		r == 0x202f, r == 0x205f, r == 0x3000, r == 0xfeff:
		return true
	}
	return false
}

func trimLeft(s string) string {
	for s != "" && s[0] < utf8.RuneSelf {
		if !isSpace(rune(s[0])) {
			return s
		}
		s = s[1:]
	}
	return strings.TrimLeftFunc(s, isSpace)
}

func trimRight(s string) string {
	for s != "" && s[len(s)-1] < utf8.RuneSelf {
		if !isSpace(rune(s[len(s)-1])) {
			return s
		}
		s = s[:len(s)-1]
	}
	return strings.TrimRightFunc(s, isSpace)
}

func trim(s string) string { return trimRight(trimLeft(s)) }

// startsLine reports whether what follows s is the first text on its line.
func startsLine(s string) bool {
	s = strings.TrimRightFunc(s, blankInLine)
	return s == "" || s[len(s)-1] == '\n'
}

// endsLine reports whether what is before s is the last text on its line.
func endsLine(s string) bool {
	s = strings.TrimLeftFunc(s, blankInLine)
	return s == "" || s[0] == '\n'
}

func blankInLine(r rune) bool { return r != '\n' && isSpace(r) }

func firstNotBlank(s string) bool { return s != "" && !isSpace(firstRune(s)) }

func lastNotBlank(s string) bool { return s != "" && !isSpace(lastRune(s)) }

// isWord reports whether r is part of a word. Marks belong to the letters they
// stand on.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func hasWord(s string) bool { return strings.IndexFunc(s, isWord) >= 0 }

func firstIsWord(s string) bool { return s != "" && isWord(firstRune(s)) }

func lastIsWord(s string) bool { return s != "" && isWord(lastRune(s)) }

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// A table knows where the lines of a text are.
type table struct {
	text  string
	start []int32 // of each line, and of the one after the last
}

// newTable splits text at line feeds, so that a final one makes an empty last
// line.
func newTable(text string) *table {
	t := &table{text: text, start: make([]int32, 1, strings.Count(text, "\n")+2)}
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		t.start = append(t.start, int32(at))
	}
	t.start = append(t.start, int32(len(text)+1))
	return t
}

func (t *table) len() int { return len(t.start) - 1 }

func (t *table) lineAt(i int) string { return t.text[t.start[i] : t.start[i+1]-1] }

// span is the part from the start of line i to the end of line j, without its
// line feed.
func (t *table) span(i, j int) Span { return Span{int(t.start[i]), int(t.start[j+1]) - 1} }

// lineOf returns which line an offset is on, from 0.
func (t *table) lineOf(offset int) int {
	low, high := 0, t.len()-1
	for low < high {
		mid := (low + high + 1) / 2
		if int(t.start[mid]) <= offset {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// A pair is the lines of the content and of the quoted text, with numbers that
// are equal where the trimmed lines are. Lines the other text does not have
// are numbered -1 there and -2 here.
type pair struct {
	c, o     *table
	cid, oid []int32 // oid leaves out one empty line at the end
}

// indexLines indexes both texts, once.
func (f *search) indexLines() *pair {
	if f.index != nil {
		return f.index
	}
	p := &pair{c: newTable(f.content), o: newTable(f.old)}
	n := p.o.len()
	if p.o.lineAt(n-1) == "" {
		n--
	}
	p.cid, p.oid = make([]int32, p.c.len()), make([]int32, n)
	// The numbers come from the text of fewer lines, so that the other one,
	// however long, needs no memory for its own.
	if len(p.cid) < len(p.oid) {
		known := numberLines(p.c, p.cid)
		look(p.o, p.oid, known, -2)
	} else {
		known := numberLines(p.o, p.oid)
		look(p.c, p.cid, known, -1)
	}
	f.index = p
	return p
}

func numberLines(t *table, id []int32) map[string]int32 {
	known := make(map[string]int32)
	for i := range id {
		key := trim(t.lineAt(i))
		n, ok := known[key]
		if !ok {
			n = int32(len(known))
			known[key] = n
		}
		id[i] = n
	}
	return known
}

func look(t *table, id []int32, known map[string]int32, unknown int32) {
	for i := range id {
		n, ok := known[trim(t.lineAt(i))]
		if !ok {
			n = unknown
		}
		id[i] = n
	}
}

// lineOf returns the number of the line an offset is on, from 1.
func (f *search) lineOf(offset int) int { return f.indexLines().c.lineOf(offset) + 1 }

// allMatches yields every index of text at which pattern begins, also where the
// places overlap. It takes linear time however the two repeat themselves.
func allMatches[S ~[]E, E comparable](text, pattern S) iter.Seq[int] {
	return func(yield func(int) bool) {
		if len(pattern) == 0 || len(pattern) > len(text) {
			return
		}
		back := borders(pattern)
		have := 0
		for i := range text {
			for have > 0 && (have == len(pattern) || text[i] != pattern[have]) {
				have = int(back[have-1])
			}
			if text[i] == pattern[have] {
				have++
			}
			if have == len(pattern) && !yield(i-have+1) {
				return
			}
		}
	}
}

// borders returns, for every beginning of pattern, how much of its end is
// again a beginning.
func borders[S ~[]E, E comparable](pattern S) []int32 {
	back := make([]int32, len(pattern))
	have := 0
	for i := 1; i < len(pattern); i++ {
		for have > 0 && pattern[i] != pattern[have] {
			have = int(back[have-1])
		}
		if pattern[i] == pattern[have] {
			have++
		}
		back[i] = int32(have)
	}
	return back
}
