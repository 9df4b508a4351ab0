package process

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestWaitForAll: a job is waited for until all of it has ended.
func TestWaitForAll(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := newJobs(t, JobsOptions{Dir: dir})
		a, io := newActor()
		c := crowd{a}
		c.set(1)
		must(j.Add(JobSpec{ID: "w"}, c, io))(t)
		a.exit(3)
		ok(t, a.out.Close())
		begin := time.Now()
		info := must(j.Wait(t.Context(), "w", time.Minute))(t)
		want(t, []any{time.Since(begin), info.State, info.Exited}, []any{time.Minute, JobRunning, true})
		go func() {
			time.Sleep(time.Minute)
			c.set(0)
		}()
		info = must(j.Wait(t.Context(), "w", time.Hour))(t)
		want(t, []any{info.State, info.Code, info.Words()}, []any{JobEnded, 3, "ended with exit code 3"})
	})
}

// TestEnded: what there is to do at the end is done once, however a job ends,
// and before anybody sees that it has.
func TestEnded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(j *Jobs, a *actor) error{
		"by itself": func(_ *Jobs, a *actor) error { a.exit(0); return a.out.Close() },
		"stop":      func(j *Jobs, _ *actor) error { _, err := j.Stop(context.Background(), "e"); return err },
		"session":   func(j *Jobs, _ *actor) error { return j.EndSession(context.Background(), "s") },
		"close":     func(j *Jobs, _ *actor) error { return j.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told, calls int
			var j *Jobs
			notices := make(chan JobInfo, 100)
			j = newJobs(t, JobsOptions{OnChange: func(i JobInfo) { notices <- i }})
			a, io := newActor()
			must(j.Add(JobSpec{ID: "e", Session: "s", Ended: func() {
				if info, _ := j.Get("e"); info.State != JobRunning {
					told++
				}
				calls++
			}}, a, io))(t)
			ok(t, end(j, a))
			info := must(j.Wait(t.Context(), "e", time.Minute))(t)
			want(t, []any{info.State, told, calls}, []any{JobEnded, 0, 1})
			for i := range notices {
				if i.State == JobEnded {
					break
				}
			}
		})
	}
}

// TestReserve: a place that is kept is taken by nobody else, and is used once.
func TestReserve(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{Max: 1})
	slot := must(j.Reserve())(t)
	a, io := newActor()
	if _, err := j.Add(JobSpec{}, a, io); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	if _, err := j.Reserve(); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	slot.Release()
	slot.Release()
	if _, err := slot.Add(JobSpec{}, a, io); err == nil {
		t.Fatal("a place was used that was given back")
	}
	slot = must(j.Reserve())(t)
	must(slot.Add(JobSpec{ID: "a"}, a, io))(t)
	slot.Release()
	if _, err := j.Reserve(); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	must(j.Stop(t.Context(), "a"))(t)
	slot = must(j.Reserve())(t)
	if _, err := slot.Add(JobSpec{ID: "a"}, a, io); err == nil { // the id is taken
		t.Fatal("an id was taken twice")
	}
	slot = must(j.Reserve())(t) // its place is free again
	slot.Release()
	// Room on the disk is looked for too.
	full := newJobs(t, JobsOptions{PerJob: leastQuota, Total: leastQuota})
	if _, err := full.Reserve(); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

// TestInfoJSON: there is no exit code before there was an exit, and what is
// written down can be read again.
func TestInfoJSON(t *testing.T) {
	for want, info := range map[string]JobInfo{
		`{"id":"a","command":"","state":"running","began":"0001-01-01T00:00:00Z","bytes":0}`:                        {ID: "a", State: JobRunning},
		`{"id":"a","command":"","state":"running","exited":true,"began":"0001-01-01T00:00:00Z","bytes":0,"code":0}`: {ID: "a", State: JobRunning, Exited: true},
		`{"id":"a","command":"","state":"ended","exited":true,"began":"0001-01-01T00:00:00Z","bytes":0,"code":7}`:   {ID: "a", State: JobEnded, Exited: true, Code: 7},
	} {
		got := must(json.Marshal(info))(t)
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
		e := ledgerEntry{Version: entryVersion, JobInfo: info, Start: "now", Owner: self()}
		again, err := parseEntry("a", must(json.Marshal(e))(t))
		if err != nil || again != e {
			t.Errorf("%v: %+v became %+v", err, e, again)
		}
	}
}
