package terminal

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
)

// ErrInterrupted is Ctrl-C on an empty line.
var ErrInterrupted = errors.New("interrupted")

// A Line configures the reading of a line.
type Line struct {
	Prompt string // printed before the text; colors have no width
	More   string // stands before the further lines of one that has several
	Shown  bool   // the prompt stands on the screen already
	Text   string // what it begins with, which was typed before it was asked for
	// Answer says that the line answers a question: it is not added to the history, nothing is
	// completed, and Ctrl-C gives up at once.
	Answer bool
}

// An Editor edits one or several lines on a terminal in raw mode. It belongs to one goroutine.
type Editor struct {
	// History holds earlier lines; none when nil.
	History *History
	// Complete returns completions of the word at the end of a text, and where that word begins;
	// nothing is completed when nil.
	Complete func(before string) (start int, options []string)

	keys *Keys
	out  io.Writer
	size func() (columns, rows int)

	line    Line
	text    []rune
	at      int // where the cursor stands in the text
	past    int // how far back in the history; 0 for what is written now
	draft   []rune
	row     int // of what is drawn, where the cursor stands
	columns int // of the terminal, when it was drawn
	listed  bool
}

// NewEditor returns an editor. The size of the terminal is asked for whenever
// something is drawn.
func NewEditor(keys *Keys, out io.Writer, size func() (columns, rows int)) *Editor {
	return &Editor{keys: keys, out: out, size: size}
}

// resizeCheck is how often it is looked whether the terminal has another size.
const resizeCheck = 250 * time.Millisecond

// Read returns the line, without its end. The error is io.EOF for Ctrl-D on an empty line and at
// the end of the keys, [ErrInterrupted], or the cancellation cause of ctx.
func (e *Editor) Read(ctx context.Context, line Line) (string, error) {
	e.line, e.text, e.at, e.past, e.draft, e.listed = line, nil, 0, 0, nil, false
	e.columns, _ = e.Size()
	e.row = 0
	if line.Shown {
		e.row = e.layout().promptRow
	}
	e.insert(line.Text)
	e.print("\x1b[?2004h") // a paste is one key
	defer e.print("\x1b[?2004l")
	e.draw()
	look := time.NewTicker(resizeCheck)
	defer look.Stop()
	for {
		select {
		case key, ok := <-e.keys.C():
			if !ok {
				return "", e.finishLine(io.EOF)
			}
			done, err := e.press(key)
			if done || err != nil {
				return string(e.text), e.finishLine(err)
			}
			e.draw()
		case <-look.C:
			if columns, _ := e.Size(); columns != e.columns {
				e.resize(columns)
			}
		case <-ctx.Done():
			return "", e.finishLine(context.Cause(ctx))
		}
	}
}

// finishLine puts the cursor below the text.
func (e *Editor) finishLine(err error) error {
	e.at = len(e.text)
	e.draw()
	e.print("\r\n")
	if err == nil && e.History != nil && !e.line.Answer {
		e.History.add(string(e.text))
	}
	return err
}

// press handles a key, and reports whether the line is complete.
func (e *Editor) press(k Key) (done bool, err error) {
	if k.name != tab {
		e.listed = false
	}
	switch k.name {
	case typed, pasted:
		e.insert(k.text)
	case newLine:
		e.insert("\n")
	case enter:
		return !e.broken(), nil
	case interrupt:
		if len(e.text) == 0 || e.line.Answer {
			e.text = nil
			return true, ErrInterrupted
		}
		e.setText(nil)
	case endOfInput:
		if len(e.text) == 0 {
			return true, io.EOF
		}
		e.deleteRange(e.at, e.next(e.at))
	case clearScreen:
		e.print("\x1b[H\x1b[2J")
		e.row = 0
	case tab:
		e.completeWord()
	default:
		e.moveCursor(k.name)
	}
	return false, nil
}

// broken makes a backslash at the end a line end, and reports whether there was
// one.
func (e *Editor) broken() bool {
	n := len(e.text)
	if n == 0 || e.at < n || e.text[n-1] != '\\' || e.line.Answer {
		return false
	}
	e.text[n-1] = '\n'
	return true
}

// moveCursor does what the keys do that move the cursor.
func (e *Editor) moveCursor(k keyName) {
	start, stop := e.lineStart(e.at), e.lineEnd(e.at)
	switch k {
	case left:
		e.at = e.prior(e.at)
	case right:
		e.at = e.next(e.at)
	case home:
		e.at = start
	case end:
		e.at = stop
	case wordLeft:
		e.at = e.wordStart(e.at)
	case wordRight:
		e.at = e.wordEnd(e.at)
	case up:
		e.upOrDown(start > 0, -1, start)
	case down:
		e.upOrDown(stop < len(e.text), 1, start)
	default:
		e.kill(k, start, stop)
	}
}

// kill does what the keys do that take text away, in a line that begins and
// ends at the places given.
func (e *Editor) kill(k keyName, start, stop int) {
	switch k {
	case backspace:
		e.deleteRange(e.prior(e.at), e.at)
	case deleteNext:
		e.deleteRange(e.at, e.next(e.at))
	case killEnd:
		if stop == e.at {
			stop = e.next(stop) // the line end itself
		}
		e.deleteRange(e.at, stop)
	case killStart:
		e.deleteRange(start, e.at)
	case killWord:
		e.deleteRange(e.wordStart(e.at), e.at)
	case killNextWord:
		e.deleteRange(e.at, e.wordEnd(e.at))
	}
}

func (e *Editor) insert(s string) {
	runes := []rune(s)
	e.text = slices.Insert(e.text, e.at, runes...)
	e.at += len(runes)
}

func (e *Editor) deleteRange(from, to int) {
	e.text = slices.Delete(e.text, from, to)
	e.at = from
}

func (e *Editor) setText(text []rune) {
	e.text = slices.Clone(text)
	e.at = len(e.text)
}

// prior and next step over a character with the marks on it.
func (e *Editor) prior(at int) int {
	for at > 0 {
		if at--; e.text[at] == '\n' || runeWidth(e.text[at]) > 0 {
			break
		}
	}
	return at
}

func (e *Editor) next(at int) int {
	if at < len(e.text) {
		at++
	}
	for at < len(e.text) && e.text[at] != '\n' && runeWidth(e.text[at]) == 0 {
		at++
	}
	return at
}

func (e *Editor) lineStart(at int) int {
	for at > 0 && e.text[at-1] != '\n' {
		at--
	}
	return at
}

func (e *Editor) lineEnd(at int) int {
	if n := slices.Index(e.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(e.text)
}

func (e *Editor) wordStart(at int) int {
	for at > 0 && !inWord(e.text[at-1]) {
		at--
	}
	for at > 0 && inWord(e.text[at-1]) {
		at--
	}
	return at
}

func (e *Editor) wordEnd(at int) int {
	for at < len(e.text) && !inWord(e.text[at]) {
		at++
	}
	for at < len(e.text) && inWord(e.text[at]) {
		at++
	}
	return at
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.Nd) || r == '_' }

// upOrDown goes to the line above or below, or through the history if there is none.
func (e *Editor) upOrDown(within bool, step, start int) {
	if within {
		column := e.at - start
		target := e.lineStart(max(start-1, 0))
		if step > 0 {
			target = e.lineEnd(e.at) + 1
		}
		e.at = min(target+column, e.lineEnd(target))
		return
	}
	if e.History == nil || e.line.Answer {
		return
	}
	past := e.past - step
	if past < 0 || past > len(e.History.entries) {
		return
	}
	if e.past == 0 {
		e.draft = e.text
	}
	e.past = past
	if past == 0 {
		e.setText(e.draft)
	} else {
		e.setText([]rune(e.History.entries[len(e.History.entries)-past]))
	}
}

// completeWord completes the word at the cursor, or lists its completions.
func (e *Editor) completeWord() {
	if e.Complete == nil || e.line.Answer {
		return
	}
	before := string(e.text[:e.at])
	start, options := e.Complete(before)
	if len(options) == 0 {
		return
	}
	word := before[start:]
	common := options[0]
	for _, o := range options[1:] {
		common = commonStart(common, o)
	}
	if len(common) > len(word) || len(options) == 1 {
		from := len([]rune(before[:start]))
		e.text = slices.Delete(e.text, from, e.at)
		e.at = from
		e.insert(common)
		return
	}
	if !e.listed { // the first time only the word grows
		e.listed = true
		return
	}
	e.list(options)
}

func commonStart(a, b string) string {
	ra, rb := []rune(a), []rune(b)
	n := 0
	for n < len(ra) && n < len(rb) && ra[n] == rb[n] {
		n++
	}
	return string(ra[:n])
}

// mostListed is how many options are shown.
const mostListed = 40

// list prints options below the line, which is then drawn again.
func (e *Editor) list(options []string) {
	var out strings.Builder
	at := e.at
	e.at = len(e.text)
	e.draw()
	e.at = at
	used := 0
	for i, o := range options {
		o = Safe(o)
		if i == mostListed {
			o = "…"
		}
		if w := Width(o) + 2; used == 0 || used+w > e.columns {
			out.WriteString("\r\n" + Clip(o, e.columns-1))
			used = w
		} else {
			out.WriteString("  " + o)
			used += w
		}
		if i == mostListed {
			break
		}
	}
	e.print(out.String() + "\r\n")
	e.row = 0
}
