package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	tests := []struct{ in, many, line string }{
		{"", "", ""},
		{"git push origin main", "git push origin main", "git push origin main"},
		{"a\tb\nc", "a\tb\nc", `a\tb\nc`},
		{`a\tb`, `a\tb`, `a\\tb`},
		{"a\\\tb \t", "a\\\tb \t", `a\\\tb \t`},
		{"\x1b[2Kls", `\x1b[2Kls`, `\x1b[2Kls`},
		{"a\rb\x00\x7f", `a\x0db\x00\x7f`, `a\x0db\x00\x7f`},
		{"a\u0085b\u009bc", `a\u{85}b\u{9b}c`, `a\u{85}b\u{9b}c`},
		{"rm \u202ex", `rm \u{202e}x`, `rm \u{202e}x`},
		{"\u2066\u2069\u061c\u200e", `\u{2066}\u{2069}\u{61c}\u{200e}`, `\u{2066}\u{2069}\u{61c}\u{200e}`},
		{"l\u200bs\ufeff\u2060\u00ad", `l\u{200b}s\u{feff}\u{2060}\u{ad}`, `l\u{200b}s\u{feff}\u{2060}\u{ad}`},
		{"a\u00a0b\u2003c\u3000d\u202fe\u1680", `a\u{a0}b\u{2003}c\u{3000}d\u{202f}e\u{1680}`, `a\u{a0}b\u{2003}c\u{3000}d\u{202f}e\u{1680}`},
		{"a\u2028b\u2029c", `a\u{2028}b\u{2029}c`, `a\u{2028}b\u{2029}c`},
		{"x\ufe0f\U000e0041\U000e0100", `x\u{fe0f}\u{e0041}\u{e0100}`, `x\u{fe0f}\u{e0041}\u{e0100}`},
		{"\u3164\u115f\u2800\u034f", `\u{3164}\u{115f}\u{2800}\u{34f}`, `\u{3164}\u{115f}\u{2800}\u{34f}`},
		{"a\xffb\x85", `a\xffb\x85`, `a\xffb\x85`},
		{"\ue000\U0010ffff", `\u{e000}\u{10ffff}`, `\u{e000}\u{10ffff}`},
		{"é 日本 😀 a\u0301 \ufffd", "é 日本 😀 a\u0301 \ufffd", "é 日本 😀 a\u0301 \ufffd"},
		{`C:\dir\file`, `C:\dir\file`, `C:\dir\file`},
		{`C:\x86`, `C:\\x86`, `C:\\x86`},
		{`\u{202e} \use`, `\\u{202e} \use`, `\\u{202e} \use`},
		{`a\new`, `a\new`, `a\\new`},
		{"\\\n", "\\\n", `\\\n`},
		{"\\\\\x1b", `\\\\\x1b`, `\\\\\x1b`},
		{"a" + strings.Repeat(" ", 9) + "b", "a" + strings.Repeat(" ", 9) + "b", "a" + strings.Repeat(" ", 9) + "b"},
		{"a" + strings.Repeat(" ", 37) + "b", "a<37 spaces>b", "a<37 spaces>b"},
		{strings.Repeat("\t", 10), "<10 tabs>", "<10 tabs>"},
		{strings.Repeat(" \t", 10), "<20 blanks>", "<20 blanks>"},
		{"a\n" + strings.Repeat(" ", 12) + "b", "a\n<12 spaces>b", `a\n<12 spaces>b`},
		{"a" + strings.Repeat("\n", 12) + "b", "a\n<11 blank lines>\nb", "a" + strings.Repeat(`\n`, 12) + "b"},
		{"a" + strings.Repeat("\n ", 12) + "b", "a\n<11 blank lines>\n b", "a" + strings.Repeat(`\n `, 12) + "b"},
		{"<37 spaces> <37 spices> <3>", `\x3c37 spaces> <37 spices> <3>`, `\x3c37 spaces> <37 spices> <3>`},
		{`\<1 tabs>`, `\\\x3c1 tabs>`, `\\\x3c1 tabs>`},
	}
	for _, tt := range tests {
		if got := Visible(tt.in); got != tt.many {
			t.Errorf("Visible(%q) = %q, want %q", tt.in, got, tt.many)
		}
		if got := VisibleLine(tt.in); got != tt.line {
			t.Errorf("VisibleLine(%q) = %q, want %q", tt.in, got, tt.line)
		}
	}
}

// Only lines that hide something are changed.
func TestVisibleLines(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"a\tb\n\n  c\n":               "a\tb\n\n  c\n",
		"a\tb\n\x1b[2K\tc\n\td\n":     "a\tb\n\\x1b[2K\\tc\n\td\n",
		"one\nrm \u202ex":             "one\nrm \\u{202e}x",
		"\r\n" + `\x1b` + "\n" + `\n`: "\\x0d\n" + `\x1b` + "\n" + `\n`,
	} {
		if got := VisibleLines(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestVisibleEveryCharacter holds the classes against Unicode's own tables.
func TestVisibleEveryCharacter(t *testing.T) {
	spaces := 0
	for i := range rune(0x22000) {
		r := i
		if i >= 0x20000 {
			r += 0xe0000 - 0x20000 // between them are ideographs and unassigned planes
		}
		s := string(r)
		if !utf8.ValidRune(r) || r == '\n' || r == '\t' || r == ' ' {
			continue
		}
		got := HasHidden(s)
		if must := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Bidi_Control); must {
			spaces++
			if !got {
				t.Errorf("%U is not hidden", r)
			}
		}
		if got != (Visible(s) != s) && r != '\\' {
			t.Errorf("%U: HasHidden is %v, Visible is %q", r, got, Visible(s))
		}
	}
	if spaces < 300 {
		t.Errorf("only %d characters tried", spaces)
	}
	for _, s := range []string{"plain", "a\n\tb", `\x41`, strings.Repeat(" ", 99), "<10 spaces>", ""} {
		if HasHidden(s) {
			t.Errorf("HasHidden(%q)", s)
		}
	}
	if !HasHidden("a\xff") {
		t.Error("a broken byte is not hidden")
	}
}

// reveal undoes VisibleLine on texts without long runs of blanks.
func reveal(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			out.WriteByte(s[i])
			i++
			continue
		}
		n := runOf(s[i:], `\`)
		rest := s[i+n:]
		i += n
		if rest == "" || rest[0] != 'x' && rest[0] != 'n' && rest[0] != 't' && !strings.HasPrefix(rest, "u{") {
			out.WriteString(strings.Repeat(`\`, n))
			continue
		}
		out.WriteString(strings.Repeat(`\`, n/2))
		if n%2 == 0 {
			continue
		}
		var v rune
		hex := ""
		switch rest[0] {
		case 'n':
			out.WriteByte('\n')
			i++
			continue
		case 't':
			out.WriteByte('\t')
			i++
			continue
		case 'x':
			hex = rest[1:3]
			i += 3
		default:
			hex, _, _ = strings.Cut(rest[2:], "}")
			i += len(hex) + 3
		}
		for _, c := range hex {
			v = v*16 + rune(strings.IndexRune("0123456789abcdef", c))
		}
		if rest[0] == 'x' {
			out.WriteByte(byte(v))
		} else {
			out.WriteRune(v)
		}
	}
	return out.String()
}

func checkVisible(t interface{ Fatalf(string, ...any) }, s string) {
	for _, line := range []bool{false, true} {
		got := visible(s, line)
		for i, r := range got {
			ok := unicode.IsPrint(r) && !invisible(r) || (r == '\t' || r == '\n') && !line
			if !ok || r == utf8.RuneError && !strings.HasPrefix(got[i:], "\ufffd") {
				t.Fatalf("Visible(%q) = %q holds %U", s, got, r)
			}
		}
	}
	long := false
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return r != ' ' && r != '\t' }) {
		long = long || len(run) >= longRun
	}
	if back := reveal(VisibleLine(s)); !long && back != s {
		t.Fatalf("%q is shown as %q, which reads as %q", s, VisibleLine(s), back)
	}
}

func TestVisibleLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{
			`\`, `\`, "x", "u{", "n", "t", "1b", "20}", "<12 spaces>", "<", " ", "\n", "\t", "\x1b", "\x85", "\u0085", "\u202e", "\U000e0041", "é", "\xff", "\u00a0", strings.Repeat(" ", 12),
		}))
		checkVisible(t, strings.Join(pieces.Draw(t, "pieces"), ""))
	})
}

func FuzzVisible(f *testing.F) {
	f.Add("rm -rf \u202e x\x1b[2K\xff")
	f.Add(`\\\x1b \u{202e} <12 spaces>` + strings.Repeat(" ", 30))
	f.Fuzz(func(t *testing.T, s string) { checkVisible(t, s) })
}

func BenchmarkVisible(b *testing.B) {
	for name, s := range map[string]string{
		"plain":   strings.Repeat("echo hello world && ls -la\n", 2400),
		"hostile": strings.Repeat("\\\\<9\u202e \n\t", 5000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Visible(s)
			}
		})
	}
}
