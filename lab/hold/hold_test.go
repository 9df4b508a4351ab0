package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// The test's own program plays the process with the runtime too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "prompts" {
		if err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if bin := made.Load(); bin != nil {
		if err := os.RemoveAll(filepath.Dir(*bin)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// made is where the helve command is, for the tests.
var made atomic.Pointer[string]

// built is the helve command, made once for all tests, as a release is: so
// most of it has been compiled before.
func built(t *testing.T) string {
	t.Helper()
	if bin := made.Load(); bin != nil {
		return *bin
	}
	dir, err := os.MkdirTemp("", "hold-test-")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "helve")
	made.Store(&bin)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "github.com/helve-dev/helve/cmd/helve")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return bin
}

// Every part runs, holds what has to hold, and has its figures.
func TestParts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked at as Linux shows them")
	}
	bin := built(t)
	want := map[string][]string{
		"decision": {"decision.1k.p99", "decision.hostile.1k", "decision.hostile.64k", "decision.worst"},
		"sessions": {"sessions.active", "sessions.memory", "sessions.served", "sessions.served.memory"},
		"waiting":  {"waiting.runtime", "waiting.process", "waiting.memory"},
		"reads":    {"reads.p99", "reads.rate", "reads.answered", "reads.memory.before", "reads.memory.after"},
		"bash":     {"bash.off.at-once", "bash.off.rate", "bash.queue.process", "bash.queue.runtime"},
		"wall":     {"wall.bare", "wall.off", "wall.off.ratio"},
		"edits":    {"edits.accepted", "edits.reads"},
		"kills":    {"kills.count", "kills.points"},
		"durable":  {"durable.plain", "durable.commit.ratio", "durable.write.ratio", "durable.durable.ratio"},
		"restart":  {"restart.store", "restart.serve.max", "restart.call.max"},
		"tree":     {"tree.off.gone.max", "tree.off.returned.max"},
	}
	none := []string{"reads.failed", "edits.missing", "kills.lost", "kills.lost.files", "tree.off.left"}
	for _, p := range parts() {
		t.Run(p.name, func(t *testing.T) {
			if testing.Short() && p.name != "decision" && p.name != "edits" {
				t.Skip("all parts take half a minute; two are run")
			}
			file := filepath.Join(t.TempDir(), "figures")
			var out bytes.Buffer
			if err := run(t.Context(), []string{p.name, "--quick", "--helve", bin, "--figures", file}, &out, io.Discard); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			figures, err := proof.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for _, f := range figures {
				got[f.ID] = f.Value
				if !strings.Contains(out.String(), "| "+f.ID+" | ") {
					t.Errorf("the report lacks %s:\n%s", f.ID, out.String())
				}
			}
			for _, id := range want[p.name] {
				if got["hold."+id] <= 0 {
					t.Errorf("%s is %v", id, got["hold."+id])
				}
			}
			for _, id := range none {
				if value, ok := got["hold."+id]; value != 0 || !ok && strings.HasPrefix(id, p.name+".") {
					t.Errorf("%s is %v, and is to be 0", id, value)
				}
			}
		})
	}
	if left := proof.Descendants(os.Getpid()); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// What does not hold is said, and the program fails; what was measured is
// there all the same.
func TestFailed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a shell")
	}
	liar := filepath.Join(t.TempDir(), "liar") // answers every call, and records none
	text := "#!/bin/sh\nwhile read -r line; do id=${line#*:\\\"}; printf '{\"id\":\"%s\",\"status\":\"completed\"}\\n' \"${id%%\\\"*}\"; done\n"
	if err := os.WriteFile(liar, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "figures")
	var out bytes.Buffer
	err := run(t.Context(), []string{"kills", "--quick", "--helve", liar, "--figures", file}, &out, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "FAILED") || !strings.Contains(out.String(), "- FAILED: call r") {
		t.Fatalf("%v\n%s", err, out.String())
	}
	figures, err := proof.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lost := slices.IndexFunc(figures, func(f proof.Figure) bool { return f.ID == "hold.kills.lost" })
	if lost < 0 || figures[lost].Value < 24 {
		t.Errorf("what is lost was not counted: %+v", figures)
	}
}

// A part that is interrupted ends soon, leaves nothing, and says so.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked at as Linux shows them")
	}
	bin := built(t)
	t.Setenv("TMPDIR", t.TempDir())
	for _, name := range []string{"decision", "waiting", "bash", "edits", "kills", "tree"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		var out bytes.Buffer
		err := run(ctx, []string{name, "--helve", bin}, &out, io.Discard)
		cancel()
		if err == nil || !strings.Contains(out.String(), "FAILED") {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
		if left, err := os.ReadDir(os.TempDir()); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "helve-proof-") }) {
			t.Errorf("%s: there is %v, %v", name, left, err)
		}
		if left := proof.Descendants(os.Getpid()); len(left) > 0 {
			t.Errorf("%s: processes are left: %v", name, left)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nosuch"}, {"reads", "--minutes", "0"}, {"reads", "more"}, {"reads", "--nosuch"}, {"reads", "--helve", "/nowhere/helve"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out, io.Discard); err == nil || out.Len() > 0 {
			t.Errorf("%v: %v, %s", args, err, out.String())
		}
	}
	d, chosen, err := parse([]string{"wall", "--quick", "reads", "--helve", os.Args[0]}, io.Discard)
	if err != nil || !d.quick || len(chosen) != 2 || chosen[0].name != "reads" {
		t.Errorf("%+v, %v, %v", d, chosen, err)
	}
}

// Hostile texts have the size they are said to have, or a little less or more.
func TestShapes(t *testing.T) {
	for _, size := range []int{1 << 10, 64 << 10} {
		for name, text := range shapes(size) {
			if len(text) < size/3 || len(text) > size+size/4+100 {
				t.Errorf("%s has %d bytes and not about %d", name, len(text), size)
			}
		}
	}
}

// No two processes are killed at the same moment.
func TestMoments(t *testing.T) {
	type moment struct {
		after int
		delay time.Duration
	}
	seen := map[moment]bool{}
	m := &massacre{count: 2000}
	for round := range m.count {
		after, delay := m.moment(round)
		if seen[moment{after, delay}] {
			t.Fatalf("round %d is like another one: %d, %s", round, after, delay)
		}
		seen[moment{after, delay}] = true
	}
}
