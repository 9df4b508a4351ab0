package media

import (
	"bytes"
	"math"
)

const (
	maxOps      = 5_000_000 // of a page with all its forms
	maxOperands = 64
	maxForms    = 8      // within each other
	maxDrawn    = 20_000 // forms of a page
	maxStates   = 256    // saved within each other
)

// A matrix maps a point: x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix struct{ a, b, c, d, e, f float64 }

// then returns the map that does m first and n after it.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

func shift(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

// A state is what q saves and Q brings back, as far as text goes.
type state struct {
	ctm                          matrix
	font                         *font
	size, char, word, lead, rise float64
	stretch                      float64
}

// A painter follows the operators of a page and writes the text they show.
type painter struct {
	d      *Document
	out    layout
	now    state
	saved  []state
	text   matrix         // where the next glyph goes
	line   matrix         // where the line began
	fonts  map[name]*font // those that have no number to know them by
	ops    int
	forms  map[int]bool // being drawn
	drawn  int          // of these, all that ever were
	images int
	last   shown
}

// shown is what was shown last, to tell when it is shown again for boldness.
type shown struct {
	s    string
	x, y float64
}

// pageText returns the text of a page, which ends in a line feed.
func (d *Document) pageText(i int) string {
	sheet := d.pages[i]
	page := d.dict(sheet.at)
	p := &painter{
		d:     d,
		now:   state{ctm: matrix{a: 1, d: 1}, stretch: 1},
		forms: map[int]bool{},
	}
	p.run(d.pageStreams(page["Contents"]), d.dict(sheet.resources))
	if text := p.out.String(); text != "" {
		d.Silent = false
		if p.out.full() || p.ops > maxOps || p.drawn > maxDrawn {
			text += "(the rest of this page is left out: there is too much on it)\n"
		}
		return text
	}
	if p.images > 0 {
		return "(no text on this page, only images: it may be a scan)\n"
	}
	return "(no text on this page)\n"
}

// pageStreams joins the streams that make up a page.
func (d *Document) pageStreams(v any) []byte {
	switch v := d.get(v).(type) {
	case *stream:
		return d.decode(v, maxStream)
	case array:
		var all []byte
		for _, part := range v {
			s, ok := d.get(part).(*stream)
			if !ok {
				continue
			}
			all = append(append(all, d.decode(s, maxStream-len(all))...), '\n')
			if len(all) >= maxStream || d.src.spent() {
				break
			}
		}
		return all
	}
	return nil
}

// run follows the operators in src.
func (p *painter) run(src []byte, resources dict) {
	outer := p.fonts
	p.fonts = map[name]*font{}
	defer func() { p.fonts = outer }()
	l := &lexer{src: src}
	args := make([]any, 0, maxOperands)
	for {
		v, err := l.value()
		if err != nil && l.pos >= len(src) || v == end {
			return
		}
		l.parts = 0
		op, ok := v.(operator)
		if !ok {
			if err == nil && len(args) < maxOperands {
				args = append(args, v)
			}
			continue
		}
		if p.ops++; p.ops > maxOps || p.ops%1024 == 0 && p.d.src.spent() || p.out.full() {
			return
		}
		if op == "BI" {
			p.images++
			l.inlineImage()
		} else {
			p.do(op, args, resources)
		}
		args = args[:0]
	}
}

// inlineImage moves past the bytes of an image within the operators: to EI
// with space around it, once ID has come.
func (l *lexer) inlineImage() {
	for {
		v, err := l.value()
		if err != nil || v == end {
			return
		}
		if v == operator("ID") {
			break
		}
	}
	for from := l.pos; ; {
		i := bytes.Index(l.src[from:], []byte("EI"))
		if i < 0 {
			return // never ends: go on as if nothing had been
		}
		at := from + i
		from = at + 2
		if isSpace(l.src[at-1]) && (from == len(l.src) || isSpace(l.src[from])) {
			l.pos = from
			return
		}
	}
}

// do follows one operator. One with the wrong operands does nothing.
func (p *painter) do(op operator, args []any, resources dict) {
	switch op {
	case "q":
		if len(p.saved) < maxStates {
			p.saved = append(p.saved, p.now)
		}
	case "Q":
		if n := len(p.saved); n > 0 {
			p.now, p.saved = p.saved[n-1], p.saved[:n-1]
		}
	case "cm":
		if m, ok := asMatrix(args); ok {
			p.now.ctm = m.then(p.now.ctm)
		}
	case "BT":
		p.text = matrix{a: 1, d: 1}
		p.line = p.text
	case "Tf":
		p.setFont(args, resources)
	case "Do":
		p.drawObject(args, resources)
	case "Tj", "'", "\"", "TJ":
		p.showText(op, args)
	case "Td", "TD", "Tm", "T*":
		p.moveText(op, args)
	default:
		p.set(op, args)
	}
}

// set changes one number of the state.
func (p *painter) set(op operator, args []any) {
	if len(args) != 1 {
		return
	}
	v := p.d.float(args[0])
	switch op {
	case "Tc":
		p.now.char = v
	case "Tw":
		p.now.word = v
	case "Tz":
		p.now.stretch = v / 100
	case "TL":
		p.now.lead = v
	case "Ts":
		p.now.rise = v
	}
}

func asMatrix(args []any) (matrix, bool) {
	var v [6]float64
	if len(args) != len(v) {
		return matrix{}, false
	}
	for i, a := range args {
		switch a := a.(type) {
		case int:
			v[i] = float64(a)
		case float64:
			v[i] = a
		default:
			return matrix{}, false
		}
	}
	return matrix{v[0], v[1], v[2], v[3], v[4], v[5]}, true
}

func (p *painter) setFont(args []any, resources dict) {
	if len(args) != 2 {
		return
	}
	n, _ := args[0].(name)
	p.now.size = p.d.float(args[1])
	v := p.d.dict(resources["Font"])[n]
	if _, ok := v.(ref); ok {
		p.now.font = p.d.font(v)
		return
	}
	const few, small = 64, 5000
	f, ok := p.fonts[n]
	if !ok {
		f = p.d.font(v)
		if len(p.fonts) < few && f.cost() < small {
			p.fonts[n] = f
		}
	}
	p.now.font = f
}

// moveText moves to where text goes next.
func (p *painter) moveText(op operator, args []any) {
	switch {
	case op == "Tm":
		if m, ok := asMatrix(args); ok {
			p.text, p.line = m, m
		}
		return
	case op == "T*":
		p.line = shift(0, -p.now.lead).then(p.line)
	case len(args) == 2:
		x, y := p.d.float(args[0]), p.d.float(args[1])
		if op == "TD" {
			p.now.lead = -y
		}
		p.line = shift(x, y).then(p.line)
	}
	p.text = p.line
}

// drawObject draws a form, which has operators of its own, or counts an image.
func (p *painter) drawObject(args []any, resources dict) {
	if len(args) != 1 {
		return
	}
	n, _ := args[0].(name)
	s, ok := p.d.get(p.d.dict(resources["XObject"])[n]).(*stream)
	if !ok {
		return
	}
	if p.d.name(s.dict["Subtype"]) != "Form" {
		p.images++
		return
	}
	if p.forms[s.ref.num] || len(p.forms) >= maxForms || p.d.src.spent() {
		return
	}
	if p.drawn++; p.drawn > maxDrawn {
		return
	}
	p.forms[s.ref.num] = true
	before, depth, text, line := p.now, len(p.saved), p.text, p.line
	own := p.d.dict(s.dict["Resources"])
	if own == nil {
		own = resources
	}
	if m, ok := asMatrix(p.d.arrayOf(s.dict["Matrix"])); ok {
		p.now.ctm = m.then(p.now.ctm)
	}
	p.run(p.d.decode(s, maxStream), own)
	p.now, p.text, p.line = before, text, line
	p.saved = p.saved[:min(depth, len(p.saved))]
	delete(p.forms, s.ref.num)
}

// showText shows a string, or strings with gaps between them.
func (p *painter) showText(op operator, args []any) {
	if op == "\"" && len(args) == 3 {
		p.now.word, p.now.char = p.d.float(args[0]), p.d.float(args[1])
		args = args[2:]
	}
	if len(args) != 1 || p.now.font == nil {
		return
	}
	if op == "'" || op == "\"" {
		p.line = shift(0, -p.now.lead).then(p.line)
		p.text = p.line
	}
	switch v := args[0].(type) {
	case string:
		p.glyphs(v)
	case array:
		for _, part := range v {
			if s, ok := part.(string); ok {
				p.glyphs(s)
				continue
			}
			p.advance(-p.d.float(part) / 1000 * p.now.size * p.now.stretch)
		}
	}
}

func (p *painter) advance(x float64) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		p.text = shift(x, 0).then(p.text)
	}
}

// glyphs shows a string.
func (p *painter) glyphs(s string) {
	f, now := p.now.font, &p.now
	start := p.text.then(now.ctm)
	height := math.Hypot(start.c, start.d) * math.Abs(now.size)
	again := s == p.last.s && math.Hypot(start.e-p.last.x, start.f-p.last.y) < 0.15*height
	p.last = shown{s, start.e, start.f}
	for len(s) > 0 && !p.out.full() {
		c := f.next(s)
		s = s[c.len:]
		m := shift(0, now.rise).then(p.text).then(now.ctm)
		w := f.width(c) * now.size * now.stretch
		gap := now.char
		if c.n == ' ' && c.len == 1 {
			gap += now.word
		}
		if !again {
			p.out.put(f.text(c), glyphPosition{
				x: m.e, y: m.f,
				dx: m.a * (w + gap*now.stretch), dy: m.b * (w + gap*now.stretch),
				ux: m.a, uy: m.b,
				height: height,
			})
		}
		p.advance(w + gap*now.stretch)
	}
}
