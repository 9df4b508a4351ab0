package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// declared returns the encoding that the start of a page says it is in. What
// says UTF-16 there is not so: it could not have been read.
func declared(head []byte) script {
	if s := byZeros(head); s.name != "" {
		return s
	}
	src := string(head)
	s := inMeta(src)
	if s.name == "" {
		s = inProlog(src)
	}
	switch {
	case strings.HasPrefix(s.name, "utf-16"):
		return scriptOf(utf8Name)
	case s.name == "x-user-defined":
		return western()
	}
	return s
}

// byZeros knows UTF-16 by a first tag whose every other byte is 0.
func byZeros(head []byte) script {
	if len(head) < 4 {
		return script{}
	}
	switch a, b, c, d := head[0], head[1], head[2], head[3]; {
	case a == '<' && b == 0 && c != 0 && d == 0:
		return scriptOf("utf-16le")
	case a == 0 && b == '<' && c == 0 && d != 0:
		return scriptOf("utf-16be")
	}
	return script{}
}

// inMeta returns what the first meta element with a known encoding says.
func inMeta(src string) script {
	s := scanner{src: src, words: newWords(src)}
	for {
		switch s.next() {
		case atEnd:
			return script{}
		case atData:
			s.skipTo(s.pos+2, ">")
		case atStart:
			if s.tag == atom.Meta {
				if found := metaCharset(s.attrs); found.name != "" {
					return found
				}
			}
			if s.traits&verbatim != 0 {
				s.verbatim(s.name)
			}
		}
	}
}

// metaCharset returns the encoding that a meta element tells.
func metaCharset(attrs []attr) script {
	n := node{attrs: attrs}
	if s := scriptOf(n.attr("charset")); s.name != "" {
		return s
	}
	if !strings.EqualFold(strings.TrimSpace(n.attr("http-equiv")), "content-type") {
		return script{}
	}
	return scriptOf(charsetIn(strings.ToLower(n.attr("content"))))
}

// charsetIn returns what stands after "charset=" in a content type.
func charsetIn(content string) string {
	const blanks = " \t\r\n\f"
	for {
		_, after, found := strings.Cut(content, "charset")
		if !found {
			return ""
		}
		value, found := strings.CutPrefix(strings.TrimLeft(after, blanks), "=")
		if !found {
			content = after
			continue
		}
		value = strings.TrimLeft(value, blanks)
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			value, _, _ = strings.Cut(value[1:], value[:1])
			return value
		}
		if i := strings.IndexAny(value, ";"+blanks); i >= 0 {
			value = value[:i]
		}
		return value
	}
}

// inProlog returns the encoding that an XML declaration tells.
func inProlog(src string) script {
	if !strings.HasPrefix(src, "<?xml") {
		return script{}
	}
	prolog, _, _ := strings.Cut(src, ">")
	_, value, _ := strings.Cut(prolog, "encoding")
	value, found := strings.CutPrefix(strings.TrimLeft(value, " \t\r\n"), "=")
	value = strings.TrimLeft(value, " \t\r\n")
	if !found || value == "" || value[0] != '"' && value[0] != '\'' {
		return script{}
	}
	value, _, _ = strings.Cut(value[1:], value[:1])
	return scriptOf(value)
}
