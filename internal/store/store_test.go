package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// both runs a test on a store on disk and on one in memory.
func both(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Run("disk", func(t *testing.T) { t.Parallel(); test(t, open(t, Options{Dir: t.TempDir()})) })
	t.Run("sync", func(t *testing.T) { t.Parallel(); test(t, open(t, Options{Dir: t.TempDir(), Sync: true})) })
	t.Run("memory", func(t *testing.T) { t.Parallel(); test(t, open(t, Options{})) })
}

func want[T any](t *testing.T, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCallLife(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		c := record.Call{ID: "c1", Session: "s1", Parent: "c0", Tool: "read", Agent: "build", Model: "m", Input: `{"broken`, Started: 10}
		ok(t, s.Begin(ctx, c))
		c.State = record.Running
		want(t, must(s.Call(ctx, "c1"))(t), c)

		if err := s.Begin(ctx, record.Call{ID: "c1", Session: "s1", Tool: "other"}); !errors.Is(err, ErrDuplicate) {
			t.Errorf("second Begin: %v", err)
		}
		want(t, must(s.Call(ctx, "c1"))(t), c)

		c.State, c.Title, c.Ended = record.Completed, "a file", 20
		c.Result = &tool.Result{
			Title: "a file", Output: "text", Metadata: map[string]any{"n": 1.0, "l": []any{"x"}},
			Attachments: []tool.Attachment{{ID: "p", Type: "file", Mime: "image/png", URL: "data:image/png;base64,AA=="}},
		}
		ok(t, s.Finish(c))
		want(t, must(s.Call(ctx, "c1"))(t), c)

		again := record.Call{ID: "c1", Session: "s1", State: record.Failed, Error: &record.Failure{Kind: tool.Canceled, Message: "late"}}
		if err := s.Finish(again); !errors.Is(err, ErrNotRunning) {
			t.Errorf("second Finish: %v", err)
		}
		want(t, must(s.Call(ctx, "c1"))(t), c)
		if err := s.Finish(record.Call{ID: "nobody", State: record.Completed}); !errors.Is(err, ErrNotRunning) {
			t.Errorf("Finish of an unknown call: %v", err)
		}
		if err := s.Finish(record.Call{ID: "c1", State: record.Running}); err == nil {
			t.Error("finished as running")
		}

		// another session may use the same id
		other := record.Call{ID: "c1", Session: "s2", Tool: "todoread", State: record.Completed, Started: 25, Ended: 26, Result: &tool.Result{Metadata: map[string]any{}}}
		ok(t, s.Record(other))
		if got := must(s.Calls(ctx, record.CallQuery{Session: "s1", Brief: true}))(t); len(got) != 1 || got[0].Tool != "read" {
			t.Errorf("the first session's call: %+v", got)
		}
		want(t, must(s.Call(ctx, "c1"))(t), other)
		want(t, must(s.CallOf(ctx, "s1", "c1"))(t), c)
		want(t, must(s.CallOf(ctx, "s2", "c1"))(t), other)
		if _, err := s.CallOf(ctx, "s3", "c1"); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("a call of another session: %v", err)
		}

		r := record.Call{ID: "c2", Tool: "nope", Input: "x", State: record.Failed, Started: 30, Ended: 30,
			Error: &record.Failure{Kind: tool.UnknownTool, Code: "unknown-tool", Message: "no such tool", Hint: "look"}}
		ok(t, s.Record(r))
		want(t, must(s.Call(ctx, "c2"))(t), r)
		if err := s.Record(c); !errors.Is(err, ErrDuplicate) {
			t.Errorf("Record over a call: %v", err)
		}
		if err := s.Record(record.Call{ID: "c3", State: record.Running}); err == nil {
			t.Error("recorded as running")
		}
		if _, err := s.Call(ctx, "c3"); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("unknown call: %v", err)
		}
	})
}

func TestCallsQuery(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		for i := range 6 {
			c := record.Call{ID: fmt.Sprint("c", i), Session: fmt.Sprint("s", i%2), Tool: fmt.Sprint("t", i%3), Input: "in"}
			ok(t, s.Begin(ctx, c))
			if i < 4 {
				c.State, c.Title, c.Result = record.Completed, "T", &tool.Result{Title: "T", Output: "out"}
				ok(t, s.Finish(c))
			}
		}
		ids := func(q record.CallQuery) string {
			t.Helper()
			var out []string
			for _, c := range must(s.Calls(ctx, q))(t) {
				out = append(out, c.ID)
			}
			return strings.Join(out, " ")
		}
		want(t, ids(record.CallQuery{}), "c5 c4 c3 c2 c1 c0")
		want(t, ids(record.CallQuery{Limit: 2}), "c5 c4")
		want(t, ids(record.CallQuery{Session: "s0"}), "c4 c2 c0")
		want(t, ids(record.CallQuery{Session: "s0", State: record.Completed}), "c2 c0")
		want(t, ids(record.CallQuery{State: record.Running}), "c5 c4")
		want(t, ids(record.CallQuery{Tool: "t1"}), "c4 c1")
		c3 := must(s.Calls(ctx, record.CallQuery{Session: "s1", Limit: 2}))(t)[1]
		want(t, ids(record.CallQuery{Before: c3.Cursor, Limit: 2}), "c2 c1")
		want(t, ids(record.CallQuery{Session: "none"}), "")
		brief := must(s.Calls(ctx, record.CallQuery{Brief: true, Session: "s1", State: record.Completed, Limit: 1}))(t)
		want(t, brief, []record.Call{{ID: "c3", Session: "s1", Tool: "t0", State: record.Completed, Title: "T", Result: &tool.Result{Title: "T"}, Cursor: c3.Cursor}})
	})
}

func TestSessions(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		a := record.Session{ID: "a", Dir: "/d", Project: "p", Agent: "build", Parent: "z", Title: "t", Time: record.SessionTime{Created: 1}}
		b := record.Session{ID: "b", Dir: "/d", Time: record.SessionTime{Created: 2, Updated: 3}}
		ok(t, s.AddSession(ctx, a))
		ok(t, s.AddSession(ctx, b))
		ok(t, s.AddSession(ctx, record.Session{ID: "a", Title: "ignored", Time: record.SessionTime{Created: 9}}))
		a.Time.Updated = 1
		want(t, must(s.Sessions(ctx, 0))(t), []record.Session{b, a})
		want(t, must(s.Sessions(ctx, 1))(t), []record.Session{b})
		want(t, must(s.Session(ctx, "a"))(t), a)
		if _, err := s.Session(ctx, "c"); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("unknown session: %v", err)
		}
		// A call brings its session to the front.
		ok(t, s.Begin(ctx, record.Call{ID: "x", Session: "a", Started: 1 + touchEvery}))
		a.Time.Updated = 1 + touchEvery
		want(t, must(s.Sessions(ctx, 0))(t), []record.Session{a, b})
	})
}

// A session without a title is known by its first call: by its title, or by its
// arguments while there is none.
func TestFirstCall(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		ok(t, s.AddSession(ctx, record.Session{ID: "a", Time: record.SessionTime{Created: 1}}))
		first := func(want string) {
			t.Helper()
			listed, err := s.SessionsAfter(ctx, SessionQuery{Limit: 9})
			ok(t, err)
			if one := must(s.Session(ctx, "a"))(t); one.First != want || listed[0].First != want {
				t.Errorf("known by %q and %q, want %q", one.First, listed[0].First, want)
			}
		}
		first("")
		call := record.Call{ID: "x", Session: "a", Tool: "bash", Input: `{"command":"ls"}`, State: record.Running, Started: 1}
		ok(t, s.Begin(ctx, call))
		first(`bash {"command":"ls"}`)
		call.State, call.Result = record.Completed, &tool.Result{Title: strings.Repeat("é", 500)}
		ok(t, s.Finish(call))
		ok(t, s.Begin(ctx, record.Call{ID: "y", Session: "a", Tool: "read", State: record.Running, Started: 2}))
		first("bash " + strings.Repeat("é", 120))
		changed := must(s.UpdateSession(ctx, "a", func(v *record.Session) { v.Title = "named" }))(t)
		want(t, changed, must(s.Session(ctx, "a"))(t))
		first("")
	})
}

func TestCreateSession(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		v := record.Session{
			ID: "a", Dir: "/d", Project: "p", Agent: "build", Parent: "z", Title: "t", Time: record.SessionTime{Created: 2, Updated: 3}, Slug: "brave-cat",
			Model: model.Ref{Provider: "p", Model: "m/1"}, Cost: 0.25, Tokens: model.Tokens{Input: 1, Output: 2, Reasoning: 3, Cache: model.CacheTokens{Read: 4, Write: 5}},
			Rules: permission.Ruleset{
				{Permission: "bash", Pattern: "rm <*", Action: permission.Deny, From: permission.Source{File: "helve.json", Line: 7}},
				{Permission: "*", Pattern: "*", Action: permission.Ask},
			},
		}
		ok(t, s.CreateSession(ctx, v))
		want(t, must(s.Session(ctx, "a"))(t), v)
		if err := s.CreateSession(ctx, record.Session{ID: "a", Time: record.SessionTime{Created: 9}}); !errors.Is(err, ErrDuplicate) {
			t.Errorf("the second of an id: %v", err)
		}
		if err := s.CreateSession(ctx, record.Session{}); err == nil {
			t.Error("made a session without an id")
		}
		ok(t, s.AddSession(ctx, record.Session{ID: "a", Title: "ignored", Time: record.SessionTime{Created: 9}}))
		want(t, must(s.Sessions(ctx, 0))(t), []record.Session{v})

		ok(t, s.AddSession(ctx, record.Session{ID: "c", Parent: "a", Time: record.SessionTime{Created: 5}}))
		ok(t, s.CreateSession(ctx, record.Session{ID: "b", Parent: "a", Time: record.SessionTime{Created: 6}}))
		if err := s.CreateSession(ctx, record.Session{ID: "c"}); !errors.Is(err, ErrDuplicate) {
			t.Errorf("an id that a call has used: %v", err)
		}
		children := must(s.SessionChildren(ctx, "a"))(t)
		want(t, children, []record.Session{
			{ID: "c", Parent: "a", Time: record.SessionTime{Created: 5, Updated: 5}},
			{ID: "b", Parent: "a", Time: record.SessionTime{Created: 6, Updated: 6}},
		})
		want(t, must(s.SessionChildren(ctx, ""))(t), nil)

		// A message counts as use.
		ok(t, s.putMessage(ctx, userMessage("a", "m", 3+touchEvery)))
		want(t, must(s.Session(ctx, "a"))(t).Time.Updated, 3+touchEvery)
	})
}

func TestUpdateSession(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		ok(t, s.AddSession(ctx, record.Session{ID: "a", Dir: "/d", Time: record.SessionTime{Created: 5}}))
		change := func(v *record.Session) {
			v.ID, v.Title, v.Time.Updated, v.Cost = "other", "named", 1, v.Cost+0.5
			v.Rules = append(v.Rules, permission.Rule{Permission: "edit", Pattern: "*", Action: permission.Allow})
		}
		must(s.UpdateSession(ctx, "a", change))(t)
		got := must(s.UpdateSession(ctx, "a", change))(t)
		rule := permission.Rule{Permission: "edit", Pattern: "*", Action: permission.Allow}
		want(t, got, record.Session{ID: "a", Dir: "/d", Title: "named", Time: record.SessionTime{Created: 5, Updated: 5}, Cost: 1, Rules: permission.Ruleset{rule, rule}})
		want(t, must(s.Sessions(ctx, 0))(t), []record.Session{got})
		if _, err := s.UpdateSession(ctx, "b", change); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("unknown session: %v", err)
		}
		must(s.UpdateSession(ctx, "a", func(v *record.Session) { *v = record.Session{} }))(t)
		want(t, must(s.Session(ctx, "a"))(t), record.Session{ID: "a", Time: record.SessionTime{Updated: 5}})
	})
}

// Rules that cannot be read may have been there to forbid.
func TestDamagedSession(t *testing.T) {
	s := open(t, Options{})
	for _, damage := range []string{"[{", `{}`, `[{"permission":"bash","pattern":"*"}]`} {
		ok(t, s.AddSession(t.Context(), record.Session{ID: damage, Dir: "/d"}))
		ok(t, s.w.do(t.Context(), &op{run: func(c *conn) error {
			_, err := c.exec("UPDATE session SET rules = ?, tokens = 'x' WHERE id = ?", damage, damage)
			return err
		}}))
		v := must(s.Session(t.Context(), damage))(t)
		if v.Dir != "/d" || permission.Evaluate("bash", "ls", v.Rules).Action != permission.Deny {
			t.Errorf("%s became %+v", damage, v)
		}
	}
}

func TestTodos(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		want(t, must(s.Todos(ctx, "s"))(t), nil)
		list := []Todo{{Content: "b", Status: "pending", Priority: "low", ID: "2"}, {Content: "a", Status: "completed", Priority: "high", ID: "1"}}
		ok(t, s.SetTodos(ctx, "s", list))
		ok(t, s.SetTodos(ctx, "other", list[:1]))
		want(t, must(s.Todos(ctx, "s"))(t), list)
		ok(t, s.SetTodos(ctx, "s", nil))
		want(t, must(s.Todos(ctx, "s"))(t), nil)
		want(t, must(s.Todos(ctx, "other"))(t), list[:1])
	})
}

func TestApprovals(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		now := time.Now().UTC().Round(0)
		a := permission.Approval{ID: "1", Permission: "bash", Pattern: "git *", Scope: permission.Project, Project: "/p", Fingerprint: "f", Place: "private 10.0.0.5", Created: now}
		b := permission.Approval{ID: "2", Permission: "edit", Pattern: "a*b", Exact: true, Scope: permission.Session, Session: "s", Created: now.Add(-time.Second)}
		ok(t, s.KeepApproval(a))
		ok(t, s.KeepApproval(b))
		want(t, must(s.Approvals())(t), []permission.Approval{b, a})
		a.Pattern = "git status"
		ok(t, s.KeepApproval(a))
		want(t, must(s.Approvals())(t), []permission.Approval{b, a})
		want(t, must(s.ForgetApproval("2"))(t), true)
		want(t, must(s.ForgetApproval("2"))(t), false)
		want(t, must(s.Approvals())(t), []permission.Approval{a})
		ok(t, s.Begin(t.Context(), record.Call{ID: "after"})) // the writer is as it was
	})
}

// Any text comes back as it went in, whatever bytes it has.
func TestAnyText(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		text := func(name string) string { return string(rapid.SliceOf(rapid.Byte()).Draw(r, name)) }
		c := record.Call{
			ID: fmt.Sprint(n, text("id")), Session: text("session"), Tool: text("tool"), Agent: text("agent"), Model: text("model"),
			Parent: text("parent"), Input: text("input"), State: record.Failed,
			Error:  &record.Failure{Kind: tool.Failed, Code: text("code"), Message: text("message"), Hint: text("hint")},
			Result: &tool.Result{Title: text("title"), Output: text("output")},
		}
		if err := s.Record(c); err != nil {
			r.Fatal(err)
		}
		got, err := s.Call(context.Background(), c.ID)
		if err != nil {
			r.Fatal(err)
		}
		c.Title = c.Result.Title
		if d := cmp.Diff(c, got); d != "" {
			r.Fatal(d)
		}
	})
}

func TestOddValues(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		big := record.Call{ID: "big", Input: strings.Repeat("i\x00\xff", 5<<20/3), State: record.Completed,
			Result: &tool.Result{Output: strings.Repeat("o", 50<<10)}}
		ok(t, s.Begin(ctx, big))
		ok(t, s.Finish(big))
		want(t, must(s.Call(ctx, "big"))(t), big)

		// What JSON cannot hold is replaced, and the rest is kept.
		odd := record.Call{ID: "odd", State: record.Completed, Result: &tool.Result{
			Metadata:    map[string]any{"nan": math.NaN(), "ch": make(chan int), "bad": "a\xffb", "nul": "a\x00b", "n": 1},
			Attachments: []tool.Attachment{{URL: "x\xff"}},
		}}
		ok(t, s.Record(odd))
		got := must(s.Call(ctx, "odd"))(t).Result
		want(t, got.Attachments, []tool.Attachment{{URL: "x\ufffd"}})
		want(t, got.Metadata, map[string]any{
			"nan": "cannot be kept: json: unsupported value: NaN", "ch": "cannot be kept: json: unsupported type: chan int",
			"bad": "a\ufffdb", "nul": "a\x00b", "n": 1.0,
		})
		ok(t, s.SetTodos(ctx, "s\xff\x00", []Todo{{Content: "c\xff\x00"}}))
		want(t, must(s.Todos(ctx, "s\xff\x00"))(t), []Todo{{Content: "c\ufffd\x00"}})

		if err := s.Begin(ctx, record.Call{}); err == nil {
			t.Error("began a call without id")
		}
	})
}

// Many callers at once: each call ends as its own caller said, a shared id
// begins once, and exactly one of several endings stands.
func TestConcurrent(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		const callers, each = 32, 20
		var group sync.WaitGroup
		var mu sync.Mutex
		begun, ended := map[string]int{}, map[string]string{}
		for g := range callers {
			group.Go(func() {
				for i := range each {
					id := fmt.Sprint("shared", i)
					err := s.Begin(ctx, record.Call{ID: id})
					if err == nil {
						mu.Lock()
						begun[id]++
						mu.Unlock()
					} else if !errors.Is(err, ErrDuplicate) {
						t.Error(err)
					}
					out := fmt.Sprint("by ", g)
					err = s.Finish(record.Call{ID: id, State: record.Completed, Result: &tool.Result{Output: out}})
					if err == nil {
						mu.Lock()
						if ended[id] != "" {
							t.Errorf("%s ended twice", id)
						}
						ended[id] = out
						mu.Unlock()
					} else if !errors.Is(err, ErrNotRunning) {
						t.Error(err)
					}
					if _, err := s.Call(ctx, id); err != nil {
						t.Error(err)
					}
					if err := s.KeepApproval(permission.Approval{ID: fmt.Sprint(g, i)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		for i := range each {
			id := fmt.Sprint("shared", i)
			want(t, begun[id], 1)
			want(t, must(s.Call(ctx, id))(t).Result.Output, ended[id])
		}
		want(t, len(must(s.Approvals())(t)), callers*each)
	})
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	s := must(Open(Options{Dir: dir}))(t)
	ctx := t.Context()
	ok(t, s.Record(record.Call{ID: "a", State: record.Completed}))
	ok(t, s.Begin(ctx, record.Call{ID: "open"}))
	ok(t, s.SetTodos(ctx, "s", []Todo{{ID: "1"}}))
	ok(t, s.AddSession(ctx, record.Session{ID: "s", Title: "first", Time: record.SessionTime{Created: 1}}))
	ok(t, s.Close())
	ok(t, s.Close())

	// Everything answers that it is closed.
	for name, err := range map[string]error{
		"Begin": s.Begin(ctx, record.Call{ID: "b"}), "Finish": s.Finish(record.Call{ID: "open", State: record.Completed}),
		"SetTodos": s.SetTodos(ctx, "s", nil), "Check": s.Check(ctx, true),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}

	s = open(t, Options{Dir: dir})
	want(t, s.Notices(), nil)
	want(t, must(s.Call(ctx, "a"))(t).State, record.Completed)
	c := must(s.Call(ctx, "open"))(t) // its store closed before it ended
	want(t, c.State, record.Interrupted)
	if c.Ended == 0 {
		t.Error("no time of interruption")
	}
	want(t, must(s.Todos(ctx, "s"))(t), []Todo{{ID: "1"}})
	ok(t, s.AddSession(ctx, record.Session{ID: "s", Title: "second", Time: record.SessionTime{Created: 7}}))
	want(t, must(s.Session(ctx, "s"))(t), record.Session{ID: "s", Title: "first", Time: record.SessionTime{Created: 1, Updated: 7}})
	ok(t, s.Check(ctx, true))
	want(t, len(must(os.ReadDir(filepath.Join(dir, "run")))(t)), 0)
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "a?b #c%41 'q'")
	s := open(t, Options{Dir: dir})
	ok(t, s.Begin(t.Context(), record.Call{ID: "a"}))
	f := must(s.Spill("x"))(t)
	ok(t, f.Close())
	for name, mode := range map[string]os.FileMode{
		".": 0o700, "run": 0o700, "tool-output": 0o700, "tool-output/tool_x": 0o600,
		"helve.db": 0o600, "helve.db-wal": 0o600, "helve.db-shm": 0o600,
	} {
		info := must(os.Stat(filepath.Join(dir, name)))(t)
		if got := info.Mode().Perm(); got != mode {
			t.Errorf("%s has mode %o, want %o", name, got, mode)
		}
	}
}

func TestCanceled(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx, cancel := context.WithCancel(t.Context())
		ok(t, s.Begin(ctx, record.Call{ID: "a"}))
		ok(t, s.Begin(ctx, record.Call{ID: "b"}))
		// In the middle of a list: the connection stays good.
		err := s.read(ctx, "test", func(c *conn) error {
			return c.query(ctx, func([]driver.Value) error { cancel(); return ctx.Err() }, "SELECT id FROM call")
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("canceled read: %v", err)
		}
		want(t, len(must(s.Calls(t.Context(), record.CallQuery{}))(t)), 2)
		if err := s.Begin(ctx, record.Call{ID: "c"}); !errors.Is(err, context.Canceled) {
			t.Errorf("write with an ended context: %v", err)
		}
		ok(t, s.Finish(record.Call{ID: "a", State: record.Completed}))
		if _, err := s.Calls(ctx, record.CallQuery{}); !errors.Is(err, context.Canceled) {
			t.Errorf("read with an ended context: %v", err)
		}
	})
}
