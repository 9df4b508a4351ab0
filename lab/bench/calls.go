package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A message is a line that helve call --jsonl prints: the end of a call, or an
// event.
type message struct {
	ID, Status, Output string
	Event              *struct {
		Type       string
		Properties struct{ ID string }
	}
}

// calls runs helve call --jsonl: it writes so many calls as fast as they are
// taken, and gives hear what is printed, until all calls have ended or hear
// returns false. Then the process is killed.
func (b *bench) calls(ctx context.Context, w *proof.World, count int, call func(i int) string, hear func(*pipe, message) bool) error {
	p, err := b.open(ctx, w, b.helve, "call", "--jsonl", "--events")
	if err != nil {
		return err
	}
	defer p.close()
	p.reading.Go(func() {
		for i := range count {
			if _, err := fmt.Fprintln(p.in, call(i)); err != nil {
				return // it has ended
			}
		}
	})
	seen := map[string]bool{}
	for len(seen) < count {
		text, err := p.out.ReadBytes('\n')
		var m message
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			return errors.Join(ctx.Err(), fmt.Errorf("after %d answers of %d: %.300q: %w", len(seen), count, text, err))
		}
		if m.Event == nil {
			b.hold(!seen[m.ID], "call %s was answered twice", m.ID)
			seen[m.ID] = true
		}
		if !hear(p, m) {
			break
		}
	}
	return ctx.Err()
}

// fill makes reads of a file, which are recorded in as many sessions.
func (b *bench) fill(ctx context.Context, w *proof.World, reads, sessions int, file string) {
	b.must(b.calls(ctx, w, reads, func(i int) string {
		return fmt.Sprintf(`{"id":"fill%d","session":"filled-%d","tool":"read","args":{"filePath":%q}}`, i, i%sessions, file)
	}, func(_ *pipe, m message) bool {
		b.hold(m.Event != nil || m.Status == "completed", "a read was answered %+v", m)
		return true
	}))
}

// crash kills a process that records reads as fast as it takes them, when it has
// answered so many.
func (b *bench) crash(ctx context.Context, w *proof.World, answers int) {
	b.must(b.calls(ctx, w, math.MaxInt, func(i int) string {
		return fmt.Sprintf(`{"id":"%d","tool":"read","session":"crash","args":{"filePath":%q}}`, i, smallFile)
	}, func(_ *pipe, m message) bool {
		if m.Event == nil {
			answers--
		}
		return answers > 0
	}))
}

// holdWaiting lets every request wait for a person, all at once.
func holdWaiting(ctx context.Context, b *bench) {
	count := b.size(10_000, 200)
	var began time.Time
	asked, right := map[string]bool{}, 0
	b.must(b.calls(ctx, b.world(`{"permission":{"*":"allow","read":"ask"}}`), count, func(i int) string {
		return fmt.Sprintf(`{"id":"c%d","session":"s%d","tool":"read","args":{"filePath":%q}}`, i, i, smallFile)
	}, func(p *pipe, m message) bool {
		switch {
		case m.Event == nil:
			b.hold(len(asked) == count, "call %s ended before it was answered", m.ID)
			if m.Status == "completed" && strings.Contains(m.Output, smallEnd) {
				right++
			}
		case m.Event.Type == "permission.asked":
			if asked[m.Event.Properties.ID] = true; len(asked) < count {
				break
			}
			began = time.Now()
			p.reading.Go(func() {
				for id := range asked { // in whatever order the map has
					_, _ = fmt.Fprintf(p.in, `{"reply":{"id":%q,"reply":"once"}}`+"\n", id) // where it has ended, calls says so
				}
			})
		}
		return true
	}))
	b.hold(right == count, "of %d calls only %d were answered right", count, right)
	b.add("hold.waiting.process", float64(right), "", fmt.Sprintf("of %d requests at once in a process of the command: answered, each exactly once, all in %.1f s", count, time.Since(began).Seconds()))
}
