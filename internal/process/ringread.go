package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// A JobOutput is a piece of a job's output.
type JobOutput struct {
	Data    []byte `json:"data"`
	Offset  int64  `json:"offset"`  // of the first byte of Data
	Next    int64  `json:"next"`    // where to read on
	Total   int64  `json:"total"`   // bytes of output so far
	Skipped int64  `json:"skipped"` // bytes between the offset asked for and Offset that are no longer kept
	Done    bool   `json:"done"`    // the job has ended and Next is its end
}

const (
	someOutput = 64 << 10 // when no limit was given
	mostOutput = 1 << 20
)

// readRing reads from an output file that may be written meanwhile. A negative offset counts from
// the end. final says that nothing will be added.
func readRing(path string, offset int64, limit int, final bool) (JobOutput, error) {
	f, err := openRegular(path)
	if err != nil {
		return JobOutput{}, err
	}
	defer f.Close()
	limit = min(orElse(limit, someOutput), mostOutput)
	now, err := readSlot(f)
	if err != nil {
		return JobOutput{}, err
	}
	if offset < 0 {
		offset = max(now.total+offset, 0)
	}
	want := min(offset, now.total)
	buf := make([]byte, min(int64(limit), now.total-want, now.head+now.ring))
	// A fast writer may run over the reader again and again; each try begins
	// further ahead of it.
	for try := int64(0); ; try++ {
		from := want
		if old := now.oldest(now.total); from >= now.head && from < old {
			from = min(old+try*(now.ring/8), now.total)
		}
		n, err := readAt(f, now, from, buf)
		if err != nil {
			return JobOutput{}, err
		}
		after, err := readSlot(f)
		if err != nil {
			return JobOutput{}, err
		}
		data, from := after.certain(buf[:n], from)
		if len(data) > 0 || n == 0 || try == 7 {
			data = completeRunes(data, final && from+int64(len(data)) == after.total)
			next := from + int64(len(data))
			return JobOutput{Data: data, Offset: from, Next: next, Total: after.total, Skipped: from - want, Done: final && next == after.total}, nil
		}
		now = after
	}
}

// certain returns what is valid of data read at from, given how far the writer is: some of it may
// have been overwritten while it was read.
func (s slot) certain(data []byte, from int64) ([]byte, int64) {
	n := int64(len(data))
	switch old := s.oldest(s.total); {
	case from >= s.head:
		gone := min(max(old-from, 0), n)
		return data[gone:], from + gone
	case old > s.head: // behind the head, where newer bytes may be by now
		return data[:min(n, s.head-from)], from
	}
	return data, from
}

// readAt fills buf with output in one piece: it stops where the head ends and
// a gap follows, and at the end.
func readAt(f *os.File, s slot, from int64, buf []byte) (n int, err error) {
	end := s.total
	if from < s.head && s.oldest(s.total) > s.head {
		end = min(end, s.head)
	}
	buf = buf[:min(int64(len(buf)), end-from)]
	for n < len(buf) {
		pos, piece := s.position(from + int64(n))
		m, err := f.ReadAt(buf[n:min(int64(len(buf)), int64(n)+piece)], pos)
		n += m
		if errors.Is(err, io.EOF) && m == 0 {
			return n, errors.New("the output file is cut short")
		} else if err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
	}
	return n, nil
}

func readSlot(f *os.File) (slot, error) {
	var b [slotC + slotSize]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return slot{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return slot{}, err
	}
	s, ok := newest(b[:n], info.Size())
	if !ok {
		return slot{}, errors.New("the output file is damaged")
	}
	return s, nil
}

// ringTotal is how much was written to an output file.
func ringTotal(path string) (int64, error) {
	f, err := openRegular(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	s, err := readSlot(f)
	return s.total, err
}

// openRegular opens a file for reading, and nothing but a file: it neither
// follows a link nor waits for a pipe.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// completeRunes leaves a character that is not complete for the next chunk, unless it
// is the end or all there is.
func completeRunes(data []byte, end bool) []byte {
	if end {
		return data
	}
	for back := 1; back <= min(utf8.UTFMax-1, len(data)-1); back++ {
		at := len(data) - back
		if !utf8.RuneStart(data[at]) {
			continue
		}
		if !utf8.FullRune(data[at:]) {
			return data[:at]
		}
		break
	}
	return data
}
