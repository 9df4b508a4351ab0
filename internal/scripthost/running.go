package scripthost

import (
	"context"
	"encoding/json"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A running is a program that was started, with all that it has started in
// turn. It ends with the context that it was started under, or when the script
// is done with it.
type running struct {
	p       *programs
	id      int // 0 for one that scripts do not know
	process *process.Process
	out     *reader
	err     *reader
	writing chan struct{} // held by who writes to it

	work  sync.WaitGroup // what is done for it beside
	logs  []*os.File     // what it writes to the log
	after []func()       // when it has ended

	mu     sync.Mutex
	hooked func() bool // takes it from the context
	timer  *time.Timer // of its time, then of its end
	ended  bool        // it needs no more timers

	settled atomic.Bool // nothing of it runs any more
	freed   sync.Once
	once    sync.Once
	gone    chan struct{} // closed when it was ended
	quiet   chan struct{} // closed when watch is over
}

// waitEnd waits for a program to end, and handles what it left running.
func (r *running) waitEnd() {
	defer close(r.quiet)
	<-r.process.Done()
	if r.id != 0 {
		r.stopTimer() // its time was its own
	}
	for _, f := range r.after {
		f()
	}
	left, err := r.process.Survivors()
	if err == nil && len(left) > 0 {
		return // they end with the context
	}
	r.cleanUp()
}

// cleanUp runs after all processes of the program have ended.
func (r *running) cleanUp() {
	r.stopTimer()
	r.out.readRest()
	r.err.readRest()
	r.settled.Store(true)
	r.free()
	if _, err := r.p.find(r.id); err != nil {
		r.unhook()
	}
}

// hook lets the program end with a context.
func (r *running) hook(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hooked = context.AfterFunc(ctx, r.end)
}

func (r *running) unhook() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hooked()
}

// free gives the place of the program to others.
func (r *running) free() {
	r.freed.Do(func() {
		r.p.mu.Lock()
		defer r.p.mu.Unlock()
		delete(r.p.alive, r)
		r.p.places--
	})
}

// isOver reports whether the program itself has ended.
func (r *running) isOver() bool {
	select {
	case <-r.process.Done():
		return true
	default:
		return false
	}
}

// end ends the program with all that it has started, and closes all that was opened for it. It
// waits for that.
func (r *running) end() {
	r.once.Do(func() {
		defer close(r.gone)
		r.unhook()
		r.stopTimer()
		var left []process.Survivor
		var err error
		if !r.settled.Load() {
			left, err = r.process.End(0)
		}
		r.out.close()
		r.err.close()
		for _, pipe := range r.logs { // in case a process that could not be found holds it
			_ = pipe.SetReadDeadline(time.Now().Add(drainLimit))
		}
		if err == nil && len(left) == 0 {
			<-r.quiet
			r.work.Wait()
		}
		r.p.removeProgram(r)
		r.free()
	})
	<-r.gone
}

// removeProgram forgets the number of a program.
func (p *programs) removeProgram(r *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, r.id)
}

// setTimeout gives a program its time: after it, and after what late does, it gets
// a signal.
func (r *running) setTimeout(milliseconds float64, sig syscall.Signal, late func()) {
	if milliseconds <= 0 || milliseconds > float64(1<<40) {
		return
	}
	r.setTimer(time.Duration(milliseconds*float64(time.Millisecond)), func() {
		late()
		r.stop(sig)
	})
}

// stop sends a signal, and ends what does not go by it.
func (r *running) stop(sig syscall.Signal) {
	_ = r.process.Signal(sig)
	r.setTimer(lastGrace, func() { _, _ = r.process.End(0) })
}

func (r *running) setTimer(d time.Duration, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
	if !r.ended {
		r.timer = time.AfterFunc(d, do)
	}
}

func (r *running) stopTimer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// feed writes the program's input.
func (r *running) feed(input []byte) {
	r.work.Go(func() {
		_, _ = r.process.Stdin().Write(input) // it need not read all of it
		_ = r.process.Stdin().Close()
	})
}

// logPipes gives what a program writes to the log.
func (r *running) logPipes(by *work, pipes []*os.File) {
	r.logs = pipes
	for _, pipe := range pipes {
		r.work.Go(func() {
			defer pipe.Close()
			r.p.w.tell(by, "info", pipe)
		})
	}
}

// run is proc.run: a program to its end.
func (p *programs) run(ctx context.Context, arg script.Data) (script.Data, error) {
	var a wanted
	by, err := read(ctx, arg, &a)
	if err != nil {
		return script.Data{}, err
	}
	told, err := p.through(ctx, by, &a, arg.Raw)
	if err != nil {
		return script.Data{}, failure(err)
	}
	return told, nil
}

func (p *programs) through(ctx context.Context, by *work, a *wanted, input []byte) (script.Data, error) {
	asks := p.asker(by)
	program, err := p.prepareProgram(ctx, asks, a)
	if err != nil {
		return script.Data{}, err
	}
	sig, err := signalOf(a.Kill)
	if err != nil {
		return script.Data{}, err
	}
	pipes, err := p.plumb(ctx, asks, a)
	if err != nil {
		return script.Data{}, err
	}
	defer pipes.close()
	pipes.feeds, pipes.bytes = input != nil, input
	outBack, errBack := pipes.outBack, pipes.errBack
	pipes.outBack, pipes.errBack = nil, nil
	r, err := p.launch(ctx, by, program, pipes)
	if err != nil {
		closeAll(outBack, errBack)
		return script.Data{}, err
	}
	var late atomic.Bool
	r.setTimeout(a.Timeout, sig, func() { late.Store(true) })
	out := &bounded{max: a.most(), full: func() { r.stop(sig) }}
	errs := &bounded{max: a.most(), full: func() { r.stop(sig) }}
	readStreams(ctx, outputStream{outBack, out}, outputStream{errBack, errs})
	select {
	case <-r.process.Done():
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		r.end()
		return script.Data{}, ctx.Err()
	}
	answer, err := outcome(r)
	if err != nil {
		return script.Data{}, err
	}
	held, over := out.take()
	said, more := errs.take()
	answer["timedOut"], answer["overflow"] = late.Load(), over || more
	return both(answer, held, said)
}

// most is how much of an output is kept.
func (a *wanted) most() int {
	switch {
	case a.Max == nil || *a.Max < 0:
		return usualOutput
	case *a.Max > mostOutput:
		return mostOutput
	}
	return int(*a.Max)
}

// An outputStream is an output that is read for a script.
type outputStream struct {
	from *os.File // nil for none
	to   io.Writer
}

// readStreams reads outputs to their ends, or until ctx ends.
func readStreams(ctx context.Context, streams ...outputStream) {
	var wait sync.WaitGroup
	for _, one := range streams {
		if one.from == nil {
			continue
		}
		wait.Go(func() {
			defer one.from.Close()
			defer context.AfterFunc(ctx, func() { _ = one.from.SetReadDeadline(time.Unix(1, 0)) })()
			_, _ = io.Copy(one.to, one.from)
		})
	}
	wait.Wait()
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// start is proc.start: a program that runs while the script continues.
func (p *programs) start(ctx context.Context, arg script.Data) (script.Data, error) {
	var a wanted
	by, err := read(ctx, arg, &a)
	if err != nil {
		return script.Data{}, err
	}
	r, err := p.startProgram(ctx, by, &a, arg.Raw)
	if err != nil {
		return script.Data{}, failure(err)
	}
	return encodeAnswer(map[string]int{"id": r.id, "pid": r.process.PID()})
}

func (p *programs) startProgram(ctx context.Context, by *work, a *wanted, input []byte) (*running, error) {
	asks := p.asker(by)
	program, err := p.prepareProgram(ctx, asks, a)
	if err != nil {
		return nil, err
	}
	sig, err := signalOf(a.Kill)
	if err != nil {
		return nil, err
	}
	pipes, err := p.plumb(ctx, asks, a)
	if err != nil {
		return nil, err
	}
	defer pipes.close()
	pipes.feeds, pipes.known = a.Stdin == "pipe" || a.Stdin == "bytes", true
	if a.Stdin == "bytes" {
		pipes.bytes = append([]byte{}, input...)
	}
	r, err := p.launch(ctx, by, program, pipes)
	if err != nil {
		return nil, err
	}
	r.setTimeout(a.Timeout, sig, func() {})
	return r, nil
}

// A programID identifies the program of a request.
type programID struct {
	ID     int
	From   string
	Signal string
	End    bool
}

func (p *programs) read(ctx context.Context, arg script.Data) (script.Data, error) {
	var a programID
	if _, err := read(ctx, arg, &a); err != nil {
		return script.Data{}, err
	}
	r, err := p.find(a.ID)
	if err != nil {
		return script.Data{}, err
	}
	from := r.out
	if a.From == "stderr" {
		from = r.err
	}
	piece, err := from.next(ctx)
	if err != nil {
		return script.Data{}, err
	}
	text, err := json.Marshal(map[string]bool{"done": len(piece) == 0})
	return script.Data{JSON: text, Raw: piece}, err
}

func (p *programs) write(ctx context.Context, arg script.Data) (script.Data, error) {
	var a programID
	if _, err := read(ctx, arg, &a); err != nil {
		return script.Data{}, err
	}
	r, err := p.find(a.ID)
	if err != nil {
		return script.Data{}, err
	}
	in := r.process.Stdin()
	if in == nil {
		return script.Data{}, nil
	}
	select {
	case r.writing <- struct{}{}:
	case <-ctx.Done():
		return script.Data{}, ctx.Err()
	}
	defer func() { <-r.writing }()
	if len(arg.Raw) > 0 {
		_ = in.SetWriteDeadline(time.Time{})
		defer context.AfterFunc(ctx, func() { _ = in.SetWriteDeadline(time.Unix(1, 0)) })()
		if _, err := in.Write(arg.Raw); err != nil {
			if ctx.Err() != nil {
				return script.Data{}, ctx.Err()
			}
			return script.Data{}, &script.Failure{Message: "EPIPE: broken pipe, write", Code: "EPIPE", Errno: -32, Syscall: "write"}
		}
	}
	if a.End {
		_ = in.Close()
	}
	return script.Data{}, nil
}

func (p *programs) wait(ctx context.Context, _ *work, a programID) (any, error) {
	r, err := p.find(a.ID)
	if err != nil {
		return nil, err
	}
	select {
	case <-r.process.Done():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return outcome(r)
}

func (p *programs) kill(_ context.Context, _ *work, a programID) (any, error) {
	r, err := p.find(a.ID)
	if err != nil {
		return nil, err
	}
	sent := !r.isOver()
	if a.Signal != "0" && sent {
		sig, err := signalOf(a.Signal)
		if err != nil {
			return nil, err
		}
		sent = r.process.Signal(sig) == nil
	}
	return map[string]bool{"sent": sent}, nil
}

// closeProgram is proc.close. Processes that an ended program left running go on until the call
// ends.
func (p *programs) closeProgram(_ context.Context, _ *work, a programID) (any, error) {
	r, err := p.find(a.ID)
	if err != nil {
		return nil, nil // twice is no mistake
	}
	p.removeProgram(r)
	if !r.isOver() {
		r.end()
		return nil, nil
	}
	r.out.close()
	r.err.close()
	if r.settled.Load() {
		r.unhook()
	}
	return nil, nil
}

func (p *programs) which(_ context.Context, by *work, a struct {
	Name, Cwd string
	Path      *string
}) (any, error) {
	_, path := p.variables(p.base(by), nil, nil)
	if a.Path != nil {
		path = *a.Path
	}
	if found := which(a.Name, a.Cwd, path); found != "" {
		return found, nil
	}
	return nil, nil
}
