package page

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"
)

// longestBase bounds what completing a link costs, for a page may have very
// many of them.
const longestBase = 512

// baseOf reads the address that relative links start at; nil without one.
func baseOf(base string) *url.URL {
	if base == "" || len(base) > longestBase {
		return nil
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	return u
}

// writeLink writes a link around its text. Links that would run a program, or are
// all there is of a document, keep their text only; those that show nothing
// and lead to a place on the page are only there to be led to.
func (w *markdownWriter) writeLink(n *node, text chain) chain {
	href := w.address(n.attr("href"))
	if href == "" || w.code > 0 || isScript(href) || scheme(href) == "data" || text.empty() && strings.HasPrefix(n.attr("href"), "#") {
		return text
	}
	return w.around("[", text, "]("+parentheses(href)+linkTitle(n)+")")
}

// writePendingLink writes the children of a node while a link waits for words to be on.
func (w *markdownWriter) writePendingLink(at int32) chain {
	out, words := noChain(), noChain()
	link, said := w.waiting, false
	cost := len(w.doc.nodes[link].attr("href")) + len(w.doc.nodes[link].attr("title")) // once more for every image
	flush := func() {
		if w.waiting != nobody && w.hasText(words) && (said || w.spare >= 0) {
			if said {
				w.waiting = nobody
			} else {
				w.spare -= cost
			}
			words = w.writeLink(&w.doc.nodes[link], w.trim(words))
		}
		out, words = w.join(out, words), noChain()
	}
	for c := w.doc.nodes[at].first; c != nobody && !w.spendStep(0); c = w.doc.nodes[c].next {
		n, me := &w.doc.nodes[c], &w.shapes[c]
		if me.gone {
			continue
		}
		if n.name != "" && (me.blocky || w.isBlock(n)) {
			flush()
			out = w.join(out, w.child(c))
			continue
		}
		said = said || w.says(c)
		waiting := w.waiting
		w.waiting = nobody
		words = w.join(words, w.child(c))
		w.waiting = waiting
	}
	flush()
	return w.join(out, noChain())
}

// says tells whether there are words in a node, and not just images.
func (w *markdownWriter) says(at int32) bool {
	me := &w.shapes[at]
	if w.doc.nodes[at].name == "" {
		return me.tail > 0
	}
	for i := me.from; i < me.to && i < me.from+farthest; i++ {
		if w.shapes[w.texts[i]].tail > 0 {
			return true
		}
	}
	return false
}

// address returns an address as a browser reads it: without the blanks around
// it and the line ends in it, and complete where the page has a base. Blanks
// are encoded, for they would end it.
func (w *markdownWriter) address(raw string) string {
	s := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	if strings.ContainsFunc(s, unicode.IsControl) {
		s = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, s)
	}
	s = strings.ReplaceAll(s, " ", "%20")
	if w.base == nil || s == "" || scheme(s) != "" || w.spare < 0 {
		return s
	}
	u, err := w.base.Parse(s)
	if err != nil {
		return s
	}
	full := u.String()
	w.spare -= len(full) - len(s)
	return full
}

// scheme returns what stands before the colon of an address, in lower case;
// "" for a relative one.
func scheme(address string) string {
	for i := range len(address) {
		c := address[i] | 0x20
		switch {
		case address[i] == ':':
			return strings.ToLower(address[:i])
		case c >= 'a' && c <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || address[i] == '+' || address[i] == '-' || address[i] == '.'):
		default:
			return ""
		}
	}
	return ""
}

// isScript tells the addresses that would run a program.
func isScript(address string) bool {
	s := scheme(address)
	return s == "javascript" || s == "vbscript"
}

// parentheses escapes what would end an address.
func parentheses(s string) string {
	if !strings.ContainsAny(s, "()") {
		return s
	}
	return strings.NewReplacer("(", `\(`, ")", `\)`).Replace(s)
}

// linkTitle returns the title of a link or an image as it stands after the
// address.
func linkTitle(n *node) string {
	s := onOneLine(n.attr("title"))
	if s == "" {
		return ""
	}
	return ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// altOf returns what an image says to those who do not see it. Nothing in it
// ends it, or begins anything else.
func altOf(n *node) string {
	s := onOneLine(n.attr("alt"))
	if !strings.ContainsAny(s, "\\[]`") {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "`", "\\`").Replace(s)
}

// onOneLine makes one line of an attribute.
func onOneLine(s string) string {
	return strings.TrimFunc(collapse(harmless(s)), isBlank)
}

// image writes an image.
func (w *markdownWriter) image(at int32, n *node) string {
	src := w.imageSource(at, n)
	if scheme(src) == "data" { // what it is, without what it shows
		src, _, _ = strings.Cut(src, ",")
		src, _, _ = strings.Cut(src, ";")
	}
	if src = w.address(src); src == "" || isScript(src) {
		return ""
	}
	return "![" + altOf(n) + "](" + src + linkTitle(n) + ")"
}

// imageSource returns where an image is from. Pages that load their images late
// have something else in src until then.
func (w *markdownWriter) imageSource(at int32, n *node) string {
	src := strings.TrimSpace(n.attr("src"))
	if !isPlaceholder(src) {
		return src
	}
	if other := lateSource(n); other != "" {
		return other
	}
	if twin, ok := w.twins[at]; ok {
		other := &w.doc.nodes[twin]
		if s := strings.TrimSpace(other.attr("src")); !isPlaceholder(s) {
			return s
		}
	}
	if n.parent != nobody && w.doc.nodes[n.parent].tag == atom.Picture {
		if s := w.pictured(n.parent); s != "" {
			return s
		}
	}
	return src
}

// isPlaceholder tells what stands in src until an image is loaded.
func isPlaceholder(src string) bool {
	return src == "" || src == "#" || src == "about:blank" || scheme(src) == "data"
}

// lateSource returns what an image is to be loaded from later.
func lateSource(n *node) string {
	for _, name := range []string{"data-src", "data-original", "data-lazy-src", "data-srcset", "srcset"} {
		s := strings.TrimSpace(n.attr(name))
		if strings.HasSuffix(name, "srcset") {
			s = firstOf(s)
		}
		if !isPlaceholder(s) {
			return s
		}
	}
	return ""
}

// firstOf returns the first candidate of a set of sources.
func firstOf(set string) string {
	set = strings.TrimLeft(set, ", \t\n\r\f")
	if end := strings.IndexAny(set, " \t\n\r\f"); end >= 0 {
		set = set[:end]
	}
	return strings.TrimRight(set, ",")
}

// pictured returns where a picture is from, and looks for it once: there may
// be many images in it.
func (w *markdownWriter) pictured(at int32) string {
	src, known := w.pictures[at]
	if !known {
		src = w.firstSource(at)
		w.pictures[at] = src
	}
	return src
}

// firstSource returns the source of a picture, a film or a sound that its
// children name.
func (w *markdownWriter) firstSource(at int32) string {
	for c := w.doc.nodes[at].first; c != nobody && !w.ended; c = w.doc.nodes[c].next {
		w.made++
		n := &w.doc.nodes[c]
		if n.tag != atom.Source {
			continue
		}
		for _, s := range []string{strings.TrimSpace(n.attr("src")), firstOf(n.attr("srcset")), firstOf(n.attr("data-srcset"))} {
			if !isPlaceholder(s) {
				return s
			}
		}
	}
	return ""
}

// twin looks for what a page shows in place of an image to those without
// scripts: it has the source, and would show the image twice.
func (s *shaping) twin(at int32, n *node) {
	if !isPlaceholder(strings.TrimSpace(n.attr("src"))) {
		return
	}
	next := s.solid(n.next)
	if next == nobody || s.doc.nodes[next].tag != atom.Noscript {
		return
	}
	only := s.solid(s.doc.nodes[next].first)
	if only == nobody || s.doc.nodes[only].tag != atom.Img || s.solid(s.doc.nodes[only].next) != nobody {
		return
	}
	if s.twins == nil {
		s.twins = map[int32]int32{}
	}
	s.twins[at] = only
	s.shapes[next].gone = true
}

// solid returns the first node from here on that is not just blanks.
func (s *shaping) solid(at int32) int32 {
	for at != nobody && s.doc.nodes[at].name == "" && strings.TrimLeftFunc(s.doc.nodes[at].text, isBlank) == "" {
		at = s.doc.nodes[at].next
	}
	return at
}

// media writes a sound or a film: a link to it, or else what the page says to
// those who can not play it.
func (w *markdownWriter) media(at int32, n *node) chain {
	if src := w.recording(at, n); src != "" {
		return w.chainOf("[" + n.name + "](" + parentheses(src) + ")")
	}
	return w.writeChildren(at)
}

// recording returns where a sound or a film is from, "" where no link can lead
// there.
func (w *markdownWriter) recording(at int32, n *node) string {
	src := strings.TrimSpace(n.attr("src"))
	if isPlaceholder(src) {
		src = w.firstSource(at)
	}
	if src = w.address(src); isPlaceholder(src) || isScript(src) {
		return ""
	}
	return src
}

// frame writes a page within the page: what it says to those who can not show
// it, or else a link to it. Frames nobody can see are for counting visitors.
func (w *markdownWriter) frame(n *node, text chain) chain {
	if w.hasText(text) || isDot(n.attr("width")) || isDot(n.attr("height")) ||
		strings.Contains(strings.ReplaceAll(n.attr("style"), " ", ""), "display:none") {
		return text
	}
	src := strings.TrimSpace(n.attr("src"))
	if isPlaceholder(src) {
		src = strings.TrimSpace(n.attr("data-src"))
	}
	return w.beside("frame", src, text)
}

func isDot(size string) bool {
	size = strings.TrimSuffix(strings.TrimSpace(size), "px")
	return size == "0" || size == "1"
}

// beside writes a link with a text after it.
func (w *markdownWriter) beside(name, src string, text chain) chain {
	src = w.address(src)
	if isPlaceholder(src) || isScript(src) {
		return text
	}
	c := w.chainOf("[" + name + "](" + parentheses(src) + ")")
	if text = w.trim(text); !text.empty() {
		c = w.around("", c, " ")
	}
	return w.add(c, text)
}
