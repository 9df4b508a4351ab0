package process

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func messages() []*message {
	return []*message{
		{op: opHello},
		{op: opSpawn, id: 7, path: "/bin/sh", argv: []string{"sh", "-c", "\xff\n"}, env: []string{"A=b", ""}, cwd: "/", mark: "M=1"},
		{op: opEnd, id: 1 << 60, ask: 3, grace: 3e9},
		{op: opFailed, id: 1, num: 2, dir: true},
		{op: opExited, id: 1, num: -1, signal: 9},
		{op: opAnswer, ask: 9, list: []Survivor{{PID: 4, Name: "a", Line: "a b"}, {}}},
	}
}

func TestWire(t *testing.T) {
	var stream []byte
	for _, m := range messages() {
		stream = append(stream, m.encode()...)
	}
	for _, want := range messages() {
		frame, rest, err := cutFrame(stream)
		if err != nil || frame == nil {
			t.Fatal(frame, err)
		}
		for n := range len(stream) - len(rest) {
			if part, _, err := cutFrame(stream[:n]); part != nil || err != nil {
				t.Fatalf("%d bytes are a frame", n)
			}
		}
		got, err := decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(message{})); diff != "" {
			t.Error(diff)
		}
		stream = rest
	}
	if _, _, err := cutFrame([]byte{255, 255, 255, 255}); err == nil {
		t.Error("a frame of 4 GiB")
	}
}

// What is read is what would be written: a message has one form only, or the
// frame is refused.
func FuzzDecode(f *testing.F) {
	for _, m := range messages() {
		f.Add(m.encode()[frameHead:])
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := decode(frame)
		if err != nil {
			return
		}
		again, err := decode(m.encode()[frameHead:])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.encode(), m.encode()) {
			t.Errorf("%+v became %+v", m, again)
		}
	})
}
