package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

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
