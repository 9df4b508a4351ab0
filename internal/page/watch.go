package page

import "context"

// lookEvery is how much is done between two looks at the context. It is
// a millisecond's work at the most.
const lookEvery = 2048

// A stopCheck tells the loops over a page when to stop. Once the context has
// ended it always says so, so that all loops end at once.
type stopCheck struct {
	ctx   context.Context
	next  int  // how much is to be done by the next look
	done  int  // how much was done: nodes and pieces, and text in lines
	ended bool // the context has
}

// newStopCheck looks at the context for the first time.
func newStopCheck(ctx context.Context) *stopCheck {
	return &stopCheck{ctx: ctx, next: lookEvery, ended: ctx.Err() != nil}
}

// spendStep counts one step and the bytes of text it is about, and reports
// whether to stop.
func (w *stopCheck) spendStep(bytes int) bool {
	w.done += 1 + bytes>>6
	if w.done >= w.next && !w.ended {
		w.next = w.done + lookEvery
		w.ended = w.ctx.Err() != nil
	}
	return w.ended
}

// err returns why the work was stopped, nil where it was not.
func (w *stopCheck) err() error {
	if !w.ended {
		return nil
	}
	return context.Cause(w.ctx)
}
