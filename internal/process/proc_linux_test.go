package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestRun(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	runners(t, func(t *testing.T, r *Runner) {
		for _, c := range []struct {
			name, script, want string
			status             Status
		}{
			{"both streams in order", `for i in 1 2 3; do echo o$i; echo e$i >&2; done`, "o1\ne1\no2\ne2\no3\ne3\n", Status{}},
			{"code", `echo bye; exit 7`, "bye\n", Status{Code: 7}},
			{"signal", `kill -9 $$`, "", Status{Code: -1, Signal: syscall.SIGKILL}},
			{"no input", `read x; echo $?`, "1\n", Status{}},
			{"folder", `pwd`, dir + "\n", Status{}},
			{"no terminal", `{ exec </dev/tty; } 2>/dev/null || echo none`, "none\n", Status{}},
			{"own session", `read -r _ _ _ _ pgrp sid _ < /proc/self/stat; echo $((pgrp-$$)) $((sid-$$))`, "0 0\n", Status{}},
			{"environment", `echo $A; env | grep -c ^HELVE_CALL=`, "b\n1\n", Status{}},
			{"descriptors", `ls /proc/self/fd | wc -l`, "4\n", Status{}}, // with that of the listing
		} {
			t.Run(c.name, func(t *testing.T) {
				if c.name == "descriptors" && r.opts.Helper == "" {
					t.Skip("this program may itself have got some that are passed on")
				}
				cmd := bash(c.script)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "A=b", "HELVE_CALL=other")
				out, status := run(t, r, cmd)
				if diff := cmp.Diff(c.want, out.Head); diff != "" {
					t.Error(diff)
				}
				if status != c.status {
					t.Errorf("status %+v, want %+v", status, c.status)
				}
			})
		}
	})
}

func TestStartFails(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		for _, c := range []struct {
			name string
			cmd  Command
			want error
		}{
			{"no program", Command{Path: "/nowhere/x", Place: plain()}, fs.ErrNotExist},
			{"not in PATH", Command{Path: "nowhere-x", Place: plain()}, exec.ErrNotFound},
			{"no folder", Command{Path: "bash", Dir: "/nowhere", Place: plain()}, fs.ErrNotExist},
			{"no permission", Command{Path: "/etc/passwd", Place: plain()}, fs.ErrPermission},
		} {
			p, err := r.Start(t.Context(), c.cmd, os.Stdout)
			if p != nil || !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
		}
		var failed *fs.PathError
		_, err := r.Start(t.Context(), Command{Path: "bash", Dir: "/nowhere", Place: plain()}, os.Stdout)
		if !errors.As(err, &failed) || failed.Path != "/nowhere" && failed.Op != "fork/exec" {
			t.Errorf("no folder: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Start(ctx, bash("true"), os.Stdout); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestBrokenHelper(t *testing.T) {
	r := newRunner(t, "keeper")
	cmd := bash("true")
	cmd.Place = SupervisorSpec{Key: "broken", Args: []string{"be-broken"}, Wall: true}
	_, err := r.Start(t.Context(), cmd, os.Stdout)
	if !errors.Is(err, ErrKeeper) || !strings.Contains(err.Error(), "the wall does not hold") {
		t.Error(err)
	}
	cmd.Place = plain()
	if _, status := run(t, r, cmd); status != (Status{}) {
		t.Error(status)
	}
	cmd.Place.Wall = true
	if _, err := newRunner(t, "direct").Start(t.Context(), cmd, os.Stdout); !errors.Is(err, ErrKeeper) {
		t.Error(err)
	}
}

func TestStdin(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		capture := NewCapture(CaptureOptions{})
		cmd := bash("cat; echo over")
		cmd.Stdin = true
		p, err := capture.Start(t.Context(), r, cmd)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(p.Stdin(), "hello ")
		p.Stdin().Close()
		<-p.Done()
		capture.Settle()
		if got := capture.Output().Head; got != "hello over\n" {
			t.Errorf("%q", got)
		}
	})
}

// A command may be called something else than its program, and read a file.
func TestNameAndInput(t *testing.T) {
	name := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(name, []byte("given"), 0o600); err != nil {
		t.Fatal(err)
	}
	runners(t, func(t *testing.T, r *Runner) {
		input, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer input.Close()
		cmd := bash(`echo "$0 $(cat)"`)
		cmd.Name, cmd.Input = "other", input
		if out, _ := run(t, r, cmd); out.Head != "other given\n" {
			t.Errorf("it printed %q", out.Head)
		}
		if _, err := input.Seek(0, 0); err != nil {
			t.Errorf("what it read is not ours any more: %v", err)
		}
	})
}

func TestSeparateStderr(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		f, err := os.Create(filepath.Join(t.TempDir(), "err"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd := bash("echo out; echo err >&2")
		cmd.Stderr = f
		out, _ := run(t, r, cmd)
		errs, _ := os.ReadFile(f.Name())
		if out.Head != "out\n" || string(errs) != "err\n" {
			t.Errorf("%q %q", out.Head, errs)
		}
	})
}

// A command that fails at once has still said why.
func TestNothingLost(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		n := 500
		if r.opts.Helper == "" {
			n = 100
		}
		for i := range times(t, n) {
			out, status := run(t, r, bash("echo why >&2; exit 3"))
			if out.Head != "why\n" || status.Code != 3 {
				t.Fatalf("run %d: %q %+v", i, out.Head, status)
			}
		}
	})
}

// times is how often to do something: more when HELVE_LONG is set, less in
// short runs.
func times(t testing.TB, n int) int {
	if long, _ := strconv.Atoi(os.Getenv("HELVE_LONG")); long > 0 {
		return n * long
	}
	if testing.Short() {
		return max(n/20, 2)
	}
	return n
}

func TestTwoHundredAtOnce(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				out, status := run(t, r, bash(fmt.Sprintf("sleep 0.2; echo %d; exit %d", i, i)))
				if out.Head != fmt.Sprintln(i) || status.Code != i {
					t.Errorf("%d: %q %+v", i, out.Head, status)
				}
			})
		}
		wg.Wait()
	})
}

// A process that holds the pipe does not hold up anybody.
func TestHeldPipe(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		capture := NewCapture(CaptureOptions{})
		cmd := bash(`(echo child; echo > $UP; read x < $PIPE; echo late; read x < $PIPE) & read x < $UP; echo parent`)
		fifo, up := filepath.Join(t.TempDir(), "fifo"), filepath.Join(t.TempDir(), "up")
		for _, path := range []string{fifo, up} {
			if err := unix.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Env = append(os.Environ(), "PIPE="+fifo, "UP="+up)
		p, err := capture.Start(t.Context(), r, cmd)
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		rest := capture.Settle()
		if rest == nil {
			t.Fatal("the end was seen")
		}
		if got := lines(capture.Output().Head); len(got) != 2 {
			t.Errorf("%q", got)
		}
		alive, err := p.Survivors()
		if err != nil || len(alive) != 1 || alive[0].Name != "bash" || !strings.HasPrefix(alive[0].Line, "bash -c (echo child") {
			t.Errorf("%v %+v", err, alive)
		}
		w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(w, "go on")
		w.Close()
		line, err := bufio.NewReader(rest.Pipe()).ReadString('\n')
		if line != "late\n" || err != nil {
			t.Errorf("%q %v", line, err)
		}
		if left, err := p.End(time.Second); err != nil || len(left) > 0 {
			t.Error(left, err)
		}
		rest.Close()
	})
}

func TestSignal(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		p, capture := startEscape(t, r, `trap 'echo got; exit 5' USR1; echo up; while :; do sleep 0.01; done`, "1")
		if err := p.Signal(syscall.SIGUSR1); err != nil {
			t.Error(err)
		}
		<-p.Done()
		capture.Settle()
		if p.Status().Code != 5 || !strings.Contains(capture.Output().Head, "got") {
			t.Errorf("%+v %q", p.Status(), capture.Output().Head)
		}
		if err := p.Signal(syscall.SIGUSR1); !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		if left, err := p.End(time.Second); err != nil || left != nil {
			t.Error(left, err)
		}
	})
}

// Nothing is left of commands and of a runner.
func TestNoLeaks(t *testing.T) {
	count := func(pid int) int {
		names, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
		if err != nil && !errors.Is(err, fs.ErrPermission) { // root alone looks into a supervisor
			t.Fatal(err)
		}
		return len(names)
	}
	runners(t, func(t *testing.T, r *Runner) {
		run(t, r, bash("true"))
		pids := []int{os.Getpid()}
		for pid := range r.roots() {
			pids = append(pids, pid)
		}
		before := map[int]int{}
		for _, pid := range pids {
			before[pid] = count(pid)
		}
		for range 50 {
			run(t, r, bash("echo x"))
			_, _ = r.Start(t.Context(), Command{Path: "/nowhere/x", Place: plain(), Stdin: true}, os.Stdout)
		}
		for _, pid := range pids {
			if after := count(pid); after > before[pid] {
				t.Errorf("%d descriptors became %d", before[pid], after)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left := childrenOf(os.Getpid()); len(left) > 0 {
			t.Errorf("children are left: %v", left)
		}
		if _, err := r.Start(t.Context(), bash("true"), os.Stdout); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// Close ends what runs.
func TestCloseEnds(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		p, capture := startEscape(t, r, escapes()["deaf"], number(66))
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		<-p.Done()
		if p.Status().Signal != syscall.SIGKILL {
			t.Errorf("%+v", p.Status())
		}
		if n := sleepers(t, number(66)); n > 0 {
			t.Errorf("%d live on", n)
		}
		capture.Settle()
	})
}

// Output of any length comes whole, waits for its reader, and takes no memory.
func TestLongOutput(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		run(t, r, bash("true"))
		size := int64(times(t, 20)) << 21
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, status := run(t, r, bash(fmt.Sprintf("yes | head -c %d; echo ${PIPESTATUS[1]}", size)))
		runtime.ReadMemStats(&after)
		if out.Bytes != size+2 || out.Lines != size/2+1 || status.Code != 0 {
			t.Errorf("%d bytes, %d lines, %+v", out.Bytes, out.Lines, status)
		}
		if len(out.Head) != keepBytes || len(out.Tail) != keepBytes || !strings.HasSuffix(out.Tail, "y\n0\n") {
			t.Errorf("%d and %d bytes were kept", len(out.Head), len(out.Tail))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("took %d bytes", took)
		}
	})
}

// What was printed comes, also when the reader had no turn before the end was
// looked for; and what comes later is for the rest.
func TestDrain(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	var got strings.Builder
	took := func(p []byte) { got.Write(p) }
	text := strings.Repeat("x", chunk-1)
	fmt.Fprint(write, text)
	if drain(read, took) || got.String() != text {
		t.Errorf("%d bytes", got.Len())
	}
	fmt.Fprint(write, "late")
	write.Close()
	if !drain(read, took) || got.String() != text+"late" {
		t.Errorf("%d bytes", got.Len())
	}
}
