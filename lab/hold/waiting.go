package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// waiting lets requests wait, in a runtime and in a process of the command.
func waiting(ctx context.Context, d *desk) error {
	count := d.size(10_000, 200)
	d.say("waiting: %d in a runtime", count)
	if err := waitingInside(ctx, d, count); err != nil {
		return err
	}
	d.say("waiting: %d in a process", count)
	return waitingOutside(ctx, d, count)
}

// asker is a tool that asks before it does nothing, and counts how often it
// was let through.
func asker(ran []atomic.Int32) tool.Tool {
	type input struct {
		N int `json:"n" jsonschema:"which of all"`
	}
	spec := tool.Spec{Name: "hold_ask", Description: "Asks, and does nothing.", ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in input) (*tool.Result, error) {
		if err := c.Ask(ctx, permission.Request{Permission: "hold_ask", Patterns: []string{fmt.Sprint("number ", in.N)}}); err != nil {
			return nil, err
		}
		ran[in.N].Add(1)
		return &tool.Result{Title: "asked", Output: fmt.Sprint(in.N)}, nil
	})
}

// waitingInside has every request wait in one runtime, and answers them in a
// random order from several sides; every fifth is rejected, and every tenth is
// answered by two at once.
func waitingInside(ctx context.Context, d *desk, count int) (err error) {
	p, err := d.place("{}")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	rt, err := p.runtime(d, "off", permission.Rule{Permission: "hold_ask", Pattern: "*", Action: permission.Ask})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	ran := make([]atomic.Int32, count)
	if _, err := rt.Register(asker(ran)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends := make([]error, count)
	var calls sync.WaitGroup
	began := time.Now()
	for i := range count {
		calls.Go(func() {
			_, ends[i] = rt.Call(ctx, tool.Call{Tool: "hold_ask", Session: fmt.Sprint("waits-", i), Input: fmt.Appendf(nil, `{"n":%d}`, i)})
		})
	}
	err = until(ctx, 5*time.Minute, func() (bool, error) { return len(rt.Pending()) == count, nil })
	if err != nil {
		cancel()
		calls.Wait()
		return fmt.Errorf("%d of %d requests wait: %w", len(rt.Pending()), count, err)
	}
	d.figure("waiting.asked", time.Since(began).Seconds(), "s", fmt.Sprintf("%d calls until all of them wait at once", count))
	began = time.Now()
	twice := answerAll(d, rt, rt.Pending())
	calls.Wait()
	d.figure("waiting.answered", time.Since(began).Seconds(), "s", fmt.Sprintf("all %d answered in a random order, until every call has ended", count))
	d.hold(twice == 0, "%d requests took two answers", twice)
	wrong := 0
	for i := range count {
		rejected := i%5 == 4
		if rejected != errors.Is(ends[i], permission.ErrRejected) || !rejected && ends[i] != nil || int(ran[i].Load()) != btoi(!rejected) {
			wrong++
		}
	}
	d.hold(wrong == 0 && len(rt.Pending()) == 0, "%d calls did not get the one answer that was given to them, and %d still wait", wrong, len(rt.Pending()))
	d.figure("waiting.runtime", float64(count-wrong), "", fmt.Sprintf("of %d requests at once in a runtime: answered, each exactly once", count))
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// answerAll answers requests in a random order by 8 hands, and returns how many
// took a second answer.
func answerAll(d *desk, rt *helve.Runtime, all []permission.Request) (twice int) {
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var next, again atomic.Int64
	var hands sync.WaitGroup
	for range 8 {
		hands.Go(func() {
			for at := next.Add(1) - 1; at < int64(len(all)); at = next.Add(1) - 1 {
				var n int
				if _, err := fmt.Sscanf(all[at].Patterns[0], "number %d", &n); err != nil {
					d.hold(false, "a request is about %q", all[at].Patterns)
					return
				}
				reply := permission.Reply{Verdict: permission.ReplyOnce}
				if n%5 == 4 {
					reply.Verdict = permission.ReplyReject
				}
				var other sync.WaitGroup
				var taken atomic.Int32
				for range 1 + btoi(n%10 == 0) {
					other.Go(func() { taken.Add(int32(btoi(rt.Reply(all[at].ID, reply) == nil))) })
				}
				other.Wait()
				if rt.Reply(all[at].ID, reply) == nil || taken.Load() != 1 {
					again.Add(1)
				}
			}
		})
	}
	hands.Wait()
	return int(again.Load())
}

// A line is what the command says in a line: the end of a call, or an event.
type line struct {
	ID, Status, Output string
	Error              *struct{ Code, Message string }
	Event              *struct {
		Type       string
		Properties struct{ ID string }
	}
}

// waitingOutside has every request wait in a process of the command, which is
// answered over its standard input.
func waitingOutside(ctx context.Context, d *desk, count int) (err error) {
	p, err := d.place(`{"permission":{"*":"allow","read":"ask"}}`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	c, err := p.open(ctx, d, d.helve, "call", "--jsonl", "--events")
	if err != nil {
		return err
	}
	defer c.Close()
	began := time.Now()
	wrote := make(chan error, 1)
	go func() {
		for i := range count {
			if _, err := fmt.Fprintf(c.in, `{"id":"c%d","session":"s%d","tool":"read","args":{"filePath":%q}}`+"\n", i, i, smallFile); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	asked, ends := map[string]bool{}, map[string]int{}
	if err := hear(c, func() bool { return len(asked) < count }, asked, ends); err != nil {
		return fmt.Errorf("%d of %d requests wait: %w", len(asked), count, err)
	}
	if err := <-wrote; err != nil {
		return err
	}
	d.hold(len(ends) == 0, "%d calls ended before they were answered", len(ends))
	rss := d.resident(c.cmd.Process.Pid)
	d.figure("waiting.memory", rss, "MiB", fmt.Sprintf("of the process in which %d requests wait, %.1f s after it began", count, time.Since(began).Seconds()))
	began = time.Now()
	go func() { wrote <- reply(c.in, asked) }()
	if err := hear(c, func() bool { return len(ends) < count }, map[string]bool{}, ends); err != nil {
		return fmt.Errorf("%d of %d calls have ended: %w", len(ends), count, err)
	}
	if err := <-wrote; err != nil {
		return err
	}
	right := 0
	for _, n := range ends {
		right += btoi(n == 1)
	}
	took := time.Since(began)
	if err := c.leave(); err != nil {
		return err
	}
	d.hold(right == count, "of %d calls only %d were answered right and once", count, right)
	d.figure("waiting.process", float64(right), "", fmt.Sprintf("of %d requests at once in a process of the command: answered, each exactly once, all in %.1f s", count, took.Seconds()))
	return nil
}

// reply lets every request pass, in whatever order the map has.
func reply(in io.Writer, asked map[string]bool) error {
	for id := range asked {
		if _, err := fmt.Fprintf(in, `{"reply":{"id":%q,"reply":"once"}}`+"\n", id); err != nil {
			return err
		}
	}
	return nil
}

// hear reads what the command says, as long as more is wanted: the requests
// that wait, and how often a call has ended as it should.
func hear(c *program, more func() bool, asked map[string]bool, ends map[string]int) error {
	for more() {
		text, err := c.out.ReadBytes('\n')
		if err != nil {
			return err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return fmt.Errorf("not a line of the command: %.200s", text)
		}
		switch {
		case l.Event != nil && l.Event.Type == "permission.asked":
			asked[l.Event.Properties.ID] = true
		case l.Event != nil:
		case l.Status == "completed" && strings.Contains(l.Output, smallEnd):
			ends[l.ID]++
		default:
			return fmt.Errorf("a call has failed: %.300s", text)
		}
	}
	return nil
}
