package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	drainQuiet = 100 * time.Millisecond // the time without a byte after which reading stops
	drainLimit = time.Second            // the time after which reading stops in any case
	logRest    = 20 * time.Millisecond  // between looks at the file of a detached command
	listenRest = 100 * time.Millisecond // between two calls of a listener
	keepBytes  = 32 << 10
	keepSpill  = 256 << 20
	chunk      = 64 << 10 // as much as a pipe holds
)

// CaptureOptions say what a [Capture] keeps.
type CaptureOptions struct {
	// Head and Tail are the bytes kept in memory, from the start and from the
	// end; 32 KiB each when both are zero.
	Head, Tail int

	// Spill opens what the whole of it is written to, as it comes. It is
	// called once, and only when more than Limit bytes or Lines line ends have
	// come. nil keeps no more than Head and Tail. It and the writer are used
	// by one goroutine at a time.
	Spill func() (io.WriteCloser, error)
	Limit int64 // Head and Tail together at most, and when zero
	Lines int64 // zero does not count them
	Quota int64 // bytes after which the spill stays as it is; 256 MiB when zero

	// Filter, if set, processes every piece of output, in order, before anything else. At the end
	// of the stream it is called once more, with end, unless another process reads on; see [Rest].
	// Its result is used before the next call.
	Filter func(p []byte, end bool) []byte

	// Listen is called with the state of the output: at once for output after a pause, then at most
	// ten times a second, and with the last state before Settle or Detach return. They wait for it;
	// the command does not.
	Listen func(Output)
}

// Output is what a command has printed so far. Texts are valid UTF-8: invalid bytes become U+FFFD,
// and no character is cut, not even one of which only the first bytes have arrived.
type Output struct {
	Head    string // everything when Omitted is 0
	Tail    string // the end, when something between was omitted
	Omitted int64  // bytes between Head and Tail
	Bytes   int64  // in all
	Lines   int64  // in all, with an unfinished last one

	// Unfinished are the first bytes of a last character that has not come
	// whole. They are in neither text.
	Unfinished string

	Spilled   int64 // bytes written to the spill; 0 when it was not needed
	SpillFull bool  // the quota was reached: the spill lacks the end
	SpillErr  error // the spill could not be opened or written: it lacks something
}

// A Capture takes what one command prints, both streams on one pipe.
type Capture struct {
	sink   *sink
	listen func(Output)
	pipe   *os.File
	still  chan struct{} // closed when the reader has stopped
	ended  bool          // ... at the end of the stream; set before still is closed
	eof    chan struct{} // closed when nothing more will come
	news   chan struct{} // one token: the listener does not know the last state
	quiet  chan struct{} // closed when the listener has stopped
	once   sync.Once
	rest   *Rest

	log    string        // the file that a detached command prints to; "" for another
	copied chan struct{} // closed when what it has printed is in the pipe
}

// A Rest is the reading end of a command's pipe, which the Capture has released because a process
// of the command still holds the other end. The caller must either close it, or read Pipe and call
// HandedOn.
type Rest struct {
	pipe *os.File
	sink *sink
}

// Pipe returns the pipe for the output from now on. Nothing was lost in between; what the Filter
// holds back comes before it.
func (r *Rest) Pipe() io.ReadCloser { return r.pipe }

// HandedOn reports that another process reads the Pipe and closes it. That process gets what the
// Filter holds back; the Capture keeps what it already has.
func (r *Rest) HandedOn() { r.sink.close(false) }

// Close closes the pipe: processes that hold its other end can no longer print. What the Filter
// held back becomes part of the output.
func (r *Rest) Close() error {
	r.sink.flush()
	r.sink.close(true)
	return r.pipe.Close()
}

// NewCapture returns a Capture. It uses no resources before Start.
func NewCapture(o CaptureOptions) *Capture {
	return &Capture{sink: newSink(o), listen: o.Listen}
}

// Start starts a command and reads what it prints. It must be called only once. After it succeeds,
// Settle or Detach must be called.
func (c *Capture) Start(ctx context.Context, r *Runner, cmd Command) (*Process, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	p, err := c.start(ctx, r, cmd, write)
	if err != nil {
		read.Close()
		return nil, err
	}
	c.pipe = read
	c.still, c.eof, c.quiet = make(chan struct{}), make(chan struct{}), make(chan struct{})
	c.news = make(chan struct{}, 1)
	go c.read()
	if c.listen != nil {
		go c.notify()
	} else {
		close(c.quiet)
	}
	return p, nil
}

// start starts a command that prints to the pipe. A detached one prints to a file, so that it can
// go on when nothing reads the pipe.
func (c *Capture) start(ctx context.Context, r *Runner, cmd Command, pipe *os.File) (*Process, error) {
	if !cmd.Detached {
		defer pipe.Close()
		return r.Start(ctx, cmd, pipe)
	}
	log, err := os.CreateTemp("", "helve-detached-*.log")
	if err != nil {
		pipe.Close()
		return nil, fmt.Errorf("capture: %w", err)
	}
	var p *Process
	out, err := os.OpenFile(log.Name(), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		p, err = r.Start(ctx, cmd, out)
		out.Close()
	}
	if err != nil {
		pipe.Close()
		log.Close()
		_ = os.Remove(log.Name())
		return nil, err
	}
	c.log, c.copied = log.Name(), make(chan struct{})
	go c.forward(log, pipe, p.Done())
	return p, nil
}

// forward copies what a command prints from a file to the pipe. After the command has ended it goes
// on as long as Settle reads a pipe that is still open.
func (c *Capture) forward(log, pipe *os.File, done <-chan struct{}) {
	defer close(c.copied)
	defer log.Close()
	defer pipe.Close()
	tick := time.NewTicker(logRest)
	defer tick.Stop()
	var last, limit time.Time
	for {
		n, err := io.Copy(pipe, log)
		now := time.Now()
		if n > 0 {
			last = now
		}
		if err != nil || !limit.IsZero() && (now.After(limit) || now.Sub(last) >= drainQuiet) {
			return // nothing reads on, or nothing more arrives
		}
		select {
		case <-done:
			done, last, limit = nil, now, now.Add(drainLimit)
		case <-tick.C:
		}
	}
}

// Log is the file that a detached command, and what it has left running, prints
// to; "" for another. It stays until it is removed.
func (c *Capture) Log() string { return c.log }

// read reads the pipe to its end, or until it is stopped.
func (c *Capture) read() {
	defer close(c.still)
	buf := make([]byte, chunk)
	for {
		n, err := c.pipe.Read(buf)
		if n > 0 {
			c.took(buf[:n])
		}
		if err != nil {
			c.ended = !errors.Is(err, os.ErrDeadlineExceeded)
			return
		}
	}
}

func (c *Capture) took(p []byte) {
	c.sink.write(p)
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// notify calls the listener.
func (c *Capture) notify() {
	defer close(c.quiet)
	for {
		select {
		case <-c.news:
			c.listen(c.sink.snapshot())
		case <-c.eof:
			select {
			case <-c.news:
				c.listen(c.sink.snapshot())
			default:
			}
			return
		}
		pause := time.NewTimer(listenRest)
		select {
		case <-pause.C:
		case <-c.eof:
		}
		pause.Stop()
	}
}

// Output is what has come up to now.
func (c *Capture) Output() Output { return c.sink.snapshot() }

// Settle is called after the command has ended. It reads what is left in the pipe: to the end, or,
// if another process keeps the pipe open, until output pauses, at most for a second. It returns the
// Rest, or nil at the end of the stream.
func (c *Capture) Settle() *Rest {
	limit := time.NewTimer(drainLimit)
	defer limit.Stop()
	if c.copied != nil {
		select {
		case <-c.copied:
		case <-limit.C:
			return c.Detach()
		}
	}
	seen := c.count()
	for {
		pause := time.NewTimer(drainQuiet)
		select {
		case <-c.still:
		case <-limit.C:
		case <-pause.C:
			if now := c.count(); now != seen {
				seen = now
				continue
			}
		}
		pause.Stop()
		return c.Detach()
	}
}

func (c *Capture) count() int64 {
	c.sink.mu.Lock()
	defer c.sink.mu.Unlock()
	return c.sink.bytes
}

// Detach stops reading now, as for a command that goes on in the background, and returns the Rest,
// or nil at the end of the stream. Where a pipe cannot be handed on (Windows), it is closed. Calls
// after the first Detach or Settle return the same Rest.
func (c *Capture) Detach() *Rest {
	c.once.Do(func() {
		err := c.pipe.SetReadDeadline(time.Unix(1, 0))
		if err != nil {
			c.pipe.Close()
		}
		<-c.still
		if err == nil && !c.ended {
			// On a busy machine the reader may not have had its turn: what the
			// command itself has printed is in the pipe by now.
			_ = c.pipe.SetReadDeadline(time.Time{})
			c.ended = drain(c.pipe, c.took)
		}
		ended := c.ended || err != nil
		if ended {
			c.sink.flush()
			c.sink.close(true)
		}
		close(c.eof)
		<-c.quiet
		if ended {
			c.pipe.Close()
			return
		}
		c.rest = &Rest{c.pipe, c.sink}
	})
	return c.rest
}
