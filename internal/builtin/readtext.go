package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/media"
	"github.com/helve-dev/helve/tool"
)

// text shows the requested lines, and records what the session has seen. It holds no more than it
// shows, except for a file small enough to be read completely.
func (r readTool) text(ctx context.Context, c *tool.Call, src openedFile, in readInput) (*tool.Result, error) {
	sight := files.ReadMark{When: time.Now(), Hash: files.StampOf(src.info)}
	raw := untilDone(ctx, src.file)
	sample, whole := src.head, false
	if src.info.Size() > readWhole {
		raw = untilDone(ctx, newSparse(src.file, src.info.Size()))
	} else {
		data, err := readAll(raw, src)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", src.path, err)
		}
		if whole = len(data) <= readWhole; whole {
			sample, sight.Hash = data, files.HashOf(data)
		}
		if raw = io.MultiReader(bytes.NewReader(data), raw); whole {
			raw = bytes.NewReader(data) // there is nothing after it
		}
	}
	enc, err := charset.Detect(sample, whole)
	unknown := errors.Is(err, charset.ErrUnknown)
	switch {
	case unknown && controls(sample) > 2+len(sample)/50: // a key, something encrypted
		return nil, charset.ErrBinary
	case err != nil && !unknown:
		return nil, err
	}
	if whole && strings.EqualFold(filepath.Ext(src.path.String()), ".ipynb") {
		if cells, err := media.Notebook(sample); err == nil {
			r.files.MarkRead(c.Session, src.path, sight)
			return textPage(src, strings.NewReader(cells), shape{}, in.Offset, textLimitFor(c, in))
		}
	}
	s := shape{enc: enc, unknown: unknown}
	if whole {
		s.size = len(sample)
	}
	res, err := textPage(src, raw, s, in.Offset, textLimitFor(c, in))
	if err == nil {
		sight.Encoding = enc.String()
		r.files.MarkRead(c.Session, src.path, sight)
	}
	return res, err
}

// readAll reads a file up to readWhole bytes, in one allocation if its size is right.
func readAll(raw io.Reader, src openedFile) ([]byte, error) {
	if src.all {
		return src.head, nil
	}
	data := bytes.NewBuffer(make([]byte, 0, src.info.Size()+bytes.MinRead))
	_, err := data.ReadFrom(io.LimitReader(raw, readWhole+1))
	return data.Bytes(), err
}

// A shape is how the bytes of a file are decoded.
type shape struct {
	enc     charset.Encoding
	unknown bool
	size    int // of all of them; 0 where they are many or not counted
}

// byLines reports whether the bytes can be cut at line feeds before they are
// decoded.
func (s shape) byLines() bool {
	return !strings.HasPrefix(s.enc.String(), "utf-16") && !strings.HasPrefix(s.enc.String(), "utf-32")
}

// textPage returns a page of a text as a result.
func textPage(src openedFile, raw io.Reader, s shape, offset int, most textLimit) (*tool.Result, error) {
	if !s.byLines() {
		raw = charset.NewReader(raw, s.enc)
	}
	p, err := readPage(newLines(raw, s.size), offset, most)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", src.path, err)
	}
	if p.end && offset > p.total {
		return nil, tool.Fail("range", "Offset %d is out of range for this file (%d lines)", offset, p.total)
	}
	if s.byLines() {
		s.enc = p.decode(s)
	}
	last := offset + len(p.lines)
	status := fmt.Sprintf("(End of file - total %d lines)", p.total)
	switch {
	case p.full:
		status = fmt.Sprintf("(Output truncated at %d bytes. Use 'offset' parameter to read beyond line %d)", most.bytes, last)
	case !p.end:
		status = fmt.Sprintf("(File has more lines. Use 'offset' parameter to read beyond line %d)", last)
	}
	metadata := map[string]any{
		"preview":   strings.Join(p.lines[:min(len(p.lines), readPreview)], "\n"),
		"truncated": !p.end || p.full,
	}
	if name := s.enc.String(); name != "utf-8" {
		status += "\n(Encoding: " + name + ". Edits keep it.)"
		metadata["encoding"] = name
	} else if s.unknown {
		status += "\n(The encoding is not known: bytes that are not UTF-8 are shown as \ufffd. The file can not be edited as text.)"
		metadata["encoding"] = "unknown"
	}
	return &tool.Result{Title: src.path.Title(), Output: p.numbered(offset, status), Metadata: metadata}, nil
}

// numbered returns the page with line numbers.
func (p *page) numbered(offset int, status string) string {
	const frame = "<file>\n" + "\n\n" + "\n</file>"
	size := len(frame) + len(status)
	for _, line := range p.lines {
		size += len(line) + len("00000| \n")
	}
	var out strings.Builder
	out.Grow(size)
	out.WriteString("<file>\n")
	var room [20]byte
	for i, line := range p.lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		digits := strconv.AppendInt(room[:0], int64(offset+i+1), 10)
		for range 5 - len(digits) {
			out.WriteByte('0')
		}
		out.Write(digits)
		out.WriteString("| ")
		out.WriteString(line)
	}
	out.WriteString("\n\n")
	out.WriteString(status)
	out.WriteString("\n</file>")
	return out.String()
}

// decode decodes the lines of a page in the encoding of the file. If that was detected as UTF-8
// from the beginning but the page contains something else, the page decides.
func (p *page) decode(s shape) charset.Encoding {
	enc := s.enc
	if enc.String() == "utf-8" && !s.unknown {
		joined := strings.Join(p.lines, "\n")
		if !utf8.ValidString(joined) {
			if found, err := charset.Detect([]byte(joined), false); err == nil {
				enc = found
			}
		}
	}
	for i, line := range p.lines {
		p.lines[i] = cutLine(decodeLine(line, enc))
	}
	return enc
}

func decodeLine(line string, enc charset.Encoding) string {
	if enc.String() == "utf-8" {
		return wellFormed(line)
	}
	out, err := io.ReadAll(charset.NewReader(strings.NewReader(line), enc))
	if err != nil {
		return wellFormed(line)
	}
	return string(out)
}
