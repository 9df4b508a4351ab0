package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/tool"
)

const (
	frameTime = 100 * time.Millisecond // between two pictures of what goes on
	leaveTime = 2 * time.Second        // within which a second Ctrl-C leaves
	tooLate   = time.Second            // within which a Ctrl-C was meant for the turn that has ended
	lastWords = 300 * time.Millisecond // how long the events of a turn may take to come after its end
)

// errStopped is the cancellation cause of work that a person has stopped.
var errStopped = errors.New("stopped by the person at the terminal")

// turn runs a turn of the model, shows its progress and asks its permission requests. It returns
// nil if it could not begin, or the person has left.
func (c *chat) turn(ctx context.Context, do func(context.Context) (*agent.Turn, error)) *agent.Turn {
	var turn *agent.Turn
	var err error
	view, ended := c.followWork(ctx, "", func(ctx context.Context) { turn, err = do(ctx) })
	if used := view.Usage(); used.ID != "" {
		c.usage = used
	}
	c.session = view.Session()
	if !ended {
		return nil
	}
	if err != nil {
		c.printError(err)
		return nil
	}
	c.session = turn.Session
	if s, err := c.rt.Records().Session(ctx, turn.Session); err == nil && s.Agent != "" {
		c.agent = s.Agent // a plan that was left may have changed it
	}
	switch turn.End {
	case agent.EndDone:
		c.done = time.Now()
	case agent.EndCanceled:
		c.printLine(c.con.style.Yellow("Stopped. Say what to do instead, or /resume to let it go on."))
	case agent.EndRejected:
		c.printLine(c.con.style.Yellow("It stopped because you said no. Say what to do instead."))
	default:
		c.printLine(c.con.style.Red(safe(endOf(turn))))
	}
	parts := []string{c.agentName(), c.modelName().String()}
	if n := turn.Tokens.Usage().Total(); n > 0 {
		parts = append(parts, tokenCount(turn.Tokens))
	}
	if turn.Cost > 0 {
		parts = append(parts, cost(turn.Cost))
	}
	if share := c.share(); share != "" {
		parts = append(parts, share)
	}
	c.printLine(c.con.style.Dim(terminal.Safe(strings.Join(parts, " · "))))
	return turn
}

// followWork runs work, which may be a call of the person's own, and shows its progress. It returns
// when the work has ended, or earlier if the person wants to leave.
func (c *chat) followWork(ctx context.Context, call string, work func(context.Context)) (view *terminal.Transcript, ended bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	columns, rows := c.con.editor.Size()
	stop := &stopper{keys: c.con.keys.C(), ahead: &c.con.ahead, cancel: cancel}
	view = terminal.NewTranscript(terminal.TranscriptOptions{
		Out: c.con, Session: c.session, Call: call, Width: columns, Height: rows, Color: c.con.style.On, Reasoning: c.reasoning, Live: true, Prompted: true, Halt: stop.stopRequested,
	})
	defer view.Close()
	answers := &answers{con: c.con, ctx: ctx, stop: func() { cancel(errStopped) }, over: make(chan struct{})}
	defer answers.end()
	ask := newPrompter(answers, &diffPainter{con: c.con}, c.rt.Requests())
	ask.style, ask.forget = c.con.style, c.con.discardTyped
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx)
	}()
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	for !stop.leave {
		select {
		case e, ok := <-c.events:
			if !ok {
				return view, false
			}
			c.showEvent(ctx, view, ask, e)
		case key, ok := <-stop.keys:
			stop.handleKey(key, ok)
		case <-tick.C:
			for _, line := range c.con.notices.take() {
				view.Note(line)
			}
			view.Typed(c.con.ahead.Text())
			view.Tick()
		case <-done:
			c.showRemaining(ctx, view, ask)
			stop.stopRequested() // what was typed up to now is no answer to the next prompt
			c.leaving = stop.leave
			return view, true
		}
		if !stop.at.IsZero() {
			view.Await("stopping; Ctrl-C again leaves")
		}
	}
	c.leaving = true
	return view, false
}

// A stopper handles keys during work: the first Ctrl-C stops the work, and a second one soon after
// it leaves.
type stopper struct {
	keys   <-chan terminal.Key
	ahead  *terminal.Ahead // what is typed meanwhile
	cancel context.CancelCauseFunc
	at     time.Time // of the last Ctrl-C
	leave  bool
}

// handleKey handles a key, or the end of input. What is typed before a prompt is kept for it, and
// not sent.
func (s *stopper) handleKey(key terminal.Key, ok bool) {
	if ok && !key.Interrupt() {
		s.ahead.Add(key)
		return
	}
	s.cancel(errStopped)
	s.leave = !ok || !s.at.IsZero() && time.Since(s.at) < leaveTime
	s.at = time.Now()
}

// stopRequested reports whether the person has stopped the work, also by a key that is still in the
// queue.
func (s *stopper) stopRequested() bool {
	for !s.leave {
		select {
		case key, ok := <-s.keys:
			s.handleKey(key, ok)
		default:
			return !s.at.IsZero()
		}
	}
	return true
}

// idle drops the events that arrive between turns, until it is stopped.
func (c *chat) idle() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case _, ok := <-c.events:
				if !ok {
					return
				}
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// showEvent shows an event and asks what it asks.
func (c *chat) showEvent(ctx context.Context, view *terminal.Transcript, ask *prompter, e event.Event) {
	view.Event(e)
	if p, ok := e.Properties.(event.TodosChanged); ok && p.Session == view.Session() {
		c.todos = p.Todos
	}
	if ctx.Err() == nil {
		(&audience{view: view, ask: ask}).put(ctx, c.rt, e)
	}
}

// showRemaining shows the events that are still on their way when the work has ended.
func (c *chat) showRemaining(ctx context.Context, view *terminal.Transcript, ask *prompter) {
	enough := time.NewTimer(lastWords)
	defer enough.Stop()
	for !view.Over() {
		select {
		case e, ok := <-c.events:
			if !ok {
				return
			}
			c.showEvent(ctx, view, ask, e)
		case <-enough.C:
			return
		}
	}
}

// share is how much of its context the model has used; "" if that is unknown.
func (c *chat) share() string {
	used := c.usage.Tokens.Usage().Total()
	if c.models.Find == nil || used == 0 {
		return ""
	}
	m, err := c.models.Find(c.usage.Model)
	if err != nil || m.Info.Context == 0 {
		return ""
	}
	return fmt.Sprintf("%d%% of the context", (100*used+m.Info.Context/2)/m.Info.Context)
}

// shell runs the person's own command, under the rules of the agent.
func (c *chat) shell(ctx context.Context, command string) {
	if command == "" {
		c.printLine("Which command? !git status, for example.")
		return
	}
	in, err := json.Marshal(map[string]string{"command": command, "description": command})
	if err != nil {
		c.printError(err)
		return
	}
	call := tool.Call{ID: c.rt.NewID("call"), Session: c.session, Agent: c.agent, Tool: "bash", Input: in}
	var res *tool.Result
	if _, ended := c.followWork(ctx, call.ID, func(ctx context.Context) { res, err = c.rt.Call(ctx, call) }); !ended {
		return
	}
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Answer != nil {
		res = e.Answer
	}
	if res != nil {
		out := safe(strings.TrimRight(res.Output, "\n"))
		if out != "" {
			c.printLine(out)
		}
		if how := terminal.CommandEnd(res.Metadata); how != "" {
			c.printLine(c.con.style.Red(how))
		}
	}
	if err != nil {
		c.printError(err)
	}
}

// A diffPainter colours the differences that requests show.
type diffPainter struct {
	con    *console
	inside bool // a difference
}

// Write prints a line of a request.
func (d *diffPainter) Write(p []byte) (int, error) {
	line := strings.TrimSuffix(string(p), "\n")
	body, marked := strings.CutPrefix(line, "  | ")
	d.inside = line == "  diff:" || d.inside && marked
	if d.inside && marked && len(line) < len(p) {
		paint := func(s string) string { return s }
		switch {
		case strings.HasPrefix(body, "+++") || strings.HasPrefix(body, "---") || strings.HasPrefix(body, "@@"):
			paint = d.con.style.Dim
		case strings.HasPrefix(body, "+"):
			paint = d.con.style.Green
		case strings.HasPrefix(body, "-"):
			paint = d.con.style.Red
		}
		_, err := fmt.Fprintf(d.con, "  | %s\n", paint(body))
		return len(p), err
	}
	return d.con.Write(p)
}

// answers are the lines that a person types in reply to requests, as an io.Reader for a prompter.
type answers struct {
	con  *console
	ctx  context.Context
	stop func()

	reading sync.Mutex
	over    chan struct{} // closed when nothing is asked any more
}

// Read reads a line after the prompt on the screen. Ctrl-C stops the request without an answer.
func (a *answers) Read(p []byte) (int, error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	if a.ctx.Err() != nil {
		return 0, io.EOF
	}
	line, err := a.con.editor.Read(a.ctx, terminal.Line{Prompt: a.con.takeLine(), Shown: true, Answer: true})
	if errors.Is(err, terminal.ErrInterrupted) {
		a.stop()
		<-a.over
	}
	if err != nil {
		return 0, io.EOF
	}
	return copy(p, strings.ReplaceAll(line, "\n", " ")+"\n"), nil
}

// end waits until no goroutine reads.
func (a *answers) end() {
	a.stop()
	close(a.over)
	a.reading.Lock()
	defer a.reading.Unlock()
}

// takeLine returns the line that contains the cursor, for another reader to continue.
func (c *console) takeLine() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := c.line
	c.line = ""
	return line
}

// discardTyped ensures that earlier input answers nothing. It is kept for the next prompt.
func (c *console) discardTyped() {
	flushInput(c.in.Fd())
	for _, k := range c.keys.Forget() {
		c.ahead.Add(k)
	}
}

// notices are lines that were written while something else was on the screen.
type notices struct {
	mu    sync.Mutex
	lines []string
}

// maxNotices bounds the lines that are kept.
const maxNotices = 100

// Write keeps lines.
func (n *notices) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		if len(n.lines) < maxNotices {
			n.lines = append(n.lines, terminal.Safe(strings.TrimSuffix(line, "\n")))
		}
	}
	return len(p), nil
}

// take returns the lines that were kept.
func (n *notices) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.lines
	n.lines = nil
	return out
}
