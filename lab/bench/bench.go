package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aclements/go-moremath/stats"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// measurements are the parts of the plan that functions of this program measure.
func measurements() map[string]func(context.Context, *bench) {
	return map[string]func(context.Context, *bench){
		"start": starts, "agent": agents, "spawn": spawns,
		"search": searches, "mcp": mcp, "serve": serves,
		"hold-sessions": holdSessions, "hold-waiting": holdWaiting, "hold-bash": holdBash,
		"hold-restart": holdRestart,
	}
}

// A bench is what a part is measured with, as a test works with its testing.T:
// figures are added to it, must ends the part, hold notes what is wrong and goes
// on. How long things take makes no part fail: that is for who reads the page.
type bench struct {
	helve string            // the command that is measured
	peers map[string]string // where the programs of others are, by their names in the plan
	quick bool
	log   io.Writer

	mu       sync.Mutex
	figures  []proof.Figure
	failed   []string
	cleanups []func() error
}

// stopped is what must panics with.
type stopped struct{ err error }

// measure runs a part to its end, and returns what did not hold.
func (b *bench) measure(ctx context.Context, part func(context.Context, *bench)) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	func() {
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				s, ok := p.(stopped)
				if !ok {
					panic(p)
				}
				err = s.err
			}
		}()
		part(ctx, b)
	}()
	for _, end := range slices.Backward(b.cleanups) {
		err = errors.Join(err, end())
	}
	for _, text := range b.failed {
		err = errors.Join(err, errors.New("FAILED: "+text))
	}
	return err
}

// must ends the part with an error, if there is one. Only the goroutine that
// measures may call it.
func (b *bench) must(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// cleanup is done at the end of the part, the last one first.
func (b *bench) cleanup(end func() error) { b.cleanups = append(b.cleanups, end) }

// hold notes a condition that has to be so, whatever the time it takes.
func (b *bench) hold(ok bool, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !ok && len(b.failed) < 20 { // what comes after these says nothing new
		b.failed = append(b.failed, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	}
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.log, "  "+format+"\n", args...) }

// size is how much of something there is to be.
func (b *bench) size(full, quick int) int {
	if b.quick {
		return quick
	}
	return full
}

// lasting is how long something is to last.
func (b *bench) lasting(full, quick time.Duration) time.Duration {
	return time.Duration(b.size(int(full), int(quick)))
}

// add adds a figure. note says what it is of.
func (b *bench) add(id string, value float64, unit, note string) {
	b.figures = append(b.figures, proof.Figure{ID: id, Value: value, Unit: unit, Note: note})
}

// quantile is the value that a share q of the list is not above.
func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return stats.Sample{Xs: list}.Quantile(q)
}

func median(list []float64) float64 { return quantile(list, 0.5) }

// millis is a duration as a figure in ms.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
