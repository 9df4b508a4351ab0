package process

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// put writes an entry as some other runtime would have.
func put(t tb, dir, id string, change func(*ledgerEntry)) {
	t.Helper()
	e := ledgerEntry{Version: entryVersion, JobInfo: JobInfo{ID: id, State: JobRunning, Began: stamp(time.Unix(1e9, 0))}, Owner: self()}
	e.Owner.PID, e.Owner.Start = 1<<22+1, "1" // no such process
	change(&e)
	folder := filepath.Join(dir, id)
	ok(t, os.MkdirAll(folder, 0o700))
	ok(t, writeEntry(folder, e))
}

// TestDamaged: whatever is found in the folder, the list is given.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "fine", func(e *ledgerEntry) { e.State = JobEnded })
	for id, data := range map[string]string{
		"empty":   "",
		"text":    "hello",
		"null":    "null",
		"array":   "[1]",
		"version": `{"version":2,"id":"version","state":"ended"}`,
		"other":   `{"version":1,"id":"fine","state":"ended"}`,
		"state":   `{"version":1,"id":"state","state":"gone"}`,
		"minus":   `{"version":1,"id":"minus","state":"running","pid":-1}`,
		"types":   `{"version":1,"id":"types","state":"running","pid":"1"}`,
		"time":    `{"version":1,"id":"time","state":"running","began":"yesterday"}`,
		"long":    `{"version":1,"id":"long","state":"running","command":"` + strings.Repeat("x", 5000) + `"}`,
		"huge":    `{"version":1,"id":"huge","state":"running","x":"` + strings.Repeat("x", 1<<20) + `"}`,
		"deep":    strings.Repeat("[", 100000),
	} {
		ok(t, os.Mkdir(filepath.Join(dir, id), 0o700))
		ok(t, os.WriteFile(filepath.Join(dir, id, entryName), []byte(data), 0o600))
	}
	ok(t, os.Mkdir(filepath.Join(dir, "none"), 0o700))
	ok(t, os.MkdirAll(filepath.Join(dir, "folder", entryName), 0o700))
	ok(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	ok(t, os.Mkdir(filepath.Join(dir, ".hidden"), 0o700))
	list := must(ListJobs(dir))(t)
	want(t, len(list), 1+13+2)
	for _, i := range list {
		if i.ID == "fine" {
			want(t, i.State, JobEnded)
		} else if i.State != JobDamaged || i.Problem == "" || len(i.Problem) > mostCommand {
			t.Errorf("%+v", i)
		}
	}
	for _, id := range []string{"file", "..", "fine/../fine", ""} {
		if _, err := FindJob(dir, id); !errors.Is(err, ErrNoJob) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := outputOf(dir, "text"); err == nil {
		t.Error("output of a damaged job")
	}
	if err := SendToJob(t.Context(), dir, "text", JobRequest{Op: OpStop}); err == nil {
		t.Error("a damaged job was stopped")
	}
	// They are swept like others when they are old, and not before.
	j := newJobs(t, JobsOptions{Dir: dir, Keep: time.Hour})
	ok(t, j.Sweep())
	want(t, len(j.List("")), 15) // fine ended long ago
	j.opt.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	ok(t, j.Sweep())
	want(t, len(j.List("")), 0)
	if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
		t.Error("what is not ours was removed")
	}
}

// TestPresence: a job is lost only where its runtime is certain to be gone.
func TestPresence(t *testing.T) {
	dir := t.TempDir()
	me := self()
	mine, known := startOf(os.Getpid())
	if !known {
		t.Skip("start times are not known here")
	}
	for _, c := range []struct {
		id     string
		change func(*ledgerEntry)
		state  JobState
		orphan bool
	}{
		{"here", func(e *ledgerEntry) { e.Owner = me }, JobRunning, false},
		{"reused", func(e *ledgerEntry) { e.Owner = me; e.Owner.Start = "7" }, JobLost, false},
		{"booted", func(e *ledgerEntry) { e.Owner = me; e.Owner.Boot = "before" }, JobLost, false},
		{"machine", func(e *ledgerEntry) { e.Owner.Host = "another" }, JobRunning, false},
		{"container", func(e *ledgerEntry) { e.Owner.Space = "pid:[1]" }, JobRunning, false},
		{"unknown", func(e *ledgerEntry) { e.Owner.Start = "" }, JobRunning, false},
		{"gone", func(e *ledgerEntry) {}, JobLost, false},
		{"orphan", func(e *ledgerEntry) { e.PID, e.Start = os.Getpid(), mine }, JobRunning, true},
		{"stranger", func(e *ledgerEntry) { e.PID, e.Start = os.Getpid(), "7" }, JobLost, false},
		{"nobody", func(e *ledgerEntry) { e.PID, e.Start = os.Getpid(), "" }, JobLost, false},
		{"ended", func(e *ledgerEntry) { e.State = JobEnded }, JobEnded, false},
	} {
		put(t, dir, c.id, c.change)
		info := must(FindJob(dir, c.id))(t)
		if info.State != c.state || info.Orphan != c.orphan || (c.state == JobLost) != strings.Contains(info.Problem, "so is its process") {
			t.Errorf("%s: %+v", c.id, info)
		}
	}
	// This process is part of the orphan, so that one is not ended.
	if _, err := StopForeignJob(t.Context(), dir, "orphan"); err == nil {
		t.Error("the orphan was stopped")
	}
	if err := SendToJob(t.Context(), dir, "orphan", JobRequest{Op: OpSignal, Signal: "TERM"}); !errors.Is(err, errOrphan) {
		t.Error(err)
	}
}

// FuzzEntry: no entry makes the reader fail badly, and what it accepts it can
// write and read again.
func FuzzEntry(f *testing.F) {
	e := ledgerEntry{Version: entryVersion, JobInfo: JobInfo{ID: "a", State: JobRunning, Command: "make", PID: 7}, Start: "9", Owner: self()}
	good, err := json.Marshal(e)
	ok(f, err)
	f.Add(good)
	f.Add([]byte(`{"version":1,"id":"a","state":"ended","began":"9999-12-31T23:59:59Z","problem":"\u0000"}`))
	f.Add([]byte(`{"version":1,"id":"a","state":"lost","ID":"b","quota":1099511627777}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parseEntry("a", data)
		if err != nil {
			return
		}
		if e.ID != "a" || len(e.Command) > mostCommand || e.PID < 0 || e.Bytes < 0 || e.Orphan {
			t.Fatalf("%+v", e)
		}
		again, err := json.Marshal(e)
		ok(t, err)
		same, err := parseEntry("a", again)
		ok(t, err)
		same.Began, same.Ended = e.Began, e.Ended // may be of another zone
		want(t, same, e)
	})
}

// outputOf is what a job of a folder printed, as [Jobs.Output] tells it.
func outputOf(dir, id string) (JobOutput, error) {
	info, err := FindJob(dir, id)
	if err != nil {
		return JobOutput{}, err
	}
	return readOutput(dir, info, 0, 0)
}
