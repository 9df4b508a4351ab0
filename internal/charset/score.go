package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The costs below are bits: minus the logarithm of how likely a character is.

// A token is a character of a reading.
type token struct {
	r     rune
	size  int // bytes
	cost  float64
	class class // only where alphabets are looked at
}

// ascii reports whether the token is an ASCII letter.
func (t *token) ascii() bool { return t.r < utf8.RuneSelf && alpha(byte(t.r)) }

func alpha(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// asciiCost is the cost of an ASCII character in text or source code.
func asciiCost(b byte) float64 {
	switch {
	case b >= 'a' && b <= 'z':
		return 5.2
	case b == ' ':
		return 3
	case b == '\n', b == '\t', b == '\r':
		return 5
	case b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		return 7.2
	case b < ' ', b == 0x7f:
		return 13
	}
	return 7.5
}

// legacy returns how the data reads in the encodings that hold ASCII.
func (d *detector) legacy() (rs []reading) {
	p, cut := d.sample()
	for _, r := range d.wide(len(p)) {
		if r.likely() {
			rs = append(rs, r)
		}
	}
	rs = append(rs, western(p, d.data))
	for _, m := range [...]struct {
		encs []kind
		cost func(raw []byte, r rune) float64
	}{
		{[]kind{gbk, gb18030}, gbkCost},
		{[]kind{shiftJIS}, sjisCost},
		{[]kind{eucKR}, koreanCost},
		{[]kind{big5}, big5Cost},
		{[]kind{eucJP}, eucjpCost},
	} {
		k := m.encs[len(m.encs)-1]
		toks, text, ok := tokens(p, k, cut)
		if !ok {
			continue
		}
		r := reading{encs: m.encs, text: text, multi: true}
		at := 0
		for i := range toks {
			t := &toks[i]
			t.cost = asciiCost(byte(t.r))
			if t.r >= utf8.RuneSelf {
				t.cost = m.cost(p[at:at+t.size], t.r)
			}
			at += t.size
		}
		r.add(toks, cjkContext)
		rs = append(rs, r)
	}
	rs = append(rs, alphabets(p)...)
	return append(rs, brokenUTF8(p))
}

// add counts the tokens, with what standing next to each other costs.
func (r *reading) add(toks []token, context func(prev, t, next *token) float64) {
	edge := &token{}
	for i := range toks {
		t, prev, next := &toks[i], edge, edge
		if i > 0 {
			prev = &toks[i-1]
		}
		if i+1 < len(toks) {
			next = &toks[i+1]
		}
		r.size += t.size
		r.saved += 8*float64(t.size) - t.cost
		if t.r < utf8.RuneSelf {
			continue
		}
		c := context(prev, t, next)
		r.saved -= c
		r.high += t.cost + c
		r.highBytes += t.size
	}
}

// tokens decodes p. It reports whether p is valid.
func tokens(p []byte, k kind, cut bool) (toks []token, text string, ok bool) {
	var b strings.Builder
	err := eachChunk(p, Encoding{k}, false, !cut, func(decoded []byte, _ int) { b.Write(decoded) })
	if err != nil {
		return nil, "", false
	}
	text = b.String()
	toks = make([]token, 0, len(text))
	at := 0
	for _, r := range text {
		if at >= len(p) {
			return nil, "", false // a code of two characters
		}
		size := charSize(p[at:], k)
		toks = append(toks, token{r: r, size: size})
		at += size
	}
	return toks, text, at <= len(p)
}

// charSize is how many bytes the valid character p begins with has.
func charSize(p []byte, k kind) int {
	b, next := p[0], byte(0)
	if len(p) > 1 {
		next = p[1]
	}
	switch k {
	case utf32le, utf32be:
		return 4
	case utf16le:
		return pairSize(next)
	case utf16be:
		return pairSize(b)
	}
	switch {
	case b <= utf8.RuneSelf || b == 0xff:
		return 1
	case k == gb18030 && next < 0x40:
		return 4
	case k == shiftJIS && b >= 0xa0 && b < 0xe0:
		return 1
	case k == eucJP && b == 0x8f:
		return 3
	}
	return 2
}

// pairSize is the size of a character of UTF-16 by its high byte.
func pairSize(high byte) int {
	if high&0xfc == 0xd8 {
		return 4
	}
	return 2
}

// cjkPunct is the cost of the punctuation of Chinese and Japanese.
func cjkPunct(r rune) (float64, bool) {
	switch {
	case strings.ContainsRune("、。，：；！？（）", r):
		return 5.5, true
	case strings.ContainsRune("“”‘’「」『』【】《》〈〉…—·・～\u3000", r):
		return 7.5, true
	case r >= 0xff01 && r <= 0xff5e: // ASCII in full width
		return 10.5, true
	}
	return 0, false
}

func kana(r rune) bool { return r >= 0x3040 && r <= 0x30ff }

func halfKana(r rune) bool { return r >= 0xff61 && r <= 0xff9f }

func gbkCost(raw []byte, r rune) float64 {
	c, punct := cjkPunct(r)
	lead, plane := raw[0], len(raw) == 2 && raw[1] >= 0xa1
	switch {
	case punct:
		return c
	case among(hansTop, r):
		return 7.9
	case among(hansCommon, r):
		return 10.2
	case plane && lead >= 0xb0 && lead <= 0xd7:
		return 13.7
	case plane && lead >= 0xd8 && lead <= 0xf7:
		return 18
	case plane && lead >= 0xa1 && lead <= 0xa9:
		return 15
	}
	return 22
}

func big5Cost(raw []byte, r rune) float64 {
	c, punct := cjkPunct(r)
	lead := raw[0]
	switch {
	case punct:
		return c
	case among(hantTop, r):
		return 7.9
	case among(hantCommon, r):
		return 10.2
	case lead >= 0xa4 && lead <= 0xc6:
		return 13.7
	case lead >= 0xc9 && lead <= 0xf9:
		return 18.5
	case lead >= 0xa1 && lead <= 0xa3:
		return 15
	}
	return 23
}

func koreanCost(raw []byte, r rune) float64 {
	lead, plane := raw[0], raw[len(raw)-1] >= 0xa1
	switch {
	case among(hangulTop, r):
		return 6.8
	case among(hangulCommon, r):
		return 9.5
	case plane && lead >= 0xb0 && lead <= 0xc8:
		return 14
	case strings.ContainsRune("‘’“”·…「」", r):
		return 9
	case strings.ContainsRune("ㅋㅎㅠㅜ", r):
		return 10
	case plane && lead >= 0xa1 && lead <= 0xac:
		return 15
	case plane && lead >= 0xca:
		return 19
	}
	return 20
}

// japaneseCost is the cost of what all encodings of Japanese have alike.
func japaneseCost(r rune) (float64, bool) {
	if c, ok := cjkPunct(r); ok {
		return c, true
	}
	switch {
	case r >= 0x3041 && r <= 0x3096:
		if strings.ContainsRune("いうかがきくけこさしすせそたっつてでとなにのはまもよらりるれをん", r) {
			return 5.2, true
		}
		return 8.5, true
	case r == 'ー':
		return 6, true
	case kana(r):
		return 7.3, true
	case among(kanjiCommon, r):
		return 10.3, true
	case strings.ContainsRune("ｱｲｳｶｷｸｼｽﾀﾁﾃﾄﾆﾉﾌﾏﾑﾒﾗﾘﾙﾚﾛﾝｯｰﾞ", r):
		return 5.3, true
	case halfKana(r):
		return 7.5, true
	}
	return 0, false
}

func sjisCost(raw []byte, r rune) float64 {
	if c, ok := japaneseCost(r); ok {
		return c
	}
	switch lead := raw[0]; {
	case lead >= 0x88 && lead <= 0x97, lead == 0x98 && raw[len(raw)-1] < 0x9f:
		return 13.7
	case lead >= 0x98 && lead <= 0xea:
		return 18.5
	case lead >= 0x81 && lead <= 0x87:
		return 14.5
	}
	return 22
}

func eucjpCost(raw []byte, r rune) float64 {
	if c, ok := japaneseCost(r); ok {
		if halfKana(r) {
			c += 6 // two bytes, and hardly ever seen
		}
		return c
	}
	switch lead := raw[0]; {
	case lead >= 0xb0 && lead <= 0xcf:
		return 13.7
	case lead >= 0xd0 && lead <= 0xf4:
		return 18.5
	case lead >= 0xa1 && lead <= 0xa8:
		return 14.5
	}
	return 23
}

// cjkContext is what a character costs more where it stands.
func cjkContext(prev, t, next *token) (c float64) {
	switch {
	case halfKana(t.r):
		if !halfKana(prev.r) && !halfKana(next.r) {
			c += 8
		}
		if prev.ascii() {
			c += 3
		}
		if next.ascii() {
			c += 3
		}
		return c + voicing(prev.r, t.r)
	case prev.r < utf8.RuneSelf && next.r < utf8.RuneSelf && scriptOf(t.r) == hanScript: // a word by itself
		c = 6
	}
	if prev.ascii() && next.ascii() {
		c += 8
	}
	return c
}

// voicing is the cost of half-width marks and small letters, which only
// follow certain others.
func voicing(prev, r rune) float64 {
	ha := prev >= 'ﾊ' && prev <= 'ﾎ'
	switch {
	case r == 'ﾞ' && (ha || prev >= 'ｶ' && prev <= 'ﾄ' || prev == 'ｳ'), r == 'ﾟ' && ha:
		return -2
	case r == 'ﾞ', r == 'ﾟ':
		return 9
	case r >= 'ｧ' && r <= 'ｰ' && !halfKana(prev):
		return 5
	}
	return 0
}

// brokenUTF8 is the reading as UTF-8 with some bytes that are not.
func brokenUTF8(p []byte) reading {
	r := reading{encs: []kind{utf8Kind}, broken: true, text: string(p)}
	for len(p) > 0 {
		c, size := utf8.DecodeRune(p)
		cost := asciiCost(byte(c))
		switch {
		case c == utf8.RuneError && size == 1:
			cost = 18
		case size > 1:
			cost = 4.5 * float64(size)
		}
		r.size += size
		r.saved += 8*float64(size) - cost
		p = p[size:]
	}
	return r
}

// wide returns how the data, or the first so many bytes of it, reads in UTF-32
// and UTF-16.
func (d *detector) wide(size int) (rs []reading) {
	p := d.data[:min(len(d.data), size)]
	cut := len(p) < len(d.data) || !d.whole
	for _, k := range [...]kind{utf32le, utf32be, utf16le, utf16be} {
		toks, text, ok := tokens(p, k, cut)
		if !ok || strings.IndexByte(text, 0) >= 0 {
			continue
		}
		r := reading{encs: []kind{k}, text: text, wide: true}
		for i := range toks {
			toks[i].cost = wideCost(toks[i].r)
		}
		r.add(toks, wideContext)
		if k == utf32le || k == utf32be { // half of each is nothing but zeros, as in any table of numbers
			r.size /= 2
			r.saved -= 16 * float64(len(toks))
		}
		rs = append(rs, r)
	}
	return rs
}

// wideCost is the cost of a character in text of any language.
func wideCost(r rune) float64 {
	switch {
	case r < ' ' && r != '\n' && r != '\r' && r != '\t':
		return 22
	case r < utf8.RuneSelf:
		return asciiCost(byte(r))
	case r >= 0x2000 && r <= 0xffff:
		return wideCJK(r)
	case knownAlphabet(r):
		return 9
	case r > 0xffff && unicode.IsPrint(r):
		return 20
	case unicode.IsPrint(r), r == 0xa0:
		return 16
	}
	return 26
}

// knownAlphabet reports whether r is a letter of Latin-1, Greek, Cyrillic,
// Hebrew, Arabic or Thai.
func knownAlphabet(r rune) bool {
	for _, of := range [...][2]rune{{0xc0, 0xff}, {0x370, 0x3ff}, {0x400, 0x45f}, {0x5d0, 0x5ea}, {0x620, 0x652}, {0xe01, 0xe5b}} {
		if r >= of[0] && r <= of[1] {
			return true
		}
	}
	return false
}

// wideCJK is the cost of the characters from the general punctuation on.
func wideCJK(r rune) float64 {
	if c, punct := cjkPunct(r); punct {
		return c + 1
	}
	if kana(r) || halfKana(r) {
		return 9
	}
	for _, table := range [...]string{hangulTop, hansTop, hantTop} {
		if among(table, r) {
			return 9
		}
	}
	for _, table := range [...]string{hangulCommon, hansCommon, hantCommon, kanjiCommon} {
		if among(table, r) {
			return 11.5
		}
	}
	switch {
	case r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return 15
	case unicode.IsPrint(r), r == 0x200b, r == 0xfeff:
		return 16
	}
	return 26
}

// wideContext is the cost of two scripts side by side. A letter of a script
// that is not known here is likely after another one of it, but not the same.
func wideContext(prev, t, _ *token) float64 {
	a, b := scriptOf(prev.r), scriptOf(t.r)
	switch {
	case t.cost >= 15 && t.r < 0x3000 && t.r>>7 == prev.r>>7 && t.r != prev.r && (unicode.IsLetter(t.r) || unicode.IsMark(t.r)):
		return -7
	case a == b || a == 0 || b == 0:
		return 0
	case a == latinScript || b == latinScript:
		return 2
	}
	return 5
}

const (
	latinScript = iota + 1
	otherAlphabet
	hanScript
	hangulScript
)

func scriptOf(r rune) int {
	switch {
	case r < utf8.RuneSelf && alpha(byte(r)), r >= 0xc0 && r < 0x250:
		return latinScript
	case r >= 0x370 && r < 0xf00:
		return otherAlphabet
	case kana(r), r >= 0x3400 && r <= 0x9fff:
		return hanScript
	case r >= 0xac00 && r <= 0xd7a3:
		return hangulScript
	}
	return 0
}
