//go:build linux && !disk_simple

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fault is one way for a system call to go wrong, as strace puts it.
type fault struct {
	call  string
	how   string // signal=SIGKILL or error=…
	three bool   // three changes at once, or one
	lacks bool   // without names that can be exchanged
}

// TestFaults lets each system call that a Commit needs go wrong, one after
// the other, by an error or by the end of the process.
func TestFaults(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed: apt-get install strace")
	}
	if out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace cannot be used here: %v: %s", err, out)
	}
	limit := 100
	if testing.Short() {
		limit = 3
	}
	for _, f := range faults() {
		name := fmt.Sprintf("%s/%s/three=%v/lacks=%v", f.call, f.how, f.three, f.lacks)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 1
			for ; n <= limit; n++ {
				if !f.run(t, fmt.Sprint(n)) {
					break
				}
			}
			if n == 1 && f.expected() {
				t.Errorf("no call was hit")
			}
			if strings.HasPrefix(f.how, "error=") && f.three {
				f.run(t, "1+") // all of them
			}
			t.Logf("%d calls", n-1)
		})
	}
}

// faults lists what can go wrong: everything with three changes, and what one
// change needs with one.
func faults() (all []fault) {
	calls := []string{"write", "fsync", "renameat2", "openat", "openat2", "linkat", "unlinkat", "fchmod", "mkdirat",
		"newfstatat", "fstat", "flock", "fcntl", "pread64", "faccessat2", "flistxattr", "close"}
	for _, call := range calls {
		for _, how := range []string{"signal=SIGKILL", "error=EIO"} {
			all = append(all, fault{call: call, how: how, three: true})
			switch call {
			case "write", "fsync", "renameat2", "linkat", "unlinkat":
				all = append(all, fault{call: call, how: how})
			}
		}
	}
	for _, call := range []string{"write", "fsync", "openat", "linkat", "mkdirat", "renameat2"} {
		all = append(all, fault{call: call, how: "error=ENOSPC", three: true})
	}
	for _, call := range []string{"write", "fsync", "renameat", "linkat", "unlinkat", "openat"} {
		for _, how := range []string{"signal=SIGKILL", "error=EIO"} {
			all = append(all, fault{call: call, how: how, three: true, lacks: true})
		}
	}
	return all
}

// expected reports whether a Commit must make this call. What is done by
// handle of the runtime only, or not on every kernel, need not be there.
func (f fault) expected() bool { return f.call != "openat2" && f.call != "faccessat2" }

// run lets the calls that when says fail, and checks what is left. It reports
// false if there was no such call.
func (f fault) run(t *testing.T, when string) bool {
	t.Helper()
	dir := folderOf(t)
	log := filepath.Join(folderOf(t), "log")
	put(t, filepath.Join(dir, "upd"), oldText, 0o640)
	put(t, filepath.Join(dir, "gone"), oldText, 0o644)
	which := "one"
	if f.three {
		which = "three"
	}
	job := jobCommand(t, "commit", dir, which)
	args := []string{"-f", "-qq", "-o", log, "-e", "trace=" + f.call, "-e", "inject=" + f.call + ":" + f.how + ":when=" + when}
	if !strings.HasPrefix(f.how, "signal") {
		args = append(args, "--seccomp-bpf") // it is faster, and does not do signals
	}
	cmd := exec.Command("strace", append(args, job.Args...)...)
	cmd.Env = append(job.Env, "GOMAXPROCS=1")
	if f.lacks {
		cmd.Env = append(cmd.Env, lackEnv+"=1")
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	logged, e := os.ReadFile(log)
	ok(t, e)
	hit := bytes.Contains(logged, []byte("(INJECTED)")) || strings.HasPrefix(f.how, "signal") && err != nil
	f.check(t, outcome{dir, when, cmd.ProcessState.ExitCode(), hit})
	if t.Failed() {
		t.Fatalf("%+v at %s: exit %d: %s\n%s", f, when, cmd.ProcessState.ExitCode(), &said, logged)
	}
	return hit
}

// An outcome is what a run has left behind.
type outcome struct {
	dir, when string
	exit      int
	hit       bool
}

// check looks at the files after a run. Each must be old or new, whatever
// happened. A process that lived must have done all and said so or nothing and
// said that, and must have cleaned up.
func (f fault) check(t *testing.T, o outcome) {
	t.Helper()
	all := everything(t, o.dir)
	before := map[string]string{"upd": "-rw-r----- " + oldText, "gone": "-rw-r--r-- " + oldText}
	after := map[string]string{"upd": "-rw-r----- " + newText}
	if f.three {
		after["a"], after["a/b"], after["a/b/new"] = "d---------", "d---------", "-rw-r--r-- "+newText
	} else {
		after["gone"] = before["gone"]
	}
	for _, name := range []string{"upd", "gone", "a/b/new"} {
		if all[name] != before[name] && all[name] != after[name] {
			t.Errorf("%s holds %q", name, all[name])
		}
	}
	switch {
	case f.how == "signal=SIGKILL":
		if !o.hit {
			same(t, all, after)
		}
	case strings.HasSuffix(o.when, "+"):
		// Nothing works any more, not even putting back: it must be said.
		if o.exit == 0 && !leftover(all, after) {
			t.Errorf("success was reported: %q", all)
		}
	case o.exit == 0:
		same(t, all, after)
	case o.exit == 3:
		same(t, all, before)
	}
}

// leftover reports whether all is done but for temporary files.
func leftover(all, after map[string]string) bool {
	for name, data := range after {
		if all[name] != data {
			return false
		}
	}
	for name := range all {
		if _, wanted := after[name]; !wanted && !strings.HasPrefix(filepath.Base(name), tempPrefix) {
			return false
		}
	}
	return true
}
