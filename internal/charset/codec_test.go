package charset

import (
	"bytes"
	"strings"
	"testing"
)

// Every code of two bytes comes back, but for those that are a second code of
// a character that has a better one. Their number is known.
func TestCodesComeBack(t *testing.T) {
	for name, want := range map[string]int{
		"gbk": 2, "gb18030": 1, "big5": 104, "shift_jis": 398, "euc-jp": 10, "euc-kr": 0,
	} {
		e := mustNamed(t, name)
		dec, enc := e.codec().NewDecoder(), e.codec().NewEncoder()
		other := 0
		for hi := 0x81; hi < 0xff; hi++ {
			for lo := 0x40; lo < 0xff; lo++ {
				code := []byte{byte(hi), byte(lo)}
				if charSize(code, e.id) != 2 {
					continue
				}
				s, err := dec.Bytes(code)
				if err != nil || strings.ContainsRune(string(s), '\uFFFD') {
					continue
				}
				if back, err := enc.Bytes(s); err != nil || !bytes.Equal(back, code) {
					other++
				}
			}
		}
		if other != want {
			t.Errorf("%s: %d codes do not come back; want %d", name, other, want)
		}
	}
}

// Where there are two codes for a character, the one that Windows writes.
func TestUsualCodes(t *testing.T) {
	for name, pairs := range map[string]map[string]string{
		"shift_jis": {"髙": "\xfb\xfc", "纊": "\xfa\x5c", "黑": "\xfc\x4b", "ⅰ": "\xfa\x40", "ⅹ": "\xfa\x49", "￤": "\xfa\x55",
			"＇": "\xfa\x56", "＂": "\xfa\x57", "㈱": "\x87\x8a", "Ⅰ": "\x87\x54", "≒": "\x81\xe0", "兊": "\xfa\x7e", "兤": "\xfa\x80"},
		"big5": {"包": "\xa5\x5d", "港": "\xb4\xe4", "晴": "\xb4\xb8", "偽": "\xb0\xb0", "十": "\xa4\x51", "═": "\xf9\xf9", "╭": "\xa2\x7e"},
		"gbk":  {"€": "\x80", "中": "\xd6\xd0"},
	} {
		for s, want := range pairs {
			if got := encoded(t, "a"+s+"b", name); string(got) != "a"+want+"b" {
				t.Errorf("%s: %s is %x, want %x", name, s, got, want)
			}
			txt, err := DecodeAs([]byte(want), mustNamed(t, name))
			if err != nil || txt.String() != s {
				t.Errorf("%s: %x is %v, %v", name, want, txt, err)
			}
		}
	}
}
