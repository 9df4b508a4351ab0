package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	firstWindow = 4 << 10   // bytes read at first to parse an object
	maxWindow   = 32 << 20  // bytes one object may take
	maxStream   = 32 << 20  // bytes of one stream, packed or unpacked
	maxKept     = 1_000_000 // parts of objects
	maxChain    = 16        // of references and of objects needed to load an object
	maxPacks    = 8         // kept unpacked
	maxPack     = 8 << 20   // bytes of each
	maxPacked   = 100_000   // objects in each
)

// A source is the file below a document. Once reading fails or the context
// ends, it has nothing more to give, and err says why.
type source struct {
	r    io.ReaderAt
	size int64
	ctx  context.Context
	err  error
}

// spent reports whether the work must end.
func (s *source) spent() bool {
	if s.err == nil && s.ctx.Err() != nil {
		s.err = context.Cause(s.ctx)
	}
	return s.err != nil
}

// read returns up to n bytes at off.
func (s *source) read(off, n int64) []byte {
	if off < 0 || off >= s.size || s.spent() {
		return nil
	}
	b := make([]byte, min(n, s.size-off))
	got, err := s.r.ReadAt(b, off)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = fmt.Errorf("read file: %w", err)
		return nil
	}
	return b[:got]
}

// window calls parse with the bytes at off, and again with more of them as
// long as parse finds them cut off.
func (s *source) window(off int64, parse func([]byte) error) error {
	for n := int64(firstWindow); ; n *= 8 {
		n = min(n, maxWindow)
		b := s.read(off, n)
		if len(b) == 0 {
			return errShort
		}
		err := parse(b)
		if !errors.Is(err, errShort) || int64(len(b)) < n || n == maxWindow {
			return err
		}
	}
}

// An objectLocation is where an object is: at an offset in the file, or in a
// pack.
type objectLocation struct {
	at   int64 // -1 if the object is free
	gen  int
	pack int // number of the stream of objects it is in; 0 if none
}

// A pack is a stream of objects, unpacked.
type pack struct {
	num  int
	data []byte
	at   map[int]int // object number to offset
}

// get returns v, or what it refers to.
func (d *Document) get(v any) any {
	for range maxChain {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = d.load(r.num)
	}
	return nil
}

func (d *Document) dict(v any) dict {
	switch v := d.get(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

func (d *Document) arrayOf(v any) array {
	a, _ := d.get(v).(array)
	return a
}

func (d *Document) int(v any) int {
	switch v := d.get(v).(type) {
	case int:
		return v
	case float64:
		return int(max(-1e15, min(1e15, v)))
	}
	return 0
}

func (d *Document) float(v any) float64 {
	switch v := d.get(v).(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

func (d *Document) name(v any) name {
	n, _ := d.get(v).(name)
	return n
}

// load returns the object of the given number, or nil. An object that needs
// itself to be read is nil.
func (d *Document) load(num int) any {
	if v, ok := d.objects[num]; ok {
		return v
	}
	p, ok := d.xref[num]
	if !ok || p.at < 0 || d.busy[num] || len(d.busy) >= maxChain || d.src.spent() {
		return nil
	}
	d.busy[num] = true
	defer delete(d.busy, num)
	var v any
	var parts int
	if p.pack != 0 {
		v, parts = d.unpacked(p.pack, num)
	} else if v, parts, ok = d.defined(p.at, num); !ok && !d.repaired && d.src.err == nil {
		// The table of contents is wrong.
		delete(d.busy, num)
		if d.repair() != nil {
			return nil
		}
		return d.load(num)
	}
	if d.src.err == nil {
		// All others are forgotten when they are many.
		if d.parts += parts + 1; d.parts > maxKept {
			clear(d.objects)
			d.parts = parts + 1
		}
		d.objects[num] = v
	}
	return v
}

// defined returns the object that should be at an offset, if it is.
func (d *Document) defined(at int64, num int) (v any, parts int, ok bool) {
	v, id, parts, err := d.objectAt(at)
	if err != nil || id.num != num {
		return nil, 1, false
	}
	return v, parts, true
}

// objectAt reads the definition of an object at off.
func (d *Document) objectAt(off int64) (v any, num ref, parts int, err error) {
	err = d.src.window(off, func(b []byte) error {
		l := &lexer{src: b, refs: true}
		v, num, err = l.definition()
		parts = l.parts
		return err
	})
	if errors.Is(err, errShort) && v != nil { // the file ends behind it
		err = nil
	}
	if s, ok := v.(*stream); ok {
		s.at += off
	}
	return v, num, parts, err
}

// definition reads "1 0 obj", a value, and the bytes' beginning if it is a
// stream.
func (l *lexer) definition() (any, ref, error) {
	var head [3]any
	for i := range head {
		v, err := l.value()
		if err != nil {
			return nil, ref{}, err
		}
		head[i] = v
	}
	num, ok1 := head[0].(int)
	gen, ok2 := head[1].(int)
	if !ok1 || !ok2 || head[2] != operator("obj") {
		return nil, ref{}, errSyntax
	}
	id := ref{num, gen}
	v, err := l.value()
	if err != nil {
		return nil, id, err
	}
	if _, ok := v.(operator); ok { // nothing, or nonsense
		return nil, id, nil
	}
	l.skipSpace()
	rest := l.src[l.pos:]
	hdr, ok := v.(dict)
	if !bytes.HasPrefix(rest, []byte("stream")) {
		if len(rest) < len("stream") {
			err = errShort // perhaps more of it follows
		}
		return v, id, err
	}
	if !ok {
		return v, id, nil
	}
	if len(rest) < len("stream\r\n") {
		return nil, id, errShort
	}
	at := l.pos + len("stream")
	switch {
	case bytes.HasPrefix(l.src[at:], []byte("\r\n")):
		at += 2
	case l.src[at] == '\n', l.src[at] == '\r':
		at++
	}
	return &stream{dict: hdr, at: int64(at), ref: id}, id, nil
}

// unpacked returns an object that is kept in a stream of objects.
func (d *Document) unpacked(in, num int) (any, int) {
	p := d.pack(in)
	if p == nil {
		return nil, 1
	}
	at, ok := p.at[num]
	if !ok || at > len(p.data) {
		return nil, 1
	}
	l := &lexer{src: p.data[at:], refs: true}
	v, err := l.value()
	if _, op := v.(operator); op || err != nil {
		return nil, 1
	}
	return v, l.parts
}

// pack returns a stream of objects. The last few are kept, because objects
// that are used together are packed together.
func (d *Document) pack(num int) *pack {
	for i, p := range d.packs {
		if p.num == num {
			copy(d.packs[1:i+1], d.packs[:i])
			d.packs[0] = p
			return p
		}
	}
	if d.xref[num].pack != 0 {
		return nil // a pack in a pack
	}
	s, ok := d.load(num).(*stream)
	if !ok {
		return nil
	}
	p := &pack{num: num, data: d.decode(s, maxPack), at: map[int]int{}}
	if d.src.err != nil {
		return nil
	}
	first, count := d.int(s.dict["First"]), d.int(s.dict["N"])
	l := &lexer{src: p.data[:max(0, min(first, len(p.data)))]}
	for range min(count, maxPacked) {
		id, err1 := l.value()
		off, err2 := l.value()
		n, ok1 := id.(int)
		at, ok2 := off.(int)
		if err1 != nil || err2 != nil || !ok1 || !ok2 || at < 0 || at > len(p.data) {
			break
		}
		p.at[n] = first + at
	}
	if len(d.packs) >= maxPacks {
		d.packs = d.packs[:maxPacks-1]
	}
	d.packs = append([]*pack{p}, d.packs...)
	return p
}

// raw returns the bytes of a stream as they are in the file, but decrypted.
// The length that the file tells is believed only if the stream ends there.
func (d *Document) raw(s *stream) []byte {
	const tail = 32
	if n := int64(d.int(s.dict["Length"])); n >= 0 && n <= maxStream && n <= d.src.size-s.at {
		b := d.src.read(s.at, n+tail)
		if int64(len(b)) >= n {
			rest := bytes.TrimLeft(b[n:], "\r\n\t \x00")
			if bytes.HasPrefix(rest, []byte("endstream")) || bytes.HasPrefix(rest, []byte("endobj")) {
				return d.key.decryptStream(b[:n], s)
			}
		}
	}
	var b []byte
	_ = d.src.window(s.at, func(w []byte) error {
		if n := bytes.Index(w, []byte("endstream")); n >= 0 {
			b = bytes.TrimSuffix(bytes.TrimSuffix(w[:n], []byte("\n")), []byte("\r"))
			return nil
		}
		b = w // cut off: what there is
		return errShort
	})
	return d.key.decryptStream(b, s)
}
