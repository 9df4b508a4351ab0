package text

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReader(t *testing.T) {
	in := "one\n\nthree\r\n" + strings.Repeat("x", 20) + "\n" + strings.Repeat("y", 10) + "\nlast"
	r := NewLineReader(iotestOneByte{strings.NewReader(in)}, 10)
	var got []string
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, string(line))
	}
	want := []string{"one", "", "three\r", ErrLongLine.Error(), "yyyyyyyyyy", "last"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.Number() != 7 { // the end counts as a line that is not there
		t.Errorf("the reader stands at line %d", r.Number())
	}
}

// iotestOneByte gives a byte at a time.
type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

// endless gives the same byte for ever, and counts.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

func TestLongLineIsNotKept(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := NewLineReader(&endless{left: 16 << 20}, 1<<20)
	if _, err := r.Next(); err != ErrLongLine {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	if allocated > 8<<20 {
		t.Errorf("a line of 16 MiB took %d bytes where 1 MiB is the most", allocated)
	}
}
