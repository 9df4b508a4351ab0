package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// holdRestart fills a store, kills who works with it, and takes the time until
// the next process has answered its first call.
func holdRestart(ctx context.Context, b *bench) {
	w := b.world(allowed)
	b.must(w.Write("long.txt", strings.Repeat("func main() { fmt.Println(\"a line of a file\") }\n", 800)))
	b.fill(ctx, w, b.size(22_000, 400), b.size(1000, 20), "long.txt") // about 1 GiB
	info, err := os.Stat(filepath.Join(dataDir(w), "helve.db"))
	b.must(err)
	var serve, whole []float64
	for round := range b.size(10, 2) {
		b.say("kill %d", round+1)
		b.crash(ctx, w, b.size(2000, 50))
		began := time.Now()
		at := b.serveHelve(ctx, w)
		_, err := at.once(ctx, at.call("first", "read", `{"filePath":"small.txt"}`, smallEnd))
		serve = append(serve, time.Since(began).Seconds())
		b.must(errors.Join(err, at.close()))
		b.crash(ctx, w, b.size(2000, 50))
		v, err := run(ctx, w, program{argv: []string{b.helve, "call", "read", "filePath=" + smallFile}})
		b.must(errors.Join(err, says(smallEnd)(v.out)))
		whole = append(whole, v.wall.Seconds())
	}
	note := fmt.Sprintf("after kill -9 in full work, with a store of %.0f MiB, %d times, the file in the system's memory", proof.MiB(info.Size()), len(serve))
	b.add("hold.restart.serve.max", quantile(serve, 1), "s", "from start to the first call that helve serve has answered, "+note)
	b.add("hold.restart.call.max", quantile(whole, 1), "s", "a whole helve call, "+note)
	kept, err := store.Open(store.Options{Dir: dataDir(w)})
	b.must(err)
	b.cleanup(kept.Close)
	damage := kept.Check(ctx, true)
	b.hold(damage == nil && len(kept.Notices()) == 0, "the store is damaged: %v, %v", damage, kept.Notices())
}

// holdSessions measures the memory of a server with many sessions in its store,
// while others are at work in it: turns whose model thinks, and calls that wait
// for a person. Each has a client that waits for it.
func holdSessions(ctx context.Context, b *bench) {
	const thought = "That is what I think."
	model, err := modeltest.Open()
	b.must(err)
	b.cleanup(func() error { model.Close(); return nil })
	var thinking atomic.Int64
	on := make(chan struct{}) // closed when those who think may go on
	model.Func(func(req modeltest.Request) modeltest.Reply {
		switch {
		case len(req.Tools) == 0: // a title is wanted
			return modeltest.Reply{Text: "A title"}
		case len(req.Results()) == 0:
			return modeltest.Reply{Calls: []modeltest.Call{{Name: "read", Args: `{"filePath":"long.txt"}`}}}
		}
		thinking.Add(1)
		return modeltest.Reply{Text: thought, Hold: on}
	})
	w := b.world(fmt.Sprintf(`{"permission":{"*":"allow","bash":"ask"},"model":"thinker/thinker",
		"provider":{"thinker":{"options":{"baseURL":%q,"apiKey":"none"},"models":{"thinker":{"limit":{"context":200000,"output":8000}}}}}}`, model.URL()))
	b.must(w.Write("long.txt", strings.Repeat("a line of a file that a model has read, and thinks about\n", 700))) // 40 KB
	stored, turns, calls := b.size(10_000, 100), b.size(500, 5), b.size(500, 10)
	b.fill(ctx, w, stored, stored, smallFile)
	at := b.serveHelve(ctx, w)
	idle := proof.MiB(proof.UsageOf(at.pid()).Resident)
	group, running := errgroup.WithContext(ctx)
	for n := range turns + calls {
		group.Go(func() error {
			ask := at.request("/v1/prompts", `{"text":"Read the file and think about it.","wait":true}`, thought)
			if n >= turns {
				ask = at.call(fmt.Sprint("call-", n), "bash", fmt.Sprintf(`{"command":"echo number %d","description":"Says its number"}`, n), fmt.Sprintf(`number %d\n`, n))
			}
			_, err := at.once(running, ask)
			return err
		})
	}
	var waits struct{ Permissions []struct{ ID string } }
	err = until(running, 5*time.Minute, func() (bool, error) {
		text, err := at.once(running, at.request("/v1/requests", "", ""))
		if err != nil {
			return false, err
		}
		err = json.Unmarshal(text, &waits)
		return int(thinking.Load()) == turns && len(waits.Permissions) == calls, err
	})
	if err != nil {
		b.must(fmt.Errorf("%d of %d turns and %d of %d calls are at work: %w", thinking.Load(), turns, len(waits.Permissions), calls, err))
	}
	used := proof.UsageOf(at.pid())
	close(on)
	for _, r := range waits.Permissions {
		_, err := at.once(ctx, at.request("/v1/permissions/"+r.ID, `{"reply":"once"}`, ""))
		b.must(err)
	}
	b.must(group.Wait())
	b.add("hold.sessions.served", float64(turns+calls), "", fmt.Sprintf("%d turns and %d calls, each in a session of its own, at work at the same time in helve serve; each has ended as it should", turns, calls))
	b.add("hold.sessions.served.memory", proof.MiB(used.Resident), "MiB", fmt.Sprintf("of the server then; %.0f MiB at the most, %.0f before, with %d more sessions stored", proof.MiB(used.Peak), idle, stored))
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
