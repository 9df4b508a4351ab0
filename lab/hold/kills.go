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
	"time"

	"github.com/helve-dev/helve/internal/store"
)

// A massacre is processes of the command that are killed while they work, and
// what they had acknowledged by then.
type massacre struct {
	d *desk
	place
	count  int
	mu     sync.Mutex
	said   map[string]string // by call, how it was said to have ended
	points map[string]bool   // at which processes were killed
	idle   int               // of them, before anything was answered
}

// kills kills processes again and again, several of which share a store, and
// then looks for what they have acknowledged.
func kills(ctx context.Context, d *desk) (err error) {
	p, err := d.place(`{"permission":{"*":"allow"}}`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	count, hands := d.size(2000, 24), 3
	m := &massacre{d: d, place: p, count: count, said: map[string]string{}, points: map[string]bool{}}
	began := time.Now()
	err = joined(ctx, hands, func(ctx context.Context, hand int) error {
		for round := hand; round < count; round += hands {
			if err := m.kill(ctx, round); err != nil {
				return err
			}
			if round%200 == 0 {
				d.say("kills: %d of %d", round, count)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.figure("kills.count", float64(count), "", fmt.Sprintf("processes killed while they recorded calls, %d at a time with one store, in %.0f s; %d of them before their first answer", hands, time.Since(began).Seconds(), m.idle))
	d.figure("kills.points", float64(len(m.points)), "", "different moments: so long after the start, or after so many answers and some µs")
	d.hold(len(m.points) == count, "of %d kills only %d were at different moments", count, len(m.points))
	return m.check(ctx)
}

// kill starts a process, gives it calls as fast as it takes them, and kills it:
// some time after its start, or after a number of answers, each time another.
func (m *massacre) kill(ctx context.Context, round int) error {
	c, err := m.open(ctx, m.d, m.d.helve, "call", "--jsonl")
	if err != nil {
		return err
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for i := 0; ; i++ {
			if _, err := fmt.Fprintln(c.in, request(round, i)); err != nil {
				return // it is dead
			}
		}
	}()
	after, delay := m.moment(round)
	var late *time.Timer
	if after == 0 {
		late = time.AfterFunc(delay, c.end)
	}
	said := map[string]string{}
	for {
		text, err := c.out.ReadBytes('\n')
		if err != nil {
			break // what is left is no whole line, and so no answer
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			m.d.hold(false, "not an answer: %.200s", text)
			continue
		}
		said[l.ID] = l.Status
		if len(said) == after && late == nil {
			late = time.AfterFunc(delay, c.end)
		}
	}
	c.Close()
	<-fed
	if late != nil {
		late.Stop()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.points[fmt.Sprint(after, " ", delay)] = true
	m.idle += btoi(len(said) == 0)
	for id, status := range said {
		m.said[id] = status
	}
	return ctx.Err()
}

// moment is when the process of a round is killed, and no other: so long after
// it has answered so many calls. Every fourth is killed so long after its
// start, which is mostly before its first answer.
func (m *massacre) moment(round int) (after int, delay time.Duration) {
	if round%4 == 0 {
		return 0, time.Duration(round) * 150 * time.Millisecond / time.Duration(m.count)
	}
	return 1 + round%100, time.Duration(round/100) * 97 * time.Microsecond
}

// request is a call: mostly a read, sometimes one that fails, and sometimes a
// file that is written.
func request(round, i int) string {
	tool, args := "read", fmt.Sprintf(`{"filePath":%q}`, smallFile)
	switch i % 10 {
	case 4:
		args = `{"filePath":"missing.txt"}`
	case 9:
		tool, args = "write", fmt.Sprintf(`{"filePath":"made/r%d-%d.txt","content":"made by r%d-%d\n"}`, round, i, round, i)
	}
	return fmt.Sprintf(`{"id":"r%d-%d","session":"r%d","tool":%q,"args":%s}`, round, i, round, tool, args)
}

// check opens the store as the next process would, and looks for everything
// that was acknowledged.
func (m *massacre) check(ctx context.Context) (err error) {
	m.d.say("kills: looking for %d acknowledged calls", len(m.said))
	s, err := store.Open(store.Options{Dir: m.data()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, n := range s.Notices() {
		m.d.hold(false, "the store was found damaged: %s", n)
	}
	damage := s.Check(ctx, true)
	m.d.hold(damage == nil, "the store is damaged: %v", damage)
	kept, interrupted, err := m.kept(ctx, s)
	if err != nil {
		return err
	}
	lost, files, gone := 0, 0, 0
	for id, status := range m.said {
		if string(kept[id]) != status {
			lost++
			m.d.hold(false, "call %s was answered %s, and the store says %q", id, status, kept[id])
		}
		if strings.HasSuffix(id, "9") {
			files++
			data, err := os.ReadFile(filepath.Join(m.Project, "made", id+".txt"))
			if err != nil || string(data) != "made by "+id+"\n" {
				gone++
				m.d.hold(false, "%s was said to be written, and holds %q: %v", id, data, err)
			}
		}
	}
	m.d.hold(len(m.said) >= len(m.points), "only %d calls were answered: there was no load", len(m.said))
	m.d.figure("kills.lost", float64(lost), "", fmt.Sprintf("of %d acknowledged calls are not in the store as they were answered; %d others are, %d of these as interrupted", len(m.said), len(kept)-len(m.said), interrupted))
	m.d.figure("kills.lost.files", float64(gone), "", fmt.Sprintf("of %d files that were said to be written are not whole", files))
	return nil
}

// kept reads what the store says of every call, and counts the interrupted.
func (m *massacre) kept(ctx context.Context, s *store.Store) (all map[string]store.State, interrupted int, err error) {
	all = map[string]store.State{}
	for before := int64(0); ; {
		calls, err := s.Calls(ctx, store.Query{Before: before, Limit: 1000, Brief: true})
		if err != nil {
			return nil, 0, err
		}
		for _, c := range calls {
			_, twice := all[c.ID]
			m.d.hold(!twice, "call %s is there twice", c.ID)
			m.d.hold(c.State != store.Running, "call %s still runs", c.ID)
			all[c.ID], before = c.State, c.Seq
			interrupted += btoi(c.State == store.Interrupted)
		}
		if len(calls) < 1000 {
			return all, interrupted, nil
		}
	}
}
