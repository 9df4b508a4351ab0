package custom

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/script"
)

func TestReadFrame(t *testing.T) {
	for _, c := range []struct {
		text  string
		kinds []string
		err   error
	}{
		{"", nil, io.EOF},
		{`{"kind":"answer","id":1,"ok":2}` + "\n" + `{"kind":"exit","code":3}` + "\n", []string{"answer", "exit"}, io.EOF},
		{`{"kind":"answer","id":1}`, nil, io.ErrUnexpectedEOF},
		{`{"kind":"answer"}` + "\n", nil, errNoFrame},
		{`{"kind":"call","id":1}` + "\n", nil, errNoFrame},
		{"\n", nil, errNoFrame},
		{`{"kind":"ask","ask":-1}` + "\n", nil, errNoFrame},
		{`{"kind":"tell","text":"` + strings.Repeat("a", 500) + `"}` + "\n", []string{"tell"}, io.EOF},
		{`{"kind":"tell","text":"` + strings.Repeat("a", 1000) + `"}` + "\n", nil, errLong},
		{strings.Repeat("a", 2000), nil, errLong},
	} {
		r := bufio.NewReaderSize(strings.NewReader(c.text), 16)
		var kinds []string
		for {
			f, err := readFrame(r, 1000)
			if err == nil {
				kinds = append(kinds, f.Kind)
				continue
			}
			if !errors.Is(err, c.err) {
				t.Errorf("%.60q: %v", c.text, err)
			}
			break
		}
		if diff := cmp.Diff(c.kinds, kinds); diff != "" {
			t.Errorf("%.60q: %s", c.text, diff)
		}
	}
}

// A stream of frames reads the same however it is cut, no frame is longer than the limit, and what
// was read can be written again.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte(`{"kind":"answer","id":1,"ok":{"a":[1]}}`+"\n"), 16)
	f.Add([]byte(`{"kind":"ask","ask":1,"for":2,"op":"client","arg":null}`+"\n"+`{"kind":"exit"}`+"\n"), 20)
	f.Add([]byte(`{"kind":"tell","level":"info","text":"\ud800"}`+"\nrest"), 4096)
	const limit = 300
	all := func(data []byte, size int) (frames []frame, err error) {
		r := bufio.NewReaderSize(bytes.NewReader(data), size)
		for {
			one, err := readFrame(r, limit)
			if err != nil {
				return frames, err
			}
			frames = append(frames, one)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size < 16 || size > 1<<16 {
			size = 16
		}
		first, firstErr := all(data, size)
		second, secondErr := all(data, 1<<16)
		if diff := cmp.Diff(first, second); diff != "" || firstErr.Error() != secondErr.Error() {
			t.Fatalf("%v, %v: %s", firstErr, secondErr, diff)
		}
		for _, one := range first {
			line, err := encode(one, maxFrame)
			if err != nil {
				t.Fatal(err)
			}
			again, err := decode(line)
			if err != nil {
				t.Fatal(err)
			}
			meaning := cmp.Transformer("meaning", func(raw json.RawMessage) (value any) {
				d := json.NewDecoder(bytes.NewReader(raw))
				d.UseNumber()
				if len(raw) > 0 && d.Decode(&value) != nil {
					return "no JSON: " + string(raw)
				}
				return value
			})
			if diff := cmp.Diff(one, again, meaning); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestLocate(t *testing.T) {
	for _, c := range []struct {
		stack string
		want  script.Fault
	}{
		{"Error: a\n    at run (/p/tools/x.ts:3:5)\n    at handle ([eval]:2:3)\n    at node:internal/x:1:2", script.Fault{Stack: "Error: a\n    at run (/p/tools/x.ts:3:5)", File: "/p/tools/x.ts", Line: 3, Column: 5}},
		{"Error: a\nmore of it\n    at async file:///p/x.ts:3:5\n    at native", script.Fault{Stack: "Error: a\nmore of it\n    at async file:///p/x.ts:3:5", File: "/p/x.ts", Line: 3, Column: 5}},
		{"    at <anonymous> (/p/with space/x.ts:1:2)\n    at async handle (//[eval]:9:1)", script.Fault{Stack: "    at <anonymous> (/p/with space/x.ts:1:2)", File: "/p/with space/x.ts", Line: 1, Column: 2}},
		{"    at f (/p/x.ts:99999999999999999999:1)", script.Fault{Stack: "    at f (/p/x.ts:99999999999999999999:1)"}},
		{"", script.Fault{}},
	} {
		got := script.Fault{Stack: c.stack}
		locate(&got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.stack, diff)
		}
	}
}
