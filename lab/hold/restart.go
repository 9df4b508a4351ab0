package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/tool"
)

// restart fills a store, kills who works with it, and takes the time until the
// next process has answered its first call.
func restart(ctx context.Context, d *desk) (err error) {
	p, err := d.place(`{"permission":{"*":"allow"}}`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := fill(ctx, p.data(), int64(d.size(1<<30, 16<<20))); err != nil {
		return err
	}
	info, err := os.Stat(p.data() + "/helve.db")
	if err != nil {
		return err
	}
	size := proof.MiB(info.Size())
	d.figure("restart.store", size, "MiB", "calls with long outputs, and conversations")
	var serve, call []time.Duration
	for round := range d.size(10, 2) {
		d.say("restart: kill %d", round+1)
		if err := p.crash(ctx, d); err != nil {
			return err
		}
		took, err := p.firstServed(ctx, d)
		if err != nil {
			return err
		}
		serve = append(serve, took)
		if err := p.crash(ctx, d); err != nil {
			return err
		}
		start := time.Now()
		cmd := exec.CommandContext(ctx, d.helve, "call", "read", "filePath="+smallFile)
		cmd.Dir, cmd.Env = p.Project, p.Env()
		out, err := cmd.Output()
		call = append(call, time.Since(start))
		if err != nil || !strings.Contains(string(out), smallEnd) {
			return fmt.Errorf("helve call: %w: %s", err, out)
		}
	}
	note := fmt.Sprintf("after kill -9 in full work, with a store of %.0f MiB, %d times, the file in the system's memory", size, len(serve))
	d.figure("restart.serve.max", proof.Quantile(serve, 1).Seconds(), "s", "from start to the first call that helve serve has answered, "+note)
	d.figure("restart.serve.p50", proof.Median(serve).Seconds(), "s", "the middle of these")
	d.figure("restart.call.max", proof.Quantile(call, 1).Seconds(), "s", "a whole helve call, "+note)
	d.figure("restart.call.p50", proof.Median(call).Seconds(), "s", "the middle of these")
	return d.sound(ctx, p)
}

// fill puts calls and conversations into a store until it has a size.
func fill(ctx context.Context, dir string, size int64) (err error) {
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	output := strings.Repeat("00001| func main() { fmt.Println(\"a line of a file\") }\n", 900) // 50 KB
	var next atomic.Int64
	return joined(ctx, 8, func(ctx context.Context, hand int) error {
		for ctx.Err() == nil {
			n := next.Add(1)
			if n*int64(len(output)) > size {
				return nil
			}
			session := fmt.Sprintf("ses_fill%05d", n/20)
			if n%4 == 0 {
				if err := (talk{s, session, output}).add(ctx, n); err != nil {
					return err
				}
				continue
			}
			if err := s.AddSession(ctx, store.Session{ID: session, Dir: dir, Title: "filled", Created: n}); err != nil {
				return err
			}
			err := s.Record(store.Call{
				ID: fmt.Sprint("call_fill", n), Session: session, Tool: "read", Agent: "build", Input: `{"filePath":"main.go"}`,
				State: store.Completed, Started: n, Ended: n + 1, Result: &tool.Result{Title: "main.go", Output: output},
			})
			if err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// A talk is a conversation that is put into a store, and what a tool has said
// in it.
type talk struct {
	store           *store.Store
	session, output string
}

// add adds a message of a model with a call in it.
func (t talk) add(ctx context.Context, n int64) error {
	info := message.Info{
		ID: fmt.Sprintf("msg_%012d", n), Session: t.session, Role: message.Assistant, Time: message.Times{Created: n, Completed: n + 1},
		Agent: "build", Model: message.ModelRef{Provider: "p", Model: "m"},
	}
	part := func(k int64, p message.Part) message.Part {
		p.ID, p.Message, p.Session = fmt.Sprintf("prt_%012d", n*10+k), info.ID, t.session
		return p
	}
	return t.store.Save(ctx, &info, []message.Part{
		part(0, message.Part{Type: message.Text, Text: "Let me read the file and see."}),
		part(1, message.Part{Type: message.Tool, CallID: fmt.Sprint("call_said", n), Tool: "read", State: &message.State{
			Status: message.Completed, Input: []byte(`{"filePath":"main.go"}`), Output: t.output, Title: "main.go", Time: &message.Span{Start: n, End: n + 1},
		}}),
	})
}

// crash starts a process that records calls, and kills it in the midst of them.
func (p place) crash(ctx context.Context, d *desk) error {
	c, err := p.open(ctx, d, d.helve, "call", "--jsonl")
	if err != nil {
		return err
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for {
			if _, err := fmt.Fprintf(c.in, `{"tool":"read","session":"crash","args":{"filePath":%q}}`+"\n", smallFile); err != nil {
				return // it is dead
			}
		}
	}()
	for range d.size(2000, 50) {
		if _, err = c.out.ReadBytes('\n'); err != nil {
			break
		}
	}
	c.Close()
	<-fed
	return err
}

// firstServed takes the time from the start of a server to its first answer to
// a call.
func (p place) firstServed(ctx context.Context, d *desk) (time.Duration, error) {
	start := time.Now()
	at, child, err := p.serve(ctx, d)
	if err != nil {
		return 0, err
	}
	defer child.Close()
	w, err := at.Dial(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = w.Close() }() // all was said
	_, err = w.Ask(at.Request("/v1/calls", fmt.Sprintf(`{"tool":"read","input":{"filePath":%q}}`, smallFile), smallEnd), time.Minute)
	return time.Since(start), err
}

// sound looks whether the store is whole, and no call of the dead still runs.
func (d *desk) sound(ctx context.Context, p place) (err error) {
	s, err := store.Open(store.Options{Dir: p.data()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	damage := s.Check(ctx, true)
	d.hold(damage == nil && len(s.Notices()) == 0, "the store is damaged: %v, %v", damage, s.Notices())
	running, err := s.Calls(ctx, store.Query{State: store.Running, Brief: true})
	d.hold(len(running) == 0, "%d calls of dead processes still run", len(running))
	return err
}
