package loop

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
)

// A Limit bounds what may be spent; a field that is 0 bounds nothing.
type Limit struct {
	Time, Idle   time.Duration
	Tokens       int
	Cost         float64
	Steps, Calls int
}

// A Purse is a budget. What is spent from it is spent from its parent too, so it never has more
// left than its parent.
type Purse struct {
	limit  Limit
	parent *Purse

	mu           *sync.Mutex // of the whole tree
	usage        model.Usage
	cost         float64
	steps, calls int
}

// NewPurse returns a budget; parent may be nil.
func NewPurse(parent *Purse, l Limit) *Purse {
	p := &Purse{limit: l, parent: parent, mu: &sync.Mutex{}}
	if parent != nil {
		p.mu = parent.mu
	}
	return p
}

// An OverError says which limit was reached.
type OverError struct{ What string }

// Error names the limit.
func (e *OverError) Error() string { return e.What }

// Within bounds ctx by the budget's time.
func (p *Purse) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.limit.Time <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, p.limit.Time, &OverError{"the time limit of " + p.limit.Time.String() + " was reached"})
}

// Spent returns what was spent so far.
func (p *Purse) Spent() (model.Usage, float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.usage, p.cost
}

// Spend charges the cost of an answer.
func (p *Purse) Spend(u model.Usage, cost float64) {
	p.Pay(u, cost)
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p != nil; p = p.parent {
		p.steps++
	}
}

// Pay takes out what something took that is no step of the work.
func (p *Purse) Pay(u model.Usage, cost float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p != nil; p = p.parent {
		p.usage, p.cost = p.usage.Add(u), p.cost+cost
	}
}

// TakeCall takes out a call of a tool, if there is one left.
func (p *Purse) TakeCall() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for q := p; q != nil; q = q.parent {
		if n := q.limit.Calls; n > 0 && q.calls >= n {
			return &OverError{"the limit of " + text.Count(n, "tool call", "tool calls") + " was reached"}
		}
	}
	for ; p != nil; p = p.parent {
		p.calls++
	}
	return nil
}

// Over returns an error if nothing is left for another answer.
func (p *Purse) Over() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p != nil; p = p.parent {
		what := ""
		switch l := p.limit; {
		case l.Tokens > 0 && p.usage.Total() >= l.Tokens:
			what = "the limit of " + text.Count(l.Tokens, "token", "tokens") + " was reached"
		case l.Cost > 0 && p.cost >= l.Cost:
			what = fmt.Sprintf("the cost limit of $%g was reached", l.Cost)
		case l.Steps > 0 && p.steps >= l.Steps:
			what = "the limit of " + text.Count(l.Steps, "step", "steps") + " was reached"
		}
		if what != "" {
			return &OverError{what}
		}
	}
	return nil
}

// idle returns the shortest time without a sign of life that the budget or a parent allows; 0 for
// no limit.
func (p *Purse) idle() (d time.Duration) {
	for ; p != nil; p = p.parent {
		if l := p.limit.Idle; l > 0 && (d == 0 || l < d) {
			d = l
		}
	}
	return d
}
