package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// A piece is something of a Markdown text that both converters should find in
// a page: its kind, and what it says in a form that can be compared.
type piece struct{ kind, value string }

// kinds are what pieces are made of, in the order they are reported.
func kinds() []string { return []string{"heading", "link", "image", "code", "item", "quote"} }

// An outliner reads Markdown line by line. It knows the style both converters
// write and no other.
type outliner struct {
	found []piece
	prose strings.Builder // what is not code, for links and images
	quote strings.Builder
	depth int // of the quote

	fence  string // that closes the code, "" outside of code
	indent string // of the lines of the code
	lang   string
	code   []string

	item, head, open *regexp.Regexp
}

// outline lists the pieces of a Markdown text.
func outline(markdown string) []piece {
	o := &outliner{
		item: regexp.MustCompile(`^( *)(?:-|\d+\.) {2,3}(\S.*)$`),
		head: regexp.MustCompile(`^(#{1,6}) (.*)$`),
		open: regexp.MustCompile("^( *)(`{3,})([^`]*)$"),
	}
	for line := range strings.Lines(markdown) {
		o.line(strings.TrimSuffix(line, "\n"))
	}
	o.endQuote()
	if o.fence != "" {
		o.endCode()
	}
	o.inline(o.prose.String())
	return o.found
}

func (o *outliner) add(kind, value string) { o.found = append(o.found, piece{kind, value}) }

func (o *outliner) line(line string) {
	if o.fence != "" {
		_, rest := quoted(line, o.depth)
		if strings.TrimSpace(rest) == o.fence {
			o.endCode()
		} else {
			o.code = append(o.code, strings.TrimPrefix(rest, o.indent))
		}
		return
	}
	depth, rest := quoted(line, len(line))
	if depth != o.depth {
		o.endQuote()
		o.depth = depth
	}
	if depth > 0 {
		o.quote.WriteString(rest + "\n")
	}
	for inner := 0; ; {
		m := o.item.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		inner += len(m[1]) / 4
		o.add("item", fmt.Sprintf("%d %s", inner, bare(m[2])))
		rest = m[2]
		inner++
	}
	if m := o.open.FindStringSubmatch(rest); m != nil {
		o.indent, o.fence, o.lang = m[1], m[2], m[3]
		return
	}
	if m := o.head.FindStringSubmatch(strings.TrimLeft(rest, " ")); m != nil {
		o.add("heading", fmt.Sprintf("%d %s", len(m[1]), bare(m[2])))
	}
	o.prose.WriteString(rest + "\n")
}

// quoted takes the marks of quotes from a line, of so many at the most.
func quoted(line string, most int) (depth int, rest string) {
	rest = line
	for depth < most {
		after, ok := strings.CutPrefix(strings.TrimLeft(rest, " "), ">")
		if !ok {
			break
		}
		depth++
		rest = strings.TrimPrefix(after, " ")
	}
	return depth, rest
}

func (o *outliner) endCode() {
	o.add("code", o.lang+"\n"+strings.TrimRight(strings.Join(o.code, "\n"), "\n"))
	o.fence, o.lang, o.code = "", "", nil
}

func (o *outliner) endQuote() {
	if o.depth > 0 {
		if text := bare(o.quote.String()); text != "" {
			o.add("quote", fmt.Sprintf("%d %s", o.depth, text))
		}
	}
	o.quote.Reset()
	o.depth = 0
}

// inline finds links and images, also those inside of links.
func (o *outliner) inline(text string) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			i = afterCode(text, i) - 1
		case '[':
			label, target, _, ok := link(text, i)
			if !ok {
				continue
			}
			if i > 0 && text[i-1] == '!' {
				o.add("image", bare(label)+" "+target)
			} else if bare(label) != "" || strings.Contains(label, "](") {
				o.add("link", bare(label)+" "+target)
			}
		}
	}
}

// afterCode returns where the code that starts at i ends; a run of backticks
// that is not closed is text.
func afterCode(text string, i int) int {
	n := 0
	for i+n < len(text) && text[i+n] == '`' {
		n++
	}
	run := text[i : i+n]
	for at := i + n; at < len(text); {
		j := strings.Index(text[at:], run)
		if j < 0 {
			break
		}
		end := at + j + n
		if end == len(text) || text[end] != '`' {
			return end
		}
		for end < len(text) && text[end] == '`' {
			end++
		}
		at = end
	}
	return i + n
}

// link reads [label](target "title") at i.
func link(text string, i int) (label, target string, end int, ok bool) {
	at := closing(text, i, "[]")
	if at < 0 || at+1 >= len(text) || text[at+1] != '(' {
		return "", "", 0, false
	}
	end = closing(text, at+1, "()")
	if end < 0 {
		return "", "", 0, false
	}
	label, target = text[i+1:at], text[at+2:end]
	if q := strings.Index(target, ` "`); q >= 0 {
		target = target[:q]
	}
	target = strings.NewReplacer(`\(`, "(", `\)`, ")", " ", "%20", "\n", "").Replace(strings.Trim(target, "<>"))
	return label, target, end + 1, true
}

// closing returns where the bracket that opens at i is closed, -1 for nowhere.
// Code may hold brackets of its own, but not in a target.
func closing(text string, i int, pair string) int {
	level := 0
	for at := i; at < len(text); at++ {
		switch c := text[at]; {
		case c == '\\':
			at++
		case c == '`' && pair == "[]":
			at = afterCode(text, at) - 1
		case c == pair[0]:
			level++
		case c == pair[1]:
			if level--; level == 0 {
				return at
			}
		}
	}
	return -1
}

// bare leaves the letters and digits of a text, so that escapes, emphasis and
// blanks do not count. The targets of links in it are left out.
func bare(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		if text[i] == '[' {
			if label, _, end, ok := link(text, i); ok && end <= len(text) {
				out.WriteString(bare(label))
				i = end
				continue
			}
		}
		r := []rune(text[i:min(len(text), i+4)])[0]
		if unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.So) {
			out.WriteRune(r)
		}
		i += len(string(r))
	}
	return out.String()
}
