//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
)

// jobEnv has the test binary do a job instead of the tests.
const jobEnv = "HELVE_DISK_JOB"

func TestMain(m *testing.M) {
	syscall.Umask(0o022)
	if job := os.Getenv(jobEnv); job != "" {
		if err := work(job, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}

// work does what the tests want done in a process of its own.
func work(job string, args []string) error {
	switch job {
	case "append":
		return workAppend(args[0], args[1])
	case "hold":
		return workHold(args[0])
	case "commit":
		return workCommit(args[0], args[1])
	case "nobody":
		return workNobody(args[0])
	}
	return fmt.Errorf("no job %s", job)
}

func jobCommand(t testing.TB, job string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	ok(t, err)
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), jobEnv+"="+job, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// A process is a job that says when it has got so far.
type process struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

func startJob(t testing.TB, job string, args ...string) process {
	t.Helper()
	cmd := jobCommand(t, job, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return process{cmd, bufio.NewScanner(out)}
}

func (p process) line(t testing.TB) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatal("the process ended")
	}
	return p.out.Text()
}

// workCommit makes the changes of the fault tests in a folder, on one thread,
// so that its system calls can be counted.
func workCommit(dir, which string) error {
	runtime.LockOSThread()
	upd := filepath.Join(dir, "upd")
	data, st, err := Read(upd, 0)
	if err != nil {
		return err
	}
	changes := []Change{{Name: upd, Data: []byte(newText), Was: st, WasData: data}}
	if which == "three" {
		gone := filepath.Join(dir, "gone")
		data, st, err := Read(gone, 0)
		if err != nil {
			return err
		}
		changes = append(changes,
			Change{Name: filepath.Join(dir, "a", "b", "new"), Data: []byte(newText)},
			Change{Name: gone, Remove: true, Was: st, WasData: data})
	}
	can := lacks{}
	if os.Getenv(lackEnv) != "" {
		can = lacks{nameless: true, exchange: true, noReplace: true}
	}
	return commit(context.Background(), changes, Options{Sync: true}, can)
}

// lackEnv has workCommit take the file system for one that can do less.
const lackEnv = "HELVE_DISK_LACKS"

const (
	oldText = "old contents"
	newText = "new contents, and longer ones"
)
