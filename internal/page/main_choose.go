package page

import (
	"slices"

	"golang.org/x/net/html/atom"
)

// choose returns the element that is the main one, 0 where none surely is.
func (m *measure) choose() int32 {
	var called, usual int32
	for i := range m.marks {
		k, at := &m.marks[i], int32(i)
		if k.purpose&isMain != 0 && (called == 0 || m.textIn(at) > m.textIn(called)) {
			called = at
		}
		if k.purpose&isContent != 0 && (usual == 0 || k.body > m.marks[usual].body) {
			usual = at
		}
	}
	switch {
	case called != 0 && m.isNamedMain(called):
		return m.lift(called)
	case m.marks[0].mains > 0:
		return 0 // the page says one thing and does another
	case usual != 0 && m.holdsShare(usual, 85):
		return m.lift(usual)
	}
	return m.lift(m.dense())
}

// isNamedMain tells whether an element that is called the main one may be: more is
// in it than outside.
func (m *measure) isNamedMain(i int32) bool {
	return m.textIn(i) > 0 && m.textIn(i) >= m.marks[0].body-m.marks[i].body
}

// holdsShare tells whether an element has so many parts of a hundred of the page's
// text, and all of its code and tables.
func (m *measure) holdsShare(i, percent int32) bool {
	page, part := &m.marks[0], &m.marks[i]
	return part.body >= 100 && part.body+page.talk >= 200 && part.solid == page.solid &&
		int64(part.body)*100 >= int64(page.body)*int64(percent) &&
		int64(part.prose)*100 >= int64(page.prose)*int64(percent)
}

// dense goes down from the root as long as one child has nearly all of the
// text. Where that leads into a table the page is laid out by tables, and
// nothing can be said.
func (m *measure) dense() int32 {
	at := int32(0)
	for {
		next := int32(nobody)
		for i := m.doc.nodes[at].first; i != nobody; i = m.doc.nodes[i].next {
			if m.doc.nodes[i].name != "" && m.holdsShare(i, 95) {
				next = i
			}
		}
		if next == nobody {
			break
		}
		if m.doc.nodes[next].tag == atom.Table {
			return 0
		}
		at = next
	}
	switch m.doc.nodes[at].tag {
	case atom.P, atom.Pre, atom.Blockquote, atom.Ul, atom.Ol, atom.Dl, atom.Form:
		return m.doc.nodes[at].parent
	}
	return at
}

// lift goes up from an element as long as something outside of it must not be
// lost: a further main element, or one of its kind, as the next post of a
// thread is. 0 says that this is the whole page.
func (m *measure) lift(at int32) int32 {
	for at > 0 {
		switch m.doc.nodes[at].tag {
		case atom.Html, atom.Body:
			return 0
		}
		apart := m.marks[at].mains > 0 && m.marks[at].mains < m.marks[0].mains
		if !apart && !m.hasTwin(at) {
			break
		}
		at = m.doc.nodes[at].parent
	}
	return at
}

// hasTwin tells whether an element has a sibling of its kind with text.
func (m *measure) hasTwin(at int32) bool {
	n := &m.doc.nodes[at]
	class := n.attr("class")
	if m.marks[at].purpose&isMain != 0 || class == "" && n.tag != atom.Article {
		return false
	}
	for i := m.doc.nodes[n.parent].first; i != nobody; i = m.doc.nodes[i].next {
		s := &m.doc.nodes[i]
		if i != at && s.tag == n.tag && m.marks[i].body >= 40 && (n.tag == atom.Article || s.attr("class") == class) {
			return true
		}
	}
	return false
}

// narrow goes on to a part of the main part that has all of its sentences,
// code and tables, where what is around it is frame.
func (m *measure) narrow(root int32) int32 {
	for i := root + 1; i < m.marks[root].end; i++ {
		k, whole := &m.marks[i], &m.marks[root]
		if k.purpose&isContent == 0 || k.prose == 0 {
			continue
		}
		if k.solid == whole.solid && k.prose == whole.prose && k.tops == whole.tops && int64(k.body)*100 >= int64(whole.body)*90 {
			root = i
		}
	}
	return root
}

// parts returns the main part with what belongs to it and stands outside, in
// the order of the page: the heading before it, who wrote it and when, comments
// and answers.
func (m *measure) parts(root int32) (all []int32) {
	heading, title := m.headingBefore(root), m.titleBefore(root)
	bylines := m.bylines(root, max(heading, title))
	for i := int32(1); i < int32(len(m.marks)); {
		k := &m.marks[i]
		said := k.talk >= 40 && k.body <= k.talk/4 && (i > root || k.end <= root)
		if said || i == heading || i == title || i == root || slices.Contains(bylines, i) {
			all = append(all, i)
			i = k.end
		} else {
			i++
		}
	}
	return all
}

// headingBefore returns the last h1 before a part that has none; or 0.
func (m *measure) headingBefore(root int32) int32 {
	if m.marks[root].heads > 0 {
		return 0
	}
	at := root - 1
	for at > 0 && (m.doc.nodes[at].tag != atom.H1 || m.marks[at].heads == 0) {
		at--
	}
	return m.withTitle(max(at, 0), root)
}

// titleBefore returns the heading that stands right before a part, beside it
// or beside what it is in; or 0.
func (m *measure) titleBefore(root int32) int32 {
	if m.marks[root].heads > 0 {
		return 0
	}
	for at := root - 1; at > 0; at-- {
		if m.marks[at].end > root {
			continue // the part is in it
		}
		if m.marks[at].body >= 40 || m.doc.nodes[at].tag == atom.H1 {
			return 0
		}
		if m.marks[at].tops > 0 && m.headingCount(&m.doc.nodes[at], &m.marks[at]) > 0 {
			found := m.withTitle(at, root)
			if m.marks[m.doc.nodes[found].parent].end > root {
				return found
			}
			return 0
		}
	}
	return 0
}

// withTitle goes up from a heading to what is named for it and short: a date
// or a line of summary may stand there.
func (m *measure) withTitle(at, root int32) int32 {
	for at > 0 {
		up := m.doc.nodes[at].parent
		if m.marks[up].purpose&isTitle == 0 || m.marks[up].end > root || m.textIn(up) > 400 {
			break
		}
		at = up
	}
	return at
}
