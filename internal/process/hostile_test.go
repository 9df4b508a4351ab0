//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNotFiles: pipes, links and folders in the place of files are neither
// waited for nor followed.
func TestNotFiles(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	ok(t, os.WriteFile(secret, []byte(`{"version":1,"id":"link","state":"ended","command":"secret"}`), 0o600))
	for _, id := range []string{"pipe", "link", "outpipe", "outlink"} {
		put(t, dir, id, func(e *ledgerEntry) { e.State = JobEnded })
	}
	entryOf := func(id string) string { return filepath.Join(dir, id, entryName) }
	ok(t, os.Remove(entryOf("pipe")))
	ok(t, unix.Mkfifo(entryOf("pipe"), 0o600))
	ok(t, os.Remove(entryOf("link")))
	ok(t, os.Symlink(secret, entryOf("link")))
	ok(t, unix.Mkfifo(filepath.Join(dir, "outpipe", ringName), 0o600))
	ok(t, os.Symlink(secret, filepath.Join(dir, "outlink", ringName)))
	ok(t, os.Symlink(filepath.Join(dir, "outlink"), filepath.Join(dir, "folderlink")))
	for _, i := range must(ListJobs(dir))(t) {
		if damaged := i.ID == "pipe" || i.ID == "link"; (i.State == JobDamaged) != damaged || i.Command != "" {
			t.Errorf("%+v", i)
		}
		if _, err := outputOf(dir, i.ID); err == nil {
			t.Errorf("%s: output was read", i.ID)
		}
	}
	if _, err := FindJob(dir, "folderlink"); !errors.Is(err, ErrNoJob) {
		t.Error(err)
	}
	// Sweeping removes the links, not what they point to.
	j := newJobs(t, JobsOptions{Dir: dir})
	j.opt.Now = func() time.Time { return time.Now().Add(100 * time.Hour) }
	ok(t, j.Sweep())
	want(t, len(j.List("")), 0)
	if _, err := os.Stat(secret); err != nil {
		t.Error(err)
	}
}

// TestRequests: whatever lies among the requests, the job goes on and the
// good ones are done.
func TestRequests(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{})
	a, io := newActor()
	must(j.Add(JobSpec{ID: "r"}, a, io))(t)
	folder := filepath.Join(j.opt.Dir, "r", askName)
	ok(t, os.WriteFile(filepath.Join(folder, "1.ask"), []byte("{"), 0o600))
	ok(t, os.WriteFile(filepath.Join(folder, "2.ask"), make([]byte, mostAsk+1), 0o600))
	ok(t, unix.Mkfifo(filepath.Join(folder, "3.ask"), 0o600))
	ok(t, os.MkdirAll(filepath.Join(folder, "4.ask", "full"), 0o700))
	ok(t, os.Symlink("/dev/zero", filepath.Join(folder, "5.ask")))
	old := filepath.Join(folder, "6.done")
	ok(t, os.WriteFile(old, nil, 0o600))
	ok(t, os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)))
	dir := j.opt.Dir
	ok(t, SendToJob(t.Context(), dir, "r", JobRequest{Op: OpSignal, Signal: "INT"}))
	want(t, a.signals, []string{"INT"})
	await(t, "the end of an answer nobody came for", func() bool { _, err := os.Stat(old); return err != nil })
	for i := range mostAsks {
		ok(t, os.WriteFile(filepath.Join(folder, fmt.Sprint("x", i)), nil, 0o600))
	}
	if err := SendToJob(t.Context(), dir, "r", JobRequest{Op: OpStop}); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Error(err)
	}
	if err := SendToJob(t.Context(), dir, "r", JobRequest{Op: OpInput, Data: make([]byte, mostInput+1)}); err == nil {
		t.Error("too much was taken")
	}
}

// TestUnread: input that a job does not read keeps nobody from stopping it.
func TestUnread(t *testing.T) {
	t.Parallel()
	j := newJobs(t, JobsOptions{})
	a, io := newActor()
	must(j.Add(JobSpec{ID: "u"}, a, io))(t)
	sent := make(chan error)
	for range 3 {
		go func() { sent <- SendToJob(t.Context(), j.opt.Dir, "u", JobRequest{Op: OpInput, Data: []byte("x")}) }()
	}
	info := must(StopForeignJob(t.Context(), j.opt.Dir, "u"))(t)
	want(t, info.State, JobEnded)
	for range 3 {
		if err := <-sent; err == nil {
			t.Error("what nobody read was written")
		}
	}
}

// TestStopped: a runtime that lives and does not answer is said to.
func TestStopped(t *testing.T) {
	onLinux(t)
	dir := filepath.Join(t.TempDir(), "jobs")
	o := newOther(t, "own", dir)
	id, _ := o.run(t, "sleep 1000")
	ok(t, o.cmd.Process.Signal(unix.SIGSTOP))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := StopForeignJob(ctx, dir, id); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "did not answer") {
		t.Error(err)
	}
	want(t, len(must(os.ReadDir(filepath.Join(dir, id, askName)))(t)), 0)
	ok(t, o.cmd.Process.Signal(unix.SIGCONT))
	want(t, must(StopForeignJob(t.Context(), dir, id))(t).State, JobEnded)
}

// TestCrowd: processes that add jobs at once stay within the total together.
func TestCrowd(t *testing.T) {
	onLinux(t)
	dir := filepath.Join(t.TempDir(), "jobs")
	var others []*other
	for range 3 {
		others = append(others, newOther(t, "crowd", dir))
	}
	for _, o := range others {
		for o.out.Scan() {
			t.Log(o.out.Text())
		}
		ok(t, o.cmd.Wait())
	}
	var held int64
	list := must(ListJobs(dir))(t)
	for _, i := range list {
		want(t, i.State, JobEnded)
		held += i.Quota + folderCost
	}
	if len(list) == 0 || held > crowdTotal {
		t.Errorf("%d jobs hold %d bytes, %d are the most", len(list), held, crowdTotal)
	}
}

const crowdTotal = 3 * (leastQuota + folderCost)

// crowdMember adds jobs while others do. What it has may never be more than
// what all may have.
func crowdMember(dir string) error {
	j, err := NewJobs(JobsOptions{Dir: dir, PerJob: leastQuota, Total: crowdTotal})
	if err != nil {
		return err
	}
	for range 15 {
		a, io := newActor()
		io.Head = make([]byte, 2*leastQuota)
		info, err := j.Add(JobSpec{}, a, io)
		if errors.Is(err, ErrFull) {
			continue
		} else if err != nil {
			return err
		}
		var held int64
		for _, i := range j.List("") {
			held += i.Quota
		}
		if _, err := j.Stop(context.Background(), info.ID); err != nil {
			return err
		}
		if held > crowdTotal {
			return fmt.Errorf("%d bytes are held, %d are the most", held, crowdTotal)
		}
	}
	return j.Close()
}

func BenchmarkAdd(b *testing.B) {
	j := must(NewJobs(JobsOptions{Dir: filepath.Join(b.TempDir(), "jobs"), PerJob: leastQuota}))(b)
	defer j.Close()
	for b.Loop() {
		a, io := newActor()
		info := must(j.Add(JobSpec{Command: "make"}, a, io))(b)
		must(j.Stop(b.Context(), info.ID))(b)
	}
	b.ReportMetric(float64(len(j.List(""))), "kept")
}

func BenchmarkLedger(b *testing.B) {
	dir := b.TempDir()
	for i := range mostEntries {
		put(b, dir, fmt.Sprint("job", i), func(e *ledgerEntry) { e.State = JobEnded })
	}
	for b.Loop() {
		must(ListJobs(dir))(b)
	}
}
