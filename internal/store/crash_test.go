package store

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// kills says how often TestKill kills: 30 times, or as the environment says.
func kills(t *testing.T) int {
	if v := os.Getenv("HELVE_STORE_KILLS"); v != "" {
		return must(strconv.Atoi(v))(t)
	}
	return 30
}

// A process is killed at random points while four goroutines of it begin and
// finish calls. Whatever it acknowledged must be there, once and in its final
// state; what it did not is finished or interrupted, never running.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	interrupted := 0
	for round := range kills(t) {
		p := start(t, "churn", dir, fmt.Sprint("r", round))
		var lines []string
		if round%3 == 0 { // at any moment, also while it opens the store
			kill := time.AfterFunc(rand.N(40*time.Millisecond), func() { _ = p.cmd.Process.Kill() })
			lines = p.rest()
			kill.Stop()
		} else { // in full run
			for range 1 + rand.N(200) {
				if !p.lines.Scan() {
					t.Fatal("the helper ended by itself")
				}
				lines = append(lines, p.lines.Text())
			}
			ok(t, p.cmd.Process.Kill())
			lines = append(lines, p.rest()...)
		}
		// A line is one write to a pipe, so none of them is cut.
		for _, id := range lines {
			acknowledged[id] = true
		}
		interrupted += checkKilled(t, dir, fmt.Sprint("r", round), acknowledged)
	}
	s := open(t, Options{Dir: dir})
	for id := range acknowledged {
		c := must(s.Call(t.Context(), id))(t)
		if c.State != record.Completed || c.Result.Output != "out of "+id {
			t.Errorf("acknowledged call became %+v", c)
		}
	}
	ok(t, s.Check(t.Context(), true))
	t.Logf("%d acknowledged, %d interrupted", len(acknowledged), interrupted)
}

// A process is killed while it makes the store: there is none or a whole one.
func TestKillNew(t *testing.T) {
	t.Parallel()
	for range kills(t) / 2 {
		dir := filepath.Join(t.TempDir(), "data")
		p := start(t, "churn", dir, "n")
		kill := time.AfterFunc(rand.N(30*time.Millisecond), func() { _ = p.cmd.Process.Kill() })
		acknowledged := map[string]bool{}
		for _, id := range p.rest() {
			acknowledged[id] = true
		}
		kill.Stop()
		checkKilled(t, dir, "n", acknowledged)
	}
}

// checkKilled opens the store after a kill and looks at the calls of a round.
func checkKilled(t *testing.T, dir, round string, acknowledged map[string]bool) (interrupted int) {
	t.Helper()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want(t, s.Notices(), nil)
	calls := must(s.Calls(t.Context(), record.CallQuery{Session: "ses_" + round, Limit: 1 << 30}))(t)
	seen := map[string]bool{}
	for _, c := range calls {
		if seen[c.ID] {
			t.Errorf("%s is there twice", c.ID)
		}
		seen[c.ID] = true
		switch {
		case c.State == record.Completed && c.Result != nil && c.Result.Output == "out of "+c.ID:
		case c.State == record.Interrupted && c.Result == nil && c.Ended != 0 && !acknowledged[c.ID]:
			interrupted++
		default:
			t.Errorf("acknowledged %v: %+v", acknowledged[c.ID], c)
		}
	}
	for id := range acknowledged {
		if strings.HasPrefix(id, round+"-") && !seen[id] {
			t.Errorf("acknowledged call %s is lost", id)
		}
	}
	if left := must(os.ReadDir(filepath.Join(dir, "run")))(t); len(left) != 0 {
		t.Errorf("left in run: %v", left)
	}
	return interrupted
}

// Two processes and this one write to one file; nothing is lost.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, q := start(t, "hundred", dir, "p"), start(t, "hundred", dir, "q")
	s := open(t, Options{Dir: dir})
	ok(t, churn(io.Discard, s, "own", 25))
	if n := len(p.rest()) + len(q.rest()); n != 200 {
		t.Errorf("the helpers acknowledged %d calls", n)
	}
	for _, who := range []string{"p", "q", "own"} {
		calls := must(s.Calls(t.Context(), record.CallQuery{Session: "ses_" + who, State: record.Completed, Limit: 1000}))(t)
		want(t, len(calls), 100)
	}
}

// The running call of a live process is left alone; that of a dead one is
// interrupted, and its late ending would not count.
func TestLiveAndDead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	live, doomed := start(t, "hold", dir, "live"), start(t, "hold", dir, "doomed")
	for _, p := range []*process{live, doomed} {
		if !p.lines.Scan() {
			t.Fatal("no sign of the helper")
		}
	}
	state := func(s *Store, id string) string {
		t.Helper()
		return must(s.Call(t.Context(), id))(t).State
	}
	s := open(t, Options{Dir: dir})
	want(t, state(s, "live"), record.Running)
	want(t, state(s, "doomed"), record.Running)
	ok(t, doomed.cmd.Process.Kill())
	doomed.rest()
	running := must(s.Calls(t.Context(), record.CallQuery{State: record.Running}))(t)
	want(t, len(running), 1)
	want(t, state(s, "doomed"), record.Interrupted)

	s2 := open(t, Options{Dir: dir})
	want(t, state(s2, "live"), record.Running)
	want(t, state(s2, "doomed"), record.Interrupted)
	if err := s2.Finish(record.Call{ID: "live", State: record.Completed}); err == nil {
		t.Error("finished the call of another process")
	}
	ok(t, live.in.Close())
	live.rest()
	want(t, state(s, "live"), record.Completed)
	want(t, must(s.Call(t.Context(), "live"))(t).Result, &tool.Result{Output: "held"})
}

// Within one process too: another store neither takes our calls for dead nor
// frees our locks by coming and going.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, Options{Dir: dir})
	ok(t, a.Begin(t.Context(), record.Call{ID: "a"}))
	for i := range 3 {
		b := must(Open(Options{Dir: dir}))(t)
		ok(t, b.Begin(t.Context(), record.Call{ID: fmt.Sprint("b", i)}))
		ok(t, b.Close())
	}
	want(t, must(a.Call(t.Context(), "a"))(t).State, record.Running)
	ok(t, a.Finish(record.Call{ID: "a", State: record.Completed}))
	want(t, must(a.Call(t.Context(), "b2"))(t).State, record.Interrupted)
}
