package charset

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

// Splice makes the edits, which are over [Text.String], and returns the file's
// new bytes. Every byte outside of them is as it was, and so is what the old and
// the new text of an edit have in common at their beginnings and ends.
//
// New line endings may be written in any way. The first take the endings the
// edit removes, in order; further ones take the ending of the line before the
// edit, else of the line after it, else the file's usual one. A byte order mark
// stays; one at the beginning of the new text is dropped if the file has one.
//
// The error is an [*Unencodable] if the encoding does not have a character,
// [ErrStateful] if the encoding can not be edited, and another if the edits are
// not sorted, overlap or do not fit the text. No edits give the file again.
func (t *Text) Splice(edits []text.Edit) ([]byte, error) {
	if len(edits) == 0 {
		return bytes.Clone(t.data), nil
	}
	if t.enc.stateful() {
		return nil, fmt.Errorf("%s: %w", t.enc, ErrStateful)
	}
	size, last := len(t.data), 0
	for _, e := range edits {
		if e.Start < last || e.End < e.Start || e.End > len(t.str) {
			return nil, fmt.Errorf("edit of %d to %d does not fit: the text has %d bytes, and the edit before ends at %d", e.Start, e.End, len(t.str), last)
		}
		if !boundary(t.str, e.Start) || !boundary(t.str, e.End) {
			return nil, fmt.Errorf("edit of %d to %d cuts a character", e.Start, e.End)
		}
		last = e.End
		size += len(e.New) * t.enc.unit()
	}
	s := splicer{seeker: seeker{t: t}, out: make([]byte, 0, size), before: -1}
	for _, e := range edits {
		if err := s.edit(e); err != nil {
			return nil, err
		}
	}
	s.put(t.data[s.at:])
	return s.out, nil
}

func boundary(s string, at int) bool { return at == len(s) || utf8.RuneStart(s[at]) }

// A splicer writes a file anew with edits in it, from its beginning on.
type splicer struct {
	seeker
	out []byte
	at  int // how far data has been copied or left out

	before  int // the last "\n" of the text before scanned; -1 if none
	scanned int
	after   int  // the first "\n" after an edit; len(str) if none
	ahead   bool // after is known
}

func (s *splicer) edit(e text.Edit) error {
	fresh := Normalise(e.New)
	if e.Start == 0 && s.t.bom > 0 {
		fresh = strings.TrimPrefix(fresh, "\uFEFF")
	}
	if !utf8.ValidString(fresh) {
		return &Unencodable{utf8.RuneError, s.t.enc}
	}
	old := s.t.str[e.Start:e.End]
	p := commonPrefix(old, fresh)
	q := commonSuffix(old[p:], fresh[p:])
	start, end := e.Start+p, e.End-q
	fresh = fresh[p : len(fresh)-q]
	if start == end && fresh == "" {
		return nil
	}
	from, err := s.raw(start)
	if err != nil {
		return err
	}
	to, err := s.raw(end)
	if err != nil {
		return err
	}
	if fresh, err = s.withEndings(fresh, start, end); err != nil {
		return err
	}
	b, err := s.t.enc.encode(fresh)
	if err != nil {
		return err
	}
	s.put(s.t.data[s.at:from])
	s.put(b)
	s.at = to
	return nil
}

// put appends a piece that did not stand here before. A lone "\r" must not
// become one ending with a "\n" that follows it now: it gets a "\r" of its own.
func (s *splicer) put(piece []byte) {
	e, unit := s.t.enc, s.t.enc.unit()
	if n := len(s.out); n >= unit && len(piece) >= unit &&
		e.ascii(piece[:unit]) == '\n' && e.ascii(s.out[n-unit:]) == '\r' {
		s.out = append(s.out, s.out[n-unit:]...)
	}
	s.out = append(s.out, piece...)
}

// withEndings gives every line ending of fresh, which will stand for the text
// from start to end, the form it should have in this file.
func (s *splicer) withEndings(fresh string, start, end int) (string, error) {
	if strings.IndexByte(fresh, '\n') < 0 {
		return fresh, nil
	}
	t := s.t
	kinds := 0
	for _, n := range [...]int{t.lf, t.crlf, t.cr} {
		if n > 0 {
			kinds++
		}
	}
	if kinds <= 1 {
		if t.Ending() == "\n" {
			return fresh, nil
		}
		return strings.ReplaceAll(fresh, "\n", t.Ending()), nil
	}
	var out strings.Builder
	removed, further, last := start, "", ""
	for {
		i := strings.IndexByte(fresh, '\n')
		if i < 0 {
			out.WriteString(fresh)
			return out.String(), nil
		}
		out.WriteString(fresh[:i])
		joins := i == 0 && last == "\r"
		fresh = fresh[i+1:]
		ending, err := further, error(nil)
		if further == "" {
			if at := strings.IndexByte(t.str[removed:end], '\n'); at >= 0 {
				ending, err = s.ending(removed + at)
				removed += at + 1
			} else {
				further, err = s.neighbour(start, end)
				ending = further
			}
		}
		if err != nil {
			return "", err
		}
		if joins && ending == "\n" { // the two would be one ending
			ending = "\r\n"
		}
		out.WriteString(ending)
		last = ending
	}
}

// neighbour returns the ending of the nearest line before start, else of the
// one after end, else the usual one.
func (s *splicer) neighbour(start, end int) (string, error) {
	t := s.t
	if i := strings.LastIndexByte(t.str[s.scanned:start], '\n'); i >= 0 {
		s.before = s.scanned + i
	}
	s.scanned = start
	if s.before >= 0 {
		return s.usable(s.ending(s.before))
	}
	if !s.ahead || s.after < end {
		s.after, s.ahead = len(t.str), true
		if i := strings.IndexByte(t.str[end:], '\n'); i >= 0 {
			s.after = end + i
		}
	}
	if s.after < len(t.str) {
		return s.usable(s.ending(s.after))
	}
	return t.Ending(), nil
}

// usable is an ending for a new line. A lone "\r" ends lines only where
// nothing else does: elsewhere it is a character that stands in a line, and
// most programs would not see the new line.
func (s *splicer) usable(ending string, err error) (string, error) {
	if ending != "\r" || s.t.lf+s.t.crlf == 0 {
		return ending, err
	}
	if s.t.crlf > s.t.lf {
		return "\r\n", err
	}
	return "\n", err
}

// commonPrefix is how many bytes of whole characters a and b begin with alike.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	for i > 0 && !(boundary(a, i) && boundary(b, i)) {
		i--
	}
	return i
}

// commonSuffix is how many bytes of whole characters a and b end with alike.
func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	for i > 0 && !(boundary(a, len(a)-i) && boundary(b, len(b)-i)) {
		i--
	}
	return i
}
