package charset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/text"
)

func TestEndings(t *testing.T) {
	tests := []struct{ raw, str, ending string }{
		{"", "", "\n"},
		{"a", "a", "\n"},
		{"a\nb\n", "a\nb\n", "\n"},
		{"a\r\nb\r\n", "a\nb\n", "\r\n"},
		{"a\rb\r", "a\nb\n", "\r"},
		{"a\r\r\nb", "a\n\nb", "\r\n"},
		{"a\n\rb\r", "a\n\nb\n", "\r"},
		{"a\r\nb\n", "a\nb\n", "\n"},
		{"\r", "\n", "\r"},
		{"\r\n\r\n\n", "\n\n\n", "\r\n"},
	}
	for _, tt := range tests {
		for _, name := range []string{"utf-8", "utf-16le", "utf-32be", "gbk"} {
			txt, err := DecodeAs(encoded(t, tt.raw, name), mustNamed(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if txt.String() != tt.str || txt.Raw() != tt.raw || txt.Ending() != tt.ending {
				t.Errorf("%s %q: %q, raw %q, ending %q", name, tt.raw, txt.String(), txt.Raw(), txt.Ending())
			}
		}
		if got := Normalise(tt.raw); got != tt.str {
			t.Errorf("Normalise(%q) is %q", tt.raw, got)
		}
	}
}

func mustNamed(t testing.TB, name string) Encoding {
	t.Helper()
	e, ok := Named(name)
	if !ok {
		t.Fatalf("no encoding %s", name)
	}
	return e
}

// replace makes the edit of the only occurrence of old in s.
func replace(t testing.TB, s, old, fresh string) text.Edit {
	t.Helper()
	at := strings.Index(s, old)
	if at < 0 || strings.Count(s, old) > 1 {
		t.Fatalf("%q is not in %q once", old, s)
	}
	return text.Edit{Start: at, End: at + len(old), New: fresh}
}

func TestSpliceEndings(t *testing.T) {
	tests := []struct{ name, raw, old, fresh, want string }{
		{"a line between", "a\r\nb\r\n", "a\nb", "a\nc\nb", "a\r\nc\r\nb\r\n"},
		{"mixed, in order", "a\r\nb\nc\rd", "a\nb\nc\nd", "w\nx\ny\nz", "w\r\nx\ny\rz"},
		{"mixed, more than before", "a\r\nb\nc\rd\n", "b\nc", "1\n2\n3\n4", "a\r\n1\n2\r\n3\r\n4\rd\n"},
		{"mixed, first line", "a\r\nb\nc\n", "a", "x\ny", "x\r\ny\r\nb\nc\n"},
		{"mixed, last line", "a\nb\r\nc", "c", "x\ny\n", "a\nb\r\nx\r\ny\r\n"},
		{"no ending yet", "a", "a", "x\r\ny", "x\ny"},
		{"new text with other endings", "a\r\nb\r\n", "b", "x\ry\r\nz", "a\r\nx\r\ny\r\nz\r\n"},
		{"untouched lines", "a\nb\r\nc\rd\ne\r\n", "c", "C", "a\nb\r\nC\rd\ne\r\n"},
		{"removed lines", "a\r\nb\nc\rd", "b\nc\n", "", "a\r\nd"},
		{"the same", "a\r\nb\n", "a\nb\n", "a\nb\n", "a\r\nb\n"},
		{"no ending is made of two", "a\rb\nc", "b", "", "a\r\r\nc"},
		{"nor at the front", "a\rb\nc\n", "b", "\nb", "a\r\r\nb\nc\n"},
		{"a stray cr is no ending for new lines", "x\ry\n1\n", "y", "y\nnew", "x\ry\nnew\n1\n"},
		{"cr file", "a\rb\r", "b", "x\ny", "a\rx\ry\r"},
	}
	for _, tt := range tests {
		for _, name := range []string{"utf-8", "utf-16be", "shift_jis"} {
			txt, err := DecodeAs(encoded(t, tt.raw, name), mustNamed(t, name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := txt.Splice([]text.Edit{replace(t, txt.String(), tt.old, tt.fresh)})
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			if d := cmp.Diff(encoded(t, tt.want, name), got); d != "" {
				t.Errorf("%s, %s: got %q\n%s", tt.name, name, got, d)
			}
		}
	}
}

func TestSpliceBOM(t *testing.T) {
	for _, name := range []string{"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"} {
		e := mustNamed(t, name)
		data := append([]byte(e.bom()), encoded(t, "one\r\ntwo\r\n", name)...)
		txt, err := Decode(data)
		if err != nil || len(txt.Mark()) == 0 || txt.Encoding() != e || txt.String() != "one\ntwo\n" {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := txt.Splice([]text.Edit{{Start: 0, End: 8, New: "\uFEFFthree\n"}})
		want := append([]byte(e.bom()), encoded(t, "three\r\n", name)...)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestSpliceRefuses(t *testing.T) {
	txt, err := DecodeAs([]byte("caf\xe9 cr\xe8me\n"), mustNamed(t, "iso-8859-1"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = txt.Splice([]text.Edit{{Start: 0, End: 0, New: "é “x” €"}})
	var u *Unencodable
	if !errors.As(err, &u) || u.Char != '“' || u.Encoding.String() != "iso-8859-1" {
		t.Errorf("got %v", err)
	}
	want := `the character '“' (U+201C) can not be written in iso-8859-1`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for name, edits := range map[string][]text.Edit{
		"beyond":    {{Start: 0, End: 100}},
		"negative":  {{Start: -1, End: 0}},
		"backwards": {{Start: 3, End: 2}},
		"unsorted":  {{Start: 3, End: 5}, {Start: 0, End: 1}},
		"overlap":   {{Start: 0, End: 2}, {Start: 1, End: 3}},
		"cut":       {{Start: 4, End: 5}},
		"not utf-8": {{Start: 0, End: 0, New: "\xff"}},
	} {
		if got, err := txt.Splice(edits); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	jis, err := Decode(encoded(t, "これはテストです\n", "iso-2022-jp"))
	if err != nil || jis.String() != "これはテストです\n" {
		t.Fatalf("%v", err)
	}
	if _, err := jis.Splice([]text.Edit{{New: "x"}}); !errors.Is(err, ErrStateful) {
		t.Errorf("got %v", err)
	}
}

// What an encoder would write for a character it does not have is refused.
func TestEncode(t *testing.T) {
	tests := []struct {
		name, s string
		bad     rune // 0 if none
	}{
		{"shift_jis", "円 ｱ 漢字", 0},
		{"shift_jis", "a¥b", '¥'},
		{"shift_jis", "아", '아'},
		{"windows-1252", "“€”\r\n", 0},
		{"windows-1252", "\uFFFD", '\uFFFD'},
		{"gbk", "€ 中", 0},
		{"gbk", "𠮷", '𠮷'},
		{"gb18030", "𠮷 \uFFFD", 0},
		{"utf-16le", "a𠮷", 0},
		{"utf-8", "a\xff", '\uFFFD'},
		{"koi8-r", "Привет", 0},
		{"big5", "簡", 0},
		{"big5", "简", '简'},
	}
	for _, tt := range tests {
		txt, err := DecodeAs(nil, mustNamed(t, tt.name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := txt.Encode(tt.s)
		var u *Unencodable
		switch {
		case tt.bad == 0 && err != nil:
			t.Errorf("%s %q: %v", tt.name, tt.s, err)
		case tt.bad != 0 && (!errors.As(err, &u) || u.Char != tt.bad):
			t.Errorf("%s %q: %q, %v; want %q refused", tt.name, tt.s, b, err, tt.bad)
		}
	}
}

func TestDecodeAsInvalid(t *testing.T) {
	for name, data := range map[string]string{
		"utf-8": "ab\xff", "utf-16le": "a", "utf-16be": "\xd8\x00\x00a", "utf-32le": "\x00\x00\x11\x00",
		"gbk": "\x81", "shift_jis": "\x81\x20", "euc-kr": "a\xff", "big5": "\x80", "windows-1253": "\xd2",
	} {
		if txt, err := DecodeAs([]byte(data), mustNamed(t, name)); !errors.Is(err, ErrInvalid) || txt != nil {
			t.Errorf("%s %q: %v, %v", name, data, txt, err)
		}
		got, err := io.ReadAll(NewReader(strings.NewReader(data), mustNamed(t, name)))
		if err != nil || !strings.Contains(string(got), "\uFFFD") {
			t.Errorf("%s %q is read as %q, %v", name, data, got, err)
		}
	}
}

// Two codes for one character: the file keeps the one it has.
func TestSpliceKeepsOtherForms(t *testing.T) {
	data := []byte("x \x87\x90 y \x81\xe0 z\n") // twice the same sign
	txt, err := DecodeAs(data, mustNamed(t, "shift_jis"))
	if err != nil || strings.Count(txt.String(), "≒") != 2 {
		t.Fatalf("%v", err)
	}
	old := txt.String()
	got, err := txt.Splice([]text.Edit{{Start: 0, End: len(old), New: strings.Replace(old, "z", "w", 1)}})
	if want := "x \x87\x90 y \x81\xe0 w\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}

// The encodings files are found in, with every kind of ending: an edit of one
// ASCII line changes no other byte.
func TestMatrix(t *testing.T) {
	const filler = "func unchanged(a, b int) int { return a + b }"
	bodies := map[string]string{
		"utf-8": "héllo 世界", "utf-8+bom": "héllo 世界", "utf-16le": "héllo 世界", "utf-16be": "héllo 世界",
		"gbk": "这个函数返回文件中的行数", "shift_jis": "この関数はファイルの行数を返します", "euc-kr": "이 함수는 파일의 줄 수를 반환합니다",
		"windows-1252": "it’s “quoted” and crème", "iso-8859-1": "déjà créé à l'école",
	}
	endings := map[string][]string{"lf": {"\n"}, "crlf": {"\r\n"}, "cr": {"\r"}, "mixed": {"\n", "\r\n", "\r", "\r\n"}}
	for name, special := range bodies {
		for kind, ends := range endings {
			for _, final := range []bool{true, false} {
				var raw, want strings.Builder
				for i := range 300 {
					line := fmt.Sprintf("%s // %d", filler, i)
					if i%7 == 3 {
						line = fmt.Sprintf("%s // %d %s", filler, i, special)
					}
					changed := line
					if i == 151 {
						changed = "x := 1"
					}
					end := ends[i%len(ends)]
					if i == 299 && !final {
						end = ""
					}
					raw.WriteString(line + end)
					want.WriteString(changed + end)
				}
				base, bom := strings.CutSuffix(name, "+bom")
				mark := ""
				if bom {
					mark = mustNamed(t, base).bom()
				}
				data := append([]byte(mark), encoded(t, raw.String(), base)...)
				txt, err := Decode(data)
				if err != nil {
					t.Errorf("%s, %s: %v", name, kind, err)
					continue
				}
				if txt.Encoding().String() != base {
					t.Errorf("%s, %s: called %s", name, kind, txt.Encoding())
				}
				got, err := txt.Splice([]text.Edit{replace(t, txt.String(), filler+" // 151\n", "x := 1\n")})
				if expect := append([]byte(mark), encoded(t, want.String(), base)...); err != nil || !bytes.Equal(got, expect) {
					t.Errorf("%s, %s, final %v: other bytes changed, %v", name, kind, final, err)
				}
			}
		}
	}
}

func TestReaderErrors(t *testing.T) {
	for _, name := range []string{"utf-8", "utf-16le", "gbk"} {
		broken := io.MultiReader(bytes.NewReader(encoded(t, "ab", name)), iotest.ErrReader(io.ErrNoProgress))
		got, err := io.ReadAll(NewReader(broken, mustNamed(t, name)))
		if !errors.Is(err, io.ErrNoProgress) || string(got) != "ab" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
