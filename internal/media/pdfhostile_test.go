package media

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"
)

// within fails the test if f takes longer than a call may. The bound is far
// above what is normal: it tells apart an end from no end.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	if d := time.Since(begin); d > 4*patience {
		t.Errorf("%s took %s", what, d)
	}
}

// row is a line of a table that is a stream.
func row(kind, a, b int) []byte { return []byte{byte(kind), byte(a >> 8), byte(a), byte(b)} }

// tableStream ends a file with a table of the given rows.
func tableStream(b []byte, entries string, rows ...[]byte) []byte {
	at := len(b)
	data := bytes.Join(rows, nil)
	b = fmt.Appendf(b, "99 0 obj\n<< /Type /XRef %s /Length %d >>\nstream\n", entries, len(data))
	return fmt.Appendf(append(b, data...), "\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", at)
}

// A trap is a hostile file, and what the error or the text must hold.
type trap struct {
	data []byte
	want string
}

// hostile are files that loop, nest or promise without end.
func hostile() map[string]trap {
	const head = "%PDF-1.5\n"
	damaged := "no page can be found"
	tree := func(kids string) []byte {
		m := &maker{}
		page := m.stream("", []byte(hello("found")))
		m.add(fmt.Sprintf("<< /Type /Pages /Count 1000000 /Kids [%s] /Resources << /Font << /F1 5 0 R >> >> >>", kids))
		m.add("<< /Type /Pages /Kids [2 0 R 3 0 R 4 0 R] >>")
		m.add(fmt.Sprintf("<< /Type /Page /Contents %d 0 R >>", page))
		m.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
		m.root = m.add("<< /Type /Catalog /Pages 2 0 R >>")
		return m.plain()
	}
	content := hostileContent
	plain := (&maker{}).pages(0, hello("found")).plain()
	return map[string]trap{
		"empty":             {nil, "it is empty"},
		"head only":         {[]byte("%PDF-1.4"), damaged},
		"not a PDF":         {[]byte("hello, world"), "does not begin as a PDF"},
		"tree in a ring":    {tree("3 0 R 4 0 R 2 0 R"), "found"},
		"tree of itself":    {tree("2 0 R"), "may be missing or out of order)\n--- page 1 of 1 ---\nfound\n"},
		"tree of nothing":   {tree("77 0 R null (x) 8"), "found"},
		"a page many times": {tree(strings.Repeat("4 0 R ", 50000)), "page 1 of 1"},
		"Prev in a ring": {bytes.Replace(plain, []byte("/Size"),
			fmt.Appendf(nil, "/Prev %d /Size", bytes.LastIndex(plain, []byte("xref\n0 "))), 1), "found"},
		"Length in itself": {tableStream([]byte(head+"2 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Length 1 0 R >>\nstream\n1 0 << >>\nendstream\nendobj\n"),
			"/Size 4 /W [1 2 1] /Root 1 0 R", row(0, 0, 0), row(2, 2, 0), row(1, len(head), 0)), damaged},
		"pack in itself": {tableStream([]byte(head+"2 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Length 8 >>\nstream\n2 0 << >>\nendstream\nendobj\n"),
			"/Size 4 /W [1 2 1] /Root 1 0 R", row(0, 0, 0), row(2, 1, 0), row(2, 2, 0)), damaged},
		"a table of a million million": {tableStream([]byte(head), "/Size 1000000000000 /Index [0 1000000000000] /W [0 0 0] /Root 1 0 R"), damaged},
		"a table far away":             {tableStream([]byte(head), "/Size 4 /Index [4000000000 1] /W [1 2 1] /Root 1 0 R", row(1, 9, 0)), damaged},
		"wide numbers":                 {tableStream([]byte(head), "/Size 4 /W [1000000000 1 1] /Root 1 0 R"), damaged},
		"references in a ring":         {bytes.Replace(plain, []byte("/Pages 2 0 R"), []byte("/Pages 6 0 R"), 1), "page 1 of 1"},
		"form of itself":               {hostileForms(1, "NEXT NEXT"), "found"},
		"forms in a ring":              {hostileForms(5, "NEXT NEXT NEXT"), "found"},
		"hex without end":              {content("<41"), "found"},
		"image without end":            {content("BI " + strings.Repeat("ID ", 100000)), "found"},
		"strange numbers":              {content("BT /F1 1e999 Tf 1e308 1e308 1e308 1e308 1e308 1e308 Tm (x) Tj +Inf NaN 0 0 - -- 9999999999999999999999 Tm (y) Tj"), "found"},
	}
}

// hostileForms is a page whose forms call each other in a ring.
func hostileForms(n int, calls string) []byte {
	m := &maker{}
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("/X%d %d 0 R", i, m.stream("/Subtype /Form", []byte(strings.ReplaceAll(calls, "NEXT", fmt.Sprintf("/X%d Do", (i+1)%n))))))
	}
	m.pages(0, hello("found")+" /X0 Do")
	return bytes.Replace(m.plain(), []byte("/Resources <<"), []byte("/Resources << /XObject << "+strings.Join(names, " ")+" >>"), 1)
}

// hostileContent is a page that shows a word and then goes on.
func hostileContent(s string) []byte {
	return (&maker{flate: true}).pages(0, hello("found")+" "+s).plain()
}

// heavy are hostile files of many megabytes, packed or not.
func heavy() map[string]trap {
	const head, damaged = "%PDF-1.5\n", "no page can be found"
	return map[string]trap{
		"junk":                {[]byte("%PDF-1.4\n" + strings.Repeat("\x93\xffobj junk 1 0 ", 10000)), damaged},
		"deep arrays":         {[]byte(head + "1 0 obj\n" + strings.Repeat("[", 1_000_000)), damaged},
		"deep dicts":          {[]byte(head + strings.Repeat("1 0 obj << /A ", 4_000)), damaged},
		"forms that multiply": {hostileForms(40, strings.Repeat("NEXT ", 40)), "found"},
		"string without end":  {hostileContent("(" + strings.Repeat("(", 1000000)), "found"},
		"deep content":        {hostileContent(strings.Repeat("[", 1000000) + strings.Repeat("<<", 1000000)), "found"},
		"names without end":   {hostileContent(strings.Repeat("/A#", 1000000)), "found"},
		"a bomb":              {hostileContent(strings.Repeat(" ", 80<<20)), "found"},
		"text without end":    {hostileContent(strings.Repeat("(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ", 80_000)), "found"},
	}
}

func TestPDFHostile(t *testing.T) {
	traps, slow := hostile(), heavy()
	maps.Copy(traps, slow)
	for what, c := range traps {
		t.Run(what, func(t *testing.T) {
			within(t, what, func() {
				d, err := OpenPDF(t.Context(), bytes.NewReader(c.data), int64(len(c.data)))
				var got string
				if err == nil {
					got, err = d.Text(t.Context(), 1, 0)
				}
				if err != nil {
					got = err.Error()
				}
				// A busy machine may not get through all of a heavy file.
				if !strings.Contains(got, c.want) && !(slow[what].data != nil && strings.Contains(got, "takes more than")) {
					t.Errorf("got %.300q, want %q in it", got, c.want)
				}
				if what == "text without end" && !strings.Contains(got, "(the rest of this page is left out") && !strings.Contains(got, "is not complete") {
					t.Errorf("nothing says that it is cut: %q", got[len(got)-200:])
				}
				if len(got) > maxText+1000 {
					t.Errorf("%d bytes of text", len(got))
				}
			})
		})
	}
}

// junk is a file of any length that begins as a PDF.
type junk struct {
	head string
	size int64
}

func (j junk) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), j.size-off))
	for i := range n {
		if at := off + int64(i); at < int64(len(j.head)) {
			p[i] = j.head[at]
		} else {
			p[i] = "obj \n17 0 R << /Type stream"[at%27]
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func TestPDFJunk(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	within(t, "100 MB of junk", func() {
		const size = 100 << 20
		if _, err := OpenPDF(t.Context(), junk{"%PDF-1.7\n", size}, size); err == nil {
			t.Error("junk was opened")
		}
	})
	within(t, "a terabyte of junk", func() {
		const size = 1 << 40
		_, err := OpenPDF(t.Context(), junk{"%PDF-1.7\n", size}, size)
		if err == nil || !strings.Contains(err.Error(), "takes more than") {
			t.Errorf("a terabyte: %v", err)
		}
	})
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 200<<20 {
		t.Errorf("the heap has grown by %d MB", grown>>20)
	}
}

func TestPDFManyPages(t *testing.T) {
	var contents []string
	for i := range 5000 {
		contents = append(contents, hello(fmt.Sprintf("This is the text of page %d", i+1)))
	}
	m := (&maker{flate: true}).pages(0, contents...)
	for what, b := range map[string][]byte{"plain": m.plain(), "packed": m.packed()} {
		t.Run(what, func(t *testing.T) {
			within(t, what, func() {
				d, err := OpenPDF(t.Context(), bytes.NewReader(b), int64(len(b)))
				if err != nil {
					t.Fatal(err)
				}
				if d.Pages != 5000 {
					t.Errorf("%d pages", d.Pages)
				}
				got, err := d.Text(t.Context(), 4998, 4999)
				if want := "--- page 4998 of 5000 ---\nThis is the text of page 4998\n--- page 4999 of 5000 ---\nThis is the text of page 4999\n"; err != nil || got != want {
					t.Errorf("text: %q, %v", got, err)
				}
			})
		})
	}
}

func TestPDFMuchText(t *testing.T) {
	line := strings.Repeat("0 -14 Td (word after word after word) Tj ", 24_000)
	page := "BT /F1 12 Tf 72 700 Td (x) Tj " + line + "ET"
	b := (&maker{flate: true}).pages(0, page, page, page, page, page, page, page, page, page, page, page, page, page, page).plain()
	d, err := OpenPDF(t.Context(), bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Text(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > maxText+1000 {
		t.Errorf("%d bytes of text", len(got))
	}
	last := got[strings.LastIndex(strings.TrimSpace(got), "\n")+1:]
	if !strings.HasPrefix(last, "--- stopped after page ") {
		t.Errorf("the text ends with %q", last)
	}
}
