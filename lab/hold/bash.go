package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/tool"
)

// levels are those of the wall that this machine can have.
func (d *desk) levels(ctx context.Context, p place) ([]string, error) {
	all := []string{"off"}
	for _, level := range []string{"write", "strict"} {
		rt, err := p.runtime(d, level)
		if err != nil {
			return nil, err
		}
		state, err := rt.ProveWall(ctx)
		if err = errors.Join(err, rt.Close()); err != nil {
			return nil, err
		}
		if !state.Complete {
			d.say("this machine has no wall of the level %s: %s", level, state.Reason)
			continue
		}
		all = append(all, level)
	}
	return all, nil
}

// command runs a command line and returns what it printed.
func command(ctx context.Context, rt *helve.Runtime, session, text string) (string, error) {
	input, err := json.Marshal(map[string]string{"command": text, "description": "Says something"})
	if err != nil {
		return "", err
	}
	res, err := rt.Call(ctx, tool.Call{Tool: "bash", Session: session, Input: input})
	if err != nil {
		return "", err
	}
	return res.Output, nil
}

// bash runs commands: many at once, as many a second as can be had, and more
// than there is room for.
func bash(ctx context.Context, d *desk) (err error) {
	p, err := d.place(`{"permission":{"*":"allow"}}`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	levels, err := d.levels(ctx, p)
	if err != nil {
		return err
	}
	for _, level := range levels {
		if err := d.commands(ctx, p, level); err != nil {
			return fmt.Errorf("at the level %s: %w", level, err)
		}
	}
	return d.queue(ctx, p)
}

// commands measures one level of the wall.
func (d *desk) commands(ctx context.Context, p place, level string) (err error) {
	rt, err := p.runtime(d, level)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	if _, err := command(ctx, rt, "first", "true"); err != nil { // the keeper is started once
		return err
	}
	d.say("bash: at once, level %s", level)
	if err := d.atOnce(ctx, rt, p, level); err != nil {
		return err
	}
	d.say("bash: a second, level %s", level)
	last, hands := d.lasting(15*time.Second, time.Second), 16
	var done atomic.Int64
	began := time.Now()
	err = joined(ctx, hands, func(ctx context.Context, hand int) error {
		for time.Since(began) < last && ctx.Err() == nil {
			said, err := command(ctx, rt, fmt.Sprint("rate-", hand), "echo hello")
			if err != nil {
				return err
			}
			d.hold(strings.Contains(said, "hello"), "a command printed %q", said)
			done.Add(1)
		}
		return ctx.Err()
	})
	d.figure("bash."+level+".rate", float64(done.Load())/time.Since(began).Seconds(), "a second",
		fmt.Sprintf("\"echo hello\" by %d callers of a runtime, each with its record, wall: %s", hands, level))
	return err
}

// atOnce has commands wait for each other: none goes on before all are there.
func (d *desk) atOnce(ctx context.Context, rt *helve.Runtime, p place, level string) error {
	count := d.size(200, 20)
	up, gate := filepath.Join(p.Project, "up-"+level), filepath.Join(p.Project, "gate-"+level)
	if err := os.Mkdir(up, 0o755); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "mkfifo", gate).CombinedOutput(); err != nil {
		return fmt.Errorf("mkfifo: %w: %s", err, out)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began, ended := time.Now(), make(chan error, 1)
	go func() {
		ended <- joined(ctx, count, func(ctx context.Context, i int) error {
			said, err := command(ctx, rt, fmt.Sprint("once-", i), fmt.Sprintf(": > up-%s/%d; read x < gate-%s; echo number %d", level, i, level, i))
			if err == nil && !strings.Contains(said, fmt.Sprint("number ", i)) {
				err = fmt.Errorf("command %d printed %q", i, said)
			}
			return err
		})
	}()
	there := 0
	err := until(ctx, 2*time.Minute, func() (bool, error) {
		if len(ended) > 0 {
			return false, errors.New("a command has not waited")
		}
		files, err := os.ReadDir(up)
		there = len(files)
		return there == count, err
	})
	if err != nil {
		cancel()
		<-ended
		return fmt.Errorf("of %d commands only %d were at work at once: %w", count, there, err)
	}
	took := time.Since(began)
	var keeper sync.WaitGroup
	keeper.Go(func() { release(ctx, gate) })
	err = <-ended
	cancel()
	keeper.Wait()
	d.hold(err == nil, "of %d commands at once one has failed: %v", count, err)
	d.figure("bash."+level+".at-once", float64(there), "", fmt.Sprintf("commands at work at the same time, after %.1f s, wall: %s", took.Seconds(), level))
	return nil
}

// release opens and closes the gate until nobody stands before it: one who
// reads sees its end. Some may come to it after it was closed.
func release(ctx context.Context, gate string) {
	for ctx.Err() == nil {
		f, err := os.OpenFile(gate, os.O_RDWR, 0)
		if err != nil {
			return // it is gone with its folder
		}
		_, _ = f.WriteString(strings.Repeat("go\n", 100)) // a pipe takes that much at once
		time.Sleep(20 * time.Millisecond)
		_ = f.Close()
	}
}

// queue gives a process of the command and a runtime more commands than can be
// at work, all at once, and none is to be refused.
func (d *desk) queue(ctx context.Context, p place) error {
	count := d.size(5000, 300)
	d.say("bash: %d in the queue of a process", count)
	c, err := p.open(ctx, d, d.helve, "call", "--jsonl")
	if err != nil {
		return err
	}
	defer c.Close()
	began, wrote := time.Now(), make(chan error, 1)
	go func() {
		var all strings.Builder
		for i := range count {
			fmt.Fprintf(&all, `{"id":"q%d","session":"q%d","tool":"bash","args":{"command":"echo number %d","description":"Says its number"}}`+"\n", i, i%100, i)
		}
		_, err := c.in.Write([]byte(all.String()))
		wrote <- err
	}()
	good := 0
	for range count {
		text, err := c.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("after %d answers: %w", good, err)
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return fmt.Errorf("not a line of the command: %.200s", text)
		}
		ok := l.Status == "completed" && strings.Contains(l.Output, "number "+strings.TrimPrefix(l.ID, "q")+"\n")
		good += btoi(ok)
		d.hold(ok, "a command in the queue was answered %.300s", text)
	}
	took := time.Since(began)
	if err := errors.Join(<-wrote, c.leave()); err != nil {
		return err
	}
	d.figure("bash.queue.process", float64(good), "", fmt.Sprintf("of %d commands given at once to a process of the command: run, in %.1f s", count, took.Seconds()))
	return d.crowd(ctx, p, count)
}

// crowd makes as many calls of a runtime at once.
func (d *desk) crowd(ctx context.Context, p place, count int) (err error) {
	d.say("bash: %d calls of a runtime at once", count)
	rt, err := p.runtime(d, "off")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	var good atomic.Int64
	began := time.Now()
	err = joined(ctx, count, func(ctx context.Context, i int) error {
		said, err := command(ctx, rt, fmt.Sprint("crowd-", i%100), fmt.Sprint("echo number ", i))
		ok := err == nil && strings.Contains(said, fmt.Sprintf("number %d\n", i))
		d.hold(ok, "call %d of many at once: %q, %v", i, said, err)
		good.Add(int64(btoi(ok)))
		return ctx.Err()
	})
	d.figure("bash.queue.runtime", float64(good.Load()), "", fmt.Sprintf("of %d calls of a runtime at once: run, in %.1f s", count, time.Since(began).Seconds()))
	return err
}

// wall takes turns between starting a shell as any program would and calls of
// runtimes with and without a wall.
func wall(ctx context.Context, d *desk) (err error) {
	p, err := d.place(`{}`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	levels, err := d.levels(ctx, p)
	if err != nil {
		return err
	}
	runs := map[string]func() error{"bare": func() error {
		out, err := exec.CommandContext(ctx, "bash", "-c", "true").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}}
	for _, level := range levels {
		rt, failed := p.runtime(d, level)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, rt.Close()) }()
		runs[level] = func() error { _, err := command(ctx, rt, "wall", "true"); return err }
	}
	names, took := append([]string{"bare"}, levels...), map[string][]time.Duration{}
	for round := range d.size(500, 10) {
		for _, name := range names {
			start := time.Now()
			if err := runs[name](); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if round > 2 { // before that things are made for the first time
				took[name] = append(took[name], time.Since(start))
			}
		}
	}
	bare := proof.Median(took["bare"])
	d.figure("wall.bare", proof.Millis(bare), "ms", fmt.Sprintf("the middle of %d starts of bash by os/exec, in turns with the rest", len(took["bare"])))
	for _, level := range levels {
		middle := proof.Median(took[level])
		d.figure("wall."+level, proof.Millis(middle), "ms", "the middle of as many calls of the tool bash with the same command, with rules and record, wall: "+level)
		d.figure("wall."+level+".ratio", float64(middle)/float64(bare), "times", "that beside the bare start")
	}
	return nil
}
