package page

import "strings"

// A piece is a stretch of the Markdown to come, or the start or the end of
// lines that all begin with the same prefix. Pieces are kept in chains, so
// that what is put around a text, or cut off its ends, moves no text.
type piece struct {
	text       string
	kind       pieceKind
	prev, next int32
}

type pieceKind byte

const (
	plainPiece   pieceKind = iota
	indentPiece            // from here every new line starts with the text
	outdentPiece           // and from here no longer
)

// A chain is a row of pieces, the first and the last; a piece is in one chain
// only.
type chain struct{ head, tail int32 }

// chains holds the pieces of all chains.
type chains struct {
	*stopCheck
	blocks [][]piece // of blockSize; they never move, for that would cost as much again
	free   chain     // pieces that are in no chain any more
	made   int       // how many bytes were ever put in pieces: the measure of what a page costs
}

func noChain() chain { return chain{nobody, nobody} }

func (c chain) empty() bool { return c.head == nobody }

// chainOf makes a chain of strings.
func (cs *chains) chainOf(texts ...string) chain {
	out := noChain()
	for _, s := range texts {
		if s != "" {
			out = cs.add(out, cs.piece(s, plainPiece))
		}
	}
	return out
}

func (cs *chains) piece(text string, kind pieceKind) chain {
	cs.made += 1 + len(text)
	at := cs.free.head
	if at == nobody {
		at = cs.more()
	} else if cs.free.head = cs.pieceAt(at).next; cs.free.head == nobody {
		cs.free = noChain()
	}
	*cs.pieceAt(at) = piece{text: text, kind: kind, prev: nobody, next: nobody}
	return chain{at, at}
}

// How many pieces there are in a block, and how many of the bits of a piece's
// number tell which of them it is.
const (
	blockBits = 12
	blockSize = 1 << blockBits
)

// pieceAt returns a piece by its number.
func (cs *chains) pieceAt(i int32) *piece {
	return &cs.blocks[i>>blockBits][i&(blockSize-1)]
}

// more makes a new piece.
func (cs *chains) more() int32 {
	last := len(cs.blocks) - 1
	if last < 0 || len(cs.blocks[last]) == cap(cs.blocks[last]) {
		size := blockSize
		if last < 0 {
			size = 64 // enough for a small page
		}
		cs.blocks = append(cs.blocks, make([]piece, 0, size))
		last++
	}
	cs.blocks[last] = append(cs.blocks[last], piece{})
	return int32(last<<blockBits + len(cs.blocks[last]) - 1)
}

// release gives up a chain that is of no more use.
func (cs *chains) release(c chain) { cs.free = cs.add(c, cs.free) }

// add puts b after a.
func (cs *chains) add(a, b chain) chain {
	if a.empty() {
		return b
	}
	if b.empty() {
		return a
	}
	cs.pieceAt(a.tail).next = b.head
	cs.pieceAt(b.head).prev = a.tail
	return chain{a.head, b.tail}
}

// around puts strings before and after a chain.
func (cs *chains) around(before string, c chain, after string) chain {
	return cs.add(cs.add(cs.chainOf(before), c), cs.chainOf(after))
}

// indent gives every line of a chain but the first a prefix.
func (cs *chains) indent(c chain, prefix string) chain {
	return cs.add(cs.add(cs.piece(prefix, indentPiece), c), cs.piece(prefix, outdentPiece))
}

// join puts b after a with as many line ends between them as the one has at
// its end or the other at its start, and never more than two.
func (cs *chains) join(a, b chain) chain {
	a, after := cs.cutTail(a)
	b, before := cs.cutHead(b)
	switch min(2, max(after, before)) {
	case 1:
		a = cs.add(a, cs.chainOf("\n"))
	case 2:
		a = cs.add(a, cs.chainOf("\n\n"))
	}
	return cs.add(a, b)
}

// cutHead takes the line ends off the start and says how many there were.
func (cs *chains) cutHead(c chain) (rest chain, lines int) {
	for !c.empty() {
		p := cs.pieceAt(c.head)
		if p.kind != plainPiece {
			break
		}
		left := strings.TrimLeft(p.text, "\n")
		lines += len(p.text) - len(left)
		if p.text = left; left != "" {
			break
		}
		c = cs.unlink(c, c.head)
	}
	return c, lines
}

// cutTail takes the line ends off the end and says how many there were.
func (cs *chains) cutTail(c chain) (rest chain, lines int) {
	for !c.empty() {
		p := cs.pieceAt(c.tail)
		if p.kind != plainPiece {
			break
		}
		left := strings.TrimRight(p.text, "\n")
		lines += len(p.text) - len(left)
		if p.text = left; left != "" {
			break
		}
		c = cs.unlink(c, c.tail)
	}
	return c, lines
}

// unlink takes a piece out of a chain.
func (cs *chains) unlink(c chain, at int32) chain {
	p := *cs.pieceAt(at)
	if p.prev == nobody {
		c.head = p.next
	} else {
		cs.pieceAt(p.prev).next = p.next
	}
	if p.next == nobody {
		c.tail = p.prev
	} else {
		cs.pieceAt(p.next).prev = p.prev
	}
	cs.pieceAt(at).prev, cs.pieceAt(at).next = nobody, nobody
	cs.release(chain{at, at})
	return c
}

// trim takes all blanks off both ends.
func (cs *chains) trim(c chain) chain {
	for at := c.head; at != nobody; {
		p := cs.pieceAt(at)
		next := p.next
		if p.kind == plainPiece {
			if p.text = strings.TrimLeftFunc(p.text, isBlank); p.text != "" {
				break
			}
			c = cs.unlink(c, at)
		}
		at = next
	}
	for at := c.tail; at != nobody; {
		p := cs.pieceAt(at)
		prev := p.prev
		if p.kind == plainPiece {
			if p.text = strings.TrimRightFunc(p.text, isBlank); p.text != "" {
				break
			}
			c = cs.unlink(c, at)
		}
		at = prev
	}
	return c
}

// hasText tells whether there is anything but blanks in a chain.
func (cs *chains) hasText(c chain) bool {
	for at := c.head; at != nobody; at = cs.pieceAt(at).next {
		if p := cs.pieceAt(at); p.kind == plainPiece && strings.TrimLeftFunc(p.text, isBlank) != "" {
			return true
		}
	}
	return false
}

// endsOpen tells whether nothing or a blank is at the end of a chain.
func (cs *chains) endsOpen(c chain) bool {
	if c.empty() {
		return true
	}
	p := cs.pieceAt(c.tail)
	return p.kind != plainPiece || isGap(p.text[len(p.text)-1])
}

// startsOpen tells whether nothing or a blank is at the start of a chain.
func (cs *chains) startsOpen(c chain) bool {
	if c.empty() {
		return true
	}
	p := cs.pieceAt(c.head)
	return p.kind != plainPiece || isGap(p.text[0])
}

// oneBlank takes the space off the start of b where a ends with one.
func (cs *chains) oneBlank(a, b chain) chain {
	if a.empty() || b.empty() {
		return b
	}
	p, q := cs.pieceAt(a.tail), cs.pieceAt(b.head)
	if p.kind != plainPiece || q.kind != plainPiece || !strings.HasSuffix(p.text, " ") ||
		!strings.HasPrefix(q.text, " ") || strings.HasPrefix(q.text, "  \n") {
		return b
	}
	if q.text = q.text[1:]; q.text == "" {
		b = cs.unlink(b, b.head)
	}
	return b
}

// spend returns the text of a chain without any prefixes, and gives the chain
// up.
func (cs *chains) spend(c chain) string {
	var out strings.Builder
	for at := c.head; at != nobody && !cs.ended; at = cs.pieceAt(at).next {
		if p := cs.pieceAt(at); p.kind == plainPiece {
			cs.spendStep(len(p.text))
			out.WriteString(p.text)
		}
	}
	cs.release(c)
	return out.String()
}

// A printer writes a chain out.
type printer struct {
	out    strings.Builder
	prefix []byte
	spare  int // how much may be spent on prefixes: lines are cheap in a page, deep ones would not be
}

// print returns the text of a chain.
func (cs *chains) print(c chain) string {
	size := 0
	for at := c.head; at != nobody && !cs.spendStep(0); at = cs.pieceAt(at).next {
		size += len(cs.pieceAt(at).text)
	}
	p := printer{spare: 4*size + 64<<10}
	p.out.Grow(size + size/8)
	for at := c.head; at != nobody && !cs.spendStep(len(cs.pieceAt(at).text)); at = cs.pieceAt(at).next {
		switch q := cs.pieceAt(at); q.kind {
		case indentPiece:
			p.prefix = append(p.prefix, q.text...)
		case outdentPiece:
			p.prefix = p.prefix[:len(p.prefix)-len(q.text)]
		default:
			p.write(q.text)
		}
	}
	return p.out.String()
}

// write writes text with the prefix at the start of each line.
func (p *printer) write(s string) {
	for len(p.prefix) > 0 {
		end := strings.IndexByte(s, '\n') + 1
		if end == 0 {
			break
		}
		p.out.WriteString(s[:end])
		s = s[end:]
		if p.spare -= len(p.prefix); p.spare >= 0 {
			p.out.Write(p.prefix)
		}
	}
	p.out.WriteString(s)
}
