package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// An answer is what helve call --jsonl says in a line: the end of a call, or an
// event.
type answer struct {
	ID, Status, Output string
	Error              *struct{ Code, Message string }
	Event              *struct {
		Type       string
		Properties struct{ ID string }
	}
}

// A caller is a process of helve call --jsonl that many share.
type caller struct {
	*pipe
	asked chan string   // ids of requests that wait for a person
	ended chan struct{} // its output is at its end

	mu      sync.Mutex
	waiting map[string]chan answer
}

// caller starts one. It is ended at the end of the part, if not before.
func (b *bench) caller(ctx context.Context, w *proof.World, flags ...string) *caller {
	p, err := b.open(ctx, w, append([]string{b.helve, "call", "--jsonl"}, flags...)...)
	b.must(err)
	b.cleanup(p.close)
	c := &caller{pipe: p, asked: make(chan string, 1<<14), ended: make(chan struct{}), waiting: map[string]chan answer{}}
	p.reading.Go(func() {
		defer close(c.ended)
		for {
			text, err := c.out.ReadBytes('\n')
			if err != nil {
				return // what is left is no whole line, and so no answer
			}
			var a answer
			err = json.Unmarshal(text, &a)
			if a.Event != nil {
				if a.Event.Type == "permission.asked" {
					c.asked <- a.Event.Properties.ID
				}
				continue
			}
			c.mu.Lock()
			to := c.waiting[a.ID]
			delete(c.waiting, a.ID)
			c.mu.Unlock()
			b.hold(err == nil && to != nil, "an answer that nobody waits for: %.300s", text)
			if to != nil {
				to <- a
			}
		}
	})
	return c
}

// call makes a call in a session and waits for its end.
func (c *caller) call(id, session, tool string, args map[string]any) (answer, error) {
	to := make(chan answer, 1)
	text, err := json.Marshal(map[string]any{"id": id, "session": session, "tool": tool, "args": args})
	if err != nil {
		return answer{}, err
	}
	c.mu.Lock()
	c.waiting[id] = to
	_, err = c.in.Write(append(text, '\n'))
	c.mu.Unlock()
	if err != nil {
		return answer{}, err
	}
	select {
	case a := <-to:
		return a, nil
	case <-c.ended:
		return answer{}, fmt.Errorf("the process ended before the call %s", id)
	}
}

// holdWaiting lets every request wait for a person, all at once.
func holdWaiting(ctx context.Context, b *bench) {
	count := b.size(10_000, 200)
	c := b.caller(ctx, b.world(`{"permission":{"*":"allow","read":"ask"}}`), "--events")
	var calls errgroup.Group
	var right, ended atomic.Int64
	for i := range count {
		calls.Go(func() error {
			a, err := c.call(fmt.Sprint("c", i), fmt.Sprint("s", i), "read", map[string]any{"filePath": smallFile})
			ended.Add(1)
			if err == nil && a.Status == "completed" && strings.Contains(a.Output, smallEnd) {
				right.Add(1)
			}
			return err
		})
	}
	asked := map[string]bool{}
	for len(asked) < count {
		select {
		case id := <-c.asked:
			asked[id] = true
		case <-c.ended:
			b.must(fmt.Errorf("%d of %d requests wait, and the process has ended: %w", len(asked), count, calls.Wait()))
		}
	}
	b.hold(ended.Load() == 0, "%d calls ended before they were answered", ended.Load())
	began := time.Now()
	for id := range asked { // in whatever order the map has
		c.mu.Lock()
		_, err := fmt.Fprintf(c.in, `{"reply":{"id":%q,"reply":"once"}}`+"\n", id)
		c.mu.Unlock()
		b.must(err)
	}
	b.must(errors.Join(calls.Wait(), ctx.Err(), c.leave()))
	b.hold(int(right.Load()) == count, "of %d calls only %d were answered right", count, right.Load())
	b.add("hold.waiting.process", float64(right.Load()), "", fmt.Sprintf("of %d requests at once in a process of the command: answered, each exactly once, all in %.1f s", count, time.Since(began).Seconds()))
}

// holdEdits has callers of several processes count up numbers in one file. In
// the end each number is as high as its caller was told, and who reads the file
// meanwhile never sees half of an edit.
func holdEdits(ctx context.Context, b *bench) {
	const processes, callers, readers = 4, 64, 2
	enough, quota := int64(b.size(100_000, 2000)), b.size(5, 1)
	w := b.world(allowed)
	file := filepath.Join(w.Project, "shared.txt")
	row := func(n, value int) string { return fmt.Sprintf("line %d: %d\n", n, value) }
	var text strings.Builder
	for n := range callers {
		text.WriteString(row(n, 0))
	}
	b.must(os.WriteFile(file, []byte(text.String()), 0o640))
	var all []*caller
	for range processes {
		all = append(all, b.caller(ctx, w))
	}
	var accepted [callers]int
	var reads, refused atomic.Int64
	var working atomic.Int32
	working.Store(callers)
	// edit counts the caller's number up, unless another caller is faster.
	edit := func(n, round int) error {
		c, session, now := all[n%processes], fmt.Sprint("edits-", n), row(n, accepted[n])
		saw, err := c.call(fmt.Sprintf("%d-%d-read", n, round), session, "read", map[string]any{"filePath": file})
		if err != nil {
			return err
		}
		if saw.Status != "completed" || !strings.Contains(saw.Output, strings.TrimSuffix(now, "\n")) {
			return fmt.Errorf("caller %d does not find %q where only it writes: %+v", n, now, saw)
		}
		end, err := c.call(fmt.Sprintf("%d-%d-edit", n, round), session, "edit", map[string]any{"filePath": file, "oldString": now, "newString": row(n, accepted[n]+1)})
		switch {
		case err != nil:
			return err
		case end.Status == "completed":
			accepted[n]++
		case end.Error != nil && end.Error.Code == "changed-on-disk":
			refused.Add(1)
		default:
			return fmt.Errorf("caller %d: %+v, %+v", n, end, end.Error)
		}
		return nil
	}
	group, running := errgroup.WithContext(ctx)
	for n := range callers {
		group.Go(func() error {
			defer working.Add(-1)
			for round := 0; accepted[n] < quota || reads.Load() < enough; round++ {
				if err := errors.Join(running.Err(), edit(n, round)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range readers {
		group.Go(func() error {
			var was [callers]int
			for running.Err() == nil && (working.Load() > 0 || reads.Load() < enough) {
				data, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				at := 0
				for line := range strings.Lines(string(data)) {
					var n, value int
					if _, err := fmt.Sscanf(line, "line %d: %d\n", &n, &value); err != nil || n != at || at >= callers || value < was[at] {
						at = -1
						break
					}
					was[at] = value
					at++
				}
				b.hold(at == callers, "a read is torn: %q", data)
				reads.Add(1)
			}
			return running.Err()
		})
	}
	began := time.Now()
	b.must(group.Wait())
	took := time.Since(began)
	for _, c := range all {
		b.must(c.leave())
	}
	data, err := os.ReadFile(file)
	b.must(err)
	total, missing := 0, 0
	for n, value := range accepted {
		total += value
		if !strings.Contains(string(data), row(n, value)) {
			missing++
		}
	}
	files, err := os.ReadDir(w.Project)
	b.must(err)
	b.hold(missing == 0, "%d callers do not find what was accepted from them", missing)
	b.hold(len(files) == 3, "there are files left over: %v", files) // .git, the small one and this one
	b.add("hold.edits.missing", float64(missing), "", fmt.Sprintf("callers of %d in %d processes whose accepted edits, %d in %.1f s, are not all there in the end; %d were told to read again", callers, processes, total, took.Seconds(), refused.Load()))
	b.add("hold.edits.reads", float64(reads.Load()), "", "reads of the file meanwhile, all of them whole")
}
