package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"helve/message"
	"helve/tool"
)

// fill gives a session something in every table.
func fill(t *testing.T, s *Store, id string, messages int) {
	t.Helper()
	for _, m := range talk(id, messages) {
		m.Info.Time = message.Times{} // no use
		ok(t, s.Save(t.Context(), &m.Info, m.Parts))
	}
	ok(t, s.SetTodos(t.Context(), id, []Todo{{Content: "x"}}))
	for i := range 40 {
		ok(t, s.Record(Call{ID: fmt.Sprint(i), Session: id, State: Completed, Result: &tool.Result{Output: "x"}}))
		s.See(id, fmt.Sprint("/f", i), Sight{Hash: "h"})
	}
}

// rowsOf counts the rows of a session, table by table.
func rowsOf(t *testing.T, s *Store, id string) string {
	t.Helper()
	var out []string
	for _, table := range []string{"session", "message", "part", "call", "todo", "sight", "forgotten"} {
		column := "session"
		if table == "session" {
			column = "id"
		}
		n := must(s.column(t.Context(), "", "SELECT CAST(count(*) AS TEXT) FROM "+table+" WHERE "+column+" = ?", id))(t)
		out = append(out, n[0])
	}
	return strings.Join(out, " ")
}

func TestForget(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		for _, v := range []Session{
			{ID: "old", Created: 10}, {ID: "old child", Parent: "old", Created: 11}, {ID: "old grandchild", Parent: "old child", Created: 12},
			{ID: "kept", Created: 10}, {ID: "used child", Parent: "kept", Created: 200},
			{ID: "new", Created: 100}, {ID: "old child of new", Parent: "new", Created: 10},
			{ID: "orphan", Parent: "gone", Created: 10},
			{ID: "claimed", Created: 10}, {ID: "running", Created: 10}, {ID: "loop", Parent: "loop", Created: 10},
		} {
			ok(t, s.CreateSession(ctx, v))
			fill(t, s, v.ID, 20)
		}
		release := must(s.ClaimTurn(ctx, "claimed", "turn"))(t)
		ok(t, s.Begin(ctx, Call{ID: "runs", Session: "running"}))
		want(t, rowsOf(t, s, "old"), "1 20 100 40 1 40 0")

		want(t, must(s.Forget(ctx, 10))(t), 0)
		want(t, must(s.Forget(ctx, 100))(t), 4)
		var left []string
		for _, v := range must(s.Sessions(ctx, 0))(t) {
			left = append(left, v.ID)
		}
		slices.Sort(left)
		want(t, left, []string{"claimed", "kept", "loop", "new", "old child of new", "running", "used child"})
		for _, id := range []string{"old", "old child", "old grandchild", "orphan"} {
			want(t, rowsOf(t, s, id), "0 0 0 0 0 0 0")
		}
		for _, id := range left {
			if got := rowsOf(t, s, id); id != "running" && got != "1 20 100 40 1 40 0" {
				t.Errorf("%s has %s", id, got)
			}
		}
		release()
		ok(t, s.Finish(Call{ID: "runs", Session: "running", State: Completed}))
		want(t, must(s.Forget(ctx, 100))(t), 2)
		want(t, must(s.Forget(ctx, 100))(t), 0)

		ok(t, s.AddSession(ctx, Session{ID: "old", Created: 300})) // it is known to be gone
		want(t, rowsOf(t, s, "old"), "1 0 0 0 0 0 0")
		ok(t, s.Check(ctx, true))
	})
}

// What a Forget that was cut short has left over goes the next time, but not
// from a session that has begun anew.
func TestForgetCutShort(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		for _, id := range []string{"a", "b"} {
			ok(t, s.CreateSession(ctx, Session{ID: id, Created: 10}))
			fill(t, s, id, 20)
			want(t, must(s.forgetTree(ctx, id, 100))(t), 1)
			want(t, must(s.purge(ctx, id))(t), false)
		}
		short, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := s.Forget(short, 100); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
		ok(t, s.CreateSession(ctx, Session{ID: "b", Created: 300}))
		want(t, must(s.Forget(ctx, 100))(t), 0)
		want(t, rowsOf(t, s, "a"), "0 0 0 0 0 0 0")
		want(t, rowsOf(t, s, "b"), "1 0 68 8 0 8 0")
	})
}

// Another store forgets a session that this one knows. When it is used again
// after a long time it is recorded again.
func TestForgottenByAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := open(t, Options{Dir: dir}), open(t, Options{Dir: dir})
	ok(t, a.AddSession(t.Context(), Session{ID: "s", Created: 10}))
	want(t, must(b.Forget(t.Context(), 100))(t), 1)
	again := Session{ID: "s", Created: 10 + knownFor, Updated: 10 + knownFor}
	ok(t, a.AddSession(t.Context(), again))
	want(t, must(a.Sessions(t.Context(), 0))(t), []Session{again})
}
