package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/internal/text"
)

// showAfter is how long a call may take before it is shown that it runs.
const showAfter = time.Second

// A watcher shows a person the progress of a call: its requests, and, when it takes long, its
// reports.
type watcher struct {
	rt    *helve.Runtime
	out   io.Writer
	style terminal.Style
	ask   *prompter // nil: no one to ask

	title string
	shown bool // a line of progress stands on the screen
}

// followEvents follows the events of the runtime until ctx ends.
func (w *watcher) followEvents(ctx context.Context) {
	events := make(chan event.Event)
	go func() {
		defer close(events)
		for e := range w.rt.Events(ctx, 0) {
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	start := time.Now()
	tick := time.NewTicker(showAfter)
	defer tick.Stop()
	defer w.wipe()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			switch p := e.Properties.(type) {
			case event.CallProgress:
				w.title = p.Title
			case event.CallRunning:
				if w.title == "" {
					w.title = p.Tool
				}
			}
			if w.ask != nil {
				w.wipe()
				w.ask.handle(ctx, e)
			}
		case <-tick.C:
			w.progress(time.Since(start))
		case <-ctx.Done():
			return
		}
	}
}

// progress shows the live title of the call in one line that is written over.
func (w *watcher) progress(since time.Duration) {
	if w.title == "" {
		return
	}
	line, cut := text.Cut(text.VisibleLine(w.title), 60)
	if cut {
		line += "…"
	}
	fmt.Fprintf(w.out, "\r\x1b[K%s", w.style.Dim(fmt.Sprintf("%s (%s)", line, since.Round(time.Second))))
	w.shown = true
}

func (w *watcher) wipe() {
	if w.shown {
		fmt.Fprint(w.out, "\r\x1b[K")
		w.shown = false
	}
}
