//go:build unix

package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A startedCommand is a real process in a group of its own.
type startedCommand struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func launch(script string) (*startedCommand, JobStreams, error) {
	c := &startedCommand{cmd: exec.Command("sh", "-c", script), done: make(chan struct{})}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, JobStreams{}, err
	}
	defer in.Close()
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, JobStreams{}, err
	}
	defer out.Close()
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = in, out, out
	if err := c.cmd.Start(); err != nil {
		return nil, JobStreams{}, err
	}
	go func() {
		_ = c.cmd.Wait()
		close(c.done)
	}()
	return c, JobStreams{Out: stdout, In: stdin}, nil
}

func (c *startedCommand) Done() <-chan struct{} { return c.done }

func (c *startedCommand) Status() (int, string) {
	if s := c.cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return -1, strings.TrimPrefix(unix.SignalName(s.Signal()), "SIG")
	}
	return c.cmd.ProcessState.ExitCode(), ""
}

func (c *startedCommand) Signal(name string) error {
	sig := unix.SignalNum("SIG" + name)
	if sig == 0 {
		return fmt.Errorf("no signal %s", name)
	}
	return unix.Kill(-c.cmd.Process.Pid, sig)
}

// Left counts the group; a process that nobody waited for is none.
func (c *startedCommand) Left() (n int) {
	for _, p := range listProcesses() {
		if p.group == c.cmd.Process.Pid {
			n++
		}
	}
	return n
}

func (c *startedCommand) End(grace time.Duration) error {
	_ = c.Signal("TERM")
	for until := time.Now().Add(grace); c.Left() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			_ = c.Signal("KILL")
		}
	}
	<-c.done
	return nil
}

func start(t tb, j *Jobs, s JobSpec) JobInfo {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Fatalf("the process table is not read here")
	}
	c, io, err := launch(s.Command)
	ok(t, err)
	s.PID = c.cmd.Process.Pid
	return must(j.Add(s, c, io))(t)
}

// role is what the test binary does as another process.
func role(name, dir string) error {
	j, err := NewJobs(JobsOptions{Dir: dir, Grace: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	switch name {
	case "own": // runs the scripts that come in, one a line, until that ends
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			c, io, err := launch(in.Text())
			if err != nil {
				return err
			}
			info, err := j.Add(JobSpec{Session: "theirs", Command: in.Text(), PID: c.cmd.Process.Pid}, c, io)
			if err != nil {
				return err
			}
			fmt.Println(info.ID, info.PID)
		}
		return j.Close()
	case "crowd":
		return crowdMember(dir)
	case "sweep":
		return j.Sweep()
	}
	return fmt.Errorf("no role %q", name)
}

// An other is a process that runs jobs.
type other struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func newOther(t *testing.T, name, dir string) *other {
	t.Helper()
	cmd := exec.Command(must(os.Executable())(t))
	cmd.Env = append(os.Environ(), roleEnv+"="+name, "HELVE_JOB_DIR="+dir)
	cmd.Stderr = os.Stderr
	o := &other{cmd: cmd, in: must(cmd.StdinPipe())(t)}
	o.out = bufio.NewScanner(must(cmd.StdoutPipe())(t))
	ok(t, cmd.Start())
	t.Cleanup(func() {
		_ = o.in.Close()
		_ = cmd.Wait()
	})
	return o
}

func (o *other) run(t *testing.T, script string) (id string, pid int) {
	t.Helper()
	_, err := fmt.Fprintln(o.in, script)
	ok(t, err)
	if !o.out.Scan() {
		t.Fatal("the other process is gone")
	}
	_, err = fmt.Sscan(o.out.Text(), &id, &pid)
	ok(t, err)
	return id, pid
}

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the process table is read on Linux only")
	}
}

func TestProcess(t *testing.T) {
	onLinux(t)
	j := newJobs(t, JobsOptions{})
	ctx := t.Context()
	start(t, j, JobSpec{ID: "fails", Command: "echo out; echo err >&2; exit 7"})
	info := must(j.Wait(ctx, "fails", time.Minute))(t)
	want(t, []any{info.State, info.Code, textOf(t, j, "fails")}, []any{JobEnded, 7, "out\nerr\n"})

	start(t, j, JobSpec{ID: "echo", Command: `while read l; do echo "got $l"; done; echo end`})
	ok(t, j.Write(ctx, "echo", []byte("hello\n"), false))
	want(t, must(j.Watch(ctx, "echo", JobCondition{Text: "got", Bound: time.Minute}))(t).Line, "got hello")
	ok(t, j.Write(ctx, "echo", []byte("x\n"), true))
	info = must(j.Wait(ctx, "echo", time.Minute))(t)
	want(t, []any{info.State, textOf(t, j, "echo")}, []any{JobEnded, "got hello\ngot x\nend\n"})

	start(t, j, JobSpec{ID: "trap", Command: `trap 'echo seen' USR1; trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done`})
	must(j.Watch(ctx, "trap", JobCondition{Text: "ready", Bound: time.Minute}))(t)
	ok(t, j.Signal(ctx, "trap", "USR1"))
	want(t, must(j.Watch(ctx, "trap", JobCondition{Text: "seen", Bound: time.Minute}))(t).Seen, true)
	info = must(j.Stop(ctx, "trap"))(t)
	want(t, []any{info.State, info.Code}, []any{JobEnded, 3})

	start(t, j, JobSpec{ID: "deaf", Command: `trap '' TERM; echo ready; while :; do sleep 1; done`})
	must(j.Watch(ctx, "deaf", JobCondition{Text: "ready", Bound: time.Minute}))(t)
	info = must(j.Stop(ctx, "deaf"))(t)
	want(t, []any{info.State, info.Signal}, []any{JobEnded, "KILL"})

	// A server that outlives its shell, its pipe held or not.
	start(t, j, JobSpec{ID: "server", Command: `(sleep 1000 & echo $!); sleep 1000 >/dev/null 2>&1 & exit 0`})
	info = exited(t, j, "server")
	want(t, []any{info.State, info.Exited, info.Left}, []any{JobRunning, true, 2})
	info = must(j.Stop(ctx, "server"))(t)
	want(t, []any{info.State, info.Left}, []any{JobEnded, 0})
	pid := must(strconv.Atoi(strings.TrimSpace(textOf(t, j, "server"))))(t)
	if _, alive := look(pid); alive {
		t.Error("the server lives")
	}
}

// TestShort: a command that fails at once loses nothing.
func TestShort(t *testing.T) {
	onLinux(t)
	j := newJobs(t, JobsOptions{PerJob: leastQuota})
	for range 40 {
		id := start(t, j, JobSpec{Command: "echo gone wrong >&2; exit 1"}).ID
		info := must(j.Wait(t.Context(), id, time.Minute))(t)
		want(t, []any{info.State, info.Code, textOf(t, j, id)}, []any{JobEnded, 1, "gone wrong\n"})
	}
}

// TestFlood: a command that prints without end is never held back, and its
// file, its descriptors and the memory for it stay within their bounds.
func TestFlood(t *testing.T) {
	onLinux(t)
	j := newJobs(t, JobsOptions{PerJob: 4 << 20})
	before := descriptors(t)
	const size = 200_000_000
	start(t, j, JobSpec{ID: "flood", Command: fmt.Sprintf("yes | head -c %d; echo; echo last", size)})
	var most, m runtime.MemStats
	runtime.ReadMemStats(&most)
	base := most.TotalAlloc
	info := must(j.Wait(t.Context(), "flood", 10*time.Minute))(t)
	runtime.ReadMemStats(&m)
	want(t, []any{info.State, info.Code, info.Bytes}, []any{JobEnded, 0, int64(size + 6)})
	if n := m.TotalAlloc - base; n > 8<<20 {
		t.Errorf("%d bytes were allocated for %d of output", n, size)
	}
	if s := must(os.Stat(filepath.Join(j.opt.Dir, "flood", ringName)))(t); s.Size() > 4<<20 {
		t.Errorf("file of %d bytes", s.Size())
	}
	head := must(j.Output("flood", 0, 1000))(t)
	want(t, string(head.Data), strings.Repeat("y\n", 500))
	middle := must(j.Output("flood", size/2, 1000))(t)
	if !bytes.Equal(middle.Data, bytes.Repeat([]byte("y\n"), 500)) || middle.Skipped != middle.Offset-size/2 || middle.Offset < size-4<<20 {
		t.Errorf("%d skipped, at %d", middle.Skipped, middle.Offset)
	}
	tail := must(j.Output("flood", -8, 100))(t)
	want(t, []any{string(tail.Data), tail.Done}, []any{"y\n\nlast\n", true})
	want(t, descriptors(t), before)
}

func descriptors(t tb) int {
	t.Helper()
	return len(must(os.ReadDir("/proc/self/fd"))(t))
}

// TestOther: jobs of another process are listed, read, fed, signalled and
// stopped, by functions and by the methods alike.
func TestOther(t *testing.T) {
	onLinux(t)
	dir := filepath.Join(t.TempDir(), "jobs")
	o := newOther(t, "own", dir)
	id, pid := o.run(t, `trap 'echo usr' USR1; echo ready; while read l; do echo "got $l"; done; exit 5`)
	j := newJobs(t, JobsOptions{Dir: dir})
	ctx := t.Context()
	list := j.List("theirs")
	want(t, len(list), 1)
	want(t, []any{list[0].ID, list[0].PID, list[0].State, list[0].Runtime, list[0].Input}, []any{id, pid, JobRunning, o.cmd.Process.Pid, true})
	want(t, must(j.Watch(ctx, id, JobCondition{Text: "ready", Bound: time.Minute}))(t).Seen, true)
	want(t, string(must(outputOf(dir, id))(t).Data), "ready\n")
	ok(t, j.Write(ctx, id, []byte("a\nb\n"), false))
	want(t, must(j.Watch(ctx, id, JobCondition{Text: "got b\n", Bound: time.Minute}))(t).At, int64(12))
	if _, err := j.For("mine").Stop(ctx, id); !errors.Is(err, ErrNoJob) {
		t.Errorf("another session stopped it: %v", err)
	}
	if err := j.Signal(ctx, id, "NONE"); err == nil || !strings.Contains(err.Error(), "no signal NONE") {
		t.Errorf("what went wrong there is not told here: %v", err)
	}
	if err := SendToJob(ctx, dir, id, JobRequest{Op: "dance"}); err == nil {
		t.Error("an unknown request was done")
	}
	want(t, must(j.Wait(ctx, id, 10*time.Millisecond))(t).State, JobRunning)
	ok(t, j.Write(ctx, id, nil, true))
	info := must(j.Wait(ctx, id, time.Minute))(t)
	want(t, []any{info.State, info.Code}, []any{JobEnded, 5})
	if err := j.Signal(ctx, id, "TERM"); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}

	id, pid = o.run(t, "sleep 1000")
	info = must(j.Stop(ctx, id))(t)
	want(t, []any{info.State, info.Signal}, []any{JobEnded, "TERM"})
	if _, alive := look(pid); alive {
		t.Error("the process lives")
	}
	left := must(os.ReadDir(filepath.Join(dir, id, askName)))(t)
	want(t, len(left), 0)

	// An orderly end of the other process ends its jobs.
	id, pid = o.run(t, "sleep 1000")
	ok(t, o.in.Close())
	ok(t, o.cmd.Wait())
	want(t, must(FindJob(dir, id))(t).State, JobEnded)
	if _, alive := look(pid); alive {
		t.Error("the process lives")
	}
}

// TestKilled: after kill -9 of a runtime, what it left is shown as it is, the
// next one ends it and keeps its output; nothing else is touched.
func TestKilled(t *testing.T) {
	onLinux(t)
	dir := filepath.Join(t.TempDir(), "jobs")
	o := newOther(t, "own", dir)
	orphan, pid := o.run(t, `trap '' TERM HUP PIPE; echo here; sleep 1000 & setsid sleep 1000 & while :; do sleep 0.05; done`)
	second, pid2 := o.run(t, "echo two; exec sleep 1000")
	short, _ := o.run(t, "echo short")
	for _, id := range []string{orphan, second, short} {
		await(t, "output of "+id, func() bool { c, err := outputOf(dir, id); return err == nil && c.Total > 0 })
	}
	await(t, "two sleeps", func() bool { return len(family(pid)) >= 3 })
	await(t, "the short one", func() bool { i, err := FindJob(dir, short); return err == nil && i.State == JobEnded })
	tree := family(pid)
	ok(t, o.cmd.Process.Kill())
	_ = o.cmd.Wait()
	ok(t, unix.Kill(pid2, unix.SIGKILL))
	await(t, "the end of the second", func() bool { _, alive := look(pid2); return !alive })

	info := must(FindJob(dir, orphan))(t)
	want(t, []any{info.State, info.Orphan}, []any{JobRunning, true})
	info = must(FindJob(dir, second))(t)
	want(t, []any{info.State, info.Orphan}, []any{JobLost, false})
	want(t, must(FindJob(dir, short))(t).State, JobEnded)
	if err := SendToJob(t.Context(), dir, orphan, JobRequest{Op: OpSignal, Signal: "USR1"}); !errors.Is(err, errOrphan) {
		t.Error(err)
	}
	if err := SendToJob(t.Context(), dir, second, JobRequest{Op: OpStop}); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}

	// An entry that names a process of another start time is of the past.
	stranger := exec.Command("sleep", "1000")
	ok(t, stranger.Start())
	put(t, dir, "reused", func(e *ledgerEntry) { e.PID, e.Start = stranger.Process.Pid, "12345" })

	ok(t, newOther(t, "sweep", dir).cmd.Wait())
	for id, problem := range map[string]string{orphan: "were ended", second: "so is its process", "reused": "so is its process"} {
		e := must(readLedgerEntry(dir, id))(t)
		if e.State != JobLost || !strings.Contains(e.Problem, problem) || e.Ended.IsZero() {
			t.Errorf("%s: %+v", id, e)
		}
	}
	for _, p := range tree {
		if now, alive := look(p.pid); alive && now.start == p.start {
			t.Errorf("process %d lives", p.pid)
		}
	}
	if _, alive := look(stranger.Process.Pid); !alive {
		t.Error("a process that got an old number was ended")
	}
	ok(t, stranger.Process.Kill())
	_ = stranger.Wait()
	c := must(outputOf(dir, orphan))(t)
	want(t, []any{string(c.Data), c.Done}, []any{"here\n", true})
}

// TestStopOrphan: what a killed runtime left can be stopped from elsewhere.
func TestStopOrphan(t *testing.T) {
	onLinux(t)
	dir := filepath.Join(t.TempDir(), "jobs")
	o := newOther(t, "own", dir)
	id, pid := o.run(t, "exec sleep 1000")
	ok(t, o.cmd.Process.Kill())
	_ = o.cmd.Wait()
	info := must(StopForeignJob(t.Context(), dir, id))(t)
	want(t, []any{info.State, info.Problem}, []any{JobLost, "the runtime that ran it is gone; its processes were ended"})
	if _, alive := look(pid); alive {
		t.Error("the process lives")
	}
	want(t, must(StopForeignJob(t.Context(), dir, id))(t).State, JobLost)
}

// TestStranger: a number that is counted elsewhere names nobody here, so that
// no sweep can end the process that has it.
func TestStranger(t *testing.T) {
	onLinux(t)
	j := newJobs(t, JobsOptions{})
	child := start(t, j, JobSpec{Command: "sleep 1000"})
	e := must(readLedgerEntry(j.opt.Dir, child.ID))(t)
	want(t, e.Start != "" && e.isRunning(self()), true)
	for _, pid := range []int{1, os.Getppid(), os.Getpid()} {
		a, io := newActor()
		info := must(j.Add(JobSpec{PID: pid}, a, io))(t)
		e := must(readLedgerEntry(j.opt.Dir, info.ID))(t)
		want(t, []any{e.PID, e.Start, e.isRunning(self())}, []any{pid, "", false})
	}
}

// TestGather: what belongs to a tree is found by parent, group and session,
// and a number that went to another process is dropped.
func TestGather(t *testing.T) {
	known := map[int]process{
		10: {pid: 10, parent: 1, group: 10, session: 10, start: "5"},
		20: {pid: 20, start: "5"},
		30: {pid: 30, start: "5"},
	}
	updateTree(known, []process{
		{pid: 1, group: 10, session: 10, start: "0"}, // the first process is in no tree
		{pid: 2, start: "1"},
		{pid: 13, parent: 12, group: 13, session: 13, start: "6"}, // before its parent in the table
		{pid: 10, parent: 1, group: 10, session: 10, start: "5"},
		{pid: 11, parent: 1, group: 10, session: 10, start: "6"}, // orphan in the group
		{pid: 12, parent: 10, group: 12, session: 12, start: "6"},
		{pid: 14, parent: 1, group: 14, session: 10, start: "6"}, // orphan in the session
		{pid: 20, start: "6"},                                    // another by now
		{pid: 21, parent: 20, start: "7"},
		{pid: 40, parent: 2, group: 2, session: 2, start: "7"},
	})
	want(t, slices.Sorted(maps.Keys(known)), []int{10, 11, 12, 13, 14})
}

// TestEndTree: a process that has the number, but not the start time, is left
// alone, and so is one of which that is not known.
func TestEndTree(t *testing.T) {
	onLinux(t)
	c := exec.Command("sleep", "1000")
	ok(t, c.Start())
	pid := c.Process.Pid
	begin, found := startOf(pid)
	want(t, found, true)
	for _, other := range []string{"", "1", begin + "0"} {
		ok(t, endTree(t.Context(), pid, other))
		now, alive := startOf(pid)
		want(t, []any{now, alive}, []any{begin, true})
	}
	ended := make(chan error)
	go func() { ended <- c.Wait() }()
	ok(t, endTree(t.Context(), pid, begin))
	<-ended
	want(t, c.ProcessState.String(), "signal: terminated")
	ok(t, endTree(t.Context(), pid, begin))
}

// family is a process with its descendants.
func family(pid int) map[int]process {
	root, alive := look(pid)
	if !alive {
		return nil
	}
	known := map[int]process{pid: root}
	updateTree(known, listProcesses())
	return known
}
