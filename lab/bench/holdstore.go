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

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/record"
)

// crash starts a process that records calls as fast as it takes them, and kills
// it: so long after it has given so many answers, or after its start. It returns
// how each call of which the answer came was said to have ended.
func (b *bench) crash(ctx context.Context, w *proof.World, answers int, delay time.Duration, request func(i int) string) (map[string]string, error) {
	p, err := b.open(ctx, w, b.helve, "call", "--jsonl")
	if err != nil {
		return nil, err
	}
	p.reading.Go(func() {
		for i := 0; ; i++ {
			if _, err := fmt.Fprintln(p.in, request(i)); err != nil {
				return // it is dead
			}
		}
	})
	said := map[string]string{}
	late := time.AfterFunc(time.Hour, p.kill)
	for {
		if len(said) == answers {
			late.Reset(delay)
		}
		text, err := p.out.ReadBytes('\n')
		if err != nil {
			break // what is left is no whole line, and so no answer
		}
		var a answer
		err = json.Unmarshal(text, &a)
		b.hold(err == nil, "not an answer: %.200s", text)
		said[a.ID] = a.Status
	}
	late.Stop()
	return said, errors.Join(p.close(), ctx.Err())
}

// holdKills kills processes again and again, several of which share a store, and
// then looks for what they have acknowledged.
func holdKills(ctx context.Context, b *bench) {
	w := b.world(allowed)
	count, hands := b.size(2000, 24), 3
	var mu sync.Mutex
	said := map[string]string{}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(hands)
	began := time.Now()
	for round := range count {
		group.Go(func() error {
			// Each at a moment of its own: every fourth so long after its start,
			// which is mostly before its first answer.
			answers, delay := 1+round%100, time.Duration(round/100)*97*time.Microsecond
			if round%4 == 0 {
				answers, delay = 0, time.Duration(round)*150*time.Millisecond/time.Duration(count)
			}
			came, err := b.crash(running, w, answers, delay, func(i int) string {
				tool, args := "read", fmt.Sprintf(`{"filePath":%q}`, smallFile)
				switch i % 10 {
				case 4:
					args = `{"filePath":"missing.txt"}`
				case 9:
					tool, args = "write", fmt.Sprintf(`{"filePath":"made/r%d-%d.txt","content":"made by r%d-%d\n"}`, round, i, round, i)
				}
				return fmt.Sprintf(`{"id":"r%d-%d","session":"r%d","tool":%q,"args":%s}`, round, i, round, tool, args)
			})
			mu.Lock()
			defer mu.Unlock()
			for id, status := range came {
				said[id] = status
			}
			return err
		})
	}
	b.must(group.Wait())
	b.add("hold.kills.count", float64(count), "", fmt.Sprintf("processes killed at different moments while they recorded calls, %d at a time with one store, in %.0f s", hands, time.Since(began).Seconds()))
	kept := b.sound(ctx, w)
	lost := 0
	for id, status := range said {
		if string(kept[id]) != status {
			lost++
			b.hold(false, "call %s was answered %s, and the store says %q", id, status, kept[id])
		}
		if strings.HasSuffix(id, "9") {
			data, err := os.ReadFile(filepath.Join(w.Project, "made", id+".txt"))
			b.hold(err == nil && string(data) == "made by "+id+"\n", "%s was said to be written, and holds %q: %v", id, data, err)
		}
	}
	b.hold(len(said) >= count, "only %d calls were answered: there was no load", len(said))
	b.add("hold.kills.lost", float64(lost), "", fmt.Sprintf("of %d acknowledged calls are not in the store as they were answered; %d others are", len(said), len(kept)-len(said)))
}

// sound looks whether the store of a world is whole, and no call of the dead
// still runs, and returns what it says of every call.
func (b *bench) sound(ctx context.Context, w *proof.World) map[string]string {
	s, err := store.Open(store.Options{Dir: dataDir(w)})
	b.must(err)
	b.cleanup(s.Close)
	damage := s.Check(ctx, true)
	b.hold(damage == nil && len(s.Notices()) == 0, "the store is damaged: %v, %v", damage, s.Notices())
	all := map[string]string{}
	for before := ""; ; {
		calls, err := s.Calls(ctx, record.CallQuery{Before: before, Limit: 1000, Brief: true})
		b.must(err)
		for _, c := range calls {
			_, twice := all[c.ID]
			b.hold(!twice && c.State != record.Running, "call %s still runs, or is there twice", c.ID)
			all[c.ID], before = c.State, c.Cursor
		}
		if len(calls) < 1000 {
			return all
		}
	}
}

// fill makes reads of a file, which are recorded in as many sessions.
func (b *bench) fill(ctx context.Context, w *proof.World, reads, sessions int, file string) {
	c := b.caller(ctx, w)
	group, _ := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for i := range reads {
		group.Go(func() error {
			a, err := c.call(fmt.Sprint("fill", i), fmt.Sprint("filled-", i%sessions), "read", map[string]any{"filePath": file})
			b.hold(a.Status == "completed", "a read was answered %+v", a)
			return err
		})
	}
	b.must(errors.Join(group.Wait(), c.leave()))
}

// holdRestart fills a store, kills who works with it, and takes the time until
// the next process has answered its first call.
func holdRestart(ctx context.Context, b *bench) {
	w := b.world(allowed)
	b.must(w.Write("long.txt", strings.Repeat("func main() { fmt.Println(\"a line of a file\") }\n", 800)))
	b.fill(ctx, w, b.size(22_000, 400), b.size(1000, 20), "long.txt") // about 1 GiB
	info, err := os.Stat(filepath.Join(dataDir(w), "helve.db"))
	b.must(err)
	crash := func() {
		_, err := b.crash(ctx, w, b.size(2000, 50), 0, func(i int) string {
			return fmt.Sprintf(`{"id":"%d","tool":"read","session":"crash","args":{"filePath":%q}}`, i, smallFile)
		})
		b.must(err)
	}
	var serve, whole []float64
	for round := range b.size(10, 2) {
		b.say("kill %d", round+1)
		crash()
		began := time.Now()
		at := b.serveHelve(ctx, w)
		_, err := at.once(ctx, at.call("first", "read", `{"filePath":"small.txt"}`, smallEnd))
		serve = append(serve, time.Since(began).Seconds())
		b.must(errors.Join(err, at.close()))
		crash()
		v, err := run(ctx, w, program{argv: []string{b.helve, "call", "read", "filePath=" + smallFile}})
		b.must(errors.Join(err, says(smallEnd)(v.out)))
		whole = append(whole, v.wall.Seconds())
	}
	note := fmt.Sprintf("after kill -9 in full work, with a store of %.0f MiB, %d times, the file in the system's memory", proof.MiB(info.Size()), len(serve))
	b.add("hold.restart.serve.max", quantile(serve, 1), "s", "from start to the first call that helve serve has answered, "+note)
	b.add("hold.restart.call.max", quantile(whole, 1), "s", "a whole helve call, "+note)
	b.sound(ctx, w)
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

// holdDurable takes turns between replacing a file as a careful program would,
// and by the tool write, with and without records that survive a power failure.
func holdDurable(ctx context.Context, b *bench) {
	w := b.world(allowed)
	text := strings.Repeat("what has to be there after a power failure\n", 240) // 10 KB
	plain := &way{name: "write beside, fsync, rename, fsync of the folder", do: func(context.Context) (string, error) {
		return "", replace(filepath.Join(w.Project, "plain.txt"), text)
	}}
	of := func(name string, durable bool) *way {
		rt := b.runtime(w, func(o *helve.Options) { o.DataDir, o.Durable = filepath.Join(w.Home, name), durable })
		round := 0
		return &way{name: name, do: func(ctx context.Context) (string, error) {
			round++
			return call(ctx, rt, "durable", "write", map[string]any{"filePath": name + ".txt", "content": fmt.Sprint(round, "\n", text)})
		}}
	}
	files, records := of("write", false), of("durable", true)
	b.race(ctx, w, b.size(500, 10), plain, files, records)
	b.compare("hold.durable.write", files, plain, "10 KB; the file survives a power failure.", "p50")
	b.compare("hold.durable.durable", records, plain, "10 KB; every record survives a power failure too.", "p50")
	for _, name := range []string{"write", "durable"} {
		data, err := os.ReadFile(filepath.Join(w.Project, name+".txt"))
		b.hold(err == nil && strings.HasSuffix(string(data), text), "%s.txt does not hold what was written: %v", name, err)
	}
}

// replace replaces a file so that it survives a power failure.
func replace(name, text string) error {
	f, err := os.OpenFile(name+"~", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+"~", name); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
