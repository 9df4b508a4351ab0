package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

// A page is a run of lines.
type page struct {
	lines []string
	end   bool // the file has no line after them
	full  bool // the next line would not have fitted
	total int  // lines of the file, where end is set
}

func readPage(ls *lines, offset int, most textLimit) (page, error) {
	var p page
	skipped, err := ls.skipLines(offset)
	if err != nil {
		return p, err
	}
	p.total = skipped
	size := 0
	for {
		if p.total >= offset && len(p.lines) >= most.lines && !ls.done {
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
		size += len(cutLine(line)) + most.each
		if len(p.lines) > 0 {
			size++
		}
		if size > most.bytes {
			p.full = true
			return p, nil
		}
		p.lines = append(p.lines, line)
	}
}

// readerFunc makes a function a reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// untilDone reads from r until ctx ends: a file may be one line that takes
// minutes.
func untilDone(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return r.Read(p)
	})
}

// lines yields the lines of a text, separated by line feeds, so that a text that ends in one has an
// empty last line. Only the beginning of a long line is held in memory.
type lines struct {
	r     *bufio.Reader
	kept  []byte // of the line before, to be used again
	first bool
	done  bool
}

// linesAhead is how much of a long text is read ahead.
const linesAhead = 256 << 10

// newLines reads a text of size bytes, 0 if not known. A short text needs no larger buffer than
// itself.
func newLines(r io.Reader, size int) *lines {
	ahead := linesAhead
	if size > 0 {
		ahead = min(size+utf8.UTFMax, linesAhead)
	}
	return &lines{r: bufio.NewReaderSize(r, ahead), first: true}
}

// lineKeep is enough bytes for readLineUnits units of any text.
const lineKeep = readLineUnits*4 + 8

// skipLines skips n lines without looking at them, and returns how many line feeds it passed.
func (l *lines) skipLines(n int) (passed int, err error) {
	for passed < n {
		if _, err := l.r.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				return passed, nil
			}
			return passed, err
		}
		l.first = false
		block, _ := l.r.Peek(l.r.Buffered())
		count := bytes.Count(block, []byte{'\n'})
		if passed+count < n {
			passed += count
			_, err = l.r.Discard(len(block))
		} else {
			end := 0
			for ; passed < n; passed++ {
				end += bytes.IndexByte(block[end:], '\n') + 1
			}
			_, err = l.r.Discard(end)
		}
		if err != nil {
			return passed, err
		}
	}
	return passed, nil
}

func (l *lines) next() (string, bool, error) {
	if l.done {
		return "", false, nil
	}
	kept := l.kept[:0]
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
	l.kept = kept
	line := string(bytes.TrimSuffix(kept, []byte{'\n'}))
	if l.first {
		line = strings.TrimPrefix(line, "\ufeff")
		l.first = false
	}
	return line, true, nil
}

// cutLine shortens a line that is too long to show.
func cutLine(line string) string {
	if cut, short := text.CutUTF16(line, readLineUnits); short {
		return cut + "..."
	}
	return line
}

// wellFormed replaces each byte that is not part of a character.
func wellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
