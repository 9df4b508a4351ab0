package builtin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"helve/internal/text"
	"helve/internal/workspace"
	"helve/tool"
)

// readText shows the lines that were asked for. It reads no further than it
// has to and keeps no more than it shows.
func readText(ctx context.Context, path workspace.Path, file io.Reader, in readInput) (*tool.Result, error) {
	offset, limit := max(in.Offset, 0), readLines
	if in.Limit != nil {
		limit = *in.Limit
	}
	page, err := readPage(newLines(patient{ctx, file}), offset, limit)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if page.end && offset > page.total {
		return nil, tool.Fail("range", "Offset %d is out of range for this file (%d lines)", offset, page.total)
	}
	last := offset + len(page.lines)
	status := fmt.Sprintf("(End of file - total %d lines)", page.total)
	switch {
	case page.full:
		status = fmt.Sprintf("(Output truncated at %d bytes. Use 'offset' parameter to read beyond line %d)", readBytes, last)
	case !page.end:
		status = fmt.Sprintf("(File has more lines. Use 'offset' parameter to read beyond line %d)", last)
	}
	var out strings.Builder
	out.WriteString("<file>\n")
	for i, line := range page.lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "%05d| %s", offset+i+1, line)
	}
	out.WriteString("\n\n" + status + "\n</file>")
	return &tool.Result{
		Title: path.Title(), Output: out.String(),
		Metadata: map[string]any{
			"preview":   strings.Join(page.lines[:min(len(page.lines), readPreview)], "\n"),
			"truncated": !page.end || page.full,
		},
	}, nil
}

// A page is a run of lines.
type page struct {
	lines []string
	end   bool // the file has no line after them
	full  bool // the next line would not have fitted
	total int  // lines of the file, where end is set
}

func readPage(ls *lines, offset, limit int) (page, error) {
	var p page
	size := 0
	for {
		if p.total >= offset && len(p.lines) >= limit && !ls.done {
			return p, nil
		}
		line, ok, err := ls.next()
		if err != nil {
			return p, err
		}
		if !ok {
			p.end = true
			return p, nil
		}
		p.total++
		if p.total <= offset {
			continue
		}
		size += len(line)
		if len(p.lines) > 0 {
			size++
		}
		if size > readBytes {
			p.full = true
			return p, nil
		}
		p.lines = append(p.lines, line)
	}
}

// A patient reader reads until its caller gives up: a file may be one line
// that takes minutes.
type patient struct {
	ctx context.Context
	r   io.Reader
}

// Read reads, unless the caller has given up.
func (p patient) Read(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	return p.r.Read(b)
}

// lines yields the lines of a text: what stands between line feeds, so that a
// text that ends in one has an empty line at its end. A line is cut where it
// grows too long, and only its beginning is ever held.
type lines struct {
	r     *bufio.Reader
	first bool
	done  bool
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), first: true}
}

// lineKeep is enough bytes for readLineUnits units of any text.
const lineKeep = readLineUnits*4 + 8

func (l *lines) next() (string, bool, error) {
	if l.done {
		return "", false, nil
	}
	var kept []byte
	for {
		part, err := l.r.ReadSlice('\n')
		kept = append(kept, part[:min(len(part), lineKeep-len(kept))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			l.done = true
		case err != nil:
			return "", false, err
		}
		break
	}
	line := strings.TrimSuffix(string(kept), "\n")
	if l.first {
		line = strings.TrimPrefix(line, "\ufeff")
		l.first = false
	}
	line = wellFormed(line)
	if cut, short := text.CutUTF16(line, readLineUnits); short {
		line = cut + "..."
	}
	return line, true, nil
}

// wellFormed replaces each byte that is not part of a character.
func wellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
