package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/record"
)

// TranscriptOptions configure a [Transcript].
type TranscriptOptions struct {
	Out     io.Writer // where it is printed
	Session string    // whose, with its children; of the first session that is made when empty
	Call    string    // a call of the person's own, which is shown at work
	Width   int       // columns; 80 when 0
	Height  int       // rows of a terminal on which words can be erased again
	// Halt is called while a long text is printed and reports whether to skip the rest; nil prints
	// all.
	Halt      func() bool
	Color     bool
	Reasoning bool // what the model thinks is printed too
	// Live says that Out is a terminal: what the model says is laid out, and
	// what goes on at the moment is shown and erased again. Otherwise what the
	// model says is written as it comes, made safe.
	Live bool
	// Prompted says that a prompt is printed above, and is to be kept apart from the output.
	Prompted bool
}

// A Transcript tells the events of a session, and of the sessions that it
// starts, as text. It belongs to one goroutine.
type Transcript struct {
	opt    TranscriptOptions
	style  Style
	status *Status

	sessions map[string]record.Session  // the one that is shown, and those below it
	spoken   map[string]bool            // messages of models, but for summaries
	told     map[string]int             // how many bytes of a part are printed
	thought  map[string]bool            // parts that are what a model thinks
	calls    map[string]*underway       // by id
	order    []string                   // ids of the calls under way, as they began
	errors   map[string]*record.Failure // of calls that have ended and are not printed yet
	seen     map[string]bool            // calls whose difference a person has seen in a request

	drawn   []*drawing     // the words that were printed last, with nothing else between them
	words   io.WriteCloser // what the model says at the moment; nil between texts
	part    string         // whose words they are
	last    string         // the kind of what was printed last: kinds are kept apart
	child   string         // the child session whose heading is above what was printed last
	busy    time.Time      // since when the model is asked; zero while it is not
	waiting string         // what is waited for, where that is neither a call nor the model
	retry   *event.Status  // the model is going to be asked again; nil while it is not
	typed   string         // what the person has typed meanwhile, for the next prompt
	frame   int
	over    bool         // the work on the session, or the person's own call, has ended
	usage   message.Info // of the newest answer
}

// NewTranscript returns an empty transcript.
func NewTranscript(o TranscriptOptions) *Transcript {
	if o.Width == 0 {
		o.Width = 80
	}
	t := &Transcript{
		opt: o, style: Style{On: o.Color}, status: NewStatus(o.Out),
		sessions: map[string]record.Session{}, spoken: map[string]bool{}, told: map[string]int{},
		thought: map[string]bool{}, calls: map[string]*underway{}, errors: map[string]*record.Failure{}, seen: map[string]bool{},
	}
	if o.Prompted {
		t.last = "prompt"
	}
	return t
}

// Session returns the id of the session that is shown; "" if there is none.
func (t *Transcript) Session() string { return t.opt.Session }

// Over reports whether the work on the session, or the person's own call, has
// ended.
func (t *Transcript) Over() bool { return t.over }

// Usage is the newest answer that says what it has taken; one without an id
// where none has.
func (t *Transcript) Usage() message.Info { return t.usage }

// Await says what is waited for, where that is neither a call nor the model.
func (t *Transcript) Await(what string) { t.waiting = what }

// Typed says what the person has typed meanwhile, for the next prompt.
func (t *Transcript) Typed(words string) { t.typed = words }

// Note tells a line that a person has to look at.
func (t *Transcript) Note(line string) { t.addLines("note", t.style.Yellow(line)+"\n") }

// Event tells what happened, as far as it is a part of the session.
func (t *Transcript) Event(e event.Event) {
	switch p := e.Properties.(type) {
	case event.MessageUpdated:
		if t.root(p.Info.Session) && p.Info.Role == message.Assistant {
			t.spoken[p.Info.ID] = !p.Info.Summary
			if p.Info.Tokens != (model.Tokens{}) {
				t.usage = p.Info
			}
		}
	case event.PartDelta:
		if _, begun := t.told[p.Part]; begun {
			t.addText(p.Part, p.Delta)
		}
	case event.PartUpdated:
		t.update(p.Part)
	case event.PartRemoved:
		t.remove(p.Part)
	case event.CallRunning, event.CallFinished:
		t.ownCall(p)
	case event.CallProgress:
		if c := t.calls[p.ID]; c != nil {
			if p.Title != "" && c.title == "" {
				c.title = p.Title
			}
			if out, ok := p.Metadata["output"].(string); ok {
				c.output = lastLines(out, mostOutput)
			}
		}
	case event.PermissionAsked:
		// A request shows its diff itself.
		if diff, _ := p.Request.Metadata["diff"].(string); diff != "" && p.Request.Call != nil {
			t.seen[p.Request.Call.Call] = true
		}
		t.beginQuestion(p.Request.Session)
	case event.QuestionAsked:
		t.beginQuestion(p.Session)
	default:
		t.about(e)
	}
}

// about tells what happened to a session as a whole.
func (t *Transcript) about(e event.Event) {
	switch p := e.Properties.(type) {
	case event.SessionCreated:
		if p.Info.Parent == "" && t.opt.Session == "" {
			t.opt.Session = p.Info.ID
		}
		t.addSession(p.Info)
	case event.SessionUpdated:
		t.addSession(p.Info)
	case event.SessionStatus:
		t.state(p)
	case event.SessionIdle:
		t.over = t.over || t.root(p.Session)
	case event.SessionCompacted:
		if t.root(p.Session) {
			t.addLines("note", t.style.Dim("The conversation so far was summed up.")+"\n")
		}
	case event.TodosChanged:
		if t.root(p.Session) {
			list := make([]Todo, len(p.Todos))
			for i, d := range p.Todos {
				list[i] = Todo{Text: d.Content, Status: d.Status}
			}
			if len(list) > 0 {
				t.addLines("todos", Todos(list, Options{Width: t.opt.Width, Color: t.opt.Color}))
			}
		}
	case event.Missed:
		t.addLines("note", t.style.Dim(text.Count(p.Count, "event was", "events were")+" too fast to be told.")+"\n")
	}
}

// root reports whether a session is the one that is shown.
func (t *Transcript) root(session string) bool { return session != "" && session == t.opt.Session }

// mine reports whether a session is the one that is shown, or a descendant.
func (t *Transcript) mine(session string) bool {
	if t.root(session) {
		return true
	}
	_, below := t.sessions[session]
	return below
}

// depth returns how far below the shown session another one is.
func (t *Transcript) depth(session string) (n int) {
	for session != t.opt.Session && n < 8 {
		session = t.sessions[session].Parent
		n++
	}
	return n
}

// addSession learns of a session that one of this transcript has started.
func (t *Transcript) addSession(s record.Session) {
	if s.Parent != "" && t.mine(s.Parent) {
		t.sessions[s.ID] = s
	}
}

func (t *Transcript) state(p event.SessionStatus) {
	if !t.mine(p.Session) {
		return
	}
	t.waiting, t.retry = "", nil
	switch p.Status.Type {
	case "retry":
		t.retry = &p.Status
		if !t.opt.Live {
			t.Note(Safe(retryText(p.Status, time.Now())))
		}
	case "busy":
		if t.root(p.Session) && t.busy.IsZero() {
			t.busy = time.Now()
		}
	case "idle":
		if t.root(p.Session) {
			t.busy = time.Time{}
		}
	}
}

// retryText says when the model is asked again, and why.
func retryText(s event.Status, now time.Time) string {
	when := ""
	if wait := time.UnixMilli(s.Next).Sub(now); s.Next > 0 && wait > 0 {
		when = fmt.Sprintf(" in %d s", int64((wait+time.Second-1)/time.Second))
	}
	return fmt.Sprintf("the model is asked again%s (attempt %d): %s", when, s.Attempt, s.Message)
}

// update tells how far a part of a message has come.
func (t *Transcript) update(p message.Part) {
	switch p.Type {
	case message.Text, message.Reasoning:
		if !t.spoken[p.Message] || p.Type == message.Reasoning && !t.opt.Reasoning {
			return
		}
		n := t.told[p.ID]
		t.told[p.ID], t.thought[p.ID] = n, p.Type == message.Reasoning // from now on it may grow
		if len(p.Text) > n {
			t.addText(p.ID, p.Text[n:])
		}
		if p.Time != nil && p.Time.End != 0 && t.part == p.ID {
			t.silence()
		}
	case message.Tool:
		if p.State != nil && t.mine(p.Session) {
			t.showCall(p)
		}
	}
}

// addText tells the next words of a part.
func (t *Transcript) addText(part, words string) {
	if words == "" {
		return
	}
	if t.part != part {
		t.silence()
		t.part = part
		to := lazily{t, "words", &drawing{part: part, before: t.last}}
		if t.thought[part] {
			to.kind = "thoughts"
		}
		t.drawn = append(t.drawn, to.drawing)
		if t.opt.Live {
			t.words = NewMarkdown(to, Options{Width: t.opt.Width, Color: t.opt.Color, Dim: t.thought[part]})
		} else {
			t.words = &safeWords{to: to}
		}
	}
	t.told[part] += len(words)
	t.status.Erase()
	for {
		n := min(len(words), sliceSize)
		for i := 0; i < utf8.UTFMax && n < len(words) && !utf8.RuneStart(words[n]); i++ {
			n-- // characters stay whole
		}
		_, _ = io.WriteString(t.words, words[:n]) // who reads it may be gone
		if words = words[n:]; words == "" || t.opt.Halt != nil && t.opt.Halt() {
			return
		}
	}
}

// sliceSize is how many bytes are printed at once. Between two slices a person can stop the output.
const sliceSize = 4 << 10

// silence ends the text that is being printed.
func (t *Transcript) silence() {
	if t.words != nil {
		t.status.Erase()
		_ = t.words.Close() // who reads it may be gone
		t.words, t.part = nil, ""
	}
}

// lazily separates what is printed from what was printed before, once there is something.
type lazily struct {
	t    *Transcript
	kind string
	*drawing
}

// Write passes on the output.
func (l lazily) Write(p []byte) (int, error) {
	if l.t.separate(l.kind) {
		l.rows++
	}
	l.add(string(p), l.t.opt.Width)
	return l.t.opt.Out.Write(p)
}

// safeWords writes words as they come.
type safeWords struct {
	to   io.Writer
	open bool // the last line has no end yet
}

// Write writes words, made safe.
func (s *safeWords) Write(p []byte) (int, error) {
	s.open = !strings.HasSuffix(string(p), "\n")
	_, err := io.WriteString(s.to, text.VisibleLines(string(p)))
	return len(p), err
}

// Close ends the line.
func (s *safeWords) Close() error {
	if !s.open {
		return nil
	}
	_, err := io.WriteString(s.to, "\n")
	return err
}

// separate leaves a line free between things of different kinds.
func (t *Transcript) separate(kind string) (parted bool) {
	if parted = t.last != "" && t.last != kind; parted {
		_, _ = io.WriteString(t.opt.Out, "\n") // who reads it may be gone
	}
	t.last = kind
	return parted
}

// addLines tells whole lines of a kind.
func (t *Transcript) addLines(kind, lines string) {
	t.silence()
	t.drawn = nil
	t.status.Erase()
	t.separate(kind)
	_, _ = io.WriteString(t.opt.Out, lines) // who reads it may be gone
}

// beginQuestion prepares the output for a question, below the name of who asks it.
func (t *Transcript) beginQuestion(session string) {
	if t.mine(session) {
		t.heading(session)
	}
	t.silence()
	t.drawn = nil
	t.status.Erase()
	t.last = "question"
}

// Close tells what is held back, ends the line and erases what goes on.
func (t *Transcript) Close() {
	t.silence()
	t.status.Erase()
}
