package page

import (
	"context"
	"strings"
	"testing"
)

// build reads a page and keeps who built it.
func build(t testing.TB, src string) *builder {
	t.Helper()
	b := newBuilder(src)
	if err := b.run(context.Background()); err != nil {
		t.Fatalf("run: %v", err)
	}
	return b
}

// No page costs more than its size: neither steps, nor nodes, nor depth.
func TestHostilePages(t *testing.T) {
	const small = 32 << 10
	for _, h := range hostilePages() {
		t.Run(h.name, func(t *testing.T) {
			one, four := build(t, h.make(small)), build(t, h.make(4*small))
			if len(four.scan.src) < 3*small {
				t.Fatalf("the page has %d bytes only", len(four.scan.src))
			}
			if limit := 4*one.work() + one.work()/2 + 4*maxDepth; four.work() > limit {
				t.Errorf("work of four times the page: %d, of the page: %d", four.work(), one.work())
			}
			if n, limit := len(four.doc.nodes), 2*strings.Count(four.scan.src, "<")+2; n > limit || cap(four.doc.nodes) > 2*limit {
				t.Errorf("%d nodes and room for %d, expected %d at the most", n, cap(four.doc.nodes), limit)
			}
			checkLinks(t, four.doc)
		})
	}
}

// Every piece of a page takes some of it, so there are no more than bytes; and
// pieces follow each other without a gap.
func TestPiecesGoOn(t *testing.T) {
	for _, h := range hostilePages() {
		s := scanner{src: h.make(16 << 10)}
		for before := 0; s.next() != atEnd; before = s.pos {
			if s.pos <= before && s.text != s.src[before+len("<![CDATA["):] {
				t.Fatalf("%s: the scanner stays at %d", h.name, before)
			}
			if s.pos == before {
				s.data()
			}
		}
		if s.pos != len(s.src) {
			t.Errorf("%s: ended at %d of %d", h.name, s.pos, len(s.src))
		}
	}
}

// work is what a page has cost: open elements looked at, and nodes.
func (b *builder) work() int { return b.open.steps + len(b.doc.nodes) }

// checkLinks fails where a tree is none: links that do not fit, an order that
// is not that of the page, too deep.
func checkLinks(t testing.TB, doc *Doc) {
	t.Helper()
	nodes := doc.nodes
	if len(nodes) == 0 || len(nodes) > maxNodes+1 || nodes[0].parent != nobody || nodes[0].next != nobody {
		t.Fatalf("%d nodes with a root %+v", len(nodes), nodes[0])
	}
	// Walking the links meets every node once, in the order of the list.
	seen, depth := int32(0), 0
	for id := int32(0); id != nobody; seen++ {
		n := &nodes[id]
		if id != seen {
			t.Fatalf("node %d is met as number %d", id, seen)
		}
		if n.name == "" && id != 0 && n.first != nobody {
			t.Fatalf("node %d has wrong children: %+v", id, n)
		}
		if n.name != "" && n.text != "" || len(n.attrs) > maxAttrs {
			t.Fatalf("node %d is two things: %+v", id, n)
		}
		if depth > maxDepth+1 || depth > maxDepth && n.first != nobody {
			t.Fatalf("node %d has depth %d", id, depth)
		}
		if n.first != nobody {
			if nodes[n.first].parent != id {
				t.Fatalf("node %d and its children disagree", id)
			}
			id = n.first
			depth++
			continue
		}
		for id != nobody && nodes[id].next == nobody {
			id = nodes[id].parent
			depth--
		}
		if id != nobody {
			if next := nodes[id].next; nodes[next].parent != nodes[id].parent {
				t.Fatalf("node %d and the next one disagree", id)
			}
			id = nodes[id].next
		}
	}
	if int(seen) != len(nodes) {
		t.Fatalf("%d of %d nodes are in the tree", seen, len(nodes))
	}
}
