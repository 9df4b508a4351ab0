package builtin

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Where lseek finds data and holes.
const (
	seekData = 3
	seekHole = 4
)

// A sparse reader reads a file without reading its holes, for which the system would have to
// provide memory.
type sparse struct {
	f          *os.File
	pos, size  int64
	data, hole int64 // the data that begins at or after pos, and its end
	plain      bool  // the file system does not tell
}

// newSparse reads the first size bytes of a file.
func newSparse(f *os.File, size int64) io.Reader { return &sparse{f: f, size: size} }

// Read reads data, and returns zeros for a hole.
func (s *sparse) Read(b []byte) (int, error) {
	if s.pos >= s.size || len(b) == 0 {
		n, err := s.f.ReadAt(b, s.pos) // it may have grown
		s.pos += int64(n)
		return n, err
	}
	if !s.plain && s.pos >= s.hole {
		s.find()
	}
	if !s.plain && s.pos < s.data {
		n := int(min(int64(len(b)), s.data-s.pos))
		clear(b[:n])
		s.pos += int64(n)
		return n, nil
	}
	if !s.plain {
		b = b[:min(int64(len(b)), s.hole-s.pos)]
	}
	n, err := s.f.ReadAt(b, s.pos)
	s.pos += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// find looks for the next data.
func (s *sparse) find() {
	data, err := s.f.Seek(s.pos, seekData)
	if errors.Is(err, syscall.ENXIO) { // a hole to the end
		s.data, s.hole = s.size, s.size
		return
	}
	hole, herr := s.f.Seek(max(data, s.pos), seekHole)
	if err != nil || herr != nil || data < s.pos || hole <= data {
		s.plain = true
		return
	}
	s.data, s.hole = min(data, s.size), min(hole, s.size)
}
