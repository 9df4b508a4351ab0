package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// skips tells whether an element and all that is in it are never shown:
// programs, styles, what a browser hides and what only repeats the rest. It errs on the side of showing:
// tabs that are not in front stay, for their text is the page's.
func (d *Doc) skips(n *node) bool {
	if n.name == "" {
		return d.isPadding(n)
	}
	switch n.tag {
	case atom.Script, atom.Style, atom.Meta, atom.Link, atom.Template, atom.Base, atom.Noembed, atom.Datalist:
		return true
	case atom.Noframes:
		return !d.framed
	case atom.Html, atom.Head, atom.Body, atom.Main:
		return false // hidden until a program shows them
	}
	switch n.name {
	case "desc", "metadata", "defs", "symbol":
		return d.insideTag(n, atom.Svg)
	}
	if d.unseen(n) {
		return true
	}
	value, there := n.find("hidden")
	return there && !strings.EqualFold(value, "until-found") && !n.says("role", "tabpanel")
}

// insideTag tells whether a node stands in an element of a tag.
func (d *Doc) insideTag(n *node, tag atom.Atom) bool {
	for at := n.parent; at > 0; at = d.nodes[at].parent {
		if d.nodes[at].tag == tag {
			return true
		}
	}
	return false
}

// find returns the value of an attribute and whether it is there.
func (n *node) find(name string) (value string, there bool) {
	for i := range n.attrs {
		if n.attrs[i].name == name {
			return n.attrs[i].value, true
		}
	}
	return "", false
}

// says tells whether an attribute has a value, in whatever case.
func (n *node) says(name, value string) bool {
	said := n.attr(name)
	return len(said) <= mostNames && strings.EqualFold(strings.TrimSpace(said), value)
}

// mainPart returns the element that holds what the page is about, and true;
// or 0 and false where that is not certain. What it goes by, in this order:
//
//  1. an element that the page itself calls its main one;
//  2. an article, or an element with a name that is customary for content;
//  3. the smallest element that has nearly all of the text.
//
// In all cases the text outside of it has to be little. Links do not count,
// nor does the frame of a page (navigation, header, footer, banners), nor what
// readers said, which onlyMain adds. In the last two cases there must be no
// code and no table outside.
func (m *measure) mainPart() (root int32, sure bool) {
	if len(m.marks) == 0 || m.ended {
		return 0, false
	}
	if root = m.choose(); root != 0 {
		root = m.narrow(root)
	}
	return root, root != 0
}

// onlyMain returns the page with nothing but its main part, the heading before
// it and the comments after it, without the navigation in these; and true. Where the main
// part is not certain, or all that there is, it returns the page itself, and
// false. The page it returns is one of its own, which shares text with this
// one:
//
//	if !whole {
//		d, partial = d.onlyMain(look)
//	}
func (d *Doc) onlyMain(look *stopCheck) (page *Doc, partial bool) {
	m := d.measure(look)
	root, sure := m.mainPart()
	if !sure {
		return d, false
	}
	parts := m.parts(root)
	rest, size := m.textIn(0), int32(1)
	for _, part := range parts {
		rest -= m.textIn(part)
		size += m.marks[part].end - part
	}
	to := &Doc{title: d.title, base: d.base, framed: d.framed, nodes: make([]node, 1, int(size))}
	to.nodes[0] = node{parent: nobody, first: nobody, next: nobody}
	c := &cutter{from: d, to: to, lasts: []int32{0}}
	c.out = m.frameIn(root)
	c.stopCheck = look
	for _, part := range parts {
		c.copy(part)
	}
	if c.left == 0 && rest == 0 {
		return d, false
	}
	return c.to, true
}
