package page

import "golang.org/x/net/html/atom"

// nobody is the link of a node that has no such relative.
const nobody = -1

// A node is a piece of text or an element. Nodes name each other by their
// place in the tree's list, so that a page is a few allocations and a walk
// needs no recursion.
type node struct {
	text  string // of a text node: as it reads, entities decoded
	name  string // of an element: its tag in lower case; "" for text
	attrs []attr
	tag   atom.Atom // the name, where it is a known one

	parent, first, next int32
}

// An attr is an attribute; its name is in lower case.
type attr struct{ name, value string }

// attr returns the value of an attribute, "" where it is not there.
func (n *node) attr(name string) string {
	for i := range n.attrs {
		if n.attrs[i].name == name {
			return n.attrs[i].value
		}
	}
	return ""
}

// mostNames is how much is read of the classes of an element, and of what else
// may be asked for again and again.
const mostNames = 1 << 10

// classNames returns the classes of an element, the first ones.
func (n *node) classNames() string { return headOf(n.attr("class"), mostNames) }

// A Doc is a page that was read. Its nodes are in the order of the text; node
// 0 is the root, which has no name.
type Doc struct {
	nodes []node
	title string // of the head, blanks collapsed
	base  string // what relative links start at, where the page says so

	framed bool // it is made of frames
}
