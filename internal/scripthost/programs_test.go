//go:build unix

package scripthost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/tool"
)

// shellOf makes a place for programs to run.
func shellOf(t *testing.T, dir string, change func(*process.ExecutorOptions)) *process.Executor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	opt := process.ExecutorOptions{
		Dir: dir, Lines: 2000, Bytes: 50 << 10, Quota: 1 << 30, Helper: self, Wall: process.SandboxOptions{Roots: []string{dir}},
		Private: func(name string) string { return filepath.Join(data, name) },
		Jobs:    process.JobsOptions{Dir: filepath.Join(data, "jobs")},
		Spill:   func() (io.WriteCloser, string, error) { return nil, "", errors.New("nothing is spilled here") },
	}
	if change != nil {
		change(&opt)
	}
	r, err := process.NewExecutor(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// programRoom is a room with programs.
func programRoom(t *testing.T, rules string, changes ...func(*plugins.Services)) *room {
	t.Helper()
	with := func(o *plugins.Services) { o.Shell = shellOf(t, o.Dir, nil) }
	return newRoom(t, rules, append([]func(*plugins.Services){with}, changes...)...)
}

type object = map[string]any

// A ran is the answer of proc.run and proc.shell.
type ran struct {
	Code, Out, PID     int
	Signal             string
	TimedOut, Overflow bool
	stdout, stderr     string
}

// ends runs a program, or a script of the shell, to its end.
func (r *room) ends(op string, arg object, raw ...byte) (ran, error) {
	r.t.Helper()
	if arg["cwd"] == nil {
		arg["cwd"] = r.dir
	}
	for _, name := range []string{"stdout", "stderr"} {
		if arg[name] == nil && op == "proc.run" {
			arg[name] = "pipe"
		}
	}
	told, err := r.do(op, arg, raw...)
	if err != nil {
		return ran{}, err
	}
	var out ran
	if err := json.Unmarshal(told.JSON, &out); err != nil {
		r.t.Fatal(err)
	}
	out.stdout, out.stderr = string(told.Raw[:out.Out]), string(told.Raw[out.Out:])
	return out, nil
}

func (r *room) runs(arg object, raw ...byte) ran {
	r.t.Helper()
	out, err := r.ends("proc.run", arg, raw...)
	if err != nil {
		r.t.Fatalf("%v: %v", arg, err)
	}
	return out
}

func sh(text string) []string { return []string{"/bin/sh", "-c", text} }

func TestProgramRuns(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.write("sub/x", "")
	for name, tc := range map[string]struct {
		arg                    object
		input                  string
		code                   int
		signal, stdout, stderr string
	}{
		"both outputs and code": {arg: object{"argv": sh("echo out; echo err >&2; exit 3")}, code: 3, stdout: "out\n", stderr: "err\n"},
		"words stay words":      {arg: object{"argv": []string{"printf", "[%s]", "a b", "$HOME", "*", "", "'\"\n"}}, stdout: "[a b][$HOME][*][]['\"\n]"},
		"input":                 {arg: object{"argv": []string{"cat"}}, input: "given", stdout: "given"},
		"no input":              {arg: object{"argv": []string{"cat"}}},
		"a folder":              {arg: object{"argv": []string{"pwd"}, "cwd": r.path("sub")}, stdout: r.path("sub") + "\n"},
		"its name":              {arg: object{"argv": sh("echo $0"), "argv0": "other"}, stdout: "other\n"},
		"name without one":      {arg: object{"argv": []string{"sh", "-c", "echo $0"}}, stdout: "sh\n"},
		"a signal":              {arg: object{"argv": sh("kill -9 $$")}, code: 137, signal: "SIGKILL"},
		"not piped":             {arg: object{"argv": sh("echo out; echo err >&2"), "stdout": "ignore", "stderr": "inherit"}},
		"ended input":           {arg: object{"argv": sh("exec <&-; echo ok")}, input: strings.Repeat("x", 1<<20), stdout: "ok\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			var raw []byte
			if tc.input != "" {
				raw = []byte(tc.input)
			}
			got := r.runs(tc.arg, raw...)
			if got.Code != tc.code || got.Signal != tc.signal || got.stdout != tc.stdout || got.stderr != tc.stderr || got.TimedOut || got.Overflow || got.PID == 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
	if got := r.text(r.path("none")); got != "(none)" {
		t.Error(got)
	}
}

func TestProgramVariables(t *testing.T) {
	t.Setenv("SOME_API_KEY", "hidden-from-programs")
	t.Setenv("LANG", "C")
	r := programRoom(t, `{"*": "allow"}`, func(o *plugins.Services) {
		o.Variables = func() map[string]string { return map[string]string{"SEEN": "1"} }
		o.Programs = func(*tool.Call) process.Program { return process.Program{Set: map[string]string{"OF_CALL": "2"}} }
	})
	show := sh(`echo "$SOME_API_KEY|$LANG|$ADDED|$EDITOR|$OF_CALL|$PWD"`)
	for name, tc := range map[string]struct {
		more object
		want string
	}{
		"the host's": {nil, "|C||false|2|" + r.dir},
		"changed":    {object{"set": object{"ADDED": "a b", "LANG": nil}}, "||a b|false|2|" + r.dir},
		"a secret":   {object{"set": object{"SOME_API_KEY": "given by name"}}, "given by name|C||false|2|" + r.dir},
		"all given":  {object{"env": object{"ADDED": "x"}}, "||x|||" + r.dir}, // a shell sets PWD itself
	} {
		arg := object{"argv": show}
		for k, v := range tc.more {
			arg[k] = v
		}
		if got := r.runs(arg); got.stdout != tc.want+"\n" {
			t.Errorf("%s: %q, want %q", name, got.stdout, tc.want)
		}
	}
	if got := r.runs(object{"argv": []string{"/usr/bin/env"}, "env": object{"ONLY": "1"}}); strings.Contains(got.stdout, "PWD=") || !strings.Contains(got.stdout, "ONLY=1\n") {
		t.Errorf("given all, it has %q", got.stdout)
	}
}

func TestProgramNotStarted(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.write("plain", "text")
	r.write("odd", "#!/no/such/interpreter\n")
	r.write("nothing", "no program")
	for _, name := range []string{"odd", "nothing"} {
		if err := os.Chmod(r.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		arg  object
		want string // code and syscall
	}{
		"no such name":    {object{"argv": []string{"no-such-program"}}, "ENOENT which"},
		"no such file":    {object{"argv": []string{"./none"}}, "ENOENT "},
		"no program":      {object{"argv": []string{"./plain"}}, "EACCES "},
		"no folder":       {object{"argv": []string{"true"}, "cwd": r.path("none")}, "ENOENT "},
		"a file":          {object{"argv": []string{"true"}, "cwd": r.path("plain")}, "ENOTDIR "},
		"no interpreter":  {object{"argv": []string{"./odd"}}, "ENOENT "},
		"not executable":  {object{"argv": []string{"./nothing"}}, "ENOEXEC "},
		"nothing":         {object{"argv": []string{}}, "EINVAL "},
		"a NUL":           {object{"argv": []string{"echo", "a\x00b"}}, "EINVAL "},
		"no such signal":  {object{"argv": []string{"true"}, "kill": "SIGNONE"}, "EINVAL "},
		"too much to say": {object{"argv": []string{"true", strings.Repeat("x", 4<<20)}}, "E2BIG "},
	} {
		_, err := r.ends("proc.run", tc.arg)
		var fail *script.Failure
		if !errors.As(err, &fail) || fail.Code+" "+fail.Syscall != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProgramIsJudged(t *testing.T) {
	rules := `{"*": "deny", "external_directory": "deny", "read": {"*": "allow", "*.env": "deny"}, "edit": "allow",
		"bash": {"*": "deny", "git status": "allow", "cat *": "allow", "echo *": "allow", "sort *": "allow", "env": "allow", "PATH=*": "deny"}}`
	r := programRoom(t, rules)
	r.write("a.env", "SECRET=1")
	r.write("evil/git", "#!/bin/sh\necho evil\n")
	r.write("evil/cd", "#!/bin/sh\necho evil\n")
	for _, name := range []string{"evil/git", "evil/cd"} {
		if err := os.Chmod(r.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		arg  object
		want string
	}{
		"allowed":               {object{"argv": []string{"git", "status"}}, "ok"},
		"allowed in a shell":    {object{"argv": sh("git status")}, "ok"},
		"denied":                {object{"argv": []string{"rm", "-rf", "x"}}, "EACCES permission"},
		"denied in a shell":     {object{"argv": sh("git status; rm -rf x")}, "EACCES permission"},
		"a file":                {object{"argv": []string{"cat", "a.env"}}, "EACCES permission"},
		"a file in a shell":     {object{"argv": sh("cat < a.env")}, "EACCES permission"},
		"a word is no text":     {object{"argv": []string{"echo", "; rm -rf x"}}, "ok"},
		"a word is no shell's":  {object{"argv": []string{"echo", "$(rm -rf x)", "`rm x`", "a\r\nrm x"}}, "ok"},
		"outside":               {object{"argv": []string{"echo", "x"}, "cwd": r.out}, "EACCES permission"},
		"a name of its own":     {object{"argv": []string{"echo", "-rf", "x"}, "argv0": "rm"}, "EACCES permission"},
		"other programs":        {object{"argv": []string{"git", "status"}, "set": object{"PATH": r.path("evil") + ":/usr/bin:/bin"}}, "EACCES permission"},
		"other programs, given": {object{"argv": []string{"git", "status"}, "env": object{"PATH": r.path("evil")}}, "EACCES permission"},
		"what shells do":        {object{"argv": []string{"cd", "x"}, "set": object{"PATH": r.path("evil")}}, "EACCES permission"},
		"a library":             {object{"argv": []string{"git", "status"}, "set": object{"LD_PRELOAD": "./evil.so"}}, "EACCES permission"},
		"a variable":            {object{"argv": []string{"git", "status"}, "set": object{"FINE": "1"}}, "ok"},
		"a function":            {object{"argv": sh("git status"), "env": object{"BASH_FUNC_git%%": "() { echo evil; }"}}, "EACCES permission"},
		"a variable in a text":  {object{"argv": sh("cat $FILE"), "set": object{"FILE": "a.env"}}, "EACCES permission"},
		"a file to write to":    {object{"argv": []string{"git", "status"}, "stdout": object{"path": filepath.Join(r.out, "x")}}, "EACCES permission"},
	} {
		_, err := r.ends("proc.run", tc.arg)
		got := "ok"
		var fail *script.Failure
		if errors.As(err, &fail) {
			got = fail.Code + " " + fail.Syscall
		} else if err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.questions()
	if _, err := r.ends("proc.run", object{"argv": []string{"echo", "a b"}}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.questions(), "; "); got != "bash echo 'a b'" {
		t.Errorf("asked %q", got)
	}
}

// Large inputs and outputs go through without anybody waiting for another.
func TestProgramLargeStreams(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	input := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	got := r.runs(object{"argv": []string{"cat"}}, input...)
	if got.stdout != string(input) || got.Overflow {
		t.Errorf("%d bytes came back, overflow %v", len(got.stdout), got.Overflow)
	}
	got = r.runs(object{"argv": sh("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2")})
	if len(got.stdout) != 3000000 || len(got.stderr) != 3000000 {
		t.Errorf("%d and %d bytes", len(got.stdout), len(got.stderr))
	}
}

func TestProgramTimeAndOutputBounds(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	got := r.runs(object{"argv": sh("echo begun; sleep 60 & sleep 60"), "timeout": 100})
	if !got.TimedOut || got.Signal != "SIGTERM" || got.Code != 143 || got.stdout != "begun\n" {
		t.Errorf("late: %+v", got)
	}
	got = r.runs(object{"argv": sh("yes"), "max": 1000, "kill": "SIGKILL"})
	if !got.Overflow || got.TimedOut || got.Signal != "SIGKILL" || len(got.stdout) != 1000 {
		t.Errorf("too much: %+v, %d bytes", got.Signal, len(got.stdout))
	}
	got = r.runs(object{"argv": sh("echo 12345; echo x >&2"), "max": 5})
	if !got.Overflow || got.stdout != "12345" {
		t.Errorf("one byte too many: %+v", got)
	}
	got = r.runs(object{"argv": sh("cat /dev/zero")})
	if !got.Overflow || len(got.stdout) != usualOutput {
		t.Errorf("without a bound: %v, %d bytes", got.Overflow, len(got.stdout))
	}
	// One that does not go when it is asked to is ended.
	got = r.runs(object{"argv": sh("trap '' TERM; echo begun; while :; do sleep 1; done"), "timeout": 50})
	if !got.TimedOut || got.Signal != "SIGKILL" {
		t.Errorf("deaf: %+v", got)
	}
}

func (r *room) starts(arg object, raw ...byte) (id, pid int) {
	r.t.Helper()
	if arg["cwd"] == nil {
		arg["cwd"] = r.dir
	}
	var told struct{ ID, PID int }
	if err := json.Unmarshal([]byte(r.must("proc.start", arg, raw...)), &told); err != nil {
		r.t.Fatal(err)
	}
	return told.ID, told.PID
}

// said reads a stream of a program to its end.
func (r *room) said(id int, from string) string {
	r.t.Helper()
	var out []byte
	for {
		told, err := r.do("proc.read", object{"id": id, "from": from})
		if err != nil {
			r.t.Fatal(err)
		}
		if len(told.Raw) == 0 {
			if string(told.JSON) != `{"done":true}` {
				r.t.Fatalf("no bytes, and %s", told.JSON)
			}
			return string(out)
		}
		out = append(out, told.Raw...)
	}
}

func TestProgramGoesOn(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	id, pid := r.starts(object{"argv": sh("echo err >&2; tr a-z A-Z; exit 4"), "stdin": "pipe", "stdout": "pipe", "stderr": "pipe"})
	r.must("proc.signal", object{"pid": pid, "signal": 0})
	for _, piece := range []string{"some ", "text\n"} {
		r.must("proc.write", object{"id": id}, []byte(piece)...)
	}
	if told, err := r.do("proc.read", object{"id": id, "from": "stderr"}); err != nil || string(told.Raw) != "err\n" {
		t.Errorf("%q, %v", told.Raw, err)
	}
	if got := r.must("proc.kill", object{"id": id, "signal": "0"}); got != `{"sent":true}` {
		t.Error(got)
	}
	r.must("proc.write", object{"id": id, "end": true})
	if got := r.said(id, "stdout"); got != "SOME TEXT\n" {
		t.Errorf("%q", got)
	}
	if got, want := r.must("proc.wait", object{"id": id}), fmt.Sprintf(`{"code":4,"pid":%d}`, pid); got != want {
		t.Error(got)
	}
	if got := r.must("proc.kill", object{"id": id, "signal": "SIGTERM"}); got != `{"sent":false}` {
		t.Error(got)
	}
	if got := r.code("proc.write", object{"id": id}, 'x'); got != "EPIPE" {
		t.Error(got)
	}
	for range 2 {
		r.must("proc.close", object{"id": id})
	}
	if got := r.code("proc.wait", object{"id": id}); got != "ESRCH" {
		t.Error(got)
	}
}

func TestProgramStdio(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.write("old", "what was there before")
	id, _ := r.starts(object{"argv": sh("cat; echo said >&2"), "stdin": "bytes", "stdout": object{"path": r.path("old")}, "stderr": "inherit"}, []byte("given")...)
	if got := r.said(id, "stdout"); got != "" {
		t.Errorf("%q", got)
	}
	r.must("proc.wait", object{"id": id})
	r.must("proc.close", object{"id": id})
	if got := r.text(r.path("old")); got != "given" {
		t.Errorf("the file holds %q", got)
	}
	if err := r.world.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.changed(), ", "); got != "change old" {
		t.Errorf("told of %q", got)
	}
	if len(r.lines) != 1 || r.lines[0] != (event.ScriptLogged{Tool: "custom", Level: "info", Text: "said"}) {
		t.Errorf("logged %+v", r.lines)
	}
}

func TestProgramKilledByName(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	for _, sig := range []string{"SIGTERM", "SIGKILL", "SIGUSR1", "SIGINT"} {
		id, pid := r.starts(object{"argv": []string{"sleep", "60"}})
		r.must("proc.kill", object{"id": id, "signal": sig})
		var end struct {
			Code   int
			Signal string
		}
		if err := json.Unmarshal([]byte(r.must("proc.wait", object{"id": id})), &end); err != nil {
			t.Fatal(err)
		}
		n, err := signalOf(sig)
		if err != nil || end.Signal != sig || end.Code != 128+int(n) {
			t.Errorf("%s: %+v", sig, end)
		}
		if got := r.code("proc.signal", object{"pid": pid, "signal": 0}); got != "ESRCH" {
			t.Errorf("%s: afterwards %s", sig, got)
		}
	}
	id, _ := r.starts(object{"argv": []string{"sleep", "60"}, "timeout": 50, "kill": "SIGQUIT"})
	if got := r.must("proc.wait", object{"id": id}); !strings.Contains(got, `"SIGQUIT"`) {
		t.Error(got)
	}
}

// A process that scripts did not start is reached by the rules for kill.
func TestSignalOthers(t *testing.T) {
	r := programRoom(t, `{"*": "allow", "bash": {"*": "allow", "kill *": "deny", "kill -10 *": "allow"}}`)
	other := exec.Command("sh", "-c", "trap 'exit 5' USR1; while :; do sleep 0.01; done")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- other.Wait() }()
	pid := other.Process.Pid
	for _, tc := range []struct {
		pid, signal int
		want        string
	}{
		{pid, 0, "ok"}, {pid, 15, "EACCES permission"}, {-pid, 15, "EACCES permission"}, {os.Getpid(), 9, "EPERM"}, {0, 9, "EPERM"},
		{-1, 9, "EPERM"}, {1 << 28, 0, "ESRCH"}, {1 << 28, 10, "ESRCH"},
	} {
		if got := r.code("proc.signal", object{"pid": tc.pid, "signal": tc.signal}); got != tc.want {
			t.Errorf("%d to %d: %s", tc.signal, tc.pid, got)
		}
	}
	if syscall.SIGUSR1 != 10 {
		_ = other.Process.Kill()
		<-ended
		t.Skip("SIGUSR1 has another number on this system")
	}
	for {
		if got := r.code("proc.signal", object{"pid": pid, "signal": 10}); got != "ok" && got != "ESRCH" {
			_ = other.Process.Kill()
			<-ended
			t.Fatal(got)
		}
		select {
		case err := <-ended:
			if other.ProcessState.ExitCode() != 5 && !strings.Contains(fmt.Sprint(err), "user defined") {
				t.Errorf("it ended with %v", err)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestWhich(t *testing.T) {
	r := programRoom(t, `{"*": "deny"}`)
	r.write("bin/tool", "#!/bin/sh\n")
	r.write("bin/text", "")
	if err := os.Chmod(r.path("bin/tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		arg  object
		want string
	}{
		{object{"name": "tool", "cwd": r.dir}, "null"},
		{object{"name": "tool", "cwd": r.dir, "path": r.path("bin")}, strconv.Quote(r.path("bin/tool"))},
		{object{"name": "tool", "cwd": r.dir, "path": "bin"}, strconv.Quote(r.path("bin/tool"))},
		{object{"name": "text", "cwd": r.dir, "path": r.path("bin")}, "null"},
		{object{"name": "./bin/tool", "cwd": r.dir}, strconv.Quote(r.path("bin/tool"))},
		{object{"name": r.path("bin"), "cwd": r.dir}, "null"},
		{object{"name": "", "cwd": r.dir}, "null"},
	} {
		if got := r.must("proc.which", tc.arg); got != tc.want {
			t.Errorf("%v: %s", tc.arg, got)
		}
	}
	if found, err := exec.LookPath("sh"); err == nil {
		if got := r.must("proc.which", object{"name": "sh", "cwd": r.dir}); got != strconv.Quote(found) {
			t.Errorf("sh is %s", got)
		}
	}
}

// alive reports whether there is a process of that number.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// await waits for something that is told nowhere.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(what)
		}
	}
}

// pids reads the numbers that a program has written to a file.
func (r *room) pids(name string, n int) (pids []int) {
	r.t.Helper()
	await(r.t, "no numbers in "+name, func() bool {
		pids = nil
		for _, word := range strings.Fields(r.text(r.path(name))) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
		return len(pids) == n
	})
	return pids
}

// What a call has started ends with it, whatever it is; what was started while
// files are loaded goes on until the engine is closed.
func TestProgramsEndWithTheCall(t *testing.T) {
	daemon := "echo $$ >> pids; (setsid sleep 60 >/dev/null 2>&1 & echo $! >> pids); "
	for name, begin := range map[string]func(r *room){
		"runs":  func(r *room) { r.starts(object{"argv": sh(daemon + "sleep 60")}) },
		"ended": func(r *room) { r.runs(object{"argv": sh(daemon)}) },
		"closed": func(r *room) {
			id, _ := r.starts(object{"argv": sh(daemon)})
			r.must("proc.wait", object{"id": id})
			r.must("proc.close", object{"id": id})
		},
		"in shell": func(r *room) {
			r.must("proc.shell", object{"script": "sh -c '" + daemon + "'", "cwd": r.dir, "quiet": true})
		},
	} {
		try := func(t *testing.T, helper bool) {
			t.Parallel()
			r := newRoom(t, `{"*": "allow"}`, func(o *plugins.Services) {
				o.Shell = shellOf(t, o.Dir, func(o *process.ExecutorOptions) {
					if !helper {
						o.Helper = ""
					}
				})
			})
			ctx, end := context.WithCancel(r.ctx)
			defer end()
			lasting := r.ctx
			r.ctx = ctx
			begin(r)
			pids := r.pids("pids", 2)
			end()
			await(t, "a program is left", func() bool { return !alive(pids[0]) && !alive(pids[1]) })

			r.ctx = lasting
			_, pid := r.starts(object{"argv": []string{"sleep", "60"}})
			if !alive(pid) {
				t.Error("what is to last has ended")
			}
			if err := r.world.Close(); err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				t.Error("it goes on after the engine is closed")
			}
			if got := r.code("proc.run", object{"argv": []string{"true"}, "cwd": r.dir}); got != errNoMore.Error() {
				t.Errorf("afterwards %s", got)
			}
		}
		t.Run(name, func(t *testing.T) { try(t, true) })
		t.Run(name+", no helper", func(t *testing.T) { try(t, false) })
	}
}

// A call that ends does not have to wait for what its script waits for.
func TestRequestsEndWithTheCall(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	id, _ := r.starts(object{"argv": []string{"sleep", "60"}, "stdin": "pipe", "stdout": "pipe"})
	for name, do := range map[string]func() error{
		"read":  func() error { _, err := r.do("proc.read", object{"id": id, "from": "stdout"}); return err },
		"wait":  func() error { _, err := r.do("proc.wait", object{"id": id}); return err },
		"write": func() error { _, err := r.do("proc.write", object{"id": id}, make([]byte, 1<<20)...); return err },
		"run":   func() error { _, err := r.ends("proc.run", object{"argv": []string{"sleep", "60"}}); return err },
		"shell": func() error { _, err := r.ends("proc.shell", object{"script": "sleep 60 | cat"}); return err },
		"loop": func() error {
			_, err := r.ends("proc.shell", object{"script": "while true; do true; done"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := r.ctx
			defer func() { r.ctx = whole }()
			ctx, end := context.WithCancel(r.ctx)
			r.ctx = ctx
			timer := time.AfterFunc(50*time.Millisecond, end)
			defer timer.Stop()
			if err := do(); !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func TestProgramsAreCounted(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	var ids []int
	for range mostAlive {
		id, _ := r.starts(object{"argv": []string{"sleep", "60"}})
		ids = append(ids, id)
	}
	if got := r.code("proc.start", object{"argv": []string{"sleep", "60"}, "cwd": r.dir}); got != "EAGAIN" {
		t.Errorf("one too many: %s", got)
	}
	r.must("proc.close", object{"id": ids[0]})
	if got := r.runs(object{"argv": []string{"echo", "ok"}}); got.stdout != "ok\n" {
		t.Errorf("%+v", got)
	}
}

// Programs that a script has forgotten about hold nothing.
func TestProgramsLeaveNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("descriptors are counted on Linux")
	}
	r := programRoom(t, `{"*": "allow"}`)
	r.runs(object{"argv": []string{"true"}}) // what is opened once
	descriptors := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := descriptors()
	for range mostKnown + 20 {
		id, _ := r.starts(object{"argv": []string{"true"}, "stdin": "pipe", "stdout": "pipe", "stderr": "pipe"})
		r.must("proc.wait", object{"id": id}) // and nobody reads or closes
	}
	for range 20 {
		r.runs(object{"argv": sh("echo x; echo y >&2")}, 'z')
		r.must("proc.shell", object{"script": "echo a | cat > f; cat f nofile; echo $(cat f)", "cwd": r.dir, "quiet": true})
	}
	await(t, "descriptors are left", func() bool { return descriptors() <= before })
	if out, err := exec.Command("ps", "-o", "stat=", "--ppid", strconv.Itoa(os.Getpid())).Output(); err == nil && strings.Contains(string(out), "Z") {
		t.Errorf("zombies: %s", out)
	}
}
