package replace

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// normalized yields what is equal when every run of blanks counts as one:
// whole lines, parts of a line, and runs of as many lines as were quoted.
func (f *search) normalized() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		words := strings.FieldsFunc(f.old, isSpace)
		if len(words) == 0 {
			f.blanks(yield)
			return
		}
		longest := ""
		for _, w := range words {
			if len(w) > len(longest) {
				longest = w
			}
		}
		if !strings.Contains(f.content, longest) {
			return
		}
		folded := strings.Join(words, " ")
		if f.normalizedLines(folded, longest, yield) && strings.Contains(f.old, "\n") {
			f.normalizedRuns(folded, yield)
		}
	}
}

// normalizedLines yields the lines, and of a line that says more the part. In
// the seed profile that is the first, else every one.
func (f *search) normalizedLines(folded, longest string, yield func(Span) bool) bool {
	t := f.indexLines().c
	var buf []byte
	for i := range t.len() {
		line := t.lineAt(i)
		if len(line) < len(folded) || !strings.Contains(line, longest) {
			continue
		}
		buf = appendNormal(buf[:0], line)
		if string(buf) == folded {
			if !yield(t.span(i, i)) {
				return false
			}
			continue
		}
		places := allPlaces(string(buf), folded)
		if f.opt.Profile == Seed && len(places) > 1 {
			places = places[:1]
		}
		w := walker{line: line, rest: trimLeft(line)}
		for _, p := range places {
			start := w.to(p.Start)
			ahead := w // the next place may begin before this one ends
			end := ahead.to(p.End)
			if w.at != p.Start || ahead.at != p.End {
				continue // half a character was quoted
			}
			if !yield(Span{int(t.start[i]) + start, int(t.start[i]) + end}) {
				return false
			}
		}
	}
	return true
}

// A walker goes through a line in step with its normal form.
type walker struct {
	line, rest string
	at         int // in the normal form
}

// to returns the offset in the line of an offset in the normal form, which
// must not be smaller than the one before. Inside a character it goes to that
// character's end.
func (w *walker) to(at int) int {
	for w.at < at {
		r, size := utf8.DecodeRuneInString(w.rest)
		if isSpace(r) {
			w.rest = trimLeft(w.rest)
			w.at++
			continue
		}
		w.rest = w.rest[size:]
		w.at += size
	}
	return len(w.line) - len(w.rest)
}

// appendNormal appends s with every run of blanks as one space, and none at
// the ends.
func appendNormal(dst []byte, s string) []byte {
	for s = trimLeft(s); s != ""; {
		end := strings.IndexFunc(s, isSpace)
		if end < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:end]...)
		if s = trimLeft(s[end:]); s != "" {
			dst = append(dst, ' ')
		}
	}
	return dst
}

// normalizedRuns yields the runs of lines. They are looked for in the normal
// form of the whole content, in which a run is equal if the quoted text begins
// where it begins and ends where it ends.
func (f *search) normalizedRuns(folded string, yield func(Span) bool) {
	t, n := f.indexLines().c, f.indexLines().o.len()
	if n > t.len() {
		return
	}
	all := make([]byte, 0, len(f.content)+1)
	start := make([]int32, t.len()+1)
	for i := range t.len() {
		before := len(all)
		if all = appendNormal(all, t.lineAt(i)); len(all) > before {
			all = append(all, ' ')
		}
		start[i+1] = int32(len(all))
	}
	pattern := append([]byte(folded), ' ')
	i := 0
	for at := range allMatches(all, pattern) {
		for i < t.len() && int(start[i]) < at {
			i++
		}
		for ; i+n <= t.len() && int(start[i]) == at; i++ {
			if int(start[i+n])-at == len(pattern) && !yield(t.span(i, i+n-1)) {
				return
			}
		}
	}
}

// blanks yields what a quoted text of blanks alone is equal to: blank lines,
// the empty text in all others, and runs of blank lines.
func (f *search) blanks(yield func(Span) bool) {
	t, n := f.indexLines().c, f.indexLines().o.len()
	for i := range t.len() {
		s := t.span(i, i)
		if trim(t.lineAt(i)) != "" {
			s.End = s.Start
		}
		if !yield(s) {
			return
		}
	}
	if n > 1 {
		f.blankRuns(n, yield)
	}
}

// blankRuns yields every run of n blank lines.
func (f *search) blankRuns(n int, yield func(Span) bool) {
	t, run := f.indexLines().c, 0
	for i := range t.len() {
		run++
		if trim(t.lineAt(i)) != "" {
			run = 0
		}
		if run >= n && !yield(t.span(i-n+1, i)) {
			return
		}
	}
}

// unescape replaces the escapes of a string literal by what they stand for.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			if e, ok := escaped(s[i+1]); ok {
				c = e
				i++
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// escaped returns what a character means after a backslash.
func escaped(c byte) (byte, bool) {
	switch c {
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case '\'', '"', '`', '\\', '\n', '$':
		return c, true
	}
	return 0, false
}

// unescaped yields what is equal once escapes are replaced in both texts.
func (f *search) unescaped() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		plain := unescape(f.old)
		if at := strings.Index(f.content, plain); at >= 0 {
			places := []Span{{at, at + len(plain)}}
			if f.opt.Profile != Seed {
				places = allPlaces(f.content, plain)
			}
			for _, s := range places {
				if !yield(s) {
					return
				}
			}
		}
		if strings.Contains(f.content, `\`) {
			f.unescapedRuns(plain, yield)
		}
	}
}

// unescapedRuns yields the runs of lines that are equal to plain once their
// escapes are replaced. A backslash at the end of a line goes with the line
// feed, so it counts in the last line only.
func (f *search) unescapedRuns(plain string, yield func(Span) bool) {
	t, o := f.indexLines().c, newTable(plain)
	n := o.len()
	if n > t.len() {
		return
	}
	known := map[string]int32{}
	pattern := make([]int32, n-1)
	for j := range pattern {
		id, ok := known[o.lineAt(j)]
		if !ok {
			id = int32(len(known))
			known[o.lineAt(j)] = id
		}
		pattern[j] = id
	}
	last := func(i int) bool {
		line := t.lineAt(i + n - 1)
		return len(line) >= len(o.lineAt(n-1)) && unescape(line) == o.lineAt(n-1) && !yield(t.span(i, i+n-1))
	}
	if n == 1 {
		for i := range t.len() {
			if last(i) {
				return
			}
		}
		return
	}
	ids := make([]int32, t.len()-1)
	for i := range ids {
		line := t.lineAt(i)
		if strings.Contains(line, `\`) {
			line = strings.TrimSuffix(unescape(line+"\n"), "\n")
		}
		id, ok := known[line]
		if !ok {
			id = -1
		}
		ids[i] = id
	}
	for i := range allMatches(ids, pattern) {
		if last(i) {
			return
		}
	}
}

// bounded yields the quoted text without the blanks around it, and the runs of
// as many lines as were quoted that hold nothing else.
func (f *search) bounded() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		inner := trim(f.old)
		at := strings.Index(f.content, inner)
		if inner == f.old || at < 0 {
			return
		}
		if f.opt.Profile != Seed { // the runs are the same places
			for _, s := range allPlaces(f.content, inner) {
				if !yield(s) {
					return
				}
			}
			return
		}
		if !yield(Span{at, at + len(inner)}) {
			return
		}
		if inner == "" {
			f.blankRuns(f.indexLines().o.len(), yield)
			return
		}
		for at := range allMatches([]byte(f.content), []byte(inner)) {
			if !f.boundedRuns(Span{at, at + len(inner)}, yield) {
				return
			}
		}
	}
}

// boundedRuns yields the runs of lines that hold the span and blanks.
func (f *search) boundedRuns(s Span, yield func(Span) bool) bool {
	if !startsLine(f.content[:s.Start]) || !endsLine(f.content[s.End:]) {
		return true
	}
	t, n := f.indexLines().c, f.indexLines().o.len()
	first, last := t.lineOf(s.Start), t.lineOf(s.End-1)
	low, high := first, last
	for low > max(0, last-n+1) && trim(t.lineAt(low-1)) == "" {
		low--
	}
	for high+1 < t.len() && high < first+n-1 && trim(t.lineAt(high+1)) == "" {
		high++
	}
	for i := low; i <= first && i+n-1 <= high; i++ {
		if i+n-1 >= last && !yield(t.span(i, i+n-1)) {
			return false
		}
	}
	return true
}
