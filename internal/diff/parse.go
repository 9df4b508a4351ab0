package diff

import (
	"fmt"
	"strings"

	"github.com/helve-dev/helve/internal/text"
)

const (
	beginMark = "*** Begin Patch"
	endMark   = "*** End Patch"
	addMark   = "*** Add File:"
	delMark   = "*** Delete File:"
	updMark   = "*** Update File:"
	moveMark  = "*** Move to:"
	eofMark   = "*** End of File"
)

// Parse parses a patch. It ignores text around it, such as prose, a code fence or a here-document,
// unless that contains more of a patch. If the text is invalid, the error is a [*SyntaxError].
func Parse(patchText string) (Patch, error) {
	if trim(patchText) == "" {
		return Patch{}, &SyntaxError{Code: "patch-empty", Msg: "patchText is required"}
	}
	p := &parser{lines: strings.Split(patchText, "\n")}
	begin, err := p.frame()
	if err != nil {
		return Patch{}, err
	}
	p.at = begin + 1
	if err := p.hunks(); err != nil {
		return Patch{}, err
	}
	// No part of a patch may stand before or after it.
	for i, line := range p.lines[:begin] {
		if isMark(trim(line)) {
			return Patch{}, p.syntaxError("patch-markers", i, "%s stands before %s", quote(line), beginMark)
		}
	}
	for i, line := range p.lines[p.at+1:] {
		if t := trim(line); isMark(t) || strings.HasPrefix(t, "@@") {
			return Patch{}, p.syntaxError("patch-trailing", p.at+1+i, "%s stands after %s; put all changes into one patch", quote(line), endMark)
		}
	}
	if len(p.patch.Hunks) == 0 {
		msg := "no hunks found"
		if p.onlyMarks(begin) {
			msg = "patch rejected: empty patch"
		}
		return Patch{}, &SyntaxError{Code: "patch-empty", Msg: msg}
	}
	return p.patch, nil
}

// A parser reads the lines of a text one after the other.
type parser struct {
	lines []string
	at    int // the line being read
	last  int // the last line that could end the patch
	patch Patch
}

// syntaxError returns an error about the line with the index i.
func (p *parser) syntaxError(code string, i int, format string, args ...any) error {
	return &SyntaxError{Code: code, Line: i + 1, Msg: fmt.Sprintf(format, args...)}
}

// frame finds the marks around the patch, and takes off the indentation that
// the patch shares with the first of them.
func (p *parser) frame() (begin int, err error) {
	begin, end := -1, -1
	for i, line := range p.lines {
		switch trim(line) {
		case beginMark:
			if begin < 0 {
				begin = i
			}
		case endMark:
			if end < 0 {
				end = i
			}
			p.last = i
		}
	}
	if begin < 0 || end < begin {
		return 0, &SyntaxError{Code: "patch-markers", Msg: "Invalid patch format: missing Begin/End markers"}
	}
	first := begin + 1
	for first < p.last && trim(p.lines[first]) == "" {
		first++
	}
	indent := p.lines[begin][:strings.Index(p.lines[begin], "***")]
	if indent != "" && strings.HasPrefix(p.lines[first], indent+"***") && first < end {
		for i := begin; i <= p.last; i++ {
			p.lines[i] = strings.TrimPrefix(p.lines[i], indent)
		}
	}
	return begin, nil
}

// end reports whether the line being read ends the patch. An indented mark
// does so only if no other follows: it may be a line that is kept.
func (p *parser) end() bool {
	line := p.lines[p.at]
	return trim(line) == endMark && (p.at == p.last || strings.HasPrefix(line, "***"))
}

// isMark reports whether a line belongs to a patch and hardly to any prose.
func isMark(line string) bool {
	for _, mark := range [...]string{addMark, delMark, updMark, moveMark} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return line == beginMark || line == endMark || line == eofMark
}

// onlyMarks reports whether the text is the two marks and nothing else.
func (p *parser) onlyMarks(begin int) bool {
	for i, line := range p.lines {
		if i != begin && i != p.at && trim(line) != "" {
			return false
		}
	}
	return true
}

// hunks reads up to the end of the patch.
func (p *parser) hunks() error {
	for !p.end() {
		line := trim(p.lines[p.at])
		var err error
		switch {
		case line == "":
			p.at++
		case strings.HasPrefix(line, addMark):
			err = p.add()
		case strings.HasPrefix(line, delMark):
			_, err = p.open(Delete, delMark)
		case strings.HasPrefix(line, updMark):
			err = p.update()
		case strings.HasPrefix(line, "***"):
			err = p.syntaxError("patch-header", p.at, "unknown header %s: expected %s, %s or %s and a path", quote(line), addMark, updMark, delMark)
		default:
			err = p.syntaxError("patch-unknown-line", p.at, "unexpected line %s: expected %s, %s, %s or %s", quote(line), addMark, updMark, delMark, endMark)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// open reads a header and adds its hunk.
func (p *parser) open(kind Kind, mark string) (*Hunk, error) {
	path, err := p.headerPath(mark)
	if err != nil {
		return nil, err
	}
	p.patch.Hunks = append(p.patch.Hunks, Hunk{Kind: kind, Path: path, Line: p.at + 1})
	p.at++
	return &p.patch.Hunks[len(p.patch.Hunks)-1], nil
}

// headerPath returns what follows the mark.
func (p *parser) headerPath(mark string) (string, error) {
	path := trim(strings.TrimPrefix(trim(p.lines[p.at]), mark))
	if path == "" {
		return "", p.syntaxError("patch-header", p.at, "%s has no path: expected one after the colon", mark)
	}
	return path, nil
}

// add reads a new file. Its lines end as they were sent.
func (p *parser) add() error {
	h, err := p.open(Add, addMark)
	if err != nil {
		return err
	}
	var lines []string
	blank := -1 // an empty line, which may only stand after the last
	for ; !p.end(); p.at++ {
		line := p.lines[p.at]
		header := trim(line)
		if header == eofMark {
			continue // says what is clear
		}
		if strings.HasPrefix(header, "***") {
			break
		}
		if header == "" {
			if blank < 0 {
				blank = p.at
			}
			continue
		}
		at := p.at
		if blank >= 0 {
			at = blank
		}
		if blank >= 0 || line[0] != '+' {
			return p.syntaxError("patch-unknown-line", at, "unexpected line %s: every line of a new file starts with +, also an empty one", quote(p.lines[at]))
		}
		lines = append(lines, line[1:])
	}
	h.Content = strings.Join(lines, "\n")
	return nil
}

func isEOF(line string) bool {
	return strings.HasPrefix(line, "***") && trim(line) == eofMark
}

// update reads the changes of a file.
func (p *parser) update() error {
	h, err := p.open(Update, updMark)
	if err != nil {
		return err
	}
	if strings.HasPrefix(p.lines[p.at], moveMark) {
		if h.MoveTo, err = p.headerPath(moveMark); err != nil {
			return err
		}
		p.at++
	}
	c := &chunker{h: h}
	for ; !p.end(); p.at++ {
		line := strings.TrimSuffix(p.lines[p.at], "\r")
		if strings.HasPrefix(line, "***") && !isEOF(line) {
			if strings.HasPrefix(line, moveMark) {
				return p.syntaxError("patch-header", p.at, "%s must be the line after %s", moveMark, updMark)
			}
			break
		}
		if problem := c.take(line, p.at+1); problem != nil {
			problem.Line = p.at + 1
			return problem
		}
	}
	if h.MoveTo == "" && !h.changes() {
		at := h.Line
		if len(h.Chunks) > 0 {
			at = h.Chunks[0].Line
		}
		return p.syntaxError("patch-empty-hunk", at-1, "the update of %s changes nothing: expected at least one @@ chunk with lines that start with - or +", quote(h.Path))
	}
	return nil
}

// changes reports whether a hunk adds or removes a line.
func (h *Hunk) changes() bool {
	for _, c := range h.Chunks {
		for _, l := range c.Lines {
			if l.Kind != ' ' {
				return true
			}
		}
	}
	return false
}

// A chunker puts lines into the chunks of a hunk.
type chunker struct {
	h      *Hunk
	open   bool // lines go to the last chunk
	closed bool // the last chunk was said to end the file
	blanks int  // empty lines seen: kept lines of the file if more follow
}

// take takes the next line; n is its number.
func (c *chunker) take(line string, n int) *SyntaxError {
	switch {
	case strings.HasPrefix(line, "@@"):
		c.openChunk(trim(line[2:]), n)
	case isEOF(line):
		if !c.open {
			return &SyntaxError{Code: "patch-header", Msg: eofMark + " stands after no chunk"}
		}
		c.h.Chunks[len(c.h.Chunks)-1].EndOfFile = true
		c.open, c.closed = false, true
	case line == "" || line[0] != ' ' && trim(line) == "":
		c.blanks++
	case line[0] == ' ' || line[0] == '-' || line[0] == '+':
		if c.closed {
			return &SyntaxError{Code: "patch-unknown-line", Msg: fmt.Sprintf("unexpected line %s after %s: expected @@ or a header", quote(line), eofMark)}
		}
		if !c.open {
			c.openChunk("", n)
		}
		k := &c.h.Chunks[len(c.h.Chunks)-1]
		for ; c.blanks > 0; c.blanks-- {
			k.Lines = append(k.Lines, Line{Kind: ' '})
		}
		k.Lines = append(k.Lines, Line{Kind: line[0], Text: line[1:]})
	default:
		return &SyntaxError{Code: "patch-unknown-line", Msg: fmt.Sprintf("unexpected line %s: expected @@, or a line that starts with a space (kept), - (removed) or + (added)", quote(line))}
	}
	return nil
}

// openChunk opens a chunk. Empty lines before it only set it apart.
func (c *chunker) openChunk(context string, n int) {
	c.h.Chunks = append(c.h.Chunks, Chunk{Context: context, Line: n})
	c.open, c.closed, c.blanks = true, false, 0
}

// quote shows the beginning of a line.
func quote(line string) string {
	short, more := text.Cut(strings.TrimSuffix(line, "\r"), 120)
	if more {
		return fmt.Sprintf("%q...", short)
	}
	return fmt.Sprintf("%q", short)
}
