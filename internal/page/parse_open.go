package page

import "golang.org/x/net/html/atom"

// An open element is one whose end has not been seen yet.
type open struct {
	name    string
	node    int32
	last    int32 // of its children, the last so far; 0 for none
	tag     atom.Atom
	traits  trait
	slot    uint8
	foreign bool // of a drawing or a formula; a fence where its content is HTML
	done    bool // it ends with the last block inside it
}

// opens is the list of open elements, the root first. It is searched for
// nearly every tag, so it counts what it holds: most searches are for what is
// not there. No search is longer than maxDepth.
type opens struct {
	list   []open
	counts [256]int16 // by slot
	parts  int        // open parts of tables
	steps  int        // elements looked at
}

// slotOf returns where an element is counted. All headings are one. The
// factors are such that the tags pages are made of have a slot each.
func slotOf(name string, traits trait) uint8 {
	if traits&heading != 0 {
		name = "h1"
	}
	if name == "" {
		return 0
	}
	return uint8(len(name))*228 + name[0]*196 + name[len(name)/2]*154 + name[len(name)-1]*59
}

func (l *opens) last() *open { return &l.list[len(l.list)-1] }

func (l *opens) push(o open) {
	o.slot = slotOf(o.name, o.traits)
	l.counts[o.slot]++
	if o.traits&tabular != 0 {
		l.parts++
	}
	l.list = append(l.list, o)
}

// truncate closes all from a place on.
func (l *opens) truncate(at int) {
	for i := at; i < len(l.list); i++ {
		o := &l.list[i]
		if !o.done {
			l.counts[o.slot]--
		}
		if o.traits&tabular != 0 {
			l.parts--
		}
	}
	l.list = l.list[:at]
}

// find returns the place of the innermost HTML element of a tag, 0 where there
// is none before one that is a limit.
func (l *opens) find(tag atom.Atom, limit trait) int {
	if l.counts[slotOf(tag.String(), 0)] == 0 {
		return 0
	}
	for i := len(l.list) - 1; i > 0; i-- {
		l.steps++
		o := &l.list[i]
		if o.tag == tag && !o.foreign {
			return i
		}
		if o.traits&limit != 0 {
			break
		}
	}
	return 0
}

// findAny is find for elements that have a trait.
func (l *opens) findAny(meant, limit trait) int {
	for i := len(l.list) - 1; i > 0; i-- {
		l.steps++
		o := &l.list[i]
		if o.traits&meant != 0 {
			return i
		}
		if o.traits&limit != 0 {
			break
		}
	}
	return 0
}

// findHeading is find for a heading of any rank.
func (l *opens) findHeading() int {
	if l.counts[slotOf("h1", heading)] == 0 {
		return 0
	}
	return l.findAny(heading, fence)
}

// findNamed is find for elements that no rule names.
func (l *opens) findNamed(name string) int {
	if l.counts[slotOf(name, 0)] == 0 {
		return 0
	}
	for i := len(l.list) - 1; i > 0; i-- {
		l.steps++
		o := &l.list[i]
		if o.name == name && !o.foreign {
			return i
		}
		if o.traits&(special|fence) != 0 {
			break
		}
	}
	return 0
}

// findForeign is find for foreign elements; through says that HTML inside it
// is no limit.
func (l *opens) findForeign(name string, through bool) int {
	if l.counts[slotOf(name, 0)] == 0 {
		return 0
	}
	for i := len(l.list) - 1; i > 0; i-- {
		l.steps++
		o := &l.list[i]
		if o.foreign && o.name == name {
			return i
		}
		if !o.foreign && !through {
			break
		}
	}
	return 0
}

// findInline returns the place of formatting that is not closed yet, and
// whether there are blocks inside it.
func (l *opens) findInline(tag atom.Atom) (at int, crossed bool) {
	if l.counts[slotOf(tag.String(), 0)] == 0 {
		return 0, false
	}
	for i := len(l.list) - 1; i > 0; i-- {
		l.steps++
		o := &l.list[i]
		switch {
		case o.tag == tag && !o.done && !o.foreign:
			return i, crossed
		case o.traits&fence != 0:
			return 0, false
		case o.traits&special != 0:
			crossed = true
		}
	}
	return 0, false
}

// findPart returns the place of the outermost part of a table that is inside
// all limits.
func (l *opens) findPart(limit trait) int {
	at := 0
	if l.parts == 0 {
		return 0
	}
	for i := len(l.list) - 1; i > 0; i-- {
		l.steps++
		o := &l.list[i]
		if o.traits&limit != 0 {
			break
		}
		if o.traits&tabular != 0 {
			at = i
		}
	}
	return at
}
