package terminal

import (
	"fmt"
	"strings"
)

// brokeOff is printed if words stay on the screen that are not part of the answer.
const brokeOff = "The answer broke off and is asked for again."

// A drawing is the position of a part's words on the screen.
type drawing struct {
	part   string
	before string // the kind of what was printed before it
	rows   int    // that have ended, with the free one above
	line   string // the last one, as far as it has come
	wide   bool   // a line was broken by the terminal, and took more rows than one
	gone   bool   // the part is not to be
}

// add records what is printed on a terminal with so many columns.
func (d *drawing) add(s string, columns int) {
	for line := range strings.Lines(s) {
		if d.wide {
			return
		}
		d.line += strings.TrimSuffix(line, "\n")
		d.wide = Width(d.line) > columns
		if strings.HasSuffix(line, "\n") {
			d.rows++
			d.line = ""
		}
	}
}

// remove removes a dropped part from the screen, if its words can still be erased. Otherwise it
// prints that they do not count.
func (t *Transcript) remove(part string) {
	for id, u := range t.calls {
		if u.part == part {
			t.end(id)
		}
	}
	told := t.told[part]
	delete(t.told, part)
	delete(t.thought, part)
	if told == 0 {
		return
	}
	if t.part == part {
		t.silence()
	}
	found := false
	for _, d := range t.drawn {
		if d.part == part {
			found, d.gone = true, true
		}
	}
	if found && (t.part != "" || t.erase()) {
		return
	}
	if t.last != "broken" {
		t.addLines("broken", t.style.Dim(brokeOff)+"\n")
	}
}

// erase erases the last words that were dropped. Words above them follow once those between are
// dropped too. It returns false if that is not possible.
func (t *Transcript) erase() bool {
	keep, rows := len(t.drawn), 0
	for keep > 0 && t.drawn[keep-1].gone {
		keep--
		if t.drawn[keep].wide {
			return false
		}
		rows += t.drawn[keep].rows
	}
	if rows == 0 {
		return true
	}
	if rows >= t.opt.Height {
		return false
	}
	t.status.Erase()
	fmt.Fprintf(t.opt.Out, "\r\x1b[%dA\x1b[J", rows)
	t.last = t.drawn[keep].before
	t.drawn = t.drawn[:keep]
	return true
}
