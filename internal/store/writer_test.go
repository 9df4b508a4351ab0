package store

import (
	"context"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/record"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// queued waits until n ops wait behind the one that leads.
func queued(w *writer, n int) {
	for {
		w.mu.Lock()
		have := len(w.queue)
		w.mu.Unlock()
		if have == n {
			return
		}
		runtime.Gosched()
	}
}

// lead makes the writer busy until the returned function is called.
func lead(t *testing.T, w *writer) (release func()) {
	t.Helper()
	inside, let, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		done <- w.do(context.Background(), &op{run: func(*conn) error { close(inside); <-let; return nil }})
	}()
	<-inside
	return func() { close(let); ok(t, <-done) }
}

func put(session string) *op {
	return &op{single: true, run: func(c *conn) error {
		_, err := c.exec("INSERT INTO todo(session, items) VALUES(?, '[]')", session)
		return err
	}}
}

// Of a batch that shares a transaction one op cannot be made. It fails alone.
func TestBatchFailsAlone(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for name, bad := range map[string]*op{
			"statement":  put("taken"), // breaks a constraint
			"not SQLite": {run: func(*conn) error { return ErrDuplicate }},
			"durable":    {durable: true, run: put("taken").run},
		} {
			ok(t, s.SetTodos(t.Context(), "taken", nil))
			release := lead(t, s.w)
			batch := []*op{put(name + "1"), bad, put(name + "2")}
			errs := make([]error, len(batch))
			var group sync.WaitGroup
			for i, o := range batch {
				group.Go(func() { errs[i] = s.w.do(context.Background(), o) })
			}
			queued(s.w, len(batch))
			release()
			group.Wait()
			if errs[0] != nil || errs[1] == nil || errs[2] != nil {
				t.Errorf("%s: %v", name, errs)
			}
			for _, session := range []string{name + "1", name + "2"} {
				n := int64(0)
				ok(t, s.read(t.Context(), "test", func(c *conn) (err error) {
					n, err = c.queryInt("SELECT count(*) FROM todo WHERE session = '" + session + "'")
					return err
				}))
				want(t, n, 1)
			}
		}
	})
}

// Another process keeps the lock. A batch waits for it once and not for each
// op.
func TestBatchWaitsOnce(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	other := must(dial(s.path))(t)
	defer other.close()
	s.w.wait = time.Millisecond
	ran := 0
	run := func(c *conn) error { ran++; return put("a").run(c) }
	for name, batch := range map[string][]*op{
		"together": {{single: true, run: run}, {run: run}},
		"apart":    {{single: true, run: run}, {apart: true, run: run}, {durable: true, run: run}},
	} {
		must(other.exec("BEGIN IMMEDIATE"))(t)
		s.w.commit(batch)
		must(other.exec("ROLLBACK"))(t)
		for i, o := range batch {
			if !locked(o.err) {
				t.Errorf("%s: op %d: %v", name, i, o.err)
			}
		}
		if ran > 0 {
			t.Errorf("%s: %d tries after the wait", name, ran)
		}
	}
}

// A write that waits is withdrawn when its caller gives up, and the others
// behind it are not disturbed.
func TestWithdraw(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	release := lead(t, s.w)
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan error)
	go func() { first <- s.Begin(ctx, record.Call{ID: "first"}) }()
	queued(s.w, 1)
	go func() { second <- s.Begin(t.Context(), record.Call{ID: "second"}) }()
	queued(s.w, 2)
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("withdrawn: %v", err)
	}
	release()
	ok(t, <-second)
	want(t, len(must(s.Calls(t.Context(), record.CallQuery{}))(t)), 1)
}

// Close waits for the writes that were let in and refuses later ones.
func TestCloseWaits(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	dir := s.opts.Dir
	release := lead(t, s.w)
	first, closed := make(chan error), make(chan error)
	go func() { first <- s.Record(record.Call{ID: "first", State: record.Completed}) }()
	queued(s.w, 1)
	go func() { closed <- s.Close() }()
	queued(s.w, 2) // Close ends our calls before it closes
	release()
	ok(t, <-first)
	ok(t, <-closed)
	if err := s.Record(record.Call{ID: "late", State: record.Completed}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	want(t, must(open(t, Options{Dir: dir}).Call(t.Context(), "first"))(t).State, record.Completed)
}

// The writer wakes the checkpointer after enough pages, and that carries the
// log over while the store stays open.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	s := open(t, Options{Dir: t.TempDir()})
	for i := range 20 {
		ok(t, s.Record(record.Call{ID: fmt.Sprint(i), State: record.Completed, Input: strings.Repeat("x", 50<<10)}))
	}
	before := must(os.Stat(s.path))(t).Size()
	k := newCheckpointer(s.path, s.log)
	k.wake()
	k.wake() // never blocks
	k.close()
	if after := must(os.Stat(s.path))(t).Size(); after < before+1000<<10 {
		t.Errorf("the database grew from %d to %d", before, after)
	}
	ok(t, s.Check(t.Context(), true))

	w := &writer{ckpt: &checkpointer{due: make(chan struct{}, 1)}}
	for n, batch := 0, []*op{{size: 100 * pageSize}, {}}; len(w.ckpt.due) == 0; n++ {
		if w.grow(batch); n > pagesPerCheckpoint/100 {
			t.Fatal("the checkpointer is never woken")
		}
	}
}
