package page

import "golang.org/x/net/html/atom"

// A measure knows how much text is where. All counts are bytes that are not
// blanks; what is never shown is not counted.
type measure struct {
	*stopCheck
	doc   *Doc
	marks []mark // one for every node
}

// A mark is what is known of a node with all that is in it.
type mark struct {
	plain int32 // text that is neither in a link nor in a control
	links int32 // text that is
	stiff int32 // text of any kind in code and tables
	end   int32 // the first node after it
	heads int32 // h1 elements with text
	codes int32 // pre elements with text
	mains int32 // elements with text that the page calls its main one

	talk int32 // plain text in comments and answers, outside of the page's frame

	// Outside of both only:
	body  int32 // plain text
	prose int32 // the same, without what is too short for a sentence
	solid int32 // stiff text
	tops  int32 // headings below h1

	purpose                       purpose
	skip, link, hard, chat, frame bool // it is in such a one
}

func (d *Doc) measure(look *stopCheck) *measure {
	m := &measure{stopCheck: look, doc: d}
	if look.ended {
		return m
	}
	m.marks = make([]mark, len(d.nodes))
	m.count()
	m.add()
	m.frames()
	return m
}

// count fills in what each node has by itself. Parents stand before their
// children.
func (m *measure) count() {
	for i := range m.marks {
		n, k := &m.doc.nodes[i], &m.marks[i]
		if m.spendStep(len(n.text)) {
			return
		}
		k.end = int32(i) + 1
		if n.parent != nobody {
			up := &m.marks[n.parent]
			k.skip, k.link, k.hard, k.chat = up.skip, up.link, up.hard, up.chat
		}
		switch {
		case k.skip:
		case n.name != "":
			m.element(n, k)
		case k.link:
			k.links = inked(n.text)
		default:
			k.plain = inked(n.text)
		}
		if k.hard {
			k.stiff = k.links + k.plain
		}
	}
}

// element notes what an element is.
func (m *measure) element(n *node, k *mark) {
	if n.tag == atom.Head || m.doc.skips(n) {
		k.skip = true
		return
	}
	switch n.tag {
	case atom.A:
		_, there := n.find("href")
		k.link = k.link || there
	case atom.Button, atom.Select:
		k.link = true
	case atom.Pre:
		k.hard, k.codes = true, 1
	case atom.Table:
		k.hard = true
	case atom.H1:
		k.heads = 1
	}
	k.purpose = purposeOf(n)
	if k.purpose&isMain != 0 {
		k.mains = 1
	}
	k.chat = k.chat || k.purpose&isTalk != 0
}

// add sums up.
func (m *measure) add() {
	for i := len(m.marks) - 1; i > 0 && !m.spendStep(0); i-- {
		k := &m.marks[i]
		if k.plain+k.links == 0 {
			k.heads, k.codes, k.mains = 0, 0, 0
		}
		up := &m.marks[m.doc.nodes[i].parent]
		up.plain += k.plain
		up.links += k.links
		up.stiff += k.stiff
		up.heads += k.heads
		up.codes += k.codes
		up.mains += k.mains
		up.end = max(up.end, k.end)
	}
}

// frames finds the page's frame and sums up what is outside of it.
func (m *measure) frames() {
	for i := 1; i < len(m.marks) && !m.spendStep(0); i++ {
		n, k := &m.doc.nodes[i], &m.marks[i]
		k.frame = m.marks[n.parent].frame || m.framing(k)
		if k.frame {
			continue
		}
		if n.name != "" {
			k.tops = m.headingCount(n, k)
			continue
		}
		if k.chat {
			k.talk = k.plain
			continue
		}
		k.body, k.solid = k.plain, k.stiff
		if k.plain >= 40 {
			k.prose = k.plain
		}
	}
	for i := len(m.marks) - 1; i > 0 && !m.spendStep(0); i-- {
		k, up := &m.marks[i], &m.marks[m.doc.nodes[i].parent]
		up.body += k.body
		up.prose += k.prose
		up.solid += k.solid
		up.tops += k.tops
		up.talk += k.talk
	}
}

// headingCount counts a heading below h1.
func (m *measure) headingCount(n *node, k *mark) int32 {
	switch n.tag {
	case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if k.plain+k.links > 0 && !k.chat {
			return 1
		}
	}
	return 0
}

// framing tells whether an element is about the site more than about the
// page. One with the page's heading or with much of its text is not, whatever
// it is called.
func (m *measure) framing(k *mark) bool {
	if k.heads > 0 || k.plain > m.marks[0].plain/10*3 {
		return false
	}
	return k.purpose&isFrame != 0 || k.purpose&isAround != 0 && k.stiff == 0
}

// textIn is the text in a node, of any kind.
func (m *measure) textIn(i int32) int32 { return m.marks[i].plain + m.marks[i].links }

// inked counts the bytes of a text that are not blanks.
func inked(s string) int32 {
	count := int32(0)
	for i := range len(s) {
		if s[i] > ' ' {
			count++
		}
	}
	return count
}
