package process

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	maxSaidLine = 64 << 10 // bytes of a line of standard error
	headSaid    = 2 << 10  // bytes that are kept of its beginning
	tailSaid    = 6 << 10  // and of its end

	// When a program and all that it started are gone, its pipes end, unless a process that could
	// not be found still holds them.
	letGo       = time.Second / 2
	lastLook    = 50 * time.Millisecond
	runMaxTries = 100
)

// Why a program was ended before it was done.
var (
	// ErrLate says that a program exceeded its time limit.
	ErrLate = errors.New("it took longer than it may")
	// ErrTooMuch says that a program exceeded its output limit.
	ErrTooMuch = errors.New("it printed more than is taken")
)

// A Dialog is what is written to a program, and how its output is read.
type Dialog struct {
	Question []byte // for its standard input; it need not read it
	// Limit is how many bytes it may print. Where it is 0, it may print
	// anything and nothing is kept.
	Limit int64
	Time  time.Duration // how long it may take; as long as it likes when 0
	// Line, if set, is called with each line of standard error as it arrives. Lines that it takes
	// are not in [Reply.Said].
	Line func(line []byte) (taken bool)

	grace time.Duration // for it to end when ctx has; shortGrace when 0
}

// A Reply is the output of a program.
type Reply struct {
	Out    []byte // what it printed
	Said   string // beginning and end of what it said on standard error
	Code   int    // -1 where a signal ended it
	Signal string // which
}

// Converse runs a program to its end. That it ends with a code other than 0 is
// no error; that it could not be started is, and so are [ErrLate],
// [ErrTooMuch] and the end of ctx. Then all that the program has started is
// asked to end, and ended when it does not. What a program leaves behind is
// ended with it. Secrets of the runtime are taken out of what it says.
func (r *Executor) Converse(ctx context.Context, p Program, t Dialog) (Reply, error) {
	out, outW, err := os.Pipe()
	if err != nil {
		return Reply{}, err
	}
	defer out.Close()
	said, saidW, err := os.Pipe()
	if err != nil {
		outW.Close()
		return Reply{}, err
	}
	defer said.Close()
	p.Stderr = saidW
	process, err := r.Start(ctx, p, outW)
	outW.Close()
	saidW.Close()
	switch {
	case err != nil && ctx.Err() != nil:
		return Reply{}, context.Cause(ctx)
	case err != nil:
		return Reply{}, fmt.Errorf("starting %s: %w", p.Path, err)
	}
	// The secrets that the program does not get.
	_, secrets := r.opt.Env.withVars(p.Set).Build(os.Environ())
	tooMuch, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		err := t.waitEnd(ctx, process, tooMuch)
		// All who held the pipes are gone. One that could not be found must
		// not keep the call.
		until := time.Now().Add(letGo)
		_, _ = out.SetReadDeadline(until), said.SetReadDeadline(until)
		process.Stdin().Close()
		ended <- err
	}()
	asked, heard := make(chan struct{}), make(chan string, 1)
	go func() {
		defer close(asked)
		_, _ = process.Stdin().Write(t.Question)
		process.Stdin().Close()
	}()
	go func() { heard <- t.readLines(newRedactor(secrets).reader(&pipeEnd{file: said})) }()
	reply, over := t.take(newRedactor(secrets).reader(&pipeEnd{file: out}))
	if over {
		close(tooMuch)
	}
	if err = <-ended; err == nil && over {
		err = ErrTooMuch
	}
	<-asked
	reply.Said = <-heard
	select {
	case <-process.Done():
	default: // it could not be ended
		reply.Code = -1
		return reply, errors.Join(err, fmt.Errorf("%s could not be ended", p.Path))
	}
	status := process.Status()
	reply.Code = status.Code
	if status.Signal != 0 {
		reply.Signal = signalNameOf(status.Signal)
	}
	if err == nil && status.Err != nil {
		err = fmt.Errorf("%s: %w", p.Path, status.Err)
	}
	return reply, err
}

// take reads what a program prints, and reports whether it was too much.
func (t Dialog) take(r io.Reader) (reply Reply, over bool) {
	if t.Limit <= 0 {
		_, _ = io.Copy(io.Discard, r)
		return reply, false
	}
	reply.Out, _ = io.ReadAll(io.LimitReader(r, t.Limit+1))
	if int64(len(reply.Out)) > t.Limit {
		reply.Out = reply.Out[:t.Limit]
		return reply, true
	}
	return reply, false
}

// waitEnd waits until a program is done or has to end, and ends all of it. The
// error is why it had to.
func (t Dialog) waitEnd(ctx context.Context, process *Process, tooMuch <-chan struct{}) (why error) {
	var late <-chan time.Time
	if t.Time > 0 {
		timer := time.NewTimer(t.Time)
		defer timer.Stop()
		late = timer.C
	}
	wait := shortGrace
	select {
	case <-process.Done():
	case <-ctx.Done():
		why, wait = context.Cause(ctx), cmp.Or(t.grace, shortGrace)
	case <-late:
		why, wait = ErrLate, grace
	case <-tooMuch:
		why, wait = ErrTooMuch, 0
	}
	_, _ = process.End(wait) // what is left is seen by Done
	return why
}

// A pipeEnd is read until all who can write to it are gone, or a deadline has
// passed and nothing more is in it.
type pipeEnd struct {
	file  *os.File // no more of it than is used: its WriteTo would go past Read
	tries int      // after the deadline
}

// Close closes it.
func (p *pipeEnd) Close() error { return p.file.Close() }

// Read reads what is there, whatever the time is: a reader that was held up
// loses nothing.
func (p *pipeEnd) Read(b []byte) (int, error) {
	n, err := p.file.Read(b)
	for ; errors.Is(err, os.ErrDeadlineExceeded) && n == 0; p.tries++ {
		if p.tries == runMaxTries || p.file.SetReadDeadline(time.Now().Add(lastLook)) != nil {
			return 0, io.EOF
		}
		if n, err = p.file.Read(b); n == 0 {
			return 0, io.EOF
		}
	}
	return n, err
}

// readLines reads the program's output to the end.
func (t Dialog) readLines(r io.Reader) string {
	lines := bufio.NewReaderSize(r, maxSaidLine)
	var kept ends
	for begun := false; ; {
		line, err := lines.ReadSlice('\n')
		whole := !begun && (err == nil || err != bufio.ErrBufferFull)
		if len(line) > 0 && (!whole || t.Line == nil || !t.Line(bytes.TrimRight(line, "\r\n"))) {
			kept.add(line)
		}
		begun = err == bufio.ErrBufferFull
		if err != nil && !begun {
			return kept.text()
		}
	}
}

// ends keeps the beginning and the end of a text.
type ends struct {
	head, tail []byte
	lost       int
}

func (e *ends) add(p []byte) {
	n := min(headSaid-len(e.head), len(p))
	e.head = append(e.head, p[:n]...)
	e.tail = append(e.tail, p[n:]...)
	if over := len(e.tail) - tailSaid; over > tailSaid {
		e.lost += over
		e.tail = append(e.tail[:0], e.tail[over:]...)
	}
}

func (e *ends) text() string {
	if over := len(e.tail) - tailSaid; over > 0 {
		e.lost += over
		e.tail = e.tail[over:]
	}
	head, tail := string(e.head), string(e.tail)
	if e.lost > 0 {
		head += fmt.Sprintf("\n...%d bytes are left out here...\n", e.lost)
	}
	return strings.TrimSpace(strings.ToValidUTF8(head+tail, "\ufffd"))
}
