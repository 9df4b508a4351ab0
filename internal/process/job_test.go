package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestLife(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{})
	if entries, err := os.ReadDir(j.opt.Dir); err == nil {
		t.Fatalf("New touched the disk: %v", entries)
	}
	want(t, len(j.List("")), 0)
	a, io := newActor()
	io.Head = []byte("before\n")
	info := must(j.Add(JobSpec{ID: "one", Session: "s", Call: "c", Command: "make", Title: "Make it", Dir: "/w"}, a, io))(t)
	want(t, info.State, JobRunning)
	want(t, textOf(t, j, "one"), "before\n")
	a.say(t, "after\n")
	ok(t, a.out.Close())
	a.exit(3)
	info = must(j.Wait(t.Context(), "one", time.Minute))(t)
	wanted := JobInfo{
		ID: "one", Session: "s", Call: "c", Command: "make", Title: "Make it", Dir: "/w", Runtime: os.Getpid(),
		State: JobEnded, Exited: true, Code: 3, Bytes: 13, Quota: 64 << 20,
	}
	if diff := cmp.Diff(wanted, info, cmpopts.IgnoreFields(JobInfo{}, "Began", "Ended")); diff != "" {
		t.Fatal(diff)
	}
	// Afterwards the ledger answers, and says the same.
	got, found := j.Get("one")
	want(t, found, true)
	want(t, got, info)
	want(t, j.List(""), []JobInfo{info})
	want(t, must(ListJobs(j.opt.Dir))(t), []JobInfo{info})
	c := must(j.Output("one", 0, 0))(t)
	want(t, c, JobOutput{Data: []byte("before\nafter\n"), Next: 13, Total: 13, Done: true})
	want(t, must(j.Stop(t.Context(), "one"))(t), info)
	for _, err := range []error{j.Signal(t.Context(), "one", "TERM"), j.Write(t.Context(), "one", nil, true)} {
		if !errors.Is(err, ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
	}
	mode := must(os.Stat(j.opt.Dir))(t).Mode().Perm()
	if filepath.Separator == '/' {
		want(t, mode, os.FileMode(0o700))
	}
}

// TestSurvivors: a command that ended with its pipe held, or with processes
// left, is told about, and the job goes on until they are gone.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{})
	a, io := newActor()
	must(j.Add(JobSpec{ID: "held"}, a, io))(t)
	a.exit(0)
	info := exited(t, j, "held")
	want(t, []any{info.State, info.Exited}, []any{JobRunning, true})
	a.say(t, "the server says\n")
	want(t, must(j.Watch(t.Context(), "held", JobCondition{Bound: time.Minute}))(t).Line, "the server says")
	info = must(j.Stop(t.Context(), "held"))(t)
	want(t, []any{info.State, info.Exited, info.Code, info.Words()}, []any{JobEnded, true, 0, "ended (the command had exit code 0)"})

	b, io := newActor()
	c := crowd{b}
	c.set(2)
	must(j.Add(JobSpec{ID: "crowd"}, c, io))(t)
	b.exit(0)
	ok(t, b.out.Close())
	info = exited(t, j, "crowd")
	want(t, []any{info.State, info.Exited, info.Left}, []any{JobRunning, true, 2})
	c.set(0)
	sight := must(j.Watch(t.Context(), "crowd", JobCondition{Bound: time.Minute}))(t)
	want(t, []any{sight.State, sight.Left, sight.Seen, sight.Words()}, []any{JobEnded, 0, false, "ended with exit code 0"})
}

func TestSessions(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{})
	mine, theirs := j.For("mine"), j.For("theirs")
	a, io := newActor()
	must(mine.Add(JobSpec{ID: "a"}, a, io))(t)
	b, io := newActor()
	must(j.Add(JobSpec{ID: "b", Session: "theirs"}, b, io))(t)
	if _, err := mine.Add(JobSpec{ID: "x", Session: "theirs"}, b, io); err == nil {
		t.Error("a job was added to another session")
	}
	check := func() {
		t.Helper()
		ids := func(list []JobInfo) (out []string) {
			for _, i := range list {
				out = append(out, i.ID)
			}
			return out
		}
		want(t, ids(j.List("")), []string{"a", "b"})
		want(t, ids(j.List("mine")), []string{"a"})
		want(t, ids(mine.List("")), []string{"a"})
		want(t, len(mine.List("theirs")), 0)
		want(t, len(mine.For("theirs").List("")), 0)
		want(t, len(mine.For("").List("")), 0)
		if _, found := mine.Get("b"); found {
			t.Error("another session's job was shown")
		}
		ctx := t.Context()
		_, err1 := mine.Output("b", 0, 0)
		_, err2 := mine.Wait(ctx, "b", 0)
		_, err3 := mine.Watch(ctx, "b", JobCondition{})
		_, err4 := mine.Stop(ctx, "b")
		for i, err := range []error{err1, err2, err3, err4, mine.Write(ctx, "b", nil, false), mine.Signal(ctx, "b", "TERM")} {
			if !errors.Is(err, ErrNoJob) {
				t.Errorf("%d: %v", i, err)
			}
		}
	}
	check()
	ok(t, mine.EndSession(t.Context(), "theirs")) // not its own: nothing
	ok(t, j.EndSession(t.Context(), "nobody"))
	if closed(a.done) || closed(b.done) {
		t.Fatal("a job was ended by another session")
	}
	ok(t, theirs.Close())
	if closed(a.done) || !closed(b.done) {
		t.Fatal("closing a view did not end just its own")
	}
	check() // the same when the ledger answers
	ok(t, j.EndSession(t.Context(), "mine"))
	want(t, closed(a.done), true)
}

func TestAddRefused(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{Max: 2})
	add := func(s JobSpec) error {
		a, io := newActor()
		_, err := j.Add(s, a, io)
		if err != nil && closed(a.done) {
			t.Error("a job that was refused was ended")
		}
		return err
	}
	for _, id := range []string{"..", "a/b", `a\b`, "-a", ".a", "a.b", "nul", "COM1", "ä", "a b", "a\x00", strings.Repeat("a", 65)} {
		if err := add(JobSpec{ID: id}); err == nil {
			t.Errorf("id %q was taken", id)
		}
		if _, err := j.Output(id, 0, 0); !errors.Is(err, ErrNoJob) {
			t.Errorf("id %q: %v", id, err)
		}
	}
	if err := add(JobSpec{Session: strings.Repeat("s", 257)}); err == nil {
		t.Error("a long session was taken")
	}
	ok(t, add(JobSpec{ID: "a"}))
	if err := add(JobSpec{ID: "a"}); err == nil {
		t.Error("an id was taken twice")
	}
	ok(t, add(JobSpec{Command: strings.Repeat("€", 4000), Title: strings.Repeat("x", 1000)}))
	made := j.List("")[1]
	if !regexp.MustCompile(`^job_[a-z2-7]{8}$`).MatchString(made.ID) || len(made.Command) > mostCommand || len(made.Title) > mostTitle {
		t.Errorf("%+v", made)
	}
	if err := add(JobSpec{}); !errors.Is(err, ErrFull) {
		t.Errorf("a third of two: %v", err)
	}
	_ = must(j.Stop(t.Context(), "a"))(t)
	ok(t, add(JobSpec{}))
	ok(t, j.Close())
	if err := add(JobSpec{}); err == nil {
		t.Error("a job was added after Close")
	}
	if _, err := NewJobs(JobsOptions{Dir: "jobs"}); err == nil {
		t.Error("a relative folder was taken")
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{})
	a, io := newActor()
	must(j.Add(JobSpec{ID: "w"}, a, io))(t)
	go func() { // in pieces, so that what is watched for is cut
		for _, s := range []string{"starting\nno", "ise\nserver lis", "tening on :80", "80 now\nmore\n"} {
			_, _ = a.out.Write([]byte(s))
		}
	}()
	ctx := t.Context()
	s := must(j.Watch(ctx, "w", JobCondition{Text: "listening on", Bound: time.Minute}))(t)
	want(t, []any{s.Seen, s.At}, []any{true, int64(22)})
	if !strings.HasPrefix(s.Line, "server listening on") {
		t.Errorf("line %q", s.Line)
	}
	s = must(j.Watch(ctx, "w", JobCondition{Text: ":8080 now\n", Bound: time.Minute}))(t)
	want(t, []any{s.Seen, s.At}, []any{true, int64(35)})
	s = must(j.Watch(ctx, "w", JobCondition{Text: "more\n", Offset: -5, Bound: time.Minute}))(t)
	want(t, []any{s.Seen, s.At}, []any{true, s.Next - 5})
	s = must(j.Watch(ctx, "w", JobCondition{Text: "starting", Offset: 1}))(t)
	want(t, s.Seen, false)
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := j.Watch(done, "w", JobCondition{Text: "never", Bound: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	go a.End(0)
	s = must(j.Watch(ctx, "w", JobCondition{Text: "never", Bound: time.Hour}))(t)
	want(t, []any{s.Seen, s.State}, []any{false, JobEnded})
}

// TestSearch: wherever output is cut into chunks, the first of what is
// searched for is found where it is.
func TestSearch(t *testing.T) {
	t.Parallel()
	const all = "one\ntwo lis list listening on :80\nlistening on :81\n"
	for _, w := range []JobCondition{
		{Text: "listening"},
		{Text: "\nlis"},
		{Text: ":81\n"},
		{},
		{Text: "nowhere"},
	} {
		whole := search{JobCondition: w}
		whole.take(JobOutput{Data: []byte(all), Next: int64(len(all))})
		for i := range len(all) {
			for k := i; k <= len(all); k++ {
				s := search{JobCondition: w}
				for _, cut := range [][2]int{{0, i}, {i, k}, {k, len(all)}} {
					if !s.seen {
						s.take(JobOutput{Data: []byte(all[cut[0]:cut[1]]), Offset: int64(cut[0]), Next: int64(cut[1])})
					}
				}
				if s.seen != whole.seen || s.at != whole.at {
					t.Fatalf("%+v cut at %d and %d: %v at %d, want %v at %d", w, i, k, s.seen, s.at, whole.seen, whole.at)
				}
			}
		}
	}
	// What is no longer kept joins nothing.
	s := search{JobCondition: JobCondition{Text: "ab"}}
	s.take(JobOutput{Data: []byte("a"), Next: 1})
	s.take(JobOutput{Data: []byte("b"), Offset: 9, Next: 10, Skipped: 8})
	want(t, s.seen, false)
}

// TestBounds: nothing waits longer than it was told to.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := newJobs(t, JobsOptions{Dir: dir})
		a, io := newActor()
		must(j.Add(JobSpec{ID: "b"}, a, io))(t)
		begin := time.Now()
		info := must(j.Wait(t.Context(), "b", 20*time.Second))(t)
		want(t, []any{time.Since(begin), info.State}, []any{20 * time.Second, JobRunning})
		begin = time.Now()
		s := must(j.Watch(t.Context(), "b", JobCondition{Text: "x", Bound: time.Minute}))(t)
		want(t, []any{time.Since(begin), s.Seen}, []any{time.Minute, false})
		begin = time.Now()
		if err := j.Write(t.Context(), "b", []byte("unread"), false); err == nil || !strings.Contains(err.Error(), "does not read") {
			t.Error(err)
		}
		want(t, time.Since(begin), inputTime)
		if err := j.Write(t.Context(), "b", []byte("unread"), false); err == nil || !strings.Contains(err.Error(), "earlier") {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := j.Wait(ctx, "b", time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		// The writer that still waits is freed by the end.
		want(t, must(j.Stop(t.Context(), "b"))(t).State, JobEnded)
	})
}

// TestNotices: output is told at once, then ten times a second at most, and
// the last notice is the end.
func TestNotices(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var got []JobInfo
		var at []time.Duration
		begin := time.Now()
		j := newJobs(t, JobsOptions{Dir: dir, OnChange: func(i JobInfo) { got, at = append(got, i), append(at, time.Since(begin)) }})
		a, io := newActor()
		must(j.Add(JobSpec{ID: "n"}, a, io))(t)
		synctest.Wait()
		for range 1000 {
			a.say(t, "x")
			time.Sleep(time.Millisecond)
		}
		a.exit(0)
		time.Sleep(time.Second)
		_ = a.out.Close()
		synctest.Wait()
		if len(got) < 12 || len(got) > 16 {
			t.Fatalf("%d notices of a second of output", len(got))
		}
		want(t, []any{got[0].Bytes, got[1].Bytes, at[1]}, []any{int64(0), int64(1), time.Duration(0)})
		exit, last := got[len(got)-2], got[len(got)-1]
		want(t, []any{exit.State, exit.Exited, last.State, last.Bytes}, []any{JobRunning, true, JobEnded, int64(1000)})
		want(t, at[len(at)-1], 2*time.Second)
	})
}

func TestInput(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{})
	a, io := newActor()
	info := must(j.Add(JobSpec{ID: "i"}, a, io))(t)
	want(t, info.Input, true)
	got := make(chan string)
	go func() {
		var all []byte
		buf := make([]byte, 4)
		for {
			n, err := a.in.Read(buf)
			all = append(all, buf[:n]...)
			if err != nil {
				got <- string(all)
				return
			}
		}
	}()
	ok(t, j.Write(t.Context(), "i", []byte("one two "), false))
	ok(t, j.Write(t.Context(), "i", []byte("three"), true))
	want(t, <-got, "one two three")
	if err := j.Write(t.Context(), "i", []byte("x"), false); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
	if err := j.Write(t.Context(), "i", make([]byte, mostInput+1), false); err == nil {
		t.Error("too much was taken")
	}
	want(t, j.List("")[0].Input, false)

	ok(t, j.Signal(t.Context(), "i", "SIGusr1"))
	want(t, a.signals, []string{"USR1"})
	for _, name := range []string{"", "SIG", "-9 ", "TERM;", "WINCH", strings.Repeat("A", 20)} {
		if err := j.Signal(t.Context(), "i", name); err == nil {
			t.Errorf("signal %q was sent", name)
		}
	}
	b, io := newActor()
	io.In = nil
	must(j.Add(JobSpec{ID: "none"}, b, io))(t)
	if err := j.Write(t.Context(), "none", []byte("x"), false); err == nil {
		t.Error("a job without input took some")
	}
}

// TestDeaf: a tree that cannot be ended is reported, and Close comes back.
func TestDeaf(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := must(NewJobs(JobsOptions{Dir: dir}))(t)
		a, io := newActor()
		must(j.Add(JobSpec{ID: "d"}, a, io))(t)
		a.deaf = errors.New("not allowed")
		info, err := j.Stop(t.Context(), "d")
		want(t, info.State, JobRunning)
		if !errors.Is(err, a.deaf) {
			t.Error(err)
		}
		if err := j.Close(); !errors.Is(err, a.deaf) {
			t.Error(err)
		}
		want(t, must(FindJob(dir, "d"))(t).State, JobLost)
	})
}

// TestDiskGone: output that cannot be kept does not stop the job, and its end
// is known though it cannot be written down.
func TestDiskGone(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{})
	a, io := newActor()
	must(j.Add(JobSpec{ID: "g"}, a, io))(t)
	j.mu.Lock()
	b := j.jobs["g"]
	j.mu.Unlock()
	a.say(t, "kept")
	must(j.Watch(t.Context(), "g", JobCondition{Text: "kept", Bound: time.Minute}))(t)
	b.ring.close()
	ok(t, os.RemoveAll(b.dir))
	a.say(t, "lost")
	a.say(t, "lost")
	a.exit(1)
	ok(t, a.out.Close())
	info := must(j.Wait(t.Context(), "g", time.Minute))(t)
	if info.State != JobEnded || info.Code != 1 || !strings.Contains(info.Problem, "after byte 4") {
		t.Errorf("%+v", info)
	}
	want(t, j.List(""), []JobInfo{info})
	if _, err := j.Output("g", 0, 0); err == nil {
		t.Error("output out of nothing")
	}
}

// TestMany: readers, waiters, writers and stoppers at once.
func TestMany(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{PerJob: leastQuota, OnChange: func(JobInfo) {}})
	var wg sync.WaitGroup
	for n := range 6 {
		a, io := newActor()
		id := must(j.Add(JobSpec{Session: fmt.Sprint("s", n%2)}, a, io))(t).ID
		wg.Go(func() { // what it reads it prints
			buf := make([]byte, 100)
			for {
				n, err := a.in.Read(buf)
				if err != nil {
					break
				}
				if _, err := a.out.Write(buf[:n]); err != nil {
					break
				}
			}
			a.exit(0)
			_ = a.out.Close()
		})
		wg.Go(func() {
			for i := range 200 {
				if err := j.Write(t.Context(), id, fmt.Appendf(nil, "line %d\n", i), i == 199); err != nil && n != 5 {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for at := int64(0); ; {
				s, err := j.Watch(t.Context(), id, JobCondition{Offset: at, Bound: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				if at = s.Next; s.State != JobRunning && !s.Seen {
					return
				}
			}
		})
		wg.Go(func() {
			if n == 5 {
				_, _ = j.Stop(t.Context(), id)
			}
			info, err := j.Wait(t.Context(), id, time.Minute)
			if err != nil || !info.Exited {
				t.Error(info, err)
			}
			j.List("s1")
		})
	}
	wg.Wait()
}
