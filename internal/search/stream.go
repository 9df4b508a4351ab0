package search

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// A source is the text of a file, one read after another.
type source struct {
	file  file
	size  int64 // of the file, as the system said
	taken int64 // bytes read so far
	wide  *wide // if it is in UTF-16
	end   bool
}

// readFull reads until the buffer is full or the text ends.
func (s *source) readFull(p []byte) (n int, err error) {
	for n < len(p) && !s.end && err == nil {
		var some int
		if s.wide != nil {
			some, err = s.wide.read(s, p[n:])
		} else {
			some, err = s.raw(p[n:])
		}
		n += some
	}
	return n, err
}

// raw reads bytes of the file. A short read is the last if the file's size was reached; otherwise
// only an empty one is.
func (s *source) raw(p []byte) (int, error) {
	n, err := s.file.read(p)
	s.taken += int64(n)
	s.end = n == 0 || n < len(p) && s.size > 0 && s.taken >= s.size
	return n, err
}

// A stream is a text of which a window is in memory. It is filled up to the
// end of a block, so that a NUL is seen before anything of its block is
// searched.
type stream struct {
	source
	buf     []byte
	have    int  // bytes in buf
	pos     int  // where in the text buf begins
	checked int  // up to where in the text there is no NUL
	cut     bool // it ends early, before a block with a NUL
}

// fillTo reads until there are so many bytes.
func (t *stream) fillTo(have int) error {
	if t.have >= have {
		return nil
	}
	n, err := t.source.readFull(t.buf[t.have:have])
	t.have += n
	return err
}

// fillUp fills the window, as far as whole blocks fit.
func (t *stream) fillUp() error { return t.fillTo((t.pos+len(t.buf))/block*block - t.pos) }

// check searches for a NUL in what was read since the last time.
func (t *stream) check() {
	from := min(t.checked-t.pos, t.have)
	if at := bytes.IndexByte(t.buf[from:t.have], 0); at >= 0 {
		t.have = (t.pos+from+at)/block*block - t.pos
		t.end, t.cut = true, true
	}
	t.checked = max(t.checked, t.pos+t.have)
}

// discardBytes forgets the first bytes of the window.
func (t *stream) discardBytes(n int) {
	n = min(n, t.have)
	copy(t.buf, t.buf[n:t.have])
	t.have -= n
	t.pos += n
}

// wideSize is how many bytes of UTF-16 are decoded at once.
const wideSize = 16 << 10

// A wide converts UTF-16 to UTF-8. What is not valid becomes U+FFFD.
type wide struct {
	order binary.ByteOrder
	last  bool   // all of the file was read
	in    []byte // read and not decoded
	out   []byte // decoded and not taken
	inBuf []byte
	buf   []byte
}

// reset begins with the first bytes of a file.
func (w *wide) reset(first []byte, last bool) {
	w.order = binary.LittleEndian
	if first[0] == 0xfe {
		w.order = binary.BigEndian
	}
	w.inBuf = append(w.inBuf[:0], first[2:]...)
	w.in, w.out, w.last = w.inBuf, nil, last
}

func (w *wide) read(src *source, p []byte) (n int, err error) {
	for len(w.out) == 0 {
		if len(w.in) < 4 && !w.last { // a pair may lack its second half
			if err := w.refill(src); err != nil {
				return 0, err
			}
			continue
		}
		if len(w.in) == 0 {
			src.end = true
			return 0, nil
		}
		w.decode()
	}
	n = copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

func (w *wide) refill(src *source) error {
	if cap(w.inBuf) < wideSize {
		w.inBuf = make([]byte, wideSize)
	}
	left := copy(w.inBuf[:wideSize], w.in)
	n, err := src.raw(w.inBuf[left:wideSize])
	w.in = w.inBuf[:left+n]
	w.last, src.end = src.end, false
	return err
}

// decode decodes what was read, except an incomplete surrogate pair at the end.
func (w *wide) decode() {
	w.buf = w.buf[:0]
	for len(w.buf) < wideSize && (len(w.in) >= 4 || w.last && len(w.in) > 0) {
		r, size := rune(utf8.RuneError), 1
		if len(w.in) > 1 {
			r, size = rune(w.order.Uint16(w.in)), 2
		}
		if utf16.IsSurrogate(r) {
			low := rune(utf8.RuneError)
			if len(w.in) >= 4 {
				low = rune(w.order.Uint16(w.in[2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				size = 4
			}
		}
		w.buf = utf8.AppendRune(w.buf, r)
		w.in = w.in[size:]
	}
	w.out = w.buf
}
