package charset

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/transform"
)

// NewReader returns a reader of the text in r as UTF-8, for files that are too
// large to hold. A byte order mark is dropped, line endings stay, and bytes
// that are not valid in e are read as U+FFFD.
func NewReader(r io.Reader, e Encoding) io.Reader {
	return &decodingReader{r: transform.NewReader(r, e.codec().NewDecoder()), marked: e.bom() != ""}
}

type decodingReader struct {
	r      io.Reader
	marked bool   // a byte order mark may come
	head   []byte // read, not yet handed on
	err    error  // what to return after head
}

func (r *decodingReader) Read(p []byte) (int, error) {
	if r.marked && len(p) > 0 {
		r.marked = false
		r.head = make([]byte, len("\uFEFF"))
		n, err := io.ReadFull(r.r, r.head)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		r.head, r.err = r.head[:n], err
		if bytes.Equal(r.head, []byte("\uFEFF")) {
			r.head = nil
		}
	}
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.r.Read(p)
}
