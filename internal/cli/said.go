package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
)

// Bounds on the output of scripts that is shown to a person.
const (
	mostSaid = 20
	longSaid = 500
)

// noteSaid prints the warnings of tools and plugins up to the end of a call.
func (a *app) noteSaid(rt *helve.Runtime, call string) {
	// All of it has arrived already; the timeout is for a call whose end was not reported.
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	count := 0
	for e := range rt.Events(ctx, 0) {
		switch p := e.Properties.(type) {
		case event.ScriptLogged:
			if p.Level != "warn" && p.Level != "error" {
				continue
			}
			if count++; count <= mostSaid {
				line, cut := text.Cut(p.Text, longSaid)
				if cut {
					line += "…"
				}
				a.printNote(fmt.Sprintf("%s says (%s): %s", text.VisibleLine(p.Tool), p.Level, text.VisibleLine(line)))
			}
		case event.CallFinished:
			if p.ID == call {
				cancel()
			}
		}
	}
	if count > mostSaid {
		a.printNote(fmt.Sprintf("and %d more that tools said: all of it is in the events of 'helve call --jsonl --events'", count-mostSaid))
	}
}
