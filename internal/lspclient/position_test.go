package lspclient

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/helve-dev/helve/lsp"
	"pgregory.net/rapid"
)

func encodings() []counting { return []counting{utf8Units, utf16Units, utf32Units} }

func TestOffset(t *testing.T) {
	const text = "aé€😀b\r\n\rx\xffy\n"
	for _, c := range []struct {
		line, character int
		e               counting
		want            int
	}{
		{0, 0, utf16Units, 0},
		{0, 3, utf16Units, 6},
		{0, 4, utf16Units, 6}, // inside the pair
		{0, 5, utf16Units, 10},
		{0, 6, utf16Units, 11},
		{0, 7, utf16Units, 11}, // past the end of the line
		{0, 1 << 30, utf16Units, 11},
		{0, 2, utf8Units, 1}, // inside é
		{0, 3, utf8Units, 3},
		{0, 4, utf32Units, 10},
		{1, 0, utf16Units, 13}, // the line between \r\n and \r
		{1, 1, utf16Units, 13},
		{2, 0, utf16Units, 14},
		{2, 2, utf16Units, 16}, // the bad byte is one U+FFFD
		{2, 4, utf8Units, 16},  // which is three bytes to the server
		{2, 3, utf8Units, 15},
		{3, 0, utf16Units, 18},
		{3, 9, utf16Units, 18},
		{4, 0, utf16Units, 18}, // past the last line
		{-1, 5, utf16Units, 0},
		{0, -1, utf16Units, 0},
	} {
		p := lsp.Position{Line: c.line, Character: c.character}
		if got := newLines(text).offset(p, c.e); got != c.want {
			t.Errorf("offset(%v, %s) = %d, want %d", p, c.e, got, c.want)
		}
	}
	if got := newLines("").offset(lsp.Position{Line: 0, Character: 3}, utf16Units); got != 0 {
		t.Errorf("offset in nothing = %d", got)
	}
}

func TestPosition(t *testing.T) {
	const text = "é\r\n😀!\r"
	l := newLines(text)
	for _, c := range []struct {
		offset int
		e      counting
		want   lsp.Position
	}{
		{-1, utf16Units, lsp.Position{Line: 0, Character: 0}},
		{1, utf8Units, lsp.Position{Line: 0, Character: 0}}, // inside é
		{2, utf8Units, lsp.Position{Line: 0, Character: 2}},
		{3, utf16Units, lsp.Position{Line: 0, Character: 1}}, // between \r and \n
		{4, utf16Units, lsp.Position{Line: 1, Character: 0}},
		{7, utf16Units, lsp.Position{Line: 1, Character: 0}},
		{8, utf16Units, lsp.Position{Line: 1, Character: 2}},
		{8, utf8Units, lsp.Position{Line: 1, Character: 4}},
		{8, utf32Units, lsp.Position{Line: 1, Character: 1}},
		{10, utf16Units, lsp.Position{Line: 2, Character: 0}},
		{99, utf16Units, lsp.Position{Line: 2, Character: 0}},
	} {
		if got := l.positionAt(c.offset, c.e); got != c.want {
			t.Errorf("position(%d, %s) = %v, want %v", c.offset, c.e, got, c.want)
		}
	}
}

func TestConvert(t *testing.T) {
	l := newLines("x\n😀é=1")
	for _, c := range []struct {
		from, to counting
		p, want  lsp.Position
	}{
		{utf8Units, utf16Units, lsp.Position{Line: 1, Character: 6}, lsp.Position{Line: 1, Character: 3}},
		{utf16Units, utf32Units, lsp.Position{Line: 1, Character: 3}, lsp.Position{Line: 1, Character: 2}},
		{utf32Units, utf8Units, lsp.Position{Line: 1, Character: 2}, lsp.Position{Line: 1, Character: 6}},
		{utf8Units, utf16Units, lsp.Position{Line: 1, Character: 99}, lsp.Position{Line: 1, Character: 5}},
		{utf8Units, utf8Units, lsp.Position{Line: 7, Character: 99}, lsp.Position{Line: 7, Character: 99}},
	} {
		if got := convert(c.p, l, c.from, c.to); got != c.want {
			t.Errorf("convert(%v, %s, %s) = %v, want %v", c.p, c.from, c.to, got, c.want)
		}
	}
}

// texts draws texts with characters of all widths, all line ends, bytes that
// are not UTF-8, and lines that are longer than the marks are apart.
func texts() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "b ", "é", "€", "😀", "\u0301", "\ufffd", "\n", "\r\n", "\r"}),
		rapid.SampledFrom([]string{"a", "\n", "\xff", "\xc3", "\xa9", "\xed\xa0\xbd", "\xf0\x9f\x98"}),
		rapid.Custom(func(t *rapid.T) string {
			of := rapid.SampledFrom([]string{"x", "é", "😀", "\xff"}).Draw(t, "of")
			return strings.Repeat(of, rapid.IntRange(1, 700).Draw(t, "times"))
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
	})
}

// plainLines is a text as lines of characters, where each begins, and where the
// text of a line ends: the long way to the same answers.
func plainLines(text string) (begins [][]int) {
	line := []int{}
	for i := range text {
		switch {
		case text[i] == '\n' && i > 0 && text[i-1] == '\r':
		case text[i] == '\n' || text[i] == '\r':
			begins = append(begins, append(line, i))
			line = []int{}
		default:
			line = append(line, i)
		}
	}
	return append(begins, append(line, len(text)))
}

func plainUnits(character string, e counting) int {
	runes := []rune(character)
	switch e {
	case utf8Units:
		return len(string(runes))
	case utf16Units:
		return len(utf16.Encode(runes))
	}
	return len(runes)
}

func plainOffset(text string, p lsp.Position, e counting) int {
	all := plainLines(text)
	if p.Line >= len(all) {
		return len(text)
	}
	line, left := all[p.Line], p.Character
	for i, at := range line[:len(line)-1] {
		if left -= plainUnits(text[at:line[i+1]], e); left < 0 {
			return at
		}
	}
	return line[len(line)-1]
}

func TestOffsetIsThePlainOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		e := rapid.SampledFrom(encodings()).Draw(t, "encoding")
		l := newLines(text)
		for range 20 {
			p := lsp.Position{Line: rapid.IntRange(0, len(l.starts)).Draw(t, "line"), Character: rapid.IntRange(0, 2500).Draw(t, "character")}
			if got, want := l.offset(p, e), plainOffset(text, p, e); got != want {
				t.Fatalf("offset(%v) = %d, want %d", p, got, want)
			}
		}
	})
}

// At every place between characters, position and offset undo each other, and
// a detour by another encoding leads to the same place.
func TestOffsetAndPositionUndoEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		e := rapid.SampledFrom(encodings()).Draw(t, "encoding")
		other := rapid.SampledFrom(encodings()).Draw(t, "other")
		l := newLines(text)
		for number, line := range plainLines(text) {
			units := 0
			for i, at := range line {
				p := l.positionAt(at, e)
				if want := (lsp.Position{Line: number, Character: units}); p != want {
					t.Fatalf("position(%d) = %v, want %v", at, p, want)
				}
				if got := l.offset(p, e); got != at {
					t.Fatalf("offset(position(%d) = %v) = %d", at, p, got)
				}
				if back := convert(convert(p, l, e, other), l, other, e); back != p {
					t.Fatalf("%v became %v by way of %s", p, back, other)
				}
				if i+1 < len(line) {
					units += plainUnits(text[at:line[i+1]], e)
				}
			}
		}
	})
}

// Every offset has a position at or before it, and a later one no earlier one.
func TestPositionIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		e := rapid.SampledFrom(encodings()).Draw(t, "encoding")
		l := newLines(text)
		last := lsp.Position{}
		for i := range len(text) + 1 {
			p := l.positionAt(i, e)
			if comparePositions(last, p) > 0 || l.offset(p, e) > i || i-l.offset(p, e) > 3 {
				t.Fatalf("position(%d) = %v after %v, at %d", i, p, last, l.offset(p, e))
			}
			last = p
		}
	})
}

// Marks lie at no odd place: texts that end at, before and after one.
func TestMarksOfAllLengths(t *testing.T) {
	for _, unit := range []string{"é", "€", "😀", "\xff"} {
		for n := range 3 * markEvery {
			text := "é" + strings.Repeat(unit, n/len(unit)) + strings.Repeat("x", n%len(unit))
			l := newLines(text)
			for _, e := range encodings() {
				want := lsp.Position{Line: 0, Character: plainUnits(text, e)}
				if got := l.positionAt(len(text), e); got != want || l.offset(want, e) != len(text) {
					t.Fatalf("%q %d times, in %s: it ends at %v, want %v, and that at %d", unit, n, e, got, want, l.offset(want, e))
				}
			}
		}
	}
}
