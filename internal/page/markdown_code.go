package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// preformatted writes code between fences, and other text too where it would
// not be read as it is. A line of it, and lines that are links, stay text
// without any marks.
func (w *markdownWriter) preformatted(at int32, n *node) chain {
	inner := w.onlyCode(n)
	language, isCode := w.language(n, inner)
	if w.inCell && w.code == 0 {
		return w.around("\n\n", w.ticked(oneLine(w.plainText(&w.shapes[at]))), "\n\n")
	}
	if inner == nobody && !isCode && n.tag != atom.Table && (w.raw > 0 || !w.needsFence(at)) {
		w.raw++
		c := w.writeChildren(at)
		w.raw--
		return w.around("\n\n", c, "\n\n")
	}
	text := strings.TrimSuffix(w.plainText(&w.shapes[at]), "\n")
	fence := fenceFor(text)
	return w.chainOf("\n\n"+fence, language, "\n", text, "\n"+fence+"\n\n")
}

// needsFence tells whether preformatted text has lines, or a line that would
// be read as Markdown.
func (w *markdownWriter) needsFence(at int32) bool {
	me := &w.shapes[at]
	if me.listing {
		return false
	}
	if w.codeLines(me) > 1 {
		return true
	}
	text := strings.TrimRightFunc(w.plainText(me), isBlank)
	line := strings.TrimLeft(text, "\n")
	return escape(line, true) != line || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// onlyCode returns the element of code that a preformatted one starts with.
func (w *markdownWriter) onlyCode(n *node) int32 {
	for at := w.nextShown(n.first); at != nobody; at = w.nextShown(w.doc.nodes[at].next) {
		if w.doc.nodes[at].tag == atom.Code {
			return at
		}
		if w.doc.nodes[at].name != "" || strings.TrimLeftFunc(w.shapes[at].text, isBlank) != "" {
			break
		}
	}
	return nobody
}

// plainText returns the text of an element without any marks.
func (w *markdownWriter) plainText(me *shape) string {
	var out strings.Builder
	for _, at := range w.texts[me.from:me.to] {
		if w.spendStep(len(w.shapes[at].text)) {
			break
		}
		out.WriteString(w.shapes[at].text)
	}
	return out.String()
}

// language returns the language that preformatted text, the code in it or the
// boxes around it name; and whether these say that it is code. Only boxes that
// are there to show code count.
func (w *markdownWriter) language(n *node, inner int32) (name string, isCode bool) {
	if inner != nobody {
		name = languageOf(&w.doc.nodes[inner])
	}
	if name == "" {
		name = languageOf(n)
	}
	isCode = name != "" || showsCode(n)
	for range 2 {
		if n.parent == nobody || name != "" {
			break
		}
		box := w.box(n.parent)
		if !box.shows && (inner == nobody || !box.named) {
			break
		}
		n = &w.doc.nodes[n.parent]
		isCode, name = true, box.language
	}
	return name, isCode
}

// A codeBox is what an element says of the code in it.
type codeBox struct {
	language string
	shows    bool // it shows code
	named    bool // one of its classes is that of a language
}

// box reads the names of an element around code, once: much code may be in
// it.
func (w *markdownWriter) box(at int32) codeBox {
	box, known := w.boxes[at]
	if !known {
		n := &w.doc.nodes[at]
		box = codeBox{languageOf(n), showsCode(n), strings.Contains(n.classNames(), "language-")}
		w.made += len(n.classNames())
		w.boxes[at] = box
	}
	return box
}

// showsCode tells from the classes of an element whether it shows code with
// its words in colours.
func showsCode(n *node) bool {
	for word := range strings.FieldsSeq(n.classNames()) {
		switch {
		case strings.HasPrefix(word, "highlight"), word == "codehilite", word == "sourceCode", word == "prettyprint":
			return true
		}
	}
	return false
}

// languageOf finds the language that an element names in one of the ways that
// are customary.
func languageOf(n *node) string {
	for _, a := range []string{"data-language", "data-lang"} {
		if name := languageName(n.attr(a)); name != "" {
			return name
		}
	}
	words := strings.Fields(n.classNames())
	for _, start := range []string{"language-", "lang-", "highlight-source-", "highlight-"} {
		for _, word := range words {
			if rest, ok := strings.CutPrefix(word, start); ok && languageName(rest) != "" {
				return languageName(rest)
			}
		}
	}
	words = append(words, strings.Fields(headOf(n.attr("data-syntaxhighlighter-params"), mostNames))...)
	for i, word := range words[:max(0, len(words)-1)] {
		switch word {
		case "hljs", "sourceCode", "brush:":
			return languageName(strings.TrimRight(words[i+1], ";,"))
		}
	}
	return ""
}

// languageName returns the name of a language if it can be one.
func languageName(s string) string {
	if s == "default" || len(s) > 40 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '`' }) {
		return ""
	}
	return harmless(s)
}

// fenceFor returns a fence that no line of a text can close. Up to three
// spaces may stand before the fence that closes another.
func fenceFor(text string) string {
	size := 3
	for line := range strings.SplitSeq(text, "\n") {
		for blanks := 0; blanks < 3 && strings.HasPrefix(line, " "); blanks++ {
			line = line[1:]
		}
		run := len(line) - len(strings.TrimLeft(line, "`"))
		size = max(size, run+1)
	}
	return strings.Repeat("`", size)
}

// inlineCode writes code within a line between backticks, more of them than
// the code has in a row anywhere. Within it there are no marks; where all of
// it is a link, the link goes around it.
func (w *markdownWriter) inlineCode(at int32, trim bool) chain {
	w.code++
	c := w.writeChildren(at)
	w.code--
	if trim {
		c = w.trim(c)
	}
	if c.empty() {
		return c
	}
	c = w.ticked(strings.ReplaceAll(w.spend(c), "\n", " "))
	if only := w.nextShown(w.doc.nodes[at].first); only != nobody && w.nextShown(w.doc.nodes[only].next) == nobody &&
		w.doc.nodes[only].tag == atom.A {
		return w.writeLink(&w.doc.nodes[only], c)
	}
	return c
}

// ticked puts backticks around code.
func (w *markdownWriter) ticked(code string) chain {
	if code == "" {
		return noChain()
	}
	mark := ticksFor(code)
	pad := ""
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") ||
		len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' && strings.Trim(code, " ") != "" {
		pad = " "
	}
	return w.chainOf(mark+pad, code, pad+mark)
}

// ticksFor returns the shortest row of backticks that a code does not have.
func ticksFor(code string) string {
	if !strings.Contains(code, "`") {
		return "`"
	}
	seen := map[int]bool{}
	run := 0
	for i := 0; i <= len(code); i++ {
		if i < len(code) && code[i] == '`' {
			run++
			continue
		}
		seen[run] = true
		run = 0
	}
	size := 1
	for seen[size] {
		size++
	}
	return strings.Repeat("`", size)
}
