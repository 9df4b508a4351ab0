package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/terminal"
	"pgregory.net/rapid"
)

// printed lays a text out that comes in the pieces given.
func printed(t interface{ Fatal(...any) }, o terminal.Options, pieces ...string) string {
	var out strings.Builder
	m := terminal.NewMarkdown(&out, o)
	for _, p := range pieces {
		if _, err := m.Write([]byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// marked shows colours in a form that can be read.
func marked(s string) string {
	return strings.NewReplacer("\x1b[0m", "}", "\x1b[1m", "{bold ", "\x1b[3m", "{italic ", "\x1b[2m", "{dim ", "\x1b[36m", "{code ",
		"\x1b[4m", "{under ", "\x1b[1;4m", "{title ", "\x1b[9m", "{strike ", "\x1b[1;3m", "{both ", "\x1b[1;36m", "{boldcode ").Replace(s)
}

func TestMarkdown(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"words", "one two", "one two\n"},
		{"lines stay", "one\ntwo\r\nthree", "one\ntwo\nthree\n"},
		{"blank lines are one", "one\n\n\n\ntwo\n", "one\n\ntwo\n"},
		{"wrapped", "one two three four five six", "one two three four\nfive six\n"},
		{"a word longer than a line", strings.Repeat("x", 45), strings.Repeat("x", 20) + "\n" + strings.Repeat("x", 20) + "\nxxxxx\n"},
		{"wide characters", "中文字符中文字符中文字符。好", "中文字符中文字符中文\n字符。好\n"},
		{"emoji", "⚠️ and 👨‍👩", "⚠ and 👨👩\n"},
		{"title", "# A b\n", "{title A} {title b}\n"},
		{"heading", "## A\n", "{bold A}\n"},
		{"no heading", "#A\n", "#A\n"},
		{"emphasis", "a *b* **c** ***d*** ~~e~~ _f_", "a {italic b} {bold c} {both d} {strike e} {italic f}\n"},
		{"nested", "**a `b` c**", "{bold a} {boldcode b} {bold c}\n"},
		{"three marks end two", "**a *b***", "{bold a} {both b}\n"},
		{"no emphasis", "2 * 3 * 4 ** 5 a_b_c", "2 * 3 * 4 ** 5 a_b_c\n"},
		{"not closed", "**kwargs and `x", "**kwargs and `x\n"},
		{"code with marks", "`**a**` ``b`c``", "{code **a**} {code b`c}\n"},
		{"escaped", `\*a\* \x`, `*a* \x` + "\n"},
		{"link", "[a](http://b)", "{under a} {dim (http://b)}\n"},
		{"a link to itself", "[u](u)", "{dim u}\n"},
		{"no link", "[ ] a [b] c", "[ ] a [b] c\n"},
		{"list", "- one two three four\n  - five\n* six", "• one two three four\n  • five\n• six\n"},
		{"list wrapped", "- one two three four five", "• one two three four\n  five\n"},
		{"numbers", "1. one two three four\n10) x", "1. one two three\n   four\n10) x\n"},
		{"quote", "> one two three four\n> > x", "{dim │ }one two three four\n{dim │ }{dim │ }x\n"},
		{"rule", "---\n* * *\n", "{dim ────────────}\n{dim ────────────}\n"},
		{"fence", "```go\na\t**b**\n\n  c\n```\nd", "{dim [go]}\n  {code a   **b**}\n  {code }\n  {code   c}\nd\n"},
		{"fence in a list", "1. ```\n   a\n   ```\n2. b", "1. {dim []}\n     {code a}\n2. b\n"},
		{"fence in a quote", "> ```\n> a\nb", "{dim │ }  {code a}\nb\n"},
		{"fence that stays open", "~~~\n```\n~~", "  {code ```}\n  {code ~~}\n"},
		{"table", "|a|b|\n|-|-:|\n|**x**|10|\n|y|1|\nz", " {bold a} {dim │}  {bold b}\n{dim ───┼────}\n {bold x} {dim │} 10\n y {dim │}  1\nz\n"},
		{"wide table", "|a|b|\n|-|-|\n|x|one two three four|\n", " {bold a} {dim │} {bold b}\n{dim ───┼──────────────}\n x {dim │} one two\n   {dim │} three four\n"},
		{"no table", "|a|\n|b|", "|a|\n|b|\n"},
		{"escapes", "a\x1b[2Jb\x07\u202ec\xff\rd", `a\x1b[2Jb\x07` + "\n" + `\u{202e}c\xff\x0dd` + "\n"},
		{"escapes in code", "```\n\x1b[2J\n```", "  {code \\x1b[2J}\n"},
		{"escapes in a fence's label", "```\x1b[2J\n```", "{dim [\\x1b[2J]}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := marked(printed(t, terminal.Options{Width: 20, Color: true}, tc.in))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMarkdownPlain(t *testing.T) {
	in := "# A\n\n**b** [c](d) \\*\n- e\n> f\n***\n```go\n\tg\n```\n|a|bbb|\n|-|-|\n|c|d|\n"
	want := "  # A\n\n  **b** [c](d) \\*\n  - e\n  > f\n  ---\n  ```go\n      g\n  ```\n  | a | bbb |\n  |---|-----|\n  | c | d   |\n"
	if diff := cmp.Diff(want, printed(t, terminal.Options{Prefix: "  "}, in)); diff != "" {
		t.Error(diff)
	}
}

// What is certain is printed before the rest has come.
func TestMarkdownAtOnce(t *testing.T) {
	var out strings.Builder
	m := terminal.NewMarkdown(&out, terminal.Options{Color: true})
	for _, tc := range []struct{ in, want string }{
		{"one tw", "one"}, {"o ", "one two"}, {"**thr", "one two"}, {"ee** ", "one two {bold three}"},
		{"\n```", "one two {bold three}\n"}, {"go\nx", "one two {bold three}\n{dim [go]}\n  {code x"},
	} {
		if _, err := m.Write([]byte(tc.in)); err != nil {
			t.Fatal(err)
		}
		if got := marked(out.String()); got != tc.want {
			t.Errorf("after %q: %q, want %q", tc.in, got, tc.want)
		}
	}
}

// pieces are what Markdown is made of, so that random texts mean something.
func pieces() *rapid.Generator[string] {
	marks := rapid.SampledFrom([]string{
		"*", "**", "***", "_", "__", "~~", "`", "``", "\n```", "\n~~~", "[", "](", ")", "\\", "\\*", "|", "\n|-|\n", "\n|--|:-:|\n", "\n> ", "\n>", "\n- ", "\n* ", "\n1. ",
		"\n# ", "\n### ", "\n", "\n\n", "\r\n", "\r", " ", "    ", "\t", "\n---", "**a**", "`b`", "\n```\n", "\n  ```\n", "[c](d)", "\n|x|y|\n|-|-|\n",
		"中文", "。", "👍🏽", "⚠️", "e\u0301", "\u202e", "\x1b[31m", "\x00", "\xe4", "\xff", "word", "x", "1", "-", "#",
	})
	long := rapid.SampledFrom([]string{strings.Repeat("*", 1100), strings.Repeat(" ", 400), strings.Repeat("word ", 300), strings.Repeat("|x", 2200),
		strings.Repeat("[", 35), strings.Repeat("*a ", 20), strings.Repeat("`a``", 20), strings.Repeat("](", 35), strings.Repeat("`", 9), strings.Repeat("_a", 33)})
	return rapid.OneOf(marks, marks, marks, marks, marks, marks, marks, marks, long, rapid.String())
}

func TestMarkdownLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces(), 1, 80).Draw(t, "text"), "")
		o := terminal.Options{Width: rapid.IntRange(1, 100).Draw(t, "width"), Color: rapid.Bool().Draw(t, "color"), Dim: rapid.Bool().Draw(t, "dim")}
		law(t, text, o, rapid.IntRange(2, 50).Draw(t, "size"))
		law(t, text, o, 1)
	})
}

// law holds a text against what every text has to keep.
func law(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, text string, o terminal.Options, size int) {
	want := printed(t, o, text)
	var cut []string
	for rest := text; rest != ""; {
		n := min(size, len(rest))
		cut, rest = append(cut, rest[:n]), rest[n:]
	}
	if got := printed(t, o, cut...); got != want {
		t.Fatalf("%q in pieces of %d bytes is printed as\n%q\nand whole as\n%q", text, size, got, want)
	}
	bare := want
	if o.Color {
		bare = colourless(want)
	}
	for _, r := range bare {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q prints %q", text, r)
		}
	}
	if o.Color || strings.Contains(text, "|") { // what stands in cells comes in another order
		return
	}
	if missing := lost(text, bare); missing != "" {
		t.Fatalf("%q is printed as\n%s\nwithout %q", text, bare, missing)
	}
}

// colourless takes the sequences out that set colours.
func colourless(s string) string {
	var out strings.Builder
	for {
		at := strings.Index(s, "\x1b[")
		if at < 0 {
			return out.String() + s
		}
		out.WriteString(s[:at])
		s = s[at+2:]
		s = s[len(s)-len(strings.TrimLeft(s, "0123456789;")):]
		if !strings.HasPrefix(s, "m") {
			return out.String() + "\x1b"
		}
		s = s[1:]
	}
}

// lost finds letters of a text that were not printed, in their order.
func lost(text, printed string) string {
	rest := []rune(printed)
	for i, r := range text {
		if !unicode.IsLetter(r) || r == unicode.ReplacementChar {
			continue
		}
		at := 0
		for at < len(rest) && rest[at] != r {
			at++
		}
		if at == len(rest) {
			return text[i:]
		}
		rest = rest[at+1:]
	}
	return ""
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n- b **c**\n```go\nx\n```\n", "|a|b|\n|-|-|\n|c|`d|e`|\n", "> [a](b) *c", "1. ~~~\n   x\n   ~~~"} {
		f.Add(s, 3, 20, true)
	}
	f.Fuzz(func(t *testing.T, text string, size, width int, color bool) {
		if size < 1 || width < 0 || width > 1000 {
			t.Skip("no size, or no width that a terminal has")
		}
		law(t, text, terminal.Options{Width: width, Color: color}, size)
	})
}

// The documents of this repository are a text as any other.
func TestMarkdownOfDocs(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no documents were found")
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, color := range []bool{true, false} {
			law(t, string(body), terminal.Options{Color: color}, 7)
		}
	}
}

func BenchmarkMarkdown(b *testing.B) {
	for name, text := range map[string]string{
		"prose": strings.Repeat("Some **words** and `code` in a [link](http://x).\n\n", 2000),
		"open":  strings.Repeat("**a [b `c ", 10000),
		"line":  strings.Repeat("word ", 20000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m := terminal.NewMarkdown(&strings.Builder{}, terminal.Options{Color: true})
				for i := range len(text) {
					if _, err := m.Write([]byte{text[i]}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
