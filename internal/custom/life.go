package custom

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// startDir is where the process starts: a folder without settings that a runtime would take to
	// heart. It goes to the project itself.
	startDir = "/"
	// cancelGrace is how long a call may take to end once it was cancelled.
	cancelGrace = 2 * time.Second
	// pingEvery is how often an idle process is pinged, and how long it may take to answer.
	pingEvery = 15 * time.Second
	// drainTime bounds the reading of what a process has left in its pipes.
	drainTime = time.Second
	// mostAsked is how many requests of a process may be under way.
	mostAsked = 256
	// maxLine and maxTail bound what is kept of its output.
	maxLine = 8 << 10
	maxTail = 2 << 10
)

// A workerProcess is one process of a worker, from its start to its end.
type workerProcess struct {
	w       *Worker
	process *process.Process
	queue   chan []byte     // lines for the process
	doom    chan struct{}   // closed when it is to end
	gone    chan struct{}   // closed when nothing of it is left, and all below is set
	ctx     context.Context // cancelled when the process is to end
	stop    context.CancelFunc
	ready   bool // under the worker's lock: it can be called
	slots   chan struct{}
	left    error // what could not be ended; set when gone

	mu     sync.Mutex
	cause  error // why it ended, or is to
	exit   *int  // what it said it ends with
	last   uint64
	calls  map[uint64]*pending
	loaded map[string]*script.Fault // tool files, with nil for those that could be loaded
	tail   []byte                   // the end of what it printed
}

// A pending is a call that waits for its answer.
type pending struct {
	ctx    context.Context
	cancel context.CancelFunc
	answer chan frame // holds one
}

// startProcess starts a process and gives it its files.
func (w *Worker) startProcess(ctx context.Context) (*workerProcess, error) {
	opening, err := w.opening(ctx)
	if err != nil {
		return nil, err
	}
	l, err := w.spawn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := l.call(ctx, "begin", opening); err != nil {
		l.kill(err)
		<-l.gone
		return nil, fmt.Errorf("starting %s for the files of %s: %w%s", w.runtime.Name, w.folder.Root, err, l.printed())
	}
	return l, nil
}

// printed is the end of what the process printed, for an error.
func (l *workerProcess) printed() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(bytes.TrimSpace(l.tail)) == 0 {
		return ""
	}
	return "; it printed: " + strings.ToValidUTF8(string(bytes.TrimSpace(l.tail)), "\ufffd")
}

// runtimeArgs are those of the runtime: nothing is installed, and no settings are taken from where
// it starts.
func (w *Worker) runtimeArgs() []string {
	if w.runtime.Name == "bun" {
		return []string{"--no-install", "-e", workerSource}
	}
	return []string{"--enable-source-maps", "-e", workerSource}
}

// readablePaths returns what must be readable in the sandbox. Node gets a bundle of the imports;
// Bun reads the imports themselves.
func (w *Worker) readablePaths() []string {
	if w.runtime.Name != "bun" {
		return w.runtime.readable()
	}
	return append(w.runtime.readable(), w.folder.Reads...)
}

// spawn starts the process and all that listens to it.
func (w *Worker) spawn(ctx context.Context) (*workerProcess, error) {
	frames, framesW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", w.runtime.Name, err)
	}
	printed, printedW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", w.runtime.Name, err), frames.Close(), framesW.Close())
	}
	// What files print goes to standard error, and standard input is empty: frames have descriptors
	// of their own.
	const line = `exec "$0" "$@" 3>&1 4<&0 1>&2 0</dev/null`
	process, err := w.opt.Shell.Start(ctx, process.Program{
		Path: "/bin/sh", Args: append([]string{"-c", line, w.runtime.Path}, w.runtimeArgs()...), Dir: startDir,
		Stderr: printedW, Walled: !w.opt.open, Sieve: w.opt.Sieve, Readable: w.readablePaths(),
	}, framesW)
	framesW.Close()
	printedW.Close()
	if err != nil {
		frames.Close()
		printed.Close()
		return nil, fmt.Errorf("starting %s: %w", w.runtime.Name, err)
	}
	l := &workerProcess{
		w: w, process: process, queue: make(chan []byte, 64), doom: make(chan struct{}), gone: make(chan struct{}),
		slots: make(chan struct{}, mostAsked), calls: map[uint64]*pending{}, loaded: map[string]*script.Fault{},
	}
	l.ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	var readers, writer sync.WaitGroup
	readers.Go(func() { l.readFrames(frames) })
	readers.Go(func() { l.overhear(printed) })
	writer.Go(l.speak)
	w.work.Go(l.pingIdle)
	go l.waitExit(&readers, &writer, []*os.File{frames, printed})
	w.opt.Logger.Debug("worker started", "runtime", w.runtime.Name, "folder", w.folder.Root, "pid", process.PID())
	w.mu.Lock()
	closed := w.closed
	w.life = l
	w.mu.Unlock()
	if closed {
		l.kill(ErrWorkerClosed)
		<-l.gone
		return nil, ErrWorkerClosed
	}
	return l, nil
}

// waitExit waits for the end of the process, and ends all that belongs to it.
func (l *workerProcess) waitExit(readers, writer *sync.WaitGroup, pipes []*os.File) {
	select {
	case <-l.process.Done():
	case <-l.doom:
	}
	survivors, err := l.process.End(0)
	if err == nil && len(survivors) > 0 {
		err = fmt.Errorf("%d processes of %s could not be ended", len(survivors), l.w.runtime.Name)
	}
	drained := make(chan struct{})
	go func() {
		readers.Wait()
		close(drained)
	}()
	select {
	case <-drained:
	case <-time.After(drainTime): // another process holds the other end
	}
	for _, p := range pipes {
		p.Close()
	}
	<-drained
	l.kill(l.ending())
	writer.Wait()
	l.left = err
	l.w.opt.Logger.Debug("worker ended", "runtime", l.w.runtime.Name, "folder", l.w.folder.Root, "why", l.reason())
	close(l.gone)
}

// ending says how a process ended that was not killed by us.
func (l *workerProcess) ending() error {
	l.mu.Lock()
	exit := l.exit
	l.mu.Unlock()
	select {
	case <-l.process.Done():
	default:
		return fmt.Errorf("%w: %s could not be ended", ErrWorkerGone, l.w.runtime.Name)
	}
	name, status := l.w.runtime.Name, l.process.Status()
	switch {
	case exit != nil:
		return fmt.Errorf("%w: a file ended %s by process.exit(%d); the next call starts it again", ErrWorkerGone, name, *exit)
	case status.Signal != 0:
		return fmt.Errorf("%w: %s was ended by the signal %q; the next call starts it again", ErrWorkerGone, name, status.Signal)
	case status.Err != nil:
		return fmt.Errorf("%w: %s: %w", ErrWorkerGone, name, status.Err)
	}
	return fmt.Errorf("%w: %s ended with code %d; the next call starts it again", ErrWorkerGone, name, status.Code)
}

// kill ends the process, for a reason that counts if it is the first.
func (l *workerProcess) kill(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return
	}
	l.cause = why
	close(l.doom)
	l.stop()
}

// isOver reports whether the process has ended or is being ended.
func (l *workerProcess) isOver() bool {
	select {
	case <-l.doom:
		return true
	case <-l.process.Done():
		return true
	default:
		return false
	}
}

func (l *workerProcess) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// speak writes lines to the process.
func (l *workerProcess) speak() {
	for {
		select {
		case line := <-l.queue:
			if _, err := l.process.Stdin().Write(line); err != nil {
				return // it ends, and that is seen elsewhere
			}
		case <-l.doom:
			return
		}
	}
}

// put queues a line.
func (l *workerProcess) put(ctx context.Context, line []byte) error {
	select {
	case l.queue <- line:
		return nil
	case <-l.doom:
		<-l.gone
		return l.reason()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readFrames reads the frames of the process to their end.
func (l *workerProcess) readFrames(from io.Reader) {
	r := bufio.NewReaderSize(from, 64<<10)
	for {
		f, err := readFrame(r, l.w.opt.frame)
		if errors.Is(err, errNoFrame) || errors.Is(err, errLong) {
			l.kill(fmt.Errorf("%w: a file has written to descriptor 3 of %s, which is not its own: %w", ErrWorkerGone, l.w.runtime.Name, err))
		}
		if err != nil {
			_, _ = io.Copy(io.Discard, r) // so that who writes does not wait until it is killed
			return
		}
		l.take(f)
	}
}

func (l *workerProcess) take(f frame) {
	switch f.Kind {
	case kindAnswer:
		l.mu.Lock()
		p := l.calls[f.ID]
		delete(l.calls, f.ID)
		l.mu.Unlock()
		if p != nil {
			p.cancel()
			p.answer <- f
		}
	case kindAsk:
		l.serveRequest(f)
	case kindTell:
		if f.Text != nil {
			l.w.logText(f.Level, *f.Text)
		}
	case kindExit:
		l.mu.Lock()
		l.exit = &f.Code
		l.mu.Unlock()
	}
}

// overhear reads what files print, line by line.
func (l *workerProcess) overhear(from io.Reader) {
	r := bufio.NewReaderSize(from, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 {
			l.mu.Lock()
			l.tail = append(l.tail, line...)
			if extra := len(l.tail) - maxTail; extra > 0 {
				l.tail = append(l.tail[:0], l.tail[extra:]...)
			}
			l.mu.Unlock()
			l.w.logText("info", strings.TrimRight(string(line), "\r\n"))
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// call makes a call and waits for its answer. What was thrown is a *script.Fault.
func (l *workerProcess) call(ctx context.Context, method string, arg any) (frame, error) {
	if ctx.Err() != nil {
		return frame{}, context.Cause(ctx)
	}
	text, err := json.Marshal(arg)
	if err != nil {
		return frame{}, fmt.Errorf("%s: arguments: %w", method, err)
	}
	p := &pending{answer: make(chan frame, 1)}
	if p.ctx, p.cancel = context.WithCancel(ctx); lasts(method) {
		p.cancel()
		p.ctx, p.cancel = l.w.calm(), func() {}
	}
	defer p.cancel()
	l.mu.Lock()
	l.last++
	id := l.last
	l.calls[id] = p
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.calls, id)
	}()
	line, err := encode(frame{Kind: kindCall, ID: id, Method: method, Arg: text}, l.w.opt.frame)
	if err != nil {
		return frame{}, fmt.Errorf("%s: arguments: %w", method, err)
	}
	if err := l.put(ctx, line); err != nil {
		return frame{}, err
	}
	select {
	case f := <-p.answer:
		return l.checkFrame(f)
	case <-l.gone:
		return l.lateAnswer(p)
	case <-ctx.Done():
		return frame{}, l.abandon(ctx, id, p)
	}
}

// lasts reports whether a method may start work that continues after the call.
func lasts(method string) bool {
	return method == "load" || method == "plugins" || method == "event"
}

// lateAnswer accepts an answer that arrived just before the end.
func (l *workerProcess) lateAnswer(p *pending) (frame, error) {
	select {
	case f := <-p.answer:
		return l.checkFrame(f)
	default:
		return frame{}, l.reason()
	}
}

func (l *workerProcess) checkFrame(f frame) (frame, error) {
	if f.Error != nil {
		l.locate(f.Error)
		return f, f.Error
	}
	return f, nil
}

// abandon cancels a call. If it does not end soon, its process has to.
func (l *workerProcess) abandon(ctx context.Context, id uint64, p *pending) error {
	timer := time.NewTimer(l.w.opt.grace)
	defer timer.Stop()
	line, err := encode(frame{Kind: kindCancel, ID: id}, l.w.opt.frame)
	if err != nil {
		return err
	}
	select {
	case l.queue <- line:
	case <-l.doom:
	case <-timer.C:
		timer.Reset(0)
	}
	select {
	case <-p.answer:
	case <-l.gone:
	case <-timer.C:
		l.kill(fmt.Errorf("%w: %s was ended, because a call did not end within %s of being cancelled; the next call starts it again", ErrWorkerGone, l.w.runtime.Name, l.w.opt.grace))
		<-l.gone
	}
	return context.Cause(ctx)
}

// pingIdle asks a process that has nothing to do whether it is still there for calls.
func (l *workerProcess) pingIdle() {
	tick := time.NewTicker(l.w.opt.pulse)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.doom:
			return
		}
		if l.busy() { // the context of the call watches over it
			continue
		}
		ctx, cancel := context.WithTimeout(l.ctx, l.w.opt.pulse)
		if !l.ping(ctx) && !l.busy() { // a call that came meanwhile may keep it from answering, as long as its context says
			l.kill(fmt.Errorf("%w: %s was ended, because it did not answer any more, as in an endless loop; the next call starts it again", ErrWorkerGone, l.w.runtime.Name))
		}
		cancel()
	}
}

// busy reports whether calls are under way.
func (l *workerProcess) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls) > 0
}

// ping reports whether the process answers before ctx ends.
func (l *workerProcess) ping(ctx context.Context) bool {
	p := &pending{answer: make(chan frame, 1), ctx: ctx, cancel: func() {}}
	l.mu.Lock()
	l.last++
	id := l.last
	l.calls[id] = p
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.calls, id)
	}()
	line, err := encode(frame{Kind: kindCall, ID: id, Method: "ping"}, l.w.opt.frame)
	if err != nil {
		return false
	}
	select {
	case l.queue <- line:
	case <-ctx.Done():
		return false
	}
	select {
	case <-p.answer:
		return true
	case <-ctx.Done():
		return false
	}
}
