//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestProve(t *testing.T) {
	needsNamespaces(t)
	for where, base := range places(t) {
		for _, level := range []Level{Write, Strict} {
			for _, readOnly := range []bool{false, true} {
				name := where + "/" + string(level)
				if readOnly {
					name += "/read-only"
				}
				t.Run(name, func(t *testing.T) {
					w := newWorld(t, mkdir(t, base, strings.ReplaceAll(name, "/", "-")))
					p := w.profile(level)
					p.ReadOnly = readOnly
					used, state, err := Prove(t.Context(), self(), p)
					must(t, err)
					if used.Bare || state.Kind != "namespaces" || !state.Complete() {
						t.Errorf("%s: %+v", state, state.Broken())
					}
					for _, promise := range state.Promises {
						t.Logf("%-16s %-12s %s", promise.Name, promise.Verdict, promise.Measured)
						if level == Strict && promise.Verdict == NotPromised {
							t.Errorf("strict promises all, but not %s", promise.Name)
						}
					}
					if left, err := filepath.Glob(w.base + "/run/.wall-probe-*"); err != nil || len(left) > 0 {
						t.Errorf("left behind: %v, %v", left, err)
					}
					if entries, err := os.ReadDir(w.ws); err != nil || len(entries) != 13 {
						t.Errorf("the workspace has %v, %v", entries, err)
					}
				})
			}
		}
	}
}

// Without namespaces there is still a sandbox against writing and, in Strict,
// reading and the network; what it lacks is said.
func TestBare(t *testing.T) {
	if Available().Landlock < 6 {
		t.Skip("this machine's Landlock is too old for what is expected here")
	}
	for where, base := range places(t) {
		for level, broken := range map[Level][]string{
			Write:  {"protected", "masked", "metadata-outside", "process-list", "environment", "own-masks", "own-protected", "doors"},
			Strict: {"protected", "masked", "metadata-outside", "process-list", "environment", "own-masks", "own-protected", "doors"},
		} {
			t.Run(where+"/"+string(level), func(t *testing.T) {
				w := newWorld(t, mkdir(t, base, "bare-"+string(level)))
				p := w.profile(level)
				p.Bare, p.Fallback = true, true
				used, state, err := Prove(t.Context(), self(), p)
				must(t, err)
				if !used.Bare || state.Kind != "landlock" || state.Complete() {
					t.Errorf("it should be said that the wall is not complete: %s", state)
				}
				for _, promise := range state.Promises {
					t.Logf("%-16s %-12s %s", promise.Name, promise.Verdict, promise.Measured)
					if promise.Verdict == NotHeld && !slices.Contains(broken, promise.Name) {
						t.Errorf("%s does not hold: %s", promise.Name, promise.Measured)
					}
				}
				for _, name := range []string{"protected", "masked", "metadata-outside"} {
					if !slices.ContainsFunc(state.Broken(), func(p Promise) bool { return p.Name == name }) {
						t.Errorf("%s can not hold without namespaces, and is said to", name)
					}
				}
			})
		}
	}
}

// A process that was not started as the profile says must not pass for one
// in the sandbox.
func TestNotSkipped(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	run := func(p Profile, attr *syscall.SysProcAttr) string {
		cmd := command(t.Context(), t, p, "/bin/true")
		cmd.SysProcAttr = attr
		out, err := cmd.CombinedOutput()
		if err == nil {
			return "ok"
		}
		return string(out)
	}
	p := w.profile(Write)
	if got := run(p, p.Attr()); got != "ok" {
		t.Fatal(got)
	}
	if got := run(p, nil); !strings.Contains(got, "namespaces of its own") {
		t.Error(got)
	}
	noMounts := p.Attr()
	noMounts.AmbientCaps = nil
	noMounts.Cloneflags |= unix.CLONE_NEWUSER
	if os.Geteuid() != 0 { // root keeps its capabilities in the namespace
		if got := run(p, noMounts); !strings.Contains(got, "the own ids") {
			t.Error(got)
		}
	}
	p.Roots = append(p.Roots, w.base+"/gone")
	if got := run(p, p.Attr()); !strings.Contains(got, "gone") {
		t.Error(got)
	}
	p = w.profile(Write)
	p.Bare = true
	if got := run(p, p.Attr()); !strings.Contains(got, "does not allow it") {
		t.Error(got)
	}
	if got := run(Profile{Level: Off}, nil); !strings.Contains(got, "nothing to enter") {
		t.Error(got)
	}
	for _, arg := range []string{"{}", `{"level":"write","new":1}`, "fd:x", "fd:99", `{"level":"off"}{}`} {
		cmd := exec.Command(self().Path, "wall", arg, "exec", "/bin/true")
		if err := cmd.Run(); err == nil {
			t.Errorf("profile %s was taken", arg)
		}
	}
}

// Prove falls back only where it may, and says why.
func TestFallback(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	// A masked path that is a loop of links cannot be covered.
	must(t, os.Symlink("loop", w.ws+"/loop"))
	p := w.profile(Write)
	p.Masks = append(p.Masks, w.ws+"/loop")
	_, state, err := Prove(t.Context(), self(), p)
	if err == nil || !strings.Contains(err.Error(), "wall: mounts: wall: masks") || state.Kind != "" || state.Complete() {
		t.Errorf("%v, %+v", err, state)
	}
	p.Fallback = true
	used, state, err := Prove(t.Context(), self(), p)
	if err != nil || !used.Bare || state.Kind != "landlock" || !strings.Contains(state.Reason, "masks") {
		t.Errorf("%v, %+v", err, state)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, state, err := Prove(ctx, self(), p); !errors.Is(err, context.Canceled) || state.Complete() {
		t.Errorf("%v, %+v", err, state)
	}
	if _, state, err := Prove(t.Context(), self(), Profile{Level: Off}); err != nil || state.Complete() {
		t.Errorf("%v, %+v", err, state)
	}
}

// The folder a process is in when it enters is below the masks.
func TestOldFolder(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	p := w.profile(Write)
	cmd := command(t.Context(), t, p, "/bin/sh", "-c", "pwd; cat .env; cat /proc/self/cwd"+w.ws+"/.env; ls /proc/self/fd | tr '\n' ' '")
	cmd.Dir = w.ws
	out, err := cmd.Output()
	if got := string(out); err != nil || !strings.HasPrefix(got, "/\n") || strings.Contains(got, "text") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDescriptors(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	p := w.profile(Write)
	dir, err := os.Open(w.ws) // through it one would get around the masks
	must(t, err)
	defer dir.Close()
	for _, c := range []struct {
		keep []int
		want string
	}{
		{nil, "0 1 2 3 "}, // 3 is ls's own
		{[]int{4}, "0 1 2 3 4 "},
		{[]int{5, 3}, "0 1 2 3 4 5 "},
	} {
		p.Keep = c.keep
		cmd := command(t.Context(), t, p, "/bin/sh", "-c", "ls /proc/self/fd | tr '\n' ' '")
		cmd.ExtraFiles = []*os.File{dir, dir, dir, dir}
		if out, err := cmd.Output(); err != nil || string(out) != c.want {
			t.Errorf("keep %v: %q, %v; want %q", c.keep, out, err, c.want)
		}
	}
}

// A profile that is too long for an argument comes by descriptor.
func TestLongProfile(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	p := w.profile(Write)
	for range 40 {
		p.Masks = append(p.Masks, filepath.Join(w.ws, strings.Repeat("missing/", 500)+t.Name()+string(rune('a'+len(p.Masks)%20))))
	}
	arg, file, err := p.Pass(3)
	must(t, err)
	if arg != "fd:3" || file == nil {
		t.Fatalf("%.40q, %v", arg, file)
	}
	defer file.Close()
	if got := try(t, p, attempted{Do: "read", A: w.ws + "/.env"}); got[0] != "EACCES" {
		t.Error(got)
	}
	for range 2 { // whoever was started with it before
		cmd := exec.Command(self().Path, append(self().Args, arg, "exec", "/bin/echo", "up")...)
		cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{file}, p.Attr()
		if out, err := cmd.Output(); err != nil || string(out) != "up\n" {
			t.Errorf("%q, %v", out, err)
		}
	}
}

// Death of the parent is death in the sandbox, as the parent asked for.
func TestDeathSignal(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	p := w.profile(Strict)
	p.Death = int(syscall.SIGKILL)
	cmd := command(t.Context(), t, p, "/bin/sh", "-c", "echo up; exec cat")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
		t.Errorf("%q, %v", line, err)
	}
	in.Close()
	must(t, cmd.Wait())
	// The signal can be asked for only by the process itself, so look how the
	// shell got it: a helper that prints it, once it runs on its first thread.
	for range 100 {
		probe := command(t.Context(), t, p, "/proc/self/exe", "act", `[{"do":"death","n":9}]`)
		got, err := probe.Output()
		if err == nil && strings.Contains(string(got), "another thread") {
			continue
		}
		if err != nil || string(got) != "[\"ok\"]\n" {
			t.Errorf("%s, %v", got, err)
		}
		return
	}
	t.Error("the helper never ran on its first thread")
}

// A link put in place of a folder while others write through its name leads
// nowhere.
func TestSwap(t *testing.T) {
	needsNamespaces(t)
	for where, base := range places(t) {
		t.Run(where, func(t *testing.T) {
			w := newWorld(t, base)
			before := snapshot(t, w.outside)
			if got := try(t, w.profile(Write), attempted{Do: "race", A: w.ws + "/swapped", B: w.outside}); got[0] != "ok" {
				t.Error(got)
			}
			if after := snapshot(t, w.outside); after != before {
				t.Errorf("outside was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// Ordinary work goes on in the sandbox.
func TestPrograms(t *testing.T) {
	needsNamespaces(t)
	cache := mkdir(t, places(t)["disk"], "cache")
	if os.Getenv("WALL_TEST_BASE") != "" {
		must(t, os.MkdirAll(cache+"/go-build", 0o755))
		must(t, createEmpty(cache+"/go-build/go-full"))
	}
	for _, c := range []struct{ program, script, want string }{
		// The runtime of Go is compiled anew in an empty cache; once will do.
		{"go", "cd mod && if [ -e \"$GOCACHE/go-full\" ]; then go build ./lib && echo built; else go build -o prog . && ./prog && touch $GOCACHE/go-full; fi", "built"},
		{"git", "git status --short && git add src.txt && git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline", "one"},
		{"npm", "npm --version", "."},
		{"node", "node -e 'console.log(require(\"child_process\").execSync(\"echo spawned\").toString())'", "spawned"},
		{"python3", "python3 -c 'import tempfile, multiprocessing, subprocess; print(tempfile.mkdtemp(), multiprocessing.Queue(), subprocess.run([\"true\"]).returncode)'", "0"},
		{"gcc", "printf '#include <stdio.h>\nint main(){puts(\"compiled\");}' > a.c && gcc -O1 -o a.out a.c && ./a.out", "compiled"},
		{"bash", "echo a > f; cat <(echo sub) f; mktemp -d; sort <<< x; echo done > /dev/stderr", "sub"},
	} {
		for _, level := range []Level{Write, Strict} {
			t.Run(c.program+"/"+string(level), func(t *testing.T) {
				out := runProgram(t, Profile{Level: level, Cache: cache}, c.program, c.script)
				if !strings.Contains(out, c.want) {
					t.Errorf("%s, want %s", out, c.want)
				}
			})
		}
	}
}

// ofSystem tells whether a program lies where everybody may read it.
func ofSystem(path string) bool {
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/opt", "/nix"} {
		if isWithin(path, dir) {
			return true
		}
	}
	return false
}

// runProgram runs a script that needs a program, in a workspace that is a
// repository only if the program is git.
func runProgram(t *testing.T, wanted Profile, program, script string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(program + " is not installed")
	}
	if real, err := filepath.EvalSymlinks(path); err != nil || unix.Access(real, unix.X_OK) != nil {
		t.Skip(program + " can not be run by this user")
	}
	if home, err := os.UserHomeDir(); wanted.Level == Strict && !ofSystem(path) && (err != nil || !isWithin(path, home)) {
		t.Skip(program + " is neither of the system nor of this user's home, and can not be read behind this wall")
	}
	w := newWorld(t, places(t)["disk"])
	must(t, os.RemoveAll(w.ws+"/.git"))
	must(t, os.RemoveAll(w.home+"/.gitconfig"))
	if program == "git" {
		if out, err := exec.Command("git", "init", "-q", w.ws).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	must(t, os.MkdirAll(w.ws+"/mod/lib", 0o755))
	must(t, os.WriteFile(w.ws+"/mod/lib/lib.go", []byte("package lib\n\nfunc Add(a, b int) int { return a + b }\n"), 0o644))
	must(t, os.WriteFile(w.ws+"/mod/go.mod", []byte("module m\n\ngo 1.20\n"), 0o644))
	must(t, os.WriteFile(w.ws+"/mod/main.go", []byte("package main\n\nfunc main() { println(\"built\") }\n"), 0o644))
	p := w.profile(wanted.Level)
	p.Cache = wanted.Cache
	if home, err := os.UserHomeDir(); err == nil {
		p.Readable = toolchains(home) // of the one who runs the test
	}
	lease, err := p.Prepare()
	must(t, err)
	cmd := command(t.Context(), t, p, "/bin/bash", "-c", "cd "+w.ws+" && "+script)
	cmd.Env = append(cmd.Env, "HOME="+w.home, "PYENV_VERSION=", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if left, err := lease.Release(); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return string(out)
}

// Root in the sandbox owns its own files only, unless it is let.
func TestOwners(t *testing.T) {
	needsNamespaces(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can make files of other owners")
	}
	w := newWorld(t, places(t)["disk"])
	theirs := w.ws + "/theirs"
	must(t, os.WriteFile(theirs, nil, 0o600))
	must(t, os.Chown(theirs, 1000, 1000))
	must(t, os.Chmod(w.outside+"/file", 0o600))
	must(t, os.Chown(w.outside+"/file", 1000, 1000))
	attempts := []attempted{
		{Do: "write", A: theirs}, {Do: "chown", A: theirs}, {Do: "owners"}, {Do: "read", A: w.ws + "/.env"}, {Do: "write", A: w.ws + "/.env"},
		{Do: "write", A: w.ws + "/.git/config"}, {Do: "write", A: w.outside + "/file"}, {Do: "chown", A: w.outside + "/file"}, {Do: "chmod", A: w.ws + "/.env"},
	}
	p := w.profile(Write)
	if got := strings.Join(try(t, p, attempts...), " "); got != "EACCES EPERM ok EACCES EACCES EROFS EACCES EROFS EROFS" {
		t.Error(got)
	}
	p.Owners = true
	if got := strings.Join(try(t, p, attempts...), " "); got != "ok ok ok ENXIO ENXIO EROFS EROFS EROFS EROFS" {
		t.Error(got)
	}
	if _, state, err := Prove(t.Context(), self(), p); err != nil || !state.Complete() {
		t.Errorf("%v, %+v", err, state.Broken())
	}
}

// A mask covers one name; that there is another is found out.
func TestAliases(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	must(t, os.Link(w.ws+"/.env", w.ws+"/other"))
	_, state, err := Prove(t.Context(), self(), w.profile(Write))
	must(t, err)
	if broken := state.Broken(); len(broken) != 1 || broken[0].Name != "mask-aliases" {
		t.Errorf("%+v", broken)
	}
}

// What may be over in a moment is told from what this machine lacks.
func TestTransient(t *testing.T) {
	_, noEntry := os.Open("/nonexistent")
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{noEntry, false},
		{ErrUnavailable, false},
		{exec.Command("/bin/sh", "-c", "exit 126").Run(), false},
		{exec.Command("/bin/sh", "-c", "kill -SYS $$").Run(), false},
		{exec.Command("/bin/sh", "-c", "kill -KILL $$").Run(), true},
		{fmt.Errorf("starting: %w", &os.PathError{Op: "fork/exec", Path: "/x", Err: syscall.EAGAIN}), true},
		{&os.PathError{Op: "fork/exec", Path: "/x", Err: syscall.EPERM}, false},
		{context.DeadlineExceeded, true},
	} {
		if got := Transient(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

// Where the probes cannot be prepared there is no answer, and no less of a
// wall either.
func TestProveUnprepared(t *testing.T) {
	dir := realDir(t, "ws")
	mustDo(t, os.Mkdir(dir+"/cache", 0o700))
	p := Profile{Level: Write, Roots: []string{dir}, Home: dir, Cache: dir + "/cache", Temp: dir + "/cache", Fallback: true}
	t.Setenv("TMPDIR", dir)
	got, state, err := Prove(t.Context(), self(), p)
	if err == nil || !Transient(err) || got.Bare || state.Kind != "" {
		t.Errorf("%+v, %+v, %v", got, state, err)
	}
}
