package media

import "bytes"

const (
	maxSections = 1000     // of a table of contents
	tailSize    = 64 << 10 // bytes at the end in which its place is looked for
)

// readXref reads the table of contents in all its sections, newest first. It
// reports whether there is one that leads to a catalogue.
func (d *Document) readXref() bool {
	at, ok := d.startXref()
	if !ok {
		return false
	}
	seen := map[int64]bool{}
	queue := []int64{at}
	for len(queue) > 0 && len(seen) < maxSections {
		at, queue = queue[0], queue[1:]
		if seen[at] || d.src.spent() {
			continue
		}
		seen[at] = true
		trailer, err := d.section(at)
		if err != nil {
			return false
		}
		for k, v := range trailer {
			if _, ok := d.trailer[k]; !ok {
				d.trailer[k] = v
			}
		}
		for _, k := range []name{"XRefStm", "Prev"} {
			if next, ok := trailer[k].(int); ok {
				queue = append(queue, int64(next))
			}
		}
	}
	_, ok = d.trailer["Root"].(ref)
	return ok && d.src.err == nil
}

// startXref finds where the newest section of the table begins.
func (d *Document) startXref() (int64, bool) {
	from := max(0, d.src.size-tailSize)
	b := d.src.read(from, tailSize)
	word := []byte("startxref")
	i := bytes.LastIndex(b, word)
	if i < 0 {
		return 0, false
	}
	l := &lexer{src: b[i+len(word):]}
	v, err := l.value()
	at, ok := v.(int)
	return int64(at), ok && err == nil && at > 0
}

// section reads one section of the table, of the old or the new kind.
func (d *Document) section(at int64) (trailer dict, err error) {
	head := d.src.read(at, 64)
	if bytes.HasPrefix(bytes.TrimLeft(head, "\x00\t\n\f\r "), []byte("xref")) {
		var found map[int]objectLocation
		err = d.src.window(at, func(b []byte) error {
			found = map[int]objectLocation{}
			trailer, err = readTable(&lexer{src: b, refs: true}, found)
			return err
		})
		if err != nil {
			return nil, err
		}
		for num, p := range found {
			if err := d.addObject(num, p); err != nil {
				return nil, err
			}
		}
		return trailer, nil
	}
	v, id, _, err := d.objectAt(at)
	if err != nil {
		return nil, err
	}
	s, ok := v.(*stream)
	if !ok || s.dict["Type"] != name("XRef") {
		return nil, errSyntax
	}
	s.ref = id
	return s.dict, d.readTableStream(s)
}

// addObject notes where an object is, unless a newer section has told.
func (d *Document) addObject(num int, p objectLocation) error {
	if _, ok := d.xref[num]; ok {
		return nil
	}
	if len(d.xref) >= maxObjects {
		return errObjects
	}
	d.xref[num] = p
	return nil
}

// readTable reads a section of the old kind: lines of text, then the trailer.
func readTable(l *lexer, found map[int]objectLocation) (dict, error) {
	if v, err := l.value(); err != nil || v != operator("xref") {
		return nil, errSyntax
	}
	for {
		v, err := l.some()
		if err != nil {
			return nil, err
		}
		if v == operator("trailer") {
			break
		}
		n, err := l.some()
		if err != nil {
			return nil, err
		}
		first, ok1 := v.(int)
		count, ok2 := n.(int)
		if !ok1 || !ok2 || first < 0 || count < 0 {
			return nil, errSyntax
		}
		if err := readLines(l, first, count, found); err != nil {
			return nil, err
		}
	}
	v, err := l.some()
	if err != nil {
		return nil, err
	}
	trailer, ok := v.(dict)
	if !ok {
		return nil, errSyntax
	}
	return trailer, nil
}

// some reads a value where the bytes must not end.
func (l *lexer) some() (any, error) {
	v, err := l.value()
	if v == end {
		err = errShort
	}
	return v, err
}

// readLines reads the places of count objects.
func readLines(l *lexer, first, count int, found map[int]objectLocation) error {
	for i := range count {
		l.parts = 0 // a table may be longer than an object
		var line [3]any
		for j := range line {
			v, err := l.some()
			if err != nil {
				return err
			}
			line[j] = v
		}
		at, ok1 := line[0].(int)
		gen, ok2 := line[1].(int)
		if !ok1 || !ok2 {
			return errSyntax
		}
		p := objectLocation{at: int64(at), gen: gen}
		if line[2] != operator("n") || at == 0 {
			p.at = -1
		}
		if len(found) >= maxObjects {
			return errObjects
		}
		found[first+i] = p
	}
	return nil
}

// readTableStream reads a section of the new kind: numbers of fixed width in
// a stream.
func (d *Document) readTableStream(s *stream) error {
	w := d.arrayOf(s.dict["W"])
	if len(w) < 3 {
		return errSyntax
	}
	var width [3]int
	total := 0
	for i := range width {
		width[i] = d.int(w[i])
		if width[i] < 0 || width[i] > 8 {
			return errSyntax
		}
		total += width[i]
	}
	index := d.arrayOf(s.dict["Index"])
	if index == nil {
		index = array{0, s.dict["Size"]}
	}
	data := d.decode(s, maxStream)
	if total == 0 {
		return errSyntax
	}
	for ; len(index) >= 2; index = index[2:] {
		first, count := d.int(index[0]), d.int(index[1])
		for i := 0; i < count && len(data) >= total; i++ {
			if err := d.placeRow(first+i, data[:total], width); err != nil {
				return err
			}
			data = data[total:]
		}
	}
	return nil
}

func (d *Document) placeRow(num int, row []byte, width [3]int) error {
	var field [3]int
	for i, n := range width {
		for _, c := range row[:n] {
			field[i] = field[i]<<8 | int(c)
		}
		row = row[n:]
	}
	if width[0] == 0 {
		field[0] = 1
	}
	p := objectLocation{at: -1}
	switch field[0] {
	case 1:
		p = objectLocation{at: int64(field[1]), gen: field[2]}
	case 2:
		if field[1] > 0 {
			p = objectLocation{pack: field[1]}
		}
	}
	return d.addObject(num, p)
}
