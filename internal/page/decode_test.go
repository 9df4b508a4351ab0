package page

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

func TestDecode(t *testing.T) {
	meta := func(s string) string { return "<!doctype html><meta " + s + ">" }
	for _, c := range []struct{ name, body, charset, want, encoding string }{
		{"nothing", "", "", "", "utf-8"},
		{"ascii", "abc", "", "abc", "utf-8"},
		{"utf-8 by itself", "é日", "", "é日", "utf-8"},
		{"windows-1252 by itself", "caf\xe9 \x80", "", "café €", "windows-1252"},
		{"utf-8 mark", "\xEF\xBB\xBFé", "", "é", "utf-8"},
		{"mark before header", "\xEF\xBB\xBFé", "windows-1251", "é", "utf-8"},
		{"utf-16le mark", "\xFF\xFEh\x00\xe9\x00", "utf-8", "hé", "utf-16le"},
		{"utf-16be mark", "\xFE\xFF\x00h\x00\xe9", "", "hé", "utf-16be"},
		{"utf-16 mark and a page", "\xFF\xFE<\x00p\x00>\x00", "", "<p>", "utf-16le"},
		{"utf-16 pair", "\xFF\xFE\x3d\xd8\x00\xde", "", "😀", "utf-16le"},
		{"utf-16 half a pair", "\xFF\xFE\x3d\xd8a\x00", "", "\uFFFDa", "utf-16le"},
		{"utf-16 cut", "\xFF\xFEa\x00b", "", "a\uFFFD", "utf-16le"},
		{"utf-16 by header", "h\x00\xe9\x00", "UTF-16", "hé", "utf-16le"},
		{"utf-16be by header", "\x00h\x00\xe9", "utf-16be", "hé", "utf-16be"},
		{"only a mark", "\xFF\xFE", "", "", "utf-16le"},
		{"header", "\xcf\xf0\xe8", "windows-1251", "При", "windows-1251"},
		{"header in quotes", "\xcf\xf0\xe8", " 'CP1251' ", "При", "windows-1251"},
		{"header before meta", meta("charset=koi8-r") + "\xe9", "iso-8859-1", meta("charset=koi8-r") + "é", "windows-1252"},
		{"unknown header, meta", meta("charset=koi8-r") + "\xf0", "x-nonsense", meta("charset=koi8-r") + "П", "koi8-r"},
		{"unknown header, nothing", "é", "none", "é", "utf-8"},
		{"utf8", "é\xff", "utf8", "é\uFFFD", "utf-8"},
		{"utf_8", "é\xff", "UTF_8", "é\uFFFD", "utf-8"},
		{"utf-8 broken", "a\xe6\x97b\xc3", "utf-8", "a\uFFFDb\uFFFD", "utf-8"},
		{"utf-8 broken by many", "a\xff\xfe\xfd.\xe6\x97\xe6", "utf-8", "a\uFFFD\uFFFD\uFFFD.\uFFFD\uFFFD", "utf-8"},
		{"meta", meta("charset=\"windows-1251\"") + "\xcf", "", meta("charset=\"windows-1251\"") + "П", "windows-1251"},
		{"meta in capitals", "<META CHARSET=KOI8-R>\xf0", "", "<META CHARSET=KOI8-R>П", "koi8-r"},
		{"meta http-equiv", "<meta content='text/html; charset=shift_jis' http-equiv=Content-Type>\x93\xfa\x96\x7b", "",
			"<meta content='text/html; charset=shift_jis' http-equiv=Content-Type>日本", "shift_jis"},
		{"meta content alone", "<meta content='text/html; charset=shift_jis'>\xe9", "", "<meta content='text/html; charset=shift_jis'>é", "windows-1252"},
		{"meta content in quotes", `<meta http-equiv=content-type content='charset x; charset = "koi8-r"'>` + "\xf0", "",
			`<meta http-equiv=content-type content='charset x; charset = "koi8-r"'>П`, "koi8-r"},
		{"meta in a comment", "<!-- <meta charset=koi8-r> -->\xe9", "", "<!-- <meta charset=koi8-r> -->é", "windows-1252"},
		{"meta in a script", "<script>'<meta charset=koi8-r>'</script>\xe9", "", "<script>'<meta charset=koi8-r>'</script>é", "windows-1252"},
		{"second meta", "<meta charset=huh><meta charset=koi8-r>\xf0", "", "<meta charset=huh><meta charset=koi8-r>П", "koi8-r"},
		{"meta that can not be", "<meta charset=utf-16>é", "", "<meta charset=utf-16>é", "utf-8"},
		{"meta user defined", "<meta charset=x-user-defined>\xe9", "", "<meta charset=x-user-defined>é", "windows-1252"},
		{"meta that is late", strings.Repeat(" ", prescan) + "<meta charset=koi8-r>\xf0", "", strings.Repeat(" ", prescan) + "<meta charset=koi8-r>П", "koi8-r"},
		{"meta that is late, utf-8", strings.Repeat(" ", prescan) + "<meta charset=koi8-r>é", "", strings.Repeat(" ", prescan) + "<meta charset=koi8-r>é", "utf-8"},
		{"meta that is too late", strings.Repeat(" ", prescanLate) + "<meta charset=koi8-r>\xe9", "", strings.Repeat(" ", prescanLate) + "<meta charset=koi8-r>é", "windows-1252"},
		{"refused by browsers", "abc\xe9", "iso-2022-cn", "abcé", "windows-1252"},
		{"label with more", "\xcf", "windows-1251; q=1", "П", "windows-1251"},
		{"xml", "<?xml version=\"1.0\" encoding=\"koi8-r\"?>\xf0", "", "<?xml version=\"1.0\" encoding=\"koi8-r\"?>П", "koi8-r"},
		{"xml in utf-16", "<\x00?\x00x\x00m\x00l\x00>\x00", "", "<?xml>", "utf-16le"},
		{"page in utf-16be", "\x00<\x00p\x00>\x00\xe9", "", "<p>é", "utf-16be"},
		{"user defined", "a\x80\xff", "x-user-defined", "a\uF780\uF7FF", "x-user-defined"},
		{"shift_jis", "\x93\xfa\x96\x7b\xb1", "Shift-JIS", "日本ｱ", "shift_jis"},
		{"shift_jis cut", "\x93\xfa\x96", "sjis", "日\uFFFD", "shift_jis"},
		{"euc-jp", "\xc6\xfc\xcb\xdc", "euc-jp", "日本", "euc-jp"},
		{"iso-2022-jp", "\x1b$BF|K\\\x1b(B.", "iso-2022-jp", "日本.", "iso-2022-jp"},
		{"gb18030", "\xd6\xd0\x81\x30\x84\x36", "gb18030", "中¥", "gb18030"},
		{"gb2312", "\xd6\xd0\xce\xc4", "gb2312", "中文", "gbk"},
		{"big5", "\xa4\xa4\xa4\xe5", "big5", "中文", "big5"},
		{"euc-kr", "\xc7\xd1\xb1\xdb", "ks_c_5601-1987", "한글", "euc-kr"},
		{"koi8-u", "\xf0\xa4", "koi8-u", "Пє", "koi8-u"},
		{"iso-8859-2", "\xb3\xf3", "latin2", "łó", "iso-8859-2"},
		{"iso-8859-7", "\xe1", "greek", "α", "iso-8859-7"},
		{"iso-8859-9", "\xfe", "iso-8859-9", "ş", "windows-1254"},
		{"iso-8859-15", "\xa4", "iso-8859-15", "€", "iso-8859-15"},
		{"windows-1250", "\xb3", "windows-1250", "ł", "windows-1250"},
		{"windows-1255", "\xe0", "windows-1255", "א", "windows-1255"},
		{"windows-1256", "\xc7", "windows-1256", "ا", "windows-1256"},
		{"windows-1257", "\xf0", "windows-1257", "š", "windows-1257"},
		{"windows-874", "\xa1", "tis-620", "ก", "windows-874"},
		{"ibm866", "\x8f", "cp866", "П", "ibm866"},
		{"macintosh", "\x8e", "macintosh", "é", "macintosh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, encoding := Decode([]byte(c.body), c.charset)
			if text != c.want || encoding != c.encoding {
				t.Errorf("Decode(%q, %q) = %q, %q; want %q, %q", c.body, c.charset, text, encoding, c.want, c.encoding)
			}
		})
	}
}

// A large page decodes as its parts do, wherever they are cut.
func TestDecodeLarge(t *testing.T) {
	for _, name := range []string{"gb18030", "shift_jis", "euc-kr", "utf-16le", "windows-1251", "utf-8"} {
		e, err := htmlindex.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		const piece = "ab ж cd\n" // in all of them
		one, err := e.NewEncoder().Bytes([]byte(piece))
		if err != nil {
			t.Fatal(err)
		}
		text, encoding := Decode(bytes.Repeat(one, 50_001), name)
		if text != strings.Repeat(piece, 50_001) || encoding != name {
			t.Errorf("%s: %d bytes as %s, want %d", name, len(text), encoding, 50_001*len(piece))
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("<meta charset=koi8-r>\xf0"), "")
	f.Add([]byte("\xFF\xFEa\x00\x3d\xd8"), "utf-8")
	f.Add([]byte("\x1b$BF|\x1b(B\x93\xfa"), "iso-2022-jp")
	f.Add([]byte("\x81\x30\x84\x36"), "gb18030")
	f.Add([]byte("\xEF\xBB\xBF\xEF\xBB\xBF"), "big5")
	f.Add([]byte("a\xff"), "replacement")
	f.Add([]byte("<?xml encoding='x'"), "hz-gb-2312")
	f.Fuzz(func(t *testing.T, body []byte, charset string) {
		before := bytes.Clone(body)
		text, encoding := Decode(body, charset)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if !utf8.ValidString(text) {
			t.Fatalf("%q as %s is not valid", text, encoding)
		}
		if len(text) > 3*len(body)+3 {
			t.Fatalf("%d bytes read as %d", len(body), len(text))
		}
		if again, same := Decode(body, encoding); charset == "" && (again != text || same != encoding) {
			t.Fatalf("decodes as %s to %q, and by that name as %s to %q", encoding, text, same, again)
		}
		if utf8.Valid(body) && encoding == "utf-8" && text != strings.TrimPrefix(string(body), "\uFEFF") {
			t.Fatalf("UTF-8 was changed to %q", text)
		}
	})
}
