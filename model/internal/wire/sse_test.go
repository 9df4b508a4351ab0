package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type said struct{ Name, Data string }

func events(r io.Reader, most int) (out []said, err error) {
	for e, err := range ReadEvents(r, most) {
		if err != nil {
			return out, err
		}
		out = append(out, said{e.Name, string(e.Data)})
	}
	return out, nil
}

func TestReadEvents(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []said
	}{
		"nothing":              {"", nil},
		"one":                  {"data: a\n\n", []said{{"", "a"}}},
		"named":                {"event: ping\ndata: {}\n\n", []said{{"ping", "{}"}}},
		"CR":                   {"event: e\rdata: a\r\rdata: b\r\r", []said{{"e", "a"}, {"", "b"}}},
		"CRLF":                 {"data: a\r\n\r\ndata: b\r\n\r\n", []said{{"", "a"}, {"", "b"}}},
		"mixed ends":           {"data: a\r\ndata: b\n\rdata: c\n\n", []said{{"", "a\nb"}, {"", "c"}}},
		"byte order mark":      {"\ufeffdata: a\n\n", []said{{"", "a"}}},
		"a second mark counts": {"\ufeff\ufeffdata: a\n\n", nil},
		"comments":             {": hello\n\n:\ndata: a\n: more\n\n", []said{{"", "a"}}},
		"many lines":           {"data: a\ndata:\ndata: b\n\n", []said{{"", "a\n\nb"}}},
		"one space is dropped": {"data:  a\ndata:b\n\n", []said{{"", " a\nb"}}},
		"field without colon":  {"data\n\n", []said{{"", ""}}},
		"two empty lines":      {"data\ndata\n\n", []said{{"", "\n"}}},
		"other fields":         {"id: 7\nretry: 10\nfoo: bar\ndata: a\n\n", []said{{"", "a"}}},
		"name without data":    {"event: x\n\ndata: a\n\n", []said{{"", "a"}}},
		"last name counts":     {"event: x\nevent: y\ndata: a\n\n", []said{{"y", "a"}}},
		"no blank line at end": {"data: a\n\ndata: b\n", []said{{"", "a"}}},
		"no line end at end":   {"data: a\n\ndata: b", []said{{"", "a"}}},
		"colons in the data":   {"data: a: b\n\n", []said{{"", "a: b"}}},
		"case counts":          {"Data: a\n\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{
				strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, err := events(r, 0)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestReadEventsIsBounded(t *testing.T) {
	for name, in := range map[string]string{
		"one line":         "data: " + strings.Repeat("x", 100) + "\n\n",
		"many lines":       strings.Repeat("data: x\n", 100) + "\n",
		"a line that goes": strings.Repeat("x", 100),
		"after another":    "data: a\n\n" + strings.Repeat("x", 100),
		"a comment":        "data: a\n\n:" + strings.Repeat("x", 100) + "\n\n",
	} {
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			if _, err := events(r, 50); !errors.Is(err, errTooLong) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// what has been given does not count for what follows
	got, err := events(strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 30)+"\n\n", 20)), 50)
	if err != nil || len(got) != 20 {
		t.Error(len(got), err)
	}
}

func TestReadEventsEndsWithItsReader(t *testing.T) {
	broken := errors.New("broken")
	got, err := events(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)), 0)
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Error(got, err)
	}
	for range ReadEvents(strings.NewReader("data: a\n\ndata: b\n\n"), 0) {
		break
	}
}

func FuzzReadEvents(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n", "event: x\r\ndata: 1\r\rdata: 2\n\n", "\ufeffdata\n\n", ":c\n\ndata:a\ndata: b\n\n", "data: cut", "\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := events(bytes.NewReader(in), 1<<10)
		piece, pieceErr := events(iotest.OneByteReader(bytes.NewReader(in)), 1<<10)
		if (err == nil) != (pieceErr == nil) {
			t.Fatalf("at once: %v, byte by byte: %v", err, pieceErr)
		}
		if d := cmp.Diff(whole, piece); d != "" {
			t.Fatal(d)
		}
		for _, e := range whole {
			if len(e.Data) > 1<<10 || strings.ContainsAny(e.Name, "\r\n") || strings.Contains(e.Data, "\r") {
				t.Fatalf("%q", e)
			}
		}
		// written again, the events are the same
		var b bytes.Buffer
		for _, e := range whole {
			b.WriteString("event: " + e.Name + "\n")
			for line := range strings.SplitSeq(e.Data, "\n") {
				b.WriteString("data: " + line + "\n")
			}
			b.WriteString("\n")
		}
		again, err := events(&b, 0)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(whole, again); d != "" {
			t.Fatal(d)
		}
	})
}

func BenchmarkReadEvents(b *testing.B) {
	in := []byte(strings.Repeat("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0}\n\n", 1000))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		for range ReadEvents(bytes.NewReader(in), 0) {
		}
	}
}
