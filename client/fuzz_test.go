package client

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// frames reads a stream to its end.
func frames(r io.Reader, most int64) (list []frame, err error) {
	l := newLines(r, most)
	l.before, l.after = func() {}, func() {}
	for {
		m, err := l.next()
		if err != nil {
			return list, err
		}
		m.data = bytes.Clone(m.data)
		list = append(list, m)
	}
}

// FuzzStream reads what anybody may send: in one piece or byte by byte it is
// the same, nothing is longer than the bound, and what was read can be sent on.
func FuzzStream(f *testing.F) {
	for _, text := range []string{
		"", "\n\n", ": ping\n\n", "event: hello\ndata: {}\n\n", "id: a-1\r\nevent: x\r\ndata: 1\r\ndata: 2\r\n\r\n",
		"data\n\n", "data:\n\n", ":\n", "id: 1\n\n", "data: x", strings.Repeat("data: xxxxxxxx\n", 40) + "\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const most = 256
		whole, err := frames(strings.NewReader(text), most)
		slow, slowErr := frames(iotest.OneByteReader(strings.NewReader(text)), most)
		if !reflect.DeepEqual(whole, slow) || errors.Is(err, errTooLong) != errors.Is(slowErr, errTooLong) {
			t.Fatalf("%q is %q, %v, and byte by byte %q, %v", text, whole, err, slow, slowErr)
		}
		var again strings.Builder
		for _, m := range whole {
			if len(m.data) > most {
				t.Fatalf("%d bytes were taken", len(m.data))
			}
			again.WriteString("id: " + m.id + "\nevent: " + m.event + "\n")
			for _, line := range strings.Split(string(m.data), "\n") {
				again.WriteString("data: " + line + "\n")
			}
			again.WriteString("\n")
		}
		if back, _ := frames(strings.NewReader(again.String()), 1<<20); !reflect.DeepEqual(whole, back) {
			t.Fatalf("%q becomes %q", whole, back)
		}
	})
}
