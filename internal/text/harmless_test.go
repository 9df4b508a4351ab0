package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"plain\n\ttext \\ <b> é 😀":     "plain\n\ttext \\ <b> é 😀",
		"a\r\nb\rc":                    "a\nb\nc",
		"\x1b[2J\x00\x07\x7f":          "␛[2J␀␇␡",
		"\u0085\u009b1m":               `\u{85}\u{9b}1m`,
		"\u202eabc\u2066":              `\u{202e}abc\u{2066}`,
		"x\U000e0041\U000e007fy":       `x\u{e0041}\u{e007f}y`,
		"👩\u200d💻 \u200b\u00a0keep":    "👩\u200d💻 \u00a0keep",
		"a\u200c\u200d\u200b\u200cb":   "a\u200cb",
		"hi\U000e0149\U000e0156\ufe01": "hi",
		"\u200eab\u061c":               `\u{200e}ab\u{61c}`,
		"a\u2028b\u2029\u00adc":        "a\nb\nc",
		"\r":                           "\n",
		"\r\r\n":                       "\n\n",
	} {
		if got := Harmless(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		out := Harmless(s)
		if strings.ContainsFunc(out, func(r rune) bool { return acts(r) && !joins(r) }) || !utf8.ValidString(out) {
			t.Fatalf("%q becomes %q", s, out)
		}
		if Harmless(out) != out {
			t.Fatalf("%q changes once more", out)
		}
	})
}
