package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestQuota: however many jobs there were, their files stay within the total,
// the ones that ended first make room, and running ones are left alone.
func TestQuota(t *testing.T) {
	t.Parallel()
	const per, total = leastQuota, 4 * (leastQuota + folderCost)
	j := newJobs(t, JobsOptions{PerJob: per, Total: total, Max: 100})
	run := func(id string) {
		a, io := newActor()
		io.Head = []byte(strings.Repeat(id+"\n", per/2))
		must(j.Add(JobSpec{ID: id}, a, io))(t)
		_ = a.End(0)
		must(j.Wait(t.Context(), id, time.Minute))(t)
	}
	a, io := newActor()
	must(j.Add(JobSpec{ID: "stays"}, a, io))(t)
	var ended []time.Time
	for i := range 8 {
		run(fmt.Sprint("j", i))
		ended = append(ended, time.Now())
		waitMilli(ended[i])
	}
	var ids []string
	for _, i := range j.List("") {
		ids = append(ids, i.ID)
	}
	want(t, ids, []string{"stays", "j5", "j6", "j7"})
	var used int64
	ok(t, filepath.WalkDir(j.opt.Dir, func(path string, d os.DirEntry, err error) error {
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			used += info.Size()
		}
		return err
	}))
	if used > total {
		t.Errorf("%d bytes are used, %d are the most", used, total)
	}
	c := must(j.Output("j7", 0, 10))(t)
	want(t, string(c.Data), "j7\nj7\nj7\nj")

	// Running jobs have room for what they may come to; one that finds none
	// is refused.
	for i := range 3 {
		a, io := newActor()
		must(j.Add(JobSpec{ID: fmt.Sprint("r", i)}, a, io))(t)
	}
	b, io := newActor()
	if _, err := j.Add(JobSpec{}, b, io); !errors.Is(err, ErrFull) {
		t.Errorf("one more: %v", err)
	}
	want(t, len(j.List("")), 4)
}

// waitMilli returns when the clock shows another millisecond.
func waitMilli(since time.Time) {
	for stamp(time.Now()).Equal(stamp(since)) {
		time.Sleep(100 * time.Microsecond)
	}
}

// TestKeep: jobs that ended long ago are removed, others are not.
func TestKeep(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Now()
	j := newJobs(t, JobsOptions{Keep: time.Hour, Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	for _, id := range []string{"old", "new"} {
		a, io := newActor()
		must(j.Add(JobSpec{ID: id}, a, io))(t)
		_ = a.End(0)
		must(j.Wait(t.Context(), id, time.Minute))(t)
		mu.Lock()
		now = now.Add(40 * time.Minute)
		mu.Unlock()
	}
	a, io := newActor()
	must(j.Add(JobSpec{ID: "runs", Began: now.Add(-48 * time.Hour)}, a, io))(t)
	ok(t, j.Sweep())
	var ids []string
	for _, i := range j.List("") {
		ids = append(ids, i.ID)
	}
	want(t, ids, []string{"runs", "new"})
	if _, err := j.Output("old", 0, 0); !errors.Is(err, ErrNoJob) {
		t.Error(err)
	}
}
