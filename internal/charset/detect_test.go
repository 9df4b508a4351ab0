package charset

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A tally counts answers about texts in one encoding.
type tally struct{ right, wrong, unknown int }

func (c *tally) total() int { return c.right + c.wrong + c.unknown }

// Every text of the corpus in every encoding it can be written in: text is
// never called binary, a wrong answer is rare, and whatever the answer the
// bytes come back.
func TestCorpus(t *testing.T) {
	rare := " iso-8859-2 windows-1250 windows-1253 windows-1254 "
	for _, sh := range shapes() {
		cells := map[string]*tally{}
		var order []string
		for _, g := range tongues() {
			for name := range strings.FieldsSeq(g.encodings) {
				if cells[name] == nil {
					cells[name] = &tally{}
					order = append(order, name)
				}
				for _, s := range sh.of(g) {
					judge(t, cells[name], s, name)
				}
			}
		}
		var b strings.Builder
		for _, name := range order {
			c := cells[name]
			fmt.Fprintf(&b, "\n  %-14s %3d right %3d wrong %3d unknown", name, c.right, c.wrong, c.unknown)
			least := 95
			if sh.name == "comment of a few characters" && strings.Contains(rare, " "+name+" ") {
				least = 25 // few letters outside of ASCII, and most in other encodings too
			}
			if c.right*100 < least*c.total() || c.wrong*100 > c.total() {
				t.Errorf("%s, %s: %+v", sh.name, name, *c)
			}
		}
		t.Logf("%s:%s", sh.name, b.String())
	}
}

func judge(t *testing.T, c *tally, s, name string) {
	t.Helper()
	data := encoded(t, s, name)
	txt, err := Decode(data)
	switch {
	case errors.Is(err, ErrBinary):
		t.Errorf("%s: text is called binary: %.80q", name, s)
		return
	case err != nil:
		c.unknown++
		return
	case txt.Raw() == s:
		c.right++
	default:
		c.wrong++
		t.Logf("%s: %.80q is read as %s: %.80q", name, s, txt.Encoding(), txt.Raw())
	}
	if e, err := Detect(data, true); err != nil || e != txt.Encoding() {
		t.Errorf("%s: %.80q: Detect says %v, %v, and Decode %v", name, s, e, err, txt.Encoding())
	}
	body := data
	if len(txt.Mark()) > 0 {
		body = data[len(txt.Encoding().bom()):]
	}
	if back, err := txt.Encode(txt.Raw()); err != nil || string(back) != string(body) {
		t.Errorf("%s as %s: %.80q does not come back: %v", name, txt.Encoding(), s, err)
	}
}

// The beginning of a file may end inside a character.
func TestBeginning(t *testing.T) {
	for _, g := range tongues() {
		for name := range strings.FieldsSeq(g.encodings) {
			e, _ := Named(name)
			if strings.HasPrefix(name, "iso-8859-2") || name == "windows-1254" {
				continue
			}
			s := strings.Join(g.lines(), "\n")
			data := encoded(t, s, name)
			want, err := Detect(data, true)
			if err != nil {
				t.Errorf("%s, %s: %v", g.name, name, err)
				continue
			}
			for cut := len(data) - 7; cut < len(data); cut++ {
				got, err := Detect(data[:cut], false)
				if err != nil || got != want && !(e.id == win1252 && got.id == latin1) {
					t.Errorf("%s, %s, without the last %d of %d bytes: %v, %v; want %v", g.name, name, len(data)-cut, len(data), got, err, want)
				}
			}
		}
	}
}

func TestDetectNames(t *testing.T) {
	enc := func(s, name string) string { return string(encoded(t, s, name)) }
	tests := []struct{ name, data, want string }{
		{"empty", "", "utf-8"},
		{"ascii", "package main\n", "utf-8"},
		{"utf-8", "naïve café\n", "utf-8"},
		{"utf-8 bom", "\uFEFFx", "utf-8"},
		{"only a bom", "\uFEFF", "utf-8"},
		{"utf-16le bom", "\xff\xfeh\x00i\x00\n\x00", "utf-16le"},
		{"utf-16be bom", "\xfe\xff\x00h\x00i\x00\n", "utf-16be"},
		{"utf-32le bom", "\xff\xfe\x00\x00h\x00\x00\x00", "utf-32le"},
		{"utf-32be bom", "\x00\x00\xfe\xff\x00\x00\x00h", "utf-32be"},
		{"utf-16le", enc("hi there\n", "utf-16le"), "utf-16le"},
		{"utf-16be", enc("hi there\n", "utf-16be"), "utf-16be"},
		{"utf-16le, chinese only", enc("这个函数返回文件中的行数", "utf-16le"), "utf-16le"},
		{"utf-16be, chinese only", enc("这个函数返回文件中的行数", "utf-16be"), "utf-16be"},
		{"utf-16le, korean", enc("이 함수는 파일의 줄", "utf-16le"), "utf-16le"},
		{"utf-16be, code and chinese", enc("x := 1 // 初始化\n", "utf-16be"), "utf-16be"},
		{"café", "caf\xe9", "iso-8859-1"},
		{"café and more", "// caf\xe9\n", "iso-8859-1"},
		{"copyright", "// Copyright \xa9 2020 Somebody\n", "iso-8859-1"},
		{"degrees", "temp = \"25 \xb0C\"\n", "iso-8859-1"},
		{"curly quote", "it\x92s here\n", "windows-1252"},
		{"curly quotes", "say \x93hello\x94 to them\n", "windows-1252"},
		{"euro", "price: 10 \x80\n", "windows-1252"},
		{"gbk", enc("// 你好\n", "gbk"), "gbk"},
		{"gbk word", enc("中文", "gbk"), "gbk"},
		{"gb18030 by four bytes", enc("这个函数返回𠮷字符串的长度", "gb18030"), "gb18030"},
		{"gb18030 bom", "\x84\x31\x95\x33" + enc("你好", "gb18030"), "gb18030"},
		{"big5", enc("// 設定檔\n", "big5"), "big5"},
		{"shift_jis", enc("// 初期化する\n", "shift_jis"), "shift_jis"},
		{"shift_jis, katakana", enc("/* テスト */", "shift_jis"), "shift_jis"},
		{"shift_jis, half-width", enc("// ﾃﾞｰﾀﾍﾞｰｽ\n", "shift_jis"), "shift_jis"},
		{"euc-jp", enc("// 初期化する\n", "euc-jp"), "euc-jp"},
		{"euc-kr", enc("// 설정 파일\n", "euc-kr"), "euc-kr"},
		{"windows-1251", enc("// Привет, мир\n", "windows-1251"), "windows-1251"},
		{"koi8-r", enc("// Привет, мир\n", "koi8-r"), "koi8-r"},
		{"iso-2022-jp", enc("これはテストです\n", "iso-2022-jp"), "iso-2022-jp"},
		{"an escape that is none", "echo \x1b$B", "utf-8"},
		{"hz is ascii", "~{VPND~}\n", "utf-8"},
	}
	for _, tt := range tests {
		e, err := Detect([]byte(tt.data), true)
		if err != nil || e.String() != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.name, e, err, tt.want)
		}
	}
}

func TestNamed(t *testing.T) {
	for id := range kinds {
		e := Encoding{id}
		if got, ok := Named(strings.ToUpper(e.String())); !ok || got != e || e.String() == "" {
			t.Errorf("Named(%q) is %v, %v", e.String(), got, ok)
		}
		if e.codec() == nil {
			t.Errorf("%s has no codec", e)
		}
	}
	for name, want := range map[string]string{
		"UTF8": "utf-8", "sjis": "shift_jis", "CP932": "shift_jis", "latin1": "iso-8859-1", "gb2312": "gbk",
		"cp1252": "windows-1252", "KS_C_5601-1987": "euc-kr", "US-ASCII": "utf-8", "ISO_8859-1": "iso-8859-1",
	} {
		if got, ok := Named(name); !ok || got.String() != want {
			t.Errorf("Named(%q) is %v, %v", name, got, ok)
		}
	}
	if e, ok := Named("klingon"); ok {
		t.Errorf("there is %v", e)
	}
}

// The tables are searched by halves.
func TestTablesAreSorted(t *testing.T) {
	for _, table := range []string{hansTop, hansCommon, hantTop, hantCommon, kanjiCommon, hangulTop, hangulCommon} {
		last := rune(0)
		for _, r := range table {
			if r <= last || len(string(r)) != 3 || !among(table, r) {
				t.Errorf("%c after %c", r, last)
			}
			last = r
		}
		if among(table, 'a') || among(table, '😀') || among(table, last+1) {
			t.Errorf("the table with %c holds too much", last)
		}
	}
}
