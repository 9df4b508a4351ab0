package page

import "context"

// lookEvery is how much is done between two looks at the context. It is
// a millisecond's work at the most.
const lookEvery = 2048

// A watch tells the loops over a page when to stop. Once the context has ended
// it says so for ever, so that whatever is open is left at once.
type watch struct {
	ctx   context.Context
	next  int  // how much is to be done by the next look
	done  int  // how much was done: nodes and pieces, and text in lines
	ended bool // the context has
}

// newWatch looks at the context for the first time.
func newWatch(ctx context.Context) *watch {
	return &watch{ctx: ctx, next: lookEvery, ended: ctx.Err() != nil}
}

// over counts one step and the bytes of text it is about, and tells whether to
// stop.
func (w *watch) over(bytes int) bool {
	w.done += 1 + bytes>>6
	if w.done >= w.next && !w.ended {
		w.next = w.done + lookEvery
		w.ended = w.ctx.Err() != nil
	}
	return w.ended
}

// err returns why the work was stopped, nil where it was not.
func (w *watch) err() error {
	if !w.ended {
		return nil
	}
	return context.Cause(w.ctx)
}
