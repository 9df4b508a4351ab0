package terminal

import (
	"io"
	"strings"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
)

// A Split writes what the model says, as it says it, to one place, and has
// a transcript tell the rest in another.
type Split struct {
	rest   *Transcript
	words  io.Writer
	safe   bool            // words is a terminal
	answer map[string]bool // messages whose text is the answer
	parts  map[string]int  // how many bytes of a text are written
	open   bool            // the last line that was written has no end
	part   string          // that was written to last
	broken bool            // what was written last is not to be
}

// NewSplit returns a view that writes words to one place, made safe where that
// is a terminal, and tells the rest in a transcript.
func NewSplit(t *Transcript, words io.Writer, terminal bool) *Split {
	return &Split{rest: t, words: words, safe: terminal, answer: map[string]bool{}, parts: map[string]int{}}
}

// Event writes or tells what happened.
func (v *Split) Event(e event.Event) {
	switch p := e.Properties.(type) {
	case event.MessageUpdated:
		v.answer[p.Info.ID] = p.Info.Role == message.Assistant && !p.Info.Summary && v.rest.root(p.Info.Session)
	case event.PartDelta:
		if n, begun := v.parts[p.Part]; begun {
			v.parts[p.Part] = n + len(p.Delta)
			v.write(p.Part, p.Delta)
			return
		}
	case event.PartUpdated:
		if p.Part.Type == message.Text && v.answer[p.Part.Message] {
			n := v.parts[p.Part.ID]
			v.parts[p.Part.ID] = max(n, len(p.Part.Text))
			if len(p.Part.Text) > n {
				v.write(p.Part.ID, p.Part.Text[n:])
			}
			if p.Part.Time != nil && p.Part.Time.End != 0 {
				v.endLine() // what is printed next may be on the same screen
			}
			return
		}
	case event.PartRemoved:
		if n, begun := v.parts[p.Part]; begun {
			delete(v.parts, p.Part)
			v.endLine()
			if n > 0 && !v.broken {
				v.broken = true
				v.rest.Note(brokeOff)
			}
			return
		}
	}
	v.rest.Event(e)
}

func (v *Split) write(part, words string) {
	if words == "" {
		return
	}
	v.broken = false
	if part != v.part {
		v.endLine()
		v.part = part
	}
	if v.safe {
		v.rest.Close() // nothing that goes on stands in the way
		words = text.VisibleLines(words)
		if v.rest.opt.Live {
			v.rest.separate("words")
		}
	}
	v.open = !strings.HasSuffix(words, "\n")
	_, _ = io.WriteString(v.words, words) // the outlet sees to that
}

func (v *Split) endLine() {
	if v.open {
		_, _ = io.WriteString(v.words, "\n") // the outlet sees to that
		v.open = false
	}
}

// Tick shows what goes on at the moment, unless that is that the model speaks.
func (v *Split) Tick() {
	if !v.open {
		v.rest.Tick()
	}
}

// Close ends the output.
func (v *Split) Close() {
	v.endLine()
	v.rest.Close()
}
