package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// store is a spill in memory; room < 0 means there is always room.
type store struct {
	bytes.Buffer
	room   int
	opened int
	closed int
}

func newStore() *store { return &store{room: -1} }

var errFull = errors.New("no space left")

func (s *store) Write(p []byte) (int, error) {
	if s.room >= 0 && s.Len()+len(p) > s.room {
		n, _ := s.Buffer.Write(p[:s.room-s.Len()])
		return n, errFull
	}
	return s.Buffer.Write(p)
}

func (s *store) Close() error { s.closed++; return nil }

func (s *store) spill() Spill {
	return Spill{
		Open: func() (io.WriteCloser, string, error) { s.opened++; return s, "tool_1", nil },
		Hint: func(path string) string { return "see " + path },
	}
}

// numbered returns line0 to line<n-1>, joined by line feeds.
func numbered(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line%d", i)
	}
	return strings.Join(lines, "\n")
}

func TestBound(t *testing.T) {
	as := strings.Repeat("a", 1000)
	tests := []struct {
		name string
		text string
		lim  Limits
		want string // the text itself when equal
	}{
		{"empty", "", Limits{}, ""},
		{"fits", "line1\nline2\nline3", Limits{}, "line1\nline2\nline3"},
		{"fits exactly", "a\nb", Limits{Lines: 2, Bytes: 3}, "a\nb"},
		{"head lines", "a\nb\nc\nd", Limits{Lines: 2}, "a\nb\n\n...2 lines truncated...\n\nsee tool_1"},
		{"tail lines", "a\nb\nc\nd", Limits{Lines: 2, Tail: true}, "...2 lines truncated...\n\nsee tool_1\n\nc\nd"},
		{"head bytes", "aaaa\nbbbb\ncccc", Limits{Bytes: 9}, "aaaa\nbbbb\n\n...5 bytes truncated...\n\nsee tool_1"},
		{"tail bytes", "aaaa\nbbbb\ncccc", Limits{Bytes: 9, Tail: true}, "...5 bytes truncated...\n\nsee tool_1\n\nbbbb\ncccc"},
		{"final line feed is a line", "a\nb\n", Limits{Lines: 2}, "a\nb\n\n...1 lines truncated...\n\nsee tool_1"},
		{"final line feed, tail", "a\nb\n", Limits{Lines: 2, Tail: true}, "...1 lines truncated...\n\nsee tool_1\n\nb\n"},
		{"hundred lines", numbered(100), Limits{Lines: 10}, numbered(10) + "\n\n...90 lines truncated...\n\nsee tool_1"},
		{"one long line", as, Limits{Bytes: 100}, as[:100] + "\n\n...900 bytes truncated...\n\nsee tool_1"},
		{"one long line, tail", as, Limits{Bytes: 100, Tail: true}, "...900 bytes truncated...\n\nsee tool_1\n\n" + as[:100]},
		{"long line after empty ones", "\n\n" + as, Limits{Bytes: 100}, "\n\n" + as[:98] + "\n\n...902 bytes truncated...\n\nsee tool_1"},
		{"long line, then its line feed", as + "\n", Limits{Bytes: 100, Tail: true}, "...901 bytes truncated...\n\nsee tool_1\n\n" + as[:99] + "\n"},
		{"long line after a short one", "x\n" + as, Limits{Bytes: 100}, "x\n\n...1001 bytes truncated...\n\nsee tool_1"},
		{"long line before a short one", as + "\nx", Limits{Bytes: 100, Tail: true}, "...1001 bytes truncated...\n\nsee tool_1\n\nx"},
		{"character at the cut", "aéééé", Limits{Bytes: 4}, "aé\n\n...6 bytes truncated...\n\nsee tool_1"},
		{"character at the cut, tail", "ééééa", Limits{Bytes: 4, Tail: true}, "...6 bytes truncated...\n\nsee tool_1\n\néa"},
		{"character larger than the limit", "😀😀", Limits{Bytes: 3}, "\n\n...8 bytes truncated...\n\nsee tool_1"},
		{"carriage return stays with its line", "a\r\nb\r\nc", Limits{Lines: 1}, "a\r\n\n...2 lines truncated...\n\nsee tool_1"},
		{"bytes that are no text", "\xff\xfe\x80\x80\x80\x80", Limits{Bytes: 3}, "\xff\xfe\x80\n\n...3 bytes truncated...\n\nsee tool_1"},
		{"only line feeds", "\n\n\n\n", Limits{Bytes: 2}, "\n\n\n\n...2 bytes truncated...\n\nsee tool_1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore()
			got := Bound(tt.text, tt.lim, s.spill())
			if diff := cmp.Diff(tt.want, got.Content); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			want := Truncated{Truncated: tt.want != tt.text, Total: int64(len(tt.text))}
			if want.Truncated {
				want.Path, want.Saved = "tool_1", want.Total
				if s.String() != tt.text || s.closed != 1 {
					t.Errorf("saved %q, closed %d times", s.String(), s.closed)
				}
			} else if s.opened != 0 {
				t.Error("the spill was opened for a text that fits")
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Truncated{}, "Content", "Removed", "Unit")); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBoundDefaults(t *testing.T) {
	if MaxLines != 2000 || MaxBytes != 51200 {
		t.Fatalf("limits are %d lines and %d bytes", MaxLines, MaxBytes)
	}
	for text, cut := range map[string]bool{
		strings.Repeat("\n", 1999):  false,
		strings.Repeat("\n", 2000):  true,
		strings.Repeat("x", 51200):  false,
		strings.Repeat("x", 51201):  true,
		strings.Repeat("é", 25600):  false,
		strings.Repeat("é", 25601):  true,
		strings.Repeat("x\n", 1999): false,
	} {
		if got := Bound(text, Limits{}, newStore().spill()).Truncated; got != cut {
			t.Errorf("%.4q, %d bytes: truncated is %v", text, len(text), got)
		}
	}
}

func TestBoundSpillFails(t *testing.T) {
	text := numbered(100)
	lim := Limits{Lines: 2}
	const lead = "line0\nline1\n\n...98 lines truncated...\n\nThe tool call succeeded but the output was truncated. "
	full := newStore()
	full.room = 20
	tests := []struct {
		name  string
		lim   Limits
		spill Spill
		want  Truncated
	}{
		{"nowhere", lim, Spill{}, Truncated{Content: lead + "The full output could not be saved (there is nowhere to save it)."}},
		{"can not open", lim,
			Spill{Open: func() (io.WriteCloser, string, error) { return nil, "", errFull }},
			Truncated{Content: lead + "The full output could not be saved (saving the full output: no space left).", Err: errFull}},
		{"full on the way", lim, full.spill(),
			Truncated{Content: lead + "The full output could not be saved (saving the full output: no space left). Its first 20 of 689 bytes are in: tool_1",
				Path: "tool_1", Saved: 20, Err: errFull}},
		{"quota", Limits{Lines: 2, MaxSpill: 11}, newStore().spill(),
			Truncated{Content: "line0\nline1\n\n...98 lines truncated...\n\nsee tool_1\nThe file holds only the first 11 of 689 bytes; the rest was dropped.",
				Path: "tool_1", Saved: 11}},
		{"quota not reached", Limits{Lines: 2, MaxSpill: 689}, newStore().spill(),
			Truncated{Content: "line0\nline1\n\n...98 lines truncated...\n\nsee tool_1", Path: "tool_1", Saved: 689}},
		{"no hint", lim, Spill{Open: newStore().spill().Open},
			Truncated{Content: lead + "Full output saved to: tool_1", Path: "tool_1", Saved: 689}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Bound(text, tt.lim, tt.spill)
			tt.want.Truncated, tt.want.Removed, tt.want.Unit, tt.want.Total = true, 98, "lines", 689
			if tt.want.Err != nil && !errors.Is(got.Err, tt.want.Err) {
				t.Errorf("error is %v", got.Err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Truncated{}, "Err")); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

type badClose struct{ store }

func (*badClose) Close() error { return errFull }

func TestBoundCloseFails(t *testing.T) {
	got := Bound("a\nb", Limits{Lines: 1}, Spill{Open: func() (io.WriteCloser, string, error) {
		return &badClose{*newStore()}, "tool_1", nil
	}})
	if !errors.Is(got.Err, errFull) || !strings.Contains(got.Content, "could not be saved") || !strings.HasPrefix(got.Content, "a\n") {
		t.Errorf("got %+v", got)
	}
}

func TestBounderAfterFinish(t *testing.T) {
	b := NewBounder(Limits{}, Spill{})
	io.WriteString(b, "a")
	first := b.Finish()
	io.WriteString(b, "b")
	if diff := cmp.Diff(first, b.Finish()); diff != "" {
		t.Error(diff)
	}
}

// slow says what is shown in the plainest way: whole lines, as they are counted
// for the notice. It does not know of lines longer than the byte limit.
func slow(text string, lim Limits) (preview string, removed int, unit string) {
	lines := strings.Split(text, "\n")
	var kept []string
	size := 0
	hit := false
	for i := range lines {
		if i >= lim.Lines {
			break
		}
		line := lines[i]
		if lim.Tail {
			line = lines[len(lines)-1-i]
		}
		n := len(line)
		if i > 0 {
			n++
		}
		if size+n > lim.Bytes {
			hit = true
			break
		}
		size += n
		if lim.Tail {
			kept = append([]string{line}, kept...)
		} else {
			kept = append(kept, line)
		}
	}
	if hit {
		return strings.Join(kept, "\n"), len(text) - size, "bytes"
	}
	return strings.Join(kept, "\n"), len(lines) - len(kept), "lines"
}

type failer interface{ Fatalf(string, ...any) }

// checkLaws holds every promise of Bound against one text.
func checkLaws(t failer, text string, lim Limits, cuts []int) {
	s := newStore()
	got := Bound(text, lim, s.spill())
	checkPieces(t, text, lim, cuts)

	fits := len(text) <= lim.Bytes && strings.Count(text, "\n") < lim.Lines
	if got.Truncated == fits {
		t.Fatalf("fits is %v, truncated is %v", fits, got.Truncated)
	}
	if fits {
		if got.Content != text {
			t.Fatalf("a text that fits was changed to %q", got.Content)
		}
		return
	}
	if s.String() != text {
		t.Fatalf("saved %q", s.String())
	}
	notice := fmt.Sprintf("...%d %s truncated...\n\nsee tool_1", got.Removed, got.Unit)
	preview, ok := strings.CutSuffix(got.Content, "\n\n"+notice)
	part := strings.HasPrefix(text, preview)
	if lim.Tail {
		preview, ok = strings.CutPrefix(got.Content, notice+"\n\n")
		part = strings.HasSuffix(text, preview)
	}
	if !ok || !part {
		t.Fatalf("no notice %q in %q, or %q is not an end of the text", notice, got.Content, preview)
	}
	checkPreview(t, [2]string{text, preview}, got, lim)
}

// checkPieces: the answer does not depend on how the text arrives.
func checkPieces(t failer, text string, lim Limits, cuts []int) {
	whole, streamed := newStore(), newStore()
	want := Bound(text, lim, whole.spill())
	b := NewBounder(lim, streamed.spill())
	rest := text
	for _, n := range cuts {
		n = min(n, len(rest))
		io.WriteString(b, rest[:n])
		rest = rest[n:]
	}
	io.WriteString(b, rest)
	if diff := cmp.Diff(want, b.Finish()); diff != "" {
		t.Fatalf("streamed in pieces of %v differs (-string +pieces):\n%s", cuts, diff)
	}
	if streamed.String() != whole.String() || streamed.opened != whole.opened {
		t.Fatalf("streamed in pieces of %v saves another text", cuts)
	}
}

// checkPreview: what is shown keeps the limits, and is what slow says unless a
// line is too long for it.
func checkPreview(t failer, texts [2]string, got Truncated, lim Limits) {
	text, preview := texts[0], texts[1]
	if len(preview) > lim.Bytes || strings.Count(preview, "\n") >= lim.Lines {
		t.Fatalf("shown %q is over the limit %+v", preview, lim)
	}
	if utf8.ValidString(text) && !utf8.ValidString(preview) {
		t.Fatalf("shown %q has a broken character", preview)
	}
	if got.Unit == "bytes" && got.Removed != int64(len(text)-len(preview)) {
		t.Fatalf("removed %d of %d bytes, shown %d", got.Removed, len(text), len(preview))
	}
	overlong := slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return len(line) > lim.Bytes })
	want, removed, unit := slow(text, lim)
	if !overlong && (preview != want || got.Removed != int64(removed) || got.Unit != unit) {
		t.Fatalf("shown %q, %d %s; plainly it is %q, %d %s", preview, got.Removed, got.Unit, want, removed, unit)
	}
	if overlong && len(preview) < len(want) {
		t.Fatalf("shown %q, less than the whole lines %q", preview, want)
	}
}

func TestBoundLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"a", "bc", "\n", "\n\n", "\r\n", "é", "€", "😀", "\xff", "\x80", "\xf0\x9f", "dddddddd"}))
		text := strings.Join(pieces.Draw(t, "pieces"), "")
		lim := Limits{
			Lines: rapid.IntRange(1, 6).Draw(t, "lines"),
			Bytes: rapid.IntRange(1, 20).Draw(t, "bytes"),
			Tail:  rapid.Bool().Draw(t, "tail"),
		}
		checkLaws(t, text, lim, rapid.SliceOf(rapid.IntRange(0, 60)).Draw(t, "cuts"))
	})
}

func FuzzBound(f *testing.F) {
	f.Add("a\nb\nc\nd", uint8(2), uint8(200), false, []byte{1, 2})
	f.Add("aaaa\nbbbb\ncccc", uint8(9), uint8(9), true, []byte{7})
	f.Add("\n\n\xf0\x9f\x98\x80éééééééééé\xff\n", uint8(4), uint8(6), false, []byte{})
	f.Fuzz(func(t *testing.T, text string, lines, size uint8, tail bool, cuts []byte) {
		at := make([]int, len(cuts))
		for i, c := range cuts {
			at[i] = int(c)
		}
		checkLaws(t, text, Limits{Lines: max(int(lines), 1), Bytes: max(int(size), 1), Tail: tail}, at)
	})
}

// TestBounderMemory writes far more than is kept.
func TestBounderMemory(t *testing.T) {
	chunk := []byte(strings.Repeat("0123456789abcde\n", 256))
	for _, tail := range []bool{false, true} {
		b := NewBounder(Limits{Tail: tail}, Spill{Open: func() (io.WriteCloser, string, error) {
			return struct {
				io.Writer
				io.Closer
			}{io.Discard, io.NopCloser(nil)}, "tool_1", nil
		}})
		for range 10_000 {
			b.Write(chunk)
		}
		if cap(b.buf) > 4*(MaxBytes+slack) {
			t.Errorf("tail %v: %d bytes held", tail, cap(b.buf))
		}
		if got := b.Finish(); got.Saved != int64(10_000*len(chunk)) || got.Removed != 2_560_001-2000 {
			t.Errorf("tail %v: saved %d, removed %d %s", tail, got.Saved, got.Removed, got.Unit)
		}
	}
}

func BenchmarkBounder(b *testing.B) {
	chunk := []byte(strings.Repeat("some line of output of a build, not very long\n", 700))
	for _, tail := range []bool{false, true} {
		b.Run(fmt.Sprintf("tail=%v", tail), func(b *testing.B) {
			b.SetBytes(int64(len(chunk)))
			w := NewBounder(Limits{Tail: tail, MaxSpill: 1}, newStore().spill())
			for b.Loop() {
				w.Write(chunk)
			}
		})
	}
}

// With Whole, notice and text together keep to the limits, and the notice
// stands first.
func TestBoundWhole(t *testing.T) {
	hint := func(path string) string { return "kept in " + path + "\nlook there" }
	open := func() (io.WriteCloser, string, error) { return discard{}, "/somewhere/tool_1", nil }
	for _, unit := range []string{"x\n", strings.Repeat("y", 300) + "\n", "é", strings.Repeat("z", 999), "\n"} {
		for _, size := range []int{500, 999, 1000, 1001, 1300, 5000, 100_000} {
			for _, lines := range []int{20, 100, 5000} {
				s := strings.Repeat(unit, size/len(unit)+1)[:size]
				b := Bound(s, Limits{Bytes: 1000, Lines: lines, Whole: true}, Spill{Open: open, Hint: hint})
				if n := strings.Count(b.Content, "\n") + 1; len(b.Content) > 1000 || n > lines {
					t.Errorf("%d of %q: %d bytes, %d lines", size, unit, len(b.Content), n)
				}
				if first, _, _ := strings.Cut(b.Content, "\n"); b.Truncated && !(strings.HasPrefix(first, "...") && strings.Index(b.Content, "kept in /somewhere/tool_1") < 100 && strings.Contains(b.Content, "kept in ")) {
					t.Errorf("%d of %q begins %q", size, unit, first)
				}
				if !b.Truncated && b.Content != s || b.Truncated != (size > 1000 || strings.Count(s, "\n") >= lines) {
					t.Errorf("%d of %q: cut is %v", size, unit, b.Truncated)
				}
			}
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
