package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/client"
)

// patience is how long anything may take before it counts as not answered.
const patience = 60 * time.Second

// A hand is a worker: it does one thing after the other, by chance.
type hand struct {
	*house
	number  int
	rand    *rand.Rand
	api     *client.Client
	session string
	ends    time.Time // when the load does
}

// A deed is something that a hand can do, and how often it does, beside others.
type deed struct {
	name   string
	weight int
	do     func(*hand, context.Context) error
}

// newHand makes a worker of a number, which decides what chance brings it.
func newHand(h *house, number int) (*hand, error) {
	api, err := client.New(h.subject.url, h.subject.token)
	if err != nil {
		return nil, err
	}
	w := &hand{house: h, number: number, rand: rand.New(rand.NewPCG(h.s.seed, uint64(number))), api: api}
	w.renew()
	return w, nil
}

// renew gives the hand a session that nobody has used.
func (w *hand) renew() { w.session = fmt.Sprintf("ses_hand_%d_%s", w.number, w.count.id()) }

// A list is what has to be done once, by any of several.
type list struct {
	mu   sync.Mutex
	left []int
}

// next takes something from the list.
func (l *list) next() (at int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.left) == 0 {
		return 0, false
	}
	at, l.left = l.left[0], l.left[1:]
	return at, true
}

// work does deeds until the load ends: first those of a list that it shares
// with others of its kind, which are done even if it takes longer, then others
// by chance.
func (w *hand) work(ctx context.Context, deeds []deed, first *list) {
	total := 0
	for _, d := range deeds {
		total += d.weight
	}
	for ctx.Err() == nil {
		at, ok := first.next()
		switch {
		case ok:
			w.do(ctx, deeds[at])
		case time.Now().After(w.ends):
			return
		default:
			w.do(ctx, w.pick(deeds, total))
		}
		w.pause(ctx, 20*time.Millisecond)
	}
}

func (w *hand) pick(deeds []deed, total int) deed {
	n := w.rand.IntN(total)
	for _, d := range deeds {
		if n -= d.weight; n < 0 {
			return d
		}
	}
	return deeds[0]
}

// do does a deed and counts it.
func (w *hand) do(ctx context.Context, d deed) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer in %s", patience))
	defer cancel()
	err := d.do(w, ctx)
	if err != nil && context.Cause(ctx) != nil && ctx.Err() == context.DeadlineExceeded {
		w.count.lose(fmt.Sprintf("%s: %v", d.name, context.Cause(ctx)))
	}
	outcome := w.count.judge(ctx, d.name, err)
	w.count.did(d.name, outcome)
	w.count.explain(d.name, outcome, err)
}

// pause lets up to some time pass.
func (w *hand) pause(ctx context.Context, most time.Duration) {
	sleep(ctx, time.Duration(w.rand.Int64N(int64(most))+1))
}

// sleep lets time pass, or the context end.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// chance is true once in so many times.
func (w *hand) chance(of int) bool { return w.rand.IntN(of) == 0 }

// input is what a tool is called with.
type input = map[string]any

// call calls a tool over HTTP and notes how it ended. Now and then it is ended
// at a moment that chance picks: by cancelling, by hanging up, or by going on in
// the background.
func (w *hand) call(ctx context.Context, tool string, in input) (client.Called, error) {
	return w.request(ctx, client.CallRequest{Tool: tool, Input: in})
}

func (w *hand) request(ctx context.Context, r client.CallRequest) (client.Called, error) {
	at := callKey{w.session, w.count.id()}
	r.Session, r.ID = at.session, at.id
	inner, hangUp := context.WithCancel(ctx)
	defer hangUp()
	if w.chance(15) {
		after, way := time.Duration(w.rand.Int64N(int64(300*time.Millisecond))), w.rand.IntN(3)
		t := time.AfterFunc(after, func() { w.interfere(ctx, at, way, hangUp) })
		defer t.Stop()
	}
	out, err := w.api.Call(inner, r)
	switch {
	case err == nil:
		w.count.ended(at, completed)
	case inner.Err() != nil: // also where the answer was on its way
		w.count.ended(at, unheard)
		if ctx.Err() == nil {
			return out, nil // as was meant
		}
	default:
		w.note(at, r.Tool, err)
	}
	return out, err
}

// note notes a refusal of a call; not all of them are about a call that was made.
func (w *hand) note(at callKey, tool string, err error) {
	p := problem(err)
	if p == nil || p.Call == "" {
		return
	}
	how := failed
	if p.Kind == "internal" && w.count.ours(fmt.Sprintf("%s: %s: %.300s", tool, p.Code, p.Detail)) {
		how = unkept
	}
	w.count.ended(at, how)
}

// interfere ends a call that is under way, or may be.
func (w *hand) interfere(ctx context.Context, at callKey, way int, hangUp func()) {
	switch way {
	case 0:
		w.count.did("hang up", "ok")
		hangUp()
	case 1: // a call that is not there, or not any more, can not be: a refusal is right
		err := w.api.CancelCall(ctx, at.session, at.id)
		w.count.did("cancel", w.count.judge(ctx, "cancel", err))
	case 2:
		err := w.api.BackgroundCall(ctx, at.session, at.id)
		w.count.did("move to the background", w.count.judge(ctx, "background", err))
	}
}

// own is a file of this hand alone.
func (w *hand) own(name string) string { return path.Join("hands", fmt.Sprint(w.number), name) }

// words are a text that is never the same.
func (w *hand) words(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d: %x\n", i, w.rand.Uint64())
	}
	return b.String()
}
