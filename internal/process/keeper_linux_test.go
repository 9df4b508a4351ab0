package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// When the program dies, so does everything it has started.
func TestRuntimeKilled(t *testing.T) {
	arg := number(77)
	script := `setsid -f env -i bash -c 'echo up; exec sleep N'
		nohup bash -c 'echo up; exec sleep N' &
		( ( setsid bash -c 'echo up; exec sleep N' & ) & )
		setsid -f bash -c 'trap "" TERM HUP; echo up; while :; do sleep N; done'`
	helper, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range times(t, 3) {
		cmd := exec.Command(helper, "be-runtime", strings.ReplaceAll(script, "N", arg))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		text := bufio.NewReader(out)
		for wait := 5; wait > 0; {
			line, err := text.ReadString('\n')
			if err != nil {
				t.Fatal(line, err)
			}
			if line == "up\n" || line == "ready\n" {
				wait--
			}
		}
		_ = cmd.Process.Kill()
		// Everything that was started holds the pipe, so its end says that all
		// are gone.
		ended := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, text)
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(2 * time.Second):
			t.Error("something holds the pipe")
		}
		if n := sleepers(t, arg); n > 0 {
			t.Errorf("%d live on", n)
		}
		in.Close()
		_ = cmd.Wait()
	}
}

// When the supervisor is killed, so is everything it has kept, and the next
// command gets another one.
func TestKeeperKilled(t *testing.T) {
	r := newRunner(t, "keeper")
	arg := number(78)
	other, capture := startEscape(t, r, escapes()["daemon"], arg)
	<-other.Done()
	second := NewCapture(CaptureOptions{})
	cmd := bash("read x; kill -KILL $PPID; sleep $N")
	cmd.Env = append(os.Environ(), "N="+arg)
	cmd.Stdin = true
	p, err := second.Start(t.Context(), r, cmd)
	if err != nil {
		t.Fatal(err)
	}
	p.Stdin().Close()
	<-p.Done()
	if p.Status().Signal != syscall.SIGKILL || !errors.Is(p.Status().Err, ErrKeeper) {
		t.Errorf("%+v", p.Status())
	}
	if alive, err := other.Survivors(); err != nil || len(alive) > 0 {
		t.Errorf("%v: %v", err, alive)
	}
	if n := sleepers(t, arg); n > 0 {
		t.Errorf("%d live on", n)
	}
	capture.Settle()
	second.Settle()
	if out, status := run(t, r, bash("echo again")); out.Head != "again\n" || status.Code != 0 {
		t.Errorf("%q %+v", out.Head, status)
	}
}

// Less than that does not touch it.
func TestKeeperStopped(t *testing.T) {
	r := newRunner(t, "keeper")
	other, capture := startEscape(t, r, escapes()["daemon"], number(78))
	<-other.Done()
	p, second := startEscape(t, r, `kill -TERM $PPID; kill -HUP $PPID; kill -INT $PPID; kill -STOP $PPID; echo up; sleep $N`, number(79))
	if left, err := p.End(0); err != nil || len(left) > 0 {
		t.Error(err, left)
	}
	if p.Status() != (Status{Code: -1, Signal: syscall.SIGKILL}) {
		t.Errorf("%+v", p.Status())
	}
	if alive, err := other.Survivors(); err != nil || len(alive) == 0 {
		t.Errorf("%v: %v", err, alive)
	}
	if left, err := other.End(0); err != nil || len(left) > 0 {
		t.Error(err, left)
	}
	capture.Settle()
	second.Settle()
}

// A helper that is no supervisor does not hold up anybody.
func TestNoKeeper(t *testing.T) {
	for _, way := range []string{"be-mute", "be-liar"} {
		r := newRunner(t, "keeper")
		r.patience = 50 * time.Millisecond
		cmd := bash("true")
		cmd.Place = SupervisorSpec{Key: way, Args: []string{way}}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if _, err := r.Start(ctx, cmd, os.Stdout); err == nil {
			t.Errorf("%s: started", way)
		}
		cancel()
		if err := r.Close(); way == "be-mute" && !errors.Is(err, ErrKeeper) {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// A supervisor without a command goes, and nothing is lost by it.
func TestIdle(t *testing.T) {
	helper, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := NewRunner(RunnerOptions{Helper: helper, Idle: time.Millisecond})
	defer r.Close()
	var first *supervisor
	for i := range 5 {
		k, err := r.keeper(t.Context(), plain())
		if err != nil {
			t.Fatal(err)
		}
		if k == first {
			t.Error("it is still there")
		}
		first = k
		if out, status := run(t, r, bash("echo on")); out.Head != "on\n" || status != (Status{}) {
			t.Errorf("%d: %q %+v", i, out.Head, status)
		}
		<-k.gone
	}
	p, capture := startEscape(t, r, escapes()["no environment"], number(55))
	<-p.Done()
	<-time.After(20 * time.Millisecond) // the supervisor was told to go by now, or will be
	if alive, err := p.Survivors(); err != nil || len(alive) != 1 {
		t.Error(alive, err)
	}
	if left, err := p.End(0); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	capture.Settle()
}

// A supervisor can be the first process of a namespace.
func TestNamespace(t *testing.T) {
	r := newRunner(t, "keeper")
	cmd := bash("echo up $$; exec sleep $N")
	cmd.Place = SupervisorSpec{Key: "ns", Args: []string{"be-keeper"}, Wall: true, Attr: &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWPID | unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}}
	cmd.Env = append(os.Environ(), "N="+number(44))
	capture := NewCapture(CaptureOptions{})
	p, err := capture.Start(t.Context(), r, cmd)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	if p.PID() > 1000 {
		t.Errorf("process number %d", p.PID())
	}
	if left, err := p.End(0); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	<-p.Done()
	capture.Settle()
}
