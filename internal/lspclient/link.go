package lspclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/text"
)

// How a server ends.
const (
	partTime  = time.Second            // for the answer to shutdown
	briefTime = 200 * time.Millisecond // the same, where the process ends soon
	endGrace  = time.Second            // between asking its processes to end and ending them
	drainTime = 200 * time.Millisecond // for its last words
	exitTime  = 2 * time.Second        // for its exit code, once it has closed its output
	maxLine   = 64 << 10               // of a line that it prints
)

// A link is one run of a server: a process, and what it was sent.
type link struct {
	c       *client
	process *process.Process
	conn    *conn
	out     *os.File
	errs    *os.File // what it prints on its error output
	errDone chan struct{}
	ended   sync.Once
	born    time.Time

	// These are set before anybody else has the link.
	able     abilities
	encoding counting
	program  string
	settings json.RawMessage

	tree atomic.Pointer[tree] // what its files looked like

	syncing sync.Mutex // texts are read and sent one at a time, so that numbers and texts agree

	mu         sync.Mutex
	docs       map[string]*doc
	closed     map[string]int // the last numbers of those that were closed
	heard      []FileChange   // changes on disk that the server was not notified of yet
	uses       uint64
	found      map[string]*findings
	bytes      int           // of all that was found
	seq        uint64        // publications so far
	lastSent   uint64        // how many there had been when the server was last notified of a change
	news       chan struct{} // closed when something was published, and then made anew
	registered map[string]registration
	mute       int      // waits in which it published nothing at all
	words      []string // the last that it printed
	unnumbered bool     // it publishes without saying of which text
}

// A registration is something that the server offers, or wants to be notified of, since it has
// started.
type registration struct {
	method   string
	watchers *watchers // of files, where that is what it is about
}

// openLink starts a server and makes its acquaintance.
func openLink(ctx context.Context, c *client, how launch) (*link, error) {
	l := &link{
		c: c, born: time.Now(), errDone: make(chan struct{}), docs: map[string]*doc{}, closed: map[string]int{}, found: map[string]*findings{}, news: make(chan struct{}),
		registered: map[string]registration{}, settings: how.init, encoding: utf16Units,
	}
	l.tree.Store(newTree(c.root, func(string) bool { return false }))
	if err := l.start(ctx, how); err != nil {
		return nil, err
	}
	looked := make(chan struct{})
	go func() { // what is there now, so that later changes show
		defer close(looked)
		l.newTree(ctx)
	}()
	err := l.greet(ctx, how)
	<-looked
	if err != nil {
		select { // a program that is no server often says so and ends
		case <-l.process.Done():
			err = l.epitaph()
		case <-time.After(drainTime):
		}
		l.stop()
		return nil, err
	}
	return l, nil
}

// start starts the process.
func (l *link) start(ctx context.Context, how launch) error {
	if l.c.set.opt.StartProcess == nil {
		return errors.New("language servers can not be started here")
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
	server := l.c.server.Server
	server.Environment = how.env
	cmd := process.Command{Path: how.argv[0], Args: how.argv[1:], Dir: l.c.root, Stdin: true, Stderr: errW}
	l.process, err = l.c.set.opt.StartProcess(ctx, server, cmd, outW)
	outW.Close()
	errW.Close()
	if err != nil {
		outR.Close()
		errR.Close()
		return fmt.Errorf("starting %s: %w", how.argv[0], err)
	}
	l.out, l.errs = outR, errR
	go l.readErrors()
	l.conn = newConn(l.process.Stdin(), outR, l)
	go func() { // reading ends soon after the process has, also when another one still holds its output
		<-l.process.Done()
		_ = l.out.SetReadDeadline(time.Now().Add(drainTime))
		_ = l.errs.SetReadDeadline(time.Now().Add(drainTime))
	}()
	return nil
}

// readErrors logs what the server prints on its error output.
func (l *link) readErrors() {
	defer close(l.errDone)
	r := bufio.NewReaderSize(l.errs, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		if said := strings.TrimRight(string(line), "\r\n"); said != "" {
			l.c.log.Add("stderr", said)
			l.keepWords(said)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// epitaph says how the connection ended, with the server's last output.
func (l *link) epitaph() error {
	how := "It has closed its output."
	if err := l.conn.err(); err != nil {
		how = sentence("The connection broke: " + err.Error())
	}
	select {
	case <-l.process.Done():
		select {
		case <-l.errDone:
		case <-time.After(2 * drainTime):
		}
		how = fmt.Sprintf("It has ended with exit code %d.", l.process.Status().Code)
		if sig := l.process.Status().Signal; sig != 0 {
			how = fmt.Sprintf("It was ended by a signal (%s).", sig)
		}
	case <-time.After(exitTime):
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.words) > 0 {
		how += " Its last words: " + strings.Join(l.words, " | ")
	}
	return errors.New(how)
}

// keepWords keeps the last lines that the server has printed.
func (l *link) keepWords(line string) {
	const most, long = 5, 300
	line, _ = text.Cut(line, long)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.words = append(l.words, line)
	l.words = l.words[max(0, len(l.words)-most):]
}

// stop ends the server: with a shutdown request, and then by force.
func (l *link) stop() {
	l.ended.Do(func() {
		select {
		case <-l.conn.done():
		default:
			patience := partTime
			if l.c.set.opt.Brief {
				patience = briefTime
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			if _, err := l.conn.call(ctx, "shutdown", nil); err == nil {
				_ = l.conn.notify("exit", nil) // it may be gone already
				select {
				case <-l.process.Done():
				case <-ctx.Done():
				}
			}
			cancel()
		}
		left, err := l.process.End(endGrace)
		if err != nil || len(left) > 0 {
			l.c.log.Add("helve", fmt.Sprintf("processes could not be ended: %v %v", left, err))
		}
		l.conn.close(errStopped)
		_ = l.errs.SetReadDeadline(time.Now())
		<-l.errDone
		l.errs.Close()
	})
}

// memory returns how many bytes the processes of the server use; 0 if that is unknown, as in the
// sandbox, where process numbers differ.
func (l *link) memory() int64 {
	if l.c.server.Wall {
		return 0
	}
	select {
	case <-l.process.Done():
		return 0
	default:
		pids := []int{l.process.PID()}
		left, _ := l.process.Survivors() // also those that have left their parents
		for _, one := range left {
			pids = append(pids, one.PID)
		}
		return rss(pids...)
	}
}
