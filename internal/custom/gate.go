package custom

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errBusy ends the wait of who has waited long enough for the calls of others.
var errBusy = errors.New("calls of others are in the engine")

// A turnQueue admits calls to an engine. Those of one owner enter together; those of others wait,
// so that what a script keeps for one owner is not answered with the rights of another. The engine
// has the same rule, but there a waiting call also holds up those behind it.
type turnQueue struct {
	mu      sync.Mutex
	owner   string
	inside  int
	waiting []*waiter
	// weary are those who waited in vain for who is inside now, and how long: they do not wait as
	// long again.
	weary map[string]time.Duration
}

type waiter struct {
	owner string
	in    chan struct{}
}

// A gateKey marks the contexts of calls that are inside.
type gateKey struct{ gate *turnQueue }

// isInside reports whether the call of a context is inside.
func (g *turnQueue) isInside(ctx context.Context) bool { return ctx.Value(gateKey{g}) != nil }

func (g *turnQueue) markContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, gateKey{g}, true)
}

// waitTurn waits for an owner's turn. Work on behalf of a call that is inside enters at once. The
// returned context is for the work inside.
func (g *turnQueue) waitTurn(ctx context.Context, owner string) (context.Context, func(), error) {
	if g.isInside(ctx) {
		return ctx, func() {}, nil
	}
	g.mu.Lock()
	if g.inside == 0 || g.owner == owner && len(g.waiting) == 0 {
		g.addOwner(owner)
		g.mu.Unlock()
		return g.markContext(ctx), g.release, nil
	}
	w := &waiter{owner, make(chan struct{})}
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	select {
	case <-w.in:
		return g.markContext(ctx), g.release, nil
	case <-ctx.Done():
		g.withdraw(w)
		return ctx, nil, context.Cause(ctx)
	}
}

// waitTurnFor is enter for callers with an alternative: it waits only for some time, and not again
// for the same stay of another owner. Then the error is errBusy.
func (g *turnQueue) waitTurnFor(ctx context.Context, owner string, patience time.Duration) (context.Context, func(), error) {
	if g.tired(owner, patience) {
		return ctx, nil, errBusy
	}
	limited, cancel := context.WithTimeoutCause(ctx, patience, errBusy)
	defer cancel()
	_, leave, err := g.waitTurn(limited, owner)
	if err == nil {
		return g.markContext(ctx), leave, nil
	}
	if ctx.Err() != nil {
		return ctx, nil, context.Cause(ctx)
	}
	g.tire(owner, patience)
	return ctx, nil, err
}

// tired reports whether an owner has waited as long before for who is inside.
func (g *turnQueue) tired(owner string, patience time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside > 0 && g.owner != owner && g.weary[owner] >= patience
}

// tire remembers that an owner has waited in vain.
func (g *turnQueue) tire(owner string, patience time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside == 0 || g.owner == owner {
		return
	}
	if g.weary == nil {
		g.weary = map[string]time.Duration{}
	}
	g.weary[owner] = max(g.weary[owner], patience)
}

// addOwner lets an owner in.
func (g *turnQueue) addOwner(owner string) {
	if g.inside == 0 {
		g.weary = nil
	}
	g.owner = owner
	g.inside++
}

// short is enter for short work, such as a hook: it does not wait for other owners in the queue,
// and for those inside only for some time, once; then it joins them, under their name, which it
// returns.
func (g *turnQueue) short(ctx context.Context, owner string, patience time.Duration) (context.Context, string, func(), error) {
	if g.isInside(ctx) {
		return ctx, owner, func() {}, nil
	}
	g.mu.Lock()
	if g.inside == 0 || g.owner == owner || g.weary[owner] >= patience {
		if g.inside > 0 {
			owner = g.owner
		}
		g.addOwner(owner)
		g.mu.Unlock()
		return g.markContext(ctx), owner, g.release, nil
	}
	w := &waiter{owner, make(chan struct{})}
	g.waiting = append([]*waiter{w}, g.waiting...)
	g.mu.Unlock()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-w.in:
		return g.markContext(ctx), owner, g.release, nil
	case <-t.C:
		g.withdraw(w)
		g.tire(owner, patience)
		return g.short(ctx, owner, 0)
	case <-ctx.Done():
		g.withdraw(w)
		return ctx, owner, nil, context.Cause(ctx)
	}
}

// withdraw takes back a waiter. If it was let in meanwhile, it leaves.
func (g *turnQueue) withdraw(w *waiter) {
	g.mu.Lock()
	for i, other := range g.waiting {
		if other == w {
			g.waiting = append(g.waiting[:i:i], g.waiting[i+1:]...)
			g.admitNext()
			g.mu.Unlock()
			return
		}
	}
	g.mu.Unlock()
	g.release()
}

func (g *turnQueue) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.admitNext()
}

// admitNext admits the first in the queue, and those of the same owner behind it.
func (g *turnQueue) admitNext() {
	for len(g.waiting) > 0 {
		w := g.waiting[0]
		if g.inside > 0 && g.owner != w.owner {
			return
		}
		g.waiting[0] = nil
		g.waiting = g.waiting[1:]
		g.addOwner(w.owner)
		close(w.in)
	}
}
