package charset

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/helve-dev/helve/internal/text"
)

// alphabetOf is what drawn texts in an encoding are made of.
func alphabetOf(name string) string {
	const ascii = "ab cd{}();\t"
	return ascii + map[string]string{
		"utf-8": "éß世界😀\uFFFD", "utf-16le": "éß世界😀\uFFFD", "utf-16be": "éß世界😀", "utf-32le": "é世😀", "utf-32be": "é世😀",
		"gbk": "中文函数€，。", "gb18030": "中文𠮷é😀", "big5": "中文設定", "shift_jis": "日本ｱｲテスト表ソ", "euc-jp": "日本ｱテスト",
		"euc-kr": "한국어똠", "windows-1252": "é“”€", "iso-8859-1": "éèß", "windows-1251": "Привет", "koi8-r": "Привет",
	}[name]
}

func lawEncodings() []string {
	return []string{"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be", "gbk", "gb18030", "big5",
		"shift_jis", "euc-jp", "euc-kr", "windows-1252", "iso-8859-1", "windows-1251", "koi8-r"}
}

// drawFile draws a file: its bytes, its text, its encoding.
func drawFile(rt *rapid.T) ([]byte, *Text) {
	name := rapid.SampledFrom(lawEncodings()).Draw(rt, "encoding")
	e, _ := Named(name)
	letters := []rune(alphabetOf(name))
	piece := rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom(letters), 0, 12, -1),
		rapid.SampledFrom([]string{"\n", "\r\n", "\r", "\r\r\n", "\n\r"}),
		rapid.Custom(func(rt *rapid.T) string { // across the marks
			n := rapid.IntRange(stride-4, stride+4).Draw(rt, "n")
			return strings.Repeat(string(rapid.SampledFrom(letters).Draw(rt, "r")), n/3) +
				strings.Repeat(rapid.SampledFrom([]string{"\r\n", "\r", "\n", "x"}).Draw(rt, "end"), n)
		}),
	)
	raw := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "pieces"), "")
	data, err := e.encode(raw)
	if err != nil {
		rt.Fatal(err)
	}
	if b := e.bom(); b != "" && rapid.Bool().Draw(rt, "bom") {
		data = append([]byte(b), data...)
	}
	txt, err := DecodeAs(data, e)
	if err != nil {
		rt.Fatal(err)
	}
	if txt.Raw() != raw || txt.String() != Normalise(raw) {
		rt.Fatalf("%s: %q is read as %q", name, raw, txt.Raw())
	}
	return data, txt
}

func drawEdits(rt *rapid.T, txt *Text) []text.Edit {
	s := txt.String()
	letters := append([]rune(alphabetOf(txt.Encoding().String())), '\n', '\n', '\r')
	n := rapid.IntRange(0, 6).Draw(rt, "edits")
	ends := make([]int, 2*n)
	for i := range ends {
		at := rapid.IntRange(0, len(s)).Draw(rt, "at")
		for !boundary(s, at) {
			at--
		}
		ends[i] = at
	}
	slices.Sort(ends)
	edits := make([]text.Edit, n)
	for i := range edits {
		fresh := rapid.StringOfN(rapid.SampledFrom(letters), 0, 8, -1).Draw(rt, "new")
		if rapid.Bool().Draw(rt, "alike") { // has beginning or end in common
			fresh = s[ends[2*i]:ends[2*i+1]] + fresh
		}
		edits[i] = text.Edit{Start: ends[2*i], End: ends[2*i+1], New: fresh}
	}
	return edits
}

func TestSpliceLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data, txt := drawFile(rt)
		if same, err := txt.Splice(nil); err != nil || !bytes.Equal(same, data) {
			rt.Fatalf("no edit changes %q to %q, %v", data, same, err)
		}
		edits := drawEdits(rt, txt)
		got, err := txt.Splice(edits)
		if err != nil {
			rt.Fatal(err)
		}
		checkSplice(rt, txt, edits, got)
	})
}

// checkSplice checks that got is data with the edits made, and that nothing
// before, between and after them has changed.
func checkSplice(rt interface{ Fatalf(string, ...any) }, txt *Text, edits []text.Edit, got []byte) {
	again, err := DecodeAs(got, txt.Encoding())
	if err != nil {
		rt.Fatalf("%q: %v", got, err)
		return
	}
	norm := slices.Clone(edits)
	for i := range norm {
		norm[i].New = Normalise(norm[i].New)
	}
	if want := text.Apply(txt.String(), norm); again.String() != want {
		rt.Fatalf("%s %q with %+v is %q; want %q", txt.Encoding(), txt.Raw(), edits, again.Raw(), want)
	}
	if len(edits) == 0 {
		return
	}
	s := seeker{t: txt}
	from, err1 := s.raw(edits[0].Start)
	to, err2 := s.raw(edits[len(edits)-1].End)
	if err1 != nil || err2 != nil {
		rt.Fatalf("%v, %v", err1, err2)
	}
	if !bytes.HasPrefix(got, txt.data[:from]) || !bytes.HasSuffix(got, txt.data[to:]) {
		rt.Fatalf("%s: %q with %+v is %q: bytes around the edits changed", txt.Encoding(), txt.data, edits, got)
	}
	rest := got[from:]
	for i := range edits[1:] {
		a, _ := s.raw(edits[i].End)
		b, _ := s.raw(edits[i+1].Start)
		at := bytes.Index(rest, txt.data[a:b])
		if at < 0 {
			rt.Fatalf("%s: %q with %+v is %q: bytes between the edits changed", txt.Encoding(), txt.data, edits, got)
		}
		rest = rest[at+b-a:]
	}
}

// Every place of the text is found in the bytes.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data, txt := drawFile(rt)
		s := seeker{t: txt}
		at := rapid.IntRange(0, len(txt.String())).Draw(rt, "at")
		for !boundary(txt.String(), at) {
			at--
		}
		raw, err := s.raw(at)
		if err != nil {
			rt.Fatal(err)
		}
		head, err1 := DecodeAs(data[:raw], txt.Encoding())
		tail, err2 := DecodeAs(data[raw:], txt.Encoding())
		if err1 != nil || err2 != nil {
			rt.Fatal(err1, err2)
		}
		want := strings.TrimPrefix(txt.String()[at:], "\uFEFF")
		if head.String() != txt.String()[:at] || strings.TrimPrefix(tail.String(), "\uFEFF") != want {
			rt.Fatalf("%q at %d is not %q at %d", txt.String(), at, data, raw)
		}
	})
}

func TestReaderLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data, txt := drawFile(rt)
		r := io.Reader(bytes.NewReader(data))
		switch rapid.IntRange(0, 3).Draw(rt, "reads") {
		case 1:
			r = iotest.OneByteReader(r)
		case 2:
			r = iotest.HalfReader(r)
		case 3:
			r = iotest.DataErrReader(r)
		}
		out := NewReader(r, txt.Encoding())
		if rapid.Bool().Draw(rt, "small reads") {
			out = iotest.OneByteReader(out)
		}
		got, err := io.ReadAll(out)
		if err != nil || string(got) != txt.Raw() {
			rt.Fatalf("%s: %q is read as %q, %v", txt.Encoding(), data, got, err)
		}
	})
}

// fuzzBytes checks what must hold for any bytes.
func fuzzBytes(t *testing.T, data []byte) {
	before := bytes.Clone(data)
	e, err := Detect(data, true)
	txt, err2 := Decode(data)
	if (err == nil) != (err2 == nil) {
		t.Fatalf("%q: Detect says %v, %v, and Decode %v", data, e, err, err2)
	}
	if _, err := Detect(data, false); err != nil && !notText(err) {
		t.Fatal(err)
	}
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 && err != nil && controls(data)*10 <= 3*len(data) {
		t.Fatalf("%q is UTF-8: %v", data, err)
	}
	if err != nil {
		if !notText(err) {
			t.Fatal(err)
		}
		return
	}
	if txt.Encoding() != e || strings.Contains(txt.String(), "\r") || !utf8.ValidString(txt.String()) {
		t.Fatalf("%q: %v, %v, %q", data, e, txt.Encoding(), txt.String())
	}
	if !e.stateful() {
		if back, err := txt.Encode(txt.Raw()); err != nil || !bytes.Equal(back, data[txt.bom:]) {
			t.Fatalf("%s: %q comes back as %q, %v", e, data, back, err)
		}
	}
	if same, err := txt.Splice(nil); err != nil || !bytes.Equal(same, data) || !bytes.Equal(before, data) {
		t.Fatalf("%q changes to %q, %v", data, same, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, g := range tongues() {
		for name := range strings.FieldsSeq(g.encodings) {
			f.Add(encoded(f, g.lines()[0]+"\r\n", name))
		}
	}
	f.Add([]byte("a\r\r\nb\x00"))
	f.Add([]byte("\xff\xfe\x00"))
	f.Fuzz(fuzzBytes)
}

func FuzzSplice(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\n"), uint8(0), 1, 3, "x\ny")
	f.Add(encoded(f, "日本語ソ表\r\n", "shift_jis"), uint8(shiftJIS), 3, 6, "能\r")
	f.Add([]byte("\x88\x62a"), uint8(big5), 2, 4, "b")
	f.Add([]byte("\xfe\xffa\x00"), uint8(utf16be), 0, 0, "\uFEFF")
	f.Fuzz(func(t *testing.T, data []byte, id uint8, start, end int, fresh string) {
		e := Encoding{kind(id % uint8(kinds))}
		txt, err := DecodeAs(data, e)
		if err != nil {
			return
		}
		edits := []text.Edit{{Start: start, End: end, New: fresh}}
		got, err := txt.Splice(edits)
		if err != nil || strings.Contains(fresh, "\uFEFF") || strings.HasPrefix(string(got[txt.bom:]), e.bom()) && e.bom() != "" {
			return // a mark that is not text any more when it is read
		}
		checkSplice(t, txt, edits, got)
	})
}
