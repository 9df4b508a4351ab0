package media

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// A tape keeps the beginning and the end of what is written to it, in bounded
// memory.
type tape struct {
	most  int // bytes; one half for the beginning, one for the end
	head  []byte
	tail  []byte
	total int
}

func (t *tape) write(p []byte) {
	t.total += len(p)
	half := t.most / 2
	if room := half - len(t.head); room > 0 {
		n := min(room, len(p))
		t.head = append(t.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > half {
		t.tail = t.tail[:0]
		p = p[len(p)-half:]
	}
	t.tail = append(t.tail, p...)
	if len(t.tail) > 4*half {
		t.tail = t.tail[:copy(t.tail, t.tail[len(t.tail)-half:])]
	}
}

// String returns the text, with a line in the middle that says how much is
// left out if it was too long. It is valid UTF-8.
func (t *tape) String() string {
	half := t.most / 2
	head, tail := t.head, t.tail
	if t.total <= t.most {
		return string(bytes.ToValidUTF8(append(bytes.Clone(head), tail...), []byte("\ufffd")))
	}
	tail = tail[max(0, len(tail)-half):]
	// Cut between lines if one ends near, else between characters.
	if i := bytes.LastIndexByte(head, '\n'); i >= half/2 {
		head = head[:i+1]
	}
	for len(head) > 0 && !utf8.FullRune(lastRune(head)) {
		head = head[:len(head)-1]
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < half/2 {
		tail = tail[i+1:]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	var out bytes.Buffer
	out.Write(head)
	if n := len(head); n > 0 && head[n-1] != '\n' {
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "... (%s left out) ...\n", formatSize(int64(t.total-len(head)-len(tail))))
	out.Write(tail)
	return string(bytes.ToValidUTF8(out.Bytes(), []byte("\ufffd")))
}

// lastRune returns the bytes from the last one that begins a character.
func lastRune(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}

// A screen does with what is written to it what a terminal would: colours and
// other commands leave no trace, and a line that is begun again replaces
// itself.
type screen struct {
	out   *tape
	line  []byte // not yet written
	state screenState
	again bool // a carriage return has come
}

type screenState int

const (
	inText     screenState = iota
	inEscape               // after ESC
	inCommand              // after ESC [
	inTitle                // after ESC ]
	inTitleEnd             // after ESC within that
	inCharset              // after ESC (
)

const maxLine = 4 << 10 // bytes that can still be taken back

func (s *screen) write(p []byte) {
	for len(p) > 0 {
		if s.state == inText {
			if n := plainRun(p); n > 0 {
				if s.again {
					s.again = false
					s.line = s.line[:0]
				}
				s.line = append(s.line, p[:n]...)
				if len(s.line) > maxLine {
					s.out.write(s.line)
					s.line = s.line[:0]
				}
				p = p[n:]
				continue
			}
		}
		s.byte(p[0])
		p = p[1:]
	}
}

// plainRun returns how many bytes need no thought.
func plainRun(p []byte) int {
	for i, c := range p {
		if c < ' ' && c != '\t' || c == 0x7f {
			return i
		}
	}
	return len(p)
}

// byte takes one byte that is a control or belongs to a command.
func (s *screen) byte(c byte) {
	switch s.state {
	case inText:
		s.control(c)
	case inEscape:
		switch c {
		case '[':
			s.state = inCommand
		case ']', 'P', '^', '_', 'X':
			s.state = inTitle
		case '(', ')', '*', '+', '#', ' ', '%':
			s.state = inCharset
		default:
			s.state = inText
		}
	case inCommand:
		if c >= 0x40 && c <= 0x7e || c == '\n' {
			s.state = inText
		}
	case inTitle:
		switch c {
		case 0x07, '\n':
			s.state = inText
		case 0x1b:
			s.state = inTitleEnd
		}
	case inTitleEnd, inCharset:
		s.state = inText
	}
}

func (s *screen) control(c byte) {
	switch c {
	case 0x1b:
		s.state = inEscape
	case '\r':
		s.again = true
	case '\n':
		s.again = false
		s.out.write(append(s.line, '\n'))
		s.line = s.line[:0]
	case '\b':
		if _, n := utf8.DecodeLastRune(s.line); n > 0 {
			s.line = s.line[:len(s.line)-n]
		}
	}
}

// flush writes what is left of the last line.
func (s *screen) flush() {
	s.out.write(s.line)
	s.line = s.line[:0]
}
