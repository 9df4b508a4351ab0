package media

import (
	"bytes"
	"errors"
)

// repair builds the table of contents anew from the objects that are found in
// the file. The last definition of an object counts.
func (d *Document) repair() error {
	d.repaired = true
	clear(d.objects)
	clear(d.xref)
	d.packs, d.parts = nil, 0
	var packs []int
	err := d.scan(func(at int64, id ref, v any) {
		d.xref[id.num] = objectLocation{at: at, gen: id.gen}
		hdr := d.dict(v)
		switch hdr["Type"] {
		case name("Catalog"):
			if _, ok := hdr["Pages"]; ok {
				d.trailer["Root"] = id
			}
		case name("ObjStm"):
			packs = append(packs, id.num)
		case name("XRef"):
			d.merge(hdr)
		}
	}, d.merge)
	if err != nil {
		return err
	}
	if d.key == nil && d.trailer["Encrypt"] != nil {
		if err := d.unlock(); err != nil {
			return err
		}
	}
	for _, num := range packs {
		if err := d.placePack(num); err != nil {
			return err
		}
	}
	d.findCatalogue()
	return d.src.err
}

// placePack notes the objects of a pack, unless they are defined later.
func (d *Document) placePack(num int) error {
	p := d.pack(num)
	if p == nil {
		return nil
	}
	for in := range p.at {
		have, ok := d.xref[in]
		if ok && have.pack == 0 && have.at >= d.xref[num].at {
			continue
		}
		if len(d.xref) >= maxObjects {
			return errObjects
		}
		d.xref[in] = objectLocation{pack: num}
	}
	return nil
}

// merge takes what a trailer found on the way tells: the later, the newer.
func (d *Document) merge(trailer dict) {
	for _, k := range []name{"Root", "Encrypt", "ID", "Info"} {
		if v, ok := trailer[k]; ok {
			d.trailer[k] = v
		}
	}
}

// findCatalogue sees to it that the root of a repaired document exists.
func (d *Document) findCatalogue() {
	if d.dict(d.dict(d.trailer["Root"])["Pages"]) != nil {
		return
	}
	for num, p := range d.xref {
		if p.pack == 0 {
			continue // those in the file have been seen
		}
		if hdr := d.dict(ref{num: num}); hdr["Type"] == name("Catalog") && hdr["Pages"] != nil {
			d.trailer["Root"] = ref{num: num}
			return
		}
		if d.src.spent() {
			return
		}
	}
}

// scan looks through the whole file for definitions of objects and trailers.
func (d *Document) scan(object func(at int64, id ref, v any), trailer func(dict)) error {
	const chunk, overlap = 1 << 20, 64
	found := 0
	for from := int64(0); from < d.src.size; from += chunk {
		b := d.src.read(from, chunk+overlap)
		limit := min(len(b), chunk)
		for _, at := range definitions(b, limit) {
			if found++; found > maxObjects {
				return errObjects
			}
			d.define(from, at, b, object)
		}
		for _, at := range trailers(b, limit) {
			_ = d.src.window(from+int64(at), func(w []byte) error {
				v, err := (&lexer{src: w, refs: true}).value()
				if t, ok := v.(dict); ok && err == nil {
					trailer(t)
				}
				return err
			})
		}
		if d.src.spent() {
			return d.src.err
		}
	}
	return nil
}

// define hands on the object whose definition is at b[at:], where b is at from.
func (d *Document) define(from int64, at int, b []byte, object func(int64, ref, any)) {
	if d.src.spent() {
		return
	}
	if at == 0 && from > 0 {
		if before := d.src.read(from-1, 1); len(before) > 0 && isDigit(before[0]) {
			return // the end of a number
		}
	}
	v, id, err := (&lexer{src: b[at:], refs: true}).definition()
	if errors.Is(err, errShort) {
		v, id, _, err = d.objectAt(from + int64(at))
	}
	if id.num > 0 && (err == nil || errors.Is(err, errSyntax)) {
		object(from+int64(at), id, v)
	}
}

// trailers returns where in b, before limit, what follows the word begins.
func trailers(b []byte, limit int) (at []int) {
	word := []byte("trailer")
	for pos := 0; ; {
		i := bytes.Index(b[pos:], word)
		if i < 0 || pos+i >= limit {
			return at
		}
		pos += i + len(word)
		at = append(at, pos)
	}
}

// definitions returns where in b, before limit, "1 0 obj" begins.
func definitions(b []byte, limit int) (at []int) {
	word := []byte("obj")
	for pos := 0; ; pos += len(word) {
		i := bytes.Index(b[pos:], word)
		if i < 0 {
			return at
		}
		pos += i
		if start, ok := definitionBefore(b, pos); ok && start < limit {
			at = append(at, start)
		}
	}
}

// definitionBefore looks backwards from the word obj at pos for two numbers.
func definitionBefore(b []byte, pos int) (int, bool) {
	p := pos
	for range 2 {
		q := p
		for q > 0 && isSpace(b[q-1]) {
			q--
		}
		if q == p && p != pos { // the two numbers must be apart
			return 0, false
		}
		p = q
		for p > 0 && isDigit(b[p-1]) {
			p--
		}
		if p == q || q-p > 10 {
			return 0, false
		}
	}
	return p, true
}
