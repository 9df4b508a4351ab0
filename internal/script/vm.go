package script

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// What may become of a call, beside what the script itself throws and the error of its context.
var (
	// ErrClosed is given by a VM that was closed.
	ErrClosed = errors.New("the JavaScript engine was closed")
	// ErrLost is returned by a VM that ran out of memory or could not be stopped. Its owner makes a
	// new one.
	ErrLost = errors.New("the JavaScript engine was lost")
	// ErrMemory accompanies [ErrLost] for the call that used up the memory.
	ErrMemory = errors.New("out of memory")
	// ErrTurn ends a call that ran too long without giving control back.
	ErrTurn = errors.New("the script ran too long without waiting for anything")
	// ErrStopped ends calls whose promises were lost when another call of the same owner had to be
	// stopped by force.
	ErrStopped = errors.New("the script was stopped together with another call")
	// ErrBusy is given to a host that uses the VM from within [Host.Now].
	ErrBusy = errors.New("the JavaScript engine is waiting for this answer")
)

const (
	defaultMemory = 64 << 20
	defaultTurn   = 5 * time.Second
	// maxStack keeps the goroutine's stack well below the size at which Go ends a process.
	maxStack = 20_000
	// grace is how long a caller whose context has ended waits for the script to notice.
	grace = time.Second
	// defaultPatience is how long a script may run on that was stopped, before the VM is given up.
	defaultPatience = 5 * time.Second
	// often is the interval at which a script is told to stop until it does.
	often = 10 * time.Millisecond
	// afterwards is what scripts have for tidying up once they were stopped or cancelled.
	afterwards = 250 * time.Millisecond
)

// VMOptions bound a VM.
type VMOptions struct {
	Memory int64         // bytes; 64 MiB when 0
	Stack  int           // how deep calls may nest, in the engine's units of about one call; 5000 when 0, 20000 at the most
	Turn   time.Duration // longest run without giving control back, 5 s when 0; waiting for the host does not count
	Host   Host
	Logger *slog.Logger // gets unhandled rejections and panics of the host; nil for none

	patience time.Duration
}

// A VM is a JavaScript engine and its goroutine. All methods may be called from any goroutine but
// that of [Host.Now].
type VM struct {
	opts   VMOptions
	log    *slog.Logger
	engine *engine

	life   context.Context // ends with the VM
	endAll context.CancelCauseFunc
	wake   chan struct{}
	dead   chan struct{} // closed when nothing more is started
	gone   chan struct{} // closed when the goroutine has ended
	over   atomic.Bool   // dead, for those who ask often
	hosts  sync.WaitGroup
	watch  *time.Timer  // fires when a script has to stop
	due    atomic.Int64 // when that is, in nanoseconds of the VM's life; 0 while no script runs
	born   time.Time

	mu    sync.Mutex
	inbox []func()
	err   error // why it is dead

	began    atomic.Int64
	underWay atomic.Int64
	pending  atomic.Int64
	memory   atomic.Int64

	// From here on all belongs to the engine's goroutine.
	last     int32
	calls    map[int32]*call
	waiting  []*call
	requests map[int32]*hostRequest
	keys     map[float64]*hostRequest
	current  *call
	deadline time.Time
	stopped  error // why the script that runs is to stop
	forced   bool  // it is to stop at every step
	telling  bool  // it was notified of its end, which does not stop it
	unhappy  map[uint64]rejection
}

// Usage is what a VM uses.
type Usage struct {
	Memory   int64 // bytes
	Calls    int   // under way or waiting
	Requests int   // waiting for an answer of the host, or for a timer
	Total    int64 // calls and loads since the beginning
}

// NewVM makes a VM and its goroutine; it has to be closed.
func NewVM(opts VMOptions) (*VM, error) {
	if opts.Host == nil {
		return nil, errors.New("a JavaScript engine needs a host")
	}
	if opts.Memory <= 0 {
		opts.Memory = defaultMemory
	}
	opts.Stack = min(opts.Stack, maxStack)
	if opts.Turn <= 0 {
		opts.Turn = defaultTurn
	}
	if opts.patience <= 0 {
		opts.patience = defaultPatience
	}
	v := &VM{
		opts: opts, log: opts.Logger, born: time.Now(),
		wake: make(chan struct{}, 1), dead: make(chan struct{}), gone: make(chan struct{}),
		calls: map[int32]*call{}, requests: map[int32]*hostRequest{}, keys: map[float64]*hostRequest{}, unhappy: map[uint64]rejection{},
	}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	engine, err := newEngine(engineOptions{
		memory: opts.Memory, stack: opts.Stack, given: v.over.Load, stop: v.stop, rejected: v.rejected,
	})
	if err != nil {
		return nil, err
	}
	v.engine = engine
	v.deadline = time.Now().Add(time.Minute) // our own script is not on trial
	if err := engine.boot(v.now, v.later, v.hostDrop, v.hostFinish, v.hostText, v.bytes); err != nil {
		engine.close()
		return nil, fmt.Errorf("%w: %w", errNoEngine, err)
	}
	v.memory.Store(engine.arena.used)
	v.life, v.endAll = context.WithCancelCause(context.Background())
	v.watch = time.AfterFunc(time.Hour, v.overdue)
	v.watch.Stop()
	go v.loop()
	return v, nil
}

// Usage may be asked at any time.
func (v *VM) Usage() Usage {
	return Usage{
		Memory: v.memory.Load(), Calls: int(v.underWay.Load()), Requests: int(v.pending.Load()), Total: v.began.Load(),
	}
}

// Close stops what runs, ends all calls with [ErrClosed] and waits for the engine and for the host.
// It returns an error if they do not end soon.
func (v *VM) Close() error {
	v.die(ErrClosed)
	back := make(chan struct{})
	go func() {
		defer close(back)
		<-v.gone
		v.hosts.Wait()
	}()
	if !v.awaits(4*grace, back, nil) {
		return fmt.Errorf("closing: %w", ErrLost)
	}
	return nil
}

// awaits waits for one of two ends and urges the engine on meanwhile; it returns false if neither
// comes in time.
func (v *VM) awaits(limit time.Duration, one, other <-chan struct{}) bool {
	late, again := time.NewTimer(limit), time.NewTicker(often)
	defer late.Stop()
	defer again.Stop()
	for {
		v.engine.poke()
		select {
		case <-one:
			return true
		case <-other:
			return true
		case <-late.C:
			return false
		case <-again.C:
		}
	}
}

// die is the end of a VM, for the first reason that is given.
func (v *VM) die(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err != nil {
		return
	}
	v.err = err
	v.inbox = nil
	v.over.Store(true)
	v.endAll(err)
	close(v.dead)
}

// why is the reason why a VM is dead.
func (v *VM) why() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// post sends work to the engine's goroutine; it returns false if that has ended.
func (v *VM) post(f func()) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err != nil {
		return false
	}
	v.inbox = append(v.inbox, f)
	select {
	case v.wake <- struct{}{}:
	default:
	}
	return true
}

func (v *VM) take() []func() {
	v.mu.Lock()
	defer v.mu.Unlock()
	work := v.inbox
	v.inbox = nil
	return work
}
