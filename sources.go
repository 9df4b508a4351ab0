package helve

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/tool"
)

// A source provides tools on demand, because providing them means starting other programs.
type source interface {
	// Need loads the tool with a name, if the source has it.
	Need(ctx context.Context, tool string)
	// Gather loads all tools of the source, or as many as it can before ctx ends.
	Gather(ctx context.Context)
	Close() error
}

// A sourceState is a source with the state of its loading.
type sourceState struct {
	source

	mu    sync.Mutex
	under int       // loads in progress
	since time.Time // when the first of them began
}

// Gather loads the tools of other programs and of custom files, so that [Runtime.Tools] shows them:
// all of them, or those that are ready when ctx ends. The others follow, each with an event. A call
// of such a tool needs no Gather.
func (r *Runtime) Gather(ctx context.Context) { r.startSources(ctx, 0) }

// Ready is [Runtime.Gather] for callers that can list tools again later: it waits a second for each
// source, once, and not at all for a source that has been starting for longer.
func (r *Runtime) Ready(ctx context.Context) {
	r.startSources(ctx, cmp.Or(r.opt.Patience, patience))
}

// patience is how long a listing waits for a source that is still starting.
const patience = time.Second

// startSources loads all sources in parallel, each with its own limits, and waits for each until
// ctx ends or, if wait is not 0, until the source has been starting for that long. Sources that are
// no longer waited for continue.
func (r *Runtime) startSources(ctx context.Context, wait time.Duration) {
	var waits sync.WaitGroup
	for _, s := range r.sources {
		own, release, err := r.acquire(context.WithoutCancel(ctx))
		if err != nil {
			break
		}
		done := make(chan struct{})
		since := s.markStarting()
		go func() {
			defer release()
			defer close(done)
			defer s.end()
			s.Gather(own)
		}()
		waits.Go(func() {
			bounded, cancel := ctx, func() {}
			if wait > 0 {
				bounded, cancel = context.WithDeadline(ctx, since.Add(wait))
			}
			defer cancel()
			select {
			case <-done:
			case <-bounded.Done():
			}
		})
	}
	waits.Wait()
}

func (s *sourceState) markStarting() (since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.under == 0 {
		s.since = time.Now()
	}
	s.under++
	return s.since
}

func (s *sourceState) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under--
}

// Fetch loads the tool with a name, if another program has it, so that [Runtime.Tools] shows it.
// [Runtime.Call] does that itself.
func (r *Runtime) Fetch(ctx context.Context, name string) {
	for _, s := range r.sources {
		s.Need(ctx, name)
	}
}

// gatherLimit is how long a call waits for sources to decide whether a built-in tool is useful, or
// whether one of theirs is meant.
const gatherLimit = 5 * time.Second

// load loads what a call of a tool that is not offered may need: the tool itself, or, for a
// built-in one, what it works on. It reports whether that may have changed something.
func (r *Runtime) load(ctx context.Context, name string) bool {
	if len(r.sources) == 0 {
		return false
	}
	e, ours := r.registry.newest(name)
	switch {
	case !ours:
		r.Fetch(ctx, name)
	case e.spec.Offer == nil: // rules hide it, and nothing changes that
		return false
	default:
		r.startSources(ctx, gatherLimit)
	}
	return true
}

// compactFlag is the flag that hides the tools of other programs from a model, which then finds
// them by searching.
const compactFlag = "compact"

// listedSpecs removes what models are not shown. Tools of other programs come last, by name: they
// arrive in any order, and a stable list keeps prompt caches valid.
func listedSpecs(specs []tool.Spec, a tool.Audience) []tool.Spec {
	specs = slices.DeleteFunc(specs, func(s tool.Spec) bool { return s.Catches || s.External && a.Flags[compactFlag] })
	slices.SortStableFunc(specs, func(a, b tool.Spec) int {
		switch {
		case a.External && b.External:
			return strings.Compare(a.Name, b.Name)
		case a.External:
			return 1
		case b.External:
			return -1
		}
		return 0
	})
	return specs
}
