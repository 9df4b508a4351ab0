package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/sandbox"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// protected are paths of a worktree, none of which is there.
func protected(dir string) (out []string) {
	for _, name := range []string{".git/hooks", ".git/config", ".mcp.json", ".helve", "helve.json", "opencode.jsonc"} {
		out = append(out, filepath.Join(dir, name))
	}
	return out
}

// walledRoom makes a executor in a sandbox, or skips where there is none.
func walledRoom(t *testing.T, change func(*ExecutorOptions)) *Executor {
	t.Helper()
	if m := sandbox.Available(); !m.Namespaces || m.Landlock == 0 {
		t.Skip("there is no whole wall here: " + strings.Join(m.Missing, " "))
	}
	return room(t, func(o *ExecutorOptions) {
		o.Wall.Level, o.Wall.Optional, o.Wall.Protected = "write", true, protected(o.Dir)
		if change != nil {
			change(o)
		}
	})
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// holdDir names the folder that [TestHoldWall] is to hold a sandbox in.
const holdDir = "HELVE_TEST_HOLD"

// TestHoldWall is the part of another process in [TestSweep].
func TestHoldWall(t *testing.T) {
	dir := os.Getenv(holdDir)
	if dir == "" {
		t.Skip("it plays a part for another test")
	}
	r := walledRoom(t, func(o *ExecutorOptions) {
		o.Dir, o.Wall.Roots, o.Wall.Protected = dir, []string{dir}, protected(dir)
	})
	do(t, r, ShellCommand{Line: "true"})
	fmt.Println("\nholding")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Error(err)
	}
}

// What the sandbox of a process leaves when it is killed is removed by the next
// room, also by one without a sandbox. A sandbox that is held keeps what is its own.
func TestSweep(t *testing.T) {
	if m := sandbox.Available(); !m.Namespaces || m.Landlock == 0 {
		t.Skip("there is no whole wall here: " + strings.Join(m.Missing, " "))
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	holder := exec.Command("/proc/self/exe", "-test.run=^TestHoldWall$")
	holder.Env = append(os.Environ(), holdDir+"="+dir)
	holder.Stderr = os.Stderr
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "holding" {
		t.Log(lines.Text())
	}
	visit := func() []string {
		t.Helper()
		r := room(t, func(o *ExecutorOptions) { o.Dir, o.Wall.Roots, o.Wall.Protected = dir, []string{dir}, protected(dir) })
		if got := do(t, r, ShellCommand{Line: "echo here"}); got.Text != "here\n" || got.Wall != "" {
			t.Errorf("%+v", got)
		}
		return names(t, dir)
	}
	want := []string{".git", ".helve", ".mcp.json", "helve.json", "opencode.jsonc"}
	if got := visit(); !slices.Equal(got, want) {
		t.Errorf("held by another: %v", got)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	holder.Wait() // "signal: killed"
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("after the kill: %v", got)
	}
	if got := visit(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// However often the files that may not be read change, one lease serves all
// walls, and few of them are remembered.
func TestManyWalls(t *testing.T) {
	r := walledRoom(t, nil)
	sieve := PathFilter{
		Passes: func(names ...string) bool { return filepath.Ext(names[0]) != ".env" },
		Names:  func(file string) []string { return []string{file} },
	}
	put := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(r.opt.Dir, name+".env"), []byte("secret\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 300 { // so many that a profile comes by descriptor
		put(strings.Repeat("x", 200) + fmt.Sprint(i))
	}
	open := 0
	for i := range mostBuilt + 3 {
		put(fmt.Sprint(i))
		profile, err := r.profile(t.Context(), wallKind{level: sandbox.Write}, sieve)
		if err != nil {
			t.Fatal(err)
		}
		place, err := r.build(profile)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.build(profile); err != nil || again.Key != place.Key {
			t.Errorf("built twice: %v, %v", again, err)
		}
		if len(place.Files) != 1 {
			t.Fatalf("the profile does not come by descriptor: %v", place.Files)
		}
		if i == 0 {
			open = len(names(t, "/proc/self/fd"))
		}
	}
	if got := len(names(t, "/proc/self/fd")); got != open+mostBuilt-1 || len(r.wall.built) != mostBuilt {
		t.Errorf("%d descriptors, and %d with the first wall; %d walls", got, open, len(r.wall.built))
	}
	out := do(t, r, ShellCommand{Line: "cat 0.env 9.env; echo here", Sieve: sieve})
	if strings.Contains(out.Text, "secret") || !strings.HasSuffix(out.Text, "here\n") || out.Wall != "write" {
		t.Errorf("%+v", out)
	}
}

// Where the sandbox is not whole and not required, it is said what does not hold.
func TestIncompleteWallIsToldOf(t *testing.T) {
	r := walledRoom(t, nil)
	if _, err := r.Prove(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := r.prove(t.Context(), wallKind{level: sandbox.Write})
	if err != nil {
		t.Fatal(err)
	}
	p.state.Promises = append(p.state.Promises, sandbox.Promise{Text: "pigs can not fly", Verdict: sandbox.NotHeld})
	out := do(t, r, ShellCommand{Line: "echo here"})
	if out.Text != "here\n" || out.Wall != "write" || !strings.HasSuffix(out.Warning, "It does not hold: pigs can not fly") {
		t.Errorf("%+v", out)
	}
	r.opt.Wall.Optional = false
	var refused *SandboxError
	if _, err := r.Run(t.Context(), ShellCommand{Line: "echo here", Dir: r.opt.Dir}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "pigs can not fly") {
		t.Errorf("%v", err)
	}
}

// A proof that takes too long, or was not waited for, is tried again; one that
// has ended is not.
func TestProofsAreTriedAgain(t *testing.T) {
	r := walledRoom(t, func(o *ExecutorOptions) { o.Wall.Optional = false })
	good := r.opt.Helper
	hangs := filepath.Join(t.TempDir(), "hangs")
	if err := os.WriteFile(hangs, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	kind := wallKind{level: sandbox.Write}
	all := func() (got [4]*proof) {
		t.Helper()
		var group sync.WaitGroup
		for i := range got {
			group.Go(func() {
				var err error
				if got[i], err = r.prove(context.Background(), kind); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		return got
	}
	r.opt.Helper, r.wall.limit = hangs, 50*time.Millisecond
	for _, p := range all() {
		if !errors.Is(p.err, context.DeadlineExceeded) || !p.passes || !strings.Contains(p.shortfall(), "this time") {
			t.Errorf("%+v", p)
		}
	}
	r.wall.limit = 0
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.prove(ctx, kind); !errors.Is(err, context.Canceled) {
		t.Errorf("who has given up waits: %v", err)
	}
	if _, err := r.site(ctx, ShellCommand{}); !errors.Is(err, context.Canceled) {
		t.Errorf("who has given up gets a place: %v", err)
	}
	under, err := r.proof(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	under.cancel() // in place of half a minute
	<-under.done
	r.opt.Helper = good
	first := all()
	for _, p := range first {
		if p != first[0] || p.err != nil || p.bare {
			t.Errorf("%+v", p)
		}
	}
	if again := all(); again != first {
		t.Error("tried again, though it was known")
	}
}

// Where there can be no sandbox that is found out once.
func TestNoHelperNoWall(t *testing.T) {
	r := room(t, func(o *ExecutorOptions) { o.Helper, o.Wall.Level = "", "write" })
	one, err := r.prove(t.Context(), wallKind{level: sandbox.Write})
	two, err2 := r.prove(t.Context(), wallKind{level: sandbox.Write})
	if err != nil || err2 != nil || one != two || one.err == nil || one.passes {
		t.Errorf("%+v, %+v; %v, %v", one, two, err, err2)
	}
}

// After its end a executor builds no sandboxes, and what was proving one is ended.
func TestNoWallsAfterTheEnd(t *testing.T) {
	r := walledRoom(t, nil)
	profile, err := r.profile(t.Context(), wallKind{level: sandbox.Write}, PathFilter{})
	if err != nil {
		t.Fatal(err)
	}
	hangs := filepath.Join(t.TempDir(), "hangs")
	if err := os.WriteFile(hangs, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.opt.Helper = hangs
	under, err := r.proof(t.Context(), wallKind{level: sandbox.Strict})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if <-under.done; under.err == nil {
		t.Error("proven by a helper that does nothing")
	}
	if _, err := r.build(profile); !errors.Is(err, ErrClosed) {
		t.Errorf("built: %v", err)
	}
	if _, err := r.Run(context.Background(), ShellCommand{Line: "true", Dir: r.opt.Dir}); !errors.Is(err, ErrClosed) {
		t.Errorf("run: %v", err)
	}
}
