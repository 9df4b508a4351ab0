package lspclient

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// frames reads all that is in a stream.
func frames(r *bufio.Reader, limit int) (bodies, strays []string, err error) {
	for {
		body, err := readFrame(r, limit, func(line string) { strays = append(strays, line) })
		if err != nil {
			return bodies, strays, err
		}
		bodies = append(bodies, string(body))
	}
}

func TestReadFrame(t *testing.T) {
	long := strings.Repeat("x", 3*lineLimit)
	for _, c := range []struct {
		name, in       string
		bodies, strays []string
		err            error
		says           string
	}{
		{name: "nothing", err: io.EOF},
		{name: "one", in: "Content-Length: 2\r\n\r\n{}", bodies: []string{"{}"}, err: io.EOF},
		{name: "two", in: "Content-Length: 2\r\n\r\n{}Content-Length: 0\r\n\r\n", bodies: []string{"{}", ""}, err: io.EOF},
		{name: "bare line ends", in: "Content-Length: 2\n\n{}", bodies: []string{"{}"}, err: io.EOF},
		{name: "any case, no space", in: "cONTENT-lENGTH:2\r\n\r\n{}", bodies: []string{"{}"}, err: io.EOF},
		{name: "other headers after", in: "Content-Length: 2\r\nContent-Type: x; charset=utf-8\r\nX-More: 1\r\n\r\n{}", bodies: []string{"{}"}, err: io.EOF},
		{name: "other header before", in: "Content-Type: x\r\nContent-Length: 2\r\n\r\n{}", bodies: []string{"{}"}, err: io.EOF},
		{name: "twice the same", in: "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", bodies: []string{"{}"}, err: io.EOF},
		{name: "empty lines between", in: "\r\n\n \nContent-Length: 2\r\n\r\n{}\r\n", bodies: []string{"{}"}, err: io.EOF},
		{name: "printed lines", in: "Starting\nINFO: up\r\nContent-Length: 2\r\n\r\n{}bye\n", bodies: []string{"{}"}, strays: []string{"Starting", "INFO: up", "bye"}, err: io.EOF},
		{name: "printed without line end", in: "...Content-Length: 2\r\n\r\n{}bye", bodies: []string{"{}"}, strays: []string{"...", "bye"}, err: io.EOF},
		{name: "printed about headers", in: "got Content-Length: 7\nContent-Length: 2\r\n\r\n{}", bodies: []string{"{}"}, strays: []string{"got Content-Length: 7"}, err: io.EOF},
		{name: "long printed line", in: long + "\nContent-Length: 2\r\n\r\n{}", bodies: []string{"{}"}, strays: []string{long[:lineLimit]}, err: io.EOF},
		{name: "not UTF-8", in: "a\xffb\nContent-Length: 2\r\n\r\n{}", bodies: []string{"{}"}, strays: []string{"a\uFFFDb"}, err: io.EOF},
		{name: "negative", in: "Content-Length: -1\r\n\r\n", err: errFrame, says: `"-1"`},
		{name: "signed", in: "Content-Length: +1\r\n\r\n{", err: errFrame, says: `"+1"`},
		{name: "no number", in: "Content-Length: many\r\n\r\n", err: errFrame, says: `"many"`},
		{name: "no length", in: "Content-Length:\r\n\r\n", err: errFrame, says: `""`},
		{name: "overflowing", in: "Content-Length: 99999999999999999999\r\n\r\n", err: errFrame, says: "999"},
		{name: "two lengths", in: "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", err: errFrame, says: "both 2 and 3"},
		{name: "no empty line", in: "Content-Length: 2\r\n{}\r\n\r\n", err: errFrame, says: `"{}" among the headers`},
		{name: "endless headers", in: "Content-Length: 2\r\n" + strings.Repeat("X: y\r\n", 100), err: errFrame, says: "more than 64 headers"},
		{name: "too large", in: "Content-Length: 1001\r\n\r\n", err: errLarge, says: "1001 bytes, and 1000 are allowed"},
		{name: "far too large", in: "Content-Length: 9223372036854775807\r\n\r\n", err: errLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			bodies, strays, err := frames(bufio.NewReader(strings.NewReader(c.in)), 1000)
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %v with %q", err, c.err, c.says)
			}
			if d := cmp.Diff(c.bodies, bodies); d != "" {
				t.Errorf("messages (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.strays, strays); d != "" {
				t.Errorf("printed lines (-want +got):\n%s", d)
			}
		})
	}
}

// The end of a stream is only ever a clean one where a message ends.
func TestReadFrameCutAnywhere(t *testing.T) {
	first := string(appendFrame(nil, []byte(`{"a":1}`)))
	whole := first + "Content-Type: x\r\n" + string(appendFrame(nil, []byte(`{"b":2}`)))
	for n := range len(whole) + 1 {
		bodies, strays, err := frames(bufio.NewReader(strings.NewReader(whole[:n])), 1000)
		var want []string
		wantErr := io.ErrUnexpectedEOF
		if n >= len(first) {
			want = append(want, `{"a":1}`)
		}
		if n == len(whole) {
			want = append(want, `{"b":2}`)
		}
		typed := n - len(first) // what there is of the second message's headers
		if n == 0 || n == len(whole) || typed == 0 || typed > 0 && typed <= len("Content-Type: x\r\n") {
			wantErr = io.EOF
		}
		if typed >= 1 && typed <= len("Content-") {
			wantErr = io.ErrUnexpectedEOF // it may have become a length
		}
		if !errors.Is(err, wantErr) {
			t.Errorf("cut at %d: error %v, want %v", n, err, wantErr)
		}
		if d := cmp.Diff(want, bodies); d != "" {
			t.Errorf("cut at %d (-want +got):\n%s", n, d)
		}
		if len(strays) > 1 {
			t.Errorf("cut at %d: printed lines %q", n, strays)
		}
	}
}

// A reader's own error is told as it is.
func TestReadFrameError(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"", "Content-Le", "Content-Length: 9\r\n", "Content-Length: 9\r\n\r\n{}"} {
		r := io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken))
		if _, err := readFrame(bufio.NewReader(r), 1000, nil); !errors.Is(err, broken) {
			t.Errorf("after %q: error %v", in, err)
		}
	}
}

// A length that is only claimed costs nothing.
func TestReadFrameClaim(t *testing.T) {
	in := "Content-Length: 67108864\r\n\r\n{"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readFrame(bufio.NewReader(strings.NewReader(in)), frameLimit, nil)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("took %d bytes for one that came", took)
	}
}

func TestReadFrameLarge(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	r := bufio.NewReader(iotest.HalfReader(bytes.NewReader(appendFrame(nil, body))))
	got, err := readFrame(r, frameLimit, nil)
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("%d bytes of %d, %v", len(got), len(body), err)
	}
	if cap(got) != len(body) {
		t.Errorf("%d bytes are held for %d", cap(got), len(body))
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 20
		bodies, strays, err := frames(bufio.NewReader(bytes.NewReader(data)), limit)
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errFrame) && !errors.Is(err, errLarge) {
			t.Errorf("error %v", err)
		}
		total := 0
		for _, b := range bodies {
			total += len(b)
		}
		if total > len(data) {
			t.Errorf("%d bytes of messages in %d", total, len(data))
		}
		for _, s := range strays {
			if strings.Contains(s, "\n") || len(s) > 3*lineLimit {
				t.Errorf("printed line %.100q of %d bytes", s, len(s))
			}
		}

		// How the bytes come does not matter.
		slow := bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(data)), 16)
		again, strays2, err2 := frames(slow, limit)
		if d := cmp.Diff(bodies, again) + cmp.Diff(strays, strays2); d != "" || err.Error() != err2.Error() {
			t.Errorf("byte by byte: %s%v, not %v", d, err2, err)
		}

		// Any message comes back as it was, after any other.
		stream := appendFrame(appendFrame(appendFrame(nil, data), nil), data)
		back, _, err := frames(bufio.NewReader(bytes.NewReader(stream)), len(data))
		if d := cmp.Diff([]string{string(data), "", string(data)}, back); d != "" || !errors.Is(err, io.EOF) {
			t.Errorf("round trip: %v\n%s", err, d)
		}
	})
}
