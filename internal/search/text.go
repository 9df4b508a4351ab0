package search

import (
	"bytes"
	"github.com/helve-dev/helve/internal/regex"
	"sync/atomic"
	"unicode/utf8"
)

const (
	// block is the unit for recognizing text: a NUL in the first block hides the file, one in a
	// later block ends the search before that block.
	block = 64 << 10
	// window is how much of a large file is in memory at once.
	window = 1 << 20
	// defaultLine is how much of a line is kept by default.
	defaultLine = 8 << 10
)

// buffers are what a searcher reads into. They outlive it.
type buffers struct {
	small []byte // all of most files
	large []byte // a window of a larger one, made when it is needed
	wide  wide
}

// A searcher searches files, one after another. It belongs to one goroutine.
type searcher struct {
	*buffers
	match *regex.Matcher
	stop  *atomic.Bool
	want  int // how many lines of a file are wanted; 0 is all
	keep  int // how many bytes of a line are kept

	found []MatchLine
	store []byte // what the lines found last are kept in
	line  int    // how many lines came before the text at hand
}

// search finds the lines of a file that match, each with its number. A file that is not text has
// none, and binary says whether its first block has a match; with lines it says that a NUL after
// them ended the search. After an error the lines are those found before.
//
// What is kept in memory does not depend on how long the file and its lines
// are.
func (s *searcher) search(f file, size int64) (found []MatchLine, binary bool, err error) {
	s.found, s.store, s.line = nil, nil, 0
	if s.small == nil {
		s.small = make([]byte, block+utf8.UTFMax)
	}
	src := source{file: f, size: size}
	n, err := src.readFull(s.small)
	text := s.small[:n]
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		text = text[3:]
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		s.wide.reset(text, src.end)
		src.wide, src.end = &s.wide, false
		text = nil
	}
	if err != nil {
		return nil, false, err
	}
	if src.end && src.wide == nil && len(text) <= block {
		// The text is in memory as a whole.
		at, _, ok := s.match.Next(text, 0)
		if !ok {
			return nil, false, nil
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return nil, true, nil
		}
		s.searchLines(text, at)
		return s.found, false, nil
	}
	st := &stream{source: src, buf: s.window(size), checked: block}
	st.have = copy(st.buf, text)
	return s.parts(st)
}

// window is memory for a part of a file, or for all of one that is not larger.
func (s *searcher) window(size int64) []byte {
	need := 4 * block
	for need < window && int64(need) <= size {
		need *= 2
	}
	if len(s.large) < need {
		s.large = make([]byte, need)
	}
	return s.large
}

// searchLines searches whole lines from one of them on, and counts them all. It
// reports whether as many were found as are wanted.
func (s *searcher) searchLines(text []byte, from int) (enough bool) {
	counted := 0
	for from < len(text) {
		start, end, ok := s.match.Next(text, from)
		if !ok {
			break
		}
		s.line += bytes.Count(text[counted:start], []byte{'\n'})
		counted = start
		s.add(text[start:end])
		if len(s.found) == s.want {
			return true
		}
		from = end + 1
	}
	s.line += bytes.Count(text[counted:], []byte{'\n'})
	return false
}

// parts searches a text window by window.
func (s *searcher) parts(t *stream) (found []MatchLine, binary bool, err error) {
	err = t.fillTo(block)
	if first := t.buf[:min(t.have, block)]; bytes.IndexByte(first, 0) >= 0 {
		_, _, binary = s.match.Next(first, 0)
		return nil, binary, err
	}
	from := 0
	if err == nil {
		err = t.fillUp()
	}
	if t.end { // it is all there: without a match it does not matter what it is
		var ok bool
		if from, _, ok = s.match.Next(t.buf[:t.have], 0); !ok {
			return nil, false, err
		}
	}
	for err == nil && !s.stop.Load() {
		cut := t.wholeLines()
		if t.cut {
			from = 0 // the text is a shorter one now
		}
		if s.searchLines(t.buf[:cut], from) || t.end {
			break
		}
		t.discardBytes(cut)
		if cut == 0 {
			if err = s.long(t); err != nil || len(s.found) == s.want && s.want > 0 {
				break
			}
		}
		from, err = 0, t.fillUp()
	}
	// A NUL may have ended the search of a file with matches.
	return s.found, t.cut && len(s.found) > 0, err
}

// wholeLines is how much of the window is whole lines, before a NUL if there is one.
func (t *stream) wholeLines() int {
	if t.check(); t.end && !t.cut {
		return t.have
	}
	return bytes.LastIndexByte(t.buf[:t.have], '\n') + 1
}

// long searches a line that does not fit into the window, which it fills.
func (s *searcher) long(t *stream) error {
	s.match.Begin()
	var head []byte
	sure := false
	for !s.stop.Load() {
		end := bytes.IndexByte(t.buf[:t.have], '\n')
		part := t.buf[:t.have]
		if end >= 0 {
			part = part[:end]
		}
		if room := s.keep + 1 - len(head); room > 0 {
			head = append(head, part[:min(room, len(part))]...)
		}
		sure = sure || s.match.Feed(part)
		if end >= 0 || t.end {
			if (end >= 0 || !t.cut) && (sure || s.match.End()) {
				s.add(head)
			}
			s.line++
			t.discardBytes(len(part) + 1)
			return nil
		}
		t.discardBytes(t.have)
		err := t.fillUp()
		t.check()
		if err != nil {
			return err
		}
	}
	return nil
}

// add keeps a line.
func (s *searcher) add(text []byte) {
	l := MatchLine{Number: s.line + 1, Cut: len(text) > s.keep}
	if l.Cut {
		text = cutText(text, s.keep)
	}
	if cap(s.store)-len(s.store) < len(text) {
		s.store = make([]byte, 0, max(len(text), min(2*cap(s.store), block)))
	}
	at := len(s.store)
	s.store = append(s.store, text...)
	l.Text = s.store[at:len(s.store):len(s.store)]
	s.found = append(s.found, l)
}

// cutText cuts a text that is longer than size, and not within a character.
func cutText(text []byte, size int) []byte {
	for back := range min(utf8.UTFMax, size+1) {
		if at := size - back; utf8.RuneStart(text[at]) {
			if _, n := utf8.DecodeRune(text[at:]); n > back {
				return text[:at]
			}
			break
		}
	}
	return text[:size]
}
