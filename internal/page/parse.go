package page

import (
	"context"
	"slices"
	"strings"
)

const (
	maxDepth = 256     // elements inside each other; deeper ones become siblings
	maxNodes = 3 << 17 // of a page; what is beyond becomes one text
	maxPlain = 1 << 19 // attributes of a page; of what is beyond only those are kept that lead elsewhere or say something
	stride   = 64 << 10
)

// Parse reads a page. There is nothing that is not a page: what is broken is
// read as browsers read it, but for two things. Text between the cells of a
// table stays where it stands, and formatting that is left open ends with the
// block it is in. An error is the context's.
//
// It takes time and memory linear in the page. The tree is never deeper than
// maxDepth nor larger than maxNodes; no text is lost for that.
func Parse(ctx context.Context, src string) (*Doc, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	b := newBuilder(src)
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	return b.doc, nil
}

// A builder makes the tree.
type builder struct {
	doc   *Doc
	scan  scanner
	open  opens
	lost  int  // elements that were closed because of maxDepth
	xml   bool // the page says it is XML: a slash ends an element
	seen  struct{ html, head, body bool }
	kept  int             // how many attributes were
	attrs []attr          // room for the attributes of elements to come
	spill strings.Builder // text beyond maxNodes
}

func newBuilder(src string) *builder {
	b := &builder{
		doc:  &Doc{nodes: make([]node, 0, min(2*strings.Count(src, "<")+2, 16+len(src)/12, maxNodes+1))},
		scan: scanner{src: src, words: newWords(src), attrs: make([]attr, 0, 8)},
		xml:  strings.HasPrefix(strings.TrimLeft(headOf(src, 64), " \t\r\n"), "<?xml"),
	}
	b.doc.nodes = append(b.doc.nodes, node{parent: nobody, first: nobody, next: nobody})
	b.open.push(open{traits: special | firm | fence})
	return b
}

// estimateNodes guesses how many nodes are still to come: as many as so far for the
// same size of page, with a bit to spare. An element for each start tag and a
// text after each tag are the most; the few end tags that make an element are
// why there is always room for more.
func (b *builder) estimateNodes() int {
	have, src := len(b.doc.nodes), b.scan.src
	rate := float64(have) / float64(max(b.scan.pos, 1))
	most := 2*strings.Count(src, "<") - strings.Count(src, "</") + 2
	all := min(int(rate*float64(len(src))*1.05), most, maxNodes+1)
	return max(all-have, 8+have/4)
}

// run reads the page to its end.
func (b *builder) run(ctx context.Context) error {
	for look := 0; ; {
		if b.scan.pos >= look {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			look = b.scan.pos + stride
		}
		switch b.scan.next() {
		case atEnd:
			// What has not been added yet.
			if b.spill.Len() > 0 {
				b.open.truncate(1)
				b.addText(b.spill.String())
			}
			return nil
		case atText:
			b.text(b.scan.words.read(b.scan.text, reading{refs: true}))
		case atStart:
			b.start()
		case atStop:
			b.stop()
		case atData:
			if b.inForeign() || b.xml {
				b.scan.data()
				b.text(b.scan.words.readVerbatim(b.scan.text, false))
			} else {
				b.scan.skipTo(b.scan.pos+2, ">")
			}
		}
	}
}

func (b *builder) inForeign() bool {
	top := b.open.last()
	return top.foreign && top.traits&fence == 0
}

// full says that no more nodes fit.
func (b *builder) full() bool { return len(b.doc.nodes) >= maxNodes }

// add puts a new node under the open element. The node is good until the next
// one is added.
func (b *builder) add() (int32, *node) {
	if len(b.doc.nodes) == cap(b.doc.nodes) {
		b.doc.nodes = slices.Grow(b.doc.nodes, b.estimateNodes())
	}
	id, top := int32(len(b.doc.nodes)), b.open.last()
	b.doc.nodes = b.doc.nodes[:id+1]
	n := &b.doc.nodes[id]
	n.parent, n.first, n.next = top.node, nobody, nobody
	if top.last == 0 {
		b.doc.nodes[top.node].first = id
	} else {
		b.doc.nodes[top.last].next = id
	}
	top.last = id
	return id, n
}

// addText adds a text.
func (b *builder) addText(s string) {
	_, n := b.add()
	n.text = s
}

// element adds the element whose tag was read.
func (b *builder) element() int32 {
	id, n := b.add()
	n.name, n.tag = b.scan.name, b.scan.tag
	if len(b.scan.attrs) > 0 {
		n.attrs = b.keepAttrs()
	}
	return id
}

// keepAttrs copies the attributes that were read to where they may stay.
func (b *builder) keepAttrs() []attr {
	if b.kept > maxPlain {
		b.scan.attrs = slices.DeleteFunc(b.scan.attrs, func(a attr) bool { return !isWeighty(a.name) })
	}
	n := len(b.scan.attrs)
	b.kept += n
	if cap(b.attrs)-len(b.attrs) < n {
		b.attrs = make([]attr, 0, max(n, min(1024, 16+len(b.doc.nodes))))
	}
	start := len(b.attrs)
	b.attrs = append(b.attrs, b.scan.attrs...)
	return b.attrs[start : start+n : start+n]
}

// isWeighty tells the attributes that a reader would miss.
func isWeighty(name string) bool {
	switch name {
	case "href", "src", "srcset", "alt", "title", "class", "hidden", "start", "type", "http-equiv", "content":
		return true
	}
	return false
}

// push opens an element. Where the tree is too deep already it takes the place
// of the one that is open.
func (b *builder) push(o open) {
	if len(b.open.list) > maxDepth {
		b.open.truncate(maxDepth)
		b.lost++
	}
	o.node = b.element()
	o.name, o.tag = b.scan.name, b.scan.tag
	b.open.push(o)
}

// closeTo closes all that is open from a place on; 0 stands for no place. What
// was to end with the last block inside it ends too.
func (b *builder) closeTo(at int) {
	if at == 0 {
		return
	}
	for at > 1 && b.open.list[at-1].done {
		at--
	}
	b.open.truncate(at)
	if at < maxDepth {
		b.lost = 0
	}
}

// closeTop closes the innermost element.
func (b *builder) closeTop() { b.closeTo(len(b.open.list) - 1) }

// text adds text, as it reads.
func (b *builder) text(s string) {
	if s == "" {
		return
	}
	if b.inHead() {
		if isAllBlank(s) {
			return
		}
		b.leaveHead()
	}
	if b.full() {
		b.spill.WriteString(s)
		return
	}
	b.addText(s)
}

func isAllBlank(s string) bool {
	for i := range len(s) {
		if !blankByte(s[i]) {
			return false
		}
	}
	return true
}
