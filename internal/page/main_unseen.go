package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// How far the parts of a page are looked at that are said twice or beside it:
// how many children of an element, and how deep.
const (
	nearby  = 8
	shallow = 6
)

// unseen tells the elements that are shown beside the text, or show again what
// is there already: the numbers of lines of code, a button to copy it, the
// further forms of a formula.
func (d *Doc) unseen(n *node) bool {
	if n.parent == nobody {
		return false
	}
	if inFormula(n.tag) && d.isFurtherForm(n) {
		return true
	}
	for word := range strings.FieldsSeq(n.classNames()) {
		switch {
		case word == "katex-html", strings.HasPrefix(word, "mwe-math-fallback-image"):
			// The formula itself stands before what it looks like.
			first := d.nodes[n.parent].first
			if first == nobody || d.nodes[first].first == nobody {
				return false
			}
			return d.nodes[d.nodes[first].first].tag == atom.Math
		case isNumbering(word, n.tag):
			return d.numbers(n, 0) && (n.tag == atom.Td || d.insideTag(n, atom.Pre) || d.insideTag(n, atom.Code))
		}
	}
	return d.copies(n)
}

// inFormula tells the tags that a part of a formula may have.
func inFormula(tag atom.Atom) bool {
	switch tag {
	case 0, atom.Annotation, atom.AnnotationXml, atom.Mi, atom.Mo, atom.Mn, atom.Ms, atom.Mtext:
		return true
	}
	return false
}

// isFurtherForm tells a form of a formula that another one stands for.
func (d *Doc) isFurtherForm(n *node) bool {
	switch n.name {
	case "annotation", "annotation-xml":
		return !isTeX(n)
	case "mjx-assistive-mml":
		return true
	}
	up := &d.nodes[n.parent]
	return up.name == "semantics" && d.hasTeX(up)
}

// isPadding tells the blanks that only keep the parts of a formula apart in
// the source.
func (d *Doc) isPadding(n *node) bool {
	if n.parent == nobody || d.nodes[n.parent].tag != 0 {
		return false
	}
	switch d.nodes[n.parent].name {
	case "msup", "msub", "mfrac", "semantics":
		return isAllBlank(n.text)
	}
	return false
}

// isTeX tells the form of a formula that is written in TeX.
func isTeX(n *node) bool {
	return n.name == "annotation" && n.says("encoding", "application/x-tex")
}

// hasTeX tells whether one of the forms of a formula is TeX.
func (d *Doc) hasTeX(n *node) bool {
	at := n.first
	for range nearby {
		if at == nobody {
			break
		}
		if isTeX(&d.nodes[at]) {
			return d.nodes[at].first != nobody
		}
		at = d.nodes[at].next
	}
	return false
}

// isNumbering tells the names that highlighters give to the numbers of lines.
func isNumbering(word string, tag atom.Atom) bool {
	switch word {
	case "linenos", "lineno", "linenumber", "line-number", "line-numbers", "gutter", "rouge-gutter", "blob-num", "hljs-ln-numbers", "hljs-ln-n":
		return true
	case "ln", "lnt", "gl", "linenodiv":
		return tag != atom.Td || word == "gl"
	}
	return false
}

// numbers tells whether there are only numbers in an element.
func (d *Doc) numbers(n *node, depth int) bool {
	if depth > shallow {
		return false
	}
	for at := n.first; at != nobody; at = d.nodes[at].next {
		c := &d.nodes[at]
		if c.name != "" {
			if !d.numbers(c, depth+1) {
				return false
			}
			continue
		}
		for i := range len(c.text) {
			if b := c.text[i]; (b < '0' || b > '9') && !isBlankByte(b) {
				return false
			}
		}
	}
	return true
}

// copies tells the buttons that stand at code to copy it.
func (d *Doc) copies(n *node) bool {
	if n.tag != atom.Button && n.name != "clipboard-copy" && !strings.Contains(n.classNames(), "copy") {
		return false
	}
	switch n.tag {
	case atom.Pre, atom.Code, atom.Body, atom.Html, atom.Table, atom.Figure:
		return false
	}
	said := strings.ToLower(d.little(n))
	if len(said) > 24 || said != "" && !strings.HasPrefix(said, "cop") ||
		said == "" && !strings.Contains(strings.ToLower(headOf(n.attr("aria-label"), mostNames)+headOf(n.attr("title"), mostNames)+n.classNames()), "copy") {
		return false
	}
	return d.atCode(n)
}

// little returns the text of an element that says little, and too much of
// that of any other.
func (d *Doc) little(n *node) string {
	if n.first == nobody {
		return ""
	}
	var out strings.Builder
	for i := n.first; int(i) < len(d.nodes) && d.nodes[i].parent >= n.first-1; i++ {
		c := &d.nodes[i]
		if i > n.first+4*nearby || out.Len() > 64 || c.tag == atom.Pre || c.tag == atom.Code {
			return "much more than one would say in a word or two, so whatever it is, it is something else"
		}
		out.WriteString(headOf(strings.TrimSpace(headOf(c.text, mostNames)), 64))
	}
	return out.String()
}

// atCode tells whether an element stands in preformatted text or beside it.
func (d *Doc) atCode(n *node) bool {
	for range 2 {
		if n.parent == nobody {
			return false
		}
		n = &d.nodes[n.parent]
		if n.tag == atom.Pre {
			return true
		}
		at := n.first
		for range nearby {
			if at == nobody {
				break
			}
			if d.nodes[at].tag == atom.Pre {
				return true
			}
			at = d.nodes[at].next
		}
	}
	return false
}
