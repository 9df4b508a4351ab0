package charset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

const (
	headSize   = 4096 // where NULs and control characters are looked for
	sampleSize = 8192 // how much text the encoding is told from at most

	// What a reading must save against random bytes, in bits: so many, and so
	// many a byte for some bytes.
	minSaved  = 8.0
	multiMore = 2.0 // more in encodings of several bytes a character
	perByte   = 0.5
	perBytes  = 40

	// What UTF-16 and UTF-32 must save, where ASCII alone saves most.
	wideSaved   = 16.0
	widePerByte = 1.2

	margin    = 3.0 // bits to save more than any reading of another text
	highLimit = 8.5 // bits a byte outside of ASCII may take on average
)

// Detect tells the encoding of a file, or of its beginning if not whole: then
// data may end inside a character. The error is [ErrBinary] for what is not
// text, and [ErrUnknown] for text whose encoding can not be told safely. The
// package comment says how it is done.
func Detect(data []byte, whole bool) (Encoding, error) {
	d := newDetector(data, whole)
	for {
		e, err := d.best()
		if err != nil {
			return Encoding{}, err
		}
		if d.check(e) == nil {
			return e, nil
		}
		d.reject(e)
	}
}

// A reading is what the bytes are in one encoding.
type reading struct {
	encs      []kind // the names for it, the preferred first
	size      int    // bytes read
	saved     float64
	high      float64 // bits of the characters outside of ASCII
	highBytes int     // bytes of these
	text      string  // what was read of the sample
	sure      bool    // there is no need to be likely
	broken    bool    // nothing can be decoded so
	wide      bool    // in UTF-16 or UTF-32
	multi     bool    // in several bytes a character
}

// likely reports whether the reading looks like text.
func (r *reading) likely() bool {
	switch {
	case r.sure:
		return true
	case r.wide:
		return r.saved >= max(wideSaved, widePerByte*float64(r.size))
	}
	need := minSaved + perByte*float64(min(r.size, perBytes))
	if r.multi {
		need += multiMore
	}
	return r.saved >= need && r.high <= highLimit*float64(r.highBytes)
}

// A detector holds the readings of a file that are possible.
type detector struct {
	data     []byte
	whole    bool
	readings []reading // the best first
	none     error     // the answer when none is left
}

func newDetector(data []byte, whole bool) *detector {
	d := &detector{data: data, whole: whole, none: ErrUnknown}
	head := data[:min(len(data), headSize)]
	nul := bytes.IndexByte(head, 0) >= 0
	valid := utf8.Valid(d.completeCharacters())
	switch mark := byteOrderMarks(data); {
	case len(mark) > 0:
		for _, k := range mark {
			if k == utf8Kind && !valid {
				continue
			}
			d.readings = append(d.readings, reading{encs: []kind{k}, sure: true})
		}
	case nul:
		d.none = ErrBinary
		d.readings = d.wide(sampleSize)
	case controls(head)*10 > len(head)*3:
		d.none = ErrBinary
		if !valid {
			d.readings = d.wide(sampleSize)
		}
	case valid:
		if japanese7(data) {
			d.readings = append(d.readings, reading{encs: []kind{iso2022jp}, sure: true})
		}
		d.readings = append(d.readings, reading{encs: []kind{utf8Kind}, sure: true})
	default:
		d.readings = d.legacy()
	}
	slices.SortStableFunc(d.readings, func(a, b reading) int {
		switch {
		case a.saved > b.saved:
			return -1
		case a.saved < b.saved:
			return 1
		}
		return 0
	})
	return d
}

// completeCharacters is data without a character at its end that has been cut.
func (d *detector) completeCharacters() []byte {
	if d.whole {
		return d.data
	}
	for n := 1; n < utf8.UTFMax && n <= len(d.data); n++ {
		tail := d.data[len(d.data)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return d.data[:len(d.data)-n]
			}
			break
		}
	}
	return d.data
}

// byteOrderMarks returns the encodings whose byte order mark data begins with.
func byteOrderMarks(data []byte) (ks []kind) {
	for _, k := range [...]kind{utf8Kind, utf32le, utf32be, utf16le, utf16be, gb18030} {
		if bytes.HasPrefix(data, []byte(Encoding{k}.bom())) {
			ks = append(ks, k)
		}
	}
	return ks
}

// controls counts the bytes that do not stand in text.
func controls(p []byte) (n int) {
	for _, b := range p {
		if b < 9 || b > 13 && b < 32 {
			n++
		}
	}
	return n
}

// japanese7 reports whether 7-bit text switches to Japanese characters.
func japanese7(data []byte) bool {
	if !bytes.Contains(data, []byte("\x1b$B")) && !bytes.Contains(data, []byte("\x1b$@")) {
		return false
	}
	if highByte(data) >= 0 {
		return false
	}
	text, err := Encoding{iso2022jp}.codec().NewDecoder().Bytes(data)
	return err == nil && highByte(text) >= 0 && !bytes.ContainsRune(text, utf8.RuneError)
}

// best returns the encoding to try next.
func (d *detector) best() (Encoding, error) {
	for {
		if len(d.readings) == 0 {
			return Encoding{}, d.none
		}
		first := &d.readings[0]
		if first.broken || !first.likely() {
			return Encoding{}, d.none
		}
		e := Encoding{first.encs[0]}
		rival := d.rival()
		if rival < 0 {
			return e, nil
		}
		if other := (Encoding{d.readings[rival].encs[0]}); d.readings[rival].broken || d.check(other) == nil {
			if d.check(e) != nil {
				return e, nil // it will be refused, and the rival looked at again
			}
			return Encoding{}, fmt.Errorf("%w: it may be %s or %s", d.none, e, other)
		}
		d.dropFirst(rival)
	}
}

// rival returns the reading of another text that is nearly as good as the
// best, or -1.
func (d *detector) rival() int {
	first := &d.readings[0]
	for i := range d.readings[1:] {
		r := &d.readings[i+1]
		if !first.sure && first.saved-r.saved < margin && r.text != first.text {
			return i + 1
		}
	}
	return -1
}

// reject takes back an encoding that [detector.best] gave.
func (d *detector) reject(e Encoding) {
	if len(d.readings) > 0 && d.readings[0].encs[0] == e.id {
		d.dropFirst(0)
	}
}

func (d *detector) dropFirst(i int) {
	if r := &d.readings[i]; len(r.encs) > 1 {
		r.encs = r.encs[1:]
		return
	}
	d.readings = slices.Delete(d.readings, i, i+1)
}

// check reports whether all of data is valid in e and comes back the same.
func (d *detector) check(e Encoding) error {
	if e.id == utf8Kind {
		return nil // it is only taken when it has been found valid
	}
	body := d.data
	if b := e.bom(); bytes.HasPrefix(body, []byte(b)) {
		body = body[len(b):]
	}
	none := func([]byte, int) {}
	err := eachChunk(body, e, true, d.whole, none)
	if err == nil && e.unit() > 1 && zeroUnit(body[:min(len(body), headSize)], e.unit()) {
		return invalid(e, 0)
	}
	return err
}

// zeroUnit reports whether a character of p is NUL.
func zeroUnit(p []byte, unit int) bool {
	for ; len(p) >= unit; p = p[unit:] {
		if !slices.ContainsFunc(p[:unit], func(b byte) bool { return b != 0 }) {
			return true
		}
	}
	return false
}

// eachChunk decodes p and hands on the decoded text in pieces, each with the
// place in p where it begins. exact says that what is written back must be the
// same bytes, whole that p ends where the text does. The error is ErrInvalid.
func eachChunk(p []byte, e Encoding, exact, whole bool, fn func(decoded []byte, at int)) error {
	v := &verifier{enc: e, exact: exact}
	dec := e.codec().NewDecoder()
	buf := make([]byte, stride)
	for at := 0; at < len(p); {
		nd, ns, err := dec.Transform(buf, p[at:], whole)
		switch {
		case errors.Is(err, transform.ErrShortDst) && ns > 0, err == nil && ns > 0:
		case errors.Is(err, transform.ErrShortSrc) && !whole:
			if ns == 0 {
				return nil
			}
		default:
			return invalid(e, at+ns)
		}
		if !v.valid(buf[:nd], p[at:at+ns]) {
			return invalid(e, at)
		}
		fn(buf[:nd], at)
		at += ns
	}
	return nil
}

// sample returns the lines that hold more than ASCII, as many as are needed,
// and whether the last one may be cut. A line feed is never part of another
// character in the encodings this is for. Lines with words that have been seen
// are left out: they tell nothing new.
func (d *detector) sample() (p []byte, cut bool) {
	seen := map[string]bool{}
	rest := d.data
	for looked := 0; len(rest) > 0 && looked < 8*sampleSize; {
		i := highByte(rest)
		if i < 0 {
			return p, false
		}
		start := max(bytes.LastIndexByte(rest[:i], '\n')+1, i-128)
		end := len(rest)
		if j := bytes.IndexByte(rest[i:], '\n'); j >= 0 {
			end = i + j + 1
		}
		last := end == len(rest) && !d.whole
		room := sampleSize - len(p)
		if end-start > room {
			return append(p, rest[start:start+room]...), true
		}
		if words := string(highWords(rest[i:end])); !seen[words] {
			seen[words] = true
			p = append(p, rest[start:end]...)
			if last {
				return p, true
			}
		}
		looked += end - i
		rest = rest[end:]
	}
	return p, false
}

// highWords is what of a line is between its first and last byte outside of
// ASCII, without digits.
func highWords(line []byte) []byte {
	last := len(line)
	for last > 0 && line[last-1] < utf8.RuneSelf {
		last--
	}
	return slices.DeleteFunc(slices.Clone(line[:last]), func(b byte) bool { return b >= '0' && b <= '9' })
}

// highByte returns where the first byte outside of ASCII is, or -1.
func highByte(p []byte) int {
	for i, b := range p {
		if b >= utf8.RuneSelf {
			return i
		}
	}
	return -1
}
