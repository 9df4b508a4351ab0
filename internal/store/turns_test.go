package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/helve-dev/helve/record"
)

func busy(t *testing.T, s *Store, session, by string) {
	t.Helper()
	if _, err := s.ClaimTurn(t.Context(), session, "late"); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), by) {
		t.Errorf("a second claim: %v", err)
	}
}

func claim(t *testing.T, s *Store, session, who string) (release func()) {
	t.Helper()
	return must(s.ClaimTurn(t.Context(), session, who))(t)
}

func TestClaim(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		first := claim(t, s, "a", "first turn")
		busy(t, s, "a", "first turn")
		claim(t, s, "b", "other")()
		first()
		second := claim(t, s, "a", "second turn")
		first() // once more is nothing
		busy(t, s, "a", "second turn")
		second()
		claim(t, s, "a", "third")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.ClaimTurn(ctx, "c", "late"); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	})
}

func TestClaimStores(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := must(Open(Options{Dir: dir}))(t), open(t, Options{Dir: dir})
	late := claim(t, a, "s", "turn of a")
	busy(t, b, "s", "turn of a")
	busy(t, open(t, Options{Dir: dir}), "s", "turn of a") // opening frees no claim of the living
	ok(t, a.Close())
	claim(t, b, "s", "turn of b")
	late()
	busy(t, b, "s", "turn of b")
}

// Of many who try at once, over several stores, one at a time succeeds.
func TestClaimRace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var inside, done atomic.Int32
	var group sync.WaitGroup
	for range 3 {
		s := open(t, Options{Dir: dir})
		for g := range 3 {
			group.Go(func() {
				for done.Load() < 50 {
					release, err := s.ClaimTurn(t.Context(), "s", fmt.Sprint(g))
					if errors.Is(err, ErrBusy) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					if inside.Add(1) != 1 {
						t.Error("two claims at once")
					}
					done.Add(1)
					inside.Add(-1)
					release()
				}
			})
		}
	}
	group.Wait()
}

// The claim of another process holds while that lives, and no longer.
func TestClaimProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	p := start(t, "claim", dir, "s")
	if !p.lines.Scan() {
		t.Fatal("no sign of the helper")
	}
	busy(t, s, "s", "claim helper")
	busy(t, open(t, Options{Dir: dir}), "s", "claim helper")
	ok(t, p.cmd.Process.Kill())
	p.rest()
	release := claim(t, s, "s", "heir") // before anybody has recovered
	busy(t, open(t, Options{Dir: dir}), "s", "heir")
	release()

	q := start(t, "claim", dir, "s")
	if !q.lines.Scan() {
		t.Fatal("no sign of the helper")
	}
	busy(t, s, "s", "claim helper")
	ok(t, q.in.Close()) // it releases and ends
	q.rest()
	claim(t, s, "s", "last")()
}

// Two processes that take turns never have one at the same time: each adds
// to the cost of a session what it read before.
func TestClaimTakeTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	ok(t, s.CreateSession(t.Context(), record.Session{ID: "s", Time: record.SessionTime{Created: 1}}))
	p, q := start(t, "turns", dir, "s"), start(t, "turns", dir, "s")
	p.rest()
	q.rest()
	want(t, must(s.Session(t.Context(), "s"))(t).Cost, 40)
}

// takeTurns works 20 turns on a session; each reads, and writes one more.
func takeTurns(s *Store, session string) error {
	ctx := context.Background()
	for done := 0; done < 20; {
		release, err := s.ClaimTurn(ctx, session, "turns")
		if errors.Is(err, ErrBusy) {
			continue
		}
		if err != nil {
			return err
		}
		v, err := s.Session(ctx, session)
		if err == nil {
			_, err = s.UpdateSession(ctx, session, func(now *record.Session) { now.Cost = v.Cost + 1 })
		}
		release()
		if err != nil {
			return err
		}
		done++
	}
	return s.Close()
}
