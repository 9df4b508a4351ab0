package charset

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// An alphabet is how a language uses the upper half of an encoding of single
// bytes.
type alphabet struct {
	kind    kind
	prior   float64 // bits for how seldom it is met
	latin   bool    // ASCII letters stand in the same words
	pair    float64 // bits for two letters of the upper half side by side
	letters string  // small letters, the most frequent first
}

// westernAlphabets are the languages of windows-1252.
func westernAlphabets() []alphabet {
	const pair = 3
	return []alphabet{
		{win1252, 1, true, pair, "éèàêçôîûùâœëïüæ"},   // French
		{win1252, 1, true, pair, "üäöß"},              // German
		{win1252, 1, true, pair, "óíáéñúü"},           // Spanish
		{win1252, 1, true, pair, "ãçáéíóõêâúàôü"},     // Portuguese
		{win1252, 2, true, pair, "àèòùìé"},            // Italian
		{win1252, 2, true, pair, "åäöøæé"},            // the Nordic languages
		{win1252, 4, true, pair, "íáðþæéúýóö"},        // Icelandic
		{win1252, 3, true, pair, "éëïöèüíáóúàâêîôûç"}, // Dutch, Catalan and others
	}
}

// otherAlphabets are the languages of the other encodings.
func otherAlphabets() []alphabet {
	const (
		russian   = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"
		ukrainian = "оаинвіертслкумдпязьгбчхжйшцюєїщфґ"
		polish    = "ąęółśżćńź"
		czech     = "íáéěřčšžýůúťňďó"
		slovak    = "áíéčýšžúľňťôäďóĺŕ"
		hungarian = "áéőöíóüúű"
	)
	return []alphabet{
		{win1251, 1, false, 0, russian}, {win1251, 3, false, 0, ukrainian},
		{koi8r, 2, false, 0, russian}, {koi8u, 4, false, 0, ukrainian},
		{ibm866, 4, false, 0, russian},
		{win1250, 5, true, 1, polish}, {win1250, 5, true, 1, czech}, {win1250, 6, true, 1, hungarian}, {win1250, 6, true, 1, slovak},
		{win1250, 6, true, 1, "ăîâşţ"}, {win1250, 6, true, 1, "čćšžđ"},
		{latin2, 6, true, 1, polish}, {latin2, 6, true, 1, czech}, {latin2, 6, true, 1, hungarian}, {latin2, 7, true, 1, slovak},
		{win1253, 2, false, 0, "αοιετσνηρπκυμλςωάίόέγδήύχθφβώξζψϊ"},
		{win1254, 5, true, 3, "ıüşçğöâî"},
		{win1255, 5, false, 0, "יוהלאתרמשבנםדקעחפכטגסןזצךץף"},
		{win1256, 5, false, 0, "اليمنرتوبةعدسفهكقحجشصطخأذىضغإءثزئظآؤ"},
	}
}

// western is the best reading in windows-1252, which is called iso-8859-1 if
// no byte is different there.
func western(p, data []byte) reading {
	best := inAlphabets(p, westernAlphabets())
	best.encs = []kind{win1252}
	if !slices.ContainsFunc(data, func(b byte) bool { return b >= 0x80 && b < 0xa0 }) {
		best.encs = []kind{latin1, win1252}
	}
	return best
}

// alphabets returns the best reading in every other encoding.
func alphabets(p []byte) (rs []reading) {
	all := otherAlphabets()
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].kind == all[0].kind {
			n++
		}
		r := inAlphabets(p, all[:n])
		r.encs = []kind{all[0].kind}
		rs = append(rs, r)
		all = all[n:]
	}
	return rs
}

// class is what kind of letter a character is.
type class uint8

const (
	letter class = 1 << iota
	small
	capital
	vowel
	figure
)

func classOf(r rune) (c class) {
	if unicode.IsLetter(r) && r != 'º' && r != 'ª' {
		c |= letter
	}
	if unicode.IsLower(r) {
		c |= small
	}
	if unicode.IsUpper(r) {
		c |= capital
	}
	switch {
	case r < utf8.RuneSelf && strings.ContainsRune("aeiouyAEIOUY", r):
		c |= vowel
	case r >= '0' && r <= '9':
		c |= figure
	case c&letter != 0 && r >= 0xc0 && r < 0x250 && !strings.ContainsRune("ßçñðþčřšžňťďćśźńłđżğşţľĺŕ", unicode.ToLower(r)):
		c |= vowel
	}
	return c
}

// inAlphabets is the best reading of p in some alphabets of one encoding.
func inAlphabets(p []byte, of []alphabet) (best reading) {
	cm, ok := Encoding{of[0].kind}.codec().(*charmap.Charmap)
	if !ok {
		return best
	}
	var used [256]bool
	for _, b := range p {
		used[b] = true
	}
	var table [256]token
	for b := range table {
		if !used[b] {
			continue
		}
		r := cm.DecodeByte(byte(b))
		table[b] = token{r: r, size: 1, class: classOf(r)}
		if b < utf8.RuneSelf {
			table[b].cost = asciiCost(byte(b))
		}
	}
	var text strings.Builder
	for _, b := range p {
		text.WriteRune(table[b].r)
	}
	toks := make([]token, len(p))
	for i, a := range of {
		for b := utf8.RuneSelf; b < len(table); b++ {
			if used[b] {
				table[b].cost = a.cost(table[b].r)
			}
		}
		for j, b := range p {
			toks[j] = table[b]
		}
		r := reading{saved: -a.prior}
		r.add(toks, a.context)
		if i == 0 || r.saved > best.saved {
			best = r
		}
	}
	best.text = text.String()
	return best
}

// cost is the cost of a character outside of ASCII.
func (a alphabet) cost(r rune) float64 {
	if c, ok := symbolCost(r); ok {
		return c
	}
	if !unicode.IsLetter(r) && !unicode.IsMark(r) {
		return 13
	}
	low := unicode.ToLower(r)
	c := 0.0
	if low != r {
		c = 1.5
	}
	if i := strings.IndexRune(a.letters, low); i >= 0 {
		n := float64(utf8.RuneCountInString(a.letters[:i]))
		if a.latin {
			return c + 5 + 0.25*n
		}
		return c + 3.4 + 0.16*n
	}
	if a.latin {
		return c + 11
	}
	return c + 10
}

// symbolCost is the cost of what stands in every language; characters no text
// holds are out of question.
func symbolCost(r rune) (float64, bool) {
	switch {
	case r == utf8.RuneError, r >= 0x80 && r < 0xa0:
		return 60, true
	case strings.ContainsRune("’“”–—…«»©°", r):
		return 6, true
	case strings.ContainsRune("‘„§€№\u00a0®·•™£¿¡", r):
		return 7.5, true
	case strings.ContainsRune("×÷±²³µ½¼¾ºª‚‹›", r):
		return 8.5, true
	}
	return 0, false
}

// context is what a character costs more where it stands.
func (a alphabet) context(prev, t, next *token) (c float64) {
	alike := prev.r == t.r && t.r == next.r
	switch {
	case t.class&letter != 0:
		c = a.neighbours(prev, t, next) + caseCost(prev.class, t.class, next)
		if alike {
			c += 8
		}
	case prev.class&next.class&letter != 0 && !strings.ContainsRune("’·–—", t.r):
		c = 5
	case alike:
		c = 4
	}
	return c
}

// neighbours is what a letter costs between these two.
func (a alphabet) neighbours(prev, t, next *token) (c float64) {
	if (prev.class|next.class)&letter == 0 {
		c += a.letterCost(t.class)
	}
	if (prev.class|next.class)&figure != 0 {
		c += 4
	}
	if a.latin {
		if prev.r >= utf8.RuneSelf && prev.class&letter != 0 {
			c += a.pair
		}
		return c + graveCost(t.r, next.class) + clusterCost(prev.class, t, next.class)
	}
	for _, n := range [...]*token{prev, next} {
		if n.ascii() {
			c += 7
		}
	}
	return c
}

// caseCost is the cost of a capital inside of a word.
func caseCost(prev, t class, next *token) (c float64) {
	switch {
	case t&capital != 0 && prev&small != 0:
		c = 8
	case t&prev&capital != 0:
		c = -1.5
	}
	if t&small != 0 && next.class&capital != 0 && next.r < utf8.RuneSelf {
		c += 4
	}
	return c
}

// letterCost is the cost of a word of one letter. Most of them are vowels; in
// another script they stand among words of that script.
func (a alphabet) letterCost(c class) float64 {
	switch {
	case !a.latin:
		return 6
	case c&vowel != 0:
		return 1
	}
	return 3
}

// graveCost is for vowels with a grave accent: in the languages that have them
// they end a word, or a consonant follows.
func graveCost(r rune, next class) float64 {
	switch {
	case r == 'ì' && next&letter != 0:
		return 4
	case next&vowel != 0 && (r == 'è' || r == 'ò' || r == 'ù'):
		return 5
	}
	return 0
}

// clusterCost is for three vowels or three consonants in a row, where the
// middle one is none of ASCII and not made for that.
func clusterCost(prev class, t *token, next class) float64 {
	if prev&next&letter == 0 || prev&vowel != t.class&vowel || t.class&vowel != next&vowel || strings.ContainsRune("õãïëüÕÃÏËÜ", t.r) {
		return 0
	}
	return 3
}
