package terminal

import (
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// looksAt is how many bytes are looked at, for partners of marks, to print a
// text that comes in pieces of a size.
func looksAt(t interface{ Fatal(...any) }, text string, size int) int {
	m := NewMarkdown(io.Discard, Options{Color: true})
	for rest := text; rest != ""; {
		n := min(size, len(rest))
		if _, err := m.Write([]byte(rest[:n])); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return m.in.looked
}

// hostile are what texts are made of that give much to look for.
func hostile() []string {
	return []string{"*", "**", "***", "_", "~~", "`", "``", "```````", "`````````", "[", "]", "](", "(", ")", "\\", "\\`", "a", " ", "|", "| ", "\n|", "\n|-|\n", "> ", "中", "\n",
		strings.Repeat("a", 50), strings.Repeat("a", 900)}
}

// mostLooked is how often a byte is looked at at the most, about. What bounds
// it does not depend on how long the text is.
const mostLooked = 6 * maxOthers

// However many marks a text has, each byte is looked at a few times.
func TestMarkdownWork(t *testing.T) {
	for _, one := range hostile() {
		for _, other := range hostile() {
			for _, pattern := range []string{one, one + other, one + "a" + other + " ", one + other + " " + one + one} {
				text := strings.Repeat(pattern, 1+5_000/len(pattern))
				if n := looksAt(t, text, len(text)); n > mostLooked*len(text) {
					t.Errorf("%q again and again: %d bytes are looked at to print %d", pattern, n, len(text))
				}
			}
		}
	}
	for name, text := range map[string]string{
		"400,000 brackets": strings.Repeat("[", 400_000),
		"stars":            strings.Repeat("*a ", 300_000),
	} {
		if n := looksAt(t, text, len(text)); n > mostLooked*len(text) {
			t.Errorf("%s: %d bytes are looked at to print %d", name, n, len(text))
		}
	}
}

// The same holds for marks in any order. In pieces the last mark is looked at
// again with each of them, and not more.
func TestMarkdownWorkLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile()), 1, 30).Draw(t, "pattern"), "")
		text := strings.Repeat(pattern, 1+5_000/len(pattern))
		if n := looksAt(t, text, len(text)); n > mostLooked*len(text) {
			t.Fatalf("%q again and again: %d bytes are looked at to print %d", pattern, n, len(text))
		}
		size := rapid.IntRange(1, 100).Draw(t, "size")
		writes := len(text)/size + 1
		if n := looksAt(t, text, size); n > mostLooked*len(text)+maxTicks*maxSpan*writes {
			t.Fatalf("%q again and again, in pieces of %d bytes: %d bytes are looked at to print %d", pattern, size, n, len(text))
		}
	})
}
