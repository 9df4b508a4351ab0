package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/permission"
)

// How many sessions are at work in a server at once: turns, and calls that
// somebody waits for. It has room for a few more of each.
const (
	servedTurns = 500
	servedCalls = 500
	longFile    = "long.txt" // of 40 KB, which every conversation holds
)

// sessions measures the memory of a process with many sessions in its store,
// while many others are at work in it.
func sessions(ctx context.Context, d *desk) (err error) {
	m, err := newThinker()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	p, err := d.place(fmt.Sprintf(`{"permission":{"*":"allow","bash":"ask"},"model":"thinker/thinker",
		"provider":{"thinker":{"options":{"baseURL":%q,"apiKey":"none"},"models":{"thinker":{"limit":{"context":200000,"output":8000}}}}}}`, m.url))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.Write(longFile, strings.Repeat("a line of a file that a model has read, and thinks about\n", 700)); err != nil {
		return err
	}
	stored := d.size(10_000, 100)
	if err := stock(ctx, p.data(), p.Project, stored); err != nil {
		return err
	}
	d.say("sessions: %d stored", stored)
	if err := d.inRuntime(ctx, p, m, stored); err != nil {
		return err
	}
	return d.inServer(ctx, p, m, stored)
}

// stock puts sessions with a short conversation each into a store.
func stock(ctx context.Context, dir, project string, count int) (err error) {
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var next atomic.Int64
	return joined(ctx, 8, func(ctx context.Context, _ int) error {
		for n := next.Add(1); n <= int64(count); n = next.Add(1) {
			id := fmt.Sprintf("ses_stored%06d", n)
			if err := s.AddSession(ctx, store.Session{ID: id, Dir: project, Title: "A session of before", Created: n}); err != nil {
				return err
			}
			for k := range int64(4) {
				if err := (talk{s, id, strings.Repeat("what a tool has found\n", 50)}).add(ctx, n*10+k); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// inRuntime has turns at work in a process with nothing but a runtime.
func (d *desk) inRuntime(ctx context.Context, p place, m *thinker, stored int) error {
	count := d.size(1000, 20)
	d.say("sessions: %d turns in a runtime", count)
	c, err := p.open(ctx, d, d.self, "prompts", p.Project, p.data(), m.url, strconv.Itoa(count))
	if err != nil {
		return err
	}
	defer c.Close()
	began := time.Now()
	if err := m.await(ctx, count); err != nil {
		return fmt.Errorf("%d of %d turns are at work: %w", m.thinking.Load(), count, err)
	}
	took, used := time.Since(began), proof.UsageOf(c.cmd.Process.Pid)
	m.release()
	text, err := c.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the process has not come to its end: %w", err)
	}
	var got outcome
	if err := json.Unmarshal(text, &got); err != nil {
		return err
	}
	d.hold(got.Done == count, "of %d turns only %d came to their end: %s", count, got.Done, got.First)
	note := fmt.Sprintf("of a process in whose runtime %d turns are at work, each with a file of 40 KB in its conversation, and %d more sessions are stored", count, stored)
	d.figure("sessions.active", float64(got.Done), "", fmt.Sprintf("turns at work at the same time in a runtime, after %.1f s, which then came to their end", took.Seconds()))
	d.figure("sessions.memory", proof.MiB(used.Resident), "MiB", note)
	d.figure("sessions.memory.peak", proof.MiB(used.Peak), "MiB", "at the most, "+note)
	return c.leave()
}

// An outcome is what the process with the runtime says in the end.
type outcome struct {
	Done  int
	First string // what went wrong first
}

// prompts is the process with the runtime: it has so many prompts worked on at
// once, and says what came of them.
func prompts(ctx context.Context, args []string, out io.Writer) (err error) {
	dir, data, url := args[0], args[1], args[2]
	count, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	models, err := helve.Connection{Protocol: "openai", URL: url, Key: "none", Model: "thinker"}.Models()
	if err != nil {
		return err
	}
	rt, err := helve.New(helve.Options{
		Dir: dir, Worktree: dir, DataDir: data, Models: models,
		Agents: helve.Agents(helve.AgentOptions{User: permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}}),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	var got outcome
	ends := make(chan string, count)
	for range count {
		go func() {
			turn, err := rt.Prompt(ctx, helve.Prompt{Text: "Read the file and think about it."})
			switch {
			case err != nil:
				ends <- err.Error()
			case turn.End != helve.TurnDone || !strings.Contains(turn.Text, thought):
				ends <- fmt.Sprintf("%+v", turn)
			default:
				ends <- ""
			}
		}()
	}
	for range count {
		if wrong := <-ends; wrong == "" {
			got.Done++
		} else if got.First == "" {
			got.First = wrong
		}
	}
	return json.NewEncoder(out).Encode(got)
}

// inServer has turns and calls at work in a server, where each has a client
// that waits for it. The calls wait for a person.
func (d *desk) inServer(ctx context.Context, p place, m *thinker, stored int) error {
	turns, calls := d.size(servedTurns, 5), d.size(servedCalls, 10)
	d.say("sessions: %d turns and %d calls in a server", turns, calls)
	at, child, err := p.serve(ctx, d)
	if err != nil {
		return err
	}
	defer child.Close()
	idle := d.resident(at.PID)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- joined(ctx, turns+calls, func(ctx context.Context, n int) error {
			ask := at.Request("/v1/prompts", `{"text":"Read the file and think about it.","wait":true}`, thought)
			if n >= turns {
				body := fmt.Sprintf(`{"tool":"bash","session":"call-%d","input":{"command":"echo number %d","description":"Says its number"}}`, n, n)
				ask = at.Request("/v1/calls", body, fmt.Sprintf(`number %d\n`, n))
			}
			return once(ctx, at, ask)
		})
	}()
	var waits []string
	err = until(ctx, 5*time.Minute, func() (bool, error) {
		if len(ended) > 0 {
			return false, fmt.Errorf("one has ended before the others: %w", <-ended)
		}
		if int(m.thinking.Load()) < turns {
			return false, nil
		}
		waits, err = pending(ctx, at)
		return len(waits) == calls, err
	})
	if err != nil {
		return fmt.Errorf("%d of %d turns and %d of %d calls are at work: %w", m.thinking.Load(), turns, len(waits), calls, err)
	}
	used := proof.UsageOf(at.PID)
	m.release()
	err = joined(ctx, 8, func(ctx context.Context, hand int) error {
		for i := hand; i < len(waits); i += 8 {
			if err := once(ctx, at, at.Request("/v1/permissions/"+waits[i], `{"reply":"once"}`, "")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = <-ended
	d.hold(err == nil, "one that was at work beside all others has failed: %v", err)
	d.figure("sessions.served", float64(turns+calls), "", fmt.Sprintf("%d turns and %d calls, each in a session of its own, at work at the same time in helve serve; each has ended as it should", turns, calls))
	d.figure("sessions.served.memory", proof.MiB(used.Resident), "MiB", fmt.Sprintf("of the server then; %.0f MiB at the most, %.0f before, with %d more sessions stored", proof.MiB(used.Peak), idle, stored))
	return nil
}

// once asks over a connection of its own.
func once(ctx context.Context, at proof.Server, r proof.Request) error {
	w, err := at.Dial(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = w.Close() })() // who waits for it hears of that
	defer func() { _ = w.Close() }()
	_, err = w.Ask(r, 10*time.Minute)
	return err
}

// pending are the requests that wait for a person.
func pending(ctx context.Context, at proof.Server) ([]string, error) {
	w, err := at.Dial(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Close() }() // all was said
	text, err := w.Ask(at.Request("/v1/requests", "", ""), time.Minute)
	if err != nil {
		return nil, err
	}
	var all struct{ Permissions []struct{ ID string } }
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range all.Permissions {
		ids = append(ids, r.ID)
	}
	return ids, nil
}
