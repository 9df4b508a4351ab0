package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The default limits for the output of a tool.
const (
	MaxLines = 2000
	MaxBytes = 50 * 1024
)

// slack is how many bytes beyond the limit are kept, so that the cut does not split a character.
const slack = 4

// The size of a notice without its hint.
const (
	noticeRoom  = len("...9223372036854775807 lines truncated...\n\n\n\n")
	noticeLines = 4
)

// Limits configure how much of a text is shown and how much of it is saved.
type Limits struct {
	Lines    int   // lines shown; MaxLines when not positive
	Bytes    int   // bytes shown; MaxBytes when not positive
	Tail     bool  // show the end instead of the beginning
	Whole    bool  // the notice counts too, and stands first: readers that cut the text once more keep its beginning
	MaxSpill int64 // bytes saved; no bound when not positive
}

func (l Limits) withDefaults() Limits {
	if l.Lines <= 0 {
		l.Lines = MaxLines
	}
	if l.Bytes <= 0 {
		l.Bytes = MaxBytes
	}
	return l
}

// A Spill configures where a text that is too long to show is saved.
type Spill struct {
	// Open creates the file for the whole text and returns its name. It is called at most once, and
	// only when a limit was exceeded. When it is nil, nothing is saved.
	Open func() (w io.WriteCloser, path string, err error)

	// Hint returns what the reader can do with the whole text at path. When it is nil, only the
	// path is given.
	Hint func(path string) string
}

// A Truncated is a text shortened for display.
type Truncated struct {
	Content   string // the text, or the part of it that fits with a notice
	Truncated bool
	Path      string // where the whole text is; empty if no file could be opened
	Removed   int64  // how much of the text is not in Content, in Unit
	Unit      string // "lines" or "bytes"; empty if not truncated
	Total     int64  // bytes of the text
	Saved     int64  // bytes of the text at Path
	Err       error  // why Path is missing or does not hold what it should
}

// Bound truncates s to the limits, exactly as a [Truncator] does that is given s in any pieces.
func Bound(s string, lim Limits, spill Spill) Truncated {
	l := lim.withDefaults()
	if len(s) <= l.Bytes && strings.Count(s, "\n") < l.Lines {
		return Truncated{Content: s, Total: int64(len(s))}
	}
	b := NewBounder(lim, spill)
	for len(s) > 0 {
		n := min(len(s), 32*1024)
		b.Write([]byte(s[:n])) // never fails
		s = s[n:]
	}
	return b.Finish()
}

// A Truncator is a writer that keeps of what is written to it only what may be
// shown, and hands the whole to a spill once a limit has been passed. Its
// memory is bounded by the limits, however much is written. One goroutine at a
// time may use it.
type Truncator struct {
	lim   Limits
	spill Spill

	buf   []byte // head: the first bytes; tail: the last bytes
	total int64
	lines int64 // line feeds seen

	over      int64 // head: end of the line that passes the byte limit; -1 not seen
	lineStart int64 // tail: where the line being written began
	lastLine  int64 // tail: length of the last line that is not empty

	passed bool // a limit has been passed
	file   io.WriteCloser
	path   string
	saved  int64
	full   bool // MaxSpill was reached
	err    error
	done   *Truncated
}

// NewBounder returns a Bounder that has been written nothing. Whoever makes one
// must call [Bounder.Finish], which closes the spill.
func NewBounder(lim Limits, spill Spill) *Truncator {
	return &Truncator{lim: lim.withDefaults(), spill: spill, over: -1}
}

// Write takes the next piece of the text. It always takes all of p and never
// fails, so that a process whose output is being read is never held up by a
// spill that cannot be written; [Truncated.Err] reports that.
func (b *Truncator) Write(p []byte) (int, error) {
	if b.done != nil || len(p) == 0 {
		return len(p), nil
	}
	total := b.total + int64(len(p))
	lines := b.lines + int64(bytes.Count(p, []byte{'\n'}))
	if !b.passed && (total > int64(b.lim.Bytes) || lines >= int64(b.lim.Lines)) {
		b.passed = true
		b.open()
		b.save(b.buf) // nothing has been dropped from it yet
	}
	if b.passed {
		b.save(p)
	}
	if b.lim.Tail {
		b.keepTail(p)
	} else {
		b.keepHead(p)
	}
	b.total, b.lines = total, lines
	return len(p), nil
}

// Finish closes the spill and tells what may be shown. Further writes are
// dropped, and further calls answer the same.
func (b *Truncator) Finish() Truncated {
	if b.done == nil {
		r := b.result()
		b.done = &r
		b.buf = nil
	}
	return *b.done
}

func (b *Truncator) result() Truncated {
	if !b.passed {
		return Truncated{Content: string(b.buf), Total: b.total}
	}
	if b.file != nil {
		if err := b.file.Close(); err != nil && b.err == nil {
			b.err = fmt.Errorf("closing the full output: %w", err)
		}
	}
	if b.lim.Whole {
		hint := b.hint(Truncated{Path: b.path, Total: b.total, Saved: b.saved, Err: b.err})
		b.lim.Bytes = max(b.lim.Bytes-len(hint)-noticeRoom, 0)
		b.lim.Lines = max(b.lim.Lines-strings.Count(hint, "\n")-noticeLines, 1)
	}
	show := b.head
	if b.lim.Tail {
		show = b.tail
	}
	preview, kept, byBytes := show()
	r := Truncated{Truncated: true, Path: b.path, Total: b.total, Saved: b.saved, Err: b.err}
	r.Removed, r.Unit = b.lines+1-kept, "lines"
	if byBytes {
		r.Removed, r.Unit = b.total-int64(len(preview)), "bytes"
	}
	notice := fmt.Sprintf("...%d %s truncated...\n\n%s", r.Removed, r.Unit, b.hint(r))
	if b.lim.Tail || b.lim.Whole {
		r.Content = notice + "\n\n" + string(preview)
	} else {
		r.Content = string(preview) + "\n\n" + notice
	}
	return r
}

// keepHead keeps the first bytes, and finds the end of the line that does not
// fit.
func (b *Truncator) keepHead(p []byte) {
	if room := b.lim.Bytes + slack - len(b.buf); room > 0 {
		b.buf = append(b.buf, p[:min(room, len(p))]...)
	}
	if b.over >= 0 {
		return
	}
	from := max(int64(b.lim.Bytes)-b.total, 0)
	if from >= int64(len(p)) {
		return
	}
	if i := bytes.IndexByte(p[from:], '\n'); i >= 0 {
		b.over = b.total + from + int64(i)
	}
}

// keepTail keeps the last bytes, and the length of the last line that is not
// empty.
func (b *Truncator) keepTail(p []byte) {
	last := len(p) - 1
	for last >= 0 && p[last] == '\n' {
		last--
	}
	if last >= 0 {
		if i := bytes.LastIndexByte(p[:last], '\n'); i >= 0 {
			b.lineStart = b.total + int64(i) + 1
		}
		b.lastLine = b.total + int64(last) + 1 - b.lineStart
	}
	if last+1 < len(p) {
		b.lineStart = b.total + int64(len(p))
	}

	keep := b.lim.Bytes + slack
	if len(p) >= keep {
		b.buf = append(b.buf[:0], p[len(p)-keep:]...)
		return
	}
	if len(b.buf)+len(p) > 2*keep {
		b.buf = b.buf[:copy(b.buf, b.buf[len(b.buf)-keep:])]
	}
	b.buf = append(b.buf, p...)
}

// head returns the lines from the beginning that fit, their number, and
// whether it was the byte limit that ended them.
func (b *Truncator) head() (preview []byte, lines int64, byBytes bool) {
	end := -1 // of the last line kept
	for lines < int64(b.lim.Lines) {
		i := bytes.IndexByte(b.buf[end+1:], '\n')
		next := end + 1 + i
		if i < 0 {
			next = len(b.buf) // the line's end was not kept, or it is the last
		}
		if next > b.lim.Bytes {
			byBytes = true
			break
		}
		end = next
		lines++
		if i < 0 {
			break
		}
	}
	preview = b.buf[:max(end, 0)]
	if !byBytes || len(bytes.Trim(preview, "\n")) > 0 {
		return preview, lines, byBytes
	}
	over := b.over
	if over < 0 {
		over = b.total
	}
	if over-int64(end+1) > int64(b.lim.Bytes) { // this one line would hide everything
		return b.buf[:cutBack(b.buf, b.lim.Bytes)], lines, true
	}
	return preview, lines, true
}

// tail is head from the other end.
func (b *Truncator) tail() (preview []byte, lines int64, byBytes bool) {
	low := len(b.buf) - b.lim.Bytes // the first offset that may be shown
	start := len(b.buf) + 1         // of the last line kept
	for lines < int64(b.lim.Lines) && start > 0 {
		next := bytes.LastIndexByte(b.buf[:start-1], '\n') + 1
		if next < low {
			byBytes = true
			break
		}
		start = next
		lines++
	}
	end := start - 1 // of the line that did not fit
	start = min(start, len(b.buf))
	preview = b.buf[start:]
	if !byBytes || len(bytes.Trim(preview, "\n")) > 0 {
		return preview, lines, byBytes
	}
	if end > 0 && b.buf[end-1] != '\n' && b.lastLine > int64(b.lim.Bytes) {
		return b.buf[cutOn(b.buf, low):], lines, true
	}
	return preview, lines, true
}

func (b *Truncator) open() {
	if b.spill.Open == nil {
		b.err = errors.New("there is nowhere to save it")
		return
	}
	w, path, err := b.spill.Open()
	if err != nil {
		b.err = fmt.Errorf("saving the full output: %w", err)
		return
	}
	b.file, b.path = w, path
}

func (b *Truncator) save(p []byte) {
	if b.err != nil || b.full {
		return
	}
	if room := b.lim.MaxSpill - b.saved; b.lim.MaxSpill > 0 && int64(len(p)) > room {
		p, b.full = p[:room], true
	}
	if len(p) == 0 {
		return
	}
	n, err := b.file.Write(p)
	b.saved += int64(min(max(n, 0), len(p)))
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		b.err = fmt.Errorf("saving the full output: %w", err)
	}
}

// hint words where the whole text is, or that it is not.
func (b *Truncator) hint(r Truncated) string {
	const lead = "The tool call succeeded but the output was truncated. "
	switch {
	case r.Err != nil && r.Saved > 0:
		return fmt.Sprintf("%sThe full output could not be saved (%v). Its first %d of %d bytes are in: %s", lead, r.Err, r.Saved, r.Total, r.Path)
	case r.Err != nil:
		return fmt.Sprintf("%sThe full output could not be saved (%v).", lead, r.Err)
	}
	hint := lead + "Full output saved to: " + r.Path
	if b.spill.Hint != nil {
		hint = b.spill.Hint(r.Path)
	}
	if b.full {
		hint += fmt.Sprintf("\nThe file holds only the first %d of %d bytes; the rest was dropped.", r.Saved, r.Total)
	}
	return hint
}
