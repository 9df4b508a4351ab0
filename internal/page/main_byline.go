package page

// How long a line about who wrote a page may be, and how many there are.
const (
	longestByline = 200
	mostBylines   = 3
)

// bylines returns the elements that tell who wrote the main part and when,
// where they stand between its heading and it, or right beside it.
func (m *measure) bylines(root, heading int32) (all []int32) {
	from := m.doc.nodes[m.doc.nodes[root].parent].first
	if heading != 0 {
		from = min(from, m.marks[heading].end)
	}
	for i := from; i < root && len(all) < mostBylines; {
		if m.marks[i].end > root || !m.isByline(i) || m.marks[i].frame {
			i++
			continue
		}
		at := i
		for up := m.doc.nodes[at].parent; up >= from && m.marks[up].end <= root && m.textIn(up) <= longestByline; {
			at, up = up, m.doc.nodes[up].parent
		}
		all = append(all, at)
		i = m.marks[at].end
	}
	for i := m.doc.nodes[root].next; i != nobody && len(all) < mostBylines; i = m.doc.nodes[i].next {
		if m.isByline(i) {
			all = append(all, i)
		}
	}
	return all
}

// isByline tells a short element that is named for an author or a date.
func (m *measure) isByline(i int32) bool {
	return m.marks[i].purpose&isByline != 0 && m.textIn(i) > 0 && m.textIn(i) <= longestByline
}
