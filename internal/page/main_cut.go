package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// A cutter copies parts of a page into a page of their own, whose nodes are
// in the order of the text again.
type cutter struct {
	*stopCheck
	from, to *Doc
	out      func(int32) bool // what is not copied
	left     int              // how many elements were not
	lasts    []int32          // of the new page and what is open in it, the last child; 0 for none
}

// copy puts a node and what is in it at the end of the new page. Of a block
// that is left out an empty one stays, for it keeps what is around it apart.
func (c *cutter) copy(root int32) {
	at, up, down := root, int32(0), true
	for {
		if c.spendStep(0) {
			return
		}
		n := &c.from.nodes[at]
		if down {
			left := at != root && c.out(at)
			if left {
				c.left++
			}
			if !left || gapAround(n.tag) != glued {
				made := c.put(n, up)
				if !left && n.first != nobody {
					at, up = n.first, made
					c.lasts = append(c.lasts, 0)
					continue
				}
			}
		}
		switch {
		case at == root:
			return
		case n.next != nobody:
			at, down = n.next, true
		default:
			at, down = n.parent, false
			up = c.to.nodes[up].parent
			c.lasts = c.lasts[:len(c.lasts)-1]
		}
	}
}

// put adds a copy of a node as the last child of up.
func (c *cutter) put(n *node, up int32) int32 {
	made := int32(len(c.to.nodes))
	c.to.nodes = append(c.to.nodes, node{
		text: n.text, name: n.name, tag: n.tag, attrs: n.attrs,
		parent: up, first: nobody, next: nobody,
	})
	last := &c.lasts[len(c.lasts)-1]
	if *last == 0 {
		c.to.nodes[up].first = made
	} else {
		c.to.nodes[*last].next = made
	}
	*last = made
	return made
}

// frameIn tells the elements of the main part that are left out: those that
// only lead elsewhere. Where little else is there, the page is a list of
// links, and nothing is left out.
func (m *measure) frameIn(root int32) func(int32) bool {
	gone, left := int32(0), m.marks[root].plain
	for i := root + 1; i < m.marks[root].end; i++ {
		if m.isNavigation(i) {
			gone += m.textIn(i)
			left -= m.marks[i].plain
			i = m.marks[i].end - 1
		}
	}
	if left < gone && left < 1000 {
		return func(int32) bool { return false }
	}
	return m.isNavigation
}

// isNavigation tells whether an element is there to lead elsewhere: navigation that
// is mostly links, a mark to link to a heading, a button to copy code.
func (m *measure) isNavigation(i int32) bool {
	n, k := &m.doc.nodes[i], &m.marks[i]
	switch {
	case k.purpose == 0:
		return false
	case k.purpose&isAnchor != 0:
		return k.links <= 4 && strings.HasPrefix(n.attr("href"), "#")
	case k.purpose&isCopy != 0:
		return true
	case k.heads > 0 || k.codes > 0 || k.solid > 0:
		return false
	case k.chat && n.tag != atom.Nav:
		return false // who said it, and when
	case k.purpose&isEdit != 0:
		return m.textIn(i) < 40
	case k.purpose&isNav != 0:
		return k.links >= k.plain
	case n.tag == atom.Header || k.purpose&(isFrame|isLead) == 0:
		return false
	}
	return k.links > 0 && k.links >= 2*k.plain
}
