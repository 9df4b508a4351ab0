package mcpclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/mcp"
)

// maxLogLine is how much of a line that a server prints is looked at.
const maxLogLine = 64 << 10

// A local is the process of a local server.
type local struct {
	proc    mcp.Process
	pipe    *pipe
	errors  *os.File // what it prints on its error output
	errDone chan struct{}
	log     *process.Journal
}

// A whole transport hands out a connection that exists already.
type whole struct{ conn sdk.Connection }

// Connect implements [sdk.Transport].
func (w whole) Connect(context.Context) (sdk.Connection, error) { return w.conn, nil }

// openLocal starts a local server and does the handshake with it.
func (e *peer) openLocal(ctx context.Context, protocol string) (*connection, error) {
	l := newLink(e)
	l.transport = "stdio"
	if err := l.start(ctx); err != nil {
		l.close(err)
		return nil, err
	}
	if err := l.shake(ctx, whole{l.local.pipe}, protocol); err != nil {
		// A command that is not a server often prints an error and exits.
		if ctx.Err() == nil && !modern(err) {
			select {
			case <-l.local.proc.Done():
				err = l.local.epitaph()
			case <-time.After(drainTime):
			}
		}
		l.close(err)
		<-l.gone
		return nil, err
	}
	return l, nil
}

// start starts the process of a local server.
func (l *connection) start(ctx context.Context) error {
	e := l.e
	if e.pool.host.Start == nil {
		return &connectError{state: mcp.Failed, text: "Local servers can not be started here.", final: true}
	}
	s := e.s
	if !filepath.IsAbs(s.Dir) {
		s.Dir = filepath.Join(e.pool.host.Dir, s.Dir)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		outR.Close()
		outW.Close()
		return fmt.Errorf("pipe: %w", err)
	}
	p, err := e.pool.host.Start(ctx, s, outW, errW)
	outW.Close()
	errW.Close()
	if err != nil {
		outR.Close()
		errR.Close()
		return &connectError{state: mcp.Failed, text: err.Error()}
	}
	l.local = &local{proc: p, errors: errR, errDone: make(chan struct{}), log: e.log}
	l.local.pipe = newPipe(p.Stdin(), outR, l)
	go l.local.readErrors()
	go l.local.stopReading()
	return nil
}

// stopReading lets reading end soon after the process has, also when another
// process still holds its output open.
func (c *local) stopReading() {
	<-c.proc.Done()
	c.pipe.expire(drainTime)
	_ = c.errors.SetReadDeadline(time.Now().Add(drainTime))
}

// readErrors logs what the server prints on its error output.
func (c *local) readErrors() {
	defer close(c.errDone)
	r := bufio.NewReaderSize(c.errors, maxLogLine)
	for {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 {
			c.log.Add("stderr", strings.TrimRight(string(line), "\r\n"))
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// epitaph says how the process ended; it must have ended.
func (c *local) epitaph() error {
	select { // its last words explain it
	case <-c.errDone:
	case <-time.After(drainTime):
	}
	f := &connectError{state: mcp.Failed, text: "The server has ended (" + c.proc.Outcome() + ")."}
	if last := c.log.Last("stderr", 10); len(last) > 0 {
		f.detail = strings.Join(last, "\n")
	}
	return f
}

// letExit lets the server end by itself.
func (c *local) letExit() {
	select {
	case <-c.proc.Done():
		return
	default:
	}
	c.pipe.hangUp()
	select {
	case <-c.proc.Done():
	case <-time.After(leaveTime):
	}
}

// end ends all processes of the server.
func (c *local) end() {
	if err := c.proc.Stop(endGrace); err != nil {
		c.log.Add("helve", "processes could not be ended: "+err.Error())
	}
	_ = c.errors.SetReadDeadline(time.Now())
	<-c.errDone
	c.errors.Close()
}
