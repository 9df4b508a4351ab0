package custom

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// Options configure a [Set].
type Options struct {
	plugin.Options
	plugins.Services
	ServerURL string // what plugins learn about the runtime's address
}

// Set is what users have brought. It is a [plugins.Set].
type Set struct {
	opt     Options
	log     *slog.Logger
	runs    *plugins.Programs // runs tools that are programs; nil for none
	store   *store
	base    func() (*base, error) // what all engines begin with
	units   []*unit
	ignored []plugin.File // what the config names and is not loaded
	events  *mailbox

	life context.Context
	stop context.CancelCauseFunc
	work sync.WaitGroup
	// ending counts the engines that were replaced and have not ended.
	ending atomic.Int32

	// gathered records that all tools were requested.
	gathered atomic.Bool

	mu      sync.Mutex
	closing bool // Close was called
	closed  bool // nothing new is begun

	shelf shelf
}

var errClosed = errors.New("the runtime was closed")

// New returns a set. It reads nothing and starts nothing except the watcher.
func New(opt Options) *Set {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.LoadTimeout <= 0 {
		opt.LoadTimeout = 30 * time.Second
	}
	if opt.HookTimeout <= 0 {
		opt.HookTimeout = 10 * time.Second
	}
	if opt.Memory <= 0 {
		opt.Memory = 128 << 20
	}
	if opt.Changed == nil {
		opt.Changed = func() {}
	}
	s := &Set{opt: opt, log: opt.Logger, store: newStore(opt.Cache, opt.Logger)}
	if opt.Shell != nil {
		s.runs = plugins.NewPrograms(opt.Services)
	}
	s.life, s.stop = context.WithCancelCause(context.Background())
	s.base = sync.OnceValues(func() (*base, error) { return newBase(s.store) })
	s.events = newMailbox(s)
	s.units = s.arrange()
	if opt.Watch > 0 && len(s.units) > 0 {
		s.goes(s.pollFiles)
	}
	return s
}

// goes runs something in the background, until Close; it reports false if that was.
func (s *Set) goes(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(f)
	return true
}

// Need loads what a call of a tool may need: the files whose names suggest that they define it, and
// every plugin, as their hooks see all calls. If all is loaded, it costs a look at the folders. It
// returns when ctx ends; loading continues.
func (s *Set) Need(ctx context.Context, name string) {
	s.bring(ctx, want{tool: name})
}

// NeedFor is Need for a call, which is asked where a file may run only after a question.
func (s *Set) NeedFor(ctx context.Context, c *tool.Call) {
	s.bring(ctx, want{tool: c.Tool, by: c})
}

// Gather brings all tools and plugins.
func (s *Set) Gather(ctx context.Context) {
	s.gathered.Store(true)
	s.bring(ctx, want{all: true})
}

// bring has all units load and register what is wanted.
func (s *Set) bring(ctx context.Context, w want) {
	if len(s.units) == 0 {
		return
	}
	done := make(chan struct{})
	if !s.goes(func() {
		defer close(done)
		var waits sync.WaitGroup
		for _, u := range s.units {
			if !u.loading(ctx) && u.wants(w) {
				waits.Go(func() { u.load(ctx, w) })
			}
		}
		waits.Wait()
		s.events.open()
	}) {
		return
	}
	select {
	case <-done:
	case <-ctx.Done(): // a folder may be on a disk that does not answer
	}
}

// closeTime is how long Close waits for files that are being read, or plugins that tidy up.
const closeTime = 4 * time.Second

// Close ends all engines and unregisters the tools. Pending events are delivered to plugins first,
// if that does not take long. What does not end in time is abandoned.
func (s *Set) Close() error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return nil
	}
	s.closing = true
	s.mu.Unlock()
	s.events.flush(flushTime)
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop(errClosed)
	if !endsSoon(s.work.Wait) {
		s.log.Warn("something that reads or loads files of tools does not end and is left behind")
	}
	errs := make(chan error, 2)
	if !endsSoon(func() { errs <- s.closeUnits() }) {
		s.log.Warn("an engine does not end and is left behind")
		errs <- nil
	}
	s.shelf.clear()
	return <-errs
}

// closeUnits ends all engines.
func (s *Set) closeUnits() error {
	var errs []error
	for _, u := range s.units {
		errs = append(errs, u.close())
	}
	return errors.Join(errs...)
}

// endsSoon reports whether f ends soon. Otherwise it is abandoned.
func endsSoon(f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	t := time.NewTimer(closeTime)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
