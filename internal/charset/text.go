package charset

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// stride is how much decoded text lies between two marks at most.
const stride = 4096

// A Text is the text of a file that still knows the bytes it came from.
type Text struct {
	data  []byte // the file
	str   string // decoded, no BOM, endings normalised
	enc   Encoding
	bom   int    // bytes of the BOM
	same  bool   // str is data after the BOM
	marks []mark // sorted; nil if same

	lf, crlf, cr int // line endings of each kind
}

// A mark is a place in the text and the place in the bytes that it is.
type mark struct{ str, raw int }

// Decode tells the encoding of a whole file and decodes it. The errors are
// those of [Detect]. The caller must not change data afterwards.
func Decode(data []byte) (*Text, error) {
	d := newDetector(data, true)
	for {
		e, err := d.best()
		if err != nil {
			return nil, err
		}
		t, err := decode(data, e, true)
		if err == nil && !(e.unit() > 1 && zeroUnit(data[t.bom:min(len(data), headSize)], e.unit())) {
			return t, nil
		}
		d.reject(e)
	}
}

// DecodeAs decodes a file whose encoding is known. The error is [ErrInvalid],
// with the place, if the file is not valid in it. The caller must not change
// data afterwards.
func DecodeAs(data []byte, e Encoding) (*Text, error) {
	return decode(data, e, false)
}

// decode is DecodeAs; if exact, characters that would be written back in
// another way than they stand in the file are refused too.
func decode(data []byte, e Encoding, exact bool) (*Text, error) {
	t := &Text{data: data, enc: e}
	if b := e.bom(); b != "" && strings.HasPrefix(string(data[:min(len(data), 4)]), b) {
		t.bom = len(b)
	}
	if e.id == utf8Kind {
		if !exact && !utf8.Valid(data) { // if exact, it has been looked at
			return nil, invalid(e, validPrefix(data))
		}
		t.fromUTF8()
		return t, nil
	}
	var n normaliser
	err := eachChunk(t.data[t.bom:], t.enc, exact, true, func(decoded []byte, at int) {
		if !t.enc.stateful() {
			t.addMark(&n, t.bom+at)
		}
		if have := n.out.Len(); at > 0 && have <= stride { // the rest will be as much longer than its bytes
			n.out.Grow(int(1.02*float64(len(t.data))*float64(have)/float64(at)) - have)
		}
		n.add(decoded)
	})
	if err != nil {
		return nil, err
	}
	t.takeText(&n)
	return t, nil
}

func (t *Text) fromUTF8() {
	body := t.data[t.bom:]
	if bytes.IndexByte(body, '\r') < 0 {
		t.str, t.same, t.lf = string(body), true, bytes.Count(body, []byte{'\n'})
		return
	}
	var n normaliser
	n.out.Grow(len(body))
	for at := t.bom; at < len(t.data); {
		end := min(at+stride, len(t.data))
		t.addMark(&n, at)
		n.add(t.data[at:end])
		at = end
	}
	t.takeText(&n)
}

func invalid(e Encoding, at int) error {
	return fmt.Errorf("%w %s, at or after byte %d", ErrInvalid, e, at)
}

// validPrefix is how many bytes of p are valid UTF-8.
func validPrefix(p []byte) int {
	at := 0
	for at < len(p) {
		r, size := utf8.DecodeRune(p[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return at
}

// addMark notes that what n gets next begins at raw. A mark never lies between
// the two halves of a CRLF.
func (t *Text) addMark(n *normaliser, raw int) {
	m := mark{n.out.Len(), raw}
	if n.cr {
		m.str--
		m.raw -= t.enc.unit()
	}
	t.marks = append(t.marks, m)
}

func (t *Text) takeText(n *normaliser) {
	t.str = n.out.String()
	t.lf, t.crlf, t.cr = n.lf, n.crlf, n.loneCR
}

// String returns the text without a byte order mark, and with "\n" for every
// line ending.
func (t *Text) String() string { return t.str }

// Raw returns the text without a byte order mark, line endings as they are.
func (t *Text) Raw() string {
	body := t.data[t.bom:]
	switch {
	case t.crlf+t.cr == 0:
		return t.str
	case t.enc.id == utf8Kind:
		return string(body)
	}
	b, err := t.enc.codec().NewDecoder().Bytes(body)
	if err != nil { // it has been decoded before
		return t.str
	}
	return string(b)
}

// Encoding returns the encoding of the file.
func (t *Text) Encoding() Encoding { return t.enc }

// Ending returns the line ending most lines have: "\n", "\r\n" or "\r", the
// earlier of these if as many have it, and "\n" if there is none.
func (t *Text) Ending() string {
	switch {
	case t.lf >= t.crlf && t.lf >= t.cr:
		return "\n"
	case t.crlf >= t.cr:
		return "\r\n"
	}
	return "\r"
}

// Encode returns s in the encoding of the file, line endings as they are and
// without a byte order mark. The error is an [*Unencodable] for the first
// character the encoding does not have. To replace the whole of a file, with
// its byte order mark and line endings kept, use [Text.Splice].
func (t *Text) Encode(s string) ([]byte, error) { return t.enc.encode(s) }

// Normalise returns s with "\n" for every "\r\n" and every other "\r".
func Normalise(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	var n normaliser
	n.out.Grow(len(s))
	n.add([]byte(s))
	return n.out.String()
}

// A normaliser turns line endings into "\n" and counts them.
type normaliser struct {
	out              strings.Builder
	cr               bool // what was added last ended with "\r"
	lf, crlf, loneCR int
}

func (n *normaliser) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if n.cr && p[0] == '\n' {
		n.loneCR--
		n.crlf++
		p = p[1:]
	}
	n.cr = false
	n.lf += bytes.Count(p, []byte{'\n'})
	for {
		i := bytes.IndexByte(p, '\r')
		if i < 0 {
			n.out.Write(p)
			return
		}
		switch {
		case i+1 == len(p):
			n.loneCR++
			n.cr = true
		case p[i+1] == '\n':
			n.crlf++
			n.lf--
			n.out.Write(p[:i])
			n.out.WriteByte('\n')
			p = p[i+2:]
			continue
		default:
			n.loneCR++
		}
		n.out.Write(p[:i])
		n.out.WriteByte('\n')
		p = p[i+1:]
	}
}

// walk returns where in p, whose endings are as they are, the first n bytes of
// its normalised text end.
func walk(p []byte, n int) int {
	at := 0
	for n > 0 && at < len(p) {
		i := bytes.IndexByte(p[at:min(at+n, len(p))], '\r')
		if i < 0 {
			return min(at+n, len(p))
		}
		at += i + 1
		n -= i + 1
		if at < len(p) && p[at] == '\n' {
			at++
		}
	}
	return at
}

// A seeker finds places of the text in the bytes.
type seeker struct {
	t    *Text
	dec  *encoding.Decoder
	buf  []byte
	last mark // found last, so a good place to start from
}

func (s *seeker) raw(off int) (int, error) {
	t := s.t
	if t.same {
		return t.bom + off, nil
	}
	if len(t.marks) == 0 {
		return t.bom, nil
	}
	i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].str > off })
	m := t.marks[max(i-1, 0)]
	if s.last.str <= off && s.last.str > m.str {
		m = s.last
	}
	if t.enc.id == utf8Kind {
		s.last = mark{off, m.raw + walk(t.data[m.raw:], off-m.str)}
		return s.last.raw, nil
	}
	if s.dec == nil {
		s.dec = t.enc.codec().NewDecoder()
		s.buf = make([]byte, 2*(stride+utf8.UTFMax))
	}
	s.dec.Reset()
	nd, _, _ := s.dec.Transform(s.buf[:min(len(s.buf), 2*(off-m.str)+utf8.UTFMax)], t.data[m.raw:], true)
	want := walk(s.buf[:nd], off-m.str)
	s.dec.Reset()
	nd, ns, _ := s.dec.Transform(s.buf[:want], t.data[m.raw:], true)
	if nd != want {
		return 0, fmt.Errorf("%w %s: byte %d of the text is inside of a character", ErrInvalid, t.enc, off)
	}
	s.last = mark{off, m.raw + ns}
	return s.last.raw, nil
}

// ending returns the line ending that is the "\n" at off of the text.
func (s *seeker) ending(off int) (string, error) {
	from, err := s.raw(off)
	if err != nil {
		return "", err
	}
	unit := s.t.enc.unit()
	first := s.t.data[from : from+unit]
	if s.t.enc.ascii(first) == '\n' {
		return "\n", nil
	}
	if next := s.t.data[from+unit:]; len(next) >= unit && s.t.enc.ascii(next[:unit]) == '\n' {
		return "\r\n", nil
	}
	return "\r", nil
}

// A verifier tells whether decoded text is what the bytes say.
type verifier struct {
	enc   Encoding
	exact bool
	back  *encoding.Encoder
	buf   []byte
}

func (v *verifier) valid(decoded, raw []byte) bool {
	broken := bytes.Contains(decoded, []byte("\uFFFD"))
	if broken && !v.enc.universal() {
		return false
	}
	if !broken && !v.exact || v.enc.stateful() {
		return true
	}
	if v.back == nil {
		v.back, v.buf = v.enc.codec().NewEncoder(), make([]byte, 4*stride)
	}
	v.back.Reset()
	nd, ns, err := v.back.Transform(v.buf, decoded, true)
	return err == nil && ns == len(decoded) && bytes.Equal(v.buf[:nd], raw)
}
