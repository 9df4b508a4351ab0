package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// A spillFile is a spill in memory.
type spillFile struct {
	bytes.Buffer
	opened, closed int
	fail           io.Writer
}

func (f *spillFile) open() (io.WriteCloser, error) {
	f.opened++
	return f, nil
}

func (f *spillFile) Write(p []byte) (int, error) {
	if f.fail != nil {
		return f.fail.Write(p)
	}
	return f.Buffer.Write(p)
}

func (f *spillFile) Close() error {
	f.closed++
	return nil
}

func TestSink(t *testing.T) {
	for _, c := range []struct {
		name  string
		opts  CaptureOptions
		in    []string
		want  Output
		spill string
	}{
		{name: "nothing"},
		{
			name: "all", opts: CaptureOptions{Head: 4, Tail: 4}, in: []string{"ab", "cdef"},
			want: Output{Head: "abcdef", Bytes: 6, Lines: 1},
		},
		{
			name: "exactly full", opts: CaptureOptions{Head: 4, Tail: 4}, in: []string{"ab\ndef\nh"},
			want: Output{Head: "ab\ndef\nh", Bytes: 8, Lines: 3},
		},
		{
			name: "head and tail", opts: CaptureOptions{Head: 4, Tail: 4}, in: []string{"abc", "defghi", "jk\n"},
			want: Output{Head: "abcd", Tail: "ijk\n", Omitted: 4, Bytes: 12, Lines: 1}, spill: "abcdefghijk\n",
		},
		{
			name: "lines", opts: CaptureOptions{Head: 100, Lines: 2}, in: []string{"a\nb\n", "c\nd"},
			want: Output{Head: "a\nb\nc\nd", Bytes: 7, Lines: 4}, spill: "a\nb\nc\nd",
		},
		{
			name: "limit", opts: CaptureOptions{Head: 100, Limit: 3}, in: []string{"abc", "d"},
			want: Output{Head: "abcd", Bytes: 4, Lines: 1}, spill: "abcd",
		},
		{
			name: "quota", opts: CaptureOptions{Tail: 3, Quota: 5}, in: []string{"abcd", "efgh", "ij"},
			want:  Output{Tail: "hij", Omitted: 7, Bytes: 10, Lines: 1, SpillFull: true},
			spill: "abcde",
		},
		{
			name: "split characters", opts: CaptureOptions{Head: 8, Tail: 8}, in: []string{"\xe2", "\x82", "\xac€"},
			want: Output{Head: "€€", Bytes: 6, Lines: 1},
		},
		{
			name: "characters at the cut", opts: CaptureOptions{Head: 4, Tail: 4}, in: []string{"€€€€"},
			want: Output{Head: "€", Tail: "€", Omitted: 6, Bytes: 12, Lines: 1}, spill: "€€€€",
		},
		{
			name: "no text", opts: CaptureOptions{Head: 4, Tail: 4}, in: []string{"a\xff\xfeb"},
			want: Output{Head: "a\uFFFD\uFFFDb", Bytes: 4, Lines: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f spillFile
			c.opts.Spill = f.open
			s := newSink(c.opts)
			for _, in := range c.in {
				s.write([]byte(in))
			}
			s.close(true)
			c.want.Spilled = int64(len(c.spill))
			if diff := cmp.Diff(c.want, s.snapshot()); diff != "" {
				t.Error(diff)
			}
			if f.String() != c.spill || f.opened != f.closed {
				t.Errorf("spill %q, opened %d, closed %d", f.String(), f.opened, f.closed)
			}
		})
	}
}

func TestSpillFails(t *testing.T) {
	for name, open := range map[string]func() (io.WriteCloser, error){
		"open":  func() (io.WriteCloser, error) { return nil, io.ErrClosedPipe },
		"write": (&spillFile{fail: failing{}}).open,
	} {
		s := newSink(CaptureOptions{Tail: 3, Spill: open})
		for range 3 {
			s.write([]byte("abcd"))
		}
		s.close(true)
		got := s.snapshot()
		if got.Tail != "bcd" || got.Bytes != 12 || !errors.Is(got.SpillErr, io.ErrClosedPipe) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A character is shown when it is whole, or when nothing more can come.
func TestUnfinished(t *testing.T) {
	for _, opts := range []CaptureOptions{{Head: 10}, {Tail: 3}, {Head: 1, Tail: 3}} {
		s := newSink(opts)
		s.write([]byte("aaaab\xe2\x82"))
		got := s.snapshot()
		if text := got.Head + got.Tail; !strings.HasSuffix(text, "b") {
			t.Errorf("%q", text)
		}
		s.close(true)
		got = s.snapshot()
		if text := got.Head + got.Tail; !strings.HasSuffix(text, "b\uFFFD\uFFFD") {
			t.Errorf("%q", text)
		}
	}
}

// However a stream is cut into pieces, the same is kept of it, and that is its
// beginning and its end.
func TestSinkLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n\xe2\x82\xac\xff")), 0, 200).Draw(t, "text")
		opts := CaptureOptions{
			Head: rapid.IntRange(0, 40).Draw(t, "head"), Tail: rapid.IntRange(1, 40).Draw(t, "tail"),
			Lines: rapid.Int64Range(0, 5).Draw(t, "lines"), Limit: rapid.Int64Range(0, 60).Draw(t, "limit"),
		}
		var whole, pieces spillFile
		opts.Spill = whole.open
		one := newSink(opts)
		one.write(text)
		one.close(true)
		opts.Spill = pieces.open
		many := newSink(opts)
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			many.write(rest[:n])
			rest = rest[n:]
		}
		many.close(true)
		got := many.snapshot()
		if diff := cmp.Diff(one.snapshot(), got, cmpopts.EquateErrors()); diff != "" {
			t.Fatal(diff)
		}
		if whole.String() != pieces.String() || pieces.Len() > 0 && pieces.String() != string(text) {
			t.Fatalf("spills %q, %q of %q", whole.String(), pieces.String(), text)
		}
		if !utf8.ValidString(got.Head) || !utf8.ValidString(got.Tail) {
			t.Fatalf("no text: %+v", got)
		}
		if got.Omitted == 0 && got.Head != string([]rune(string(text))) {
			t.Fatalf("%q of %q", got.Head, text)
		}
		if got.Omitted > 0 && pieces.Len() == 0 {
			t.Fatal("omitted, but not spilled")
		}
	})
}

// What a filter holds back is for who reads on; where nobody does, it belongs
// to the output. The same goes for a character that has not come whole.
func TestHandOn(t *testing.T) {
	for _, on := range []bool{true, false} {
		var held []byte
		var spill spillFile
		hold := func(p []byte, end bool) []byte {
			all := append(held, p...)
			if end {
				return all
			}
			cut := max(len(all)-2, 0)
			held = bytes.Clone(all[cut:])
			return all[:cut]
		}
		s := newSink(CaptureOptions{Head: 20, Limit: 1, Spill: spill.open, Filter: hold})
		s.write([]byte("abc\xe2\x82de"))
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		write.Close()
		rest := &Rest{read, s}
		want := Output{Head: "abc\uFFFD\uFFFDde", Bytes: 7, Spilled: 7, Lines: 1}
		whole := "abc\xe2\x82de"
		if on {
			rest.HandedOn()
			rest.Pipe().Close()
			want = Output{Head: "abc", Unfinished: "\xe2\x82", Bytes: 5, Spilled: 5, Lines: 1}
			whole = "abc\xe2\x82"
		} else if err := rest.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.snapshot()); diff != "" {
			t.Error(diff)
		}
		if spill.String() != whole || spill.closed != 1 {
			t.Errorf("the spill is %q, closed %d times", spill.String(), spill.closed)
		}
	}
}
