package main

import (
	"fmt"
	"strings"
)

// A sheet is a manual page that is being written, in the macros of man(7).
type sheet struct {
	strings.Builder
	fresh bool // a heading was the last that was written
}

// A stamp is what stands at the edges of a manual page.
type stamp struct{ date, release string }

// newSheet begins a page.
func newSheet(name string, number int, at stamp) *sheet {
	s := new(sheet)
	fmt.Fprintf(s, ".\\\" Written by docs-gen from the command itself.\n.TH %s %d %s \"%s\" \"helve manual\"\n", roff(strings.ToUpper(name)), number, at.date, roff(at.release))
	return s
}

// name is the section that indexes are made from.
func (s *sheet) name(name, short string) {
	s.heading("NAME")
	fmt.Fprintf(s, "%s \\- %s\n", roff(name), roff(short))
}

// heading begins a section.
func (s *sheet) heading(text string) { s.begin(".SH", text) }

// part begins a part of a section.
func (s *sheet) part(text string) { s.begin(".SS", text) }

func (s *sheet) begin(macro, text string) {
	fmt.Fprintf(s, "%s %s\n", macro, roff(text))
	s.fresh = true
}

// gap parts what comes from what is above it; below a heading there is one.
func (s *sheet) gap() {
	if !s.fresh {
		s.WriteString(".PP\n")
	}
	s.fresh = false
}

// paragraph writes text that is roff already.
func (s *sheet) paragraph(text string) {
	s.gap()
	s.WriteString(folded(text))
}

// item writes an entry of a list: what it is about, and what is said of it.
func (s *sheet) item(tag, text string) {
	fmt.Fprintf(s, ".TP\n%s\n%s", lineOf(tag), folded(text))
	s.fresh = false
}

// point writes an entry of a list without a name.
func (s *sheet) point(text string) {
	s.WriteString(".IP \\(bu 2\n" + folded(text))
	s.fresh = false
}

// lines writes text that stays as it is.
func (s *sheet) lines(text string) {
	s.gap()
	s.WriteString(".RS 4\n.nf\n")
	for line := range strings.SplitSeq(text, "\n") {
		s.WriteString(lineOf(roff(line)) + "\n")
	}
	s.WriteString(".fi\n.RE\n")
}

// help writes a help text.
func (s *sheet) help(text string) {
	for _, part := range blocks(text) {
		if part.verbatim {
			s.lines(part.text)
			continue
		}
		s.paragraph(roffSpans(spans(part.text)))
	}
}

// roffSpans sets what is typed in bold.
func roffSpans(list []span) string {
	var b strings.Builder
	for _, part := range list {
		switch {
		case part.text == "":
		case part.code:
			b.WriteString(bold(part.text))
		default:
			b.WriteString(roff(part.text))
		}
	}
	return b.String()
}

// bold is text that is typed as it stands; hyphens in it are no dashes.
func bold(text string) string { return `\fB` + strings.ReplaceAll(roff(text), "-", `\-`) + `\fR` }

// italic is text that something else is put in the place of.
func italic(text string) string { return `\fI` + roff(text) + `\fR` }

// roff escapes text. What is not ASCII is written by its number, which every
// formatter reads the same.
func roff(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r > 126:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// folded breaks text into lines that fit an editor.
func folded(text string) string {
	const width = 78
	var b strings.Builder
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			b.WriteString(lineOf(line) + "\n")
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	b.WriteString(lineOf(line) + "\n")
	return b.String()
}

// lineOf keeps a line from being read as a request.
func lineOf(text string) string {
	if strings.HasPrefix(text, ".") {
		return `\&` + text
	}
	return text
}
