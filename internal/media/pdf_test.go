package media

import (
	"bytes"
	"compress/lzw"
	"context"
	"encoding/ascii85"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ledongthuc/pdf"
)

// readPDF opens a document and returns the text of all its pages.
func readPDF(t *testing.T, b []byte) (*Document, string) {
	t.Helper()
	d, err := OpenPDF(t.Context(), bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Text(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

func TestPDFForms(t *testing.T) {
	contents := []string{hello("first page"), hello("second page")}
	want := "--- page 1 of 2 ---\nfirst page\n--- page 2 of 2 ---\nsecond page\n"
	plain := (&maker{}).pages(0, contents...).plain()
	forms := map[string][]byte{
		"plain":           plain,
		"streams packed":  (&maker{flate: true}).pages(0, contents...).plain(),
		"objects packed":  (&maker{}).pages(0, contents...).packed(),
		"all packed":      (&maker{flate: true}).pages(0, contents...).packed(),
		"version 2":       bytes.Replace(plain, []byte("%PDF-1.4"), []byte("%PDF-2.0"), 1),
		"junk before":     append([]byte("\r\n\r\n"), plain...),
		"junk after":      append(bytes.Clone(plain), bytes.Repeat([]byte("\x00"), 5000)...),
		"wrong table":     bytes.Replace(plain, []byte("xref\n0 "), []byte("xref\n7 "), 1),
		"no table":        plain[:bytes.LastIndex(plain, []byte("xref\n0 "))],
		"startxref wrong": bytes.Replace(plain, []byte("startxref\n"), []byte("startxref\n9"), 1),
		"wrong lengths":   bytes.ReplaceAll(plain, []byte("/Length "), []byte("/Length 9")),
		"packed, no table": func() []byte {
			b := (&maker{flate: true}).pages(0, contents...).packed()
			return b[:bytes.LastIndex(b, []byte("<< /Type /XRef"))]
		}(),
	}
	for what, b := range forms {
		t.Run(what, func(t *testing.T) {
			d, got := readPDF(t, b)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if d.Pages != 2 {
				t.Errorf("Pages = %d", d.Pages)
			}
		})
	}
}

func TestPDFUpdate(t *testing.T) {
	// A second version of the content is appended, with a table of its own.
	b := (&maker{}).pages(0, hello("old")).plain()
	prev := bytes.LastIndex(b, []byte("xref\n0 "))
	at := len(b)
	content := hello("new")
	b = fmt.Appendf(b, "4 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n", len(content), content)
	table := len(b)
	b = fmt.Appendf(b, "xref\n4 1\n%010d 00000 n \ntrailer\n<< /Size 9 /Root 6 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n", at, prev, table)
	_, got := readPDF(t, b)
	if want := "--- page 1 of 1 ---\nnew\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPDFCutOff(t *testing.T) {
	// The catalogue comes last. Without it the pages are still there.
	for what, b := range map[string][]byte{
		"plain":  (&maker{flate: true}).pages(0, hello("one"), hello("two")).plain(),
		"packed": (&maker{flate: true}).pages(0, hello("one"), hello("two")).packed(),
	} {
		if at := bytes.LastIndex(b, []byte("/Type /Catalog")); at >= 0 {
			b = b[:at]
		} else { // in a pack: a catalogue that leads nowhere
			b = bytes.Replace(b, []byte("/Root "), []byte("/Root 9"), 1)
		}
		_, got := readPDF(t, b)
		if !strings.Contains(got, "--- page 1 of 2 ---\n") || !strings.Contains(got, "one\n") || !strings.Contains(got, "two\n") {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestPDFLayout(t *testing.T) {
	for what, c := range map[string]struct{ content, want string }{
		"gaps are spaces": {
			"BT /F1 10 Tf 72 700 Td [(Ev)15(aluating)-333(the)-278(G)10(O)-300(language)] TJ ET",
			"Evaluating the GO language\n",
		},
		"words by position": {
			"BT /F1 10 Tf 72 700 Td (one) Tj 22 0 Td (two) Tj ET BT /F1 10 Tf 120 700 Td (three) Tj ET",
			"one two three\n",
		},
		"lines": {
			"BT /F1 10 Tf 12 TL 72 700 Td (a) Tj T* (b) Tj (c) ' 1 0 (d) \" 0 -30 Td (e) Tj ET",
			"a\nb\nc\nd\n\ne\n",
		},
		"spaces are not doubled": {
			"BT /F1 10 Tf 72 700 Td [(one )-500( two)] TJ ET",
			"one two\n",
		},
		"columns": {
			"BT /F1 10 Tf 72 700 Td (left) Tj 200 0 Td (right) Tj ET",
			"left\tright\n",
		},
		"an exponent stays in its line": {
			"BT /F1 10 Tf 72 700 Td (x) Tj /F1 7 Tf 4 Ts (2) Tj 0 Ts /F1 10 Tf (+) Tj ET",
			"x2+\n",
		},
		"spaced letters": {
			"BT /F1 10 Tf 8 Tc 72 700 Td (WIDE) Tj ET",
			"WIDE\n",
		},
		"bold by drawing twice": {
			"BT /F1 10 Tf 72 700 Td (Bold) Tj ET BT /F1 10 Tf 72.3 700 Td (Bold) Tj ET",
			"Bold\n",
		},
		"turned by a quarter": {
			"BT /F1 10 Tf 0 1 -1 0 100 100 Tm [(up)-400(wards)] TJ ET",
			"up wards\n",
		},
		"scaled by the page": {
			"q 0.1 0 0 0.1 0 0 cm BT /F1 100 Tf 720 7000 Td [(a)-400(b)] TJ ET Q BT /F1 10 Tf 72 650 Td (c) Tj ET",
			"a b\n\nc\n",
		},
		"an image within": {
			"BI /W 2 /H 2 /CS /G /BPC 8 ID (\x00<\xff EI\n" + hello("after"),
			"after\n",
		},
		"escapes": {
			`BT /F1 10 Tf 72 700 Td (a\(b\)c\\\101\` + "\n" + `(nested)) Tj <20 3d2> Tj ET`,
			"a(b)c\\A(nested) = \n",
		},
		"hex cut off":    {"BT /F1 10 Tf 72 700 Td (ok) Tj <41", "ok\n"},
		"string cut off": {"BT /F1 10 Tf 72 700 Td (ok) Tj (lost", "ok\n"},
		"nonsense":       {") ] >> } Tj 1 2 3 Tf Q Q ET T* TJ [ ( ) ] Tm BT /F1 10 Tf 9 9 Td (ok) Tj", "ok\n"},
		"nothing":        {"0 0 10 10 re f", "(no text on this page)\n"},
		"only an image":  {"BI ID x EI", "(no text on this page, only images: it may be a scan)\n"},
	} {
		t.Run(what, func(t *testing.T) {
			_, got := readPDF(t, (&maker{}).pages(0, c.content).plain())
			want := "--- page 1 of 1 ---\n" + strings.ReplaceAll(c.want, "= \n", "=\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPDFFonts(t *testing.T) {
	cmapText := `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
1 begincodespacerange <0000> <FFFF> endcodespacerange
2 beginbfchar <0003> <0020> <0010> <00660069> endbfchar
2 beginbfrange <0024> <003D> <0041> <0050> <0051> [<65E5> <D83DDE00>] endbfrange
endcmap end end`
	for what, c := range map[string]struct {
		font       func(m *maker) int
		show, want string
	}{
		"WinAnsi": {func(m *maker) int {
			return m.add("<< /Type /Font /Subtype /TrueType /BaseFont /Arial /Encoding /WinAnsiEncoding >>")
		}, `(\223caf\351\224 \200)`, "“café” €"},
		"MacRoman": {func(m *maker) int {
			return m.add("<< /Type /Font /Subtype /TrueType /BaseFont /Arial /Encoding /MacRomanEncoding >>")
		}, `(caf\216)`, "café"},
		"standard": {func(m *maker) int {
			return m.add("<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>")
		}, `(it's \256ne \261 \373 \267)`, "it’s fine – ß •"},
		"differences": {func(m *maker) int {
			return m.add("<< /Type /Font /Subtype /Type1 /BaseFont /X /Encoding << /Differences [1 /fi /Omega /uni20AC /u1F600 /f_l /A.small /nosuchname 65 /B] >> >>")
		}, `(\001\002\003\004\005\006\007A)`, "fiΩ€😀flAB"},
		"a program's own": {func(m *maker) int {
			f := m.stream("", []byte("%!PS\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 15 /bullet put\ndup 65 /alpha put\nreadonly def\ncurrentfile eexec \x00\x01 dup 66 /beta put"))
			d := m.add(fmt.Sprintf("<< /Type /FontDescriptor /FontFile %d 0 R >>", f))
			return m.add(fmt.Sprintf("<< /Type /Font /Subtype /Type1 /BaseFont /CMSY10 /FontDescriptor %d 0 R >>", d))
		}, `(\017AB)`, "•αB"},
		"composite": {func(m *maker) int {
			u := m.stream("", []byte(cmapText))
			k := m.add("<< /Type /Font /Subtype /CIDFontType2 /DW 500 /W [36 [700 700] 40 50 600] >>")
			return m.add(fmt.Sprintf("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>", k, u))
		}, `<0024 0025 0003 0010 0050 0051 7777>`, "AB fi日😀"},
		"composite in UTF-16": {func(m *maker) int {
			return m.add("<< /Type /Font /Subtype /Type0 /Encoding /UniJIS-UTF16-H /DescendantFonts [] >>")
		}, `<65e5672c>`, "日本"},
		"composite without names": {func(m *maker) int {
			return m.add("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [] >>")
		}, `<00240025>`, "(no text on this page)"},
		"own scale": {func(m *maker) int {
			return m.add("<< /Type /Font /Subtype /Type3 /FontMatrix [0.01 0 0 0.01 0 0] /FirstChar 65 /Widths [60 60] /Encoding << /Differences [65 /A /B] >> >>")
		}, `(ABAB)`, "ABAB"},
	} {
		t.Run(what, func(t *testing.T) {
			m := &maker{}
			m.pages(c.font(m), "BT /F1 10 Tf 72 700 Td "+c.show+" Tj ET")
			_, got := readPDF(t, m.plain())
			if diff := cmp.Diff("--- page 1 of 1 ---\n"+c.want+"\n", got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPDFFormXObject(t *testing.T) {
	m := &maker{}
	inner := m.stream("/Type /XObject /Subtype /Form /Matrix [1 0 0 1 0 -100]", []byte(hello("in the form")))
	m.pages(0, hello("before")+" /X0 Do "+"BT /F1 12 Tf 72 500 Td (after) Tj ET")
	b := m.plain()
	b = bytes.Replace(b, []byte("/Resources <<"), fmt.Appendf(nil, "/Resources << /XObject << /X0 %d 0 R >>", inner), 1)
	_, got := readPDF(t, b)
	if want := "--- page 1 of 1 ---\nbefore\n\nin the form\n\nafter\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPDFFilters(t *testing.T) {
	text := []byte(hello("filtered " + strings.Repeat("again and ", 60) + "out"))
	a85 := make([]byte, ascii85.MaxEncodedLen(len(text)))
	a85 = a85[:ascii85.Encode(a85, text)]
	var lz bytes.Buffer
	w := lzw.NewWriter(&lz, lzw.MSB, 8)
	w.Write(text)
	w.Close()
	var runs []byte
	for from := 0; from < len(text); from += 100 {
		part := text[from:min(from+100, len(text))]
		runs = append(append(runs, byte(len(part)-1)), part...)
	}
	runs = append(runs, 254, ' ', 128)
	rows := func(kind byte) []byte { // of ten bytes, all stored as they are
		var out []byte
		for from := 0; from < len(text); from += 10 {
			out = append(append(out, kind), text[from:min(from+10, len(text))]...)
		}
		return deflate(out)
	}
	for what, c := range map[string]struct {
		entries string
		data    []byte
	}{
		"85":           {"/Filter /ASCII85Decode", append(a85, "~>"...)},
		"hex":          {"/Filter /AHx", []byte(hex.EncodeToString(text) + ">")},
		"LZW":          {"/Filter /LZWDecode /DecodeParms << /EarlyChange 0 >>", lz.Bytes()},
		"runs":         {"/Filter [/RunLengthDecode]", runs},
		"two":          {"/Filter [/AHx /FlateDecode]", []byte(hex.EncodeToString(deflate(text)))},
		"no check sum": {"/Filter /FlateDecode", deflate(text)[:len(deflate(text))-4]},
		"no header":    {"/Filter /FlateDecode", deflate(text)[2:]},
		"PNG rows":     {"/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 10 >>", rows(0)},
	} {
		t.Run(what, func(t *testing.T) {
			m := &maker{}
			s := m.stream(c.entries, c.data)
			m.pages(0, "")
			b := bytes.Replace(m.plain(), []byte("/Contents "), fmt.Appendf(nil, "/Contents %d 0 R /Old ", s), 1)
			_, got := readPDF(t, b)
			if !strings.Contains(got, "filtered again and") || !strings.Contains(got, "and out\n") {
				t.Errorf("text: %q", got)
			}
		})
	}
}

func TestUnfilter(t *testing.T) {
	// Two rows of four bytes, two bytes a pixel, filtered by hand.
	for kind, b := range map[byte][]byte{
		1: {1, 1, 2, 9, 18, 1, 5, 6, 15, 24},
		2: {2, 1, 2, 10, 20, 2, 4, 4, 10, 10},
		3: {3, 1, 2, 10, 19, 3, 5, 5, 13, 17},
		4: {4, 1, 2, 9, 18, 4, 4, 4, 10, 10},
	} {
		got := unfilter(bytes.Clone(b), 4, 2)
		if want := []byte{1, 2, 10, 20, 5, 6, 20, 30}; !bytes.Equal(got, want) {
			t.Errorf("kind %d: got %v, want %v", kind, got, want)
		}
	}
}

func TestPDFRange(t *testing.T) {
	b := (&maker{}).pages(0, hello("p1"), hello("p2"), hello("p3")).plain()
	d, err := OpenPDF(t.Context(), bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{2, 2, "--- page 2 of 3 ---\np2\n"},
		{2, 99, "--- page 2 of 3 ---\np2\n--- page 3 of 3 ---\np3\n"},
		{-5, 1, "--- page 1 of 3 ---\np1\n"},
		{3, 0, "--- page 3 of 3 ---\np3\n"},
	} {
		if got, err := d.Text(t.Context(), c.from, c.to); err != nil || got != c.want {
			t.Errorf("Text(%d, %d) = %q, %v", c.from, c.to, got, err)
		}
	}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{4, 9, "page 4 is out of range: the document has 3 pages"},
		{3, 2, "pages 3 to 2 are no range: the first is after the last"},
	} {
		if got, err := d.Text(t.Context(), c.from, c.to); err == nil || err.Error() != c.want || got != "" {
			t.Errorf("Text(%d, %d) = %q, %v", c.from, c.to, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Text(ctx, 1, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("Text after cancel: %v", err)
	}
	if got, err := d.Text(t.Context(), 1, 1); err != nil || !strings.Contains(got, "p1") {
		t.Errorf("Text after a cancelled one: %q, %v", got, err)
	}
	if _, err := OpenPDF(ctx, bytes.NewReader(b), int64(len(b))); !errors.Is(err, context.Canceled) {
		t.Errorf("OpenPDF after cancel: %v", err)
	}
}

// failing fails to read beyond a point.
type failing struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("disk on fire")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestPDFReadError(t *testing.T) {
	b := (&maker{}).pages(0, hello("x")).plain()
	_, err := OpenPDF(t.Context(), failing{bytes.NewReader(b), 0}, int64(len(b)))
	if !errors.Is(err, errDisk) {
		t.Errorf("OpenPDF: %v", err)
	}
}

func TestPDFAgainstLibrary(t *testing.T) {
	// The library reads sound files well, but for spaces. What it reads we
	// must read too.
	lines := []string{"The quick brown fox", "jumps over \\(the\\) lazy dog", "0123456789 +-*/=", "a.b,c;d:e!f?"}
	for _, flate := range []bool{false, true} {
		m := (&maker{flate: flate}).pages(0, hello(lines[0]), hello(lines[1]), hello(lines[2]), hello(lines[3]))
		for _, b := range [][]byte{m.plain(), m.packed()} {
			r, err := pdf.NewReader(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			d, err := OpenPDF(t.Context(), bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			if d.Pages != r.NumPage() {
				t.Errorf("%d pages, the library has %d", d.Pages, r.NumPage())
			}
			for n := range d.Pages {
				theirs, err := r.Page(n + 1).GetPlainText(nil)
				if err != nil {
					t.Fatal(err)
				}
				ours, err := d.Text(t.Context(), n+1, n+1)
				if err != nil {
					t.Fatal(err)
				}
				_, ours, _ = strings.Cut(ours, "\n")
				if strings.TrimSpace(theirs) != strings.TrimSpace(ours) {
					t.Errorf("page %d: %q, the library has %q", n+1, ours, theirs)
				}
			}
		}
	}
}
