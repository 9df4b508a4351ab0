package console_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A shown is a text with what people are shown of it.
type shown struct {
	Text   string `json:"text"`
	Many   string `json:"many"`   // [text.Visible]
	Line   string `json:"line"`   // [text.VisibleLine]
	Hidden bool   `json:"hidden"` // [text.HasHidden]
}

// TestVisibleCases holds testdata/visible.jsonl against the runtime's own
// function. The console's visible.js is run over the same file in a browser,
// so the two can not drift apart.
func TestVisibleCases(t *testing.T) {
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	for _, s := range visibleTexts() {
		if !utf8.ValidString(s) {
			t.Fatalf("%q is no text that JSON can carry", s)
		}
		err := enc.Encode(shown{Text: s, Many: text.Visible(s), Line: text.VisibleLine(s), Hidden: text.HasHidden(s)})
		if err != nil {
			t.Fatal(err)
		}
	}
	const file = "testdata/visible.jsonl"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s says otherwise than internal/text: write it anew with -update, and look at visible.js", file)
	}
}

// visibleTexts are the cases: by hand, every character of the blocks in which
// the hidden ones are, and short joins of the pieces that matter.
func visibleTexts() []string {
	texts := []string{
		"", "git push origin main", "a\tb\nc", `a\tb`, "a\\\tb \t", "\x1b[2Kls", "a\rb\x00\x7f", "rm \u202ex",
		"é 日本 😀 a\u0301 \ufffd", `C:\dir\file`, `C:\x86`, `\u{202e} \use`, `a\new`, "\\\n", "\\\\\x1b", `\\\<1 tabs>`,
		"👩\u200d👩\u200d👧 ❤\ufe0f", "\U0010ffff\ue000", "\U000e0041\U000e0100", "<img src=x onerror=alert(1)>", "</script><b>",
		"<37 spaces> <37 spices> <3>", `\<1 tabs>`, "<0 blank lines>", "<1234567890123456789 tabs>", "<12345678901234567890 tabs>", "<1 tabs", "<1  tabs>",
		"a" + strings.Repeat("\n ", 12) + "b", strings.Repeat(" ", 11) + strings.Repeat("\n", 9) + strings.Repeat("\t", 12),
		"x" + strings.Repeat(" ", 400) + "; rm -rf /",
	}
	for _, blank := range []string{" ", "\t", "\n", " \t", " \n", "\n\t", "\r\n"} {
		for _, n := range []int{1, 4, 5, 9, 10, 11, 20} {
			texts = append(texts, "a"+strings.Repeat(blank, n)+"b", strings.Repeat(blank, n), `\`+strings.Repeat(blank, n))
		}
	}
	for _, block := range [][2]rune{{0, 0x180}, {0x300, 0x370}, {0x600, 0x620}, {0x1150, 0x1170}, {0x17b0, 0x17c0}, {0x1800, 0x1820},
		{0x2000, 0x2070}, {0x2800, 0x2802}, {0x3000, 0x3002}, {0x3160, 0x3168}, {0xfe00, 0xfe30}, {0xfff0, 0xfffe}, {0x1d158, 0x1d17c}, {0xe0000, 0xe0080}} {
		for r := block[0]; r < block[1]; r++ {
			texts = append(texts, fmt.Sprintf("a%cb", r))
		}
	}
	pieces := []string{`\`, "x", "u{", "n", "t", "<12 spaces>", "<", " ", "\n", "\t", "\x1b", "\u202e", "é", strings.Repeat(" ", 12)}
	for _, a := range pieces {
		for _, b := range pieces {
			texts = append(texts, a+b, `\`+a+b, `\\`+a+b)
		}
	}
	return texts
}
